"""Stop a fit at its hard time limit, also if it does not check the time itself."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

REPEAT_AFTER = 0.5  # seconds


class OutOfTime(BaseException):
    """Raised inside a fit that exceeds its time limit.

    Like KeyboardInterrupt it does not derive from Exception, so that learners, joblib and scikit-learn do not
    catch it and handle it as an error of their own.
    """

    def __init__(self) -> None:
        super().__init__(
            "stopped by the time limit: it took far longer than its share of the budget"
        )


@contextmanager
def stop_after(seconds: float | None) -> Iterator[None]:
    """Raise OutOfTime in the calling thread when time is up, repeatedly until the block is left.

    Python raises it between two instructions: a loop in Python stops at its next round, but a call into
    compiled code first runs to its end. Only work in the calling thread can be stopped. A thread pool would
    wait forever for a worker that is stopped while it returns its result, so joblib runs with one job.
    """
    if seconds is None:
        yield
        return
    from joblib import parallel_config

    over = threading.Event()
    with parallel_config(n_jobs=1), _stopped_after(lambda: over.wait(seconds), over):
        yield


@contextmanager
def stop_on(event: threading.Event) -> Iterator[None]:
    """Raise OutOfTime in the calling thread when another thread sets the event, until the block is left.

    Leaving the block sets the event too.
    """
    try:
        with _stopped_after(event.wait, threading.Event()):
            yield
    finally:
        event.set()  # ends the watching thread


@contextmanager
def _stopped_after(wait: Callable[[], object], over: threading.Event) -> Iterator[None]:
    """Raise OutOfTime in the calling thread when `wait` returns; `over` is set when the block is left."""
    caller, lock = threading.get_ident(), threading.Lock()

    def watch() -> None:
        wait()
        while not over.is_set():
            with lock:
                if not over.is_set():
                    _raise_in(caller, OutOfTime)
            over.wait(REPEAT_AFTER)  # the stopped code may have caught the exception and continued

    try:
        threading.Thread(target=watch, daemon=True).start()
        yield
    finally:
        _cancel(caller, lock, over)


def _cancel(caller: int, lock: threading.Lock, over: threading.Event) -> None:
    """Stop the watching thread and clear an exception that has not been raised yet."""
    while not over.is_set():
        try:
            with lock:
                over.set()
                _raise_in(caller, None)
        except OutOfTime:
            continue


def _raise_in(thread: int | None, error: type[BaseException] | None) -> None:
    if thread is not None:
        exception = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), exception)
