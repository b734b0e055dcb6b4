"""Unique rows of a table, so that an identifier is recognised although the table has duplicate rows."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

MAX_COLUMNS = 1000  # compared; rows that are equal in these are duplicates


class UniqueRows:
    """The rows of a table that do not repeat an earlier row, computed on first use."""

    def __init__(self, frame: Any):
        self.frame = frame

    @cached_property
    def rows(self) -> np.ndarray:
        """Boolean mask of the rows that do not repeat an earlier row."""
        columns = self.frame.iloc[:, :MAX_COLUMNS]
        try:
            duplicates: np.ndarray = columns.duplicated().to_numpy()
        except TypeError:  # unhashable values such as lists
            duplicates = columns.astype(str).duplicated().to_numpy()
        return ~duplicates

    def values_of(self, values: np.ndarray) -> np.ndarray:
        """Return the values of a column in these rows."""
        return values[self.rows]
