"""The ambiguity decomposition: error of an averaged prediction compared with its members."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Ambiguity(NamedTuple):
    """Result of `ambiguity`: the ambiguity decomposition of an average of base estimators.

    Attributes
    ----------
    error_of_mean : float
        Mean squared error of the (weighted) mean prediction.
    mean_error : float
        (Weighted) mean of the base estimators' own mean squared errors.
    ambiguity : float
        Mean squared difference between the base estimators and their mean: how much they disagree.
    correlation : float
        Mean correlation between the errors of two base estimators; NaN for a single base estimator. Base
        estimators whose error is the same in every row are ignored, because their correlation is undefined.
    """

    error_of_mean: float
    mean_error: float
    ambiguity: float
    correlation: float


def ambiguity(predictions: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None) -> Ambiguity:
    r"""Decompose the error of an average of base estimators into their mean error and their ambiguity.

    For f̄ = Σ w_t f_t with weights that sum to 1, each row satisfies

    (f̄ - y)² = Σ w_t (f_t - y)² - Σ w_t (f_t - f̄)².

    So the squared error of the average is never larger than the average squared error of the base
    estimators, and the difference is the amount by which the base estimators disagree. If the errors have
    mean 0 and are uncorrelated, the error of the unweighted mean of T base estimators is the mean error
    divided by T.

    Parameters
    ----------
    predictions : array of shape (n_samples, n_learners)
        Prediction of each base estimator, as returned by ``votes(X)`` of `BaggingRegressor` and
        `VotingRegressor`.
    y : array of shape (n_samples,)
        True targets.
    weights : array of shape (n_learners,), optional
        Non-negative weights of the base estimators; they are divided by their sum. Default: equal weights.

    Returns
    -------
    Ambiguity
        Named tuple (error_of_mean, mean_error, ambiguity, correlation).

    Examples
    --------
    Two base estimators with errors of ±1 that have opposite signs in half of the rows:

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
            f"predictions has shape {values.shape}; pass an array of shape (n_samples, n_learners), with one"
            " column per learner"
        )
    truth = np.asarray(y, dtype=float)
    if truth.shape != (values.shape[0],):
        raise ValueError(
            f"y has shape {truth.shape}, but predictions has {values.shape[0]} rows; pass one target per row"
        )
    for name, array in (("predictions", values), ("y", truth)):
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            raise ValueError(
                f"{name}[{row}] is not finite; remove rows with NaN or infinite values"
            )
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


def check_weights(weights: ArrayLike | None, n_learners: int) -> np.ndarray:
    """Return the weights of base estimators as a float array; ones if None."""
    if weights is None:
        return np.ones(n_learners)
    array = np.asarray(weights, dtype=float)
    if array.shape != (n_learners,):
        raise ValueError(
            f"weights has shape {array.shape}, but there are {n_learners} learners;"
            " pass one weight per learner"
        )
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if wrong.size:
        raise ValueError(
            f"weights[{wrong[0]}] is {array[wrong[0]]:g}; weights must be finite and >= 0"
        )
    if not array.any():
        raise ValueError("all weights are zero; at least one weight must be > 0")
    return array


def _mean_correlation(errors: np.ndarray) -> float:
    centred = errors - errors.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    # Subtracting the mean from a constant error leaves rounding errors, not exact zeros.
    varies = size > 1e-12 * np.sqrt((errors**2).sum(axis=0))
    n = int(varies.sum())
    if n < 2:
        return float("nan")
    unit = centred[:, varies] / size[varies]
    return float(((unit.T @ unit).sum() - n) / (n * (n - 1)))
