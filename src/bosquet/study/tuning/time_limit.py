"""A limit on how long a trial may take, for fits that do not look at the clock themselves."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

AGAIN = 0.5  # seconds


class OutOfTime(BaseException):
    """Raised inside a fit that has taken too long.

    Like KeyboardInterrupt it is no Exception: a learner, joblib or scikit-learn that catches those would take
    it for an error of its own.
    """

    def __init__(self) -> None:
        super().__init__("stopped by the time limit: it took far longer than its share of the time")


@contextmanager
def stopped_after(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in the calling thread when time is up, and again until the block is left.

    Python delivers it between two instructions: a fit with a loop in Python stops at its next round, one call
    into compiled code runs to its end. Only for work in the calling thread: a pool of threads would wait
    for ever for one that was stopped while it handed over its result, so that joblib is told to start none.
    """
    if seconds is None:
        yield
        return
    from joblib import parallel_config

    caller, lock, over = threading.get_ident(), threading.Lock(), threading.Event()

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            wait = AGAIN  # what was stopped may only have made room for the next candidate
            with lock:
                if not over.is_set():
                    _raise_in(caller, OutOfTime)

    try:
        with parallel_config(n_jobs=1):
            threading.Thread(target=watch, daemon=True).start()
            yield
    finally:
        _call_off(caller, lock, over)


def _call_off(caller: int, lock: threading.Lock, over: threading.Event) -> None:
    """No more of it, also if one arrives just now."""
    while not over.is_set():
        try:
            with lock:
                over.set()
                _raise_in(caller, None)  # one that was on its way
        except OutOfTime:
            continue


def _raise_in(thread: int | None, error: type[BaseException] | None) -> None:
    if thread is not None:
        told = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), told)
