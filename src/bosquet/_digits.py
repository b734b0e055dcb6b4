"""Detection of integers that lose digits when they are converted to float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bosquet._warnings import warn_user

# float64 represents every integer up to this size exactly.
LARGEST_EXACT_INTEGER = 2**53
# Number of columns that a warning names.
_MAX_NAMED = 5


def first_inexact_integer(values: np.ndarray) -> int | None:
    """Return the first integer of an array that float64 cannot represent exactly, or None.

    >>> first_inexact_integer(np.array([1, 2**53, 2**53 + 1]))
    9007199254740993
    >>> first_inexact_integer(np.array([1.5, 2.0**60]))
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return None
    if int(values.max()) <= LARGEST_EXACT_INTEGER and int(values.min()) >= -LARGEST_EXACT_INTEGER:
        return None
    with np.errstate(invalid="ignore"):  # the largest integers round up to 2**63 or 2**64
        changed = np.flatnonzero(values.astype(np.float64).astype(values.dtype) != values)
    return int(values.flat[changed[0]]) if changed.size else None


def warn_of_lost_digits(where: Sequence[str], example: int, advice: str) -> None:
    """Issue one warning for all columns of a fit that contain such integers."""
    columns = ", ".join(where[:_MAX_NAMED])
    if len(where) > _MAX_NAMED:
        columns += f" and {len(where) - _MAX_NAMED} more"
    warn_user(
        f"{columns}: integers larger than 2**53 lose digits when converted to float64 ({example} becomes"
        f" {float(example):.0f}), so values that differ only in those digits become equal; {advice}"
    )
