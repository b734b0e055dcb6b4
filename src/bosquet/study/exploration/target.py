"""The target as exploring sees it: codes of classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study.record import Task

# Changes between neighbouring rows, in those of rows at random; share of steps that go one way.
SORTED_CLASSES, SORTED_NUMBERS = 0.05, 0.9


@dataclass
class ExploredTarget:
    """`codes` of `classes`, or `numbers`."""

    name: str
    task: Task
    classes: list[str]
    codes: np.ndarray
    numbers: np.ndarray

    @property
    def is_classes(self) -> bool:
        return self.task != "regression"

    @property
    def counts(self) -> np.ndarray:
        """Rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def is_sorted(self) -> bool:
        """Whether the rows come class by class, or by the numbers."""
        if self.is_classes:
            share = self.counts / len(self.codes)
            changes = float((np.diff(self.codes) != 0).mean())
            return changes < SORTED_CLASSES * float(1 - (share**2).sum())
        steps = np.diff(self.numbers)
        return bool(max((steps >= 0).mean(), (steps <= 0).mean()) >= SORTED_NUMBERS)

    def take(self, rows: np.ndarray) -> ExploredTarget:
        """Some of the rows."""
        codes = self.codes[rows] if self.is_classes else self.codes
        numbers = self.numbers if self.is_classes else self.numbers[rows]
        return ExploredTarget(self.name, self.task, self.classes, codes, numbers)


def target_of(series: Any, name: str, task: Task) -> ExploredTarget:
    """A column without missing values as a target."""
    nothing = np.zeros(0)
    if task == "regression":
        return ExploredTarget(name, task, [], nothing, series.to_numpy(dtype=float))
    classes, codes = np.unique(np.asarray(series.tolist()), return_inverse=True)
    labels = [str(label) for label in classes.tolist()]
    return ExploredTarget(name, task, labels, codes.astype(np.intp), nothing)
