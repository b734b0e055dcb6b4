"""The run of a study.

A study has seven steps:

1. read the table;
2. explore it and report leaks, duplicates and drift;
3. split it at random into training rows and test rows;
4. tune the hyper-parameters of every method on the training rows;
5. compare the tuned methods on the test rows;
6. repeat on other splits;
7. choose one method, explain it and fit it to all rows.

`Study.fit` does step 1, `StudyRun` the others. If the table has a time column, the run first decides whether
elapsed time is a feature.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet import __version__
from bosquet.study.compare.choice import Choice, choose
from bosquet.study.compare.external_test import check_test_table
from bosquet.study.compare.notes import notes_on_comparison
from bosquet.study.compare.ranking import interval_of_next_block, ranked
from bosquet.study.explain.explainer import Explainer
from bosquet.study.exploration import explore
from bosquet.study.exploration.alarms import alarms
from bosquet.study.methods import METHODS
from bosquet.study.methods.bayes_rule import BayesRule, bayes_rule_method
from bosquet.study.methods.candidates import candidate_with
from bosquet.study.methods.method import BASELINE, Candidate, Method
from bosquet.study.methods.shapes import table_shape
from bosquet.study.metrics.custom_metric import check_metric, custom_metric
from bosquet.study.metrics.formatting import format_score
from bosquet.study.metrics.metric import (
    Metric,
    MetricError,
    default_metric,
    metric_named,
    metrics_of,
)
from bosquet.study.options import StudyOptions, checked_costs, checked_tune_by
from bosquet.study.record import (
    ChosenRecord,
    Comparison,
    FinalFit,
    MethodRecord,
    Record,
    Verdict,
    non_finite_to_none,
    to_json_types,
)
from bosquet.study.run.checkpoint import Checkpoint, fingerprint_of_table
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.final_model import TIME_MARGIN, fit_final, fitted
from bosquet.study.run.machine import limited_resources, n_parallel_fits
from bosquet.study.run.next_block import block_scores
from bosquet.study.run.order import in_order
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.progress import ProgressReporter, introduction
from bosquet.study.run.schedule import (
    REPEATS_COUNTED,
    REPEATS_TIMED,
    Schedule,
)
from bosquet.study.run.time_features import choose_time_features
from bosquet.study.run.training_rows import training_rows
from bosquet.study.run.trial import run_trial
from bosquet.study.table.design import Design, fingerprint
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.splits import StudySplit, seed_of
from bosquet.study.tuning.thresholds import (
    THRESHOLD_FOLDS,
    Decision,
    choose_decision,
    out_of_fold_predictions,
    stored_predictions,
)
from bosquet.tables.frames import as_frame

VERSION = 3
# Share of the budget after which no fits are started for the threshold of the final model.
END_OF_DECIDING = 0.85


@dataclass
class StudyResult:
    """The result of a run: the record and the final model."""

    record: Record
    model: Any  # fitted to all rows of the tidied table
    decision: Decision | None
    splits: list[StudySplit]
    metrics: list[Metric]


class StudyRun:
    """Steps 2 to 7 of one study, from the tidied table to the record and the final model."""

    final: FinalFit  # rows and seconds of the final fit

    def __init__(self, table: StudyTable, options: StudyOptions, clock: StudyClock):
        self.table, self.options, self.clock = table, options, clock
        target = table.target
        costs = checked_costs(options.costs, target)
        of_target: dict[str, Any] = {"positive": target.positive, "costs": costs}
        self.metrics = metrics_of(target.task, target.classes, **of_target)
        self.metric = self._metric(of_target)
        if not isinstance(options.metric, str):
            self.metrics.insert(0, self.metric)
        self.methods = self._methods()
        self.context = StudyContext(
            table.X,
            target,
            self.metric,
            self.metrics,
            _shape(table),
            options.random_state,
            n_parallel_fits(options.n_jobs),
            checked_tune_by(options.tune_by, self.methods),
            design=table.design,
        )
        self.notes = list(table.notes)

    def _metric(self, of_target: dict[str, Any]) -> Metric:
        """Return the metric of the study: the one of a given name, the default, or a custom metric."""
        target, design, metric_option = self.table.target, self.table.design, self.options.metric
        if isinstance(metric_option, str):
            name = default_metric(target.task, target.positive_share, of_target["costs"])
            name = name if metric_option == "auto" else metric_option
            return metric_named(name, target.task, target.classes, **of_target)
        weighted = design.weight is not None
        metric = custom_metric(
            metric_option, target.task, target.classes, **of_target, weighted=weighted
        )
        check_metric(metric, target.y, design.weight, "on all rows")
        return metric

    # ----------------------------------------------------------------- all steps
    def run(self) -> StudyResult:
        """Run all steps and return the result."""
        self._choose_time_features()
        self._check_test_table()  # afterwards, because it need not have a column that was left out
        values = len(self.table.X) * self.context.shape.n_indicators
        try:
            with limited_resources(values, self.context.n_jobs):
                return self._steps()
        except MetricError as error:
            raise ValueError(str(error)) from error.__cause__

    def _steps(self) -> StudyResult:
        checkpoint = Checkpoint(self.options.checkpoint, self._heading())
        self.clock.before = checkpoint.seconds
        width = max(len(method.title) for method in self.methods)
        reporter = ProgressReporter(self.options.verbose, self.clock, self.metric, width)
        reporter.write(
            introduction(self.table, self.metric, self.options.budget, len(self.methods))
        )
        exploration = self._explore()
        for finding in alarms(exploration):
            reporter.write(f"warning: {finding['message']}")
        if checkpoint.outcomes:
            reporter.write(checkpoint.summary())
        schedule = Schedule(
            self.context, self.methods, self.clock, checkpoint, self._repeats(), reporter.outcome
        )
        schedule.run()
        rows, comparison = ranked(schedule, self.methods)
        choice = choose(rows, self.metric, self.metrics)
        if choice is None:
            reasons = "; ".join(f"{row['title']}: {row['message']}" for row in rows[:3])
            raise ValueError(f"no method could be fitted to this table: {reasons}")
        reporter.write(choice.why)
        self.notes += [*schedule.notes, *notes_on_comparison(rows, schedule, self.methods)]
        model, decision, chosen = self._fit_and_explain(schedule, choice, rows)
        found = (rows, comparison, choice.verdict)
        record = self._build_record(exploration, found, chosen, schedule)
        return StudyResult(record, model, decision, schedule.splits, self.metrics)

    def _choose_time_features(self) -> None:
        """Leave elapsed time out of the features if later blocks of time are predicted better without it."""
        if self.table.design.time is None:
            return
        table, note = choose_time_features(self.table, self.metric, self.options.random_state)
        if note:
            self.table = table
            self.context = replace(self.context, X=table.X, shape=_shape(table))
            self.notes.append(note)

    def _check_test_table(self) -> None:
        """Check that the test table has the needed columns and that a custom metric can score its rows."""
        if self.options.test is None:
            return
        table = self.table
        y, weight = check_test_table(
            as_frame(self.options.test), table.tidier, table.target, table.design
        )
        if not self.metric.bounded and len(y):
            check_metric(self.metric, y, weight, "on the test table")

    def _explore(self) -> Any:
        target = self.table.target
        frame = self.table.raw.assign(**{target.name: target.y})
        test = None if self.options.test is None else as_frame(self.options.test)
        design = self.table.design
        known: dict[str, Any] = {"given": design.columns, "group": design.group}
        return explore(frame, target.name, target.task, test, tidier=self.table.tidier, **known)

    # ------------------------------------------------------------------- methods
    def _methods(self) -> list[Method]:
        task = self.table.target.task
        chosen = list(self.options.methods or METHODS.values())
        chosen = [method for method in chosen if task in method.tasks]
        if not chosen:
            names = ", ".join(method.name for method in self.options.methods or METHODS.values())
            raise ValueError(
                f"none of the methods ({names}) supports the task {task!r};"
                " pass other methods, or methods=None for all that do."
            )
        if not any(method.name == BASELINE for method in chosen):
            chosen.insert(0, METHODS[BASELINE])
        if self.options.bayes is not None:
            rule = BayesRule(self.options.bayes, self.table.target)
            chosen.append(bayes_rule_method(rule, frozenset({task})))
        if self.table.design.offset_column is not None:
            chosen = [_by_offset(method) for method in chosen]
        return in_order(chosen)

    def _repeats(self) -> int:
        if self.options.repeats is not None:
            return self.options.repeats
        return REPEATS_COUNTED if self.options.budget is None else REPEATS_TIMED

    def _heading(self) -> dict[str, Any]:
        """Return the data and parameters that determine the outcomes; a checkpoint must have the same."""
        if self.options.checkpoint is None:
            return {}
        options = self.options
        return to_json_types(
            {
                "table": fingerprint_of_table(self.table.X, self.table.target.y),
                "target": self.table.target.name,
                "task": self.table.target.task,
                "methods": [method.name for method in self.methods],
                "metric": self.metric.name,
                "costs": self.metric.costs,
                "random_state": options.random_state,
                **({} if options.positive is None else {"positive": str(options.positive)}),
                **({} if not self.table.design else {"design": fingerprint(self.table.design)}),
                **({} if options.tune_by is None else {"tune_by": self.context.tune_by}),
                "schedule": "counted" if options.budget is None else "timed",
            }
        )

    # -------------------------------------------------------------------- chosen
    def _fit_and_explain(
        self, schedule: Schedule, choice: Choice, records: list[MethodRecord]
    ) -> tuple[Any, Decision | None, ChosenRecord]:
        """Return the final model, its decision rule, and the explanation of the chosen method."""
        method = next(method for method in self.methods if method.name == choice.name)
        outcome = schedule.outcomes(method)[0]
        split = schedule.splits[0]
        rows, _ = training_rows(self.context, method, split.train, None, outcome)
        candidate, model_of_split = self._refitted(schedule, method, outcome, split, rows)
        model, kept, self.final = fit_final(self.context, method, candidate, outcome, self.clock)
        decision = None
        if self.context.target.is_classes:
            X, y = self.context.X.iloc[kept], self.context.y[kept]
            known = self.context.design.take(kept)
            decision = self._final_decision(candidate, model, X, y, known, outcome)
        if self.table.design.time is not None:
            record = next(one for one in records if one["name"] == choice.name)
            self._add_blocks(record, schedule, method, candidate)
        explainer = Explainer(
            self.context,
            split,
            candidate,
            outcome,
            model_of_split,
            rows,
            self.table.labels,
            self.clock,
        )
        chosen = explainer.explain(choice)
        chosen["rows_called"] = self.table.row_label_note
        self.notes += explainer.notes
        return model, decision, chosen

    def _add_blocks(
        self, record: MethodRecord, schedule: Schedule, method: Method, candidate: Candidate
    ) -> None:
        """Test the chosen method on further blocks of time, for the interval of the next block."""
        before = schedule.outcomes(method)
        scores = block_scores(self.context, method, candidate, before, self.clock)
        record["interval"] = interval_of_next_block(scores, self.metric)
        if len(scores) > len(before):
            self.notes.append(
                f"Only {method.title} was tested on {len(scores) - len(before)} further blocks of time:"
                f" {self.metric.title} {', '.join(format_score(one) for one in scores[len(before) :])}."
            )

    def _refitted(
        self,
        schedule: Schedule,
        method: Method,
        outcome: Outcome,
        split: StudySplit,
        rows: np.ndarray,
    ) -> tuple[Candidate, Any]:
        """Return the candidate of the first split and its fit; in a resumed study they are fitted again."""
        context = self.context
        candidate, model = context.candidates.get(method.name), schedule.fitted.get(method.name)
        if candidate is not None and model is not None:
            return candidate, model
        # The checkpoint has the chosen hyper-parameters; tuning again would take time.
        if candidate is None and self.clock.timed:
            shape = replace(context.shape, n_rows=len(rows))
            candidate = candidate_with(method, shape, outcome.setting)
        if candidate is None:
            seconds = self._seconds_left()
            ready = schedule.with_combined_candidates(method, split, seconds, outcome)
            again, model = run_trial(context, ready, split, seconds=seconds, first=None)
            if model is not None and again.setting == outcome.setting:
                return context.candidates[method.name], model
            candidate = context.candidates.get(method.name)
        if candidate is None:
            raise ValueError(
                f"the chosen method, {method.title}, could not be fitted again: {outcome.message}"
            )
        seed = seed_of(context.random_state, "fit", method.name, split.number)
        design = context.design.take(rows)
        return candidate, fitted(candidate, seed, context.X.iloc[rows], context.y[rows], design)

    def _seconds_left(self) -> float | None:
        return None if not self.clock.timed else max(self.clock.left(), 1.0)

    def _final_decision(
        self,
        candidate: Candidate,
        model: Any,
        X: Any,
        y: np.ndarray,
        design: Design,
        outcome: Outcome,
    ) -> Decision:
        """Return the decision rule of the final model; if time is short, that of the first split.

        The final model has more rows than the first split, which matters for the threshold of a rare class.
        """
        metric = self.metric
        of_first_split = Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)
        if outcome.threshold is None:
            return of_first_split
        found = stored_predictions(model, y, metric, design)
        seconds = THRESHOLD_FOLDS * TIME_MARGIN * outcome.one_fit_seconds
        if found is None and seconds < self.clock.left(END_OF_DECIDING):
            seed = seed_of(self.context.random_state, "threshold", "all")
            with warnings.catch_warnings(), suppress(Exception):  # falls back to the first split
                warnings.simplefilter("ignore")
                found = out_of_fold_predictions(candidate, X, y, metric, seed, design=design)
        if found is None:
            return of_first_split
        decision = choose_decision(found.predictions, found.y, metric, found.weight)
        label = str(metric.classes[metric.positive])
        self.notes.append(
            f"The final model was fitted to {len(y):,} rows and predicts {label!r} if its probability is at"
            f" least {decision.threshold:.3g}; the threshold on the first split was {outcome.threshold:.3g}."
        )
        return decision

    # -------------------------------------------------------------------- record
    def _build_record(
        self,
        exploration: Any,
        found: tuple[list[MethodRecord], Comparison, Verdict],
        chosen: ChosenRecord,
        schedule: Schedule,
    ) -> Record:
        rows, comparison, verdict = found
        target = self.table.target
        positive = str(target.classes[target.positive]) if target.task == "binary" else None
        record: Record = {
            "version": VERSION,
            "bosquet": __version__,
            "title": self.options.title or f"Study of {target.name}",
            "source": self.options.source,
            "task": target.task,
            "target": target.name,
            "classes": [str(label) for label in target.classes],
            "positive": positive,
            "metric": self.metric.described(),
            "metrics": [metric.described() for metric in self.metrics],
            "costs": None if self.metric.costs is None else self.metric.costs.tolist(),
            "n_rows": len(target.y),
            "n_test": len(schedule.splits[0].test),
            "repeats": len(schedule.splits),
            "budget": self.options.budget,
            "seconds": round(self.clock.elapsed(), 2),
            "random_state": self.options.random_state,
            "exploration": exploration,
            "methods": rows,
            "comparison": comparison,
            "verdict": verdict,
            "final": self.final,
            "chosen": chosen,
            "notes": self.notes,
        }
        design = self.table.design
        if design:
            kind, columns = self.context.splits.kind, dict(design.columns)
            record["design"] = {"splits": kind, "columns": columns}
        return non_finite_to_none(to_json_types(record))


def _shape(table: StudyTable) -> Any:
    offset = table.design.offset_column
    X = table.X if offset is None else offset.features(table.X)
    return replace(table_shape(X, table.target.y, table.target.task), offset=offset)


def _by_offset(method: Method) -> Method:
    """Return a method for a table with an offset: without AIC and BIC; unsuited if it takes no offset."""
    if not method.takes_offset:
        return replace(method, why_unsuited=lambda shape: "it does not take an offset")
    return replace(method, likelihood=False)
