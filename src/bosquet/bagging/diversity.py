"""What the mean of several predictions gains over one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Ambiguity(NamedTuple):
    """The ambiguity decomposition of a mean of learners.

    Attributes
    ----------
    error_of_mean : float
        Mean squared error of the (weighted) mean prediction.
    mean_error : float
        (Weighted) mean of the learners' own mean squared errors.
    ambiguity : float
        Mean squared distance of the learners from their mean: how much they disagree.
    correlation : float
        Mean correlation between the errors of two learners; NaN for a single learner. Learners
        whose error is the same on every row have no correlation and are left out.
    """

    error_of_mean: float
    mean_error: float
    ambiguity: float
    correlation: float


def ambiguity(predictions: Any, y: Any, weights: Any = None) -> Ambiguity:
    r"""Error of the mean, mean error, and the disagreement that makes up the difference.

    For f̄ = Σ w_t f_t with weights that sum to 1, on every row

    (f̄ - y)² = Σ w_t (f_t - y)² - Σ w_t (f_t - f̄)²,

    so the mean is never worse than its learners are on average, and the better the more they
    disagree. Where errors are centred and uncorrelated, the error of the plain mean of T learners
    is the mean error divided by T.

    Parameters
    ----------
    predictions : array of shape (n_samples, n_learners)
        What each learner says, as ``votes(X)`` of `BaggingRegressor` and `VotingRegressor` returns.
    y : array of shape (n_samples,)
        The truth.
    weights : array of shape (n_learners,), optional
        Weights of the learners, not negative; they are divided by their sum. Equal if not given.

    Returns
    -------
    Ambiguity
        Named tuple (error_of_mean, mean_error, ambiguity, correlation).

    Examples
    --------
    Two learners that err in opposite directions half of the time:

    >>> from bosquet.bagging import ambiguity
    >>> parts = ambiguity([[1, 1], [1, -1], [-1, 1], [-1, -1]], [0, 0, 0, 0])
    >>> parts.error_of_mean, parts.mean_error, parts.ambiguity, parts.correlation
    (0.5, 1.0, 0.5, 0.0)

    References
    ----------
    Krogh and Vedelsby, "Neural network ensembles, cross validation, and active learning", NIPS 1994.
    """
    values = np.asarray(predictions, dtype=float)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(
            f"predictions must have shape (n_samples, n_learners), got {values.shape}: one column a learner"
        )
    truth = np.asarray(y, dtype=float)
    if truth.shape != (values.shape[0],):
        raise ValueError(f"y has shape {truth.shape}, but predictions have {values.shape[0]} rows")
    for name, array in (("predictions", values), ("y", truth)):
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ValueError(f"{name}[{row}] is not finite; leave such rows out")
    share = check_weights(weights, values.shape[1])
    share = share / share.sum()

    errors = values - truth[:, None]
    mean = values @ share
    return Ambiguity(
        error_of_mean=float(np.mean((mean - truth) ** 2)),
        mean_error=float(np.mean(errors**2, axis=0) @ share),
        ambiguity=float(np.mean((values - mean[:, None]) ** 2, axis=0) @ share),
        correlation=_mean_correlation(errors),
    )


def check_weights(weights: Any, n_learners: int) -> np.ndarray:
    """Weights of learners as an array of floats; ones if None."""
    if weights is None:
        return np.ones(n_learners)
    array = np.asarray(weights, dtype=float)
    if array.shape != (n_learners,):
        raise ValueError(
            f"weights has shape {array.shape}, but there are {n_learners} learners to weigh"
        )
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if wrong.size:
        raise ValueError(
            f"weights[{wrong[0]}] is {array[wrong[0]]:g}; weights must be finite and not negative"
        )
    if not array.any():
        raise ValueError("every weight in weights is zero: no learner would have a say")
    return array


def _mean_correlation(errors: np.ndarray) -> float:
    centred = errors - errors.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    # A constant error leaves rounding behind when its mean is taken off.
    varies = size > 1e-12 * np.sqrt((errors**2).sum(axis=0))
    n = int(varies.sum())
    if n < 2:
        return float("nan")
    unit = centred[:, varies] / size[varies]
    return float(((unit.T @ unit).sum() - n) / (n * (n - 1)))
