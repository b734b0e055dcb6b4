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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet import __version__
from bosquet.study.compare.choice import Choice, choose
from bosquet.study.compare.external_test import check_test_table
from bosquet.study.compare.notes import notes_on_comparison
from bosquet.study.compare.ranking import rank_methods
from bosquet.study.exploration import explore
from bosquet.study.exploration.alarms import alarm_findings
from bosquet.study.final_step import FinalResult, FinalStep
from bosquet.study.methods import METHODS
from bosquet.study.methods.bayes_rule import BayesRule, bayes_rule_method
from bosquet.study.methods.method import BASELINE, Method
from bosquet.study.methods.shapes import table_shape
from bosquet.study.metrics.custom_metric import check_metric, custom_metric
from bosquet.study.metrics.metric import (
    Metric,
    MetricError,
    default_metric,
    metric_named,
    metrics_of,
)
from bosquet.study.options import StudyOptions, checked_costs, checked_tune_by
from bosquet.study.record import (
    Comparison,
    MethodRecord,
    Record,
    Verdict,
    non_finite_to_none,
    to_json_types,
)
from bosquet.study.run.checkpoint import Checkpoint, fingerprint_of_table
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.machine import limited_resources, n_parallel_fits
from bosquet.study.run.order import in_order
from bosquet.study.run.progress import ProgressReporter, introduction_line
from bosquet.study.run.schedule import REPEATS_COUNTED, REPEATS_TIMED, Schedule
from bosquet.study.run.time_features import choose_time_features
from bosquet.study.run.trial_runner import LOCAL_TRIALS, TrialRunner
from bosquet.study.table.design import fingerprint
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.splits import StudySplit
from bosquet.study.tuning.thresholds import Decision
from bosquet.tables.frames import as_frame

VERSION = 4


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

    def __init__(
        self,
        table: StudyTable,
        options: StudyOptions,
        clock: StudyClock,
        runner: TrialRunner = LOCAL_TRIALS,
    ):
        self.table, self.options, self.clock, self.runner = table, options, clock, runner
        target = table.target
        costs = checked_costs(options.costs, target)
        self.metrics = metrics_of(
            target.task, target.classes, positive=target.positive, costs=costs
        )
        self.metric = self._make_metric(costs)
        if not isinstance(options.metric, str):
            self.metrics.insert(0, self.metric)
        self.methods = self._choose_methods()
        self.context = StudyContext(
            X=table.X,
            target=target,
            metric=self.metric,
            metrics=self.metrics,
            shape=_table_shape(table),
            random_state=options.random_state,
            n_jobs=n_parallel_fits(options.n_jobs),
            tune_by=checked_tune_by(options.tune_by, self.methods),
            design=table.design,
        )
        self.notes = list(table.notes)

    def _make_metric(self, costs: np.ndarray | None) -> Metric:
        """Return the metric of the study: the one of a given name, the default, or a custom metric."""
        target, design, metric_option = self.table.target, self.table.design, self.options.metric
        if isinstance(metric_option, str):
            name = default_metric(target.task, target.positive_share, costs)
            name = name if metric_option == "auto" else metric_option
            return metric_named(
                name, target.task, target.classes, positive=target.positive, costs=costs
            )
        metric = custom_metric(
            metric_option,
            target.task,
            target.classes,
            positive=target.positive,
            costs=costs,
            weighted=design.weight is not None,
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
                return self._run_steps()
        except MetricError as error:
            raise ValueError(str(error)) from error.__cause__

    def _run_steps(self) -> StudyResult:
        """Run steps 2 to 7."""
        checkpoint = Checkpoint(self.options.checkpoint, self._checkpoint_heading())
        self.clock.seconds_before = checkpoint.seconds
        reporter = self._make_reporter()
        exploration = self._explore()
        for finding in alarm_findings(exploration):
            reporter.write(f"warning: {finding['message']}")
        if checkpoint.outcomes:
            reporter.write(checkpoint.summary())
        schedule = Schedule(
            self.context,
            self.methods,
            self.clock,
            checkpoint,
            self._number_of_repeats(),
            reporter.report_outcome,
            self.runner,
        )
        schedule.run()
        method_records, comparison = rank_methods(schedule, self.methods)
        choice = self._choose(method_records)
        reporter.write(choice.why)
        self.notes += [
            *schedule.notes,
            *notes_on_comparison(method_records, schedule, self.methods),
        ]
        final = self._fit_and_explain(schedule, choice, method_records)
        record = self._build_record(
            exploration, schedule, method_records, comparison, choice.verdict, final
        )
        return StudyResult(record, final.model, final.decision, schedule.splits, self.metrics)

    def _make_reporter(self) -> ProgressReporter:
        """Return the reporter of progress, after it has introduced the study."""
        width = max(len(method.title) for method in self.methods)
        reporter = ProgressReporter(self.options.verbose, self.clock, self.metric, width)
        reporter.write(
            introduction_line(self.table, self.metric, self.options.budget, len(self.methods))
        )
        return reporter

    def _choose(self, method_records: list[MethodRecord]) -> Choice:
        """Return the choice among the methods; raise ValueError if none has a score."""
        choice = choose(method_records, self.metric, self.metrics)
        if choice is None:
            reasons = "; ".join(
                f"{record['title']}: {record['message']}" for record in method_records[:3]
            )
            raise ValueError(
                f"no method could be fitted to this table ({reasons}); pass other methods, or check the table"
                " with bosquet info"
            )
        return choice

    def _fit_and_explain(
        self, schedule: Schedule, choice: Choice, method_records: list[MethodRecord]
    ) -> FinalResult:
        """Fit the chosen method to all rows and explain it."""
        method = next(method for method in self.methods if method.name == choice.name)
        final_step = FinalStep(self.table, self.context, schedule, method, self.clock)
        final = final_step.run(choice)
        if self.table.design.time is not None:
            chosen = next(record for record in method_records if record["name"] == choice.name)
            chosen["interval"] = final.next_block
        self.notes += final_step.notes
        return final

    def _choose_time_features(self) -> None:
        """Leave elapsed time out of the features if later blocks of time are predicted better without it."""
        if self.table.design.time is None:
            return
        table, note = choose_time_features(self.table, self.metric, self.options.random_state)
        if note:
            self.table = table
            self.context = replace(self.context, X=table.X, shape=_table_shape(table))
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
        return explore(
            frame,
            target.name,
            target.task,
            test,
            tidier=self.table.tidier,
            design_columns=design.columns,
            group=design.group,
        )

    # ------------------------------------------------------------------- methods
    def _choose_methods(self) -> list[Method]:
        """Return the methods of the study in the order in which they are run, with the constant."""
        task = self.table.target.task
        methods = list(self.options.methods or METHODS.values())
        methods = [method for method in methods if task in method.tasks]
        if not methods:
            names = ", ".join(method.name for method in self.options.methods or METHODS.values())
            raise ValueError(
                f"none of the methods ({names}) supports the task {task!r}; pass other methods"
            )
        if not any(method.name == BASELINE for method in methods):
            methods.insert(0, METHODS[BASELINE])
        if self.options.bayes is not None:
            rule = BayesRule(self.options.bayes, self.table.target)
            methods.append(bayes_rule_method(rule, frozenset({task})))
        if self.table.design.offset_column is not None:
            methods = [_with_offset(method) for method in methods]
        return in_order(methods)

    def _number_of_repeats(self) -> int:
        if self.options.repeats is not None:
            return self.options.repeats
        return REPEATS_COUNTED if self.options.budget is None else REPEATS_TIMED

    def _checkpoint_heading(self) -> dict[str, Any]:
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

    # -------------------------------------------------------------------- record
    def _build_record(
        self,
        exploration: Any,
        schedule: Schedule,
        method_records: list[MethodRecord],
        comparison: Comparison,
        verdict: Verdict,
        final: FinalResult,
    ) -> Record:
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
            "metric": self.metric.describe(),
            "metrics": [metric.describe() for metric in self.metrics],
            "costs": None if self.metric.costs is None else self.metric.costs.tolist(),
            "n_rows": len(target.y),
            "n_test": len(schedule.splits[0].test),
            "repeats": len(schedule.splits),
            "budget": self.options.budget,
            "seconds": round(self.clock.elapsed(), 2),
            "random_state": self.options.random_state,
            "exploration": exploration,
            "methods": method_records,
            "comparison": comparison,
            "verdict": verdict,
            "final": final.fit,
            "chosen": final.chosen,
            "notes": self.notes,
        }
        design = self.table.design
        if design:
            kind, columns = self.context.splits.kind, dict(design.columns)
            record["design"] = {"splits": kind, "columns": columns}
        return non_finite_to_none(to_json_types(record))


def _table_shape(table: StudyTable) -> Any:
    offset = table.design.offset_column
    X = table.X if offset is None else offset.features(table.X)
    return replace(table_shape(X, table.target.y, table.target.task), offset=offset)


def _with_offset(method: Method) -> Method:
    """Return a method for a table with an offset: without AIC and BIC; unsuited if it takes no offset."""
    if not method.takes_offset:
        return replace(method, why_unsuited=lambda shape: "it does not take an offset")
    return replace(method, likelihood=False)
