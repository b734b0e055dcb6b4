"""Date formats, and the parts of dates that a model can use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

PARTS = ("year", "month", "day", "weekday", "hour", "minute")
ELAPSED = "elapsed"  # elapsed time, which does not recur
DAYS_OF_A_YEAR = 365.2425
# Recurring parts and their period in days. Sine and cosine of the position in the year or in the day do not
# jump between December and January, or at midnight.
CYCLES = {
    "month": DAYS_OF_A_YEAR,
    "day": DAYS_OF_A_YEAR / 12,
    "weekday": 7.0,
    "hour": 1.0,
    "minute": 1 / 24,
    "year_sine": DAYS_OF_A_YEAR,
    "year_cosine": DAYS_OF_A_YEAR,
    "day_sine": 1.0,
    "day_cosine": 1.0,
}
# Minimum number of periods in a table for a part to count as recurring. Its values in later test blocks,
# and in future rows, then mostly occur in the training rows too.
CYCLES_SPANNED = 1.5

ISO = "ISO8601"
_MONTH = r"[A-Za-z]{3,9}\.?"
# Patterns of dates and their possible formats; if several fit, the first is used.
_DATES: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"\d{4}-\d{1,2}-\d{1,2}", (ISO,)),
    (r"\d{4}/\d{1,2}/\d{1,2}", ("%Y/%m/%d",)),
    (r"\d{4}\.\d{1,2}\.\d{1,2}", ("%Y.%m.%d",)),
    (r"\d{1,2}\.\d{1,2}\.\d{4}", ("%d.%m.%Y",)),
    (r"\d{1,2}\.\d{1,2}\.\d{2}", ("%d.%m.%y",)),
    (r"\d{1,2}/\d{1,2}/\d{4}", ("%m/%d/%Y", "%d/%m/%Y")),
    (r"\d{1,2}/\d{1,2}/\d{2}", ("%m/%d/%y", "%d/%m/%y")),
    (r"\d{1,2}-\d{1,2}-\d{4}", ("%d-%m-%Y", "%m-%d-%Y")),
    (rf"\d{{1,2}}-{_MONTH}-\d{{4}}", ("%d-%b-%Y", "%d-%B-%Y")),
    (rf"\d{{1,2}}-{_MONTH}-\d{{2}}", ("%d-%b-%y",)),
    (rf"\d{{1,2}} {_MONTH} \d{{4}}", ("%d %b %Y", "%d %B %Y")),
    (rf"{_MONTH} \d{{1,2}}, \d{{4}}", ("%b %d, %Y", "%B %d, %Y")),
)
_TIMES: tuple[tuple[str, str], ...] = (
    (r"", ""),
    (r" \d{1,2}:\d{2}", " %H:%M"),
    (r" \d{1,2}:\d{2}:\d{2}", " %H:%M:%S"),
    (r" \d{1,2}:\d{2}:\d{2}\.\d+", " %H:%M:%S.%f"),
    (r" \d{1,2}:\d{2} ?[AaPp][Mm]", " %I:%M %p"),
    (r" \d{1,2}:\d{2}:\d{2} ?[AaPp][Mm]", " %I:%M:%S %p"),
)
_ISO_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?Z|[+-]\d{2}(?::?\d{2})?)?)?"
_SHAPES = [
    (re.compile(date + time), tuple(f + clock for f in formats))
    for date, formats in _DATES[1:]
    for time, clock in _TIMES
]
_SHAPES.insert(0, (re.compile(_DATES[0][0] + _ISO_TIME), (ISO,)))
FORMATS = frozenset(form for _, formats in _SHAPES for form in formats)
_ANY = re.compile("|".join(f"(?:{shape.pattern})" for shape, _ in _SHAPES))
_SAMPLED = 50


def looks_like_date(text: str) -> bool:
    """Return whether a cell has the pattern of a date."""
    return _ANY.fullmatch(text) is not None


def date_format(levels: Sequence[str]) -> tuple[str, bool] | None:
    """Return the format that fits all levels, and whether another format fits too; None if no format fits.

    Examples
    --------
    >>> from bosquet.tables.dates import date_format
    >>> date_format(["31/01/2020", "02/03/2020"]), date_format(["01/02/2020"]), date_format(["1.5", "x"])
    (('%d/%m/%Y', False), ('%m/%d/%Y', True), None)
    """
    sample = list(levels[:_SAMPLED])
    for shape, formats in _SHAPES:
        if not sample or not all(shape.fullmatch(level) for level in sample):
            continue
        fitting = [f for f in formats if not np.isnat(parse_dates(levels, f)).any()]
        if fitting:
            # %b and %B are the same for month names of three letters
            other = {f.replace("%B", "%b") for f in fitting} - {fitting[0].replace("%B", "%b")}
            return fitting[0], bool(other)
    return None


def parse_dates(levels: Sequence[str], form: str) -> np.ndarray:
    """Return texts as datetime64, in UTC if they have a time zone; NaT if they are not in the format."""
    import pandas as pd

    texts = pd.Series(list(levels), dtype=object)
    utc = form == ISO
    return _without_time_zone(pd.to_datetime(texts, format=form, errors="coerce", utc=utc))


def _without_time_zone(series: Any) -> np.ndarray:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return series.to_numpy(dtype="datetime64[ns]" if series.dtype.kind != "M" else None)


def as_dates(series: Any) -> np.ndarray:
    """Return a column of a date type as datetime64."""
    import pandas as pd

    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    return _without_time_zone(pd.to_datetime(series, errors="coerce"))


def date_part(dates: np.ndarray, part: str) -> np.ndarray:
    """Return a part of each date as a number, NaN if it is missing; weekdays are 1 (Monday) to 7.

    Elapsed time is in fractional years: 2024.5 is the middle of 2024.
    """
    import pandas as pd

    if part == ELAPSED:
        days = (dates - np.datetime64("1970-01-01")) / np.timedelta64(1, "D")
        return np.asarray(1970 + days / DAYS_OF_A_YEAR, dtype=float)
    if part.endswith(("_sine", "_cosine")):
        return _on_circle(dates, part)
    index = pd.DatetimeIndex(dates)
    values = np.asarray(getattr(index, "day_of_week" if part == "weekday" else part), dtype=float)
    values[index.isna()] = np.nan
    return values + 1 if part == "weekday" else values


def _on_circle(dates: np.ndarray, part: str) -> np.ndarray:
    """Return the sine or cosine of the position of each date in its year or day.

    In the year, all months have the same length, so that a date has the same position in leap years.
    """
    unit, function = part.split("_")
    turn = (dates - dates.astype("datetime64[D]")) / np.timedelta64(1, "D")
    if unit == "year":
        turn = (date_part(dates, "month") - 1 + (date_part(dates, "day") - 1 + turn) / 31) / 12
    angle = 2 * np.pi * turn
    return np.asarray(np.sin(angle) if function == "sine" else np.cos(angle), dtype=float)


def recurring_parts(dates: np.ndarray) -> list[str]:
    """Return the parts that vary and recur within the time span of the dates.

    For dates within one year the month does not recur, because later rows have other months.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.tables.dates import recurring_parts
    >>> recurring_parts(np.arange("2024-01-01", "2024-12-01", dtype="datetime64[D]"))
    ['day', 'weekday']
    """
    present = dates[~np.isnat(dates)]
    if not present.size:
        return []
    span = (present.max() - present.min()) / np.timedelta64(1, "D")
    recur = [part for part, cycle in CYCLES.items() if span >= CYCLES_SPANNED * cycle]
    return [part for part in recur if np.ptp(date_part(present, part)) > 0]


def varied_parts(dates: np.ndarray) -> list[str]:
    """Return the parts that are not the same for all dates."""
    present = dates[~np.isnat(dates)]
    return [part for part in PARTS if present.size and np.ptp(date_part(present, part)) > 0]
