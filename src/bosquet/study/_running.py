"""The seven steps, one after the other: from a table to a record of what was found."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study._clock import Clock
from bosquet.study._frames import as_frame
from bosquet.study._journal import Journal, fingerprint_of_table
from bosquet.study._machine import fits_at_a_time, modest
from bosquet.study._outcomes import Outcome, finite, plain
from bosquet.study._ranking import ranked, truths_method
from bosquet.study._reading import StudyTable
from bosquet.study._schedule import (
    DEARER,
    NO_TIME,
    REPEATS_COUNTED,
    REPEATS_TIMED,
    Schedule,
    in_order,
)
from bosquet.study._splits import Split, seed_of, subsample
from bosquet.study._telling import Teller, introduction
from bosquet.study._trial import Setting, run_trial, training_rows
from bosquet.study._truth import TrueRule
from bosquet.study.alarms import alarms
from bosquet.study.choosing import BASELINE, TRUTH, Choice, choose
from bosquet.study.comparing import FEWEST_SPLITS
from bosquet.study.deciding import (
    FOLDS,
    Decision,
    answers_at_hand,
    choose_decision,
    out_of_fold,
)
from bosquet.study.method import Candidate, Method
from bosquet.study.record import MethodRecord, Record
from bosquet.study.scoring import Metric, default_metric, metric_named, metrics_of
from bosquet.study.winner import Explainer

VERSION = 1
# Share of the budget after which no fits are begun for the threshold of the model that is kept.
END_OF_DECIDING = 0.85


@dataclass(frozen=True)
class Wishes:
    """What the user asked for, checked."""

    methods: Sequence[Method] | None
    budget: float | None
    metric: str
    repeats: int | None
    random_state: int
    costs: Any
    n_jobs: int | None
    checkpoint: Any
    verbose: int
    positive: Any = None
    tune_by: Any = None
    bayes: Any = None
    test: Any = None
    title: str = ""
    source: str = ""


@dataclass
class Result:
    """What a run ends with."""

    record: Record
    model: Any  # fitted to all rows, tidy ones
    decision: Decision | None
    splits: list[Split]


class Run:
    """One study of one table."""

    def __init__(self, table: StudyTable, wishes: Wishes, clock: Clock):
        self.table, self.wishes, self.clock = table, wishes, clock
        target = table.target
        costs = checked_costs(wishes.costs, target)
        name = default_metric(target.task, target.looked_for, costs)
        name = name if wishes.metric == "auto" else wishes.metric
        of: dict[str, Any] = {"positive": target.positive, "costs": costs}
        self.metric: Metric = metric_named(name, target.task, target.classes, **of)
        self.metrics = metrics_of(target.task, target.classes, **of)
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
        )
        self.notes = list(table.notes)

    # ------------------------------------------------------------------ all of it
    def go(self) -> Result:
        """Explore, split, tune, compare, repeat, choose, explain."""
        values = len(self.table.X) * self.setting.shape.n_indicators
        with modest(values, self.setting.n_jobs):
            return self._steps()

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
        rows = ranked(schedule, self.methods)
        choice = choose(rows, self.metric, self.metrics)
        if choice is None:
            reasons = "; ".join(f"{row['title']}: {row['message']}" for row in rows[:3])
            raise ValueError(f"no method could be fitted to this table: {reasons}")
        teller.say(choice.why)
        self.notes += [*schedule.notes, *self._notes(rows, schedule)]
        model, decision, winner = self._winner(schedule, choice)
        record = self._record(exploration, rows, winner, schedule)
        return Result(record, model, decision, schedule.splits)

    def _explored(self) -> Any:
        from bosquet.study.exploration import explore

        target = self.table.target
        frame = self.table.raw.assign(**{target.name: target.y})
        test = None if self.wishes.test is None else as_frame(self.wishes.test)
        return explore(frame, target.name, target.task, test, tidier=self.table.tidier)

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
                **({} if wishes.tune_by is None else {"tune_by": self.setting.tune_by}),
                "schedule": "counted" if wishes.budget is None else "timed",
            }
        )

    # -------------------------------------------------------------------- winner
    def _winner(self, schedule: Schedule, choice: Choice) -> tuple[Any, Decision | None, Any]:
        """The chosen method fitted to all rows, how it decides, and what there is to say of it."""
        method = next(method for method in self.methods if method.name == choice.name)
        outcome = schedule.outcomes(method)[0]
        split = schedule.splits[0]
        rows, _ = training_rows(self.setting, method, split.train, None, outcome)
        candidate, fitted = self._refitted(schedule, method, outcome, split, rows)
        model, decision = self._fitted_to_all(method, candidate, outcome)
        explainer = Explainer(
            self.setting, split, candidate, outcome, fitted, rows, self.table.labels, self.clock
        )
        winner = explainer.explain(choice)
        winner["rows_called"] = self.table.rows_called
        self.notes += explainer.notes
        return model, decision, winner

    def _refitted(
        self, schedule: Schedule, method: Method, outcome: Outcome, split: Split, rows: np.ndarray
    ) -> tuple[Candidate, Any]:
        """The first split's candidate and its fit: as they are, or again where the study was resumed."""
        study = self.setting
        candidate, fitted = study.candidates.get(method.name), schedule.fitted.get(method.name)
        if candidate is not None and fitted is not None:
            return candidate, fitted
        if candidate is None:
            seconds = self._again()
            ready = schedule.told_of_others(method, split, seconds, outcome)
            again, fitted = run_trial(study, ready, split, seconds=seconds, first=None)
            if fitted is not None and again.setting == outcome.setting:
                return study.candidates[method.name], fitted
            candidate = study.candidates.get(method.name)
        if candidate is None:
            raise ValueError(f"{method.title} could not be fitted again: {outcome.message}")
        seed = seed_of(study.random_state, "fit", method.name, split.number)
        return candidate, _fitted(candidate, seed, study.X.iloc[rows], study.y[rows])

    def _again(self) -> float | None:
        return None if not self.clock.timed else max(self.clock.left(), 1.0)

    def _fitted_to_all(
        self, method: Method, candidate: Candidate, outcome: Outcome
    ) -> tuple[Any, Decision | None]:
        """The model that is kept, fitted to all rows that it can afford, and how it decides."""
        study = self.setting
        seed = seed_of(study.random_state, "fit", method.name, "all")
        X, y = study.X, study.y
        if outcome.subsampled:
            rows = subsample(y, outcome.rows_used, seed, stratify=study.target.is_classes)
            X, y = study.X.iloc[rows], y[rows]
        model = _fitted(candidate, seed, X, y)
        if not study.target.is_classes:
            return model, None
        return model, self._decision(candidate, model, X, y, outcome)

    def _decision(
        self, candidate: Candidate, model: Any, X: Any, y: np.ndarray, outcome: Outcome
    ) -> Decision:
        """How the model that is kept decides: by its own rows, or as on the first split where time is short.

        Of a rare class every row counts, and the first split's threshold knows four in five of them.
        """
        metric = self.metric
        as_before = Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)
        if outcome.threshold is None:
            return as_before
        found = answers_at_hand(model, y, metric)
        seconds = FOLDS * DEARER * outcome.one_fit_seconds
        if found is None and seconds < self.clock.left(END_OF_DECIDING):
            seed = seed_of(self.setting.random_state, "threshold", "all")
            with warnings.catch_warnings(), suppress(Exception):  # the first split's will do
                warnings.simplefilter("ignore")
                found = out_of_fold(candidate, X, y, metric, seed), y
        if found is None:
            return as_before
        decision = choose_decision(*found, metric)
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
            notes.append(f"Too dear for all training rows, and tuned on a subsample: {told}.")
        if len(schedule.splits) < FEWEST_SPLITS:
            notes.append(
                "Intervals are from draws of the first split's test rows: with fewer than"
                f" {FEWEST_SPLITS} splits they do not know how scores change with the training rows."
            )
        own = [method.title for method in self.methods if self._in_its_own_way(method, schedule)]
        if own:
            notes.append(
                f"Tuned in their own way, for the one asked for is not theirs: {'; '.join(own)}."
            )
        late = [row["title"] for row in rows if row["message"] == NO_TIME]
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
        self, exploration: Any, rows: list[MethodRecord], winner: Any, schedule: Schedule
    ) -> Record:
        from bosquet import __version__

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
            "winner": winner,
            "notes": self.notes,
        }
        return finite(plain(record))


def _fitted(candidate: Candidate, seed: int, X: Any, y: np.ndarray) -> Any:
    """A further fit of a candidate; what fits of it warn of is in the table already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return candidate.make(seed).fit(X, y)


def _shape(table: StudyTable) -> Any:
    from bosquet.study.shapes import table_shape

    return table_shape(table.X, table.target.y, table.target.task)


def checked_ways(tune_by: Any, methods: Sequence[Method]) -> dict[str, str]:
    """A way to tune each method, from one for all or a mapping from names to ways."""
    from bosquet._parameters import check_value, choice
    from bosquet._suggestions import hint
    from bosquet.study.judging import WAYS

    names = [method.name for method in methods]
    if tune_by is None:
        return {}
    if not isinstance(tune_by, Mapping):
        check_value("tune_by", tune_by, choice(*WAYS))
        return dict.fromkeys(names, tune_by)
    for name, way in tune_by.items():
        if name not in names:
            raise ValueError(
                f"tune_by names the method {name!r}, which is not studied; {hint(str(name), names)}"
            )
        check_value(f"tune_by[{name!r}]", way, choice(*WAYS))
    return dict(tune_by)


def checked_costs(costs: Any, target: Any) -> np.ndarray | None:
    """A matrix of costs, rows the truth; a mapping gives what it costs to miss each class."""
    from bosquet.trust.costs import check_costs

    if costs is None:
        return None
    if not target.is_classes:
        raise ValueError("costs are for classes, but the target is a number")
    labels = [str(label) for label in target.classes]
    if isinstance(costs, dict):
        unknown = [key for key in costs if str(key) not in labels]
        if unknown:
            raise ValueError(f"costs names the class {unknown[0]!r}, which is none of {labels}")
        missed = {str(key): float(value) for key, value in costs.items()}
        rows = np.array([missed.get(label, 1.0) for label in labels])
        costs = np.where(np.eye(len(labels)) == 1, 0.0, rows[:, None])
    shape = np.shape(costs)
    if shape != (len(labels), len(labels)):
        shown = ", ".join(map(repr, labels[:6])) + (", ..." if len(labels) > 6 else "")
        raise ValueError(
            f"costs has shape {shape}, but {target.name!r} has {len(labels)} classes: a row and a column"
            f" for each, in the order {shown}"
        )
    matrix = check_costs(costs, len(labels))
    if len(labels) == 2:
        _check_threshold(matrix, labels)
    return matrix


def _check_threshold(matrix: np.ndarray, labels: list[str]) -> None:
    """Refuses costs under which one of two answers is always the cheaper."""
    for true, other in ((0, 1), (1, 0)):
        right, wrong = matrix[true, true], matrix[true, other]
        if not wrong > right:
            raise ValueError(
                f"costs says that taking {labels[true]!r} for {labels[other]!r} costs {wrong:g}, no more than"
                f" the right answer ({right:g}): {labels[other]!r} would always be the cheaper answer"
            )


__all__ = ["TRUTH", "Result", "Run", "Wishes", "checked_costs"]
