"""Tables of very many columns: plain numbers are looked at all together, for one by one takes minutes."""

from __future__ import annotations

from typing import Any

import numpy as np

WIDE = 1000  # columns


def plain_numbers_at(frame: Any) -> np.ndarray:
    """Which columns of a wide frame are NumPy's numbers; none of any other frame."""
    if frame.shape[1] <= WIDE:
        return np.zeros(frame.shape[1], dtype=bool)
    return np.array([isinstance(t, np.dtype) and t.kind in "iuf" for t in frame.dtypes])


def plainly_varied(frame: Any, plain: np.ndarray) -> np.ndarray:
    """Of the plain columns those that are finite or missing, vary, and do not number the rows."""
    easy = np.zeros(len(plain), dtype=bool)
    if not plain.any():
        return easy
    whole = np.array([isinstance(t, np.dtype) and t.kind in "iu" for t in frame.dtypes])
    for start in range(0, len(plain), WIDE):
        places = start + np.flatnonzero(plain[start : start + WIDE])
        if len(places) and len(frame) > 1:
            values = frame.iloc[:, places].to_numpy(dtype=float)
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
            numbers_rows = whole[places] & (np.abs(values[1] - values[0]) == 1)
            with np.errstate(invalid="ignore"):  # infinite columns
                easy[places] = (high > low) & np.isfinite(high) & np.isfinite(low) & ~numbers_rows
    return easy


def block_of(frame: Any, places: np.ndarray, names: list[str]) -> Any:
    """Columns of numbers as they are, infinite values missing."""
    block = frame.iloc[:, places].set_axis(names, axis=1).reset_index(drop=True)
    values = block.to_numpy()
    if values.dtype.kind == "f" and np.isinf(values).any():
        block = block.where(np.isfinite(block) | block.isna())
    return block
