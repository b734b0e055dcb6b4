"""The time budget of a study: its value in seconds, and how much of it is left."""

from __future__ import annotations

import re
import time
from numbers import Real
from typing import Any

_UNITS = {"s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(sec|min|[smh])")


def seconds_of(budget: Any) -> float | None:
    """Return a budget in seconds: a number, or text such as "90s", "2m" or "1h30m"; None is no limit."""
    if budget is None:
        return None
    if isinstance(budget, Real) and not isinstance(budget, bool):
        seconds = float(budget)
    else:
        text = str(budget).strip().lower()
        numbers_and_units = _PART.findall(text)
        if not numbers_and_units or _PART.sub("", text).strip():
            raise ValueError(
                f"budget={budget!r} is not a duration; pass seconds, text such as '90s', '2m' or '1h30m',"
                " or None for no limit"
            )
        seconds = sum(float(number) * _UNITS[unit] for number, unit in numbers_and_units)
    if not 0 < seconds < float("inf"):
        raise ValueError(
            f"budget={budget!r} is not valid: budget must be a positive, finite duration; pass None for"
            " no limit"
        )
    return seconds


def format_seconds(seconds: float) -> str:
    """Format a duration: 0.4 s, 12 s, 1:34, 2:05:00."""
    if seconds < 9.95:
        return f"{max(seconds, 0):.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    minutes, second = divmod(rounded, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


class StudyClock:
    """Seconds since the start of the study, including those of earlier runs (`seconds_before`)."""

    def __init__(self, budget: float | None, seconds_before: float = 0.0):
        self.budget, self.seconds_before = budget, seconds_before
        self.started = time.monotonic()

    @property
    def timed(self) -> bool:
        return self.budget is not None

    def elapsed(self) -> float:
        return self.seconds_before + time.monotonic() - self.started

    def seconds_left(self, share: float = 1.0) -> float:
        """Return the seconds until this share of the budget is used; infinite without a budget."""
        if self.budget is None:
            return float("inf")
        return share * self.budget - self.elapsed()
