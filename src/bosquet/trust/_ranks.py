"""The order statistic of the calibration scores that gives a coverage."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

# Tolerance for rounding errors: (n + 1) * coverage may come out slightly above a whole number.
_ROUNDING = 1e-9


def check_coverage(coverage: Any) -> float:
    """Return coverage as a float in (0, 1)."""
    if type(coverage) is float and 0 < coverage < 1:
        return coverage
    if not isinstance(coverage, Real) or isinstance(coverage, bool) or not 0 < float(coverage) < 1:
        raise ValueError(
            f"coverage={coverage!r} is not valid: coverage must be a number in (0, 1), such as 0.9"
        )
    return float(coverage)


def rows_needed(coverage: float) -> int:
    """Return the minimum number of calibration rows n that can guarantee a coverage c: (n + 1)c ≤ n.

    >>> rows_needed(0.9), rows_needed(0.95), rows_needed(0.5)
    (9, 19, 1)
    """
    return max(1, math.ceil(coverage / (1 - coverage) - _ROUNDING))


def upper_rank(n: int, coverage: float) -> int:
    """Return ⌈(n + 1)c⌉: a new row's score is at most the score of this rank with probability ≥ c."""
    return math.ceil((n + 1) * coverage - _ROUNDING)


def check_enough(n: int, coverage: float, where: str = "") -> None:
    """Raise ValueError if n calibration rows cannot guarantee the coverage."""
    needed = rows_needed(coverage)
    if n < needed:
        raise ValueError(
            f"coverage={coverage:g} needs at least {needed} calibration rows, but there are {n}{where};"
            " pass more rows or a smaller coverage"
        )


def conformal_quantile(ordered: np.ndarray, coverage: float, where: str = "") -> float:
    """Score of rank ⌈(n + 1)c⌉ among n calibration scores in ascending order."""
    check_enough(ordered.size, coverage, where)
    return float(ordered[upper_rank(ordered.size, coverage) - 1])
