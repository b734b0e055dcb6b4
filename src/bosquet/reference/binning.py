"""From values to bins.

A histogram wants small integers. A quantitative column is cut at edges e_1 < e_2 < ..., chosen so
that the bins weigh about the same; x lies in bin 1 + #{edges below x}, so "bin <= b" says the same
as "x <= e_b". A category of code c lies in bin 1 + c. Bin 0 is for missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


ROWS_PER_BIN = 3


def between(a: float, b: float) -> float:
    """A number e with a <= e < b: the middle, or a where the middle is no such number."""
    with np.errstate(invalid="ignore"):  # the middle of -inf and +inf is no number
        middle = np.float64(a) / 2 + np.float64(b) / 2
    return float(middle) if a <= middle < b else a


def quantile_edges(values: ArrayLike, weights: ArrayLike | None, max_bins: int) -> Array:
    """The edges of at most `max_bins` bins of about equal weight; NaN are left out.

    With no more distinct values than bins, each value has a bin of its own. Otherwise there are no
    more bins than a third of the rows, filled from the left. A bin's share is what is left, divided
    by the bins that are left: so one heavy value fills a bin alone, and those behind it share the
    rest evenly. A bin is closed where going on to the next value would overshoot the share by more
    than stopping falls short of it.

    >>> quantile_edges([3, 1, 2, 2, np.nan], None, max_bins=255)
    array([1.5, 2.5])
    """
    x = np.asarray(values, dtype=np.float64) + 0.0  # -0 and +0 are one value
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    present = ~np.isnan(x)
    distinct, place = np.unique(x[present], return_inverse=True)
    weight = np.bincount(place, weights=w[present], minlength=len(distinct))
    if len(distinct) <= max_bins:
        return np.array([between(a, b) for a, b in pairwise(distinct)])

    max_bins = min(max_bins, max(int(present.sum()) // ROWS_PER_BIN, 2))
    edges: list[float] = []
    left = float(np.cumsum(weight)[-1])
    in_bin = 0.0
    for i in range(len(distinct) - 1):
        bins_left = max_bins - len(edges)
        if bins_left <= 1:
            break
        in_bin += weight[i]
        if in_bin + weight[i + 1] / 2 >= left / bins_left:
            edges.append(between(distinct[i], distinct[i + 1]))
            left -= in_bin
            in_bin = 0.0
    return np.array(edges)


@dataclass
class Column:
    """How one column is put into bins: by edges, or by codes if it is categorical."""

    edges: Array
    categories: int = 0
    has_missing: bool = False

    @property
    def categorical(self) -> bool:
        return self.categories > 0

    @property
    def n_bins(self) -> int:
        """The bin of missing values included."""
        return 1 + (self.categories if self.categorical else len(self.edges) + 1)

    @property
    def splittable(self) -> bool:
        """Whether there are two bins with something in them."""
        return self.n_bins > 2 or self.has_missing

    def bins_of(self, values: ArrayLike) -> NDArray[np.int64]:
        """Codes that are negative or were not seen in training count as missing."""
        x = np.asarray(values, dtype=np.float64)
        if self.categorical:
            known = (x >= 0) & (x < self.categories)
            return np.where(known, np.where(known, x, 0).astype(np.int64) + 1, 0)
        return np.where(np.isnan(x), 0, 1 + np.searchsorted(self.edges, x, side="left"))


@dataclass
class Table:
    """A binned table: the columns, and the bin of each row in each of them."""

    columns: list[Column]
    bins: NDArray[np.int64]  # (rows, columns)


def bin_table(
    data: ArrayLike,
    categories: list[int] | None = None,
    weights: ArrayLike | None = None,
    max_bins: int = 255,
) -> Table:
    """Learns the bins of a matrix from all its rows, and applies them."""
    matrix = np.asarray(data, dtype=np.float64)
    columns = []
    for j, x in enumerate(matrix.T):
        levels = categories[j] if categories else 0
        if levels > 0:
            columns.append(Column(np.zeros(0), levels, bool(np.any(~(x >= 0)))))
        else:
            edges = quantile_edges(x, weights, max_bins)
            columns.append(Column(edges, 0, bool(np.any(np.isnan(x)))))
    bins = [column.bins_of(x) for column, x in zip(columns, matrix.T, strict=True)]
    return Table(columns, np.stack(bins, axis=1) if bins else np.zeros((len(matrix), 0), np.int64))
