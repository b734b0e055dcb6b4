"""Validation of forecasts, truths, masks, classes and prior weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._masks import without_mask
from bosquet._sklearn import validate_data
from bosquet._suggestions import first_names
from bosquet._targets import and_more, check_same_length, warn_of_column_vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


MAX_CLASSES = 65535


def read_forecasts(owner: Any, F: ArrayLike, n_classes: int, *, reset: bool) -> np.ndarray:
    """Return forecasts of shape (n_rows, n_experts) or (n_rows, n_experts, n_classes) as float64.

    NaN marks an expert that is asleep.
    """
    if n_classes == 0:
        return validate_data(
            owner, F, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False
        )
    array = np.ascontiguousarray(without_mask(F), dtype=np.float64)
    if array.ndim != 3 or array.shape[2] != n_classes or 0 in array.shape:
        raise ValueError(
            f"F has shape {array.shape}; with {n_classes} classes it must have shape (n_rows, n_experts,"
            f" {n_classes})"
        )
    if reset:
        owner.n_features_in_ = array.shape[1]
    if array.shape[1] != owner.n_features_in_:
        raise expert_count_error(array.shape[1], owner.n_features_in_)
    return array


def expert_count_error(n_experts: int, expected: int) -> ValueError:
    return ValueError(
        f"X has {n_experts} experts, but the mixture is expecting {expected}; pass NaN for an expert that has"
        " no forecast, and start a new mixture to add an expert"
    )


def forecast_dimensions(F: ArrayLike) -> int:
    """Return the number of dimensions of forecasts; raise a ValueError for a scalar or a dict."""
    n_dimensions = np.asarray(F).ndim
    if n_dimensions == 0:
        raise ValueError(
            f"forecasts must be an array of shape (n_experts,) or a table of shape (n_rows, n_experts), not"
            f" {type(F).__name__}; for a dict by expert, pass list(forecasts.values()) with the experts in"
            " the same order at every step"
        )
    return n_dimensions


def read_truths(
    y: ArrayLike | None, n_rows: int, classes: np.ndarray | None, *, owner: str = "Mixture"
) -> np.ndarray:
    """Return one number per row; with classes, the index of the class."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass one target per row of X"
        )
    array = np.asarray(without_mask(y))
    if array.ndim == 2 and array.shape[1] == 1:
        warn_of_column_vector()
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y has shape {array.shape}; pass one truth per row, shape (n_rows,)")
    check_same_length(array.size, n_rows)
    if classes is not None:
        try:
            labels, inverse = np.unique(array, return_inverse=True)
        except TypeError:  # labels that cannot be sorted
            labels, inverse = array, np.arange(array.size)
        indices = np.array([class_index(label, classes) for label in labels], dtype=float)
        return indices[inverse]
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex numbers; pass real numbers")
    try:
        array = np.ascontiguousarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"y must contain numbers ({error}); pass classes=... for class labels"
        ) from error
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        kind = "NaN" if np.isnan(array[wrong[0]]) else "infinity"
        raise ValueError(
            f"Input y contains {kind}: y[{wrong[0]}]{and_more(wrong.size - 1, 'row')}; drop these rows or"
            " impute the values"
        )
    return array


def class_index(label: Any, classes: np.ndarray) -> int:
    indices = np.flatnonzero(classes == label)
    if indices.size == 0:
        value = label.item() if isinstance(label, np.generic) else label
        raise ValueError(
            f"the label {value!r} is not one of the classes {first_names(classes)}; correct the label, or"
            " start a new mixture with all classes"
        )
    return int(indices[0])


def read_mask(awake: ArrayLike | None, shape: tuple[int, ...]) -> np.ndarray | None:
    """Return one byte per forecast, 1 if the expert is awake; None if all are."""
    if awake is None:
        return None
    mask = np.asarray(awake)
    if mask.shape != shape:
        raise ValueError(
            f"awake has shape {mask.shape}, but the forecasts have shape {shape}; pass one entry per"
            " forecast"
        )
    if mask.dtype.kind not in "biuf":
        raise ValueError(f"awake has type {mask.dtype}; pass True or False, or 1 or 0")
    wrong = np.argwhere(~np.isin(mask, (0, 1)))
    if wrong.size:
        place = ", ".join(map(str, wrong[0]))
        raise ValueError(
            f"awake[{place}] is {mask[tuple(wrong[0])]:g}; pass True or False, or 1 or 0"
        )
    return np.ascontiguousarray(mask, dtype=np.uint8)


def read_classes(classes: ArrayLike | None) -> np.ndarray | None:
    """Return the labels of the classes, given as a list of labels or as their number."""
    if classes is None:
        return None
    if isinstance(classes, bool | int | np.integer):
        valid = not isinstance(classes, bool) and 2 <= classes <= MAX_CLASSES
        labels = np.arange(classes if valid else 0)
    else:
        labels = np.asarray(classes)
    if labels.ndim != 1 or labels.size < 2 or len(set(labels.tolist())) != labels.size:
        raise ValueError(
            f"classes={classes!r} is not valid: classes must be a list of at least two distinct labels, an"
            f" integer in [2, {MAX_CLASSES}] or None"
        )
    return labels


def read_prior(prior: ArrayLike, n_experts: int) -> np.ndarray:
    """Return positive weights that sum to 1."""
    if prior is None:
        return np.full(n_experts, 1 / n_experts)
    try:
        weights = np.asarray(prior, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"prior={prior!r} is not valid: prior must be one number > 0 per expert, or None"
        ) from error
    if weights.shape != (n_experts,):
        raise ValueError(
            f"prior has shape {weights.shape}, but there are {n_experts} experts; pass one weight per expert"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        raise ValueError(
            f"prior[{wrong[0]}] is {weights[wrong[0]]:g}; prior weights must be finite and greater than 0. To"
            " exclude an expert, remove its column"
        )
    return weights / weights.sum()
