"""Conversion of a column by its plan: to numbers, to the parts of dates, or to categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet.tables.column_plan import ColumnPlan
from bosquet.tables.dates import ISO, as_dates, date_part, parse_dates
from bosquet.tables.errors import MisfitError, TableError
from bosquet.tables.levels import DATES, NUMBERS, Factorized, all_instances, factorize, texts_of
from bosquet.tables.numerals import looks_numeric, numbers_of

_SAMPLED = 500  # levels checked for numbers among them
_ONE_BY_ONE = 2000  # maximum number of levels converted one by one if they have different formats


def convert(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    """Return the features made of a column, and a note if values could not be converted."""
    if not plan.used:
        return [], ""
    if plan.has_levels:
        return _convert_categories(plan, series)
    if plan.kind == "date":
        dates, note = _convert_dates(plan, series)
        return [date_part(dates, part) for part in plan.parts], note
    return _convert_numbers(plan, series)


def floats_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """Return a column that was planned as numbers or booleans, as float64; NaN if missing."""
    return np.asarray(_convert_numbers(plan, series)[0][0], dtype=float)


def dates_of(plan: ColumnPlan, series: Any) -> np.ndarray:
    """Return a column that was planned as dates, as datetime64."""
    return _convert_dates(plan, series)[0]


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


def _finite_only(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind == "f" and np.isinf(values).any():
        values = np.where(np.isinf(values), np.nan, values)
    return values


def numbers_in_texts(texts: Sequence[str], decimal: str) -> np.ndarray:
    """Return the number in each text, NaN if it is not a number."""
    import pyarrow as pa

    together = numbers_of(pa.array(texts, pa.string()), decimal) if texts else None
    if together is not None:
        return together.to_numpy(zero_copy_only=False).astype(float)
    numbers = np.full(len(texts), np.nan)
    if not any(map(looks_numeric, texts[:: max(1, len(texts) // _SAMPLED)])):
        return numbers
    indices = [index for index, text in enumerate(texts) if looks_numeric(text)]
    numeric_texts = [texts[index] for index in indices]
    together = numbers_of(pa.array(numeric_texts, pa.string()), decimal) if numeric_texts else None
    if together is not None:
        numbers[indices] = together.to_numpy(zero_copy_only=False)
    elif len(numeric_texts) <= _ONE_BY_ONE:
        for index in indices:
            number = numbers_of(pa.array([texts[index]], pa.string()), decimal)
            if number is not None and number[0].is_valid:
                numbers[index] = number[0].as_py()
    return numbers


def truth_values(factor: Factorized, texts: Sequence[str]) -> np.ndarray:
    """Return 1 for "true" and 0 for "false", in any case, per row."""
    return factor.to_rows(np.array([float(text.lower() == "true") for text in texts]))


def _convert_numbers(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iuf":
        return [_finite_only(series.to_numpy())], ""
    is_number = pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_timedelta64_dtype(dtype)
    if is_number and not isinstance(dtype, pd.CategoricalDtype):
        return [_finite_only(as_numbers(series))], ""
    factor = factorize(series)
    if factor is None:
        raise TableError(
            f"column {plan.name!r} has nested values, but was numeric in training; pass numbers"
        )
    if all_instances(factor.levels, *NUMBERS):
        return [
            _finite_only(factor.to_rows(np.array([float(level) for level in factor.levels])))
        ], ""
    texts = texts_of(factor.levels)
    if {text.lower() for text in texts} <= {"true", "false"}:
        return [truth_values(factor, texts)], ""
    numbers = numbers_in_texts(texts, plan.decimal)
    wrong = [texts[index] for index in np.flatnonzero(np.isnan(numbers)).tolist()]
    if texts and len(wrong) == len(texts):
        raise MisfitError(
            f"column {plan.name!r} was numeric in training, but now has text such as {wrong[0][:30]!r}; pass"
            " numbers",
            plan.name,
        )
    note = f"not numeric, treated as missing: {example_texts(wrong)}" if wrong else ""
    return [_finite_only(factor.to_rows(numbers))], note


def object_dates(factor: Factorized) -> np.ndarray:
    """Return a column of date objects as datetime64."""
    import pandas as pd

    return factor.to_rows(as_dates(pd.Series(factor.levels, dtype=object)), np.datetime64("NaT"))


def _convert_dates(plan: ColumnPlan, series: Any) -> tuple[np.ndarray, str]:
    import pandas as pd

    dtype = series.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype) or isinstance(dtype, pd.PeriodDtype):
        return as_dates(series), ""
    factor = factorize(series)
    if factor is not None and all_instances(factor.levels, *DATES):
        return object_dates(factor), ""
    texts = [] if factor is None else texts_of(factor.levels)
    dates = parse_dates(texts, plan.format or ISO)
    if factor is None or (texts and np.isnat(dates).all()):
        shown = f" such as {texts[0][:30]!r}" if texts else ""
        raise MisfitError(
            f"column {plan.name!r} had dates in training, but now has other values{shown}; pass dates in the"
            " same format",
            plan.name,
        )
    wrong = [texts[index] for index in np.flatnonzero(np.isnat(dates)).tolist()]
    note = (
        f"not in the date format of training, treated as missing: {example_texts(wrong)}"
        if wrong
        else ""
    )
    return factor.to_rows(dates, np.datetime64("NaT")), note


def _convert_categories(plan: ColumnPlan, series: Any) -> tuple[list[Any], str]:
    import pandas as pd

    factor = factorize(series)
    if factor is None:
        raise TableError(
            f"column {plan.name!r} was a category in training, but now has lists or other nested"
            " values; pass text or numbers"
        )
    texts = texts_of(factor.levels)
    levels = list(plan.levels) if plan.kind == "ordinal" else sorted(set(texts))
    code_of = {level: code for code, level in enumerate(levels)}
    new = np.array([*(code_of.get(text, -1) for text in texts), -1], dtype=np.intp)
    coded = pd.Categorical.from_codes(
        new[factor.codes], categories=pd.Index(levels, dtype=object), ordered=plan.kind == "ordinal"
    )
    return [coded], ""


def example_texts(texts: Sequence[str]) -> str:
    """Return the first texts, shortened, for a note."""
    shown = ", ".join(repr(text[:20]) for text in texts[:3])
    return shown + (f" and {len(texts) - 3} more" if len(texts) > 3 else "")
