"""Fits under a time limit, several in parallel, with their errors and warnings collected."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from bosquet.study.metrics.metric import MetricError
from bosquet.study.tuning.stopping import OutOfTime, stop_after
from bosquet.study.tuning.time_limits import FitTimer

LONGEST_MESSAGE = 240  # characters


@dataclass
class FitAttempt:
    """Result of one call: a value or an error; neither if time was up before the call began."""

    value: Any = None
    error: Exception | OutOfTime | None = None
    begun: bool = True
    seconds: float = 0.0
    warned: list[str] = field(default_factory=list)


def try_all(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    *,
    workers: int = 1,
    timer: FitTimer | None = None,
    inner: int | None = None,
) -> list[FitAttempt]:
    """Call `function` with each tuple of arguments and return the results.

    The first call is made even if time is up. Each call is stopped at the hard limit of the timer; the code
    that stores the results is not interrupted. `workers` calls run in parallel, in threads: long fits release
    the interpreter lock, and the table is not copied. `inner` limits the OpenMP threads of each call.
    """
    sequential = workers <= 1 or len(calls) == 1
    with collect_warnings() as collector:

        def attempt(number: int) -> FitAttempt:
            if number and timer is not None and not timer.allows():
                return FitAttempt(begun=False)
            result = FitAttempt()
            collector.local.messages = result.warned
            if sequential:  # warnings of threads that the call starts belong to the call
                collector.other_threads = result.warned
            began = time.monotonic()
            try:
                with stop_after(None if timer is None else timer.seconds_left()):
                    result.value = function(*calls[number])
            except MetricError:  # an error of the metric, not of the candidate
                raise
            # Any error excludes the candidate only; the search continues.
            except (Exception, OutOfTime) as error:
                result.error = error
            finally:
                collector.local.messages = collector.other_threads = None
            result.seconds = time.monotonic() - began
            result.warned.sort()  # threads warn in any order
            return result

        if sequential:
            with threadpool_limits(inner, user_api="openmp"):
                return [attempt(number) for number in range(len(calls))]
        # The limit of OpenMP applies to one thread, so each worker sets it.
        with ThreadPoolExecutor(workers, initializer=_limit_openmp, initargs=(inner,)) as pool:
            return list(pool.map(attempt, range(len(calls))))


def _limit_openmp(inner: int | None) -> None:
    if inner is not None:
        threadpool_limits(inner, user_api="openmp")


@dataclass
class WarningCollector:
    """Lists that receive warnings: `local.messages` of the thread that warns, else `other_threads`."""

    local: threading.local = field(default_factory=threading.local)
    other_threads: list[str] | None = None


@contextmanager
def collect_warnings() -> Iterator[WarningCollector]:
    """Collect the warnings of all threads in one place: `warnings.catch_warnings` is not thread-safe."""
    collector = WarningCollector()

    def collect(message: Any, category: Any, *details: Any, **options: Any) -> None:
        messages = getattr(collector.local, "messages", None)
        messages = collector.other_threads if messages is None else messages
        text = first_line(message)
        if messages is not None and text not in messages:
            messages.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.showwarning = collect
        yield collector


def first_line(message: Any) -> str:
    """Return the first line of an error or a warning, shortened to `LONGEST_MESSAGE` characters."""
    lines = str(message).strip().splitlines()
    text = lines[0].strip() if lines else type(message).__name__
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1].rstrip() + "…"
