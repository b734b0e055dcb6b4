"""The seven steps, one after the other: from a table to a record of what was found."""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet.study.compare.choice import Choice, choose
from bosquet.study.compare.intervals import FEWEST_SPLITS
from bosquet.study.compare.ranking import of_next_block, ranked, truths_method
from bosquet.study.explain.winner import Explainer
from bosquet.study.exploration.alarms import alarms
from bosquet.study.methods.bayes_rule import TrueRule
from bosquet.study.methods.candidates import candidate_with
from bosquet.study.methods.method import BASELINE, Candidate, Method
from bosquet.study.metrics.formatting import figure
from bosquet.study.metrics.own_metric import check_metric, own_metric
from bosquet.study.metrics.scoring import (
    Metric,
    MetricError,
    default_metric,
    metric_named,
    metrics_of,
)
from bosquet.study.options import Wishes, checked_costs, checked_ways
from bosquet.study.record import Comparison, FinalFit, MethodRecord, Record, Verdict, finite, plain
from bosquet.study.run.checkpoint import Journal, fingerprint_of_table
from bosquet.study.run.clock import Clock
from bosquet.study.run.final_model import DEARER, fit_final, fitted
from bosquet.study.run.machine import fits_at_a_time, modest
from bosquet.study.run.next_block import block_scores
from bosquet.study.run.order import in_order
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.progress import Teller, introduction
from bosquet.study.run.schedule import (
    REPEATS_COUNTED,
    REPEATS_TIMED,
    Schedule,
)
from bosquet.study.run.time_features import choose_time_features
from bosquet.study.run.trial import Setting, run_trial, training_rows
from bosquet.study.table.design import Design, fingerprint
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.splits import Split, seed_of
from bosquet.study.tuning.thresholds import (
    FOLDS,
    Decision,
    answers_at_hand,
    choose_decision,
    out_of_fold,
)
from bosquet.tables.frames import as_frame

VERSION = 2
# Share of the budget after which no fits are begun for the threshold of the model that is kept.
END_OF_DECIDING = 0.85


@dataclass
class Result:
    """What a run ends with."""

    record: Record
    model: Any  # fitted to all rows, tidy ones
    decision: Decision | None
    splits: list[Split]
    metrics: list[Metric]


class Run:
    """One study of one table."""

    final: FinalFit  # of the model that is kept

    def __init__(self, table: StudyTable, wishes: Wishes, clock: Clock):
        self.table, self.wishes, self.clock = table, wishes, clock
        target = table.target
        costs = checked_costs(wishes.costs, target)
        of: dict[str, Any] = {"positive": target.positive, "costs": costs}
        self.metrics = metrics_of(target.task, target.classes, **of)
        self.metric = self._metric(of)
        if not isinstance(wishes.metric, str):
            self.metrics.insert(0, self.metric)
        note = ""
        if table.design.time is not None:
            table, note = choose_time_features(table, self.metric, wishes.random_state)
            self.table = table
        self.methods = self._methods()
        self.setting = Setting(
            table.X,
            target,
            self.metric,
            self.metrics,
            _shape(table),
            wishes.random_state,
            fits_at_a_time(wishes.n_jobs),
            checked_ways(wishes.tune_by, self.methods),
            design=table.design,
        )
        self.notes = [*table.notes, *filter(None, [note])]

    def _metric(self, of: dict[str, Any]) -> Metric:
        """What methods are judged by: the metric of that name, the default, or the user's own."""
        target, design, asked = self.table.target, self.table.design, self.wishes.metric
        if isinstance(asked, str):
            name = default_metric(target.task, target.looked_for, of["costs"])
            name = name if asked == "auto" else asked
            return metric_named(name, target.task, target.classes, **of)
        weighted = design.weight is not None
        metric = own_metric(asked, target.task, target.classes, **of, weighted=weighted)
        check_metric(metric, target.y, design.weight, "on all rows")
        return metric

    def check_metric_on(self, y: np.ndarray, weight: np.ndarray | None) -> None:
        """Whether a metric of the user's own can score the rows of a test table."""
        if not self.metric.bounded and len(y):
            check_metric(self.metric, y, weight, "on the test table")

    # ------------------------------------------------------------------ all of it
    def go(self) -> Result:
        """Explore, split, tune, compare, repeat, choose, explain."""
        values = len(self.table.X) * self.setting.shape.n_indicators
        try:
            with modest(values, self.setting.n_jobs):
                return self._steps()
        except MetricError as error:
            raise ValueError(str(error)) from error.__cause__

    def _steps(self) -> Result:
        journal = Journal(self.wishes.checkpoint, self._heading())
        self.clock.before = journal.seconds
        width = max(len(method.title) for method in self.methods)
        teller = Teller(self.wishes.verbose, self.clock, self.metric, width)
        teller.say(introduction(self.table, self.metric, self.wishes.budget, len(self.methods)))
        exploration = self._explored()
        for finding in alarms(exploration):
            teller.say(f"look here first: {finding['message']}")
        if journal.outcomes:
            teller.say(journal.told())
        schedule = Schedule(
            self.setting, self.methods, self.clock, journal, self._repeats(), teller.outcome
        )
        schedule.run()
        rows, comparison = ranked(schedule, self.methods)
        choice = choose(rows, self.metric, self.metrics)
        if choice is None:
            reasons = "; ".join(f"{row['title']}: {row['message']}" for row in rows[:3])
            raise ValueError(f"no method could be fitted to this table: {reasons}")
        teller.say(choice.why)
        self.notes += [*schedule.notes, *self._notes(rows, schedule)]
        model, decision, winner = self._winner(schedule, choice, rows)
        found = (rows, comparison, choice.verdict)
        record = self._record(exploration, found, winner, schedule)
        return Result(record, model, decision, schedule.splits, self.metrics)

    def _explored(self) -> Any:
        from bosquet.study.exploration import explore

        target = self.table.target
        frame = self.table.raw.assign(**{target.name: target.y})
        test = None if self.wishes.test is None else as_frame(self.wishes.test)
        design = self.table.design
        known: dict[str, Any] = {"given": design.columns, "group": design.group}
        return explore(frame, target.name, target.task, test, tidier=self.table.tidier, **known)

    # ------------------------------------------------------------------- methods
    def _methods(self) -> list[Method]:
        from bosquet.study.methods import METHODS

        task = self.table.target.task
        chosen = list(self.wishes.methods or METHODS.values())
        chosen = [method for method in chosen if task in method.tasks]
        if not chosen:
            raise ValueError(f"none of the methods is for a {task} task")
        if not any(method.name == BASELINE for method in chosen):
            chosen.insert(0, METHODS[BASELINE])
        if self.wishes.bayes is not None:
            rule = TrueRule(self.wishes.bayes, self.table.target)
            chosen.append(truths_method(rule, frozenset({task})))
        if self.table.design.offset_column is not None:
            chosen = [_by_offset(method) for method in chosen]
        return in_order(chosen)

    def _repeats(self) -> int:
        if self.wishes.repeats is not None:
            return self.wishes.repeats
        return REPEATS_COUNTED if self.wishes.budget is None else REPEATS_TIMED

    def _heading(self) -> dict[str, Any]:
        """What the outcomes follow from; a checkpoint of anything else is not gone on with."""
        if self.wishes.checkpoint is None:
            return {}
        wishes = self.wishes
        return plain(
            {
                "table": fingerprint_of_table(self.table.X, self.table.target.y),
                "target": self.table.target.name,
                "task": self.table.target.task,
                "methods": [method.name for method in self.methods],
                "metric": self.metric.name,
                "costs": self.metric.costs,
                "random_state": wishes.random_state,
                **({} if wishes.positive is None else {"positive": str(wishes.positive)}),
                **({} if not self.table.design else {"design": fingerprint(self.table.design)}),
                **({} if wishes.tune_by is None else {"tune_by": self.setting.tune_by}),
                "schedule": "counted" if wishes.budget is None else "timed",
            }
        )

    # -------------------------------------------------------------------- winner
    def _winner(
        self, schedule: Schedule, choice: Choice, records: list[MethodRecord]
    ) -> tuple[Any, Decision | None, Any]:
        """The chosen method fitted to all rows, how it decides, and what there is to say of it."""
        method = next(method for method in self.methods if method.name == choice.name)
        outcome = schedule.outcomes(method)[0]
        split = schedule.splits[0]
        rows, _ = training_rows(self.setting, method, split.train, None, outcome)
        candidate, model_of_split = self._refitted(schedule, method, outcome, split, rows)
        model, kept, self.final = fit_final(self.setting, method, candidate, outcome, self.clock)
        decision = None
        if self.setting.target.is_classes:
            X, y = self.setting.X.iloc[kept], self.setting.y[kept]
            known = self.setting.design.take(kept)
            decision = self._decision(candidate, model, X, y, known, outcome)
        if self.table.design.time is not None:
            record = next(one for one in records if one["name"] == choice.name)
            self._add_blocks(record, schedule, method, candidate)
        explainer = Explainer(
            self.setting,
            split,
            candidate,
            outcome,
            model_of_split,
            rows,
            self.table.labels,
            self.clock,
        )
        winner = explainer.explain(choice)
        winner["rows_called"] = self.table.rows_called
        self.notes += explainer.notes
        return model, decision, winner

    def _add_blocks(
        self, record: MethodRecord, schedule: Schedule, method: Method, candidate: Candidate
    ) -> None:
        """Tests the chosen method on further blocks of time, for the interval of the next one."""
        before = schedule.outcomes(method)
        scores = block_scores(self.setting, method, candidate, before, self.clock)
        record["interval"] = of_next_block(scores, self.metric)
        if len(scores) > len(before):
            self.notes.append(
                f"{method.title} alone was tested on {len(scores) - len(before)} further blocks of time:"
                f" {self.metric.title} {', '.join(figure(one) for one in scores[len(before) :])}."
            )

    def _refitted(
        self, schedule: Schedule, method: Method, outcome: Outcome, split: Split, rows: np.ndarray
    ) -> tuple[Candidate, Any]:
        """The first split's candidate and its fit: as they are, or again where the study was resumed."""
        study = self.setting
        candidate, model = study.candidates.get(method.name), schedule.fitted.get(method.name)
        if candidate is not None and model is not None:
            return candidate, model
        if (
            candidate is None and self.clock.timed
        ):  # what was chosen is known; tuning again takes time
            shape = replace(study.shape, n_rows=len(rows))
            candidate = candidate_with(method, shape, outcome.setting)
        if candidate is None:
            seconds = self._again()
            ready = schedule.told_of_others(method, split, seconds, outcome)
            again, model = run_trial(study, ready, split, seconds=seconds, first=None)
            if model is not None and again.setting == outcome.setting:
                return study.candidates[method.name], model
            candidate = study.candidates.get(method.name)
        if candidate is None:
            raise ValueError(f"{method.title} could not be fitted again: {outcome.message}")
        seed = seed_of(study.random_state, "fit", method.name, split.number)
        design = study.design.take(rows)
        return candidate, fitted(candidate, seed, study.X.iloc[rows], study.y[rows], design)

    def _again(self) -> float | None:
        return None if not self.clock.timed else max(self.clock.left(), 1.0)

    def _decision(
        self,
        candidate: Candidate,
        model: Any,
        X: Any,
        y: np.ndarray,
        design: Design,
        outcome: Outcome,
    ) -> Decision:
        """How the model that is kept decides: by its own rows, or as on the first split where time is short.

        Of a rare class every row counts, and the first split's threshold knows four in five of them.
        """
        metric = self.metric
        as_before = Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)
        if outcome.threshold is None:
            return as_before
        found = answers_at_hand(model, y, metric, design)
        seconds = FOLDS * DEARER * outcome.one_fit_seconds
        if found is None and seconds < self.clock.left(END_OF_DECIDING):
            seed = seed_of(self.setting.random_state, "threshold", "all")
            with warnings.catch_warnings(), suppress(Exception):  # the first split's will do
                warnings.simplefilter("ignore")
                found = out_of_fold(candidate, X, y, metric, seed, design=design)
        if found is None:
            return as_before
        decision = choose_decision(found.answer, found.y, metric, found.weight)
        label = str(metric.classes[metric.positive])
        self.notes.append(
            f"The model that is kept was fitted to {len(y):,} rows and decides for {label!r} from a"
            f" probability of {decision.threshold:.3g} on; on the first split it was {outcome.threshold:.3g}."
        )
        return decision

    # -------------------------------------------------------------------- record
    def _notes(self, rows: list[MethodRecord], schedule: Schedule) -> list[str]:
        notes = []
        fewer = [row for row in rows if row["subsampled"]]
        if fewer:
            told = "; ".join(f"{row['title']} on {row['rows_used']:,}" for row in fewer)
            notes.append(f"Too expensive for all training rows, and tuned on a subsample: {told}.")
        if self.table.design.time is not None:
            notes.append(
                "Intervals of scores are for the next block of rows in time: they contain its score with"
                f" 95 % confidence if blocks differ as the {len(schedule.splits)} of the study do; fewer"
                " than 3 give none."
            )
        elif len(schedule.splits) < FEWEST_SPLITS:
            notes.append(
                "Intervals are from draws of the first split's test rows: with fewer than"
                f" {FEWEST_SPLITS} splits they do not know how scores change with the training rows."
            )
        own = [method.title for method in self.methods if self._in_its_own_way(method, schedule)]
        if own:
            notes.append(
                f"Tuned in their own way, for the one asked for is not theirs: {'; '.join(own)}."
            )
        late = [row["title"] for row in rows if row["status"] == "not reached"]
        if late:
            notes.append(f"No time was left for {'; '.join(late)}.")
        return notes

    def _in_its_own_way(self, method: Method, schedule: Schedule) -> bool:
        """Whether a method was to be tuned in a way that it cannot be tuned in."""
        study, outcomes = self.setting, schedule.outcomes(method)
        if method.name not in study.tune_by or not outcomes or outcomes[0].curve is None:
            return False
        return study.way(method, study.shape) is None

    def _record(
        self,
        exploration: Any,
        found: tuple[list[MethodRecord], Comparison, Verdict],
        winner: Any,
        schedule: Schedule,
    ) -> Record:
        from bosquet import __version__

        rows, comparison, verdict = found
        target = self.table.target
        positive = str(target.classes[target.positive]) if target.task == "binary" else None
        record: Record = {
            "version": VERSION,
            "bosquet": __version__,
            "title": self.wishes.title or f"Study of {target.name}",
            "source": self.wishes.source,
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
            "budget": self.wishes.budget,
            "seconds": round(self.clock.elapsed(), 2),
            "random_state": self.wishes.random_state,
            "exploration": exploration,
            "methods": rows,
            "comparison": comparison,
            "verdict": verdict,
            "final": self.final,
            "winner": winner,
            "notes": self.notes,
        }
        design = self.table.design
        if design:
            kind, columns = self.setting.splits.kind, dict(design.columns)
            record["design"] = {"splits": kind, "columns": columns}
        return finite(plain(record))


def _shape(table: StudyTable) -> Any:
    from bosquet.study.methods.shapes import table_shape

    offset = table.design.offset_column
    X = table.X if offset is None else offset.features(table.X)
    return replace(table_shape(X, table.target.y, table.target.task), offset=offset)


def _by_offset(method: Method) -> Method:
    """A method of a table with an offset: without information criteria, or left out if it takes none."""
    if not method.takes_offset:
        return replace(method, suits=lambda shape: "it does not take an offset")
    return replace(method, likelihood=False)
