"""Resident memory of this process, and its peak."""

import resource
import sys
from pathlib import Path


def resident():
    """Return the resident memory in bytes."""
    return _status("VmRSS")


def peak():
    """Return the peak in bytes, since the start or since `forget_peak`."""
    try:
        return _status("VmHWM")
    except (OSError, KeyError):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def forget_peak():
    """Reset the peak to the current value; return False if the kernel does not allow it."""
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
