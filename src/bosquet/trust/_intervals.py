"""Prediction intervals, from the residuals of rows that a model was not fitted to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.trust._groups import Groups, chunks_of_rows
from bosquet.trust._ranks import check_enough, conformal_quantile, upper_rank

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class SplitIntervals:
    """Prediction ± the residual of rank ⌈(n + 1)c⌉ among the calibration rows."""

    def __init__(self, residual: np.ndarray, groups: np.ndarray | None):
        order = np.argsort(residual, kind="stable")
        self.residual = residual[order]
        self.groups = Groups(None if groups is None else groups[order])

    def interval(
        self, predictions: np.ndarray, coverage: float, groups: ArrayLike | None
    ) -> np.ndarray:
        # All lower bounds are adjacent in memory, which makes the assignments faster.
        bounds = np.empty((2, predictions.size))
        for rows, calibration_rows, where in self.groups.partition(groups, predictions.size):
            margin = conformal_quantile(self.residual[calibration_rows], coverage, where)
            bounds[0, rows] = predictions[rows] - margin
            bounds[1, rows] = predictions[rows] + margin
        return bounds.T


class PlusIntervals:
    """Jackknife+: the model fitted without row i predicts μ₋ᵢ(x); its residual on row i is rᵢ.

    The interval ranges from the value of rank ⌊(n + 1)(1 - c)⌋ among all μ₋ᵢ(x) - rᵢ to that of rank
    ⌈(n + 1)c⌉ among all μ₋ᵢ(x) + rᵢ.
    """

    def __init__(self, held_out: Any, residual: np.ndarray, groups: np.ndarray | None):
        self.held_out, self.residual, self.groups = held_out, residual, Groups(groups)

    def interval(
        self, predictions: np.ndarray, coverage: float, groups: ArrayLike | None
    ) -> np.ndarray:
        """`predictions` are those of all models for the new rows, (models, rows)."""
        bounds = np.empty((predictions.shape[1], 2))
        all_rows = np.arange(predictions.shape[1])
        for rows, calibration_rows, where in self.groups.partition(groups, predictions.shape[1]):
            residual = self.residual[calibration_rows][:, None]
            check_enough(residual.size, coverage, where)
            rank = upper_rank(residual.size, coverage)
            for chunk in chunks_of_rows(all_rows[rows], residual.size):
                centre = self.held_out.leave_out(predictions[:, chunk], calibration_rows)
                low, high = residual.size - rank, rank - 1
                bounds[chunk, 0] = np.partition(centre - residual, low, axis=0)[low]
                bounds[chunk, 1] = np.partition(centre + residual, high, axis=0)[high]
        return bounds


class QuantileIntervals:
    """Conformalised quantiles: [q_low - e, q_high + e], e of rank ⌈(n + 1)c⌉ among the calibration rows.

    The score of a row is its distance outside its quantiles, max(q_low - y, y - q_high), which is negative
    inside them. With several levels, those nearest to (1 - c)/2 and (1 + c)/2 are used.
    """

    def __init__(
        self, levels: np.ndarray, predictions: np.ndarray, y: np.ndarray, groups: np.ndarray | None
    ):
        self.levels, self.predictions, self.y = levels, predictions, y
        self.groups = Groups(groups)

    def interval(
        self, predictions: np.ndarray, coverage: float, groups: ArrayLike | None
    ) -> np.ndarray:
        pair = self._nearest_levels(coverage)
        low, high = np.sort(self.predictions[:, pair], axis=1).T
        outside = np.maximum(low - self.y, self.y - high)
        bounds = np.sort(predictions[:, pair], axis=1)  # predicted quantiles may cross
        for rows, calibration_rows, where in self.groups.partition(groups, len(predictions)):
            margin = conformal_quantile(np.sort(outside[calibration_rows]), coverage, where)
            bounds[rows, 0] -= margin
            bounds[rows, 1] += margin
        # A negative margin narrows the interval; the bounds must not pass each other.
        crossed = bounds[:, 0] > bounds[:, 1]
        bounds[crossed] = bounds[crossed].mean(axis=1, keepdims=True)
        return bounds

    def _nearest_levels(self, coverage: float) -> list[int]:
        low = int(np.abs(self.levels - (1 - coverage) / 2).argmin())
        high = int(np.abs(self.levels - (1 + coverage) / 2).argmin())
        return [low, high] if low != high else [0, self.levels.size - 1]
