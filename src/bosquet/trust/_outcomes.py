"""Labels and probabilities as one event a row: did it happen, and how likely was it said to be?"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import (
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
    learn_classes,
)


def check_probabilities(probabilities: Any) -> np.ndarray:
    """Probabilities as an array (rows,) or (rows, classes) of numbers in [0, 1]."""
    array = np.asarray(probabilities, dtype=float)
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(
            f"probabilities must have shape (rows,) or (rows, classes), got {array.shape}"
        )
    outside = ~((array >= 0) & (array <= 1))
    if outside.any():
        place = tuple(int(i) for i in np.argwhere(outside)[0])
        where = ", ".join(map(str, place))
        raise ValueError(
            f"probabilities[{where}] is {array[place]:g}, which is no probability: give predict_proba's"
            " numbers in [0, 1]"
        )
    return array


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """A weight a row, ones where none were given."""
    weight = check_sample_weight(sample_weight, n_rows)
    return weight if weight.size else np.ones(n_rows)


def class_indicators(
    y: Any, probabilities: np.ndarray, classes: Any
) -> tuple[np.ndarray, np.ndarray]:
    """1 where a row is of the class, and the class's probability: both (rows, events).

    Two classes are one event, the second class; more are one event each.
    """
    labels = check_labels(y)
    check_same_length(labels.size, len(probabilities))
    known = learn_classes(labels) if classes is None else np.asarray(classes)
    columns = 2 if probabilities.ndim == 1 else probabilities.shape[1]
    if known.size != columns:
        hint = "name them all: classes=model.classes_"
        if known.size == 1:
            hint = f"with one class nothing can be learnt of the scores; {hint}"
        raise ValueError(
            f"y holds {known.size} class(es), but the probabilities are of {columns}: {hint}"
        )
    numbers = class_numbers(labels, known)
    if columns == 2:
        score = probabilities if probabilities.ndim == 1 else probabilities[:, 1]
        return (numbers == 1).astype(float)[:, None], score[:, None]
    return (numbers[:, None] == np.arange(columns)).astype(float), probabilities


def one_event(y: Any, probabilities: Any, classes: Any, of: Any) -> tuple[np.ndarray, np.ndarray]:
    """Outcome 0 or 1 of each row, and the probability that the model gave it.

    With more than two classes the event is that of being of class `of`, or, where it is None, that
    the class named first is the right one.
    """
    scores = check_probabilities(probabilities)
    happened, scores = class_indicators(y, scores, classes)
    if happened.shape[1] == 1:
        return happened[:, 0], scores[:, 0]
    if of is None:
        named = scores.argmax(axis=1)
        rows = np.arange(named.size)
        return happened[rows, named], scores[rows, named]
    known = learn_classes(check_labels(y)) if classes is None else np.asarray(classes)
    place = np.flatnonzero(known == of)
    if not place.size:
        raise ValueError(f"of={of!r} is not one of the classes {list(known)}")
    return happened[:, place[0]], scores[:, place[0]]
