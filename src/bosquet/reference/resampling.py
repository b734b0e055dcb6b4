"""Error estimates from resampled rows, word for word.

``fit(X, y)`` returns a rule; a rule takes rows and says numbers. `score(y, said)` is what is estimated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fit = Callable[[Array, Array], Callable[[Array], Array]]
Score = Callable[[Array, Array], float]


def folds_score(
    fit: Fit, X: Array, y: Array, fold: Sequence[int], score: Score
) -> tuple[float, float]:
    """Cross-validation: the mean score over the folds, and its standard error.

    >>> mean = lambda X, y: lambda rows: np.full(len(rows), y.mean())
    >>> mse = lambda y, said: float(((y - said) ** 2).mean())
    >>> folds_score(mean, np.zeros((4, 1)), np.array([0.0, 0, 2, 2]), [0, 1, 0, 1], mse)
    (1.0, 0.0)
    """
    scores = []
    for k in sorted(set(fold)):
        held = np.array([f == k for f in fold])
        rule = fit(X[~held], y[~held])
        scores.append(score(y[held], rule(X[held])))
    k = len(scores)
    mean = sum(scores) / k
    variance = sum((s - mean) ** 2 for s in scores) / (k - 1)
    return mean, float(np.sqrt(variance / k))


def bootstrap_632(fit: Fit, X: Array, y: Array, bags: Sequence[Array], score: Score) -> float:
    r"""Efron's .632 estimate from bags of row numbers.

    A bag holds a share 1 - 1/e of the different rows, so that what is left out of it judges a rule of
    fewer rows, too harshly; the rows learned from judge too kindly:

    .. math:: 0.632 \cdot \text{score out of bags} + 0.368 \cdot \text{score on the rows learned from}

    >>> mean = lambda X, y: lambda rows: np.full(len(rows), y.mean())
    >>> mse = lambda y, said: float(((y - said) ** 2).mean())
    >>> bags = [np.array([0, 0, 1]), np.array([2, 1, 1])]
    >>> y = np.array([0.0, 0.0, 3.0])
    >>> round(bootstrap_632(mean, np.zeros((3, 1)), y, bags, mse), 4)  # out of bags (9 + 1) / 2
    3.8964
    """
    everywhere = fit(X, y)
    apparent = score(y, everywhere(X))
    outside = []
    for bag in bags:
        drawn = set(int(i) for i in bag)
        left = [i for i in range(len(y)) if i not in drawn]
        rule = fit(X[bag], y[bag])
        outside.append(score(y[left], rule(X[left])))
    share = 1 - np.exp(-1)
    return float(share * sum(outside) / len(outside) + (1 - share) * apparent)


def effective_parameters(X: Array, penalty: Array) -> float:
    r"""Freedom that ridge regression leaves: tr(X (X'X + P)⁻¹ X'), P the penalty of each column.

    >>> effective_parameters(np.eye(3), np.array([0.0, 1.0, 3.0]))
    1.75
    """
    hat = X @ np.linalg.inv(X.T @ X + np.diag(penalty)) @ X.T
    return float(np.trace(hat))
