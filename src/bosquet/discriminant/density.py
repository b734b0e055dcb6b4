"""Discriminant analysis with estimated class densities."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import gammaln, logsumexp

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import check_parameters, choice, integer, number, or_text
from bosquet._sklearn import BaseEstimator, ClassifierMixin, check_is_fitted, validate_data
from bosquet._targets import (
    check_labels,
    check_same_length,
    class_numbers,
    single_class_message,
    unique_classes,
)
from bosquet.data import TableEncoder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike


# Maximum number of distances (rows to predict times training rows) that are held in memory at once.
MAX_DISTANCES = 2**22


CHECKS = {
    "density": choice("kernel", "neighbours"),
    "kernel": choice("gaussian", "laplacian"),
    "bandwidth": or_text(number(0, open_low=True), "scott"),
    "n_neighbors": or_text(integer(1), "log"),
}


class DensityDiscriminant(ClassifierMixin, BaseEstimator):
    r"""Non-parametric discriminant analysis: class densities estimated by kernels or nearest neighbours.

    The Bayes classifier predicts the class with the largest π_k d_k(x), the prior times the density. Here
    the density of class k is estimated from its n_k training rows,

    .. math:: \hat d_k(x) = \frac1{n_k} \sum_{y_i = k} K_h(x - x_i)
              \qquad\text{or}\qquad \hat d_k(x) = \frac{k_k}{n_k V},

    by kernels of bandwidth h, or from the number k_k of rows of the class among the k nearest neighbours of
    x, which lie in a ball of volume V. With priors π_k = n_k / n the second estimate gives the k-nearest
    neighbours classifier, with probabilities k_k / k. Other priors give other probabilities; use them if the
    class frequencies of the sample differ from those of the population.

    Parameters
    ----------
    density : {"kernel", "neighbours"}, default="kernel"
        How the densities are estimated.
    kernel : {"gaussian", "laplacian"}, default="gaussian"
        exp(-‖u‖²/2h²) or exp(-‖u‖₁/h), each divided by its integral. Used with density="kernel".
    bandwidth : float or "scott", default="scott"
        h, in units of the standard deviation of each column. "scott" is n_k^(-1/(p+4)) for each class.
    n_neighbors : int or "log", default="log"
        k, used with density="neighbours". "log" is an odd number near ln n; it grows with n, so that the
        classifier is consistent.
    priors : array of shape (n_classes,) or None, default=None
        π, in the order of `classes_`. None: the class frequencies.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Sorted labels.
    priors_ : array of shape (n_classes,)
        Priors, normalised to sum to 1.
    scale_ : array of shape (n_features,)
        Standard deviation of each column, 1 for a constant column. Columns are divided by it.

    Examples
    --------
    Classes that neither a linear nor a quadratic boundary separates:

    >>> from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis
    >>> from bosquet.datasets import make_moons
    >>> from bosquet.discriminant import DensityDiscriminant
    >>> X, y = make_moons(400, noise=0.2, random_state=0)
    >>> X_test, y_test = make_moons(4000, noise=0.2, random_state=1)
    >>> print(f"{QuadraticDiscriminantAnalysis().fit(X, y).score(X_test, y_test):.2f}")
    0.86
    >>> print(f"{DensityDiscriminant(bandwidth=0.2).fit(X, y).score(X_test, y_test):.2f}")
    0.96

    References
    ----------
    Fix and Hodges, "Discriminatory analysis: nonparametric discrimination", 1951. Hand, *Kernel
    Discriminant Analysis*, 1982.
    """

    def __init__(
        self,
        density: str = "kernel",
        *,
        kernel: str = "gaussian",
        bandwidth: float | str = "scott",
        n_neighbors: int | str = "log",
        priors: ArrayLike | None = None,
    ):
        self.density = density
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.priors = priors

    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Fit the estimator: store the scaled training rows and the priors.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Numbers without missing values.
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: TableLike, y: ArrayLike) -> Self:
        check_parameters(self, CHECKS)
        rows = validate_data(self, X, dtype=float)
        TableEncoder.fit_encode(X)  # warns about integers that float64 cannot represent
        labels = check_labels(y, owner=type(self).__name__)
        check_same_length(len(labels), len(rows))
        self.classes_ = unique_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(
                f"{single_class_message(self.classes_)}: a classifier needs at least two classes; pass rows"
                " of another class too"
            )
        numbers = class_numbers(labels, self.classes_)
        counts = np.bincount(numbers, minlength=self.classes_.size)
        self.priors_ = self._check_priors(counts)
        spread = rows.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self._numbers, self._counts, self._rows = numbers, counts, rows / self.scale_
        if self.density == "neighbours":
            self._n_neighbors = self._count_neighbors(len(rows))
        return self

    def _check_priors(self, counts: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return counts / counts.sum()
        priors = np.asarray(self.priors, dtype=float)
        if priors.shape != counts.shape or not (priors >= 0).all() or not 0 < priors.sum() < np.inf:
            raise ValueError(
                f"priors={self.priors!r} is not valid: priors must be {counts.size} non-negative numbers,"
                " one per class, not all 0"
            )
        return priors / priors.sum()

    def _count_neighbors(self, n_rows: int) -> int:
        if self.n_neighbors == "log":
            return min(2 * int(math.log(n_rows) / 2) + 1, n_rows)
        count = int(self.n_neighbors)
        if count > n_rows:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} exceeds the number of rows ({n_rows}); pass a value <="
                " n_samples"
            )
        return count

    @reads_fit_snapshot
    def log_densities(self, X: TableLike) -> np.ndarray:
        """Return ln d_k(x) of each class, (n_samples, n_classes), in the units of X; -inf if it is 0."""
        check_is_fitted(self, "classes_")
        rows = validate_data(self, X, dtype=float, reset=False) / self.scale_
        block = max(1, MAX_DISTANCES // len(self._rows))
        blocks = [
            self._log_block(rows[start : start + block]) for start in range(0, len(rows), block)
        ]
        return np.vstack(blocks) - np.log(self.scale_).sum()

    def _log_block(self, X: np.ndarray) -> np.ndarray:
        p = X.shape[1]
        if self.density == "neighbours":
            distance = cdist(X, self._rows)
            nearest = np.argpartition(distance, self._n_neighbors - 1, axis=1)[
                :, : self._n_neighbors
            ]
            radius = np.take_along_axis(distance, nearest, axis=1).max(axis=1)
            members = np.eye(self.classes_.size)[self._numbers[nearest]].sum(axis=1)
            log_unit_ball = p / 2 * math.log(math.pi) - gammaln(p / 2 + 1)
            # If all k neighbours equal x, the volume is 0. The lower limit of the radius avoids ln 0 and is
            # the same for all classes.
            log_volume = log_unit_ball + p * np.log(np.maximum(radius, 1e-12))
            with np.errstate(divide="ignore"):
                return np.log(members / self._counts) - log_volume[:, None]
        log_densities = np.empty((len(X), self.classes_.size))
        for k in range(self.classes_.size):
            width = self._bandwidth(k, p)
            own_rows = self._rows[self._numbers == k]
            if self.kernel == "gaussian":
                exponent = -cdist(X, own_rows, "sqeuclidean") / (2 * width**2)
                log_integral = p / 2 * math.log(2 * math.pi) + p * math.log(width)
            else:
                exponent = -cdist(X, own_rows, "cityblock") / width
                log_integral = p * math.log(2 * width)
            log_sum = logsumexp(exponent, axis=1)
            log_densities[:, k] = log_sum - log_integral - math.log(len(own_rows))
        return log_densities

    def _bandwidth(self, k: int, features: int) -> float:
        if self.bandwidth == "scott":
            return float(self._counts[k]) ** (-1 / (features + 4))
        return float(self.bandwidth)

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            joint = self.log_densities(X) + np.log(self.priors_)
        total = logsumexp(joint, axis=1, keepdims=True)
        # If all densities are 0, the probabilities are the priors.
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.isfinite(total), joint - total, np.log(self.priors_))

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class, π_k d_k(x) / Σ π_l d_l(x).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the class with the largest π_k d_k(x).

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "classes_")
        return self.classes_[self.predict_log_proba(X).argmax(axis=1)]
