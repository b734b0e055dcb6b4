"""All stumps of a table, and the one that agrees best with given signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Stump:
    """`sign` where the feature lies above the threshold, -sign elsewhere; -1: `sign` everywhere."""

    feature: int
    threshold: float
    sign: int

    def __call__(self, X: np.ndarray) -> np.ndarray:
        if self.feature < 0:
            return np.full(X.shape[0], float(self.sign))
        return np.where(X[:, self.feature] > self.threshold, self.sign, -self.sign).astype(float)


class Stumps:
    """Every stump that tells some rows of a table apart, and the two constant rules."""

    def __init__(self, X: Any) -> None:
        table = np.asarray(X, dtype=float)
        if table.ndim != 2 or table.size == 0:
            raise ValueError(f"X must have shape (n_samples, n_features), got {table.shape}")
        if not np.isfinite(table).all():
            row, column = np.argwhere(~np.isfinite(table))[0]
            raise ValueError(
                f"X[{row}, {column}] is {table[row, column]}; stumps need finite values"
            )
        self.order = np.argsort(table, axis=0, kind="stable").T
        self.sorted = np.take_along_axis(table.T, self.order, axis=1)
        # A cut after the k-th value parts the rows only where the next value is larger.
        self.cuts = self.sorted[:, 1:] > self.sorted[:, :-1]

    @property
    def n_rules(self) -> int:
        """How many rules there are, at the most; features may give the same one."""
        return 2 * int(self.cuts.sum()) + 2

    def best(self, signs: np.ndarray) -> tuple[float, Stump]:
        """The largest Σ signs_i h(x_i), and the first stump that has it: constants, then features."""
        found = self.best_of_each(signs)
        value, stump = found[0]
        for size, other in found[1:]:
            # Sums in another order differ in the last digits: the earlier rule wins a tie.
            if size > value * (1 + 1e-12):
                value, stump = size, other
        return value, stump

    def best_of_each(self, signs: np.ndarray) -> list[tuple[float, Stump]]:
        """The best constant rule, and the best stump of each feature that has any.

        One pass over the sorted columns: with S the sum of all and P_k that of the k smallest, the
        stump that says +1 above the cut gives S - 2 P_k, and its opposite the same with a minus.
        """
        total = float(signs.sum())
        found = [(abs(total), Stump(-1, np.inf, 1 if total >= 0 else -1))]
        gains = total - 2 * np.cumsum(signs[self.order[:, :-1]], axis=1)
        sizes = np.where(self.cuts, np.abs(gains), -1.0)
        for feature in np.flatnonzero(self.cuts.any(axis=1)):
            place = int(sizes[feature].argmax())
            low, high = self.sorted[feature, place], self.sorted[feature, place + 1]
            middle = low + (high - low) / 2
            threshold = float(middle if middle < high else low)
            sign = 1 if gains[feature, place] > 0 else -1
            found.append((float(sizes[feature, place]), Stump(int(feature), threshold, sign)))
        return found
