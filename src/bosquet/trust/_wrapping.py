"""What the wrappers share: fitting clones of the wrapped model, and passing on what it says of X."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bosquet._sklearn import clone, has_fit_parameter, number_of_rows, rows_of, tags_of
from bosquet._sparse import checked_sparse


def check_model(model: Any, prefit: bool) -> None:
    if not hasattr(model, "fit" if not prefit else "predict") or isinstance(model, type):
        wanted = "a fitted estimator" if prefit else "an estimator"
        raise ValueError(f"model={model!r} is not {wanted}; give an instance of a model")


def rows_can_be_taken(X: Any, n_target: int) -> Any:
    """X in a form that rows can be picked from, once it is known to have one for each target."""
    from sklearn.utils import indexable

    rows = number_of_rows(X)
    if rows == 0:
        raise ValueError(
            "Found array with 0 sample(s): X is empty, while a minimum of 1 is required"
        )
    if rows != n_target:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples:"
            f" X has {rows}, y has {n_target}"
        )
    return checked_sparse(X) if issparse(X) else indexable(X)[0]


def takes_weights(model: Any) -> bool:
    return bool(has_fit_parameter(model, "sample_weight"))


def fit_clone(
    model: Any,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray,
    rows: np.ndarray | None = None,
    **parameters: Any,
) -> Any:
    """A clone of the model with these parameters, fitted to some of the rows (None: all)."""
    learner = clone(model)
    if parameters:
        learner.set_params(**parameters)
    if rows is not None:
        X, y = rows_of(X, rows), y[rows]
        weight = weight[rows] if weight.size else weight
    return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)


def copy_input(owner: Any, model: Any) -> None:
    """Note on the owner what columns its model was fitted to."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(owner, name, getattr(model, name))
        else:
            owner.__dict__.pop(name, None)


def copy_input_tags(tags: Any, model: Any) -> None:
    told = tags_of(model).input_tags
    for name in ("allow_nan", "sparse", "categorical", "string", "pairwise"):
        setattr(tags.input_tags, name, getattr(told, name))


def single_output(model: Any, said: Any, ndim: int = 1) -> np.ndarray:
    """Predictions of one number per row as floats; a ValueError for a model of several outputs."""
    said = np.asarray(said, dtype=float)
    if said.ndim == ndim + 1 and said.shape[-1] == 1:
        return said[..., 0]
    if said.ndim != ndim:
        raise ValueError(
            f"{type(model).__name__} predicts {said.shape[-1]} numbers per row, and intervals are about one:"
            " for a model of several quantiles use method='cqr'; otherwise give a model with one output"
        )
    return said


def probabilities_by_class(model: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """The model's probabilities in the order of `classes`; 0 for a class that it never met."""
    own = np.asarray(model.predict_proba(X))
    if np.array_equal(model.classes_, classes):
        return own
    placed = np.zeros((len(own), classes.size))
    placed[:, np.searchsorted(classes, model.classes_)] = own
    return placed
