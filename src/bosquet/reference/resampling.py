"""Error estimates by cross-validation and bootstrap, and the effective number of parameters.

``fit(X, y)`` returns a fitted model, a function that predicts rows. ``score(y, predictions)`` is the score
to be estimated for new rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fit = Callable[[Array, Array], Callable[[Array], Array]]
Score = Callable[[Array, Array], float]


def cross_validation_score(
    fit: Fit, X: Array, y: Array, fold: Sequence[int], score: Score
) -> tuple[float, float]:
    """Return the mean score over the folds, and its standard error; `fold` is the fold of each row.

    >>> mean = lambda X, y: lambda rows: np.full(len(rows), y.mean())
    >>> mse = lambda y, predictions: float(((y - predictions) ** 2).mean())
    >>> cross_validation_score(mean, np.zeros((4, 1)), np.array([0.0, 0, 2, 2]), [0, 1, 0, 1], mse)
    (1.0, 0.0)
    """
    scores = []
    for k in sorted(set(fold)):
        test = np.array([f == k for f in fold])
        predict = fit(X[~test], y[~test])
        scores.append(score(y[test], predict(X[test])))
    n_folds = len(scores)
    mean = sum(scores) / n_folds
    variance = sum((s - mean) ** 2 for s in scores) / (n_folds - 1)
    return mean, float(np.sqrt(variance / n_folds))


def bootstrap_632(fit: Fit, X: Array, y: Array, bags: Sequence[Array], score: Score) -> float:
    r"""Return Efron's .632 estimate; a bag is an array of row indices, drawn with replacement.

    A bag contains on average a share 1 - 1/e = 0.632 of the rows. The out-of-bag score is therefore
    pessimistic: it belongs to a model fitted to fewer distinct rows. The training score is optimistic. The
    estimate is

    .. math:: 0.632 \cdot \text{out-of-bag score} + 0.368 \cdot \text{training score}.

    >>> mean = lambda X, y: lambda rows: np.full(len(rows), y.mean())
    >>> mse = lambda y, predictions: float(((y - predictions) ** 2).mean())
    >>> bags = [np.array([0, 0, 1]), np.array([2, 1, 1])]
    >>> y = np.array([0.0, 0.0, 3.0])
    >>> round(bootstrap_632(mean, np.zeros((3, 1)), y, bags, mse), 4)  # out-of-bag score (9 + 1) / 2
    3.8964
    """
    training_score = score(y, fit(X, y)(X))
    out_of_bag_scores = []
    for bag in bags:
        drawn = set(int(i) for i in bag)
        out_of_bag = [i for i in range(len(y)) if i not in drawn]
        predict = fit(X[bag], y[bag])
        out_of_bag_scores.append(score(y[out_of_bag], predict(X[out_of_bag])))
    share = 1 - np.exp(-1)
    total = sum(out_of_bag_scores)
    return float(share * total / len(out_of_bag_scores) + (1 - share) * training_score)


def effective_parameters(X: Array, penalty: Array) -> float:
    r"""Return the effective number of parameters of ridge regression, tr(X (X'X + P)⁻¹ X').

    P is the diagonal matrix of the penalties of the columns.

    >>> effective_parameters(np.eye(3), np.array([0.0, 1.0, 3.0]))
    1.75
    """
    hat = X @ np.linalg.inv(X.T @ X + np.diag(penalty)) @ X.T
    return float(np.trace(hat))
