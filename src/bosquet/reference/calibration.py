r"""Calibration: maps from scores to probabilities, and measures of calibration.

The scores :math:`p_i` of a model are calibrated if among the rows with score p the event occurs for a
fraction p of them. Three maps calibrate scores: isotonic regression (the non-decreasing step function
closest to the outcomes), Platt's sigmoid, and the beta map.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def pool_adjacent_violators(target: Sequence[float], weight: Sequence[float]) -> list[float]:
    """Return the non-decreasing sequence closest to `target` in weighted squared distance.

    >>> pool_adjacent_violators([0, 1, 0, 1], [1, 1, 1, 1])
    [0.0, 0.5, 0.5, 1.0]
    """
    blocks: list[list[float]] = []  # mean, weight, length
    for value, w in zip(target, weight, strict=True):
        blocks.append([float(value), float(w), 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            mean, block_weight, length = blocks.pop()
            previous = blocks[-1]
            total = previous[1] + block_weight
            previous[0] = (previous[0] * previous[1] + mean * block_weight) / total
            previous[1] += block_weight
            previous[2] += length
    return [mean for mean, _, length in blocks for _ in range(int(length))]


def smoothed_outcome(positive: bool, n_positive: float, n_negative: float) -> float:
    """Return Platt's smoothed target: (n₊ + 1) / (n₊ + 2) for positives, 1 / (n₋ + 2) for negatives.

    >>> smoothed_outcome(True, 8, 3), smoothed_outcome(False, 8, 3)
    (0.9, 0.2)
    """
    return (n_positive + 1) / (n_positive + 2) if positive else 1 / (n_negative + 2)


def negative_log_likelihood(
    probability: Callable[[float], float],
    scores: Sequence[float],
    outcomes: Sequence[int],
    weight: Sequence[float],
) -> float:
    """Return -Σ wᵢ (tᵢ ln qᵢ + (1 - tᵢ) ln(1 - qᵢ)), which Platt's and the beta map minimise.

    qᵢ is the probability for score i, and tᵢ its smoothed outcome.
    """
    n_positive = sum(w for w, y in zip(weight, outcomes, strict=True) if y)
    n_negative = sum(w for w, y in zip(weight, outcomes, strict=True) if not y)
    total = 0.0
    for score, y, w in zip(scores, outcomes, weight, strict=True):
        q, t = probability(score), smoothed_outcome(bool(y), n_positive, n_negative)
        total -= w * (t * math.log(q) + (1 - t) * math.log(1 - q))
    return total


def platt(a: float, b: float) -> Callable[[float], float]:
    """Return Platt's map of a log-odds z: 1 / (1 + exp(-(a z + b)))."""
    return lambda z: 1 / (1 + math.exp(-(a * z + b)))


def beta(a: float, b: float, c: float) -> Callable[[float], float]:
    """Return the beta map of a log-odds z.

    With p = 1 / (1 + exp(-z)), it is the sigmoid of a ln p - b ln(1 - p) + c. ``beta(1, 1, 0)`` does not
    change the probabilities.

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
    """Return the decomposition of the Brier score; `bins` holds the bin of each row.

    score = reliability - resolution + uncertainty + within_variance - within_covariance. The last two terms
    vanish if all scores of a bin are equal.
    """
    total = sum(weight)
    base_rate = sum(w * y for w, y in zip(weight, outcomes, strict=True)) / total
    parts = {"reliability": 0.0, "resolution": 0.0, "uncertainty": base_rate * (1 - base_rate)}
    parts |= {"within_variance": 0.0, "within_covariance": 0.0, "score": 0.0}
    for k in set(bins):
        rows = [i for i in range(len(bins)) if bins[i] == k]
        bin_weight = sum(weight[i] for i in rows)
        p = sum(weight[i] * scores[i] for i in rows) / bin_weight
        y = sum(weight[i] * outcomes[i] for i in rows) / bin_weight
        parts["reliability"] += bin_weight / total * (p - y) ** 2
        parts["resolution"] += bin_weight / total * (y - base_rate) ** 2
        for i in rows:
            share = weight[i] / total
            parts["within_variance"] += share * (scores[i] - p) ** 2
            parts["within_covariance"] += 2 * share * (scores[i] - p) * (outcomes[i] - y)
            parts["score"] += share * (scores[i] - outcomes[i]) ** 2
    return parts


def expected_calibration_error(
    scores: Sequence[float], outcomes: Sequence[int], bins: Sequence[int]
) -> float:
    """Return the mean over the rows of |mean score - mean outcome| in the bin of the row.

    >>> round(expected_calibration_error([0.2, 0.4, 0.9, 0.7], [0, 1, 1, 1], [0, 0, 1, 1]), 3)
    0.2
    """
    error = 0.0
    for k in set(bins):
        rows = [i for i in range(len(bins)) if bins[i] == k]
        error += abs(sum(scores[i] - outcomes[i] for i in rows)) / len(bins)
    return error
