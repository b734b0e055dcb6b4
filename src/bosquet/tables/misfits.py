"""Columns of a batch none of whose values have the kind that they had in training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from bosquet.tables.errors import MisfitError

Result = TypeVar("Result")


class Misfits:
    """Reads batches as the whole table would be read.

    A column none of whose values has the kind of training is an error in a table. In a batch, which may have
    few values, they are missing.
    """

    def __init__(self) -> None:
        self._errors: dict[str, MisfitError] = {}
        self._fitting: set[str] = set()  # columns that had values of their kind in some batch

    def apply(self, function: Callable[[Any], Result], frame: Any) -> Result:
        """Apply a function to the frame of a batch; values of columns that do not fit are missing."""
        while True:
            try:
                result = function(frame)
                break
            except MisfitError as error:
                self._errors.setdefault(error.column, error)
                names = [name for name in frame.columns if name.strip() == error.column]
                frame = frame.assign(**dict.fromkeys(names))
        self._fitting |= {
            name.strip()
            for name in frame.columns
            if name.strip() not in self._fitting and frame[name].notna().any()
        }
        return result

    def check(self) -> None:
        """Raise the error of a column that had no value of its kind in any batch."""
        for column, error in self._errors.items():
            if column not in self._fitting:
                raise error
