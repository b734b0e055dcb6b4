"""Limits of a case: memory, threads and time, measured inside the process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import time

MEGABYTE = 1 << 20
# A thread's stack counts as virtual memory: with stacks of this size the peak shows the number of threads.
THREAD_STACK = 64 * MEGABYTE
# Limit of the additional memory of the process; a safety net for the machine.
ADDRESS_SPACE = 4096 * MEGABYTE
_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h
# A folder for the files of a case: in memory if possible.
FAST = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Exceeded(Exception):
    """A limit was exceeded."""


def confine() -> None:
    """Limit the memory of this process, and make each started thread visible in the peak."""
    here = _kilobytes()["VmSize"] * 1024 + ADDRESS_SPACE
    resource.setrlimit(resource.RLIMIT_AS, (here, here))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    libc = ctypes.CDLL(None)
    with contextlib.suppress(AttributeError):
        libc.mallopt(_ARENA_MAX, 1)  # each arena of a thread also reserves address space
    attributes = ctypes.create_string_buffer(256)
    with contextlib.suppress(AttributeError):  # not every C library can change the default
        libc.pthread_attr_init(attributes)
        libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(THREAD_STACK))
        libc.pthread_setattr_default_np(attributes)


def _kilobytes() -> dict[str, int]:
    """Return the memory counts of /proc/self/status."""
    with open("/proc/self/status", "rb") as file:
        lines = (line.split() for line in file.read().splitlines() if line.startswith(b"Vm"))
        return {line[0].rstrip(b":").decode(): int(line[1]) for line in lines}


class Meter:
    """Memory and time since `start`, compared with limits."""

    def __init__(self) -> None:
        self._clear = os.open("/proc/self/clear_refs", os.O_WRONLY)

    def start(self) -> None:
        os.write(self._clear, b"5")  # reset the peak of resident memory
        self._before = _kilobytes()
        self._began = time.process_time()

    def is_worn(self) -> bool:
        """Return whether the peak of address space, which cannot be reset, would hide that of later cases."""
        now = _kilobytes()
        return (now["VmPeak"] - now["VmSize"]) * 1024 > 2 * THREAD_STACK

    def check(self, what: str, *, memory: int, seconds: float, virtual: int) -> None:
        """Raise `Exceeded` if the bytes or seconds since `start` exceed the limits."""
        now, took = _kilobytes(), time.process_time() - self._began
        grown = (now["VmHWM"] - self._before["VmRSS"]) * 1024
        if grown > memory:
            raise Exceeded(f"memory: {what} took {grown >> 20} MB")
        grown = (now["VmPeak"] - self._before["VmSize"]) * 1024
        if now["VmPeak"] > self._before["VmPeak"] and grown > virtual:
            raise Exceeded(f"address space: {what} took {grown >> 20} MB, perhaps threads")
        if took > seconds:
            raise Exceeded(f"time: {what} took {took:.1f} s")
