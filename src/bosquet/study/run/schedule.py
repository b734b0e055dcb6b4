"""The schedule of a study: which method runs when, on which split, and for how long.

A round runs every method on one split. The methods are tuned in the first round. The remaining time is used
for further rounds on other splits; an unfinished round is discarded, so that all methods are compared on the
same splits. Without a budget every round tunes over all candidates, and the result does not depend on time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bosquet.study.methods.method import INCUMBENT, Method
from bosquet.study.run.checkpoint import Checkpoint
from bosquet.study.run.clock import StudyClock, format_seconds
from bosquet.study.run.combining import combining_seconds, with_combined_candidates
from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcome_table import OutcomeTable
from bosquet.study.run.outcomes import Outcome, TuningScope
from bosquet.study.run.round_times import round_seconds
from bosquet.study.run.time_division import END_OF_ROUNDS, TimeDivision
from bosquet.study.run.time_prediction import FitTimeModel
from bosquet.study.run.trial import run_trial
from bosquet.study.table.splits import StudySplit
from bosquet.study.tuning.time_limits import TimeLimits

# Number of splits without and with a budget, unless the user passes one. Five are enough for intervals; more
# narrow them if there is time.
REPEATS_COUNTED, REPEATS_TIMED = 5, 10
# Number of further rounds to leave time for, which makes five splits in total; they tune over fewer
# candidates if necessary.
ROUNDS_WANTED = 4
# A further round is discarded if the rest of it is predicted to take this many times the time left. Predicted
# seconds are inexact, and the time of a discarded round is lost.
FAR_TOO_LONG = 1.5
# Least soft limit in a further round, in seconds: very fast methods would otherwise be cut short by chance.
MIN_SOFT_LIMIT = 0.2
# Number of fits that tuning on a subsample of a large table should have time for.
FITS_ON_SUBSAMPLE = 4
NO_TIME = "no time was left for it"


@dataclass
class Schedule:
    """Run the rounds of a study and store the outcomes.

    Attributes
    ----------
    splits : list of StudySplit
        The splits of the finished rounds.
    fitted : dict
        The fitted estimator of the best method on the first split, by the name of the method.
    notes : list of str
        Notes for the report on skipped or shortened rounds.
    """

    context: StudyContext
    methods: Sequence[Method]
    clock: StudyClock
    checkpoint: Checkpoint
    repeats: int
    report: Callable[[Method, Outcome, int], Any] = lambda method, outcome, waiting: None
    fitted: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outcome_table = OutcomeTable(self.methods, self.context.metric, self.checkpoint)
        self.division = TimeDivision(self.context, self.clock, self.outcome_table)
        self.fit_times = FitTimeModel(self.context.shape)

    @property
    def splits(self) -> list[StudySplit]:
        return self.outcome_table.splits

    def run(self) -> None:
        """Run as many rounds as time allows."""
        self._run_first_round()
        last_scope: TuningScope = "all"
        max_splits = self.context.splits.max_splits
        for number in range(
            1, self.repeats if max_splits is None else min(self.repeats, max_splits)
        ):
            scope = self._next_scope(number, last_scope)
            if scope is None or not self._run_further_round(number, scope):
                break
            last_scope = scope
        self._note_rounds(last_scope)

    def outcomes(self, method: Method) -> list[Outcome]:
        """Return the outcomes of a method, one per finished round."""
        return self.outcome_table.outcomes_of(method)

    def combine(
        self, method: Method, split: StudySplit, seconds: float | None, first: Outcome | None = None
    ) -> Method:
        """Return a method with candidates made of the tuned methods, if it combines others."""
        return with_combined_candidates(
            method, split, self.outcome_table, self.context.shape, seconds, first
        )

    # ----------------------------------------------------------------- first round
    def _run_first_round(self) -> None:
        """Run every method on the first split; on large tables, methods that can use all rows run first."""
        split = self.context.splits.split(0)
        self.splits.append(split)
        postponed = []
        for position, method in enumerate(self.methods):
            outcome = self.checkpoint.get(0, method.name)
            # The first two always run: the constant and, usually, gradient boosting with its defaults.
            if outcome is None and position > 1 and self.division.is_late():
                outcome = self._store_outcome(Outcome(method.name, 0, "not reached", NO_TIME))
            if outcome is None and self._is_expensive(method, split):
                postponed.append(method)
                continue
            if outcome is None:
                n_rows = len(split.train) if self.division.postpones_expensive_methods else None
                outcome = self._run_first_trial(self.methods[position:], split, n_rows)
            self.fit_times.update(method, outcome)
            self.report(method, outcome, len(self.methods) - position - 1 + len(postponed))
        postponed.sort(
            key=lambda method: (method.combine is not None, self._one_fit_seconds(method, split))
        )
        for position, method in enumerate(postponed):
            outcome = self._run_postponed_trial(postponed[position:], split)
            self.fit_times.update(method, outcome)
            self.report(method, outcome, len(postponed) - position - 1)

    def _run_first_trial(
        self, waiting: Sequence[Method], split: StudySplit, n_rows: int | None
    ) -> Outcome:
        """Run the first waiting method."""
        limits = self.division.limits(waiting)
        method = self.combine(waiting[0], split, limits.soft)
        outcome, estimator = run_trial(self.context, method, split, limits=limits, n_rows=n_rows)
        self._keep_leader(outcome, estimator)
        self.division.learn_overrun(outcome, limits.soft)
        return self._store_outcome(outcome)

    def _run_postponed_trial(self, postponed: Sequence[Method], split: StudySplit) -> Outcome:
        """Run a postponed method: on all rows if there is time now, else on as many as it can afford."""
        method, soft = postponed[0], self.division.soft_limit(postponed)
        assert soft is not None
        if not self.division.is_late() and not self._is_expensive(method, split):
            return self._run_first_trial(postponed, split, len(split.train))
        if method.combine or self.division.first_round_is_over():
            one_fit = format_seconds(self._one_fit_seconds(method, split))
            why = f"one fit to all {len(split.train):,} training rows would take about {one_fit}"
            return self._store_outcome(Outcome(method.name, 0, "not reached", why))
        n_rows = self.fit_times.rows(method, soft / FITS_ON_SUBSAMPLE)
        return self._run_first_trial(postponed, split, n_rows)

    def _is_expensive(self, method: Method, split: StudySplit) -> bool:
        """Return whether, on a large table, a fit to all training rows would take too much time."""
        is_exempt = method.name == INCUMBENT or method.why_unsuited(self.context.shape)
        if not self.division.postpones_expensive_methods or is_exempt:
            return False
        return not self.division.allows(method, self._one_fit_seconds(method, split))

    def _one_fit_seconds(self, method: Method, split: StudySplit) -> float:
        """Return the predicted seconds of one fit to all training rows, or of a combination of methods."""
        if method.combine is not None:
            combined_method = self.combine(method, split, self.division.soft_limit([method]))
            if combined_method is not method:
                return combining_seconds(
                    combined_method, split, self.outcome_table, self.context.shape
                )
        return self.fit_times.seconds(method, len(split.train))

    def _keep_leader(self, outcome: Outcome, estimator: Any) -> None:
        """Keep the estimator with the best score so far, which may be explained later."""
        if outcome.score is None or estimator is None:
            return
        leader = self.outcome_table.leader()
        score = None if leader is None else leader[1].score
        if not self.fitted or score is None or self.context.metric.is_better(outcome.score, score):
            self.fitted = {outcome.method: estimator}

    def _store_outcome(self, outcome: Outcome) -> Outcome:
        self.checkpoint.add(outcome, self.clock.elapsed())
        return outcome

    # ------------------------------------------------------------- further rounds
    def _run_further_round(self, number: int, scope: TuningScope) -> bool:
        """Run a further round of all methods; return False if time ran out and the round was discarded."""
        split = self.context.splits.split(number)
        active = self._repeated_methods()
        for position, (method, first) in enumerate(active):
            if (number, method.name) in self.checkpoint:
                continue
            if self.clock.timed and self._is_too_long(active[position:], scope):
                self.checkpoint.drop_round(number)
                return False
            soft = max(first.seconds, MIN_SOFT_LIMIT) if self.clock.timed else None
            combined_method = self.combine(method, split, soft, first)
            outcome, _ = run_trial(
                self.context,
                combined_method,
                split,
                limits=TimeLimits(soft),
                scope=scope,
                first=first,
            )
            self.report(method, self._store_outcome(outcome), len(active) - position - 1)
        self.splits.append(split)
        return True

    def _is_too_long(self, remaining: Sequence[tuple[Method, Outcome]], scope: TuningScope) -> bool:
        """Return whether the rest of a round cannot be finished in time."""
        left = self.clock.seconds_left(END_OF_ROUNDS)
        return self._round_seconds(remaining, scope) > FAR_TOO_LONG * left

    def _repeated_methods(self) -> list[tuple[Method, Outcome]]:
        """Return the methods of further rounds.

        On large tables these are the methods that use all training rows, and those that are better than all
        of them with fewer rows: one split is too little evidence to choose them.
        """
        active = self.outcome_table.scored_outcomes()
        if not self.division.postpones_expensive_methods:
            return active
        leader = self.outcome_table.leader(on_all_rows=True)
        best = None if leader is None else leader[1].score
        better = self.context.metric.is_better
        return [
            (method, first)
            for method, first in active
            if not first.subsampled
            or (best is not None and first.score is not None and better(first.score, best))
        ]

    def _next_scope(self, number: int, so_far: TuningScope) -> TuningScope | None:
        """Return the scope of the next rounds, at most the scope so far; None if there is no time."""
        active = self._repeated_methods()
        if not active:
            return None
        if not self.clock.timed:
            return "all"
        rounds_wanted = min(ROUNDS_WANTED, self.repeats - 1) - (number - 1)
        left = self.division.left_for_rounds()
        scopes: tuple[TuningScope, ...] = ("all", "near", "same")
        for scope in scopes[scopes.index(so_far) :]:
            if left >= max(rounds_wanted, 1) * self._round_seconds(active, scope):
                return scope
        return "same" if left >= self._round_seconds(active, "same") else None

    def _round_seconds(self, active: Sequence[tuple[Method, Outcome]], scope: TuningScope) -> float:
        return round_seconds(active, scope, self.outcome_table, self.context.shape)

    def _note_rounds(self, scope: TuningScope) -> None:
        n = len(self.splits)
        if n < self.repeats:
            self.notes.append(
                f"There was time for {n} of {self.repeats} splits."
                if n > 1
                else "There was time for one split only."
            )
        if scope == "near":
            self.notes.append(
                "From the second split on, methods were tuned only over the hyper-parameters chosen on the"
                " first split and their neighbours."
            )
        elif scope == "same":
            self.notes.append(
                "From the second split on, methods kept the hyper-parameters chosen on the first split. Test"
                " rows of these splits were training rows of the first one, so the scores are slightly"
                " optimistic, for all methods alike."
            )
