"""The target as exploring sees it: codes of classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study.record import Task


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
