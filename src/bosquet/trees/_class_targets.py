"""Classes of one target, or of several at once: what trees are grown to tell, and what they say.

Of several targets the classes are counted on from one to the next: a leaf holds the shares of all
of them in one row, and a class has a place in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers, learn_classes
from bosquet.trees._growing import Target

# The classes of a target, or those of each of several.
Classes = np.ndarray | list[np.ndarray]


def classes_among(labels: np.ndarray) -> Classes:
    """The classes of labels (rows,), or of each column of labels (rows, targets)."""
    if labels.ndim == 1:
        classes = learn_classes(labels)
        _check_more_than_one(classes, "y holds")
        return classes
    found = [learn_classes(column) for column in _columns(labels)]
    for number, classes in enumerate(found):
        _check_more_than_one(classes, f"target {number} of y holds")
    return found


def _check_more_than_one(classes: np.ndarray, subject: str) -> None:
    if classes.size < 2:
        raise ValueError(
            f"{subject} one class only, {classes.tolist()[0]!r}: a classifier needs at least two classes"
        )


def class_counts(classes: Classes) -> tuple[int, ...]:
    """How many classes each of several targets has; none for one target."""
    return tuple(c.size for c in classes) if isinstance(classes, list) else ()


def class_target(labels: np.ndarray, classes: Classes) -> Target:
    """The target that trees are grown to tell."""
    if isinstance(classes, np.ndarray):
        return Target.of_classes(class_numbers(labels, classes), classes.size)
    return Target.of_several_classes(class_places(labels, classes).T, class_counts(classes))


def class_places(labels: np.ndarray, classes: Classes) -> np.ndarray:
    """The place of each label: (rows,), or (rows, targets) counted on from target to target."""
    if isinstance(classes, np.ndarray):
        if labels.ndim != 1:
            raise ValueError(f"y has {labels.shape[1]} targets, but the model was fitted to one")
        return class_numbers(labels, classes)
    if labels.ndim != 2 or labels.shape[1] != len(classes):
        given = 1 if labels.ndim == 1 else labels.shape[1]
        raise ValueError(f"y has {given} targets, but the model was fitted to {len(classes)}")
    first = np.cumsum([0, *class_counts(classes)[:-1]])
    columns = zip(_columns(labels), classes, strict=True)
    return np.column_stack([class_numbers(column, some) for column, some in columns]) + first


def _columns(labels: np.ndarray) -> list[np.ndarray]:
    """Targets of different kinds come as objects: each is given its own type back."""
    if labels.dtype != object:
        return list(labels.T)
    return [np.array(column.tolist()) for column in labels.T]


def by_target(values: np.ndarray, classes: Classes) -> Any:
    """Columns that stand one target behind the other, as a list with an array a target."""
    if isinstance(classes, np.ndarray):
        return values
    return np.split(values, np.cumsum(class_counts(classes))[:-1], axis=-1)


def most_probable(shares: np.ndarray, classes: Classes) -> np.ndarray:
    """The label of the largest share: (rows,), or (rows, targets)."""
    if isinstance(classes, np.ndarray):
        return classes[shares.argmax(axis=1)]
    one_kind = len({some.dtype.kind for some in classes}) == 1
    kind = np.result_type(*classes) if one_kind else np.dtype(object)
    said = np.empty((len(shares), len(classes)), dtype=kind)
    for t, (some, part) in enumerate(zip(classes, by_target(shares, classes), strict=True)):
        said[:, t] = some[part.argmax(axis=1)]
    return said


def votes_for_the_largest(shares: np.ndarray, classes: Classes) -> np.ndarray:
    """1 for the largest share of each target, 0 for the others; of equal ones the first."""
    parts = [shares] if isinstance(classes, np.ndarray) else by_target(shares, classes)
    votes = [np.eye(part.shape[-1])[part.argmax(axis=-1)] for part in parts]
    return np.concatenate(votes, axis=-1)


class SharesWrong:
    """Of each row the share of its targets whose largest vote is not for their class."""

    def __init__(self, classes: list[np.ndarray]):
        self.classes = classes

    def __call__(self, votes: np.ndarray, places: np.ndarray) -> np.ndarray:
        ends = np.cumsum(class_counts(self.classes))
        said = [
            part.argmax(axis=-1) + end - part.shape[-1]
            for part, end in zip(by_target(votes, self.classes), ends, strict=True)
        ]
        return (np.stack(said, axis=-1) != places).mean(axis=-1)
