"""Fits that are tried: several at a time, until time is up, with what they warned of and why they failed."""

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

from bosquet.study.metrics.scoring import MetricError
from bosquet.study.tuning.time_limit import OutOfTime, stopped_after

LONGEST = 240  # characters of a message
# Share of the hard limit after which fits that look at the clock end by themselves.
ENDS_BY_ITSELF = 0.85


@dataclass
class Tried:
    """What came of one call: a value or an error, or neither where time was up before it began."""

    value: Any = None
    error: Exception | OutOfTime | None = None
    begun: bool = True
    seconds: float = 0.0
    warned: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Clock:
    """When tuning began, how long it should take, and when a fit that is still running is stopped."""

    started: float
    seconds: float | None
    at_most: float | None = None

    @classmethod
    def start(cls, seconds: float | None, at_most: float | None = None) -> Clock:
        return cls(time.monotonic(), seconds, at_most)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def allows(self, seconds: float = 0.0) -> bool:
        """Whether there is time left for so many seconds more."""
        return self.seconds is None or self.elapsed + seconds < self.seconds

    def left(self) -> float | None:
        """Seconds until a running fit is stopped; None without such a limit."""
        return None if self.at_most is None else max(self.at_most - self.elapsed, 0.0)

    def is_over(self, seconds: float = 0.0) -> bool:
        """Whether a fit of so many more seconds would be stopped; a fit that can end by itself asks with 0.

        That is a little before the limit: what was fitted is still to be judged.
        """
        return self.at_most is not None and self.elapsed + seconds > ENDS_BY_ITSELF * self.at_most


def try_all(
    function: Callable[..., Any],
    calls: Sequence[tuple[Any, ...]],
    *,
    workers: int = 1,
    clock: Clock | None = None,
    inner: int | None = None,
) -> list[Tried]:
    """Call `function` with each tuple of arguments; the first call is made whatever the time.

    Each call is stopped at the hard limit of the clock, so that nothing interrupts the code that keeps the
    results. Threads, not processes: the fits let go of the interpreter where they take long, and the table
    need not be copied. `inner` limits the OpenMP threads that each call may start itself.
    """
    alone = workers <= 1 or len(calls) == 1
    with collected_warnings() as heard:

        def attempt(number: int) -> Tried:
            if number and clock is not None and not clock.allows():
                return Tried(begun=False)
            result = Tried()
            heard.own.listener = result.warned
            if alone:  # what threads of its own warn of is its affair
                heard.others = result.warned
            began = time.monotonic()
            try:
                with stopped_after(None if clock is None else clock.left()):
                    result.value = function(*calls[number])
            except MetricError:  # not the candidate's fault
                raise
            except (
                Exception,
                OutOfTime,
            ) as error:  # a candidate may fail in any way, and is left out
                result.error = error
            finally:
                heard.own.listener = heard.others = None
            result.seconds = time.monotonic() - began
            result.warned.sort()  # threads come in any order
            return result

        if alone:
            with threadpool_limits(inner, user_api="openmp"):
                return [attempt(number) for number in range(len(calls))]
        # OpenMP's limit is a thread's own, so each worker has to be told.
        with ThreadPoolExecutor(workers, initializer=_limit_openmp, initargs=(inner,)) as pool:
            return list(pool.map(attempt, range(len(calls))))


def _limit_openmp(inner: int | None) -> None:
    if inner is not None:
        threadpool_limits(inner, user_api="openmp")


@dataclass
class Ears:
    """Where warnings go: to the `own.listener` of the thread that warns, or to a list for those without."""

    own: threading.local = field(default_factory=threading.local)
    others: list[str] | None = None


@contextmanager
def collected_warnings() -> Iterator[Ears]:
    """One catch for all threads: Python's own is not made for several at once."""
    ears = Ears()

    def hear(message: Any, category: Any, *place: Any, **more: Any) -> None:
        listener = getattr(ears.own, "listener", None)
        listener = ears.others if listener is None else listener
        text = first_line(message)
        if listener is not None and text not in listener:
            listener.append(text)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", FutureWarning)
        warnings.showwarning = hear
        yield ears


def first_line(message: Any) -> str:
    """The first line of an error or a warning, cut to a bearable length."""
    lines = str(message).strip().splitlines()
    text = lines[0].strip() if lines else type(message).__name__
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
