"""Time limits of one method, and the words for time that all packages of the study use.

budget
    The seconds of a whole study, or None. With a budget a study is *timed*, without one it is *counted*:
    nothing depends on measured time. `StudyClock` (`run/clock.py`) measures how much of the budget is left.
share
    A fraction of the budget or of a limit. Constants named `END_OF_...` are the shares of the budget at which
    a step ends.
soft and hard limit
    The `TimeLimits` of one method on one split, in seconds. After the soft limit no further candidate is
    started; at the hard limit a running fit is stopped (`stop_after` raises `OutOfTime`).
timer
    `FitTimer`, the limits with the time at which they began.
left
    Seconds until a limit is reached or a share of the budget is used.
seconds
    Any other duration, measured or predicted.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

# Share of the hard limit after which a fit that checks the time ends with what it has.
EARLY_END = 0.85
# What is left of a limit that is used up: a method may still start one fit, which soon ends or is stopped.
MIN_SECONDS = 0.01


@dataclass(frozen=True)
class TimeLimits:
    """The soft and the hard limit of a method in seconds; None for no limit."""

    soft: float | None = None
    hard: float | None = None

    def after(self, seconds: float) -> TimeLimits:
        """Return the limits that remain after `seconds` were used."""
        return TimeLimits(*(_subtract_seconds(limit, seconds) for limit in (self.soft, self.hard)))


def _subtract_seconds(limit: float | None, seconds: float) -> float | None:
    return None if limit is None else max(limit - seconds, MIN_SECONDS)


NO_LIMITS = TimeLimits()


@dataclass(frozen=True)
class FitTimer:
    """The limits of a method that began at the time `started`."""

    started: float
    limits: TimeLimits

    @classmethod
    def start(cls, limits: TimeLimits) -> FitTimer:
        return cls(time.monotonic(), limits)

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self.started

    def allows(self, seconds: float = 0.0) -> bool:
        """Return whether the soft limit allows `seconds` more."""
        return self.limits.soft is None or self.elapsed + seconds < self.limits.soft

    def seconds_left(self) -> float | None:
        """Return the seconds until a running fit is stopped, or None without a hard limit."""
        return None if self.limits.hard is None else max(self.limits.hard - self.elapsed, 0.0)

    def is_over(self, seconds: float = 0.0) -> bool:
        """Return whether a fit of `seconds` more would be stopped.

        A fit that can end early calls it with 0. It is true a little before the hard limit, so that there is
        time to score the fitted model.
        """
        hard = self.limits.hard
        return hard is not None and self.elapsed + seconds > EARLY_END * hard
