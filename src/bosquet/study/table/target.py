"""The target column: its task, its classes and its checks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet._targets import CodedLabels
from bosquet.study.metrics.metric import RARE
from bosquet.study.record import Task

TASKS = ("auto", "classification", "binary", "multiclass", "regression")
# Integers with at most this many distinct values are read as classes.
MAX_CLASSES_OF_NUMBERS = 10
MIN_ROWS_OF_TABLE = 10
MAX_CLASSES = 1000


@dataclass
class StudyTarget:
    """The target of a study, without missing values.

    Attributes
    ----------
    name : name of the column
    y : labels or numbers; `CodedLabels` if they are text of a table that is read in batches
    has_target : boolean mask of the rows of the table that have a target
    task : "binary", "multiclass" or "regression"
    classes : sorted labels; empty for regression
    positive : index of the positive class; by default the rarer of two classes
    notes : remarks for the reader
    """

    name: str
    y: Any
    has_target: np.ndarray
    task: Task
    classes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    positive: int = 1
    notes: list[str] = field(default_factory=list)

    @property
    def is_classes(self) -> bool:
        """Whether the task is classification."""
        return self.task != "regression"

    @property
    def rarest(self) -> float:
        """The share of the rarest class; 1 for regression."""
        if not self.is_classes:
            return 1.0
        return float(np.unique(self.y, return_counts=True)[1].min() / len(self.y))

    @property
    def positive_share(self) -> float:
        """The share of the positive class of a binary target; otherwise the share of the rarest class."""
        if self.task != "binary":
            return self.rarest
        return float((self.y == self.classes[self.positive]).mean())

    @property
    def is_rare(self) -> bool:
        """Whether the rarer of two classes is so rare that most metrics are insensitive to it."""
        return self.task == "binary" and self.rarest < RARE


def read_target(series: Any, name: str, task: str = "auto", positive: Any = None) -> StudyTarget:
    """Read a pandas column as a target; raise ValueError if it cannot be one.

    `positive` is the label of the positive class; by default it is the rarer of two classes.
    """
    target = _read_target(series, name, task)
    if positive is not None:
        target.positive = _index_of_label(positive, target)
    return target


def read_text_target(
    levels: Sequence[str], codes: np.ndarray, name: str, task: str = "auto", positive: Any = None
) -> StudyTarget:
    """Read a column of text, given as codes (-1: missing), as a target whose `y` are `CodedLabels`."""
    _check_task(task)
    classes, number_of_code = np.unique(np.array(levels, dtype=str), return_inverse=True)
    notes: list[str] = []
    has_target = _rows_with_target(codes >= 0, name, notes)
    numbers = number_of_code[codes[has_target]]
    counts = np.bincount(numbers, minlength=len(classes))
    present = np.flatnonzero(counts)
    number_of_class = np.cumsum(counts > 0) - 1
    labels = CodedLabels(classes[present], number_of_class[numbers])
    target = _target_of_values(
        labels, len(numbers), labels.classes, counts[present], has_target, name, task, notes
    )
    if positive is not None:
        target.positive = _index_of_label(positive, target)
    return target


def _index_of_label(positive: Any, target: StudyTarget) -> int:
    if target.task != "binary":
        kind = (
            "is a number" if target.task == "regression" else f"has {len(target.classes)} classes"
        )
        raise ValueError(
            f"positive={positive!r} needs a target with two classes, but {target.name!r} {kind}; leave it"
            " out"
        )
    labels = [str(label) for label in target.classes]
    positive_text = str(positive)
    if positive_text not in labels:
        raise ValueError(
            f"positive={positive!r} is not a class of {target.name!r}; {hint(positive_text, labels)}"
        )
    return labels.index(positive_text)


def _read_target(series: Any, name: str, task: str) -> StudyTarget:
    _check_task(task)
    notes: list[str] = []
    has_target = _rows_with_target(~np.asarray(series.isna(), dtype=bool), name, notes)
    values = _to_array(series[has_target], name, notes)
    distinct, counts = np.unique(values, return_counts=True)
    return _target_of_values(values, len(values), distinct, counts, has_target, name, task, notes)


def _check_task(task: str) -> None:
    if task not in TASKS:
        raise ValueError(
            f"task={task!r} is not valid: task must be one of {', '.join(map(repr, TASKS))}"
        )


def _rows_with_target(has_target: np.ndarray, name: str, notes: list[str]) -> np.ndarray:
    """Return the mask, after a note on rows that are left out."""
    if not has_target.all():
        if not has_target.any():
            raise ValueError(
                f"the target {name!r} is missing in every row; use another column as target"
            )
        n_dropped = int((~has_target).sum())
        notes.append(
            f"{n_dropped:,} {'row' if n_dropped == 1 else 'rows'} without a value of {name!r} left out."
        )
    return has_target


def _target_of_values(
    values: Any,
    n_rows: int,
    distinct: np.ndarray,
    counts: np.ndarray,
    has_target: np.ndarray,
    name: str,
    task: str,
    notes: list[str],
) -> StudyTarget:
    """Return the target of these values, an array or `CodedLabels`, with their distinct values and counts."""
    if n_rows < MIN_ROWS_OF_TABLE:
        rows = "1 row" if n_rows == 1 else f"{n_rows} rows"
        raise ValueError(
            f"the table has {rows} with a value of {name!r}, but at least {MIN_ROWS_OF_TABLE} are needed;"
            " add rows"
        )
    if len(distinct) == 1:
        raise ValueError(
            f"the target {name!r} is {distinct[0]} in every row, so there is nothing to predict; use another"
            " column as target"
        )
    if _is_regression(n_rows, distinct, name, task, notes):
        return StudyTarget(name, values.astype(float), has_target, "regression", notes=notes)
    if distinct.dtype.kind == "f":  # scikit-learn would reject fractional class labels
        notes.append(f"The values of {name!r} are read as class labels (text).")
        values = np.array([f"{value:g}" for value in values.tolist()])
        distinct, counts = np.unique(values, return_counts=True)
    return _class_target(values, n_rows, distinct, counts, has_target, name, task, notes)


def _class_target(
    values: Any,
    n_rows: int,
    classes: np.ndarray,
    counts: np.ndarray,
    has_target: np.ndarray,
    name: str,
    task: str,
    notes: list[str],
) -> StudyTarget:
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"the target {name!r} has {len(classes):,} classes in {n_rows:,} rows, but at most"
            f" {MAX_CLASSES:,} are accepted; if it is a number, convert it and pass task='regression'; if it"
            " identifies rows, use another target"
        )
    singletons = classes[counts == 1]
    if len(singletons):
        examples = ", ".join(repr(str(label)) for label in singletons[:3])
        number = "1 class" if len(singletons) == 1 else f"{len(singletons):,} classes"
        raise ValueError(
            f"{name!r} has {number} with a single row ({examples}{', ...' if len(singletons) > 3 else ''}),"
            " but every class needs at least two; drop these rows, merge the classes, or pass"
            " task='regression' for a numeric target"
        )
    if task == "binary" and len(classes) != 2:
        raise ValueError(
            f"task='binary' needs 2 classes, but {name!r} has {len(classes)}; pass task='multiclass'"
        )
    rare_classes = classes[counts < 10]
    if len(rare_classes):
        examples = ", ".join(repr(str(label)) for label in rare_classes[:5])
        notes.append(
            f"Classes of {name!r} with fewer than 10 rows: {examples}; results for them are uncertain."
        )
    positive = int(np.argmin(counts)) if len(classes) == 2 and counts[0] != counts[1] else 1
    kind: Task = "binary" if len(classes) == 2 else "multiclass"
    return StudyTarget(name, values, has_target, kind, classes, positive, notes)


def _is_regression(
    n_rows: int, distinct: np.ndarray, name: str, task: str, notes: list[str]
) -> bool:
    kind = distinct.dtype.kind
    is_number = kind in "iuf"
    if task == "regression":
        if not is_number and kind != "b":
            raise ValueError(
                f"task='regression' needs a numeric target, but {name!r} has the value {distinct[0]!s}; pass"
                " task='classification' or convert the column to numbers"
            )
        return True
    if task != "auto" or not is_number or len(distinct) == 2:
        return False
    are_integers = bool(np.all(distinct == np.round(distinct)))
    if are_integers and len(distinct) <= MAX_CLASSES_OF_NUMBERS and n_rows >= 5 * len(distinct):
        notes.append(
            f"{name!r} has {len(distinct)} distinct integers and is read as classes; pass task='regression'"
            " to predict it as a number."
        )
        return False
    return True


def _to_array(series: Any, name: str, notes: list[str]) -> np.ndarray:
    """Return the column as a NumPy array of booleans, integers, floats or text."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "mM":
        raise ValueError(
            f"the target {name!r} is a date or a duration; convert it to a number, such as days, or to"
            " classes"
        )
    if kind == "c":
        raise ValueError(
            f"the target {name!r} has complex numbers; only real numbers and classes can be predicted"
        )
    if kind == "b":
        return series.to_numpy(dtype=bool)
    if kind in "iu":
        return series.to_numpy(dtype=np.int64)
    if kind == "f":
        return _check_finite(series.to_numpy(dtype=float), name)
    items = series.tolist()
    kinds = {type(item) for item in items}
    if kinds <= {bool, np.bool_}:
        return np.array(items, dtype=bool)
    if all(issubclass(value_type, int | np.integer) for value_type in kinds):
        return np.array(items, dtype=np.int64)
    if all(issubclass(value_type, int | float | np.number) for value_type in kinds):
        return _check_finite(np.array(items, dtype=float), name)
    if not all(issubclass(value_type, str) for value_type in kinds):
        notes.append(f"{name!r} has values of several types; all are read as text.")
    return np.array([str(item) for item in items])


def _check_finite(values: np.ndarray, name: str) -> np.ndarray:
    wrong = int((~np.isfinite(values)).sum())
    if wrong:
        raise ValueError(
            f"the target {name!r} is infinite in {wrong} rows; drop these rows or replace the values"
        )
    if np.all(values == np.round(values)) and np.abs(values).max() < 2**53:
        return values.astype(np.int64)  # integers that became floats because of missing values
    return values
