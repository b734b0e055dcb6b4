"""Integers that lose digits when they become float64."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bosquet._warnings import warn_user

# Up to here float64 holds every integer.
EXACT = 2**53
# So many columns are named.
_NAMED = 5


def changed_by_float64(values: np.ndarray) -> int | None:
    """The first integer of an array that float64 does not hold; None if it holds all of them.

    >>> changed_by_float64(np.array([1, 2**53, 2**53 + 1]))
    9007199254740993
    >>> changed_by_float64(np.array([1.5, 2.0**60]))
    """
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return None
    if int(values.max()) <= EXACT and int(values.min()) >= -EXACT:
        return None
    with np.errstate(invalid="ignore"):  # the largest ones round up to 2**63 or 2**64
        changed = np.flatnonzero(values.astype(np.float64).astype(values.dtype) != values)
    return int(values.flat[changed[0]]) if changed.size else None


def warn_of_lost_digits(where: Sequence[str], example: int, advice: str) -> None:
    """One warning for all the places of a fit that have such integers."""
    places = ", ".join(where[:_NAMED])
    if len(where) > _NAMED:
        places += f" and {len(where) - _NAMED} more"
    warn_user(
        f"{places}: integers beyond 2**53 lose digits as float64 ({example} becomes"
        f" {float(example):.0f}), and values that differ in those digits become equal; {advice}"
    )
