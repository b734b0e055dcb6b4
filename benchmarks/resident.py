"""The memory that this process holds, and the most it has held."""

import resource
import sys
from pathlib import Path


def resident():
    """Bytes held now."""
    return _status("VmRSS")


def peak():
    """The most bytes held, since the start or since `forget_peak`."""
    try:
        return _status("VmHWM")
    except (OSError, KeyError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak():
    """Set the peak to what is held now; False where the kernel does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def _status(field):
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)
