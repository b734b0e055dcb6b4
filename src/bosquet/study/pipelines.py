"""Methods as scikit-learn pipelines: inputs prepared, targets scaled, weights handed to whom they concern."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bosquet._fitted import unchanged_on_failure
from bosquet._sklearn import (
    BaseEstimator,
    RegressorMixin,
    check_is_fitted,
    clone,
    has_fit_parameter,
    tags_of,
    validate_data,
)
from bosquet._targets import check_finite_target, check_sample_weight, warn_of_column_vector
from bosquet.study.preparing import NumericInputs

# Matrices of either precision are left as they are.
MATRIX_TYPES = [np.float64, np.float32]


class ScaledTarget(RegressorMixin, BaseEstimator):
    """A regressor fitted to a target of mean 0 and deviation 1, and asked on the target's own scale.

    Networks and support vector machines have steps and tolerances that presume such a target.

    Parameters
    ----------
    regressor : scikit-learn regressor

    Attributes
    ----------
    regressor_ : the fitted clone.
    mean_, deviation_ : of the target.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.svm import SVR
    >>> from bosquet.study.pipelines import ScaledTarget
    >>> X, y = load_diabetes(return_X_y=True)
    >>> f"{ScaledTarget(SVR()).fit(X, y).score(X, y):.2f} {SVR().fit(X, y).score(X, y):.2f}"
    '0.65 0.21'
    """

    def __init__(self, regressor: Any):
        self.regressor = regressor

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ScaledTarget:
        """Fit a clone of the regressor; weights are handed on, and refused where it takes none."""
        columns = check_finite_target(y)
        if np.asarray(y).ndim > 1:
            warn_of_column_vector()
        target = columns[0]
        weight = check_sample_weight(sample_weight, len(target))
        shares = weight if weight.size else None
        mean = float(np.average(target, weights=shares))
        deviation = float(np.sqrt(np.average((target - mean) ** 2, weights=shares))) or 1.0
        given = {"sample_weight": weight} if weight.size else {}
        with unchanged_on_failure(self):
            X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES)
            self.regressor_ = clone(self.regressor).fit(X, (target - mean) / deviation, **given)
            self.mean_, self.deviation_ = mean, deviation
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predictions on the target's own scale."""
        check_is_fitted(self, "regressor_")
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES, reset=False)
        return self.mean_ + self.deviation_ * np.asarray(self.regressor_.predict(X)).ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = tags_of(self.regressor).input_tags
        return tags


def prepared(model: Any, **how: Any) -> Pipeline:
    """A pipeline of `NumericInputs` with these parameters, then the model."""
    return Pipeline([("inputs", NumericInputs(**how)), ("model", model)])


def model_of(fitted: Any) -> Any:
    """The model inside pipelines and rescaled targets."""
    while True:
        if isinstance(fitted, Pipeline):
            fitted = fitted[-1]
        elif isinstance(fitted, ScaledTarget):
            fitted = fitted.regressor_
        else:
            return fitted


def takes_weights(estimator: Any) -> bool:
    """Whether `fit_weighted` has anybody to hand weights to."""
    inner = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(inner, ScaledTarget):
        inner = inner.regressor
    return bool(has_fit_parameter(inner, "sample_weight"))


def fit_weighted(estimator: Any, X: Any, y: Any, weight: Any = None) -> Any:
    """Fit, with the weights of the rows where the estimator, or the model of a pipeline, takes them."""
    if weight is None or np.size(weight) == 0 or not takes_weights(estimator):
        return estimator.fit(X, y)
    if isinstance(estimator, Pipeline):
        name = estimator.steps[-1][0]
        return estimator.fit(X, y, **{f"{name}__sample_weight": weight})
    return estimator.fit(X, y, sample_weight=weight)
