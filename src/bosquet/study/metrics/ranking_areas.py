"""Areas under ROC and precision-recall curves, of one set of weights or of many draws at once."""

from __future__ import annotations

import numpy as np


class RankedScores:
    r"""Scores in order, to be weighted in many ways.

    With w the weights of the rows, P and N those of events and of others above or at a threshold, the
    area under the ROC curve is the chance that an event outranks another row, ties counting half, and
    average precision is
    :math:`\sum_k (R_k - R_{k-1}) P_k / (P_k + N_k)` with R the share of events, over the distinct scores
    from the highest down.

    Examples
    --------
    >>> import numpy as np
    >>> ranked = RankedScores(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]))
    >>> print(ranked.roc_auc(), ranked.average_precision().round(3))
    0.75 0.833
    """

    def __init__(self, event: np.ndarray, score: np.ndarray):
        self.order = np.argsort(-score, kind="stable")
        self.event = event[self.order].astype(float)
        ranked = score[self.order]
        self.ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))

    def _sums(self, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Weight of events and of other rows down to each distinct score, (..., scores)."""
        if weight is None:
            weight = np.ones(len(self.order))
        weight = np.asarray(weight, dtype=float)[..., self.order]
        events = np.cumsum(weight * self.event, axis=-1)[..., self.ends]
        others = np.cumsum(weight * (1 - self.event), axis=-1)[..., self.ends]
        return events, others

    def roc_auc(self, weight: np.ndarray | None = None) -> np.ndarray:
        """The area for weights of shape (rows,), or of shape (draws, rows) one a draw; NaN without events."""
        events, others = self._sums(weight)
        height = events - 0.5 * np.diff(events, axis=-1, prepend=0.0)
        width = np.diff(others, axis=-1, prepend=0.0)
        whole = events[..., -1] * others[..., -1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(whole > 0, (height * width).sum(axis=-1) / whole, np.nan)

    def average_precision(self, weight: np.ndarray | None = None) -> np.ndarray:
        """The same for average precision."""
        events, others = self._sums(weight)
        taken = events + others
        precision = np.divide(events, taken, out=np.zeros_like(taken), where=taken > 0)
        gained = np.diff(events, axis=-1, prepend=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            area = (gained * precision).sum(axis=-1) / events[..., -1]
        return np.where(events[..., -1] > 0, area, np.nan)
