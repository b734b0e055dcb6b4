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
    validation_loss : mean loss on the rows set aside, None without any.
    model : the estimator being fitted; it can predict.
    """

    iteration: int
    n_estimators: int
    train_loss: float
    validation_loss: float | None
    model: Any


Callback = Callable[[RoundInfo], Any]


def call_all(callbacks: Iterable[Callback] | None, info: RoundInfo) -> bool:
    """Call each; True if any asks to stop by returning True."""
    stop = False
    for callback in callbacks or ():
        stop = callback(info) is True or stop
    return stop


class EarlyStopping:
    """Stops when the score has not improved by more than `tol` for `patience` rounds."""

    def __init__(self, patience: int, tol: float):
        self.patience = patience
        self.tol = tol
        self.best = float("inf")
        self.best_iteration = 0

    def should_stop(self, iteration: int, score: float) -> bool:
        if score < self.best - self.tol:
            self.best, self.best_iteration = score, iteration
        return iteration - self.best_iteration >= self.patience


class ProgressBar(Bar):
    """Rounds done and their losses."""

    def update(self, info: RoundInfo) -> None:
        losses = f"train {info.train_loss:.5g}"
        if info.validation_loss is not None:
            losses += f"  valid {info.validation_loss:.5g}"
        self.show(info.iteration, losses)
