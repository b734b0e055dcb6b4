"""Confidence intervals for the difference in loss between two models.

For repeated random splits, see Nadeau and Bengio, "Inference for the generalization error", 2003.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def corrected_interval(
    differences: ArrayLike, n_train: int, n_test: int, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the mean difference over J random splits, and its confidence interval (low, high).

    The splits share training rows, so that the differences d_1, ..., d_J are correlated, and S²/J
    underestimates the variance of their mean (S² is their sample variance). The correlation of two splits
    is about n_test / (n_train + n_test), which gives the variance (1/J + n_test/n_train) S².
    """
    d = np.asarray(differences, dtype=float)
    J = len(d)
    mean = sum(d) / J
    S2 = sum((d - mean) ** 2) / (J - 1)
    variance = (1 / J + n_test / n_train) * S2
    t = stats.t.ppf(1 - (1 - confidence) / 2, df=J - 1)
    half = t * np.sqrt(variance)
    return mean, mean - half, mean + half


def paired_bootstrap_interval(
    losses_a: ArrayLike, losses_b: ArrayLike, draws: np.ndarray, confidence: float = 0.95
) -> tuple[float, float, float]:
    """Return the mean difference of two models on one test set, and its bootstrap interval (low, high).

    `draws` holds row indices, one bootstrap sample per row of the array. Both models are evaluated on the
    same rows.
    """
    d = np.asarray(losses_a, dtype=float) - np.asarray(losses_b, dtype=float)
    means = np.array([d[rows].mean() for rows in draws])
    tail = (1 - confidence) / 2
    return d.mean(), np.quantile(means, tail), np.quantile(means, 1 - tail)
