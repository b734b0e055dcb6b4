"""Functions shared by CalibratedModel and ConformalModel: fit clones of the wrapped model, and call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from bosquet._sklearn import clone, has_fit_parameter, number_of_rows, rows_of, tags_of
from bosquet._sparse import check_sparse

if TYPE_CHECKING:
    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, TableLike


def check_model(model: Estimator, prefit: bool) -> None:
    if not hasattr(model, "fit" if not prefit else "predict") or isinstance(model, type):
        accepted = "a fitted estimator" if prefit else "an estimator"
        raise ValueError(f"model={model!r} is not valid: model must be {accepted}, not a class")


def check_table(X: TableLike, n_target: int) -> Any:
    """Return x in a form that allows row indexing, after a check that it has as many rows as y."""
    from sklearn.utils import indexable

    rows = number_of_rows(X)
    if rows == 0:
        raise ValueError("Found array with 0 sample(s): X is empty, but at least 1 row is required")
    if rows != n_target:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples:"
            f" X has {rows}, y has {n_target}; pass one target per row of X"
        )
    return check_sparse(X) if issparse(X) else indexable(X)[0]


def accepts_weights(model: Estimator) -> bool:
    return bool(has_fit_parameter(model, "sample_weight"))


def fit_clone(
    model: Estimator,
    X: TableLike,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray | None = None,
    **parameters: Any,
) -> Any:
    """Return a clone of the model with these parameters, fitted to the given rows (default: all)."""
    learner = clone(model)
    if parameters:
        learner.set_params(**parameters)
    if rows is not None:
        X, y = rows_of(X, rows), y[rows]
        weight = weight[rows] if weight.size else weight
    return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)


def copy_feature_attributes(owner: Any, model: Estimator) -> None:
    """Copy n_features_in_ and feature_names_in_ from the wrapped model to its wrapper."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(owner, name, getattr(model, name))
        else:
            owner.__dict__.pop(name, None)


def copy_input_tags(tags: Tags, model: Estimator) -> None:
    model_tags = tags_of(model).input_tags
    for name in ("allow_nan", "sparse", "categorical", "string", "pairwise"):
        setattr(tags.input_tags, name, getattr(model_tags, name))


def check_single_output(model: Any, predictions: Any, ndim: int = 1) -> np.ndarray:
    """Return predictions of one number per row as floats.

    Raises ValueError for several outputs, NaN or infinity.
    """
    predictions = np.asarray(predictions, dtype=float)
    if predictions.ndim == ndim + 1 and predictions.shape[-1] == 1:
        predictions = predictions[..., 0]
    if predictions.ndim == 0:
        raise ValueError(
            f"{type(model).__name__}.predict returned one number instead of one per row; pass a model that"
            " predicts one number per row"
        )
    if predictions.ndim != ndim:
        raise ValueError(
            f"{type(model).__name__} predicts {predictions.shape[-1]} numbers per row, but an interval needs"
            " one; use method='cqr' for a model of several quantiles, or pass a model with one output"
        )
    invalid = np.argwhere(~np.isfinite(predictions))
    if invalid.size:
        first = tuple(invalid[0])
        raise ValueError(
            f"{type(model).__name__} predicts {predictions[first]} for row {first[-1]}; predictions must be"
            " finite"
        )
    return predictions


def probabilities_by_class(model: Any, X: TableLike, classes: np.ndarray) -> np.ndarray:
    """Return the model's probabilities in the order of `classes`.

    The probability is 0 for classes absent from its training set.
    """
    probabilities = np.asarray(model.predict_proba(X))
    if np.array_equal(model.classes_, classes):
        return probabilities
    ordered = np.zeros((len(probabilities), classes.size))
    ordered[:, np.searchsorted(classes, model.classes_)] = probabilities
    return ordered
