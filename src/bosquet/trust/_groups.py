"""Coverage within each group: which calibration rows are used for which new rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from bosquet._suggestions import first_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# Limits the memory of the methods that compare every new row with every calibration row.
_MAX_NUMBERS_IN_MEMORY = 1 << 22


def chunks_of_rows(rows: np.ndarray, numbers_per_row: int) -> Iterator[np.ndarray]:
    """Yield the rows in chunks that limit the memory, if each takes `numbers_per_row` numbers."""
    step = max(1, _MAX_NUMBERS_IN_MEMORY // numbers_per_row)
    for begin in range(0, rows.size, step):
        yield rows[begin : begin + step]


def check_groups(groups: ArrayLike | None, n_rows: int) -> np.ndarray:
    """Return groups as an array of shape (rows,) without missing values."""
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {values.shape}, but X has {n_rows} rows; pass one group per row"
        )
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"groups[{row}] is {values[row]}; groups must not contain NaN or infinity")
    return values


class Groups:
    """The groups of the calibration rows; without groups, all rows form one group."""

    def __init__(self, values: np.ndarray | None):
        self.values = values
        self.names = None if values is None else np.unique(values)

    def partition(
        self, groups: ArrayLike | None, n_rows: int
    ) -> Iterator[tuple[np.ndarray | slice, np.ndarray | slice, str]]:
        """Yield, per group: its new rows, its calibration rows, and text that names it in messages."""
        if self.values is None or self.names is None:
            if groups is not None:
                raise ValueError(
                    "groups was passed, but the model was fitted without groups; omit groups, or pass"
                    " groups to fit as well"
                )
            yield slice(None), slice(None), ""
            return
        if groups is None:
            raise ValueError("the model was fitted with groups; pass groups, one per row of X")
        new_groups = check_groups(groups, n_rows)
        unknown = new_groups[~np.isin(new_groups, self.names)]
        if unknown.size:
            raise ValueError(
                f"groups contains {unknown.tolist()[0]!r}, which no calibration row has; known groups are"
                f" {first_names(self.names)}"
            )
        for name in np.unique(new_groups):
            where = f" in group {np.asarray(name).tolist()!r}"
            yield np.flatnonzero(new_groups == name), np.flatnonzero(self.values == name), where
