r"""Calibration: from scores to probabilities, and how good probabilities are.

A model's score :math:`p_i` of row i is calibrated if, among the rows with score p, the event happens
for a share p of them. Three maps make it so: the rising step function nearest to the outcomes, Platt's
sigmoid, and the beta map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pool_adjacent_violators(target: Sequence[float], weight: Sequence[float]) -> list[float]:
    """The non-falling sequence nearest to `target` in weighted squared distance.

    >>> pool_adjacent_violators([0, 1, 0, 1], [1, 1, 1, 1])
    [0.0, 0.5, 0.5, 1.0]
    """
    blocks: list[list[float]] = []  # mean, weight, length
    for value, mass in zip(target, weight, strict=True):
        blocks.append([float(value), float(mass), 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, more, length = blocks.pop()
            last = blocks[-1]
            last[0] = (last[0] * last[1] + mean * more) / (last[1] + more)
            last[1] += more
            last[2] += length
    return [mean for mean, _, length in blocks for _ in range(int(length))]


def softened_outcome(happened: bool, times: float, times_not: float) -> float:
    """Platt's target: the outcome as if one more row of each kind were to come.

    >>> softened_outcome(True, 8, 3), softened_outcome(False, 8, 3)
    (0.9, 0.2)
    """
    return (times + 1) / (times + 2) if happened else 1 / (times_not + 2)


def negative_log_likelihood(
    probability: Callable[[float], float],
    scores: Sequence[float],
    outcomes: Sequence[int],
    weight: Sequence[float],
) -> float:
    """What Platt's and the beta map make least: minus Σ wᵢ (tᵢ ln qᵢ + (1 - tᵢ) ln(1 - qᵢ))."""
    times = sum(w for w, y in zip(weight, outcomes, strict=True) if y)
    times_not = sum(w for w, y in zip(weight, outcomes, strict=True) if not y)
    total = 0.0
    for score, y, w in zip(scores, outcomes, weight, strict=True):
        q, t = probability(score), softened_outcome(bool(y), times, times_not)
        total -= w * (t * math.log(q) + (1 - t) * math.log(1 - q))
    return total


def platt(a: float, b: float) -> Callable[[float], float]:
    """Platt's sigmoid of a score that is a log-odds."""
    return lambda z: 1 / (1 + math.exp(-(a * z + b)))


def beta(a: float, b: float, c: float) -> Callable[[float], float]:
    """The beta map of a score that is a log-odds; ``beta(1, 1, 0)`` leaves probabilities as they are.

    >>> round(beta(1, 1, 0)(0.7), 12) == round(platt(1, 0)(0.7), 12)
    True
    """

    def mapped(z: float) -> float:
        p = 1 / (1 + math.exp(-z))
        return 1 / (1 + math.exp(-(a * math.log(p) - b * math.log(1 - p) + c)))

    return mapped


def brier_parts(
    scores: Sequence[float], outcomes: Sequence[int], bins: Sequence[int], weight: Sequence[float]
) -> dict[str, float]:
    """The parts of the Brier score; `bins` tells each row's."""
    total = sum(weight)
    base = sum(w * y for w, y in zip(weight, outcomes, strict=True)) / total
    parts = {"reliability": 0.0, "resolution": 0.0, "uncertainty": base * (1 - base)}
    parts |= {"within_variance": 0.0, "within_covariance": 0.0, "score": 0.0}
    for k in set(bins):
        rows = [i for i in range(len(bins)) if bins[i] == k]
        mass = sum(weight[i] for i in rows)
        p = sum(weight[i] * scores[i] for i in rows) / mass
        y = sum(weight[i] * outcomes[i] for i in rows) / mass
        parts["reliability"] += mass / total * (p - y) ** 2
        parts["resolution"] += mass / total * (y - base) ** 2
        for i in rows:
            share = weight[i] / total
            parts["within_variance"] += share * (scores[i] - p) ** 2
            parts["within_covariance"] += 2 * share * (scores[i] - p) * (outcomes[i] - y)
            parts["score"] += share * (scores[i] - outcomes[i]) ** 2
    return parts


def expected_calibration_error(
    scores: Sequence[float], outcomes: Sequence[int], bins: Sequence[int]
) -> float:
    """Mean over the rows of how far their bin's score is from what happened there.

    >>> round(expected_calibration_error([0.2, 0.4, 0.9, 0.7], [0, 1, 1, 1], [0, 0, 1, 1]), 3)
    0.2
    """
    error = 0.0
    for k in set(bins):
        rows = [i for i in range(len(bins)) if bins[i] == k]
        error += abs(sum(scores[i] - outcomes[i] for i in rows)) / len(bins)
    return error
