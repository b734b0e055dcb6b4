"""Formatting of numbers, durations, lists and titles for the report."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bosquet.study.metrics.formatting import in_sentence
from bosquet.study.record import MethodRecord, MetricRecord

NOTHING = "–"


def is_finite(value: float | None) -> bool:
    """Return whether a value is a finite number."""
    return value is not None and math.isfinite(value)


def decimal(value: float | None, places: int) -> str:
    """Format a number with fixed decimals, thousands separators and a true minus sign."""
    if value is None or not math.isfinite(value):
        return NOTHING
    formatted = f"{value:,.{places}f}"
    if float(formatted.replace(",", "")) == 0:
        formatted = formatted.lstrip("-")
    return formatted.replace("-", "−")


def format_count(value: int) -> str:
    return f"{value:,}"


def count_text(number: int, noun: str, plural: str | None = None) -> str:
    return f"{format_count(number)} {noun if number == 1 else plural or noun + 's'}"


def duration(seconds: float | None) -> str:
    """Format seconds as '85 ms', '1.5 s', '2 min 5 s' or '1 h 20 min'."""
    if seconds is None or not math.isfinite(seconds):
        return NOTHING
    if seconds < 0.095:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    minutes, remainder = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {remainder} s" if remainder else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def microseconds(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return NOTHING
    if value < 9.95:
        return f"{value:.1f} µs"
    return f"{value:.0f} µs" if value < 999.5 else f"{value / 1000:.1f} ms"


def places_for(methods: Sequence[MethodRecord]) -> int:
    """Return the decimals that show two digits of the best method's interval width, or four of its score."""
    for method in methods:
        mean, interval = method["mean"], method["interval"]
        if mean is None or not math.isfinite(mean):
            continue
        width = abs(mean)
        if (
            interval
            and is_finite(interval[0])
            and is_finite(interval[1])
            and interval[1] > interval[0]
        ):
            half = (interval[1] - interval[0]) / 2
            return min(max(1 - math.floor(math.log10(half)), 0), 5)
        return min(max(3 - math.floor(math.log10(width)), 0), 5) if width > 0 else 3
    return 3


def join_names(names: Sequence[str], max_names: int = 4) -> str:
    """Format a list as 'a, b and c'; names beyond `max_names` are replaced by their number."""
    items = list(names)
    if len(items) > max_names:
        items = [*items[: max_names - 1], f"{len(names) - max_names + 1} others"]
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def name_of_mean(title: str, splits: int) -> str:
    """Return the name of the mean of a metric: 'mean log loss', but not 'mean mean cost'."""
    words = in_sentence(title)
    return words if splits == 1 or words.startswith("mean ") else f"mean {words}"


def direction_text(metric: MetricRecord) -> str:
    return "higher is better" if metric["higher_is_better"] else "lower is better"


def shorten(name: str, max_length: int = 48) -> str:
    return name if len(name) <= max_length else name[: max_length - 1].rstrip() + "…"
