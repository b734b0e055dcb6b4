"""Checks of y and sample_weight: class labels, numeric targets, weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, overload

import numpy as np

from bosquet._digits import first_inexact_integer, warn_of_lost_digits
from bosquet._masks import without_mask
from bosquet._sklearn import check_classification_targets
from bosquet._suggestions import first_names
from bosquet._warnings import warn_user
from bosquet._weights import check_sample_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike

    from bosquet._types import ClassWeight


LARGEST_TARGET = 1e30


def check_finite_target(
    y: ArrayLike | None, name: str = "y", *, owner: str = "this function"
) -> np.ndarray:
    """Return a numeric target as float64 of shape (n_targets, n_samples).

    `owner` is the name of the class that needs the target, for the message if y is None.
    """
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass one target per row of X"
        )
    kind: object = type(y).__name__
    try:
        array = np.asarray(without_mask(y))
        kind = array.dtype
        if array.dtype.kind == "c":
            raise ValueError(
                "Complex data not supported: y contains complex numbers; pass real numbers"
            )
        if array.dtype.kind in "mM":
            raise TypeError("dates and durations are not numbers")
        example = first_inexact_integer(array)
        if example is not None:
            warn_of_lost_digits([name], example, "subtract a constant before fitting")
        array = np.asarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        if "Complex" in str(error):
            raise
        raise ValueError(
            f"{name} must be numeric for regression, but has the type {kind} ({error}); convert it"
            " to numbers, or use a classifier"
        ) from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{name} has {array.ndim} dimensions; pass an array with one or two")
    if array.size == 0:
        raise ValueError(f"{name} is empty: found array with 0 sample(s); pass at least one row")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if wrong.size:
        bad = "NaN" if np.isnan(array[wrong[0]]).any() else "infinity"
        raise ValueError(
            f"Input {name} contains {bad}: {name}[{wrong[0]}]{and_more(wrong.size - 1, 'row')};"
            " drop these rows or impute their targets"
        )
    wrong = np.flatnonzero((np.abs(array) > LARGEST_TARGET).any(axis=1))
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {array[wrong[0]].max():g}, but absolute values above {LARGEST_TARGET:g}"
            " are too large for gradients in single precision; rescale the target"
        )
    return np.ascontiguousarray(array.T)


def and_more(number: int, what: str) -> str:
    """Return " (and 3 more rows)" for the end of a message that names only the first; "" if number is 0."""
    return f" (and {number} more {what}{'s' * (number > 1)})" if number else ""


def single_class_message(classes: np.ndarray) -> str:
    """Return the beginning of the error message for a target with a single class."""
    return f"y has one class only, {classes.tolist()[0]!r}"


def check_same_length(n_target: int, n_rows: int) -> None:
    """Raise a ValueError unless X and y have the same number of rows."""
    if n_target != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y has {n_target};"
            " pass one target per row of X"
        )


def warn_of_column_vector() -> None:
    """Issue scikit-learn's warning about a target of shape (n_samples, 1)."""
    from sklearn.exceptions import DataConversionWarning

    warn_user(
        "A column-vector y was passed when a 1d array was expected. Please change the shape of y"
        " to (n_samples,), for example using ravel()",
        DataConversionWarning,
    )


def check_single_target(y: ArrayLike, numbers: np.ndarray, criterion: str) -> None:
    """Raise a ValueError if y has several targets and the criterion is not the squared error."""
    if criterion == "squared_error":
        return
    if numbers.shape[0] > 1:
        raise ValueError(
            f"criterion={criterion!r} supports one target, but y has {numbers.shape[0]};"
            " use criterion='squared_error'"
        )
    if np.asarray(y).ndim == 2:
        warn_of_column_vector()
    if criterion == "poisson":
        _check_counts(numbers[0])


def _check_counts(target: np.ndarray) -> None:
    """Raise a ValueError unless the target is valid for the Poisson deviance."""
    wrong = np.flatnonzero(target < 0)
    if wrong.size:
        raise ValueError(
            f"criterion='poisson' needs y >= 0, but y[{wrong[0]}] is {target[wrong[0]]:g}"
            f"{and_more(wrong.size - 1, 'row')}; correct y or use another criterion"
        )
    if not target.any():
        raise ValueError(
            "criterion='poisson' needs y > 0 in at least one row, but all y are 0; use another criterion"
        )


@dataclass(frozen=True)
class CodedLabels:
    """Class labels as numbers: the label of row i is ``classes[numbers[i]]``.

    The classes are sorted, and all of them occur.
    """

    ndim: ClassVar[int] = 1
    classes: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return self.numbers.size

    @property
    def size(self) -> int:
        return self.numbers.size

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.classes[self.numbers], dtype=dtype)


@overload
def check_labels(y: CodedLabels, *, several: bool = False, owner: str = ...) -> CodedLabels: ...
@overload
def check_labels(y: ArrayLike | None, *, several: bool = False, owner: str = ...) -> np.ndarray: ...
def check_labels(
    y: ArrayLike | CodedLabels | None, *, several: bool = False, owner: str = "this function"
) -> np.ndarray | CodedLabels:
    """Return class labels as an array of shape (n_samples,), or (n_samples, n_targets) if `several`.

    `owner` is the name of the class that needs the labels, for the message if y is None.
    """
    if isinstance(y, CodedLabels):
        return y
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None; pass one target per row of X"
        )
    labels = np.asarray(without_mask(y))
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        at = int(np.flatnonzero(~np.isfinite(labels.ravel()))[0])
        row = _row_of_position(labels, at)
        raise ValueError(
            f"Input y contains NaN or infinity: y[{row}] is {labels.ravel()[at]};"
            " drop the rows without a label"
        )
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn_of_column_vector()
        labels = labels[:, 0]
    if labels.ndim != 1 and not (several and labels.ndim == 2 and labels.shape[1] > 1):
        raise ValueError(f"y has shape {labels.shape}; pass one label per row, shape (n_samples,)")
    if labels.dtype == object:
        for at, value in enumerate(labels.ravel()):
            if value is None or value != value:
                raise ValueError(
                    f"y[{_row_of_position(labels, at)}] is missing; drop the rows without a label"
                )
    return labels


def _row_of_position(values: np.ndarray, at: int) -> int:
    """Return the row of a position in the flattened array."""
    return at // (values.size // len(values)) if values.ndim > 1 else at


def unique_classes(labels: np.ndarray | CodedLabels) -> np.ndarray:
    """Return the sorted classes of a target."""
    if isinstance(labels, CodedLabels):
        return labels.classes
    check_classification_targets(labels)
    return np.unique(labels)


def class_numbers(labels: np.ndarray | CodedLabels, classes: np.ndarray) -> np.ndarray:
    """Return the index of each label in `classes`."""
    if isinstance(labels, CodedLabels):
        return class_numbers(labels.classes, classes)[labels.numbers]
    numbers = np.searchsorted(classes, labels)
    numbers = np.minimum(numbers, classes.size - 1)
    wrong = np.flatnonzero(classes[numbers] != labels)
    if wrong.size:
        raise ValueError(
            f"y[{wrong[0]}] is {labels[wrong].tolist()[0]!r}, which is not one of the classes"
            f" {first_names(classes)}; drop this row or correct its label"
        )
    return numbers


def apply_class_weight(
    class_weight: ClassWeight,
    labels: np.ndarray | CodedLabels,
    weight: np.ndarray,
    *,
    keep_scale: bool = False,
) -> np.ndarray:
    """Return the row weights times the class weights; `class_weight` is as in scikit-learn."""
    if class_weight is None:
        return weight
    from sklearn.utils.class_weight import compute_sample_weight

    try:
        by_class = compute_sample_weight(class_weight, np.asarray(labels))
    except (ValueError, IndexError, TypeError) as error:
        raise ValueError(
            f"class_weight={class_weight!r} is not valid: class_weight must be 'balanced', a dict with one"
            " weight per class of y, or None"
        ) from error
    both = by_class * weight if weight.size else by_class
    return check_sample_weight(both, len(labels), keep_scale=keep_scale)
