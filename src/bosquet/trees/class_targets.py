"""Class labels of one target or of several targets, as columns of the class shares in leaves.

With several targets, a leaf holds the class shares of all targets one after the other; the columns of the
second target follow those of the first.
"""

from __future__ import annotations

import numpy as np

from bosquet._targets import class_numbers, unique_classes
from bosquet.trees.growing import TreeTarget

# Class labels of one target, or a list with those of each target.
Classes = np.ndarray | list[np.ndarray]


def find_classes(labels: np.ndarray) -> Classes:
    """Return the sorted classes of labels (rows,), or those of each column of labels (rows, targets)."""
    if labels.ndim == 1:
        classes = unique_classes(labels)
        _check_more_than_one(classes, "y has")
        return classes
    by_column = [unique_classes(column) for column in _label_columns(labels)]
    for number, classes in enumerate(by_column):
        _check_more_than_one(classes, f"target {number} of y has")
    return by_column


def _check_more_than_one(classes: np.ndarray, subject: str) -> None:
    if classes.size < 2:
        raise ValueError(
            f"{subject} one class only, {classes.tolist()[0]!r}; a classifier needs at least two classes;"
            " pass rows of another class too"
        )


def class_counts(classes: Classes) -> tuple[int, ...]:
    """Return the number of classes of each of several targets; an empty tuple for one target."""
    return tuple(c.size for c in classes) if isinstance(classes, list) else ()


def class_target(labels: np.ndarray, classes: Classes) -> TreeTarget:
    """Return the labels as a target for growing trees."""
    if isinstance(classes, np.ndarray):
        return TreeTarget.of_classes(class_numbers(labels, classes), classes.size)
    return TreeTarget.of_several_classes(class_columns(labels, classes).T, class_counts(classes))


def class_columns(labels: np.ndarray, classes: Classes) -> np.ndarray:
    """Return the column of the share of each label, shape (rows,) or (rows, targets)."""
    if isinstance(classes, np.ndarray):
        if labels.ndim != 1:
            raise ValueError(
                f"y has {labels.shape[1]} targets, but the model was fitted to 1; pass a y of the same shape"
            )
        return class_numbers(labels, classes)
    if labels.ndim != 2 or labels.shape[1] != len(classes):
        n_targets = 1 if labels.ndim == 1 else labels.shape[1]
        raise ValueError(
            f"y has {n_targets} targets, but the model was fitted to {len(classes)};"
            " pass a y of the same shape"
        )
    first = np.cumsum([0, *class_counts(classes)[:-1]])
    pairs = zip(_label_columns(labels), classes, strict=True)
    return (
        np.column_stack([class_numbers(column, target_classes) for column, target_classes in pairs])
        + first
    )


def _label_columns(labels: np.ndarray) -> list[np.ndarray]:
    """Return the columns of labels; each column of an object array gets its own dtype."""
    if labels.dtype != object:
        return list(labels.T)
    return [np.array(column.tolist()) for column in labels.T]


def split_by_target(values: np.ndarray, classes: Classes) -> np.ndarray | list[np.ndarray]:
    """Split the columns of several targets into a list with one array per target."""
    if isinstance(classes, np.ndarray):
        return values
    return np.split(values, np.cumsum(class_counts(classes))[:-1], axis=-1)


def most_probable_labels(shares: np.ndarray, classes: Classes) -> np.ndarray:
    """Return the label with the largest share, shape (rows,) or (rows, targets)."""
    if isinstance(classes, np.ndarray):
        return classes[shares.argmax(axis=1)]
    one_kind = len({labels.dtype.kind for labels in classes}) == 1
    dtype = np.result_type(*classes) if one_kind else np.dtype(object)
    predictions = np.empty((len(shares), len(classes)), dtype=dtype)
    for t, (labels, target_shares) in enumerate(
        zip(classes, split_by_target(shares, classes), strict=True)
    ):
        predictions[:, t] = labels[target_shares.argmax(axis=1)]
    return predictions


def hard_votes(shares: np.ndarray, classes: Classes) -> np.ndarray:
    """Return 1 for the largest share of each target (the first in case of ties), 0 for the others."""
    by_targets = [shares] if isinstance(classes, np.ndarray) else split_by_target(shares, classes)
    votes = [
        np.eye(target_shares.shape[-1])[target_shares.argmax(axis=-1)]
        for target_shares in by_targets
    ]
    return np.concatenate(votes, axis=-1)


class MisclassifiedShare:
    """Loss of rows with several targets: the fraction of the targets that are misclassified."""

    def __init__(self, classes: list[np.ndarray]):
        self.classes = classes

    def __call__(self, votes: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Return the loss of each row; `columns` are the columns of its true classes."""
        ends = np.cumsum(class_counts(self.classes))
        predicted = [
            target_votes.argmax(axis=-1) + end - target_votes.shape[-1]
            for target_votes, end in zip(split_by_target(votes, self.classes), ends, strict=True)
        ]
        return (np.stack(predicted, axis=-1) != columns).mean(axis=-1)
