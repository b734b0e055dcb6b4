"""Masked arrays: masked values are missing values."""

from __future__ import annotations

from typing import Any

import numpy as np


def without_mask(values: Any) -> Any:
    """Return a masked array as a plain array with NaN or None for masked values; any other object unchanged.

    NumPy and scikit-learn ignore the mask and would use the values beneath it.

    >>> without_mask(np.ma.masked_array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    mask = np.ma.getmaskarray(values)
    if not mask.any():
        return np.asarray(values.data)
    if values.dtype.kind in "biuf":
        keeps_type = values.dtype in (np.float32, np.float64)
        numbers = values.data.astype(values.dtype if keeps_type else np.float64)
        numbers[mask] = np.nan
        return numbers
    objects = np.asarray(values.data).astype(object)
    objects[mask] = None
    return objects
