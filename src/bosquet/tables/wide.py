"""Tables with very many columns, whose plain numbers are checked together; one by one takes minutes."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDE = 1000  # columns


def number_columns_of_wide_frame(frame: Any) -> np.ndarray:
    """Return a mask of the NumPy number columns of a wide frame; all False for other frames."""
    if frame.shape[1] <= WIDE:
        return np.zeros(frame.shape[1], dtype=bool)
    return np.array([isinstance(t, np.dtype) and t.kind in "iuf" for t in frame.dtypes])


def ordinary_number_columns(frame: Any, is_plain_number: np.ndarray) -> np.ndarray:
    """Return a mask of the plain columns that have no infinite values, vary and are not row numbers."""
    ordinary = np.zeros(len(is_plain_number), dtype=bool)
    if not is_plain_number.any():
        return ordinary
    whole = np.array([isinstance(t, np.dtype) and t.kind in "iu" for t in frame.dtypes])
    for start in range(0, len(is_plain_number), WIDE):
        column_indices = start + np.flatnonzero(is_plain_number[start : start + WIDE])
        if len(column_indices) and len(frame) > 1:
            values = frame.iloc[:, column_indices].to_numpy(dtype=float)
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
            row_numbers = whole[column_indices] & (np.abs(values[1] - values[0]) == 1)
            with np.errstate(invalid="ignore"):  # infinite columns
                finite = np.isfinite(high) & np.isfinite(low)
                ordinary[column_indices] = (high > low) & finite & ~row_numbers
    return ordinary


def numeric_block(frame: Any, column_indices: np.ndarray, names: list[str]) -> Any:
    """Return columns of numbers unchanged, except that infinite values are missing."""
    block = frame.iloc[:, column_indices].set_axis(names, axis=1).reset_index(drop=True)
    values = block.to_numpy()
    if values.dtype.kind == "f" and np.isinf(values).any():
        block = block.where(np.isfinite(block) | block.isna())
    return block
