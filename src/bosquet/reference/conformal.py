r"""Conformal prediction: intervals and sets that hold the truth as often as they claim.

If the scores of n calibration rows and of a new row can be put in any order with equal chances, the
new score has each rank from 1 to n + 1 with probability 1/(n + 1). It is therefore at most the one of
rank k among the n with probability k/(n + 1) or more, and :math:`k = \lceil (n + 1) c \rceil` is the
smallest that gives c.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rank_for(n: int, coverage: Fraction) -> int:
    """The smallest k with k / (n + 1) ≥ c; n + 1 if there are too few rows.

    >>> rank_for(9, Fraction(9, 10)), rank_for(8, Fraction(9, 10)), rank_for(100, Fraction(9, 10))
    (9, 9, 91)
    """
    k = 1
    while Fraction(k, n + 1) < coverage:
        k += 1
    return k


def conformal_quantile(scores: Sequence[float], coverage: Fraction) -> float:
    """The score of that rank, infinite if there are too few."""
    k = rank_for(len(scores), coverage)
    return sorted(scores)[k - 1] if k <= len(scores) else float("inf")


def split_interval(
    prediction: float, residuals: Sequence[float], coverage: Fraction
) -> tuple[float, float]:
    """Split conformal: as far to both sides as the residuals of the calibration rows reach."""
    reach = conformal_quantile([abs(r) for r in residuals], coverage)
    return prediction - reach, prediction + reach


def quantile_interval(
    low: float, high: float, lows: Array, highs: Array, truth: Array, coverage: Fraction
) -> tuple[float, float]:
    """Conformalised quantile regression: how far do rows lie outside their quantiles?"""
    outside = [max(a - y, y - b) for a, b, y in zip(lows, highs, truth, strict=True)]
    reach = conformal_quantile(outside, coverage)
    return low - reach, high + reach


def jackknife_plus_interval(
    without: Array, residuals: Array, coverage: Fraction
) -> tuple[float, float]:
    """Jackknife+: `without[i]` is what the model without row i says here, and it missed row i by rᵢ."""
    lower = [-(m - abs(r)) for m, r in zip(without, residuals, strict=True)]
    upper = [m + abs(r) for m, r in zip(without, residuals, strict=True)]
    return -conformal_quantile(lower, coverage), conformal_quantile(upper, coverage)


def mean_without(counts: NDArray[np.int64], answers: Array, row: int) -> float:
    """What the learners that did not draw a row say; ``counts[t][i]`` tells how often t drew i."""
    absent = [t for t in range(len(counts)) if counts[t][row] == 0]
    return sum(float(answers[t]) for t in absent) / len(absent)


def adaptive_score(probabilities: Sequence[float], label: int, chance: float = 1.0) -> float:
    """Probabilities of the classes before the label, most probable first, and a share of its own.

    >>> adaptive_score([0.25, 0.5, 0.25], 0), adaptive_score([0.25, 0.5, 0.25], 2, 0.5)
    (0.75, 0.875)
    """
    order = sorted(range(len(probabilities)), key=lambda k: (-probabilities[k], k))
    before = order[: order.index(label)]
    return sum(probabilities[k] for k in before) + chance * probabilities[label]


def split_set(
    scores_here: Sequence[float], calibration: Sequence[float], coverage: Fraction
) -> list[int]:
    """The classes whose score is no larger than the conformal quantile."""
    most = conformal_quantile(calibration, coverage)
    return [k for k, score in enumerate(scores_here) if score <= most]


def jackknife_plus_set(without: Array, calibration: Array, coverage: Fraction) -> list[int]:
    """Classes whose score here (by the model without row i) is above few rows' own; ``without[i][k]``."""
    n = len(calibration)
    kept = []
    for k in range(without.shape[1]):
        larger = sum(1 for i in range(n) if calibration[i] < without[i][k])
        if larger < coverage * (n + 1):
            kept.append(k)
    return kept
