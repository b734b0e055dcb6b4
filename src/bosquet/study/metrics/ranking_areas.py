"""Areas under ROC and precision-recall curves, for one or many vectors of sample weights at once."""

from __future__ import annotations

import numpy as np


class RankedScores:
    r"""Scores sorted once, whose ROC AUC and average precision are computed for any sample weights.

    ROC AUC is the probability that a positive row has a higher score than a negative row; ties count half.
    Let :math:`P_k` and :math:`N_k` be the weights of positive and negative rows with a score of at least the
    k-th largest distinct score, and :math:`R_k` the recall at this threshold. Average precision is
    :math:`\sum_k (R_k - R_{k-1}) P_k / (P_k + N_k)`.

    Examples
    --------
    >>> import numpy as np
    >>> ranked = RankedScores(np.array([True, False, True, False]), np.array([0.9, 0.8, 0.7, 0.1]))
    >>> print(ranked.roc_auc(), ranked.average_precision().round(3))
    0.75 0.833
    """

    def __init__(self, positive: np.ndarray, score: np.ndarray):
        self.order = np.argsort(-score, kind="stable")
        self.positive = positive[self.order].astype(float)
        ranked = score[self.order]
        self.ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))

    def _cumulative_weights(self, weight: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Return the cumulative weights of positive and negative rows per distinct score, (..., n_scores)."""
        if weight is None:
            weight = np.ones(len(self.order))
        weight = np.asarray(weight, dtype=float)[..., self.order]
        positives = np.cumsum(weight * self.positive, axis=-1)[..., self.ends]
        negatives = np.cumsum(weight * (1 - self.positive), axis=-1)[..., self.ends]
        return positives, negatives

    def roc_auc(self, weight: np.ndarray | None = None) -> np.ndarray:
        """Return ROC AUC for weights of shape (n_rows,), or one per draw for (n_draws, n_rows).

        The value is NaN without positive or without negative rows.
        """
        positives, negatives = self._cumulative_weights(weight)
        height = positives - 0.5 * np.diff(positives, axis=-1, prepend=0.0)
        width = np.diff(negatives, axis=-1, prepend=0.0)
        n_pairs = positives[..., -1] * negatives[..., -1]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(n_pairs > 0, (height * width).sum(axis=-1) / n_pairs, np.nan)

    def average_precision(self, weight: np.ndarray | None = None) -> np.ndarray:
        """Return average precision, with weights as in `roc_auc`; NaN without positive rows."""
        positives, negatives = self._cumulative_weights(weight)
        total = positives + negatives
        precision = np.divide(positives, total, out=np.zeros_like(total), where=total > 0)
        gained = np.diff(positives, axis=-1, prepend=0.0)
        with np.errstate(invalid="ignore", divide="ignore"):
            area = (gained * precision).sum(axis=-1) / positives[..., -1]
        return np.where(positives[..., -1] > 0, area, np.nan)
