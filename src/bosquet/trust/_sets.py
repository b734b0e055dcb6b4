"""Prediction sets of classes, from the scores of rows that a model was not fitted to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.trust._groups import Groups, chunks_of_rows
from bosquet.trust._ranks import check_enough, conformal_quantile, upper_rank

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def class_scores(probabilities: np.ndarray, kind: str, uniform: np.ndarray | None) -> np.ndarray:
    """Return the nonconformity score of each class, of shape (..., rows, classes) like the probabilities.

    "score": 1 - p. "adaptive": the sum of the probabilities of all more probable classes, plus the
    class's own probability times `uniform`, a random number in [0, 1) per row (None: times 1).
    """
    if kind == "score":
        return 1 - probabilities
    if probabilities.shape[-1] == 2:
        return _binary_scores(probabilities, uniform)
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, axis=-1)
    cumulative = np.cumsum(ordered, axis=-1)
    if uniform is not None:
        cumulative -= (1 - uniform[:, None]) * ordered
    scores = np.empty_like(cumulative)
    np.put_along_axis(scores, order, cumulative, axis=-1)
    return scores


def _binary_scores(probabilities: np.ndarray, uniform: np.ndarray | None) -> np.ndarray:
    """Return adaptive scores of two classes, which need no sorting."""
    own_share = probabilities if uniform is None else probabilities * uniform[:, None]
    first, second = probabilities[..., 0], probabilities[..., 1]
    first_leads = first >= second
    scores = np.empty(probabilities.shape)
    scores[..., 0] = own_share[..., 0] + np.where(first_leads, 0.0, second)
    scores[..., 1] = own_share[..., 1] + np.where(first_leads, first, 0.0)
    return scores


class _SetCalibration:
    """Scores of the true classes of the calibration rows, and the new rows that each is used for."""

    def __init__(
        self,
        score: np.ndarray,
        numbers: np.ndarray,
        classes: np.ndarray,
        per_class: bool,
        groups: np.ndarray | None,
    ):
        self.score, self.numbers, self.classes = score, numbers, classes
        self.per_class, self.groups = per_class, Groups(groups)

    def partition(
        self, groups: ArrayLike | None, n_rows: int
    ) -> Iterator[tuple[Any, Any, np.ndarray, str]]:
        """Yield new rows, classes, the calibration rows used for them, and text that names these rows."""
        all_rows = np.arange(self.score.size)
        for rows, calibration_rows, where in self.groups.partition(groups, n_rows):
            if not self.per_class:
                yield rows, slice(None), all_rows[calibration_rows], where
                continue
            for k, label in enumerate(self.classes.tolist()):
                of_class = all_rows[calibration_rows][self.numbers[calibration_rows] == k]
                yield rows, slice(k, k + 1), of_class, f" of class {label!r}{where}"


class SplitSets(_SetCalibration):
    """Classes whose score is at most the score of rank ⌈(n + 1)c⌉ among the calibration rows."""

    def sets(self, scores: np.ndarray, coverage: float, groups: ArrayLike | None) -> np.ndarray:
        within = np.empty(scores.shape, dtype=bool)
        for rows, classes, calibration_rows, where in self.partition(groups, len(scores)):
            threshold = conformal_quantile(np.sort(self.score[calibration_rows]), coverage, where)
            within[rows, classes] = scores[rows, classes] <= threshold
        return within


class PlusSets(_SetCalibration):
    """Classes whose score exceeds the score of fewer than ⌈(n + 1)c⌉ calibration rows.

    For the comparison with calibration row i, the model fitted without row i scores the new row.
    """

    def __init__(self, held_out: Any, *rest: Any):
        super().__init__(*rest)
        self.held_out = held_out

    def sets(
        self,
        probabilities: np.ndarray,
        kind: str,
        uniform: np.ndarray | None,
        coverage: float,
        groups: ArrayLike | None,
    ) -> np.ndarray:
        """`probabilities` are those of all models for the new rows, (models, rows, classes)."""
        _, n_rows, n_classes = probabilities.shape
        within = np.empty((n_rows, n_classes), dtype=bool)
        all_rows = np.arange(n_rows)
        for rows, classes, calibration_rows, where in self.partition(groups, n_rows):
            check_enough(calibration_rows.size, coverage, where)
            rank = upper_rank(calibration_rows.size, coverage)
            for chunk in chunks_of_rows(all_rows[rows], calibration_rows.size * n_classes):
                u = None if uniform is None else uniform[chunk]
                scores = self.held_out.leave_out(
                    probabilities[:, chunk],
                    calibration_rows,
                    lambda p, u=u: class_scores(p, kind, u),
                )[:, :, classes]
                n_smaller = (self.score[calibration_rows][:, None, None] < scores).sum(axis=0)
                within[chunk, classes] = n_smaller < rank
        return within
