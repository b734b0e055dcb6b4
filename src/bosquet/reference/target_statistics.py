"""Target statistics: a categorical column becomes the mean target of its levels.

The mean target of a level is a good number to split on, but it must not contain the target of the row
itself: a level that occurs once would reveal the target of its row. So the rows are divided into random
folds, and the statistic of row i is the mean over the rows of the same level in *other* folds. The mean is
shrunk towards a prior mean, which counts as `strength` rows:

    x_i = (Σ w_j y_j + strength · prior) / (Σ w_j + strength),   over j of the same level in other folds

A new row is not in the training set, so its statistic is the mean over all training rows of its level.

References
----------
Micci-Barreca, "A preprocessing scheme for high-cardinality categorical attributes in classification and
prediction problems", SIGKDD Explorations 2001. Prokhorenkova and others, "CatBoost: unbiased boosting with
categorical features", NeurIPS 2018, uses the rows before row i in a random order instead of other folds.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.draws import hashed

Array = NDArray[np.float64]

FOLD_STREAM = int.from_bytes(b"fold", "big")


def combined(*columns: Sequence[Hashable]) -> list[Hashable]:
    """Return several categorical columns as one, whose levels are the combinations of their levels.

    >>> combined(["a", "b"], ["x", "x"])
    [('a', 'x'), ('b', 'x')]
    """
    return list(zip(*columns, strict=True))


def random_folds(n_rows: int, folds: int, seed: int, version: int) -> list[int]:
    """Return the fold of each row: a hash of its number."""
    return [hashed(seed, FOLD_STREAM + version, row) % folds for row in range(n_rows)]


def held_out_means(
    levels: Sequence[Hashable],
    y: Sequence[float],
    weights: Sequence[float],
    prior: float,
    strength: float,
    fold: Sequence[int],
) -> tuple[Array, Array]:
    """Return for each training row the mean target of the rows of its level in other folds, and their weight.

    >>> means, weight = held_out_means("aba", [1, 1, 0], [1, 1, 1], prior=0.5, strength=1, fold=[0, 0, 1])
    >>> means
    array([0.25, 0.5 , 0.75])
    >>> weight
    array([1., 0., 1.])
    """
    means, weight_of_others = np.empty(len(y)), np.empty(len(y))
    for i, level in enumerate(levels):
        others = [j for j in range(len(y)) if levels[j] == level and fold[j] != fold[i]]
        total = sum(weights[j] * y[j] for j in others) + strength * prior
        weight_of_others[i] = sum(weights[j] for j in others)
        means[i] = total / (weight_of_others[i] + strength)
    return means, weight_of_others


def level_means(
    levels: Sequence[Hashable],
    y: Sequence[float],
    weights: Sequence[float],
    prior: float,
    strength: float,
) -> dict[Hashable, float]:
    """Return the mean target of each level over all training rows, for new rows; other levels have the prior.

    >>> level_means("aba", [1, 1, 0], [1, 1, 1], prior=0.5, strength=1)
    {'a': 0.5, 'b': 0.75}
    """
    total: dict[Hashable, float] = {}
    weight: dict[Hashable, float] = {}
    for level, target, w in zip(levels, y, weights, strict=True):
        total[level] = total.get(level, 0.0) + w * target
        weight[level] = weight.get(level, 0.0) + w
    return {
        level: (total[level] + strength * prior) / (weight[level] + strength) for level in total
    }


def held_out_gain(
    means: Array, y: Sequence[float], weights: Sequence[float], prior: float
) -> float:
    """Return how well the means predict the target: the decrease of the squared error over the variance.

    With m = mean - prior and r = y - prior, Σ w r² - Σ w (r - c m)² is largest for c = Σ w r m / Σ w m², and
    is then (Σ w r m)² / Σ w m². It is divided by Σ w r² / Σ w. The mean of a row does not contain the row, so
    that levels without any relation to the target do not seem to predict it.
    """
    w, r, m = np.asarray(weights), np.asarray(y, dtype=float) - prior, means - prior
    with_target, with_itself = np.sum(w * r * m), np.sum(w * m * m)
    if with_target <= 0:
        return 0.0
    return float(with_target**2 / with_itself / (np.sum(w * r * r) / np.sum(w)))
