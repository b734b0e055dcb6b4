"""Intervals about numbers, from the residuals of rows that a model has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.trust._groups import Groups
from bosquet.trust._ranks import check_enough, conformal_quantile, upper_rank

# Numbers held at a time by the methods that compare every new row with every calibration row.
_AT_A_TIME = 1 << 22


class SplitIntervals:
    """Prediction ± the residual of rank ⌈(n + 1)c⌉ among the calibration rows."""

    def __init__(self, residual: np.ndarray, groups: np.ndarray | None):
        order = np.argsort(residual, kind="stable")
        self.residual = residual[order]
        self.groups = Groups(None if groups is None else groups[order])

    def interval(self, said: np.ndarray, coverage: float, groups: Any) -> np.ndarray:
        bounds = np.empty((2, said.size))  # all lower ones side by side, which is quicker to write
        for rows, speakers, whose in self.groups.parts(groups, said.size):
            reach = conformal_quantile(self.residual[speakers], coverage, whose)
            bounds[0, rows] = said[rows] - reach
            bounds[1, rows] = said[rows] + reach
        return bounds.T


class PlusIntervals:
    """Jackknife+: the model without row i says μ₋ᵢ(x), and missed row i by rᵢ.

    The interval goes from the value of rank ⌊(n + 1)(1 - c)⌋ among all μ₋ᵢ(x) - rᵢ to that of rank
    ⌈(n + 1)c⌉ among all μ₋ᵢ(x) + rᵢ.
    """

    def __init__(self, held_out: Any, residual: np.ndarray, groups: np.ndarray | None):
        self.held_out, self.residual, self.groups = held_out, residual, Groups(groups)

    def interval(self, said: np.ndarray, coverage: float, groups: Any) -> np.ndarray:
        """`said` is what all models say of the new rows, (models, rows)."""
        bounds = np.empty((said.shape[1], 2))
        every = np.arange(said.shape[1])
        for rows, speakers, whose in self.groups.parts(groups, said.shape[1]):
            residual = self.residual[speakers][:, None]
            check_enough(residual.size, coverage, whose)
            rank = upper_rank(residual.size, coverage)
            asked = every[rows]
            step = max(1, _AT_A_TIME // residual.size)
            for begin in range(0, asked.size, step):
                some = asked[begin : begin + step]
                centre = self.held_out.without(said[:, some], speakers)
                low, high = residual.size - rank, rank - 1
                bounds[some, 0] = np.partition(centre - residual, low, axis=0)[low]
                bounds[some, 1] = np.partition(centre + residual, high, axis=0)[high]
        return bounds


class QuantileIntervals:
    """Conformalised quantiles: [q_low - e, q_high + e], e of rank ⌈(n + 1)c⌉ among the calibration rows.

    How far a row lies outside its quantiles is max(q_low - y, y - q_high), negative inside them. Of
    several levels those next to (1 - c)/2 and (1 + c)/2 are taken.
    """

    def __init__(
        self, levels: np.ndarray, said: np.ndarray, y: np.ndarray, groups: np.ndarray | None
    ):
        self.levels, self.said, self.y, self.groups = levels, said, y, Groups(groups)

    def interval(self, said: np.ndarray, coverage: float, groups: Any) -> np.ndarray:
        pair = self._pair(coverage)
        low, high = np.sort(self.said[:, pair], axis=1).T
        outside = np.maximum(low - self.y, self.y - high)
        bounds = np.sort(said[:, pair], axis=1)  # levels may have crossed
        for rows, speakers, whose in self.groups.parts(groups, len(said)):
            reach = conformal_quantile(np.sort(outside[speakers]), coverage, whose)
            bounds[rows, 0] -= reach
            bounds[rows, 1] += reach
        # Quantiles that were too wide are drawn in, but not past each other.
        crossed = bounds[:, 0] > bounds[:, 1]
        bounds[crossed] = bounds[crossed].mean(axis=1, keepdims=True)
        return bounds

    def _pair(self, coverage: float) -> list[int]:
        low = int(np.abs(self.levels - (1 - coverage) / 2).argmin())
        high = int(np.abs(self.levels - (1 + coverage) / 2).argmin())
        return [low, high] if low != high else [0, self.levels.size - 1]
