"""Coverage within each group of rows: whose calibration rows speak for whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


def check_groups(groups: Any, n_rows: int) -> np.ndarray:
    values = np.asarray(groups)
    if values.shape != (n_rows,):
        raise ValueError(f"groups has shape {values.shape}, but there are {n_rows} rows")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"groups[{row}] is {values[row]}; every row needs a group")
    return values


class Groups:
    """The groups of the calibration rows; without any, all rows are one group."""

    def __init__(self, values: np.ndarray | None):
        self.values = values
        self.names = None if values is None else np.unique(values)

    def parts(
        self, asked: Any, n_rows: int
    ) -> Iterator[tuple[np.ndarray | slice, np.ndarray | slice, str]]:
        """For each group asked for: rows that ask, calibration rows that speak for them, its name."""
        if self.values is None or self.names is None:
            if asked is not None:
                raise ValueError("groups were given, but the model was fitted without groups")
            yield slice(None), slice(None), ""
            return
        if asked is None:
            raise ValueError("the model was fitted with groups: say each row's group, groups=...")
        wanted = check_groups(asked, n_rows)
        unknown = wanted[~np.isin(wanted, self.names)]
        if unknown.size:
            raise ValueError(
                f"groups holds {unknown.tolist()[0]!r}, which no calibration row has; known are"
                f" {self.names.tolist()}"
            )
        for name in np.unique(wanted):
            whose = f" in the group {np.asarray(name).tolist()!r}"
            yield np.flatnonzero(wanted == name), np.flatnonzero(self.values == name), whose
