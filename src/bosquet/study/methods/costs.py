"""Rough models of the time of a fit, by which the budget is divided; trial fits correct them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bosquet.study.methods.method import TableShape

MIN_AFFORDABLE_ROWS = 200


@dataclass(frozen=True)
class FitCost:
    """Seconds of a fit = fixed + unit · (rows/1000)^a · (columns/10)^b · classes^c, with the exponents below.

    Columns are those of the table or, with `encoded`, those after one-hot encoding. The constants were
    measured on two cores. Once a trial fit has measured the speed of the machine, only their ratios matter.
    """

    unit: float
    rows_exponent: float = 1.0
    columns_exponent: float = 1.0
    classes_exponent: float = 0.0
    fixed: float = 0.002
    encoded: bool = True
    max_rows: int | None = None  # because of memory

    def __call__(self, shape: TableShape, seconds: float) -> int:
        """Return the maximum number of rows that one fit can use in this time, at least a few hundred."""
        spare = max(seconds - self.fixed, 0.0)
        rows = 1000 * (spare / self._slope(shape)) ** (1 / self.rows_exponent)
        rows = min(rows, shape.n_rows, self.max_rows or shape.n_rows)
        return int(max(rows, min(MIN_AFFORDABLE_ROWS, shape.n_rows)))

    def _slope(self, shape: TableShape) -> float:
        raw = shape.n_numbers + shape.n_categories
        columns = min(shape.n_indicators, 2000) if self.encoded else raw
        return (
            self.unit
            * (max(columns, 1) / 10) ** self.columns_exponent
            * max(shape.n_classes, 1) ** self.classes_exponent
        )


def rows_by_model(affordable: object, shape: TableShape, seconds: float) -> int:
    """Return the rows that a cost model allows for a table of this shape with unlimited rows."""
    unlimited = replace(shape, n_rows=10**9)
    return int(affordable(unlimited, seconds))  # type: ignore[operator]


def modelled_seconds(affordable: object, shape: TableShape, n_rows: int) -> float:
    """Return the seconds in which the cost model can fit this many rows, by bisection."""
    if isinstance(affordable, FitCost):  # which allows so many rows in any time
        n_rows = max(n_rows, MIN_AFFORDABLE_ROWS + 1)
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = (low * high) ** 0.5
        if rows_by_model(affordable, shape, middle) < n_rows:
            low = middle
        else:
            high = middle
    return high
