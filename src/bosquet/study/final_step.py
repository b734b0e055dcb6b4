"""The last step of a study: the chosen method is fitted to all rows and explained."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bosquet.study.compare.choice import Choice
from bosquet.study.compare.ranking import interval_of_next_block
from bosquet.study.explain.explainer import Explainer
from bosquet.study.methods.candidates import candidate_with
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.metrics.formatting import format_score, in_sentence
from bosquet.study.record import ChosenRecord, FinalFit
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.final_model import TIME_MARGIN, fit_candidate, fit_final
from bosquet.study.run.next_block import block_scores
from bosquet.study.run.schedule import Schedule
from bosquet.study.run.training_rows import training_rows
from bosquet.study.run.trial import TrialPlan, run_trial
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import seed_of
from bosquet.study.tuning.thresholds import (
    THRESHOLD_FOLDS,
    Decision,
    choose_decision,
    out_of_fold_predictions,
    stored_predictions,
)
from bosquet.study.tuning.time_limits import TimeLimits

# Share of the budget after which no fits are started for the threshold of the final model.
END_OF_DECIDING = 0.85
# Least soft limit, in seconds, if the chosen method has to be tuned again.
MIN_SOFT_LIMIT = 1.0


@dataclass(frozen=True)
class FinalResult:
    """The final model and its explanation."""

    model: Any  # fitted to all rows of the tidied table
    decision: Decision | None  # None for regression
    chosen: ChosenRecord
    fit: FinalFit
    next_block: list[float] | None = None  # with a time column, the interval of the next score


@dataclass
class FinalStep:
    """Fit the chosen method to all rows, choose its threshold and explain it; `notes` are for the report."""

    table: StudyTable
    context: StudyContext
    schedule: Schedule
    method: Method
    clock: StudyClock
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outcome = self.schedule.outcomes(self.method)[0]

    def run(self, choice: Choice) -> FinalResult:
        """Return the final model with its explanation."""
        context, outcome, split = self.context, self.outcome, self.schedule.splits[0]
        indices, _ = training_rows(context, self.method, split.train, None, outcome)
        candidate, model_of_split = self._model_of_first_split(indices)
        model, rows, fit = fit_final(context, self.method, candidate, outcome, self.clock)
        decision = next_block = None
        if context.target.is_classes:
            decision = self._final_decision(candidate, model, rows)
        if context.design.time is not None:
            next_block = self._interval_of_next_block(candidate)
        explainer = Explainer(
            context,
            split,
            candidate,
            outcome,
            model_of_split,
            indices,
            self.table.row_labels,
            self.clock,
        )
        chosen = explainer.explain(choice)
        chosen["rows_called"] = self.table.row_label_note
        self.notes += explainer.notes
        return FinalResult(model, decision, chosen, fit, next_block)

    def _model_of_first_split(self, indices: np.ndarray) -> tuple[Candidate, Any]:
        """Return the candidate of the first split and its fit; in a resumed study they are fitted again."""
        context, method, outcome = self.context, self.method, self.outcome
        split = self.schedule.splits[0]
        candidate = context.candidates.get(method.name)
        model = self.schedule.fitted.get(method.name)
        if candidate is not None and model is not None:
            return candidate, model
        # The checkpoint has the chosen hyper-parameters; tuning again would take time.
        if candidate is None and self.clock.timed:
            shape = replace(context.shape, n_rows=len(indices))
            candidate = candidate_with(method, shape, outcome.setting)
        if candidate is None:
            soft = max(self.clock.seconds_left(), MIN_SOFT_LIMIT) if self.clock.timed else None
            plan = TrialPlan(self.schedule.combine(method, split, soft, outcome), TimeLimits(soft))
            repeated_outcome, model = run_trial(context, split, plan)
            if model is not None and repeated_outcome.setting == outcome.setting:
                return context.candidates[method.name], model
            candidate = context.candidates.get(method.name)
        if candidate is None:
            raise ValueError(
                f"the chosen method, {method.title}, could not be fitted again: {outcome.message}"
            )
        seed = seed_of(context.random_state, "fit", method.name, split.number)
        return candidate, fit_candidate(candidate, context.rows(indices), seed)

    def _final_decision(self, candidate: Candidate, model: Any, rows: TableRows) -> Decision:
        """Return the decision rule of the final model; if time is short, that of the first split.

        The final model has more rows than the first split, which matters for the threshold of a rare class.
        """
        metric, outcome = self.context.metric, self.outcome
        of_first_split = Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)
        if outcome.threshold is None:
            return of_first_split
        out_of_sample = stored_predictions(model, rows, metric)
        seconds = THRESHOLD_FOLDS * TIME_MARGIN * outcome.one_fit_seconds
        if out_of_sample is None and seconds < self.clock.seconds_left(END_OF_DECIDING):
            seed = seed_of(self.context.random_state, "threshold", "all")
            with warnings.catch_warnings(), suppress(Exception):  # falls back to the first split
                warnings.simplefilter("ignore")
                out_of_sample = out_of_fold_predictions(candidate, rows, metric, seed)
        if out_of_sample is None:
            return of_first_split
        decision = choose_decision(
            out_of_sample.predictions, out_of_sample.y, metric, out_of_sample.weight
        )
        label = str(metric.classes[metric.positive])
        self.notes.append(
            f"The final model was fitted to {len(rows):,} rows and predicts {label!r} if its probability is"
            f" at least {decision.threshold:.3g}; the threshold on the first split was"
            f" {outcome.threshold:.3g}."
        )
        return decision

    def _interval_of_next_block(self, candidate: Candidate) -> list[float] | None:
        """Test the chosen method on further blocks of time; return the interval of its score on the next."""
        metric, outcomes = self.context.metric, self.schedule.outcomes(self.method)
        scores = block_scores(self.context, self.method, candidate, outcomes, self.clock)
        further = scores[len(outcomes) :]
        if further:
            self.notes.append(
                f"Only {self.method.title} was tested on {len(further)} further blocks of time:"
                f" {in_sentence(metric.title)} {', '.join(map(format_score, further))}."
            )
        return interval_of_next_block(scores, metric)
