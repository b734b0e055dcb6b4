"""The target for exploration: class codes or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study.record import Task

# A table is sorted by its classes if consecutive rows differ at most this often relative to random rows. It
# is sorted by a numeric target if at least this share of the steps has the same direction.
SORTED_CLASSES, SORTED_NUMBERS = 0.05, 0.9


@dataclass
class ExploredTarget:
    """The target: `codes` of `classes` for classification, `numbers` for regression."""

    name: str
    task: Task
    classes: list[str]
    codes: np.ndarray
    numbers: np.ndarray

    @property
    def is_classes(self) -> bool:
        """Whether the task is classification."""
        return self.task != "regression"

    @property
    def counts(self) -> np.ndarray:
        """Number of rows per class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def is_sorted(self) -> bool:
        """Whether the table is sorted by the target."""
        if self.is_classes:
            share = self.counts / len(self.codes)
            changes = float((np.diff(self.codes) != 0).mean())
            return changes < SORTED_CLASSES * float(1 - (share**2).sum())
        steps = np.diff(self.numbers)
        return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= SORTED_NUMBERS)

    def take(self, rows: np.ndarray) -> ExploredTarget:
        """Return the target of some rows."""
        codes = self.codes[rows] if self.is_classes else self.codes
        numbers = self.numbers if self.is_classes else self.numbers[rows]
        return ExploredTarget(self.name, self.task, self.classes, codes, numbers)


def target_of(series: Any, name: str, task: Task) -> ExploredTarget:
    """Return a column without missing values as a target."""
    empty = np.zeros(0)
    if task == "regression":
        return ExploredTarget(name, task, [], empty, series.to_numpy(dtype=float))
    classes, codes = np.unique(np.asarray(series.tolist()), return_inverse=True)
    labels = [str(label) for label in classes.tolist()]
    return ExploredTarget(name, task, labels, codes.astype(np.intp), empty)
