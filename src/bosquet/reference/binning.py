"""Binning: replacing the values of a column by small integers, for histograms.

A numeric column is cut at edges e_1 < e_2 < ..., chosen so that the bins have about the same weight. The
value x has bin 1 + (number of edges below x), so that "bin <= b" is the same condition as "x <= e_b". A
category with code c has bin 1 + c. Bin 0 holds the missing values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Least number of rows per bin if there are more distinct values than bins.
ROWS_PER_BIN = 3


def edge_between(a: float, b: float) -> float:
    """Return a number e with a <= e < b: the midpoint, or a if rounding puts the midpoint outside."""
    with np.errstate(invalid="ignore"):  # the midpoint of -inf and +inf is NaN
        middle = np.float64(a) / 2 + np.float64(b) / 2
    return float(middle) if a <= middle < b else a


def quantile_edges(values: ArrayLike, weights: ArrayLike | None, max_bins: int) -> Array:
    """Return the edges of at most `max_bins` bins of about equal weight; NaN is ignored.

    If there are no more distinct values than bins, each value has its own bin. Otherwise there is at most
    one bin per three rows, and the bins are filled from the left. The target weight of a bin is the
    remaining weight divided by the number of remaining bins. A single heavy value can therefore fill a bin,
    and the remaining weight is still divided evenly. A bin ends where including the next value would
    exceed the target by more than stopping falls short of it.

    >>> quantile_edges([3, 1, 2, 2, np.nan], None, max_bins=255)
    array([1.5, 2.5])
    """
    x = np.asarray(values, dtype=np.float64) + 0.0  # -0 and +0 are one value
    w = np.ones_like(x) if weights is None else np.asarray(weights, dtype=np.float64)
    present = ~np.isnan(x)
    distinct, index = np.unique(x[present], return_inverse=True)
    weight = np.bincount(index, weights=w[present], minlength=len(distinct))
    if len(distinct) <= max_bins:
        return np.array([edge_between(a, b) for a, b in pairwise(distinct)])

    max_bins = min(max_bins, max(int(present.sum()) // ROWS_PER_BIN, 2))
    edges: list[float] = []
    remaining = float(np.cumsum(weight)[-1])
    in_bin = 0.0
    for i in range(len(distinct) - 1):
        bins_left = max_bins - len(edges)
        if bins_left <= 1:
            break
        in_bin += weight[i]
        if in_bin + weight[i + 1] / 2 >= remaining / bins_left:
            edges.append(edge_between(distinct[i], distinct[i + 1]))
            remaining -= in_bin
            in_bin = 0.0
    return np.array(edges)


@dataclass
class BinnedColumn:
    """Bins of a column: edges if it is numeric, the number of categories if it is categorical."""

    edges: Array
    categories: int = 0
    has_missing: bool = False

    @property
    def categorical(self) -> bool:
        return self.categories > 0

    @property
    def n_bins(self) -> int:
        """Number of bins, including bin 0 for missing values."""
        return 1 + (self.categories if self.categorical else len(self.edges) + 1)

    @property
    def splittable(self) -> bool:
        """Whether at least two bins can contain rows."""
        return self.n_bins > 2 or self.has_missing

    def bins_of(self, values: ArrayLike) -> NDArray[np.int64]:
        """Return the bin of each value; unknown and negative category codes count as missing."""
        x = np.asarray(values, dtype=np.float64)
        if self.categorical:
            is_level = (x >= 0) & (x < self.categories)
            return np.where(is_level, np.where(is_level, x, 0).astype(np.int64) + 1, 0)
        return np.where(np.isnan(x), 0, 1 + np.searchsorted(self.edges, x, side="left"))


@dataclass
class BinnedTable:
    """A binned table: its columns, and the bin of each row in each column."""

    columns: list[BinnedColumn]
    bins: NDArray[np.int64]  # (rows, columns)


def bin_table(
    data: ArrayLike,
    categories: list[int] | None = None,
    weights: ArrayLike | None = None,
    max_bins: int = 255,
) -> BinnedTable:
    """Compute the bins of a matrix from all its rows, and apply them.

    `categories[j]` is the number of categories of column j, 0 if it is numeric.
    """
    matrix = np.asarray(data, dtype=np.float64)
    columns = []
    for j, x in enumerate(matrix.T):
        levels = categories[j] if categories else 0
        if levels > 0:
            columns.append(BinnedColumn(np.zeros(0), levels, bool(np.any(~(x >= 0)))))
        else:
            edges = quantile_edges(x, weights, max_bins)
            columns.append(BinnedColumn(edges, 0, bool(np.any(np.isnan(x)))))
    bins = [column.bins_of(x) for column, x in zip(columns, matrix.T, strict=True)]
    no_columns = np.zeros((len(matrix), 0), np.int64)
    return BinnedTable(columns, np.stack(bins, axis=1) if bins else no_columns)
