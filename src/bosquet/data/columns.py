"""Input of the compiled core: one matrix, or a list of columns of equal length."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

# Quantitative columns contain floats (NaN is missing), integers or booleans. Categorical columns contain
# int32 codes (-1 is missing).
Columns: TypeAlias = np.ndarray | list[np.ndarray]

# Other floating types, and arrays in a non-native byte order, are converted.
_CORE_TYPES = frozenset(np.dtype(code) for code in "?bBhHiIlLqQfd")


def count_rows(columns: Columns) -> int:
    """Return the number of rows of an encoded table.

    >>> count_rows([np.zeros(3), np.ones(3)])
    3
    """
    return len(columns[0]) if isinstance(columns, list) else columns.shape[0]


def take_rows(columns: Columns, index: np.ndarray | slice) -> Columns:
    """Select rows of an encoded table by position, by a boolean mask, or by a slice (which makes no copy).

    >>> take_rows(np.array([[1, 2], [3, 4], [5, 6]]), np.array([2, 0]))
    array([[5, 6],
           [1, 2]])
    """
    if isinstance(columns, list):
        return [column[index] for column in columns]
    if isinstance(index, slice) or columns.flags.c_contiguous or not columns.flags.f_contiguous:
        return columns[index]
    # Indexing the transpose reads one column after the other and keeps the memory layout.
    positions = np.flatnonzero(index) if index.dtype == bool else index
    return np.take(columns.T, positions, axis=1).T


def ready_for_core(array: np.ndarray) -> np.ndarray:
    """Return the array if the core can read it, otherwise a converted copy."""
    if array.dtype not in _CORE_TYPES:
        native = array.dtype.newbyteorder("=")
        core_type = native if native in _CORE_TYPES else np.dtype(np.float64)
        # A long double that is too large for a double becomes infinite.
        with np.errstate(over="ignore"):
            return array.astype(core_type)
    # A field of a packed structured array may be misaligned.
    return array if array.flags.aligned else array.copy()
