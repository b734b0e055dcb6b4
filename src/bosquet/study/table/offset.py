"""The offset of a table: the exposure over which a count was collected, as new tables have it too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bosquet._suggestions import hint
from bosquet.tables.columns import as_numbers, plan_column

# e to the 30 is 10^13: beyond it a column is no logarithm, but most likely the exposure itself.
LARGEST = 30.0


@dataclass(frozen=True)
class OffsetColumn:
    """A column that is added to the logarithm of the mean, or whose logarithm is (an exposure)."""

    name: str
    kind: Literal["offset", "exposure"]

    @property
    def where(self) -> str:
        return f"the {self.kind} column {self.name!r}"

    def read(self, frame: Any) -> np.ndarray:
        """The values of a table, checked; a ValueError of one line for what cannot be used."""
        names = [str(name) for name in frame.columns]
        if self.name not in names:
            raise ValueError(f"{self.where} is not in the table; {hint(self.name, names)}")
        return self.checked(frame.iloc[:, names.index(self.name)])

    def checked(self, series: Any) -> np.ndarray:
        """The values of a column, each a number that can be used."""
        missing = int(series.isna().sum())
        if missing:
            rows = "a row" if missing == 1 else f"{missing:,} rows"
            raise ValueError(f"{self.where} is missing in {rows}: fill it in or drop such rows")
        values = self._numbers(series)
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise ValueError(f"{self.where} is not a finite number in row {series.index[wrong[0]]}")
        if self.kind == "exposure":
            wrong = np.flatnonzero(values <= 0)
            means = "an exposure must be positive"
        else:
            wrong = np.flatnonzero(np.abs(values) > LARGEST)
            means = (
                "an offset is added to the logarithm of the mean, so that its power of e is an exposure;"
                " give the exposure itself as exposure"
            )
        if wrong.size:
            first = int(wrong[0])
            raise ValueError(
                f"{self.where} is {values[first]:g} in row {series.index[first]}: {means}"
            )
        return values

    def _numbers(self, series: Any) -> np.ndarray:
        if series.dtype.kind in "iuf":
            return np.asarray(as_numbers(series), dtype=float)
        plan, _ = plan_column(self.name, series)
        if plan.kind != "number":
            raise ValueError(f"{self.where} does not hold numbers")
        return np.asarray(plan.apply(series)[0][0], dtype=float)

    def exposure(self, X: Any) -> np.ndarray:
        """The exposure of each row of a tidy table, which has the column as it was read."""
        values = np.asarray(X[self.name], dtype=float)
        return values if self.kind == "exposure" else np.exp(values)

    def features(self, X: Any) -> Any:
        """A tidy table without the column."""
        return X.drop(columns=self.name)
