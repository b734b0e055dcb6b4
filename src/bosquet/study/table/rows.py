"""Rows of a table with their target and their design, which fits and scores need together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._sklearn import rows_of
from bosquet.study.table.design import Design


@dataclass(frozen=True)
class TableRows:
    """Features `X`, target `y` and design of some rows."""

    X: Any
    y: np.ndarray
    design: Design = field(default_factory=Design)

    @property
    def weight(self) -> np.ndarray | None:
        """The sample weights, or None."""
        return self.design.weight

    def take(self, indices: np.ndarray) -> TableRows:
        """Return the rows with these indices."""
        return TableRows(rows_of(self.X, indices), self.y[indices], self.design.take(indices))

    def __len__(self) -> int:
        return len(self.y)
