"""What is to be predicted: its kind, its classes, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.study.metrics.scoring import RARE
from bosquet.study.record import Task

TASKS = ("auto", "classification", "binary", "multiclass", "regression")
# Whole numbers of no more values than this are taken for classes.
MOST_CLASSES_OF_NUMBERS = 10
FEWEST_ROWS = 10
MOST_CLASSES = 1000


@dataclass
class Target:
    """The targets of the rows that have one.

    Attributes
    ----------
    name : of the column
    y : labels or numbers
    kept : bool, which rows of the table have a target
    task : "binary", "multiclass" or "regression"
    classes : sorted; empty for numbers
    positive : place of the class that is looked for: by default the rarer of two, or the second
    notes : what a reader should know
    """

    name: str
    y: np.ndarray
    kept: np.ndarray
    task: Task
    classes: np.ndarray = field(default_factory=lambda: np.zeros(0))
    positive: int = 1
    notes: list[str] = field(default_factory=list)

    @property
    def is_classes(self) -> bool:
        return self.task != "regression"

    @property
    def rarest(self) -> float:
        """The share of the rarest class; 1 for numbers."""
        if not self.is_classes:
            return 1.0
        return float(np.unique(self.y, return_counts=True)[1].min() / len(self.y))

    @property
    def looked_for(self) -> float:
        """Of two classes the share of the positive one, else that of the rarest."""
        if self.task != "binary":
            return self.rarest
        return float((self.y == self.classes[self.positive]).mean())

    @property
    def is_rare(self) -> bool:
        """Whether one of two classes is so rare that most metrics hardly notice it."""
        return self.task == "binary" and self.rarest < RARE


def read_target(series: Any, name: str, task: str = "auto", positive: Any = None) -> Target:
    """A pandas column as a target; errors say what is wrong with it and what to do.

    `positive` is the label of the class that is looked for, by default the rarer of two.
    """
    found = _read_target(series, name, task)
    if positive is not None:
        found.positive = _place_of(positive, found)
    return found


def _place_of(positive: Any, target: Target) -> int:
    if target.task != "binary":
        kind = (
            "a number" if target.task == "regression" else f"one of {len(target.classes)} classes"
        )
        raise ValueError(
            f"positive={positive!r} is for a target of two classes, but {target.name!r} is {kind}"
        )
    labels = [str(label) for label in target.classes]
    wanted = str(positive)
    if wanted not in labels:
        raise ValueError(
            f"positive={positive!r} is no class of {target.name!r}; {hint(wanted, labels)}"
        )
    return labels.index(wanted)


def _read_target(series: Any, name: str, task: str) -> Target:
    if task not in TASKS:
        raise ValueError(f"task={task!r} must be one of {', '.join(map(repr, TASKS))}")
    kept = ~np.asarray(series.isna(), dtype=bool)
    notes: list[str] = []
    if not kept.all():
        if not kept.any():
            raise ValueError(
                f"the target {name!r} is missing in every row; choose another column as target"
            )
        left = int((~kept).sum())
        notes.append(
            f"{left:,} {'row' if left == 1 else 'rows'} without a value of {name!r} left out."
        )
    values = _plain(series[kept], name, notes)
    if len(values) < FEWEST_ROWS:
        rows = "1 row" if len(values) == 1 else f"{len(values)} rows"
        raise ValueError(
            f"the table has {rows} with a value of {name!r}; to learn from some and test on others takes"
            f" {FEWEST_ROWS} or more"
        )
    distinct, counts = np.unique(values, return_counts=True)
    if len(distinct) == 1:
        raise ValueError(
            f"the target {name!r} is {distinct[0]} in every row: there is nothing to predict;"
            " choose another column as target"
        )
    if _is_regression(values, distinct, name, task, notes):
        return Target(name, values.astype(float), kept, "regression", notes=notes)
    if values.dtype.kind == "f":  # scikit-learn takes fractions for numbers whatever they stand for
        notes.append(f"The values of {name!r} are classes and are read as text.")
        values = np.array([f"{value:g}" for value in values.tolist()])
        distinct, counts = np.unique(values, return_counts=True)
    return _classes(values, distinct, counts, kept, name, task, notes)


def _classes(
    values: np.ndarray,
    classes: np.ndarray,
    counts: np.ndarray,
    kept: np.ndarray,
    name: str,
    task: str,
    notes: list[str],
) -> Target:
    if len(classes) > MOST_CLASSES:
        raise ValueError(
            f"the target {name!r} has {len(classes):,} classes in {len(values):,} rows; if it is a number"
            " make it one and use task='regression', if it tells rows apart choose another target"
        )
    alone = classes[counts == 1]
    if len(alone):
        shown = ", ".join(repr(str(label)) for label in alone[:3])
        raise ValueError(
            f"class {shown}{', ...' if len(alone) > 3 else ''} of {name!r} has one row, which cannot be both"
            " learned from and tested on: drop it or merge it with another class"
        )
    if task == "binary" and len(classes) != 2:
        raise ValueError(
            f"task='binary', but {name!r} has {len(classes)} classes; use task='multiclass'"
        )
    few = classes[counts < 10]
    if len(few):
        shown = ", ".join(repr(str(label)) for label in few[:5])
        notes.append(f"Fewer than 10 rows of {name!r}: {shown}; what is said of them is uncertain.")
    positive = int(np.argmin(counts)) if len(classes) == 2 and counts[0] != counts[1] else 1
    kind: Task = "binary" if len(classes) == 2 else "multiclass"
    return Target(name, values, kept, kind, classes, positive, notes)


def _is_regression(
    values: np.ndarray, distinct: np.ndarray, name: str, task: str, notes: list[str]
) -> bool:
    is_number = values.dtype.kind in "iuf"
    if task == "regression":
        if not is_number and values.dtype.kind != "b":
            raise ValueError(
                f"task='regression', but {name!r} has values such as {distinct[0]!s}, which are not numbers"
            )
        return True
    if task != "auto" or not is_number or len(distinct) == 2:
        return False
    whole = bool(np.all(distinct == np.round(distinct)))
    if whole and len(distinct) <= MOST_CLASSES_OF_NUMBERS and len(values) >= 5 * len(distinct):
        notes.append(
            f"{name!r} has {len(distinct)} whole numbers as values and is taken for classes;"
            " task='regression' takes it for a number."
        )
        return False
    return True


def _plain(series: Any, name: str, notes: list[str]) -> np.ndarray:
    """Booleans, whole numbers, numbers or text as a NumPy array."""
    dtype = series.dtype
    kind = getattr(dtype, "kind", "O")
    if kind in "mM":
        raise ValueError(
            f"the target {name!r} is a date or a duration; make it a number (days since ...) or classes"
        )
    if kind == "c":
        raise ValueError(f"the target {name!r} has complex numbers, which cannot be predicted")
    if kind == "b":
        return series.to_numpy(dtype=bool)
    if kind in "iu":
        return series.to_numpy(dtype=np.int64)
    if kind == "f":
        return _finite(series.to_numpy(dtype=float), name)
    items = series.tolist()
    kinds = {type(item) for item in items}
    if kinds <= {bool, np.bool_}:
        return np.array(items, dtype=bool)
    if all(issubclass(one, int | np.integer) for one in kinds):
        return np.array(items, dtype=np.int64)
    if all(issubclass(one, int | float | np.number) for one in kinds):
        return _finite(np.array(items, dtype=float), name)
    if not all(issubclass(one, str) for one in kinds):
        notes.append(f"{name!r} has values of several types; all are read as text.")
    return np.array([str(item) for item in items])


def _finite(values: np.ndarray, name: str) -> np.ndarray:
    wrong = int((~np.isfinite(values)).sum())
    if wrong:
        raise ValueError(
            f"the target {name!r} is infinite in {wrong} rows; drop them or put a number in their place"
        )
    if np.all(values == np.round(values)) and np.abs(values).max() < 2**53:
        return values.astype(np.int64)  # whole numbers that missing values had made fractions
    return values
