"""The stagewise loop: a round, what it achieved, whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import nan
from typing import Any, Protocol

from bosquet.boosting._progress import Callback, EarlyStopping, ProgressBar, RoundInfo, call_all


class Stepper(Protocol):
    """One way to add a term: native trees, or any learner."""

    terms: Any

    def step(self) -> bool | None:
        """Weights or pseudo-residuals, learn, step size, add; False if there was nothing to add."""

    def train_loss(self) -> float: ...

    def validation_loss(self) -> float | None: ...


@dataclass
class LoopResult:
    """How the loss went, round by round, and where it was best.

    An entry of each trace belongs to the same round. Traces of the validation set are empty if there never
    was one, and NaN in rounds without one.
    """

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_score: list[float] = field(default_factory=list)  # of what early stopping looks at
    best_round: int | None = None  # None: every round counts
    stopped_by: str | None = None  # "callback" or "validation set"; None: nobody asked for it

    def add(self, train: float, valid: float | None, score: float | None) -> None:
        """Note a round."""
        before = len(self.train_loss)
        self.train_loss.append(train)
        for trace, value in ((self.validation_loss, valid), (self.validation_score, score)):
            if value is not None or trace:
                trace += [nan] * (before - len(trace))
                trace.append(nan if value is None else value)

    def copy(self) -> LoopResult:
        """The traces, to go on with."""
        return LoopResult(
            list(self.train_loss), list(self.validation_loss), list(self.validation_score)
        )

    @property
    def stopped_early(self) -> bool:
        return self.stopped_by is not None


def run_rounds(
    stepper: Stepper,
    *,
    model: Any,
    n_rounds: int,
    stopping: EarlyStopping | None,
    score: Callable[[], float] | None,
    callbacks: Iterable[Callback] | None,
    verbose: bool,
    history: LoopResult,
) -> None:
    """Add terms until there are `n_rounds`, or it no longer pays; `history` tells how it went.

    `score` takes the place of the validation loss (or, without one, the training loss) as what early
    stopping looks at; greater is better.
    """
    bar = ProgressBar(n_rounds) if verbose else None
    try:
        if stopping and stopping.is_over(stepper.terms.n_rounds):
            history.stopped_by = "validation set"  # in an earlier fit
            n_rounds = 0
        while stepper.terms.n_rounds < n_rounds:
            if stepper.step() is False:
                break
            done = stepper.terms.n_rounds
            train, valid = stepper.train_loss(), stepper.validation_loss()
            scored = score() if score else valid
            history.add(train, valid, scored)
            if bar or callbacks:
                info = RoundInfo(done, n_rounds, train, valid, model, scored)
                if bar:
                    bar.update(info)
                if call_all(callbacks, info):
                    history.stopped_by = "callback"
                    break
            watched = -scored if score and scored is not None else train if valid is None else valid
            if stopping and stopping.should_stop(done, watched):
                history.stopped_by = "validation set"
                break
        if stopping:
            history.best_round = stopping.best_iteration or None
    finally:
        if bar:
            bar.close(f"best round {history.best_round}" if history.stopped_early else "")
