"""Checking what comes with X: labels, numbers, weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._digits import changed_by_float64, warn_of_lost_digits
from bosquet._sklearn import check_classification_targets, type_of_target
from bosquet._warnings import warn_user
from bosquet._weights import power_of_two, warn_of_rescaling

LARGEST_TARGET = 1e30
NO_WEIGHT = np.zeros(0)


def check_sample_weight(
    sample_weight: Any, n_rows: int, *, keep_scale: bool = False, scale_matters: bool = False
) -> np.ndarray:
    """Weights as float64, empty where there are none (or all are 1).

    Weights so large or small that their sums would not be numbers are multiplied by a power of two, unless
    `keep_scale`; with a warning where `scale_matters`, since parameters are compared with sums of weights
    or some learner is given them.
    """
    if sample_weight is None:
        return NO_WEIGHT
    weight = np.asarray(sample_weight, dtype=float)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if not np.isfinite(weight).all():
        row = int(np.flatnonzero(~np.isfinite(weight))[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]}; weights must be finite")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]:g}; weights must not be negative")
    if not weight.any():
        raise ValueError("every sample_weight is zero: there is nothing to learn from")
    factor = 1.0 if keep_scale else power_of_two(weight)
    if factor != 1:
        if scale_matters:
            warn_of_rescaling(factor, weight)
        weight = weight * factor
    return NO_WEIGHT if (weight == 1).all() else np.ascontiguousarray(weight)


def check_finite_target(y: Any, name: str = "y") -> np.ndarray:
    """Numbers as float64 of shape (targets, rows)."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        array = np.asarray(y)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported: y has complex numbers")
        example = changed_by_float64(array)
        if example is not None:
            warn_of_lost_digits([name], example, "subtract a constant before fitting")
        array = np.asarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        if "Complex" in str(error):
            raise
        raise ValueError(f"{name} must hold numbers for regression: {error}") from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions, got {array.ndim}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: found array with 0 sample(s)")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if wrong.size:
        bad = "NaN" if np.isnan(array[wrong[0]]).any() else "infinity"
        raise ValueError(
            f"Input {name} contains {bad}: {name}[{wrong[0]}]{and_more(wrong.size - 1, 'row')};"
            " drop such rows or fill them in"
        )
    wrong = np.flatnonzero((np.abs(array) > LARGEST_TARGET).any(axis=1))
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {array[wrong[0]].max():g}: targets beyond {LARGEST_TARGET:g} in size"
            " are too large for gradients in single precision; rescale them"
        )
    return np.ascontiguousarray(array.T)


def and_more(number: int, what: str) -> str:
    """How many more there are of what a message names the first of; nothing if there are none."""
    return f" (and {number} more {what}{'s' * (number > 1)})" if number else ""


def only_class(classes: np.ndarray) -> str:
    """How an error begins where a classifier finds nothing to tell apart."""
    return f"y holds one class only, {classes.tolist()[0]!r}"


def check_same_length(n_target: int, n_rows: int) -> None:
    if n_target != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y has {n_target}"
        )


def warn_of_column_vector() -> None:
    from sklearn.exceptions import DataConversionWarning

    warn_user(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y"
        " to (n_samples,), for example using ravel().",
        DataConversionWarning,
    )


def check_single_target(y: Any, numbers: np.ndarray, criterion: str) -> None:
    """Criteria other than the squared error take one target."""
    if criterion == "squared_error":
        return
    if numbers.shape[0] > 1:
        raise ValueError(f"criterion={criterion!r} takes one target; several need 'squared_error'")
    if np.asarray(y).ndim == 2:
        warn_of_column_vector()
    if criterion == "poisson" and ((numbers < 0).any() or not numbers.sum() > 0):
        raise ValueError("criterion='poisson' needs y >= 0, and some y above 0")


def check_labels(y: Any, *, several: bool = False) -> np.ndarray:
    """Class labels as an array of shape (rows,), or where `several` targets may be (rows, targets)."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels = np.asarray(y)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels.ravel()))[0])
        row = _row_of(labels, at)
        raise ValueError(f"Input y contains NaN or infinity: y[{row}] is {labels.ravel()[at]}")
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_of_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1 and not (several and labels.ndim == 2 and labels.shape[1] > 1):
        raise ValueError(
            f"y must have one label a row, got shape {labels.shape} ({type_of_target(y)})"
        )
    if labels.dtype == object:
        for at, value in enumerate(labels.ravel()):
            if value is None or value != value:
                raise ValueError(f"y[{_row_of(labels, at)}] is missing; drop rows without a label")
    return labels


def _row_of(values: np.ndarray, at: int) -> int:
    """The row of a place in the flattened array."""
    return at // (values.size // len(values)) if values.ndim > 1 else at


def learn_classes(labels: np.ndarray) -> np.ndarray:
    """The classes among the labels, in order."""
    check_classification_targets(labels)
    return np.unique(labels)


def class_numbers(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """The place of each label among the classes."""
    numbers = np.searchsorted(classes, labels)
    numbers = np.minimum(numbers, classes.size - 1)
    wrong = np.flatnonzero(classes[numbers] != labels)
    if wrong.size:
        raise ValueError(
            f"y holds the class {labels[wrong].tolist()[0]!r}, which is not one of {classes.tolist()}"
        )
    return numbers


def weigh_classes(
    class_weight: Any, labels: np.ndarray, weight: np.ndarray, *, keep_scale: bool = False
) -> np.ndarray:
    """Row weights times class weights; `class_weight` as scikit-learn has it."""
    if class_weight is None:
        return weight
    from sklearn.utils.class_weight import compute_sample_weight

    by_class = compute_sample_weight(class_weight, labels)
    both = by_class * weight if weight.size else by_class
    return check_sample_weight(both, len(labels), keep_scale=keep_scale)
