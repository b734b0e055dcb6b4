"""The stagewise loop: a round, what it achieved, whether to go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
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
    """How the loss went, round by round, and where it was best."""

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    best_round: int | None = None  # None: every round counts
    stopped_by: str | None = None  # "callback" or "rows set aside"; None: nobody asked for it

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
    stopping watches; smaller is better.
    """
    bar = ProgressBar(n_rounds) if verbose else None
    try:
        while stepper.terms.n_rounds < n_rounds:
            if stepper.step() is False:
                break
            done = stepper.terms.n_rounds
            train, valid = stepper.train_loss(), stepper.validation_loss()
            history.train_loss.append(train)
            if valid is not None:
                history.validation_loss.append(valid)
            if bar or callbacks:
                info = RoundInfo(done, n_rounds, train, valid, model)
                if bar:
                    bar.update(info)
                if call_all(callbacks, info):
                    history.stopped_by = "callback"
                    break
            watched = score() if score else (train if valid is None else valid)
            if stopping and stopping.should_stop(done, watched):
                history.stopped_by = "rows set aside"
                break
        if stopping:
            history.best_round = stopping.best_iteration or None
    finally:
        if bar:
            bar.close(f"best round {history.best_round}" if history.stopped_early else "")
