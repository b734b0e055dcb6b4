"""One method on one split: tuned and fitted on the training rows, judged on the test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.study.methods.candidates import Unseen, candidate_with, from_the_middle, neighbours
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import INCUMBENT, Candidate, Method, TableShape
from bosquet.study.metrics.scoring import Metric, MetricError, answer_of
from bosquet.study.record import Curve, plain
from bosquet.study.run.machine import give_back_memory
from bosquet.study.run.outcomes import How, Outcome
from bosquet.study.run.test_curves import held_out
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import Splits
from bosquet.study.table.frames import take
from bosquet.study.table.splits import Split, seed_of, subsample
from bosquet.study.table.target import Target
from bosquet.study.tuning.halving import halved
from bosquet.study.tuning.thresholds import (
    Decision,
    choose_decision,
    needs_threshold,
    plain_decision,
    unseen_answers,
)
from bosquet.study.tuning.time_limit import OutOfTime, stopped_after
from bosquet.study.tuning.validation import FEWEST_BAGS, suits_way

if TYPE_CHECKING:
    from bosquet.study.tuning.tuner import Tuned

FOLDS = 5
# Without a budget one fit is allowed about so many seconds; beyond it the method gets fewer rows.
SECONDS_OF_A_COUNTED_FIT = 20.0
# A subsample has so many values at least, and so many rows where there are few columns: what a method makes
# of less says little of it.
FEWEST_VALUES, FEWEST_ROWS, ROWS_ENOUGH = 1_000_000, 200, 2000
# Rows are worth more than candidates: a method gets a subsample only if on all rows it could try no more
# than one in so many of its candidates.
FEWER_CANDIDATES = 4
LONGEST_MESSAGE = 300
ROWS_AT_A_TIME = 1024
LEAST_SECONDS = 0.01
# Shares of a method's hard limit for finding its threshold, and for predicting the test rows, whatever its
# fits took: a model that is not scored is lost.
LIMIT_OF_DECIDING, LIMIT_OF_JUDGING = 0.25, 0.5

STOPPED_ON = "stopped by the time limit: fitted to {:,} rows"


@dataclass
class Setting:
    """What all trials of a study share."""

    X: Any  # pandas frame
    target: Target
    metric: Metric
    metrics: list[Metric]
    shape: TableShape  # of the whole table
    random_state: int
    n_jobs: int | None = None
    tune_by: dict[str, str] = field(
        default_factory=dict
    )  # a way to tune each method, if not its own
    candidates: dict[str, Candidate] = field(default_factory=dict)  # chosen on the first split
    design: Design = field(default_factory=Design)

    @property
    def splits(self) -> Splits:
        return Splits(self.design, self.y, self.random_state, self.target.is_classes)

    def weight(self, rows: np.ndarray) -> np.ndarray | None:
        """The weights of some rows."""
        return None if self.design.weight is None else self.design.weight[rows]

    def way(self, method: Method, shape: TableShape) -> str | None:
        """How the user wants a method tuned; None is its own way, also where another is not for it."""
        by = self.tune_by.get(method.name)
        return by if by is not None and suits_way(method, method.candidates(shape), by) else None

    @property
    def y(self) -> np.ndarray:
        return self.target.y


def run_trial(
    study: Setting,
    method: Method,
    split: Split,
    *,
    seconds: float | None = None,
    at_most: float | None = None,
    how: How = "all",
    first: Outcome | None = None,
    rows: int | None = None,
) -> tuple[Outcome, Any]:
    """The outcome, and the fitted estimator where there is one.

    `rows` is the number of training rows to use, if the method is not to find out itself what it can afford.

    `seconds` is what the method should take, `at_most` when its fits are stopped: it then keeps what it
    has, and is "stopped" if that is nothing. An error inside a method is its own: the outcome has it, and
    the study goes on.
    """
    began = time.perf_counter()
    outcome = Outcome(method.name, split.number, "failed", how=how)
    estimator = None
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            limits = (seconds, at_most)
            estimator = _tried(study, method, split, limits, how, first, outcome, rows)
        except OutOfTime as stopped:
            outcome.status, outcome.message = "stopped", str(stopped)
        except MetricError:  # not the method's fault
            raise
        except MemoryError:
            outcome.message = "out of memory; give it fewer rows"
        except Exception as error:
            outcome.message = _one_line(f"{type(error).__name__}: {error}")
    if outcome.status == "done":
        outcome.message = _one_line("; ".join(filter(None, [outcome.message, *_said(raised)])))
    give_back_memory(broken_off=outcome.status in ("stopped", "failed"))
    outcome.seconds = time.perf_counter() - began
    return outcome, estimator


def _tried(
    study: Setting,
    method: Method,
    split: Split,
    limits: tuple[float | None, float | None],
    how: How,
    first: Outcome | None,
    outcome: Outcome,
    size: int | None,
) -> Any:
    unsuited = method.suits(replace(study.shape, n_rows=len(split.train)))
    if unsuited:
        outcome.status, outcome.message = "unsuited", unsuited
        return None
    rows, shape = training_rows(study, method, split.train, limits[0], first, size)
    outcome.rows_used, outcome.subsampled = len(rows), len(rows) < len(split.train)
    X, y = take(study.X, rows), study.y[rows]
    began = time.perf_counter()
    design = study.design.take(rows)
    fit = _fitted(study, method, X, y, design, shape, split, limits, how, first, outcome)
    estimator, fitted = fit.estimator, time.perf_counter()
    if outcome.rows_used < len(rows):  # the fits to all of them were stopped
        rows, _ = training_rows(study, method, split.train, None, outcome)
        X, y, design = take(study.X, rows), study.y[rows], study.design.take(rows)
    outcome.fit_seconds = fitted - began
    outcome.setting = plain(fit.candidate.setting)
    spare = None if limits[1] is None else LIMIT_OF_DECIDING * limits[1]
    decision = _decision(study, fit, X, y, design, split, spare, first if how == "same" else None)
    outcome.threshold = decision.threshold
    decided = time.perf_counter()
    outcome.decision_seconds = decided - fitted
    spare = limits[1]
    if spare is not None:
        spare = max(LIMIT_OF_JUDGING * spare, spare - outcome.fit_seconds)
    with stopped_after(spare):
        _judge(study, estimator, split, decision, outcome)
    outcome.judge_seconds = time.perf_counter() - decided
    outcome.details = plain(method.details(estimator))
    outcome.status = "done"
    return estimator


def training_rows(
    study: Setting,
    method: Method,
    train: np.ndarray,
    seconds: float | None,
    first: Outcome | None,
    size: int | None = None,
) -> tuple[np.ndarray, TableShape]:
    """The rows that the method can afford: all of them, or a subsample with the classes in their shares."""
    shape = replace(study.shape, n_rows=len(train))
    fewest = fewest_rows(shape)
    if len(train) <= fewest or method.name == INCUMBENT:
        return train, shape
    if first is not None:  # the splits are compared with each other
        affordable = first.rows_used
    elif size is not None:
        affordable = size
    elif seconds is None:
        affordable = int(method.rows_affordable(shape, SECONDS_OF_A_COUNTED_FIT))
    else:
        affordable = _affordable(study, method, train, shape, seconds)
    affordable = max(affordable, fewest)
    if affordable >= len(train):
        return train, shape
    seed = seed_of(study.random_state, "rows", method.name)
    chosen = subsample(study.y[train], affordable, seed, stratify=study.target.is_classes)
    return train[chosen], replace(shape, n_rows=len(chosen))


def fewest_rows(shape: TableShape) -> int:
    """The least subsample of a table that a method is judged by."""
    values = FEWEST_VALUES // max(shape.n_indicators, 1)
    return min(max(FEWEST_ROWS, values), ROWS_ENOUGH, shape.n_rows)


def _affordable(
    study: Setting, method: Method, train: np.ndarray, shape: TableShape, seconds: float
) -> int:
    from bosquet.study.tuning.tuner import affordable_rows

    return affordable_rows(
        method,
        take(study.X, train),
        study.y[train],
        shape,
        seconds * FEWER_CANDIDATES,
        by=study.way(method, shape),
        folds=FOLDS,
        random_state=seed_of(study.random_state, "rows", method.name),
    )


@dataclass(frozen=True)
class Fit:
    """A candidate, its fit, and answers of a fit of it to rows that it has not seen."""

    candidate: Candidate
    estimator: Any
    unseen: Unseen | None = None


def _fitted(
    study: Setting,
    method: Method,
    X: Any,
    y: np.ndarray,
    design: Design,
    shape: TableShape,
    split: Split,
    limits: tuple[float | None, float | None],
    how: How,
    first: Outcome | None,
    outcome: Outcome,
) -> Fit:
    """The chosen candidate, fitted to the rows given."""
    seed = seed_of(study.random_state, "fit", method.name, split.number)
    if first is not None and how == "same":
        candidate = study.candidates.get(method.name) or candidate_with(
            method, shape, first.setting
        )
        if candidate is not None:
            began = time.perf_counter()
            estimator = fit_by_design(candidate.make(seed), X, y, design, seed)
            outcome.one_fit_seconds = time.perf_counter() - began
            return Fit(candidate, estimator)
    candidates = list(method.candidates(shape))
    if first is not None and how == "near":
        candidates = neighbours(candidates, first.setting)
    tuned, note, used = _tuned(study, method, candidates, X, y, design, shape, limits, seed)
    if used < len(y):
        outcome.rows_used, outcome.subsampled = used, True
    outcome.curve = plain(tuned.curve)
    outcome.message = "; ".join(filter(None, [note, tuned.message]))
    outcome.finished = tuned.finished and used == len(y)
    outcome.one_fit_seconds = tuned.fit_seconds or tuned.seconds / (_fits_of(tuned.curve) + 1)
    if split.number == 0:
        study.candidates[method.name] = tuned.candidate
    return Fit(tuned.candidate, tuned.estimator, tuned.unseen)


def _tuned(
    study: Setting,
    method: Method,
    candidates: list[Candidate],
    X: Any,
    y: np.ndarray,
    design: Design,
    shape: TableShape,
    limits: tuple[float | None, float | None],
    seed: int,
) -> tuple[Tuned, str, int]:
    """A method tuned within its limits, a note if not all candidates had all rows, and the rows it has.

    If the fits to all rows are stopped and leave nothing, these are the rows of the subsample that candidates
    were compared on.
    """
    from bosquet.study.tuning.tuner import tune

    seconds, at_most = limits
    given: dict[str, Any] = {
        "metric": study.metric,
        "by": study.way(method, shape),
        "folds": FOLDS,
        "n_jobs": 1 if at_most is not None else study.n_jobs,
        "random_state": seed,
        "design": design,
    }
    if seconds is not None:
        candidates = from_the_middle(candidates)
    note, less = "", None
    if seconds is not None and at_most is not None:
        less = halved(
            method,
            candidates,
            X,
            y,
            shape,
            stratify=study.target.is_classes,
            at_most=at_most,
            rows_seed=seed_of(study.random_state, "rows", method.name),
            fewest=fewest_rows(shape),
            **given,
        )
        if less is not None and not less.candidates:
            return less.tuned, STOPPED_ON.format(less.rows), less.rows
        if less is not None:
            seconds = max(seconds - less.seconds, LEAST_SECONDS)
            at_most = max(at_most - less.seconds, LEAST_SECONDS)
            candidates = less.candidates
            note = less.note
    given |= {"sample_weight": design.weight, "candidates": candidates}
    try:
        return tune(method, X, y, shape, seconds=seconds, at_most=at_most, **given), note, len(y)
    except OutOfTime:
        if less is None:
            raise
        return less.tuned, STOPPED_ON.format(less.rows), less.rows


def _fits_of(curve: Curve | None) -> int:
    """Fits that a curve took, about."""
    if curve is None:
        return 1
    each = FOLDS if "fold" in curve["by"] else FEWEST_BAGS if "bootstrap" in curve["by"] else 1
    return len(curve["points"]) * each


def _decision(
    study: Setting,
    fit: Fit,
    X: Any,
    y: np.ndarray,
    design: Design,
    split: Split,
    at_most: float | None,
    as_in: Outcome | None,
) -> Decision:
    """How a fit decides: `as_in` an earlier outcome, or by a threshold found on rows it has not seen."""
    metric = study.metric
    if not study.target.is_classes or not needs_threshold(metric, study.target.is_rare):
        return plain_decision(metric)
    if as_in is not None and as_in.threshold is not None:
        return Decision(metric.classes, metric.positive, as_in.threshold, metric.costs)
    seed = seed_of(study.random_state, "threshold", split.number)
    found = fit.unseen
    try:
        with stopped_after(at_most):
            found = unseen_answers(
                fit.estimator, fit.candidate, X, y, metric, seed, fit.unseen, design
            )
    except OutOfTime:
        if found is None:
            raise
    return choose_decision(found.answer, found.y, metric, found.weight)


def _judge(
    study: Setting, estimator: Any, split: Split, decision: Decision, outcome: Outcome
) -> None:
    X, y = take(study.X, split.test), study.y[split.test]
    began = time.perf_counter()
    # Some at a time: kernels and distances hold a row of numbers for each row asked about.
    parts = [
        answer_of(estimator, X.iloc[first : first + ROWS_AT_A_TIME], study.metric)
        for first in range(0, len(y), ROWS_AT_A_TIME)
    ]
    answer = np.concatenate(parts)
    outcome.predict_microseconds = (time.perf_counter() - began) / len(y) * 1e6
    if not np.isfinite(answer).all():
        raise ValueError("its predictions on the test rows are not finite numbers")
    answer = answer.astype(np.float32)
    weight = study.weight(split.test)
    outcome.metrics = scores_of(study.metrics, y, answer, decision, weight)
    outcome.score = outcome.metrics[study.metric.name]
    if split.number == 0:
        outcome.answer = answer
        outcome.held_out = held_out(y, answer.astype(float), study.metric, decision, weight)


def scores_of(
    metrics: Sequence[Metric],
    y: np.ndarray,
    answer: np.ndarray,
    decision: Decision,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """Every metric of answers that have been stored in single precision."""
    answer = np.asarray(answer, dtype=float)
    said = decision(answer) if metrics[0].needs != "number" else None
    return {
        metric.name: metric.score(y, said if metric.needs == "class" else answer, weight)
        for metric in metrics
    }


def _said(raised: list[warnings.WarningMessage]) -> list[str]:
    """What warnings told, each once; deprecations are for those who write methods."""
    told = []
    for one in raised:
        if issubclass(one.category, DeprecationWarning | FutureWarning | ResourceWarning):
            continue
        text = str(one.message).strip().split("\n")[0]
        if text and text not in told:
            told.append(text)
    return told[:2]


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
