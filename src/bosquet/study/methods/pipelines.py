"""Pipelines of methods: numeric inputs, scaled targets and sample weights."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metaestimators import available_if

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot
from bosquet._sklearn import (
    BaseEstimator,
    RegressorMixin,
    check_is_fitted,
    clone,
    has_fit_parameter,
    tags_of,
    validate_data,
)
from bosquet._targets import check_finite_target, warn_of_column_vector
from bosquet._weights import check_sample_weight
from bosquet.study.table.numeric_inputs import NumericInputs

# Matrices of both precisions are accepted without conversion.
MATRIX_TYPES = [np.float64, np.float32]
# Rows that a pipeline transforms and predicts at a time.
ROWS_AT_A_TIME = 2048


class ScaledTarget(RegressorMixin, BaseEstimator):
    """Regressor fitted to the standardised target, which predicts on the original scale.

    The step sizes and tolerances of networks and support vector machines assume a standardised target.

    Parameters
    ----------
    regressor : scikit-learn regressor

    Attributes
    ----------
    regressor_ : the fitted clone.
    mean_, deviation_ : mean and standard deviation of the target.

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

    @publishes_fit_atomically
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ScaledTarget:
        """Fit a clone of the regressor, with the sample weights if there are any."""
        columns = check_finite_target(y, owner=type(self).__name__)
        if np.asarray(y).ndim > 1:
            warn_of_column_vector()
        target = columns[0]
        weight = check_sample_weight(sample_weight, len(target))
        shares = weight if weight.size else None
        mean = float(np.average(target, weights=shares))
        deviation = float(np.sqrt(np.average((target - mean) ** 2, weights=shares))) or 1.0
        fit_arguments = {"sample_weight": weight} if weight.size else {}
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES)
        self.regressor_ = clone(self.regressor).fit(X, (target - mean) / deviation, **fit_arguments)
        self.mean_, self.deviation_ = mean, deviation
        return self

    @reads_fit_snapshot
    def predict(self, X: Any) -> np.ndarray:
        """Return predictions on the original scale of the target."""
        check_is_fitted(self, "regressor_")
        X = validate_data(self, X, accept_sparse="csr", dtype=MATRIX_TYPES, reset=False)
        return self.mean_ + self.deviation_ * np.asarray(self.regressor_.predict(X)).ravel()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = tags_of(self.regressor).input_tags
        return tags


def row_blocks(X: Any, n_rows: int = ROWS_AT_A_TIME) -> Iterator[Any]:
    """Yield blocks of `n_rows` rows; a table that is neither a pandas frame nor an array is one block."""
    n = len(X) if isinstance(X, np.ndarray) or hasattr(X, "iloc") else 0
    if n <= n_rows:
        yield X
        return
    for first in range(0, n, n_rows):
        yield X.iloc[first : first + n_rows] if hasattr(X, "iloc") else X[first : first + n_rows]


def _model_has(method: str, pipeline: Pipeline) -> bool:
    getattr(pipeline.steps[-1][1], method)  # raises AttributeError if the model lacks the method
    return True


class WeightedPipeline(Pipeline):
    """Pipeline that passes sample weights to its last step, if that accepts them.

    It predicts in blocks of rows, because the matrix of all rows may be much larger than the table.
    """

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, **params: Any
    ) -> WeightedPipeline:
        """Fit all steps, the last one with the sample weights."""
        if sample_weight is not None and takes_weights(self):
            params[f"{self.steps[-1][0]}__sample_weight"] = sample_weight
        super().fit(X, y, **params)
        return self

    @available_if(partial(_model_has, "predict"))
    def predict(self, X: Any) -> np.ndarray:
        """Return the predictions of the model."""
        return np.concatenate(
            [super(WeightedPipeline, self).predict(block) for block in row_blocks(X)]
        )

    @available_if(partial(_model_has, "predict_proba"))
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities of the model."""
        probabilities = [
            super(WeightedPipeline, self).predict_proba(block) for block in row_blocks(X)
        ]
        return np.concatenate(probabilities)


def with_numeric_inputs(model: Any, **parameters: Any) -> Pipeline:
    """Return a pipeline of `NumericInputs` with these parameters and the model."""
    return WeightedPipeline([("inputs", NumericInputs(**parameters)), ("model", model)])


def model_of(fitted: Any) -> Any:
    """Return the innermost model of a pipeline, `ScaledTarget` or `OffsetModel`."""
    while True:
        if isinstance(fitted, Pipeline):
            fitted = fitted[-1]
        elif hasattr(fitted, "regressor_"):  # ScaledTarget or OffsetModel
            fitted = fitted.regressor_
        else:
            return fitted


def takes_weights(estimator: Any) -> bool:
    """Return whether the estimator, or the last step of a pipeline, accepts sample weights."""
    inner = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if isinstance(inner, ScaledTarget):
        inner = inner.regressor
    return bool(has_fit_parameter(inner, "sample_weight"))


def fit_weighted(estimator: Any, X: Any, y: Any, weight: Any = None) -> Any:
    """Fit an estimator, with the sample weights if it, or the last step of a pipeline, accepts them."""
    if weight is None or np.size(weight) == 0 or not takes_weights(estimator):
        return estimator.fit(X, y)
    if isinstance(estimator, Pipeline):
        name = estimator.steps[-1][0]
        return estimator.fit(X, y, **{f"{name}__sample_weight": weight})
    return estimator.fit(X, y, sample_weight=weight)
