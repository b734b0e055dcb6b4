"""The loop of boosting rounds, and early stopping, also across warm starts.

All estimators of `bosquet.boosting` but AdaBoost.R2 run `run_rounds` on a stepper of their own.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from math import nan
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np

from bosquet._progress import ProgressBar
from bosquet._warnings import warn_user


# ------------------------------------------------------------------ after each round
@dataclass(frozen=True)
class RoundInfo:
    """The argument of a callback, which is called after each round.

    Attributes
    ----------
    iteration : number of rounds so far, including those of earlier warm starts.
    n_estimators : maximum number of rounds.
    train_loss : mean loss on (a sample of) the training rows.
    validation_loss : mean loss on the validation set, None without one.
    model : the model so far; it can predict and be saved.
        The estimator whose ``fit`` was called does not change until the fit is finished.
    validation_score : the value that early stopping monitors: the score by `scoring`, else the validation
        loss.
    """

    iteration: int
    n_estimators: int
    train_loss: float
    validation_loss: float | None
    model: Any
    validation_score: float | None = None


Callback = Callable[[RoundInfo], Any]


def run_callbacks(callbacks: Iterable[Callback] | None, info: RoundInfo) -> bool:
    """Call every callback; True if one of them returned True, which stops the fit."""
    stop = False
    for callback in callbacks or ():
        stop = callback(info) is True or stop
    return stop


class RoundProgressBar(ProgressBar):
    """A progress bar with the number of rounds and the losses."""

    def update(self, info: RoundInfo) -> None:
        losses = f"train {info.train_loss:.5g}"
        if info.validation_loss is not None:
            losses += f"  valid {info.validation_loss:.5g}"
        self.show(info.iteration, losses)


class EarlyStopping:
    """The rule that stops if the loss has not decreased by more than `tol` for `patience` rounds.

    `first_monitored_round` is the number of rounds that the model had when the monitoring began.
    """

    def __init__(self, patience: int, tol: float, first_monitored_round: int = 0):
        self.patience = patience
        self.tol = tol
        self.first_monitored_round = first_monitored_round
        self.best_loss = float("inf")
        self.best_round = 0

    def should_stop(self, n_rounds: int, loss: float) -> bool:
        """Record the loss after `n_rounds` rounds; True if the fit should stop."""
        if loss < self.best_loss - self.tol:
            self.best_loss, self.best_round = loss, n_rounds
        return self.is_over(n_rounds)

    def is_over(self, n_rounds: int) -> bool:
        """Whether the best loss is `patience` or more rounds ago."""
        return n_rounds - max(self.best_round, self.first_monitored_round) >= self.patience

    def resume(self, patience: int, tol: float) -> EarlyStopping:
        """Return a rule for a later fit that knows the best loss of this one."""
        later = EarlyStopping(patience, tol, self.first_monitored_round)
        later.best_loss, later.best_round = self.best_loss, self.best_round
        return later


# -------------------------------------------------------------------------- the loop
class HasRounds(Protocol):
    """Protocol of objects with a number of rounds."""

    @property
    def n_rounds(self) -> int: ...


class Terms(HasRounds, Protocol):
    """The terms of a model, round by round: trees of the core, or learners of any kind."""

    def truncate(self, n_rounds: int) -> None:
        """Remove the terms of all later rounds."""

    def copy(self) -> Self: ...


TermsT = TypeVar("TermsT", bound=Terms)


class Stepper(Protocol):
    """Protocol of objects that add a term to a model: native trees, or any learner."""

    @property
    def terms(self) -> HasRounds: ...

    def step(self) -> bool | None:
        """Add the term of one round; False if there was nothing to add."""

    def train_loss(self) -> float: ...

    def validation_loss(self) -> float | None: ...


@dataclass
class LossHistory:
    """The losses of each round, the best round, and what stopped the loop.

    Entry t of each list belongs to round t + 1. The lists of the validation set are empty if there never
    was one, and NaN in rounds without one.
    """

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    validation_score: list[float] = field(default_factory=list)  # what early stopping monitors
    best_round: int | None = None  # None: the model keeps all rounds
    stopped_by: str | None = None  # "callback" or "validation set"; None: neither

    def add(self, train: float, valid: float | None, score: float | None) -> None:
        """Append the losses of a round."""
        before = len(self.train_loss)
        self.train_loss.append(train)
        for trace, value in ((self.validation_loss, valid), (self.validation_score, score)):
            if value is not None or trace:
                trace += [nan] * (before - len(trace))
                trace.append(nan if value is None else value)

    def copy(self) -> LossHistory:
        """Return a history with copies of the lists, to which a warm start appends; without a best round."""
        return LossHistory(
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
    history: LossHistory,
) -> None:
    """Add terms until there are `n_rounds` or the fit is stopped; the losses are appended to `history`.

    Early stopping monitors `score` (greater is better) if it is given, else the validation loss, and the
    training loss without a validation set.
    """
    bar = RoundProgressBar(n_rounds) if verbose else None
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
                if run_callbacks(callbacks, info):
                    history.stopped_by = "callback"
                    break
            if score and scored is not None:
                monitored = -scored
            else:
                monitored = train if valid is None else valid
            if stopping and stopping.should_stop(done, monitored):
                history.stopped_by = "validation set"
                break
        if stopping:
            history.best_round = stopping.best_round or None
    finally:
        if bar:
            bar.close(f"best round {history.best_round}" if history.stopped_early else "")


# ------------------------------------------------- the validation set and warm starts
def split_rows(
    n_rows: int, fraction: float, seed: int, strata: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return training rows and validation rows, ascending, stratified if every class has enough."""
    from sklearn.model_selection import train_test_split

    if strata is not None and np.bincount(strata).min() < 2:
        strata = None
    n_validation = max(1, round(fraction * n_rows))
    if n_validation >= n_rows:
        raise ValueError(
            f"validation_fraction={fraction:g} of {n_rows} rows leaves no row to train on; lower"
            " validation_fraction or set early_stopping=False"
        )
    if strata is not None and (
        n_validation < strata.max() + 1 or n_rows - n_validation < strata.max() + 1
    ):
        strata = None
    training_rows, validation_rows = train_test_split(
        np.arange(n_rows), test_size=n_validation, random_state=seed, stratify=strata
    )
    return np.sort(training_rows), np.sort(validation_rows)


@dataclass
class StoppingState(Generic[TermsT]):
    """The state of early stopping at the end of a fit, from which a warm start continues.

    Attributes
    ----------
    terms : the model with all rounds that were tried; it was not trained on the validation set.
    history : the losses of these rounds.
    stopping : the best loss and its round.
    fingerprint : identifies the validation set (see `fingerprint`).
    scoring : the metric that was monitored.
    refitted : the model that was fitted again to all rows, None without one.
    round_records : the records of the rounds of a vote.
    """

    terms: TermsT
    history: LossHistory
    stopping: EarlyStopping
    fingerprint: int
    scoring: str | Callable[..., float] | None = None
    refitted: TermsT | None = None
    round_records: list[Any] = field(default_factory=list)


@dataclass
class FitStart(Generic[TermsT]):
    """Where the rounds of a fit begin: the terms so far, their losses, the state of early stopping."""

    terms: TermsT | None
    history: LossHistory
    stopping: EarlyStopping | None
    fingerprint: int | None
    scoring: str | Callable[..., float] | None = None
    resumed: StoppingState[TermsT] | None = None

    def state_after(
        self,
        terms: TermsT,
        refitted: TermsT | None = None,
        round_records: list[Any] | None = None,
    ) -> StoppingState[TermsT] | None:
        """Return the state that the next warm start needs; None without early stopping."""
        if self.stopping is None or self.fingerprint is None:
            return None
        return StoppingState(
            terms,
            self.history,
            self.stopping,
            self.fingerprint,
            self.scoring,
            refitted,
            round_records or [],
        )


def fingerprint(*arrays: np.ndarray | None) -> int:
    """Return a checksum of a validation set: equal for equal sets, and different for others in practice."""
    checksum = 0
    for array in arrays:
        if array is not None:
            checksum = zlib.crc32(np.ascontiguousarray(array).tobytes(), checksum)
    return checksum


def losses_so_far(model: Any, rounds: int) -> LossHistory:
    """Return the losses of the first `rounds` rounds of a fitted model."""
    train_loss = list(model.train_score_[:rounds])
    scores = list(getattr(model, "validation_score_", ())[:rounds])
    validation_loss = list(getattr(model, "validation_loss_", scores)[:rounds])
    return LossHistory(train_loss, validation_loss, scores)


def start_of_fit(
    model: Any,
    terms: TermsT | None,
    state: StoppingState[TermsT] | None,
    validation_fingerprint: int | None,
    *,
    patience: int,
    tol: float,
    scoring: str | Callable[..., float] | None = None,
    is_split_off: bool = True,
) -> FitStart[TermsT]:
    """Return where the rounds of a fit begin.

    `terms` are those of the fitted model that a warm start continues, None for a new fit.
    `validation_fingerprint` is None without early stopping. `is_split_off` is whether the validation set was
    split off the rows given to `fit`, on which the model may have been trained.
    """
    resumed = None
    if terms is not None and state is not None and state.fingerprint == validation_fingerprint:
        resumed = state
    start = terms if resumed is None else resumed.terms
    stopping = None
    if validation_fingerprint is not None:
        first_monitored_round = 0 if start is None else start.n_rounds
        stopping = EarlyStopping(patience, tol, first_monitored_round)
    if start is None:
        return FitStart(None, LossHistory(), stopping, validation_fingerprint, scoring)
    if resumed is None or stopping is None:
        if (
            stopping is not None
            and is_split_off
            and getattr(model, "_validation_fingerprint", None) != validation_fingerprint
        ):
            _warn_of_trained_rows()
        history = losses_so_far(model, start.n_rounds)
        return FitStart(start, history, stopping, validation_fingerprint, scoring)
    history = resumed.history.copy()
    if resumed.scoring == scoring:
        stopping = resumed.stopping.resume(patience, tol)
    else:  # scores of another metric cannot be compared
        unknown = [float("nan")] * len(history.validation_loss)
        history.validation_score = unknown if scoring else list(history.validation_loss)
    return FitStart(start, history, stopping, validation_fingerprint, scoring, resumed)


def _warn_of_trained_rows() -> None:
    warn_user(
        "early stopping may stop too late: the validation set of this warm start may contain rows that the"
        " earlier rounds were trained on. Set warm_start=True and early_stopping from the first fit on, with"
        " the same rows; or pass eval_set to gradient boosting"
    )
