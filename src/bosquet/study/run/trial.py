"""One method on one split: tuned and fitted on the training rows, scored on the test rows."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet.study.methods.candidates import (
    ValidationPredictions,
    adjacent_candidates,
    candidate_with,
    middle_first,
)
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import MetricError
from bosquet.study.record import CurveRecord, to_json_types
from bosquet.study.run.context import StudyContext
from bosquet.study.run.evaluation_curves import evaluation_record
from bosquet.study.run.machine import release_memory
from bosquet.study.run.outcomes import Outcome, TuningScope
from bosquet.study.run.scoring import predict_in_blocks, scores_of
from bosquet.study.run.training_rows import fewest_rows, training_rows
from bosquet.study.table.design import FOLDS
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import StudySplit, seed_of
from bosquet.study.tuning.halving import Halving
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime, stop_after
from bosquet.study.tuning.thresholds import (
    Decision,
    choose_decision,
    default_decision,
    needs_threshold,
    out_of_sample_predictions,
)
from bosquet.study.tuning.time_limits import NO_LIMITS, TimeLimits
from bosquet.study.tuning.validation import MIN_BAGS

LONGEST_MESSAGE = 300  # characters
# Shares of the hard limit for choosing the threshold and for scoring the test rows. They are granted even if
# the fits used all the time, because a model without a score is lost.
DECIDING_SHARE, SCORING_SHARE = 0.25, 0.5


@dataclass(frozen=True)
class TrialPlan:
    """How a method is tried on a split.

    Attributes
    ----------
    method : Method
    limits : TimeLimits, default=NO_LIMITS
    scope : {"all", "near", "same"}, default="all"
        Which candidates are tried, see `TuningScope`.
    first : Outcome or None, default=None
        The outcome on the first split, for further splits.
    n_rows : int or None, default=None
        Number of training rows. By default the method determines how many it can afford.
    """

    method: Method
    limits: TimeLimits = NO_LIMITS
    scope: TuningScope = "all"
    first: Outcome | None = None
    n_rows: int | None = None


def run_trial(context: StudyContext, split: StudySplit, plan: TrialPlan) -> tuple[Outcome, Any]:
    """Run a method on a split; return the outcome and the fitted estimator (None if there is none).

    An error of the method is stored in the outcome and does not end the study. At the hard limit the method
    keeps the best model so far; without one its status is "stopped".
    """
    began = time.perf_counter()
    trial = Trial(context, split, plan)
    outcome, estimator = trial.outcome, None
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        try:
            estimator = trial.run()
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


@dataclass(frozen=True)
class FittedCandidate:
    """A candidate, its fitted estimator, and predictions for rows that the candidate was not fitted to."""

    candidate: Candidate
    estimator: Any
    unseen: ValidationPredictions | None = None


@dataclass
class Trial:
    """The steps of a trial: tune and fit, choose the threshold, score the test rows.

    Each step writes its results to `outcome`, so that an error in a later step does not lose them.
    """

    context: StudyContext
    split: StudySplit
    plan: TrialPlan
    outcome: Outcome = field(init=False)

    def __post_init__(self) -> None:
        plan = self.plan
        self.outcome = Outcome(plan.method.name, self.split.number, "failed", scope=plan.scope)

    def run(self) -> Any:
        """Run all steps and return the fitted estimator; None if the method is unsuited."""
        context, plan, outcome, train = self.context, self.plan, self.outcome, self.split.train
        method = plan.method
        unsuited = method.why_unsuited(replace(context.shape, n_rows=len(train)))
        if unsuited:
            outcome.status, outcome.message = "unsuited", unsuited
            return None
        indices, shape = training_rows(
            context, method, train, plan.limits.soft, plan.first, plan.n_rows
        )
        outcome.rows_used, outcome.subsampled = len(indices), len(indices) < len(train)
        rows = context.rows(indices)
        began = time.perf_counter()
        fit = self._fit(rows, shape)
        fitted = time.perf_counter()
        outcome.fit_seconds = fitted - began
        outcome.setting = to_json_types(fit.candidate.setting)
        if outcome.rows_used < len(rows):  # fits to all rows were stopped, and a subsample was used
            rows = context.rows(training_rows(context, method, train, None, outcome)[0])
        decision = self._choose_decision(fit, rows)
        outcome.threshold = decision.threshold
        decided = time.perf_counter()
        outcome.decision_seconds = decided - fitted
        with stop_after(self._limit_of_scoring()):
            self._score(fit.estimator, decision)
        outcome.scoring_seconds = time.perf_counter() - decided
        outcome.details = to_json_types(method.details(fit.estimator))
        outcome.status = "done"
        return fit.estimator

    # --------------------------------------------------------------- tune and fit
    def _fit(self, rows: TableRows, shape: TableShape) -> FittedCandidate:
        """Choose a candidate and fit it to the given rows."""
        context, method = self.context, self.plan.method
        seed = seed_of(context.random_state, "fit", method.name, self.split.number)
        if self.plan.first is not None and self.plan.scope == "same":
            cached = context.candidates.get(method.name)
            candidate = cached or candidate_with(method, shape, self.plan.first.setting)
            if candidate is not None:
                return self._fit_untuned(candidate, rows, seed)
        candidates = list(method.candidates(shape))
        if self.plan.first is not None and self.plan.scope == "near":
            candidates = adjacent_candidates(candidates, self.plan.first.setting)
        return self._tune(candidates, rows, shape, seed)

    def _fit_untuned(self, candidate: Candidate, rows: TableRows, seed: int) -> FittedCandidate:
        began = time.perf_counter()
        estimator = fit_by_design(candidate.make(seed), rows, seed)
        self.outcome.one_fit_seconds = time.perf_counter() - began
        return FittedCandidate(candidate, estimator)

    def _tune(
        self, candidates: list[Candidate], rows: TableRows, shape: TableShape, seed: int
    ) -> FittedCandidate:
        context, method, outcome = self.context, self.plan.method, self.outcome
        options = TuningOptions(
            scheme=context.scheme(method, shape),
            folds=FOLDS,
            random_state=seed,
            # Only fits in the calling thread can be stopped.
            n_jobs=context.n_jobs if self.plan.limits.hard is None else 1,
        )
        if self.plan.limits.soft is not None:
            candidates = middle_first(candidates)
        rows_seed = seed_of(context.random_state, "rows", method.name)
        halving = Halving(
            method, rows, shape, context.metric, options, rows_seed, fewest_rows(shape)
        )
        tuned, note, n_rows_used = halving.tune(candidates, self.plan.limits)
        if n_rows_used < len(rows):
            outcome.rows_used, outcome.subsampled = n_rows_used, True
        outcome.curve = to_json_types(tuned.curve)
        outcome.message = "; ".join(filter(None, [note, tuned.message]))
        outcome.finished = tuned.finished and n_rows_used == len(rows)
        outcome.one_fit_seconds = tuned.fit_seconds or tuned.seconds / (_n_fits(tuned.curve) + 1)
        if self.split.number == 0:
            context.candidates[method.name] = tuned.candidate
        return FittedCandidate(tuned.candidate, tuned.estimator, tuned.validation_predictions)

    # ---------------------------------------------------------- decide and score
    def _choose_decision(self, fit: FittedCandidate, rows: TableRows) -> Decision:
        """Return the decision rule: that of the first split, or one chosen on out-of-sample predictions."""
        context, metric, first = self.context, self.context.metric, self.plan.first
        if not context.target.is_classes or not needs_threshold(metric, context.target.is_rare):
            return default_decision(metric)
        if first is not None and self.plan.scope == "same" and first.threshold is not None:
            return Decision(metric.classes, metric.positive, first.threshold, metric.costs)
        seed = seed_of(context.random_state, "threshold", self.split.number)
        hard = self.plan.limits.hard
        unseen = fit.unseen
        try:
            with stop_after(None if hard is None else DECIDING_SHARE * hard):
                unseen = out_of_sample_predictions(
                    fit.estimator, fit.candidate, rows, metric, seed, fit.unseen
                )
        except OutOfTime:
            if unseen is None:
                raise
        return choose_decision(unseen.predictions, unseen.y, metric, unseen.weight)

    def _limit_of_scoring(self) -> float | None:
        hard = self.plan.limits.hard
        return None if hard is None else max(SCORING_SHARE * hard, hard - self.outcome.fit_seconds)

    def _score(self, estimator: Any, decision: Decision) -> None:
        """Predict and score the test rows."""
        context, outcome = self.context, self.outcome
        test = context.rows(self.split.test)
        began = time.perf_counter()
        predictions = predict_in_blocks(estimator, test.X, context.metric)
        outcome.predict_microseconds = (time.perf_counter() - began) / len(test) * 1e6
        if not np.isfinite(predictions).all():
            wrong = int((~np.isfinite(predictions.reshape(len(test), -1)).all(axis=1)).sum())
            raise ValueError(
                f"the predictions for {wrong:,} of {len(test):,} test rows are NaN or infinite; the method"
                " must predict finite numbers"
            )
        # In single precision, as the checkpoint stores them: scores and later bootstrap intervals are of the
        # same predictions.
        predictions = predictions.astype(np.float32)
        outcome.metrics = scores_of(context.metrics, test.y, predictions, decision, test.weight)
        outcome.score = outcome.metrics[context.metric.name]
        if self.split.number == 0:
            outcome.predictions = predictions
            outcome.evaluation = evaluation_record(
                test.y, predictions.astype(float), context.metric, decision, test.weight
            )


def _n_fits(curve: CurveRecord | None) -> int:
    """Return the approximate number of fits behind a validation curve."""
    if curve is None:
        return 1
    per_point = FOLDS if "fold" in curve["by"] else MIN_BAGS if "bootstrap" in curve["by"] else 1
    return len(curve["points"]) * per_point


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
