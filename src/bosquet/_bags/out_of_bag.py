"""Out-of-bag errors: each row is predicted by the learners that did not draw it.

Two quantities are called out-of-bag error, and both are computed. One is the error of the ensemble, where
each row is predicted by the learners that did not draw it; it is known after each number of learners. The
other is the mean over the learners of the error of a single learner on the rows that it did not draw.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bosquet._warnings import warn_user


def misclassified(votes: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return 1 for each row whose largest vote is not for its class, 0 for the others."""
    return (votes.argmax(axis=1) != codes).astype(float)


def squared_errors(votes: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the squared error of each row, averaged over the targets."""
    return ((votes - target) ** 2).mean(axis=1)


class OutOfBagRecord:
    """Out-of-bag votes and the errors computed from them.

    Learners are added one after the other, so the error after each number of learners is known.

    Parameters
    ----------
    target : true target of each row, in the form that `loss_function` accepts.
    weight : weight of each row; empty for equal weights. Rows of weight 0 do not enter the errors, and no
        warning is given if all learners drew them.
    loss_function : function of votes (rows, columns) and targets that returns the loss of each row.
    """

    def __init__(
        self,
        target: np.ndarray,
        weight: np.ndarray,
        loss_function: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ):
        self.target = target
        self.weight = weight if weight.size else np.ones(len(target))
        self.loss_function = loss_function
        self.votes: np.ndarray | None = None  # sums (rows, columns)
        self.voters = np.zeros(len(target), dtype=np.intp)
        self.row_losses = np.zeros(len(target))
        self.learner_errors: list[float] = []
        self.curve: list[float] = []

    @property
    def n_learners(self) -> int:
        return len(self.curve)

    def add(self, rows: np.ndarray, votes: np.ndarray | None) -> None:
        """Add the votes of one learner on `rows`, the rows that it did not draw (None: there are none)."""
        if votes is not None:
            self._count(rows, votes)
        self.learner_errors.append(self._learner_error(rows, votes))
        self.curve.append(
            _weighted_mean(self.row_losses, np.where(self.voters > 0, self.weight, 0))
        )

    def _count(self, rows: np.ndarray, votes: np.ndarray) -> None:
        if self.votes is None:
            self.votes = np.zeros((len(self.target), votes.shape[1]))
        self.votes[rows] += votes
        self.voters[rows] += 1
        means = self.votes[rows] / self.voters[rows, None]
        self.row_losses[rows] = self.loss_function(means, self.target[rows])

    def _learner_error(self, rows: np.ndarray, votes: np.ndarray | None) -> float:
        if votes is None:
            return float("nan")
        return _weighted_mean(self.loss_function(votes, self.target[rows]), self.weight[rows])

    @property
    def error(self) -> float:
        """Out-of-bag error of the ensemble."""
        return self.curve[-1]

    @property
    def learner_error(self) -> float:
        """Mean error of a single learner on the rows that it did not draw."""
        errors = [error for error in self.learner_errors if not np.isnan(error)]
        return float(np.mean(errors)) if errors else float("nan")

    @property
    def standard_error(self) -> float:
        """Standard error of `error`, which is a mean of losses over rows."""
        weight = np.where(self.voters > 0, self.weight, 0)
        total = weight.sum()
        if not total > 0:
            return float("nan")
        return float(np.sqrt(weight**2 @ (self.row_losses - self.error) ** 2) / total)

    def mean_votes(self, columns: int) -> np.ndarray:
        """Return the mean vote on each row; NaN for rows that all learners drew."""
        if self.votes is None:
            return np.full((len(self.target), columns), np.nan)
        result = np.full(self.votes.shape, np.nan)
        has_votes = self.voters > 0
        result[has_votes] = self.votes[has_votes] / self.voters[has_votes, None]
        return result

    def r2(self) -> float:
        """Return the coefficient of determination of the mean votes, on the rows that have one."""
        from sklearn.metrics import r2_score

        is_scored = (self.voters > 0) & (self.weight > 0)
        if is_scored.sum() < 2:
            return float("nan")
        votes = self.mean_votes(self.target.shape[1])[is_scored]
        return float(
            r2_score(
                self.target[is_scored],
                votes,
                sample_weight=self.weight[is_scored],
            )
        )

    def warn_of_rows_in_every_bag(self) -> None:
        """Warn about rows that have no out-of-bag vote because all learners drew them."""
        rows = np.flatnonzero((self.voters == 0) & (self.weight > 0))
        if rows.size:
            bags = f"all {self.n_learners} bags" if self.n_learners > 1 else "the only bag"
            subject = "1 row is" if rows.size == 1 else f"{rows.size} rows are"
            warn_user(
                f"{subject} in {bags} (the first is row {rows[0]}); the out-of-bag errors ignore rows without"
                " an out-of-bag prediction. Increase n_estimators to reduce their number",
                UserWarning,
            )


def _weighted_mean(values: np.ndarray, weight: np.ndarray) -> float:
    total = weight.sum()
    return float(values @ weight / total) if total > 0 else float("nan")


def has_settled(curve: list[float], window: int, tolerance: float) -> bool:
    """Return whether an error curve no longer decreases.

    The mean error over the last `window` learners is compared with the mean over the `window` learners
    before them. The curve has settled if it fell by at most `tolerance`, or if it rose.
    """
    if len(curve) < 2 * window:
        return False
    before, last = np.mean(curve[-2 * window : -window]), np.mean(curve[-window:])
    return bool(before - last <= tolerance)
