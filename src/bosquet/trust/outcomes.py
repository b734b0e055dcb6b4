"""Labels and probabilities as binary events: the outcome of each row and its predicted probability."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._suggestions import first_names
from bosquet._targets import check_labels, check_same_length, class_numbers, unique_classes
from bosquet._weights import check_sample_weight

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def check_probabilities(probabilities: ArrayLike) -> np.ndarray:
    """Return probabilities as an array (rows,) or (rows, classes) of numbers in [0, 1]."""
    array = np.asarray(probabilities, dtype=float)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(
            f"probabilities must have shape (rows,) or (rows, classes), got {array.shape}"
        )
    outside = ~((array >= 0) & (array <= 1))
    if outside.any():
        index = tuple(int(i) for i in np.argwhere(outside)[0])
        where = ", ".join(map(str, index))
        raise ValueError(
            f"probabilities[{where}] is {array[index]:g}; probabilities must be in [0, 1], as predict_proba"
            " returns them"
        )
    return array


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Return one weight per row (default: 1)."""
    weight = check_sample_weight(sample_weight, n_rows)
    return weight if weight.size else np.ones(n_rows)


def class_indicators(
    y: ArrayLike, probabilities: np.ndarray, classes: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return outcomes (1 if the row is of the class) and predicted probabilities, both (rows, events).

    With two classes, the only event is the second class. With more, each class is an event.
    """
    labels = check_labels(y)
    check_same_length(labels.size, len(probabilities))
    all_classes = unique_classes(labels) if classes is None else np.asarray(classes)
    columns = 2 if probabilities.ndim == 1 else probabilities.shape[1]
    if all_classes.size != columns:
        source = "y holds" if classes is None else "classes has"
        raise ValueError(
            f"{source} {all_classes.size} class(es), but probabilities has {columns}; pass all classes with"
            " classes=model.classes_"
        )
    numbers = class_numbers(labels, all_classes)
    if columns == 2:
        score = probabilities if probabilities.ndim == 1 else probabilities[:, 1]
        return (numbers == 1).astype(float)[:, None], score[:, None]
    return (numbers[:, None] == np.arange(columns)).astype(float), probabilities


def binary_event(
    y: ArrayLike, probabilities: ArrayLike, classes: ArrayLike | None, of: object
) -> tuple[np.ndarray, np.ndarray]:
    """Return the outcome (0 or 1) of each row, and its predicted probability.

    With more than two classes, the event is that the row is of class `of`, or, if `of` is None, that the
    most probable class is correct.
    """
    scores = check_probabilities(probabilities)
    outcome, scores = class_indicators(y, scores, classes)
    if outcome.shape[1] == 1:
        return outcome[:, 0], scores[:, 0]
    if of is None:
        predicted = scores.argmax(axis=1)
        rows = np.arange(predicted.size)
        return outcome[rows, predicted], scores[rows, predicted]
    all_classes = unique_classes(check_labels(y)) if classes is None else np.asarray(classes)
    column = np.flatnonzero(all_classes == of)
    if not column.size:
        raise ValueError(
            f"of={of!r} is not valid: of must be one of the classes {first_names(all_classes)}, or None"
        )
    return outcome[:, column[0]], scores[:, column[0]]
