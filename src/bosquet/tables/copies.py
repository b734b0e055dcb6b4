"""Rows that are copies of an earlier one: they must not hide that a column tells rows apart."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

MOST_COLUMNS = 1000  # compared; rows alike in so many are copies


class Originals:
    """The rows of a table that are no copies, looked for when they are first asked for."""

    def __init__(self, frame: Any):
        self.frame = frame

    @cached_property
    def rows(self) -> np.ndarray:
        """Which rows are no copy of an earlier one."""
        some = self.frame.iloc[:, :MOST_COLUMNS]
        try:
            copies: np.ndarray = some.duplicated().to_numpy()
        except TypeError:  # lists and the like
            copies = some.astype(str).duplicated().to_numpy()
        return ~copies

    def of(self, values: np.ndarray) -> np.ndarray:
        """A column's values in those rows."""
        return values[self.rows]
