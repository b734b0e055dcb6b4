"""The class whose density, weighed by its prior, is the largest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from bosquet._fitted import fits_aside, reads_one_fit
from bosquet._parameters import Check, check_parameters, choice, integer, number
from bosquet._sklearn import BaseEstimator, ClassifierMixin, check_is_fitted, validate_data
from bosquet._targets import (
    check_labels,
    check_same_length,
    class_numbers,
    learn_classes,
    only_class,
)
from bosquet.data import TableEncoder

# Rows whose distances to all training rows are held at once.
BLOCK = 2**22


def _named_or(check: Check, name: str) -> Check:
    ok, wanted = check
    return (
        lambda value: value == name if isinstance(value, str) else ok(value)
    ), f"{wanted} or {name!r}"


CHECKS = {
    "density": choice("kernel", "neighbours"),
    "kernel": choice("gaussian", "laplacian"),
    "bandwidth": _named_or(number(0, open_low=True), "scott"),
    "n_neighbors": _named_or(integer(1), "log"),
}


class DensityDiscriminant(ClassifierMixin, BaseEstimator):
    r"""Discriminant analysis with densities that are estimated, not assumed.

    The best rule names the class with the largest π_k d_k(x). Here the densities are those of the rows of
    each class around x:

    .. math:: \hat d_k(x) = \frac1{n_k} \sum_{y_i = k} K_h(x - x_i)
              \qquad\text{or}\qquad \hat d_k(x) = \frac{k_k}{n_k V},

    a sum of kernels of width h, or the number k_k of rows of the class among the nearest neighbours of x,
    within a ball of volume V. With priors π_k = n_k / n the second is the vote of the
    neighbours, k_k / k. With other priors (classes equally likely, say, where one was sampled less) it is
    not, and that is what makes it a discriminant analysis.

    Parameters
    ----------
    density : {"kernel", "neighbours"}, default="kernel"
    kernel : {"gaussian", "laplacian"}, default="gaussian"
        exp(-‖u‖²/2h²) or exp(-‖u‖₁/h), each divided by its integral.
    bandwidth : float or "scott", default="scott"
        h, in units of the standard deviation of each column. "scott" is n_k^(-1/(p+4)) for each class.
    n_neighbors : int or "log", default="log"
        For density="neighbours"; "log": the odd number near log n that makes the rule consistent.
    priors : array of shape (n_classes,), optional
        π, in the order of the sorted labels; by default the shares of the classes.

    Attributes
    ----------
    classes_ : array
    priors_ : array of shape (n_classes,)
    scale_ : array of shape (n_features,)
        Standard deviation of each column, by which columns are divided; 1 where a column is constant.

    Examples
    --------
    Classes that no line and no parabola parts:

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
        bandwidth: Any = "scott",
        n_neighbors: Any = "log",
        priors: Any = None,
    ):
        self.density = density
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.priors = priors

    @fits_aside
    def fit(self, X: Any, y: Any) -> DensityDiscriminant:
        """Keep the rows of each class.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Numbers without gaps.
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> DensityDiscriminant:
        check_parameters(self, CHECKS)
        given, X = X, validate_data(self, X, dtype=float)
        TableEncoder.fit(given)  # for its warning of integers that change as float64
        labels = check_labels(y)
        check_same_length(len(labels), len(X))
        self.classes_ = learn_classes(labels)
        if self.classes_.size < 2:
            raise ValueError(only_class(self.classes_))
        numbers = class_numbers(labels, self.classes_)
        counts = np.bincount(numbers, minlength=self.classes_.size)
        self.priors_ = self._check_priors(counts)
        spread = X.std(axis=0)
        self.scale_ = np.where(spread > 0, spread, 1.0)
        self._numbers, self._counts, self._rows = numbers, counts, X / self.scale_
        if self.density == "neighbours":
            self._k = self._neighbours(len(X))
        return self

    def _check_priors(self, counts: np.ndarray) -> np.ndarray:
        if self.priors is None:
            return counts / counts.sum()
        priors = np.asarray(self.priors, dtype=float)
        if priors.shape != counts.shape or not (priors >= 0).all() or not 0 < priors.sum() < np.inf:
            raise ValueError(
                f"priors={self.priors!r} must be {counts.size} numbers that are not negative, one a class"
            )
        return priors / priors.sum()

    def _neighbours(self, rows: int) -> int:
        if self.n_neighbors == "log":
            return min(2 * int(math.log(rows) / 2) + 1, rows)
        if self.n_neighbors > rows:
            raise ValueError(f"n_neighbors={self.n_neighbors} is more than the {rows} rows of X")
        return int(self.n_neighbors)

    @reads_one_fit
    def log_densities(self, X: Any) -> np.ndarray:
        """ln d_k(x) of each class, (n_samples, n_classes), in the units of X; -inf where no row is near."""
        check_is_fitted(self, "classes_")
        X = validate_data(self, X, dtype=float, reset=False) / self.scale_
        block = max(1, BLOCK // len(self._rows))
        parts = [self._log_block(X[at : at + block]) for at in range(0, len(X), block)]
        return np.vstack(parts) - np.log(self.scale_).sum()

    def _log_block(self, X: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        p = X.shape[1]
        if self.density == "neighbours":
            distance = cdist(X, self._rows)
            nearest = np.argpartition(distance, self._k - 1, axis=1)[:, : self._k]
            radius = np.take_along_axis(distance, nearest, axis=1).max(axis=1)
            members = np.eye(self.classes_.size)[self._numbers[nearest]].sum(axis=1)
            ball = p / 2 * math.log(math.pi) - gammaln(p / 2 + 1)
            # Copies of a row have a ball of no size: they count alike in all classes.
            volume = ball + p * np.log(np.maximum(radius, 1e-12))
            with np.errstate(divide="ignore"):
                return np.log(members / self._counts) - volume[:, None]
        sums = np.empty((len(X), self.classes_.size))
        for k in range(self.classes_.size):
            width = self._width(k, p)
            own = self._rows[self._numbers == k]
            if self.kernel == "gaussian":
                exponent = -cdist(X, own, "sqeuclidean") / (2 * width**2)
                integral = p / 2 * math.log(2 * math.pi) + p * math.log(width)
            else:
                exponent = -cdist(X, own, "cityblock") / width
                integral = p * math.log(2 * width)
            sums[:, k] = logsumexp(exponent, axis=1) - integral - math.log(len(own))
        return sums

    def _width(self, k: int, features: int) -> float:
        if self.bandwidth == "scott":
            return float(self._counts[k]) ** (-1 / (features + 4))
        return float(self.bandwidth)

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """ln of π_k d_k(x) / Σ π_l d_l(x)."""
        with np.errstate(divide="ignore"):
            joint = self.log_densities(X) + np.log(self.priors_)
        total = logsumexp(joint, axis=1, keepdims=True)
        # Where all densities are 0 the priors are all that is known.
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(np.isfinite(total), joint - total, np.log(self.priors_))

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """π_k d_k(x) / Σ π_l d_l(x), (n_samples, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class of the largest π_k d_k(x)."""
        check_is_fitted(self, "classes_")
        return self.classes_[self.predict_log_proba(X).argmax(axis=1)]
