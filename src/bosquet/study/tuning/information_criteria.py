"""Akaike's and the Bayesian information criterion of linear models, penalised ones too.

    AIC = -2 ln L + 2 k,        BIC = -2 ln L + ln(n) k

k counts the coefficients. A penalty leaves less freedom: with the Fisher information I of the
coefficients and the penalty's second derivative P, k = tr((I + P)⁻¹ I), the effective number of
parameters; without a penalty it is the rank of I. The variance of a linear model's errors is not
counted, as in statsmodels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import gammaln
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor, Ridge

from bosquet._targets import class_numbers
from bosquet.study.methods.pipelines import model_of

MOST_COEFFICIENTS = 2000


def information_criterion(
    fitted: Any, X: Any, y: Any, weight: Any = None, kind: str = "aic"
) -> float:
    """AIC or BIC of a fitted linear, logistic or Poisson model, or a pipeline that ends in one.

    Parameters
    ----------
    fitted : scikit-learn's Ridge or LinearRegression, LogisticRegression or PoissonRegressor, or a
        pipeline that ends in one of them.
    X, y, weight : the rows that it was fitted to; a weight counts as that many rows.
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
        likelihood, information, penalty = _logistic(model, matrix, y, w)
    elif isinstance(model, PoissonRegressor):
        likelihood, information, penalty = _poisson(model, matrix, y, w)
    elif isinstance(model, Ridge | LinearRegression):
        likelihood, information, penalty = _least_squares(model, matrix, y, w)
    else:
        raise ValueError(
            f"{type(model).__name__} has no likelihood to take {kind.upper()} of;"
            " tune it by 'cv', 'validation' or 'bootstrap'"
        )
    size = 2.0 if kind == "aic" else float(np.log(w.sum()))
    return float(-2 * likelihood + size * _effective(information, penalty))


def _with_constant(matrix: Any) -> Any:
    ones = np.ones((matrix.shape[0], 1))
    if sparse.issparse(matrix):
        return sparse.hstack([ones, matrix], format="csr")
    return np.hstack([ones, matrix])


def _products(design: Any, weight: np.ndarray) -> np.ndarray:
    """Σ w x xᵀ over the rows x of a design."""
    if sparse.issparse(design):
        return (design.T @ sparse.diags(weight) @ design).toarray()
    return design.T @ (weight[:, None] * design)


def _checked(columns: int) -> None:
    if columns > MOST_COEFFICIENTS:
        raise ValueError(
            f"{columns} coefficients are too many for AIC or BIC (at most {MOST_COEFFICIENTS}); tune by 'cv'"
        )


def _least_squares(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    _checked(X.shape[1] + 1)
    residual = np.asarray(y, dtype=float) - model.predict(X)
    n = w.sum()
    variance = float(w @ residual**2 / n)
    likelihood = -n / 2 * (np.log(2 * np.pi * max(variance, np.finfo(float).tiny)) + 1)
    # statsmodels' weights are inverse variances and add ½ Σ ln w; here they count rows.
    design = _with_constant(X)
    information = _products(design, w)
    return float(likelihood), information, _slopes(float(getattr(model, "alpha", 0.0)), design)


def _logistic(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    classes = len(model.classes_)
    outputs = 1 if classes == 2 else classes
    _checked(outputs * (X.shape[1] + 1))
    numbers = class_numbers(np.asarray(y), model.classes_)
    p = model.predict_proba(X)
    own = np.maximum(p[np.arange(len(numbers)), numbers], np.finfo(float).tiny)
    design = _with_constant(X)
    penalty = _slopes(1.0 / model.C, design)
    if classes == 2:
        information = _products(design, w * p[:, 0] * p[:, 1])
        return float(w @ np.log(own)), information, penalty
    columns = design.shape[1]
    information = np.empty((classes * columns, classes * columns))
    for j in range(classes):
        for k in range(classes):
            curve = w * p[:, j] * ((j == k) - p[:, k])
            information[j * columns : (j + 1) * columns, k * columns : (k + 1) * columns] = (
                _products(design, curve)
            )
    return float(w @ np.log(own)), information, np.tile(penalty, classes)


def _poisson(model: Any, X: Any, y: Any, w: np.ndarray) -> tuple[float, np.ndarray, Any]:
    _checked(X.shape[1] + 1)
    target, mean = np.asarray(y, dtype=float), model.predict(X)
    likelihood = w @ (target * np.log(mean) - mean - gammaln(target + 1))
    design = _with_constant(X)
    information = _products(design, w * mean)
    return float(likelihood), information, _slopes(model.alpha * w.sum(), design)


def _slopes(penalty: float, design: Any) -> np.ndarray:
    """The penalty of each coefficient: none of the constant's."""
    each = np.full(design.shape[1], penalty)
    each[0] = 0.0
    return each


def _effective(information: np.ndarray, penalty: np.ndarray) -> float:
    """tr((I + P)⁻¹ I), by eigenvalues so that what the rows say nothing of counts for nothing."""
    values, vectors = np.linalg.eigh(information + np.diag(penalty))
    kept = values > values.max() * len(values) * np.finfo(float).eps
    rotated = vectors[:, kept]
    inner = np.einsum("ij,ij->j", rotated, information @ rotated)
    return float((inner / values[kept]).sum())
