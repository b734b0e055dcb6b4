"""Methods as scikit-learn pipelines: inputs prepared, targets scaled, weights handed to whom they concern."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from bosquet._fitted import fits_aside, reads_one_fit
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
from bosquet.study.table.numeric_inputs import NumericInputs

# Matrices of either precision are left as they are.
MATRIX_TYPES = [np.float64, np.float32]
# Rows that a pipeline prepares and predicts at a time.
ROWS_AT_A_TIME = 2048


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
    >>> from bosquet.study.methods.pipelines import ScaledTarget
    >>> X, y = load_diabetes(return_X_y=True)
    >>> f"{ScaledTarget(SVR()).fit(X, y).score(X, y):.2f} {SVR().fit(X, y).score(X, y):.2f}"
    '0.65 0.21'
    """

    def __init__(self, regressor: Any):
        self.regressor = regressor

    @fits_aside
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
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES)
        self.regressor_ = clone(self.regressor).fit(X, (target - mean) / deviation, **given)
        self.mean_, self.deviation_ = mean, deviation
        return self

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Predictions on the target's own scale."""
        check_is_fitted(self, "regressor_")
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES, reset=False)
        return self.mean_ + self.deviation_ * np.asarray(self.regressor_.predict(X)).ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = tags_of(self.regressor).input_tags
        return tags


def row_blocks(X: Any, rows: int = ROWS_AT_A_TIME) -> Iterator[Any]:
    """A table in parts of so many rows; in one part if it is neither a pandas frame nor an array."""
    n = len(X) if isinstance(X, np.ndarray) or hasattr(X, "iloc") else 0
    if n <= rows:
        yield X
        return
    for first in range(0, n, rows):
        yield X.iloc[first : first + rows] if hasattr(X, "iloc") else X[first : first + rows]


def _model_has(method: str, pipeline: Pipeline) -> bool:
    getattr(pipeline.steps[-1][1], method)  # an AttributeError says which model lacks it
    return True


class WeightedPipeline(Pipeline):
    """A pipeline that takes the weights of rows and hands them to its last step, if that takes any.

    It predicts some rows at a time: the matrix of all of them may be many times the table.
    """

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> WeightedPipeline:
        """Fit all steps, the last one with the weights."""
        if sample_weight is not None and takes_weights(self):
            params[f"{self.steps[-1][0]}__sample_weight"] = sample_weight
        super().fit(X, y, **params)
        return self

    @available_if(partial(_model_has, "predict"))
    def predict(self, X: Any) -> np.ndarray:
        """What the model predicts."""
        return np.concatenate(
            [super(WeightedPipeline, self).predict(some) for some in row_blocks(X)]
        )

    @available_if(partial(_model_has, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """The model's probabilities."""
        found = [super(WeightedPipeline, self).predict_proba(some) for some in row_blocks(X)]
        return np.concatenate(found)


def prepared(model: Any, **how: Any) -> Pipeline:
    """A pipeline of `NumericInputs` with these parameters, then the model."""
    return WeightedPipeline([("inputs", NumericInputs(**how)), ("model", model)])


def model_of(fitted: Any) -> Any:
    """The model inside pipelines, rescaled targets and offsets."""
    while True:
        if isinstance(fitted, Pipeline):
            fitted = fitted[-1]
        elif hasattr(fitted, "regressor_"):  # a scaled target, an offset
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
