"""What the core takes: one matrix, or a list of equally long columns."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

# Quantitative columns hold floats (NaN is missing), integers or booleans; categorical ones hold
# int32 codes (-1 is missing).
Columns: TypeAlias = np.ndarray | list[np.ndarray]

# Float types other than these, and anything in a foreign byte order, are converted.
_CORE_TYPES = frozenset(np.dtype(code) for code in "?bBhHiIlLqQfd")


def n_rows(columns: Columns) -> int:
    """Number of rows of a table that is ready for the core.

    >>> n_rows([np.zeros(3), np.ones(3)])
    3
    """
    return len(columns[0]) if isinstance(columns, list) else columns.shape[0]


def take_rows(columns: Columns, index: np.ndarray | slice) -> Columns:
    """Rows of a table: by position, by a boolean mask, or a slice (which copies nothing).

    >>> take_rows(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0]))
    array([[5, 6],
           [1, 2]])
    """
    if isinstance(columns, list):
        return [column[index] for column in columns]
    if isinstance(index, slice) or columns.flags.c_contiguous or not columns.flags.f_contiguous:
        return columns[index]
    # Taking from the transpose walks each column in turn and keeps the order of the memory.
    positions = np.flatnonzero(index) if index.dtype == bool else index
    return np.take(columns.T, positions, axis=1).T


def ready_for_core(array: np.ndarray) -> np.ndarray:
    """The array itself where the core can read it, a converted copy where not."""
    if array.dtype not in _CORE_TYPES:
        native = array.dtype.newbyteorder("=")
        wanted = native if native in _CORE_TYPES else np.dtype(np.float64)
        with np.errstate(over="ignore"):  # a long double beyond the doubles becomes infinite
            return array.astype(wanted)
    # A field of a packed record lies at odd addresses.
    return array if array.flags.aligned else array.copy()
