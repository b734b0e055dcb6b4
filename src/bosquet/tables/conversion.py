"""Conversion of a column by its plan: to numbers, to the parts of dates, or to categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet.tables.column_plan import ColumnPlan
from bosquet.tables.dates import ISO, as_dates, date_part, parsed_dates
from bosquet.tables.errors import TableError
from bosquet.tables.levels import DATES, NUMBERS, Factorized, all_instances, factorized, texts_of
from bosquet.tables.numerals import looks_numeric, numbers_of

_SAMPLED = 500  # levels checked for numbers among them
_ONE_BY_ONE = 2000  # maximum number of levels converted one by one if they have different formats


def convert(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    """Return the features made of a column, and a note if values could not be converted."""
    if not plan.used:
        return [], ""
    if plan.has_levels:
        return _categories(plan, series)
    if plan.kind == "date":
        dates, note = _dates(plan, series)
        return [date_part(dates, part) for part in plan.parts], note
    return _numbers(plan, series)


def floats_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """Return a column that was planned as numbers or booleans, as float64; NaN if missing."""
    return np.asarray(_numbers(plan, series)[0][0], dtype=float)


def dates_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """Return a column that was planned as dates, as datetime64."""
    return _dates(plan, series)[0]


def as_numbers(series: Any) -> np.ndarray:
    """Return a column of a numeric type as an array; durations are in seconds."""
    import pandas as pd

    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "f":
        return np.asarray(series.to_numpy(), dtype=float)
    if pd.api.types.is_timedelta64_dtype(series.dtype):
        return series.dt.total_seconds().to_numpy(dtype=float)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iub":
        values: np.ndarray = series.to_numpy()
        return values.astype(np.int8) if values.dtype.kind == "b" else values
    if not isinstance(series.dtype, np.dtype) and not series.isna().any():
        kind = getattr(series.dtype, "kind", "f")
        if kind in "iu":
            return series.to_numpy(dtype=np.int64)
    return series.to_numpy(dtype=float, na_value=np.nan)


def _finite(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f" and np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
    return values


def numbers_among(texts: Sequence[str], decimal: str) -> np.ndarray:
    """Return the number in each text, NaN if it is not a number."""
    import pyarrow as pa

    together = numbers_of(pa.array(texts, pa.string()), decimal) if texts else None
    if together is not None:
        return together.to_numpy(zero_copy_only=False).astype(float)
    numbers = np.full(len(texts), np.nan)
    if not any(map(looks_numeric, texts[:: max(1, len(texts) // _SAMPLED)])):
        return numbers
    places = [place for place, text in enumerate(texts) if looks_numeric(text)]
    some = [texts[place] for place in places]
    together = numbers_of(pa.array(some, pa.string()), decimal) if some else None
    if together is not None:
        numbers[places] = together.to_numpy(zero_copy_only=False)
    elif len(some) <= _ONE_BY_ONE:
        for place in places:
            found = numbers_of(pa.array([texts[place]], pa.string()), decimal)
            if found is not None and found[0].is_valid:
                numbers[place] = found[0].as_py()
    return numbers


def truth_values(known: Factorized, texts: Sequence[str]) -> np.ndarray:
    """Return 1 for "true" and 0 for "false", in any case, per row."""
    return known.to_rows(np.array([float(text.lower() == "true") for text in texts]))


def _numbers(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return [_finite(series.to_numpy())], ""
    is_number = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    if is_number and not isinstance(dtype, pd.CategoricalDtype):
        return [_finite(as_numbers(series))], ""
    known = factorized(series)
    if known is None:
        raise TableError(
            f"column {plan.name!r} has nested values, but was numeric in training; pass numbers"
        )
    if all_instances(known.levels, *NUMBERS):
        return [_finite(known.to_rows(np.array([float(level) for level in known.levels])))], ""
    texts = texts_of(known.levels)
    if {text.lower() for text in texts} <= {"true", "false"}:
        return [truth_values(known, texts)], ""
    numbers = numbers_among(texts, plan.decimal)
    wrong = [texts[place] for place in np.flatnonzero(np.isnan(numbers)).tolist()]
    if texts and len(wrong) == len(texts):
        raise TableError(
            f"column {plan.name!r} was numeric in training, but now has text such as {wrong[0][:30]!r}; pass"
            " numbers"
        )
    note = f"not numeric, treated as missing: {some_texts(wrong)}" if wrong else ""
    return [_finite(known.to_rows(numbers))], note


def object_dates(known: Factorized) -> np.ndarray:
    """Return a column of date objects as datetime64."""
    import pandas as pd

    return known.to_rows(as_dates(pd.Series(known.levels, dtype=object)), np.datetime64("NaT"))


def _dates(plan: ColumnPlan, series: Any) -> tuple[np.ndarray, str]:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return as_dates(series), ""
    known = factorized(series)
    if known is not None and all_instances(known.levels, *DATES):
        return object_dates(known), ""
    texts = [] if known is None else texts_of(known.levels)
    dates = parsed_dates(texts, plan.format or ISO)
    if known is None or (texts and np.isnat(dates).all()):
        shown = f" such as {texts[0][:30]!r}" if texts else ""
        raise TableError(
            f"column {plan.name!r} had dates in training, but now has other values{shown}; pass dates in the"
            " same format"
        )
    wrong = [texts[place] for place in np.flatnonzero(np.isnat(dates)).tolist()]
    note = (
        f"not in the date format of training, treated as missing: {some_texts(wrong)}"
        if wrong
        else ""
    )
    return known.to_rows(dates, np.datetime64("NaT")), note


def _categories(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    known = factorized(series)
    if known is None:
        raise TableError(
            f"column {plan.name!r} was a category in training, but now has lists or other nested"
            " values; pass text or numbers"
        )
    texts = texts_of(known.levels)
    levels = list(plan.levels) if plan.kind == "ordinal" else sorted(set(texts))
    place = {level: code for code, level in enumerate(levels)}
    new = np.array([*(place.get(text, -1) for text in texts), -1], dtype=np.intp)
    coded = pd.Categorical.from_codes(
        new[known.codes], categories=pd.Index(levels, dtype=object), ordered=plan.kind == "ordinal"
    )
    return [coded], ""


def some_texts(texts: Sequence[str]) -> str:
    """Return the first texts, shortened, for a note."""
    shown = ", ".join(repr(text[:20]) for text in texts[:3])
    return shown + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")
