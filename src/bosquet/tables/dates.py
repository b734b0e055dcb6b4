"""Dates in the ways people write them, and the parts that a model can use."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

PARTS = ("year", "month", "day", "weekday", "hour", "minute")

ISO = "ISO8601"
_MONTH = r"[A-Za-z]{3,9}\.?"
# The shape of a date, and the formats that it may be in; the first is taken where several fit.
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
_ANY = re.compile("|".join(f"(?:{shape.pattern})" for shape, _ in _SHAPES))
_LOOKED_AT = 50


def looks_like_date(text: str) -> bool:
    """Whether a cell has the shape of a date."""
    return _ANY.fullmatch(text) is not None


def date_format(levels: Sequence[str]) -> tuple[str, bool] | None:
    """The format that all levels are in, and whether another fits them as well; None if there is none.

    Examples
    --------
    >>> from bosquet.tables.dates import date_format
    >>> date_format(["31/01/2020", "02/03/2020"]), date_format(["01/02/2020"]), date_format(["1.5", "x"])
    (('%d/%m/%Y', False), ('%m/%d/%Y', True), None)
    """
    some = list(levels[:_LOOKED_AT])
    for shape, formats in _SHAPES:
        if not some or not all(shape.fullmatch(level) for level in some):
            continue
        fitting = [f for f in formats if not np.isnat(parsed_dates(levels, f)).any()]
        if fitting:
            # %b and %B are the same for a month of three letters
            other = {f.replace("%B", "%b") for f in fitting} - {fitting[0].replace("%B", "%b")}
            return fitting[0], bool(other)
    return None


def parsed_dates(levels: Sequence[str], form: str) -> np.ndarray:
    """Text as datetime64, in universal time where a zone is given; NaT for what is not in the format."""
    import pandas as pd

    texts = pd.Series(list(levels), dtype=object)
    utc = form == ISO
    return _naive(pd.to_datetime(texts, format=form, errors="coerce", utc=utc))


def _naive(series: Any) -> np.ndarray:
    if getattr(series.dtype, "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return series.to_numpy(dtype="datetime64[ns]" if series.dtype.kind != "M" else None)


def as_dates(series: Any) -> np.ndarray:
    """A column of a date type as datetime64."""
    import pandas as pd

    if isinstance(series.dtype, pd.PeriodDtype):
        series = series.dt.to_timestamp()
    return _naive(pd.to_datetime(series, errors="coerce"))


def date_part(dates: np.ndarray, part: str) -> np.ndarray:
    """A part of each date as a number, NaN where it is missing; weekdays are 1 (Monday) to 7."""
    import pandas as pd

    index = pd.DatetimeIndex(dates)
    values = np.asarray(getattr(index, "day_of_week" if part == "weekday" else part), dtype=float)
    values[index.isna()] = np.nan
    return values + 1 if part == "weekday" else values


def varied_parts(dates: np.ndarray) -> list[str]:
    """The parts that are not the same for all dates."""
    known = dates[~np.isnat(dates)]
    return [part for part in PARTS if known.size and np.ptp(date_part(known, part)) > 0]
