"""Simulation of a busy machine: competing processes, a single core, a limit of processor time."""

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

SPIN = "while True: pass"
PERIOD = 100_000  # microseconds
# Files that limit the processor time of a group of processes: cgroups version 2 and version 1.
LIMITS = {
    Path("/sys/fs/cgroup"): lambda quota: {"cpu.max": f"{quota} {PERIOD}"},
    Path("/sys/fs/cgroup/cpu"): lambda quota: {
        "cpu.cfs_period_us": str(PERIOD),
        "cpu.cfs_quota_us": str(quota),
    },
}


def cores():
    """Return the processors that this process may use."""
    return sorted(os.sched_getaffinity(0))


@contextmanager
def competitors(count):
    """Run this number of processes that only use processor time."""
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
    """Create a group of processes with a limited share of one processor; yield None if this is not possible.

    Yield the file to which a process writes its number to join the group.
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
