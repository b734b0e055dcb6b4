"""What happens between rounds: callbacks, the progress bar and early stopping."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from bosquet._progress import Bar


@dataclass(frozen=True)
class RoundInfo:
    """What a callback is told after each round.

    Attributes
    ----------
    iteration : rounds done so far, those of earlier warm starts included.
    n_estimators : rounds asked for.
    train_loss : mean loss on (a sample of) the training rows.
    validation_loss : mean loss on the validation set, None without one.
    model : the model so far; it can predict and be saved.
        The estimator whose ``fit`` was called is as it was before until the fit is finished.
    validation_score : what early stopping looks at: the value of `scoring`, else the validation loss.
    """

    iteration: int
    n_estimators: int
    train_loss: float
    validation_loss: float | None
    model: Any
    validation_score: float | None = None


Callback = Callable[[RoundInfo], Any]


def call_all(callbacks: Iterable[Callback] | None, info: RoundInfo) -> bool:
    """Call each; True if any asks to stop by returning True."""
    stop = False
    for callback in callbacks or ():
        stop = callback(info) is True or stop
    return stop


class EarlyStopping:
    """Stops when the score has not improved by more than `tol` for `patience` rounds.

    `since` is the number of rounds there were when it began to look.
    """

    def __init__(self, patience: int, tol: float, since: int = 0):
        self.patience = patience
        self.tol = tol
        self.since = since
        self.best = float("inf")
        self.best_iteration = 0

    def should_stop(self, iteration: int, score: float) -> bool:
        if score < self.best - self.tol:
            self.best, self.best_iteration = score, iteration
        return self.is_over(iteration)

    def going_on(self, patience: int, tol: float) -> EarlyStopping:
        """The same search for the best round, in a later fit."""
        later = EarlyStopping(patience, tol, self.since)
        later.best, later.best_iteration = self.best, self.best_iteration
        return later

    def is_over(self, iteration: int) -> bool:
        """Whether the best score is too many rounds ago."""
        return iteration - max(self.best_iteration, self.since) >= self.patience


class ProgressBar(Bar):
    """Rounds done and their losses."""

    def update(self, info: RoundInfo) -> None:
        losses = f"train {info.train_loss:.5g}"
        if info.validation_loss is not None:
            losses += f"  valid {info.validation_loss:.5g}"
        self.show(info.iteration, losses)
