"""Tables with very many columns, whose plain numbers are checked together; one by one takes minutes."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDE = 1000  # columns


def is_plain_number(frame: Any) -> np.ndarray:
    """Return a mask of the NumPy number columns of a wide frame; all False for other frames."""
    if frame.shape[1] <= WIDE:
        return np.zeros(frame.shape[1], dtype=bool)
    return np.array([isinstance(t, np.dtype) and t.kind in "iuf" for t in frame.dtypes])


def is_ordinary_number(frame: Any, plain: np.ndarray) -> np.ndarray:
    """Return a mask of the plain columns that have no infinite values, vary and are not row numbers."""
    ordinary = np.zeros(len(plain), dtype=bool)
    if not plain.any():
        return ordinary
    whole = np.array([isinstance(t, np.dtype) and t.kind in "iu" for t in frame.dtypes])
    for start in range(0, len(plain), WIDE):
        places = start + np.flatnonzero(plain[start : start + WIDE])
        if len(places) and len(frame) > 1:
            values = frame.iloc[:, places].to_numpy(dtype=float)
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
            row_numbers = whole[places] & (np.abs(values[1] - values[0]) == 1)
            with np.errstate(invalid="ignore"):  # infinite columns
                finite = np.isfinite(high) & np.isfinite(low)
                ordinary[places] = (high > low) & finite & ~row_numbers
    return ordinary


def numeric_block(frame: Any, places: np.ndarray, names: list[str]) -> Any:
    """Return columns of numbers unchanged, except that infinite values are missing."""
    block = frame.iloc[:, places].set_axis(names, axis=1).reset_index(drop=True)
    values = block.to_numpy()
    if values.dtype.kind == "f" and np.isinf(values).any():
        block = block.where(np.isfinite(block) | block.isna())
    return block
