"""The data and options that all trials of a study share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import Metric
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import Splits
from bosquet.study.table.frames import take
from bosquet.study.table.rows import TableRows
from bosquet.study.table.target import StudyTarget
from bosquet.study.tuning.validation import supports_scheme


@dataclass
class StudyContext:
    """The data, metrics and options that all trials of a study share."""

    X: Any  # pandas frame
    target: StudyTarget
    metric: Metric
    metrics: list[Metric]
    shape: TableShape  # of the whole table
    random_state: int
    n_jobs: int | None = None
    tune_by: dict[str, str] = field(default_factory=dict)  # requested validation scheme per method
    candidates: dict[str, Candidate] = field(default_factory=dict)  # chosen on the first split
    design: Design = field(default_factory=Design)

    @property
    def splits(self) -> Splits:
        return Splits(self.design, self.y, self.random_state, self.target.is_classes)

    def rows(self, indices: np.ndarray | None = None) -> TableRows:
        """Return some rows of the table, or all of them without a copy."""
        if indices is None:
            return TableRows(self.X, self.y, self.design)
        return TableRows(take(self.X, indices), self.y[indices], self.design.take(indices))

    def weight(self, indices: np.ndarray) -> np.ndarray | None:
        """Return the weights of some rows, or None."""
        return None if self.design.weight is None else self.design.weight[indices]

    def scheme(self, method: Method, shape: TableShape) -> str | None:
        """Return the requested validation scheme of a method; None for its default.

        The default is also used if the method does not support the requested scheme.
        """
        by = self.tune_by.get(method.name)
        return (
            by if by is not None and supports_scheme(method, method.candidates(shape), by) else None
        )

    @property
    def y(self) -> np.ndarray:
        return self.target.y
