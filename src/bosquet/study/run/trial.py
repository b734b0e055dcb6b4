"""One method on one split: tuned and fitted on the training rows, scored on the test rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.study.methods.candidates import (
    ValidationPredictions,
    adjacent_candidates,
    candidate_with,
    middle_first,
)
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import Metric, MetricError, predictions_for
from bosquet.study.record import CurveRecord, to_json_types
from bosquet.study.run.context import StudyContext
from bosquet.study.run.held_out_curves import held_out_record
from bosquet.study.run.machine import release_memory
from bosquet.study.run.outcomes import How, Outcome
from bosquet.study.run.training_rows import FOLDS, fewest_rows, training_rows
from bosquet.study.table.design import Design
from bosquet.study.table.frames import take
from bosquet.study.table.splits import StudySplit, seed_of
from bosquet.study.tuning.halving import successive_halving
from bosquet.study.tuning.thresholds import (
    Decision,
    choose_decision,
    default_decision,
    needs_threshold,
    out_of_sample_predictions,
)
from bosquet.study.tuning.time_limit import OutOfTime, stopped_after
from bosquet.study.tuning.tuner import tune
from bosquet.study.tuning.validation import FEWEST_BAGS

if TYPE_CHECKING:
    from bosquet.study.tuning.tuner import Tuned

LONGEST_MESSAGE = 300  # characters
ROWS_AT_A_TIME = 1024
LEAST_SECONDS = 0.01
# Shares of the hard limit of a method for choosing its threshold and for scoring the test rows. They are
# granted even if the fits used all the time, because a model without a score is lost.
LIMIT_OF_DECIDING, LIMIT_OF_SCORING = 0.25, 0.5

STOPPED_ON = "stopped by the time limit: fitted to {:,} rows"


def run_trial(
    context: StudyContext,
    method: Method,
    split: StudySplit,
    *,
    seconds: float | None = None,
    at_most: float | None = None,
    how: How = "all",
    first: Outcome | None = None,
    rows: int | None = None,
) -> tuple[Outcome, Any]:
    """Run a method on a split; return the outcome and the fitted estimator (None if there is none).

    An error of the method is stored in the outcome and does not end the study.

    Parameters
    ----------
    seconds : float or None, default=None
        Soft time limit.
    at_most : float or None, default=None
        Hard time limit at which fits are stopped. The method keeps the best model so far; without one its
        status is "stopped".
    how : {"all", "near", "same"}, default="all"
        How the method is tuned, see `How`.
    first : Outcome or None, default=None
        The outcome on the first split, for further splits.
    rows : int or None, default=None
        Number of training rows. By default the method determines how many it can afford.
    """
    began = time.perf_counter()
    outcome = Outcome(method.name, split.number, "failed", how=how)
    estimator = None
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            limits = (seconds, at_most)
            estimator = _tune_fit_and_score(
                context, method, split, limits, how, first, outcome, rows
            )
        except OutOfTime as stopped:
            outcome.status, outcome.message = "stopped", str(stopped)
        except MetricError:  # an error of the metric, not of the method
            raise
        except MemoryError:
            outcome.message = "out of memory; pass fewer rows"
        except Exception as error:
            outcome.message = _one_line(f"{type(error).__name__}: {error}")
    if outcome.status == "done":
        outcome.message = _one_line(
            "; ".join(filter(None, [outcome.message, *_warning_texts(raised)]))
        )
    release_memory(interrupted=outcome.status in ("stopped", "failed"))
    outcome.seconds = time.perf_counter() - began
    return outcome, estimator


def _tune_fit_and_score(
    context: StudyContext,
    method: Method,
    split: StudySplit,
    limits: tuple[float | None, float | None],
    how: How,
    first: Outcome | None,
    outcome: Outcome,
    size: int | None,
) -> Any:
    unsuited = method.why_unsuited(replace(context.shape, n_rows=len(split.train)))
    if unsuited:
        outcome.status, outcome.message = "unsuited", unsuited
        return None
    rows, shape = training_rows(context, method, split.train, limits[0], first, size)
    outcome.rows_used, outcome.subsampled = len(rows), len(rows) < len(split.train)
    X, y = take(context.X, rows), context.y[rows]
    began = time.perf_counter()
    design = context.design.take(rows)
    fit = _fit_candidate(context, method, X, y, design, shape, split, limits, how, first, outcome)
    estimator, fitted = fit.estimator, time.perf_counter()
    if outcome.rows_used < len(rows):  # the fits to all rows were stopped, and a subsample was used
        rows, _ = training_rows(context, method, split.train, None, outcome)
        X, y, design = take(context.X, rows), context.y[rows], context.design.take(rows)
    outcome.fit_seconds = fitted - began
    outcome.setting = to_json_types(fit.candidate.setting)
    spare = None if limits[1] is None else LIMIT_OF_DECIDING * limits[1]
    decision = _decision(context, fit, X, y, design, split, spare, first if how == "same" else None)
    outcome.threshold = decision.threshold
    decided = time.perf_counter()
    outcome.decision_seconds = decided - fitted
    spare = limits[1]
    if spare is not None:
        spare = max(LIMIT_OF_SCORING * spare, spare - outcome.fit_seconds)
    with stopped_after(spare):
        _score_test_rows(context, estimator, split, decision, outcome)
    outcome.judge_seconds = time.perf_counter() - decided
    outcome.details = to_json_types(method.details(estimator))
    outcome.status = "done"
    return estimator


@dataclass(frozen=True)
class FittedCandidate:
    """A candidate, its fitted estimator, and predictions for rows that the candidate was not fitted to."""

    candidate: Candidate
    estimator: Any
    unseen: ValidationPredictions | None = None


def _fit_candidate(
    context: StudyContext,
    method: Method,
    X: Any,
    y: np.ndarray,
    design: Design,
    shape: TableShape,
    split: StudySplit,
    limits: tuple[float | None, float | None],
    how: How,
    first: Outcome | None,
    outcome: Outcome,
) -> FittedCandidate:
    """Choose a candidate and fit it to the given rows."""
    seed = seed_of(context.random_state, "fit", method.name, split.number)
    if first is not None and how == "same":
        candidate = context.candidates.get(method.name) or candidate_with(
            method, shape, first.setting
        )
        if candidate is not None:
            began = time.perf_counter()
            estimator = fit_by_design(candidate.make(seed), X, y, design, seed)
            outcome.one_fit_seconds = time.perf_counter() - began
            return FittedCandidate(candidate, estimator)
    candidates = list(method.candidates(shape))
    if first is not None and how == "near":
        candidates = adjacent_candidates(candidates, first.setting)
    tuned, note, used = _tune_within_limits(
        context, method, candidates, X, y, design, shape, limits, seed
    )
    if used < len(y):
        outcome.rows_used, outcome.subsampled = used, True
    outcome.curve = to_json_types(tuned.curve)
    outcome.message = "; ".join(filter(None, [note, tuned.message]))
    outcome.finished = tuned.finished and used == len(y)
    outcome.one_fit_seconds = tuned.fit_seconds or tuned.seconds / (_n_fits(tuned.curve) + 1)
    if split.number == 0:
        context.candidates[method.name] = tuned.candidate
    return FittedCandidate(tuned.candidate, tuned.estimator, tuned.unseen)


def _tune_within_limits(
    context: StudyContext,
    method: Method,
    candidates: list[Candidate],
    X: Any,
    y: np.ndarray,
    design: Design,
    shape: TableShape,
    limits: tuple[float | None, float | None],
    seed: int,
) -> tuple[Tuned, str, int]:
    """Tune a method within its time limits; return the result, a note for the report and the number of rows.

    If all fits to all rows are stopped, the result is that of the subsample used for successive halving.
    """
    seconds, at_most = limits
    given: dict[str, Any] = {
        "metric": context.metric,
        "by": context.scheme(method, shape),
        "folds": FOLDS,
        "n_jobs": 1 if at_most is not None else context.n_jobs,
        "random_state": seed,
        "design": design,
    }
    if seconds is not None:
        candidates = middle_first(candidates)
    note, less = "", None
    if seconds is not None and at_most is not None:
        less = successive_halving(
            method,
            candidates,
            X,
            y,
            shape,
            stratify=context.target.is_classes,
            at_most=at_most,
            rows_seed=seed_of(context.random_state, "rows", method.name),
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


def _n_fits(curve: CurveRecord | None) -> int:
    """Return the approximate number of fits behind a validation curve."""
    if curve is None:
        return 1
    per_point = FOLDS if "fold" in curve["by"] else FEWEST_BAGS if "bootstrap" in curve["by"] else 1
    return len(curve["points"]) * per_point


def _decision(
    context: StudyContext,
    fit: FittedCandidate,
    X: Any,
    y: np.ndarray,
    design: Design,
    split: StudySplit,
    at_most: float | None,
    as_in: Outcome | None,
) -> Decision:
    """Return the decision rule: that of the outcome `as_in`, or one chosen on out-of-sample predictions."""
    metric = context.metric
    if not context.target.is_classes or not needs_threshold(metric, context.target.is_rare):
        return default_decision(metric)
    if as_in is not None and as_in.threshold is not None:
        return Decision(metric.classes, metric.positive, as_in.threshold, metric.costs)
    seed = seed_of(context.random_state, "threshold", split.number)
    found = fit.unseen
    try:
        with stopped_after(at_most):
            found = out_of_sample_predictions(
                fit.estimator, fit.candidate, X, y, metric, seed, fit.unseen, design
            )
    except OutOfTime:
        if found is None:
            raise
    return choose_decision(found.predictions, found.y, metric, found.weight)


def _score_test_rows(
    context: StudyContext, estimator: Any, split: StudySplit, decision: Decision, outcome: Outcome
) -> None:
    X, y = take(context.X, split.test), context.y[split.test]
    began = time.perf_counter()
    # In blocks: kernel methods and nearest neighbours store one matrix row per predicted row.
    parts = [
        predictions_for(estimator, X.iloc[first : first + ROWS_AT_A_TIME], context.metric)
        for first in range(0, len(y), ROWS_AT_A_TIME)
    ]
    predictions = np.concatenate(parts)
    outcome.predict_microseconds = (time.perf_counter() - began) / len(y) * 1e6
    if not np.isfinite(predictions).all():
        raise ValueError("predictions for the test rows contain NaN or infinity")
    predictions = predictions.astype(np.float32)
    weight = context.weight(split.test)
    outcome.metrics = scores_of(context.metrics, y, predictions, decision, weight)
    outcome.score = outcome.metrics[context.metric.name]
    if split.number == 0:
        outcome.answer = predictions
        outcome.held_out = held_out_record(
            y, predictions.astype(float), context.metric, decision, weight
        )


def scores_of(
    metrics: Sequence[Metric],
    y: np.ndarray,
    predictions: np.ndarray,
    decision: Decision,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """Return the score of predictions by each metric; predictions may be in single precision."""
    predictions = np.asarray(predictions, dtype=float)
    labels = decision(predictions) if metrics[0].needs != "number" else None
    return {
        metric.name: metric.score(y, labels if metric.needs == "class" else predictions, weight)
        for metric in metrics
    }


def _warning_texts(raised: list[warnings.WarningMessage]) -> list[str]:
    """Return the first two distinct warnings, without deprecations, which do not concern the user."""
    texts = []
    for warning in raised:
        if issubclass(warning.category, DeprecationWarning | FutureWarning | ResourceWarning):
            continue
        text = str(warning.message).strip().split("\n")[0]
        if text and text not in texts:
            texts.append(text)
    return texts[:2]


def _one_line(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_MESSAGE else text[: LONGEST_MESSAGE - 1] + "…"
