"""The out-of-bag record: every row judged by the learners that did not see it.

Two errors go by this name, and both are kept: that of the vote over the learners that did not draw
a row, after each number of learners; and the mean over learners of each one's own on the rows that
it did not draw.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bosquet._warnings import warn_user


def misclassified(votes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """1 for each row whose largest vote is not for its class, 0 for the others."""
    return (votes.argmax(axis=1) != codes).astype(float)


def squared_errors(votes: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Squared error of each row, the mean over its targets."""
    return ((votes - target) ** 2).mean(axis=1)


class OutOfBag:
    """Votes on rows by the learners that did not draw them, and the errors that follow.

    Learners are added one after the other, so that the error after each number of them is known.

    Parameters
    ----------
    target : what is true of each row, as `losses` takes it.
    weight : weight of each row, empty for equal weights. A row of weight 0 counts for nothing, and
        nobody is told if it was never judged.
    losses : loss of each row, from votes (rows, columns) and targets.
    """

    def __init__(
        self,
        target: np.ndarray,
        weight: np.ndarray,
        losses: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ):
        self.target = target
        self.weight = weight if weight.size else np.ones(len(target))
        self.losses = losses
        self.votes: np.ndarray | None = None  # sums (rows, columns)
        self.voters = np.zeros(len(target), dtype=np.intp)
        self.loss = np.zeros(len(target))
        self.learner_errors: list[float] = []
        self.curve: list[float] = []

    @property
    def n_learners(self) -> int:
        return len(self.curve)

    def add(self, rows: np.ndarray, votes: np.ndarray | None) -> None:
        """Count the votes of one learner on the rows that it did not draw."""
        if votes is not None:
            self._count(rows, votes)
        self.learner_errors.append(self._learner_error(rows, votes))
        self.curve.append(_weighted_mean(self.loss, np.where(self.voters > 0, self.weight, 0)))

    def _count(self, rows: np.ndarray, votes: np.ndarray) -> None:
        if self.votes is None:
            self.votes = np.zeros((len(self.target), votes.shape[1]))
        self.votes[rows] += votes
        self.voters[rows] += 1
        means = self.votes[rows] / self.voters[rows, None]
        self.loss[rows] = self.losses(means, self.target[rows])

    def _learner_error(self, rows: np.ndarray, votes: np.ndarray | None) -> float:
        if votes is None:
            return float("nan")
        return _weighted_mean(self.losses(votes, self.target[rows]), self.weight[rows])

    @property
    def error(self) -> float:
        """Error of the vote over the learners that did not see a row."""
        return self.curve[-1]

    @property
    def learner_error(self) -> float:
        """Mean over the learners of each one's error on the rows it did not draw."""
        known = [error for error in self.learner_errors if not np.isnan(error)]
        return float(np.mean(known)) if known else float("nan")

    @property
    def standard_error(self) -> float:
        """Of `error`, as the mean of so many rows' losses."""
        weight = np.where(self.voters > 0, self.weight, 0)
        total = weight.sum()
        if not total > 0:
            return float("nan")
        return float(np.sqrt(weight**2 @ (self.loss - self.error) ** 2) / total)

    def mean_votes(self, columns: int) -> np.ndarray:
        """Mean vote on each row, NaN for rows that nobody voted on."""
        if self.votes is None:
            return np.full((len(self.target), columns), np.nan)
        result = np.full(self.votes.shape, np.nan)
        seen = self.voters > 0
        result[seen] = self.votes[seen] / self.voters[seen, None]
        return result

    def r2(self) -> float:
        """Share of the targets' variance that the mean votes explain, on the rows that have one."""
        from sklearn.metrics import r2_score

        known = (self.voters > 0) & (self.weight > 0)
        if known.sum() < 2:
            return float("nan")
        votes = self.mean_votes(self.target.shape[1])[known]
        return float(r2_score(self.target[known], votes, sample_weight=self.weight[known]))

    def warn_of_rows_in_every_bag(self) -> None:
        rows = np.flatnonzero((self.voters == 0) & (self.weight > 0))
        if rows.size:
            every = f"all {self.n_learners} bags" if self.n_learners > 1 else "the one bag"
            subject = "1 row is" if rows.size == 1 else f"{rows.size} rows are"
            warn_user(
                f"{subject} in {every} (the first is row {rows[0]}), so nothing out of bag is known of"
                f" {'it' if rows.size == 1 else 'them'}: left out of the out-of-bag errors; a larger"
                " n_estimators would reach more rows",
                UserWarning,
            )


def _weighted_mean(values: np.ndarray, weight: np.ndarray) -> float:
    total = weight.sum()
    return float(values @ weight / total) if total > 0 else float("nan")


def has_settled(curve: list[float], window: int, close: float) -> bool:
    """Whether the mean error over the last `window` learners is hardly below that of the `window` before.

    Hardly: by no more than `close`. It may also have risen: then more learners are not going to help
    either.
    """
    if len(curve) < 2 * window:
        return False
    before, last = np.mean(curve[-2 * window : -window]), np.mean(curve[-window:])
    return bool(before - last <= close)
