"""The offset column of a table: an exposure over which counts were collected, or its logarithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from bosquet._suggestions import hint
from bosquet.tables.conversion import as_numbers, floats_of
from bosquet.tables.planning import plan_column

# exp(30) is about 10^13: a larger value is most likely an exposure, not its logarithm.
LARGEST = 30.0


@dataclass(frozen=True)
class OffsetColumn:
    """Column of an offset, added to the logarithm of the predicted mean, or of an exposure, exp(offset)."""

    name: str
    kind: Literal["offset", "exposure"]

    @property
    def where(self) -> str:
        return f"the {self.kind} column {self.name!r}"

    def read(self, frame: Any) -> np.ndarray:
        """Return the checked values of the column of a table; raise ValueError if they cannot be used."""
        names = [str(name) for name in frame.columns]
        if self.name not in names:
            raise ValueError(f"{self.where} is not in the table; {hint(self.name, names)}")
        return self.checked(frame.iloc[:, names.index(self.name)])

    def checked(self, series: Any) -> np.ndarray:
        """Return the values as numbers, after checking that each can be used."""
        missing = int(series.isna().sum())
        if missing:
            rows = "1 row" if missing == 1 else f"{missing:,} rows"
            raise ValueError(
                f"{self.where} has missing values in {rows}; fill them in or drop these rows"
            )
        values = self._to_numbers(series)
        wrong = np.flatnonzero(~np.isfinite(values))
        if wrong.size:
            raise ValueError(
                f"{self.where} is not a finite number in row {series.index[wrong[0]]}; correct or drop such"
                " rows"
            )
        if self.kind == "exposure":
            wrong = np.flatnonzero(values <= 0)
            rule = "an exposure must be positive"
        else:
            wrong = np.flatnonzero(np.abs(values) > LARGEST)
            rule = (
                f"an offset is a logarithm and must be at most {LARGEST:g} in absolute value; if the column"
                " holds the exposure itself, pass it as exposure"
            )
        if wrong.size:
            first = int(wrong[0])
            raise ValueError(
                f"{self.where} is {values[first]:g} in row {series.index[first]}; {rule}"
            )
        return values

    def _to_numbers(self, series: Any) -> np.ndarray:
        if series.dtype.kind in "iuf":
            return np.asarray(as_numbers(series), dtype=float)
        plan, _ = plan_column(self.name, series)
        if plan.kind != "number":
            raise ValueError(f"{self.where} is not numeric; use a column of numbers")
        return floats_of(plan, series)

    def exposure(self, X: Any) -> np.ndarray:
        """Return the exposure of each row of a tidy table, which contains the column unchanged."""
        values = np.asarray(X[self.name], dtype=float)
        return values if self.kind == "exposure" else np.exp(values)

    def features(self, X: Any) -> Any:
        """Return a tidy table without the column."""
        return X.drop(columns=self.name)
