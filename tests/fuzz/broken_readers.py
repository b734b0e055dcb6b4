"""Readers with faults of every kind, to test the fuzzer: print the case and signature of each finding."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from random import Random

import pool
from cases import Kind
from limits import MEGABYTE, Meter

LIMITS = {"memory": 50 * MEGABYTE, "seconds": 0.5, "virtual": 256 * MEGABYTE}


def crash() -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


def hang() -> None:
    time.sleep(600)


def error() -> None:
    raise KeyError("name")


def memory() -> None:
    bytearray(os.urandom(1) * 100 * MEGABYTE)


def threads() -> None:
    done = threading.Event()
    started = [threading.Thread(target=done.wait) for _ in range(12)]
    for thread in started:
        thread.start()
    done.set()
    for thread in started:
        thread.join()


def use_time() -> None:
    end = time.process_time() + 0.7
    while time.process_time() < end:
        pass


def checked(fault: Callable[[], None]) -> Callable[..., str]:
    def check(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
        meter.start()
        phase("read")
        fault()
        meter.check("reading", **LIMITS)
        return "loaded"

    return check


FAULTS = {
    "crash": crash,
    "error": error,
    "memory": memory,
    "threads": threads,
    "time": use_time,
}


def print_findings(faults: dict[str, Callable[[], None]]) -> None:
    kinds = [Kind(name, lambda rng: b"", checked(fault), ".none") for name, fault in faults.items()]
    for finding in pool.Pool(kinds, seed=3, workers=2).run(60, len(kinds), lambda done: None):
        print(finding.case, finding.signature)


if __name__ == "__main__":
    print_findings(FAULTS)
    pool.CASE_TIME_LIMIT = 1.0
    print_findings({"hang": hang})
