"""Forecasts, truths and masks as the core takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import validate_data
from bosquet._targets import and_more, check_same_length, warn_of_column_vector


def read_forecasts(owner: Any, F: Any, n_classes: int, *, reset: bool) -> np.ndarray:
    """(steps, experts) or (steps, experts, classes) as float64; NaN is an expert asleep."""
    if n_classes == 0:
        return validate_data(
            owner, F, reset=reset, dtype=np.float64, order="C", ensure_all_finite=False
        )
    array = np.ascontiguousarray(F, dtype=np.float64)
    if array.ndim != 3 or array.shape[2] != n_classes or 0 in array.shape:
        raise ValueError(
            f"F has shape {array.shape}; with {n_classes} classes it must be (steps, experts, {n_classes})"
        )
    if reset:
        owner.n_features_in_ = array.shape[1]
    if array.shape[1] != owner.n_features_in_:
        raise other_experts(array.shape[1], owner.n_features_in_)
    return array


def other_experts(given: int, wanted: int) -> ValueError:
    return ValueError(
        f"X has {given} experts, but the mixture is expecting {wanted}: an expert that is gone can be"
        " kept asleep with NaN, a new one needs a new mixture"
    )


def forecast_dimensions(F: Any) -> int:
    """Number of dimensions; an error that says what forecasts are where there is none."""
    found = np.asarray(F).ndim
    if found == 0:
        raise ValueError(
            f"forecasts must be an array of shape (n_experts,) or a table of shape (n_rows, n_experts), not"
            f" {type(F).__name__}; of a dict by expert give list(forecasts.values()), in the same order at"
            " every step"
        )
    return found


def read_truths(y: Any, n_steps: int, classes: np.ndarray | None) -> np.ndarray:
    """One number a step, or with classes the number of a class."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        warn_of_column_vector()
        array = array[:, 0]
    if array.ndim != 1:
        raise ValueError(f"y must have one truth a step, got shape {array.shape}")
    check_same_length(array.size, n_steps)
    if classes is not None:
        try:
            labels, place = np.unique(array, return_inverse=True)
        except TypeError:  # labels that cannot be sorted
            labels, place = array, np.arange(array.size)
        numbers = np.array([class_number(label, classes) for label in labels], dtype=float)
        return numbers[place]
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported: y has complex numbers")
    try:
        array = np.ascontiguousarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must hold numbers: {error}") from error
    wrong = np.flatnonzero(~np.isfinite(array))
    if wrong.size:
        kind = "NaN" if np.isnan(array[wrong[0]]) else "infinity"
        raise ValueError(
            f"Input y contains {kind}: y[{wrong[0]}]{and_more(wrong.size - 1, 'step')}; leave such steps"
            " out or fill them in"
        )
    return array


def class_number(label: Any, classes: np.ndarray) -> int:
    found = np.flatnonzero(classes == label)
    if found.size == 0:
        given = label.item() if isinstance(label, np.generic) else label
        raise ValueError(f"the truth {given!r} is not one of the classes {classes.tolist()}")
    return int(found[0])


def read_mask(awake: Any, shape: tuple[int, ...]) -> np.ndarray | None:
    """One byte a forecast, not 0 where the expert is awake; None: all are."""
    if awake is None:
        return None
    mask = np.asarray(awake)
    if mask.shape != shape:
        raise ValueError(f"awake has shape {mask.shape}, but the forecasts are of {shape}")
    if mask.dtype.kind not in "bif" or not np.isin(mask, (0, 1)).all():
        raise ValueError("awake must hold True and False, or 1 and 0")
    return np.ascontiguousarray(mask, dtype=np.uint8)


def read_classes(classes: Any) -> np.ndarray | None:
    """The labels of the classes, from a list of them or their number."""
    if classes is None:
        return None
    if isinstance(classes, bool) or (isinstance(classes, int | np.integer) and classes < 2):
        raise ValueError(f"classes={classes!r} is out of range: there must be at least two classes")
    labels = np.arange(classes) if isinstance(classes, int | np.integer) else np.asarray(classes)
    if labels.ndim != 1 or labels.size < 2 or len(set(labels.tolist())) != labels.size:
        raise ValueError(f"classes={classes!r} must be a list of distinct labels, at least two")
    return labels


def read_prior(prior: Any, n_experts: int) -> np.ndarray:
    """Weights above 0 with sum 1."""
    if prior is None:
        return np.full(n_experts, 1 / n_experts)
    weights = np.asarray(prior, dtype=float)
    if weights.shape != (n_experts,):
        raise ValueError(
            f"prior has shape {weights.shape}, but there are {n_experts} experts; give one weight each"
        )
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights > 0)))
    if wrong.size:
        raise ValueError(
            f"prior[{wrong[0]}] is {weights[wrong[0]]:g}; prior weights must be finite and above 0 (leave"
            " an expert out rather than giving it none)"
        )
    return weights / weights.sum()
