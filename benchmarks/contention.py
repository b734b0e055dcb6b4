"""A machine that is busy, made so: processes that compete, one core alone, a limit on processor time."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

SPIN = "while True: pass"
PERIOD = 100_000  # microseconds
# Where the processor time of a group of processes is limited: version 2 of cgroups, and version 1.
LIMITS = {
    Path("/sys/fs/cgroup"): lambda quota: {"cpu.max": f"{quota} {PERIOD}"},
    Path("/sys/fs/cgroup/cpu"): lambda quota: {
        "cpu.cfs_period_us": str(PERIOD),
        "cpu.cfs_quota_us": str(quota),
    },
}


def cores():
    """The processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def competitors(count):
    """So many processes that do nothing but take processor time."""
    running = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


@contextmanager
def processor_time(share):
    """A group whose processes have so much of one processor together; None where it cannot be made.

    Yields the file that a process joins by writing its number to it.
    """
    group = None
    for root, settings in LIMITS.items():
        try:
            group = root / f"bosquet-busy-{os.getpid()}"
            group.mkdir()
            for name, value in settings(int(share * PERIOD)).items():
                if not (group / name).exists():
                    raise FileNotFoundError(name)
                (group / name).write_text(value)
            break
        except OSError:
            if group.is_dir():
                group.rmdir()
            group = None
    try:
        yield group and group / "cgroup.procs"
    finally:
        if group is not None:
            group.rmdir()
