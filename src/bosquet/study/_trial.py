"""One method on one split: tuned and fitted on the training rows, judged on the test rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet.study._candidates import candidate_with, groups_of
from bosquet.study._frames import take
from bosquet.study._machine import give_back_memory
from bosquet.study._outcomes import How, Outcome, plain
from bosquet.study._splits import Split, seed_of, subsample
from bosquet.study._target import Target
from bosquet.study._watchdog import OutOfTime, stopped_after
from bosquet.study.deciding import (
    Decision,
    choose_decision,
    needs_threshold,
    plain_decision,
    unseen_answers,
)
from bosquet.study.held_out import held_out
from bosquet.study.judging import FEWEST_BAGS, suits_way
from bosquet.study.method import Candidate, Method, TableShape
from bosquet.study.record import Curve
from bosquet.study.scoring import Metric, answer_of

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
) -> tuple[Outcome, Any]:
    """The outcome, and the fitted estimator where there is one.

    `seconds` is what the method should take, `at_most` when it is stopped. An error inside a method is its
    own: the outcome tells it, and the study goes on.
    """
    began = time.perf_counter()
    outcome = Outcome(method.name, split.number, "failed", how=how)
    estimator = None
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            with stopped_after(at_most):
                limits = (seconds, at_most)
                estimator = _tried(study, method, split, limits, how, first, outcome)
        except OutOfTime as stopped:
            outcome.status, outcome.message = "skipped", str(stopped)
        except MemoryError:
            outcome.message = "out of memory; give it fewer rows"
        except Exception as error:
            outcome.message = _one_line(f"{type(error).__name__}: {error}")
    if outcome.status == "done":
        outcome.message = _one_line("; ".join(filter(None, [outcome.message, *_said(raised)])))
    give_back_memory()
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
) -> Any:
    unsuited = method.suits(replace(study.shape, n_rows=len(split.train)))
    if unsuited:
        outcome.status, outcome.message = "skipped", unsuited
        return None
    rows, shape = training_rows(study, method, split.train, limits[0], first)
    outcome.rows_used, outcome.subsampled = len(rows), len(rows) < len(split.train)
    X, y = take(study.X, rows), study.y[rows]
    began = time.perf_counter()
    candidate, estimator = _fitted(study, method, X, y, shape, split, limits, how, first, outcome)
    fitted = time.perf_counter()
    outcome.fit_seconds = fitted - began
    outcome.setting = plain(candidate.setting)
    decision = _decision(study, candidate, estimator, X, y, split, how, first)
    outcome.threshold = decision.threshold
    decided = time.perf_counter()
    outcome.decision_seconds = decided - fitted
    _judge(study, estimator, split, decision, outcome)
    outcome.judge_seconds = time.perf_counter() - decided
    outcome.details = plain(method.details(estimator))
    outcome.status = "done"
    return estimator


def training_rows(
    study: Setting, method: Method, train: np.ndarray, seconds: float | None, first: Outcome | None
) -> tuple[np.ndarray, TableShape]:
    """The rows that the method can afford: all of them, or a subsample with the classes in their shares."""
    shape = replace(study.shape, n_rows=len(train))
    fewest = fewest_rows(shape)
    if len(train) <= fewest:
        return train, shape
    if first is not None:  # the splits are compared with each other
        affordable = first.rows_used
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
    from bosquet.study.tuning import affordable_rows

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


def _fitted(
    study: Setting,
    method: Method,
    X: Any,
    y: np.ndarray,
    shape: TableShape,
    split: Split,
    limits: tuple[float | None, float | None],
    how: How,
    first: Outcome | None,
    outcome: Outcome,
) -> tuple[Candidate, Any]:
    """The chosen candidate, fitted to the rows given."""
    seconds, at_most = limits
    from bosquet.study.tuning import tune

    seed = seed_of(study.random_state, "fit", method.name, split.number)
    if first is not None and how == "same":
        candidate = study.candidates.get(method.name) or candidate_with(
            method, shape, first.setting
        )
        if candidate is not None:
            began = time.perf_counter()
            estimator = candidate.make(seed).fit(X, y)
            outcome.one_fit_seconds = time.perf_counter() - began
            return candidate, estimator
    if first is not None and how == "near":
        method = narrowed(method, shape, first.setting)
    tuned = tune(
        method if seconds is None else from_the_middle(method),
        X,
        y,
        shape,
        metric=study.metric,
        by=study.way(method, shape),
        folds=FOLDS,
        seconds=seconds,
        random_state=seed,
        n_jobs=1 if at_most is not None else study.n_jobs,
    )
    outcome.curve, outcome.message = plain(tuned.curve), tuned.message
    outcome.one_fit_seconds = tuned.fit_seconds or tuned.seconds / (_fits_of(tuned.curve) + 1)
    if split.number == 0:
        study.candidates[method.name] = tuned.candidate
    return tuned.candidate, tuned.estimator


def _fits_of(curve: Curve | None) -> int:
    """Fits that a curve took, about."""
    if curve is None:
        return 1
    each = FOLDS if "fold" in curve["by"] else FEWEST_BAGS if "bootstrap" in curve["by"] else 1
    return len(curve["points"]) * each


def narrowed(method: Method, shape: TableShape, setting: dict[str, Any]) -> Method:
    """The same method with the candidate of that setting and its neighbours alone."""
    candidates = list(method.candidates(shape))
    places = [k for k, one in enumerate(candidates) if plain(one.setting) == plain(setting)]
    if not places:
        return method
    near = candidates[max(places[0] - 1, 0) : places[0] + 2]
    return replace(method, candidates=lambda shape: near)


def from_the_middle(method: Method) -> Method:
    """The same method with its candidates in an order to be broken off: the middle first, then quarters, ...

    Candidates that share a fit stay together.
    """

    def candidates(shape: TableShape) -> list[Candidate]:
        groups = groups_of(list(method.candidates(shape)))
        return [one for place in halving(len(groups)) for one in groups[place]]

    return replace(method, candidates=candidates)


def halving(n: int) -> list[int]:
    """0 to n - 1, the middle first and then the middles of what is left on either side."""
    order, parts = [], [(0, n)]
    while parts:
        low, high = parts.pop(0)
        if low < high:
            middle = (low + high) // 2
            order.append(middle)
            parts += [(low, middle), (middle + 1, high)]
    return order


def _decision(
    study: Setting,
    candidate: Candidate,
    estimator: Any,
    X: Any,
    y: np.ndarray,
    split: Split,
    how: How,
    first: Outcome | None,
) -> Decision:
    metric = study.metric
    if not study.target.is_classes or not needs_threshold(metric, study.target.is_rare):
        return plain_decision(metric)
    if how == "same" and first is not None and first.threshold is not None:
        return Decision(metric.classes, metric.positive, first.threshold, metric.costs)
    seed = seed_of(study.random_state, "threshold", split.number)
    answer, labels = unseen_answers(estimator, candidate, X, y, metric, seed)
    return choose_decision(answer, labels, metric)


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
    outcome.metrics = scores_of(study.metrics, y, answer, decision)
    outcome.score = outcome.metrics[study.metric.name]
    if split.number == 0:
        outcome.answer = answer
        outcome.held_out = held_out(y, answer.astype(float), study.metric, decision)


def scores_of(
    metrics: list[Metric], y: np.ndarray, answer: np.ndarray, decision: Decision
) -> dict[str, float]:
    """Every metric of answers that have been stored in single precision."""
    answer = np.asarray(answer, dtype=float)
    said = decision(answer) if metrics[0].needs != "number" else None
    return {
        metric.name: metric.score(y, said if metric.needs == "class" else answer)
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
