"""Discriminant analysis and least squares from means and covariances, computed in blocks of rows.

The estimators of scikit-learn hold several copies of the matrix during a fit, and convert sparse matrices to
dense ones or reject them. These subclasses fit the same models with the same attributes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.special import softmax
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.linear_model import Ridge
from sklearn.neighbors import NearestCentroid
from sklearn.utils.multiclass import check_classification_targets

from bosquet._sklearn import check_is_fitted, validate_data

MATRIX_TYPES = [np.float64, np.float32]
# Values of the matrix that are centred, as a dense block, at a time.
BLOCK_VALUES = 2**20


class Barycentres(NearestCentroid):
    """NearestCentroid of scikit-learn (Euclidean, empirical priors), which also shrinks with sparse input."""

    def fit(self, X: Any, y: Any) -> Barycentres:
        """Fit the model."""
        X, codes, counts = _check_classes(self, X, y)
        n, classes = len(codes), len(counts)
        means = _class_means(X, codes, counts)
        squares = np.zeros(X.shape[1])
        for k, mean in enumerate(means):
            for block, _ in _row_blocks(X, np.flatnonzero(codes == k)):
                squares += ((block - mean.astype(block.dtype)) ** 2).sum(axis=0, dtype=np.float64)
        deviation = np.sqrt(squares / max(n - classes, 1))
        if not deviation.any() and (means == means[0]).all():
            raise ValueError(
                "every column of X is constant, so all centroids are equal; pass at least one column that"
                " varies"
            )
        if not deviation.all():
            constant = int((deviation == 0).sum())
            columns = "1 column is" if constant == 1 else f"{constant} columns are"
            warnings.warn(
                f"{columns} constant within each class; check whether the target determines them",
                stacklevel=2,
            )
        centre = counts @ means / n
        width = np.sqrt(1 / counts - 1 / n)[:, None] * (deviation + np.median(deviation))
        distances = (means - centre) / width
        if self.shrink_threshold:
            distances = np.sign(distances) * np.maximum(
                np.abs(distances) - self.shrink_threshold, 0
            )
            means = centre + width * distances
        self.class_prior_ = counts / n
        self.within_class_std_dev_ = deviation
        self.centroids_, self.deviations_ = means, distances
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row."""
        return self.classes_[self._scores(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of each row."""
        return softmax(self._scores(X), axis=1)

    def _scores(self, X: Any) -> np.ndarray:
        """Return 2 ln prior - ‖x - centre‖², in standard deviations, up to a constant: it is linear in x."""
        check_is_fitted(self, "centroids_")
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES, reset=False)
        width = np.where(self.within_class_std_dev_ > 0, self.within_class_std_dev_, 1.0)
        slopes = self.centroids_ / width**2
        constants = 2 * np.log(self.class_prior_) - (self.centroids_ * slopes).sum(axis=1)
        return np.asarray(2 * (X @ slopes.T)) + constants


class LinearDiscriminant(LinearDiscriminantAnalysis):
    """LinearDiscriminantAnalysis of scikit-learn (solver "lsqr", shrinkage a number or None)."""

    def fit(self, X: Any, y: Any) -> LinearDiscriminant:
        """Fit the model."""
        X, codes, counts = _check_classes(self, X, y)
        n, columns = X.shape
        self.priors_ = counts / n
        self.means_ = _class_means(X, codes, counts)
        within = np.zeros((columns, columns))
        for k, mean in enumerate(self.means_):
            _add_products(within, X, np.flatnonzero(codes == k), mean)
        within /= n
        shrinkage = self.shrinkage or 0.0
        size = np.trace(within) / columns
        within *= 1 - shrinkage
        within.flat[:: columns + 1] += shrinkage * size
        self.covariance_ = within
        coefficients = linalg.lstsq(within, self.means_.T)[0].T
        constants = -0.5 * (self.means_ * coefficients).sum(axis=1) + np.log(self.priors_)
        if len(counts) == 2:
            coefficients, constants = np.diff(coefficients, axis=0), np.diff(constants)
        self.coef_, self.intercept_ = coefficients, constants
        return self


class QuadraticDiscriminant(QuadraticDiscriminantAnalysis):
    """QuadraticDiscriminantAnalysis of scikit-learn, from the eigenvectors of the class covariances."""

    def fit(self, X: Any, y: Any) -> QuadraticDiscriminant:
        """Fit the model."""
        X, codes, counts = _check_classes(self, X, y)
        singletons = np.flatnonzero(counts == 1)
        if singletons.size:
            raise ValueError(
                f"class {str(self.classes_[singletons[0]])!r} has one row, but a covariance needs at least"
                " two; drop the class or merge it with another"
            )
        self.priors_ = counts / len(codes)
        self.means_ = _class_means(X, codes, counts)
        self.scalings_, self.rotations_ = [], []
        for k, mean in enumerate(self.means_):
            products = np.zeros((X.shape[1], X.shape[1]))
            _add_products(products, X, np.flatnonzero(codes == k), mean)
            values, vectors = linalg.eigh(products / counts[k], overwrite_a=True)
            scaling = (1 - self.reg_param) * np.maximum(values[::-1], 0) + self.reg_param
            if scaling[-1] <= self.tol:
                raise linalg.LinAlgError(
                    f"columns are collinear within class {str(self.classes_[k])!r}; increase reg_param"
                )
            self.scalings_.append(scaling)
            self.rotations_.append(vectors[:, ::-1])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted class of each row."""
        return _apply_by_blocks(super().predict, X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of each row."""
        return _apply_by_blocks(super().predict_proba, X)


class MomentRidge(Ridge):
    """Ridge of scikit-learn, which solves the normal equations exactly, not iteratively, for sparse input."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MomentRidge:
        """Fit the model."""
        if not sparse.issparse(X):
            super().fit(X, y, sample_weight)
            return self
        X, target = validate_data(
            self, X, y=y, accept_sparse="csr", dtype=MATRIX_TYPES, y_numeric=True
        )
        target = np.asarray(target, dtype=float)
        n, columns = X.shape
        weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        total = weight.sum()
        mean = np.asarray(X.T @ weight, dtype=float) / total
        target_mean = float(weight @ target / total)
        products = np.zeros((columns, columns))
        _add_products(products, X, np.arange(n), mean, weight)
        products.flat[:: columns + 1] += self.alpha
        weighted = weight * (target - target_mean)
        right = np.asarray(X.T @ weighted, dtype=float) - mean * weighted.sum()
        self.coef_ = _solve(products, right)
        self.intercept_ = target_mean - float(mean @ self.coef_)
        self.n_iter_ = None
        return self


def _check_classes(estimator: Any, X: Any, y: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the checked matrix, the class code of each row and the number of rows per class."""
    X, y = validate_data(
        estimator, X, y=y, accept_sparse="csr", dtype=MATRIX_TYPES, ensure_min_samples=2
    )
    check_classification_targets(y)
    estimator.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(counts) < 2:
        only = str(estimator.classes_[0])
        raise ValueError(f"y has only one class, {only!r}; pass rows of at least two classes")
    return X, codes, counts


def _row_blocks(X: Any, rows: np.ndarray | None = None) -> Iterator[tuple[np.ndarray, slice]]:
    """Yield dense blocks of some or all rows, of about `BLOCK_VALUES` values, and their positions."""
    step = max(BLOCK_VALUES // max(X.shape[1], 1), 1)
    for first in range(0, X.shape[0] if rows is None else len(rows), step):
        rows_of_block = slice(first, first + step)
        block = X[rows_of_block if rows is None else rows[rows_of_block]]
        yield block.toarray() if sparse.issparse(block) else block, rows_of_block


def _class_means(X: Any, codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    sums = np.zeros((len(counts), X.shape[1]))
    for k, total in enumerate(sums):
        for block, _ in _row_blocks(X, np.flatnonzero(codes == k)):
            total += block.sum(axis=0, dtype=np.float64)
    return sums / counts[:, None]


def _add_products(
    total: np.ndarray,
    X: Any,
    rows: np.ndarray,
    mean: np.ndarray,
    weight: np.ndarray | None = None,
) -> None:
    """Add Σ w (x - mean)(x - mean)ᵀ over some rows; each block is summed in the precision of the matrix."""
    for block, rows_of_block in _row_blocks(X, rows):
        centred = block - mean.astype(block.dtype)
        if weight is None:
            total += centred.T @ centred
        else:
            total += centred.T @ (centred * weight[rows[rows_of_block], None].astype(block.dtype))


def _solve(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve by Cholesky factorisation; for collinear columns, return the solution of minimum norm."""
    try:
        factor = linalg.cho_factor(matrix)
    except linalg.LinAlgError:
        return linalg.lstsq(matrix, right)[0]
    pivots = np.diagonal(factor[0]) ** 2
    if pivots.min() <= len(pivots) * np.finfo(float).eps * pivots.max():
        return linalg.lstsq(matrix, right)[0]
    return linalg.cho_solve(factor, right)


def _apply_by_blocks(function: Callable[[Any], np.ndarray], X: Any) -> np.ndarray:
    """Apply a function to the rows of a matrix in dense blocks."""
    if not (isinstance(X, np.ndarray) or sparse.issparse(X)) or X.ndim != 2 or X.shape[0] == 0:
        return function(X)
    X = X.tocsr() if sparse.issparse(X) else X
    return np.concatenate([function(block) for block, _ in _row_blocks(X)])
