"""Which order statistic of the calibration scores a coverage asks for."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

# (n + 1) times a coverage such as 0.9 is a whole number but for rounding: 0.9 * 10 is 9, not more.
_ROUNDING = 1e-9


def check_coverage(coverage: Any) -> float:
    if type(coverage) is float and 0 < coverage < 1:
        return coverage
    if not isinstance(coverage, Real) or isinstance(coverage, bool) or not 0 < float(coverage) < 1:
        raise ValueError(
            f"coverage={coverage!r} is out of range: coverage must be a share between 0 and 1, both"
            " excluded, such as 0.9"
        )
    return float(coverage)


def rows_needed(coverage: float) -> int:
    """The fewest calibration rows with which a coverage can be promised: n with (n + 1)c ≤ n.

    >>> rows_needed(0.9), rows_needed(0.95), rows_needed(0.5)
    (9, 19, 1)
    """
    return max(1, math.ceil(coverage / (1 - coverage) - _ROUNDING))


def upper_rank(n: int, coverage: float) -> int:
    """⌈(n + 1)c⌉: the new row's score is no larger than the one of this rank with probability ≥ c."""
    return math.ceil((n + 1) * coverage - _ROUNDING)


def check_enough(n: int, coverage: float, whose: str = "") -> None:
    needed = rows_needed(coverage)
    if n < needed:
        raise ValueError(
            f"coverage={coverage:g} needs at least {needed} calibration rows, but there are {n}{whose};"
            " give more rows, or ask for less coverage"
        )


def conformal_quantile(ordered: np.ndarray, coverage: float, whose: str = "") -> float:
    """The score of rank ⌈(n + 1)c⌉ among n calibration scores in rising order."""
    check_enough(ordered.size, coverage, whose)
    return float(ordered[upper_rank(ordered.size, coverage) - 1])
