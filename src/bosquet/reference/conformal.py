r"""Conformal prediction: intervals and sets with a guaranteed coverage.

A score measures how unusual a target is for a row. If the scores of n calibration rows and of a new row
are exchangeable, the new score has each rank from 1 to n + 1 with probability 1/(n + 1). It is therefore
at most the k-th smallest calibration score with probability k/(n + 1) or more. The smallest k with coverage
c is :math:`k = \lceil (n + 1) c \rceil`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def conformal_rank(n: int, coverage: Fraction) -> int:
    """Return the smallest k with k / (n + 1) ≥ coverage; it is n + 1 if there are too few rows.

    >>> [conformal_rank(n, Fraction(9, 10)) for n in (9, 8, 100)]
    [9, 9, 91]
    """
    k = 1
    while Fraction(k, n + 1) < coverage:
        k += 1
    return k


def conformal_quantile(scores: Sequence[float], coverage: Fraction) -> float:
    """Return the calibration score of the conformal rank; infinity if there are too few scores."""
    k = conformal_rank(len(scores), coverage)
    return sorted(scores)[k - 1] if k <= len(scores) else float("inf")


def split_interval(
    prediction: float, residuals: Sequence[float], coverage: Fraction
) -> tuple[float, float]:
    """Return the split conformal interval: prediction ± the conformal quantile of |residuals|."""
    half_width = conformal_quantile([abs(r) for r in residuals], coverage)
    return prediction - half_width, prediction + half_width


def quantile_interval(
    low: float, high: float, lows: Array, highs: Array, truth: Array, coverage: Fraction
) -> tuple[float, float]:
    """Return the interval of conformalised quantile regression.

    `low` and `high` are the predicted quantiles of the new row; `lows`, `highs` and `truth` belong to the
    calibration rows. Their scores are the distances outside the predicted quantiles, negative inside.
    """
    outside = [max(a - y, y - b) for a, b, y in zip(lows, highs, truth, strict=True)]
    margin = conformal_quantile(outside, coverage)
    return low - margin, high + margin


def jackknife_plus_interval(
    without: Array, residuals: Array, coverage: Fraction
) -> tuple[float, float]:
    """Return the jackknife+ interval for a new row.

    `without[i]` is the prediction for the new row by the model fitted without row i, and `residuals[i]` is
    the residual of that model on row i.
    """
    lower = [-(p - abs(r)) for p, r in zip(without, residuals, strict=True)]
    upper = [p + abs(r) for p, r in zip(without, residuals, strict=True)]
    return -conformal_quantile(lower, coverage), conformal_quantile(upper, coverage)


def leave_one_out_mean(counts: NDArray[np.int64], predictions: Array, row: int) -> float:
    """Return the mean prediction of the learners that did not draw `row`.

    ``counts[t][i]`` is how often learner t drew row i, and ``predictions[t]`` is its prediction.
    """
    out_of_bag = [t for t in range(len(counts)) if counts[t][row] == 0]
    return sum(float(predictions[t]) for t in out_of_bag) / len(out_of_bag)


def adaptive_score(probabilities: Sequence[float], label: int, u: float = 1.0) -> float:
    """Return the score of adaptive prediction sets.

    It is the sum of the probabilities of the classes more probable than the label, plus u times the
    probability of the label itself. u is 1, or uniform on [0, 1] for randomised sets.

    >>> adaptive_score([0.25, 0.5, 0.25], 0), adaptive_score([0.25, 0.5, 0.25], 2, 0.5)
    (0.75, 0.875)
    """
    order = sorted(range(len(probabilities)), key=lambda k: (-probabilities[k], k))
    more_probable = order[: order.index(label)]
    return sum(probabilities[k] for k in more_probable) + u * probabilities[label]


def split_set(
    class_scores: Sequence[float], calibration: Sequence[float], coverage: Fraction
) -> list[int]:
    """Return the classes of the new row whose score is at most the conformal quantile."""
    limit = conformal_quantile(calibration, coverage)
    return [k for k, score in enumerate(class_scores) if score <= limit]


def jackknife_plus_set(without: Array, calibration: Array, coverage: Fraction) -> list[int]:
    """Return the jackknife+ prediction set of a new row.

    ``without[i][k]`` is the score of class k for the new row by the model fitted without row i, and
    ``calibration[i]`` is the score of row i by the same model. A class belongs to the set if its score
    exceeds that of fewer than coverage · (n + 1) rows.
    """
    n = len(calibration)
    members = []
    for k in range(without.shape[1]):
        exceeded = sum(1 for i in range(n) if calibration[i] < without[i][k])
        if exceeded < coverage * (n + 1):
            members.append(k)
    return members
