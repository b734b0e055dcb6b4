"""How long a fit takes, roughly: what a budget is shared out by, and corrected by a trial fit."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bosquet.study.methods.method import TableShape

FEWEST_ROWS = 200


@dataclass(frozen=True)
class FitCost:
    """Seconds of a fit = fixed + unit · (rows/1000)^a · (columns/10)^b · classes^c.

    Columns are those of the table as it came, or with `encoded` those after every level has its own.
    The numbers were measured on two cores; only their proportions matter once a trial fit has told
    how fast this machine is.
    """

    unit: float
    rows: float = 1.0
    columns: float = 1.0
    classes: float = 0.0
    fixed: float = 0.002
    encoded: bool = True
    most: int | None = None  # rows beyond which memory runs out, whatever the time

    def seconds(self, shape: TableShape) -> float:
        """Of one fit to all rows of a table of this shape."""
        return self.fixed + self._slope(shape) * (shape.n_rows / 1000) ** self.rows

    def __call__(self, shape: TableShape, seconds: float) -> int:
        """The number of rows beyond which one fit takes longer than this; no less than a few hundred."""
        spare = max(seconds - self.fixed, 0.0)
        rows = 1000 * (spare / self._slope(shape)) ** (1 / self.rows)
        rows = min(rows, shape.n_rows, self.most or shape.n_rows)
        return int(max(rows, min(FEWEST_ROWS, shape.n_rows)))

    def _slope(self, shape: TableShape) -> float:
        raw = shape.n_numbers + shape.n_categories
        columns = min(shape.n_indicators, 2000) if self.encoded else raw
        return (
            self.unit
            * (max(columns, 1) / 10) ** self.columns
            * max(shape.n_classes, 1) ** self.classes
        )


def rows_by_model(affordable: object, shape: TableShape, seconds: float) -> int:
    """What a method's own cost model says, for a table of this shape with rows without end."""
    endless = replace(shape, n_rows=10**9)
    return int(affordable(endless, seconds))  # type: ignore[operator]


def modelled_seconds(affordable: object, shape: TableShape, rows: int) -> float:
    """The seconds for which the cost model affords just so many rows, by bisection."""
    low, high = 1e-6, 1e6
    for _ in range(60):
        middle = (low * high) ** 0.5
        if rows_by_model(affordable, shape, middle) < rows:
            low = middle
        else:
            high = middle
    return high
