"""Sets of classes, from the scores of rows that a model has not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet.trust._groups import Groups
from bosquet.trust._ranks import check_enough, conformal_quantile, upper_rank

# Numbers held at a time by the methods that compare every new row with every calibration row.
_AT_A_TIME = 1 << 22


def class_scores(probabilities: np.ndarray, kind: str, chance: np.ndarray | None) -> np.ndarray:
    """How little each class suits a row, of shape (..., rows, classes) as the probabilities.

    "score": 1 - p. "adaptive": the probabilities of all classes before it, the most probable first,
    and of its own a share `chance`, one a row (None: all of it).
    """
    if kind == "score":
        return 1 - probabilities
    if probabilities.shape[-1] == 2:
        return _scores_of_two(probabilities, chance)
    order = np.argsort(-probabilities, axis=-1, kind="stable")
    ordered = np.take_along_axis(probabilities, order, axis=-1)
    upto = np.cumsum(ordered, axis=-1)
    if chance is not None:
        upto -= (1 - chance[:, None]) * ordered
    scores = np.empty_like(upto)
    np.put_along_axis(scores, order, upto, axis=-1)
    return scores


def _scores_of_two(probabilities: np.ndarray, chance: np.ndarray | None) -> np.ndarray:
    """The adaptive scores of two classes, which need no sorting."""
    own = probabilities if chance is None else probabilities * chance[:, None]
    first, second = probabilities[..., 0], probabilities[..., 1]
    leads = first >= second
    scores = np.empty(probabilities.shape)
    scores[..., 0] = own[..., 0] + np.where(leads, 0.0, second)
    scores[..., 1] = own[..., 1] + np.where(leads, first, 0.0)
    return scores


class _Calibration:
    """Scores of the calibration rows' own classes, and which of them speak for whom."""

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

    def parts(self, groups: Any, n_rows: int) -> Iterator[tuple[Any, Any, np.ndarray, str]]:
        """Rows that ask, classes asked about, calibration rows that speak, and whose they are."""
        every = np.arange(self.score.size)
        for rows, speakers, whose in self.groups.parts(groups, n_rows):
            if not self.per_class:
                yield rows, slice(None), every[speakers], whose
                continue
            for k, label in enumerate(self.classes.tolist()):
                of_class = every[speakers][self.numbers[speakers] == k]
                yield rows, slice(k, k + 1), of_class, f" of the class {label!r}{whose}"


class SplitSets(_Calibration):
    """Classes whose score is at most the one of rank ⌈(n + 1)c⌉ among the calibration rows."""

    def sets(self, scores: np.ndarray, coverage: float, groups: Any) -> np.ndarray:
        within = np.empty(scores.shape, dtype=bool)
        for rows, classes, speakers, whose in self.parts(groups, len(scores)):
            most = conformal_quantile(np.sort(self.score[speakers]), coverage, whose)
            within[rows, classes] = scores[rows, classes] <= most
        return within


class PlusSets(_Calibration):
    """Classes that fewer than ⌈(n + 1)c⌉ of the calibration rows suit better than the new row.

    Row i is compared with what the model without it says of the new row.
    """

    def __init__(self, held_out: Any, *rest: Any):
        super().__init__(*rest)
        self.held_out = held_out

    def sets(
        self, said: np.ndarray, kind: str, chance: np.ndarray | None, coverage: float, groups: Any
    ) -> np.ndarray:
        """`said` is what all models say of the new rows, (models, rows, classes)."""
        within = np.empty(said.shape[1:], dtype=bool)
        every = np.arange(said.shape[1])
        for rows, classes, speakers, whose in self.parts(groups, said.shape[1]):
            check_enough(speakers.size, coverage, whose)
            rank = upper_rank(speakers.size, coverage)
            asked = every[rows]
            step = max(1, _AT_A_TIME // (speakers.size * said.shape[2]))
            for begin in range(0, asked.size, step):
                some = asked[begin : begin + step]
                drawn = None if chance is None else chance[some]
                scores = self.held_out.without(
                    said[:, some], speakers, lambda p, u=drawn: class_scores(p, kind, u)
                )[:, :, classes]
                better = (self.score[speakers][:, None, None] < scores).sum(axis=0)
                within[some, classes] = better < rank
        return within
