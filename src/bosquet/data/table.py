"""Common representation of all containers: columns of numbers, or of codes into a list of levels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from bosquet._digits import first_inexact_integer

from .columns import ready_for_core


@dataclass(frozen=True, slots=True)
class CodedColumn:
    """A column of levels: the value of row i is `levels[codes[i]]`, or missing if the code is -1.

    The levels are those of the container, in its order. Some may not occur, and one of them may be a missing
    value. `ordered` is whether they belong to an ordered category type.
    """

    codes: np.ndarray
    levels: list[Any]
    ordered: bool = False


def encode_objects(items: list[Any]) -> CodedColumn:
    """Encode objects by their first appearance. Equal numbers of different types are the same level."""
    # One pass of hashing in C: for each item, the row in which an equal item came first.
    row_of: dict[Any, int] = {}
    first_rows = np.fromiter(map(row_of.setdefault, items, count()), np.intp, len(items))
    code_of_row = np.empty(len(items), dtype=np.intp)
    code_of_row[np.fromiter(row_of.values(), np.intp, len(row_of))] = np.arange(len(row_of))
    return CodedColumn(code_of_row[first_rows], list(row_of))


@dataclass(frozen=True, slots=True)
class NumericColumn:
    """A column of numbers. Missing values are NaN, or marked in the mask `missing`.

    With the mask, integers are not converted to float64, which would change 64-bit identifiers. Integers of
    more than 64 bits are converted nevertheless; `rounded` is the first one that changed.
    """

    values: np.ndarray
    missing: np.ndarray | None = None
    rounded: int | None = None

    def as_quantities(self) -> np.ndarray:
        """Return the values with NaN for missing ones; without a copy if no value is marked as missing."""
        if self.missing is None or not self.missing.any():
            return ready_for_core(self.values)
        narrow = self.values.dtype == np.float32
        filled = self.values.astype(np.float32 if narrow else np.float64)
        filled[self.missing] = np.nan
        return filled

    def first_inexact_integer(self) -> int | None:
        """Return the first integer that loses digits as float64, or None."""
        return first_inexact_integer(self.values) if self.rounded is None else self.rounded

    def as_coded(self) -> CodedColumn:
        """Return the column as codes, with its distinct values as levels."""
        values = ready_for_core(self.values)
        missing = self.missing
        if len(values) < _FEW and missing is None:
            return encode_objects(values.tolist())  # a level NaN is treated as missing later
        if values.dtype.kind == "f":
            nan = np.isnan(values)
            missing = nan if missing is None else missing | nan
        if missing is None or not missing.any():
            codes, levels = _codes_and_levels(values)
            return CodedColumn(codes, levels)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[~missing], levels = _codes_and_levels(values[~missing])
        return CodedColumn(codes, levels)


# Below this number of values, encoding them one by one is faster than NumPy.
_FEW = 100

Column = NumericColumn | CodedColumn


@dataclass(frozen=True, slots=True)
class Table:
    """A table in a supported container.

    `column(i)` reads one column. `matrix()` returns all columns at once if the container is a numeric matrix
    or can be converted to one at low cost, otherwise None. `holds_integers()` is False if the container is
    known to contain no 64-bit integers.
    """

    shape: tuple[int, int]
    names: Sequence[Hashable] | None
    column: Callable[[int], Column]
    matrix: Callable[[], np.ndarray | None] = lambda: None
    holds_integers: Callable[[], bool] = lambda: True

    @property
    def n_columns(self) -> int:
        return self.shape[1]


def column_label(index: int, names: Sequence[Hashable] | None) -> str:
    """Return the name of a column in messages."""
    return f"column {index}" if names is None else f"column {names[index]!r}"


def unsupported_type_error(where: str, kind: object, advice: str) -> TypeError:
    """Return the error for a column that is neither numeric nor text."""
    return TypeError(f"{where} has type {kind}, which is neither numeric nor text; {advice}")


DATE_ADVICE = (
    "convert dates and durations to numbers (days since a date, hour of the day, ...), "
    "or to text to use them as categories"
)
BYTES_ADVICE = "decode the bytes to text"
NESTED_ADVICE = "split it into one column per value, or convert it to numbers or text"


def _codes_and_levels(values: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Return codes and ascending distinct values of numbers without missing values."""
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # infinities
            integers = values.astype(np.int64)
        if np.array_equal(integers, values):
            values = integers
    if values.dtype.kind in "iub" and len(values):
        low, high = int(values.min()), int(values.max())
        span = high - low + 1
        if span <= max(4 * len(values), 1024):
            return _codes_and_levels_in_span(values, low, span)
    levels, codes = np.unique(values, return_inverse=True)
    return codes, levels.tolist()


def _codes_and_levels_in_span(
    values: np.ndarray, low: int, span: int
) -> tuple[np.ndarray, list[int]]:
    """Return the same for integers in a small range, by counting, which is ten times as fast as sorting."""
    if values.dtype.kind == "u":
        offset = (values - values.dtype.type(low)).astype(np.intp)
    else:
        offset = values.astype(np.int64) - low
    occurs = np.zeros(span, dtype=bool)
    occurs[offset] = True
    code_of_offset = np.cumsum(occurs) - 1
    levels = [low + step for step in np.flatnonzero(occurs).tolist()]
    return code_of_offset[offset], levels
