"""All stumps on a table, and the stump with the largest agreement with given signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from bosquet._types import TableLike


@dataclass(frozen=True)
class SignStump:
    """A stump that predicts `sign` above the threshold and -`sign` elsewhere; constant if `feature` is -1."""

    feature: int
    threshold: float
    sign: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if self.feature < 0:
            return np.full(X.shape[0], float(self.sign))
        return np.where(X[:, self.feature] > self.threshold, self.sign, -self.sign).astype(float)


class Stumps:
    """All stumps with different predictions on the rows of a table, and the two constant ones."""

    def __init__(self, X: TableLike) -> None:
        table = np.asarray(X, dtype=float)
        if table.ndim != 2 or table.size == 0:
            raise ValueError(
                f"X has shape {table.shape}; pass a non-empty table of shape (n_samples, n_features)"
            )
        if not np.isfinite(table).all():
            row, column = np.argwhere(~np.isfinite(table))[0]
            raise ValueError(
                f"X[{row}, {column}] is {table[row, column]}; stumps need finite values, so impute or drop it"
            )
        self.order = np.argsort(table, axis=0, kind="stable").T
        self.sorted = np.take_along_axis(table.T, self.order, axis=1)
        # A cut after the k-th value separates rows only if the next value is larger.
        self.cuts = self.sorted[:, 1:] > self.sorted[:, :-1]

    @property
    def n_rules(self) -> int:
        """Upper bound on the number of different rules; two features may give the same rule."""
        return 2 * int(self.cuts.sum()) + 2

    def best(self, signs: np.ndarray) -> tuple[float, SignStump]:
        """Return the largest Σ signs_i h(x_i) and the first stump that attains it, constants first."""
        stumps = self.best_of_each(signs)
        value, stump = stumps[0]
        for size, other in stumps[1:]:
            # A difference of the size of rounding errors is a tie, which the earlier stump wins.
            if size > value * (1 + 1e-12):
                value, stump = size, other
        return value, stump

    def best_of_each(self, signs: np.ndarray) -> list[tuple[float, SignStump]]:
        """Return the best constant rule and the best stump of each feature, with Σ signs_i h(x_i).

        One pass over each sorted column is enough. With S the sum of all signs and P_k the sum over the k
        smallest values, the stump that predicts +1 above the k-th value has the sum S - 2 P_k, and its
        negative -(S - 2 P_k).
        """
        total = float(signs.sum())
        stumps = [(abs(total), SignStump(-1, np.inf, 1 if total >= 0 else -1))]
        gains = total - 2 * np.cumsum(signs[self.order[:, :-1]], axis=1)
        sizes = np.where(self.cuts, np.abs(gains), -1.0)
        for feature in np.flatnonzero(self.cuts.any(axis=1)):
            cut = int(sizes[feature].argmax())
            low, high = self.sorted[feature, cut], self.sorted[feature, cut + 1]
            middle = low + (high - low) / 2
            threshold = float(middle if middle < high else low)
            sign = 1 if gains[feature, cut] > 0 else -1
            stump = SignStump(int(feature), threshold, sign)
            stumps.append((float(sizes[feature, cut]), stump))
        return stumps
