"""What every container is read as: numbers, or codes into a list of levels."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from bosquet._digits import changed_by_float64

from .columns import ready_for_core


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of levels: row i holds `levels[codes[i]]`, or nothing where the code is -1.

    Levels are those of the container, in its order; some may not occur, and a missing value may
    stand among them. `ordered` says that their order means something.
    """

    codes: np.ndarray
    levels: list[Any]
    ordered: bool = False


def code_objects(items: list[Any]) -> Coded:
    """Codes in order of first appearance. Equal numbers of different types are one level."""
    # One pass of hashing, in C: for each item the row in which its like came first.
    row_of: dict[Any, int] = {}
    first_rows = np.fromiter(map(row_of.setdefault, items, count()), np.intp, len(items))
    code_of_row = np.empty(len(items), dtype=np.intp)
    code_of_row[np.fromiter(row_of.values(), np.intp, len(row_of))] = np.arange(len(row_of))
    return Coded(code_of_row[first_rows], list(row_of))


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column of numbers. What is missing is NaN, or marked in `missing`.

    The mark keeps integers whole: a 64-bit identifier does not survive a turn as a double. One that has more
    than 64 bits becomes a double all the same; `rounded` is the first such integer.
    """

    values: np.ndarray
    missing: np.ndarray | None = None
    rounded: int | None = None

    def as_quantities(self) -> np.ndarray:
        """The values with NaN where missing; the caller's own memory where nothing is marked."""
        if self.missing is None or not self.missing.any():
            return ready_for_core(self.values)
        narrow = self.values.dtype == np.float32
        filled = self.values.astype(np.float32 if narrow else np.float64)
        filled[self.missing] = np.nan
        return filled

    def changed_by_float64(self) -> int | None:
        """The first integer that loses digits as a quantity; None if none does."""
        return changed_by_float64(self.values) if self.rounded is None else self.rounded

    def as_coded(self) -> Coded:
        """The distinct values as levels."""
        values = ready_for_core(self.values)
        missing = self.missing
        if len(values) < _FEW and missing is None:
            return code_objects(values.tolist())  # NaN among the levels is no value to anyone
        if values.dtype.kind == "f":
            nan = np.isnan(values)
            missing = nan if missing is None else missing | nan
        if missing is None or not missing.any():
            codes, levels = _distinct(values)
            return Coded(codes, levels)
        codes = np.full(len(values), -1, dtype=np.int64)
        codes[~missing], levels = _distinct(values[~missing])
        return Coded(codes, levels)


# So few values are coded faster one by one than by NumPy's machinery.
_FEW = 100

Column = Numbers | Coded


@dataclass(frozen=True, slots=True)
class Table:
    """A container that was recognised.

    `column(i)` reads a column when it is wanted; `matrix()` gives all columns at once, where the
    container is or cheaply makes one matrix of numbers, and None elsewhere. `holds_integers()` is False
    where the container is known to hold no integers of 64 bits.
    """

    shape: tuple[int, int]
    names: Sequence[Hashable] | None
    column: Callable[[int], Column]
    matrix: Callable[[], np.ndarray | None] = lambda: None
    holds_integers: Callable[[], bool] = lambda: True

    @property
    def n_columns(self) -> int:
        return self.shape[1]


def place(index: int, names: Sequence[Hashable] | None) -> str:
    """How a message names a column."""
    return f"column {index}" if names is None else f"column {names[index]!r}"


def unsupported(where: str, kind: object, advice: str) -> TypeError:
    """The error for a column that is neither numbers nor levels."""
    return TypeError(f"{where} has type {kind}, which is neither numeric nor text: {advice}")


DATE_ADVICE = (
    "turn dates and durations into numbers (days since a date, hour of the day, ...), "
    "or into text to have them as categories."
)
BYTES_ADVICE = "decode the bytes into text."
NESTED_ADVICE = "give each value a column of its own, or turn the column into numbers or text."


def _distinct(values: np.ndarray) -> tuple[np.ndarray, list[Any]]:
    """Codes and ascending distinct values of numbers without missing ones."""
    if values.dtype.kind == "f":
        with np.errstate(invalid="ignore"):  # infinities
            whole = values.astype(np.int64)
        if np.array_equal(whole, values):
            values = whole
    if values.dtype.kind in "iub" and len(values):
        low, high = int(values.min()), int(values.max())
        span = high - low + 1
        if span <= max(4 * len(values), 1024):
            return _distinct_in_span(values, low, span)
    levels, codes = np.unique(values, return_inverse=True)
    return codes, levels.tolist()


def _distinct_in_span(values: np.ndarray, low: int, span: int) -> tuple[np.ndarray, list[int]]:
    """Counting beats sorting tenfold where whole numbers lie close together."""
    if values.dtype.kind == "u":
        offset = (values - values.dtype.type(low)).astype(np.intp)
    else:
        offset = values.astype(np.int64) - low
    occurs = np.zeros(span, dtype=bool)
    occurs[offset] = True
    code_of_offset = np.cumsum(occurs) - 1
    levels = [low + step for step in np.flatnonzero(occurs).tolist()]
    return code_of_offset[offset], levels
