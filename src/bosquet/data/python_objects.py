"""Columns of Python objects: from lists, object columns of NumPy and pandas, and arrays of text."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from .table import (
    BYTES_ADVICE,
    DATE_ADVICE,
    Column,
    NumericColumn,
    encode_objects,
    unsupported_type_error,
)

_INTEGERS = (int, np.integer, np.bool_)


def read_objects(items: list[Any], where: str) -> Column:
    """Read a column as numbers if all values are numbers or missing, as levels if there is text.

    A column with missing values only is read as a column without levels.
    """
    types = set(map(type, items))
    present = {kind for kind in types if not is_missing_type(kind)}
    for kind in present:
        if not issubclass(kind, (str, Real, Decimal, np.bool_)):
            raise _invalid_value_error(items, kind, where)
    if not present or any(issubclass(kind, str) for kind in present):
        return encode_objects(items)
    marks = types - present
    if all(issubclass(kind, _INTEGERS) for kind in present):
        return _read_integers(items, marks, where)
    if marks - {type(None)}:
        items = [None if type(item) in marks else item for item in items]
    return NumericColumn(_read_floats(items, where))


def holds_numbers_only(types: set[type]) -> bool:
    """Return whether NumPy converts objects of these types to float64 correctly."""
    return all(kind is type(None) or issubclass(kind, (Real, np.bool_)) for kind in types)


def is_missing_type(kind: type) -> bool:
    """Return whether a type is that of None, pandas.NA or pandas.NaT, without importing pandas."""
    return kind is type(None) or (
        kind.__name__ in ("NAType", "NaTType") and kind.__module__.startswith("pandas.")
    )


def _read_integers(items: list[Any], marks: set[type], where: str) -> NumericColumn:
    missing = None
    if marks:
        missing = np.fromiter((type(item) in marks for item in items), bool, len(items))
        items = [0 if is_missing else item for item, is_missing in zip(items, missing, strict=True)]
    values = np.array(items)
    if values.dtype.kind in "iub":
        return NumericColumn(values, missing)
    doubles = _read_floats(items, where)
    rounded = next((int(item) for item in items if int(float(item)) != item), None)
    return NumericColumn(doubles, missing, rounded)


def _read_floats(items: list[Any], where: str) -> np.ndarray:
    column = np.empty(len(items), dtype=object)
    column[:] = items
    try:
        return column.astype(np.float64)  # None becomes NaN
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"{where} contains a value that cannot be converted to float64: {error}"
        ) from error


def _invalid_value_error(items: list[Any], kind: type, where: str) -> TypeError | ValueError:
    row, value = next((i, item) for i, item in enumerate(items) if type(item) is kind)
    if issubclass(kind, (complex, np.complexfloating)):
        return ValueError(
            f"Complex data not supported: {where} contains {value!r} in row {row}; pass real numbers"
        )
    if issubclass(kind, (bytes, bytearray)):
        return unsupported_type_error(where, kind.__name__, BYTES_ADVICE)
    if kind.__module__ == "datetime" or kind.__name__ in ("Timestamp", "Timedelta", "datetime64"):
        return unsupported_type_error(where, kind.__name__, DATE_ADVICE)
    return TypeError(
        f"{where} contains {value!r} in row {row}: the argument must be a string or a number, "
        f"not {kind.__name__!r}; convert the column to numbers or text"
    )
