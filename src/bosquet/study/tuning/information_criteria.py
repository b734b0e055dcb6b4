"""Akaike's and the Bayesian information criterion of linear models, with or without a penalty.

    AIC = -2 ln L + 2 k,        BIC = -2 ln L + ln(n) k

k is the effective number of parameters, k = tr((I + P)⁻¹ I), with the Fisher information I of the
coefficients and the second derivative P of the penalty. Without a penalty it is the rank of I. The
variance of the errors of a linear model is not counted as a parameter, as in statsmodels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from bosquet._targets import class_numbers
from bosquet.study.methods.pipelines import model_of

MAX_COEFFICIENTS = 2000


def information_criterion(
    fitted: Any, X: Any, y: Any, weight: Any = None, kind: str = "aic"
) -> float:
    """Return AIC or BIC of a fitted linear, logistic or Poisson model.

    Parameters
    ----------
    fitted : Ridge, LinearRegression, LogisticRegression or PoissonRegressor
        The fitted model of scikit-learn, or a pipeline that ends in one.
    X, y, weight : arrays
        The rows that the model was fitted to. A row of weight 2 counts as two rows.
    kind : {"aic", "bic"}, default="aic"

    Returns
    -------
    float

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from bosquet.study.tuning.information_criteria import information_criterion
    >>> x = np.arange(8.0)[:, None]
    >>> y = np.array([0.1, 0.9, 2.2, 2.8, 4.1, 5.0, 6.2, 6.8])
    >>> f"{information_criterion(LinearRegression().fit(x, y), x, y):.2f}"
    '-3.48'

    References
    ----------
    Akaike, "A new look at the statistical model identification", IEEE Transactions on Automatic Control
    1974. Schwarz, "Estimating the dimension of a model", Annals of Statistics 1978.
    """
    model = model_of(fitted)
    matrix = fitted[:-1].transform(X) if hasattr(fitted, "steps") else X
    matrix = matrix if sparse.issparse(matrix) else np.asarray(matrix, dtype=float)
    w = np.ones(matrix.shape[0]) if weight is None else np.asarray(weight, dtype=float)
    if isinstance(model, LogisticRegression):
        likelihood, information, penalty = _logistic_fit(model, matrix, y, w)
    elif isinstance(model, PoissonRegressor):
        likelihood, information, penalty = _poisson_fit(model, matrix, y, w)
    elif isinstance(model, Ridge | LinearRegression):
        likelihood, information, penalty = _least_squares_fit(model, matrix, y, w)
    else:
        raise ValueError(
            f"{type(model).__name__} has no likelihood, which {kind.upper()} needs;"
            " tune it by 'cv', 'validation' or 'bootstrap'"
        )
    factor = 2.0 if kind == "aic" else float(np.log(w.sum()))
    return float(-2 * likelihood + factor * _effective_parameters(information, penalty))


def _with_intercept(matrix: Any) -> Any:
    ones = np.ones((matrix.shape[0], 1))
    if sparse.issparse(matrix):
        return sparse.hstack([ones, matrix], format="csr")
    return np.hstack([ones, matrix])


def _products(design: Any, weight: np.ndarray) -> np.ndarray:
    """Return Σ w x xᵀ over the rows x of a design matrix."""
    if sparse.issparse(design):
        return (design.T @ sparse.diags(weight) @ design).toarray()
    return design.T @ (weight[:, None] * design)


def _check_n_coefficients(n: int) -> None:
    if n > MAX_COEFFICIENTS:
        raise ValueError(
            f"AIC and BIC support at most {MAX_COEFFICIENTS} coefficients, but the model has {n};"
            " tune it by 'cv'"
        )


def _least_squares_fit(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    _check_n_coefficients(X.shape[1] + 1)
    residual = np.asarray(y, dtype=float) - model.predict(X)
    n = w.sum()
    variance = float(w @ residual**2 / n)
    likelihood = -n / 2 * (np.log(2 * np.pi * max(variance, np.finfo(float).tiny)) + 1)
    # Weights count rows here. In statsmodels they are inverse variances, which adds ½ Σ ln w.
    design = _with_intercept(X)
    information = _products(design, w)
    return (
        float(likelihood),
        information,
        _penalty_diagonal(float(getattr(model, "alpha", 0.0)), design),
    )


def _logistic_fit(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    classes = len(model.classes_)
    outputs = 1 if classes == 2 else classes
    _check_n_coefficients(outputs * (X.shape[1] + 1))
    numbers = class_numbers(np.asarray(y), model.classes_)
    p = model.predict_proba(X)
    true_probability = np.maximum(p[np.arange(len(numbers)), numbers], np.finfo(float).tiny)
    design = _with_intercept(X)
    penalty = _penalty_diagonal(1.0 / model.C, design)
    if classes == 2:
        information = _products(design, w * p[:, 0] * p[:, 1])
        return float(w @ np.log(true_probability)), information, penalty
    columns = design.shape[1]
    information = np.empty((classes * columns, classes * columns))
    for j in range(classes):
        for k in range(classes):
            curve = w * p[:, j] * ((j == k) - p[:, k])
            information[j * columns : (j + 1) * columns, k * columns : (k + 1) * columns] = (
                _products(design, curve)
            )
    return float(w @ np.log(true_probability)), information, np.tile(penalty, classes)


def _poisson_fit(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    _check_n_coefficients(X.shape[1] + 1)
    target, mean = np.asarray(y, dtype=float), model.predict(X)
    likelihood = w @ (target * np.log(mean) - mean - gammaln(target + 1))
    design = _with_intercept(X)
    information = _products(design, w * mean)
    return float(likelihood), information, _penalty_diagonal(model.alpha * w.sum(), design)


def _penalty_diagonal(penalty: float, design: Any) -> np.ndarray:
    """Return the penalty of each coefficient; the intercept has none."""
    diagonal = np.full(design.shape[1], penalty)
    diagonal[0] = 0.0
    return diagonal


def _effective_parameters(information: np.ndarray, penalty: np.ndarray) -> float:
    """Return tr((I + P)⁻¹ I); directions of (nearly) zero eigenvalue do not count."""
    values, vectors = np.linalg.eigh(information + np.diag(penalty))
    is_nonzero = values > values.max() * len(values) * np.finfo(float).eps
    rotated = vectors[:, is_nonzero]
    inner = np.einsum("ij,ij->j", rotated, information @ rotated)
    return float((inner / values[is_nonzero]).sum())
