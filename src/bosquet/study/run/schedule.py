"""The schedule of a study: which method runs when, on which split, and for how long.

A round runs every method on one split. The methods are tuned in the first round. The remaining time is used
for further rounds on other splits; an unfinished round is discarded, so that all methods are compared on the
same splits. Without a budget every round tunes over all candidates, and the result does not depend on time.

On a cluster the trials of a round run at the same time, and a round begins before the last trials of the
round before it have ended. A method that combines others waits for their trials on its split.
"""

from __future__ import annotations

from collections import defaultdict
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
from bosquet.study.run.round_times import chain_seconds, round_seconds
from bosquet.study.run.time_division import END_OF_ROUNDS, TimeDivision
from bosquet.study.run.time_prediction import FitTimeModel
from bosquet.study.run.trial import TrialPlan
from bosquet.study.run.trial_runner import LOCAL_TRIALS, TrialRunner
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
class Round:
    """A further round: the methods that wait for their trials, with their outcomes on the first split."""

    split: StudySplit
    scope: TuningScope
    waiting: list[tuple[Method, Outcome]]
    n_running: int = 0
    dropped: bool = False

    @property
    def is_finished(self) -> bool:
        return not self.waiting and not self.n_running

    @property
    def can_start_next(self) -> bool:
        """Whether the trial of the next method can start: a combination waits for all other trials."""
        return bool(self.waiting) and (self.waiting[0][0].combine is None or not self.n_running)


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
    runner: TrialRunner = LOCAL_TRIALS
    fitted: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outcome_table = OutcomeTable(self.methods, self.context.metric, self.checkpoint)
        self.division = TimeDivision(self.context, self.clock, self.outcome_table, self.runner)
        self.fit_times = FitTimeModel(self.context.shape)
        self._scope: TuningScope = "all"  # of the last finished round
        self._not_reported: defaultdict[int, int] = defaultdict(int)  # number of methods by split

    @property
    def splits(self) -> list[StudySplit]:
        return self.outcome_table.splits

    def run(self) -> None:
        """Run as many rounds as time allows."""
        try:
            self._run_first_round()
            self._run_further_rounds()
        finally:
            self.runner.cancel()
        self._note_rounds(self._scope)

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
        self._not_reported[0] = len(self.methods)
        postponed = []
        for position, method in enumerate(self.methods):
            self._wait_to_start(method)
            outcome = self.checkpoint.get(0, method.name)
            # The first two always run: the constant and, usually, gradient boosting with its defaults.
            if outcome is None and position > 1 and self.division.is_late():
                outcome = self._store_outcome(Outcome(method.name, 0, "not reached", NO_TIME))
            if outcome is not None:
                self._report_outcome(method, outcome)
            elif self._is_expensive(method, split):
                postponed.append(method)
            else:
                n_rows = len(split.train) if self.division.postpones_expensive_methods else None
                self._start_first_trial(self.methods[position:], split, n_rows)
        postponed.sort(
            key=lambda method: (method.combine is not None, self._one_fit_seconds(method, split))
        )
        for position, method in enumerate(postponed):
            self._wait_to_start(method)
            self._start_postponed_trial(postponed[position:], split)
        self.runner.wait_for_all()

    def _wait_to_start(self, method: Method) -> None:
        """Wait until the trial of a method can start; one that combines others needs their outcomes."""
        if method.combine is None:
            self.runner.wait_for_slot()
        else:
            self.runner.wait_for_all()

    def _start_first_trial(
        self, waiting: Sequence[Method], split: StudySplit, n_rows: int | None
    ) -> None:
        """Start the trial of the first waiting method."""
        limits = self.division.limits(waiting)
        method = self.combine(waiting[0], split, limits.soft)
        leader = self.outcome_table.leader()

        def done(outcome: Outcome, estimator: Any) -> None:
            self._keep_leader(outcome, estimator)
            self.division.learn_overrun(outcome, limits.soft)
            self._report_outcome(waiting[0], self._store_outcome(outcome))

        self.runner.start(
            self.context,
            split,
            TrialPlan(method, limits, n_rows=n_rows),
            done,
            best=None if leader is None else leader[1].score,
        )

    def _start_postponed_trial(self, postponed: Sequence[Method], split: StudySplit) -> None:
        """Start a postponed method: on all rows if there is time now, else on as many as it can afford."""
        method, soft = postponed[0], self.division.soft_limit(postponed)
        assert soft is not None
        if not self.division.is_late() and not self._is_expensive(method, split):
            self._start_first_trial(postponed, split, len(split.train))
        elif method.combine or self.division.first_round_is_over():
            one_fit = format_seconds(self._one_fit_seconds(method, split))
            why = f"one fit to all {len(split.train):,} training rows would take about {one_fit}"
            outcome = self._store_outcome(Outcome(method.name, 0, "not reached", why))
            self._report_outcome(method, outcome)
        else:
            n_rows = self.fit_times.rows(method, soft / FITS_ON_SUBSAMPLE)
            self._start_first_trial(postponed, split, n_rows)

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

    def _report_outcome(self, method: Method, outcome: Outcome) -> None:
        if outcome.split == 0:
            self.fit_times.update(method, outcome)
        self._not_reported[outcome.split] -= 1
        self.report(method, outcome, self._not_reported[outcome.split])

    # ------------------------------------------------------------- further rounds
    def _run_further_rounds(self) -> None:
        """Run rounds until there are enough or time runs out; an unfinished round is then discarded."""
        rounds: list[Round] = []  # begun and not finished, in order
        more = True
        while True:
            self.runner.wait_for_slot()
            self._end_finished_rounds(rounds)
            if self._is_too_long(rounds):
                self._drop(rounds.pop())
                more = False
            elif ready := next((begun for begun in rounds if begun.can_start_next), None):
                self._start_further_trial(ready)
            elif more:
                more = self._begin_round(rounds)
            elif rounds:
                self.runner.wait_for_one()
            else:
                return

    def _begin_round(self, rounds: list[Round]) -> bool:
        """Begin a further round; return False if there are enough or there is no time."""
        number, max_splits = len(self.splits) + len(rounds), self.context.splits.max_splits
        if number >= (self.repeats if max_splits is None else min(self.repeats, max_splits)):
            return False
        scope = self._next_scope(number, rounds)
        if scope is None:
            return False
        waiting = [
            (method, first)
            for method, first in self._repeated_methods()
            if (number, method.name) not in self.checkpoint
        ]
        self._not_reported[number] = len(waiting)
        rounds.append(Round(self.context.splits.split(number), scope, waiting))
        return True

    def _start_further_trial(self, begun: Round) -> None:
        """Start the trial of the next method of a round."""
        method, first = begun.waiting.pop(0)
        soft = max(first.seconds, MIN_SOFT_LIMIT) if self.clock.timed else None
        begun.n_running += 1

        def done(outcome: Outcome, estimator: Any) -> None:
            begun.n_running -= 1
            if not begun.dropped:
                self._report_outcome(method, self._store_outcome(outcome))

        combined = self.combine(method, begun.split, soft, first)
        plan = TrialPlan(combined, TimeLimits(soft), begun.scope, first)
        self.runner.start(self.context, begun.split, plan, done)

    def _end_finished_rounds(self, rounds: list[Round]) -> None:
        """Count the splits of finished rounds, in their order."""
        while rounds and rounds[0].is_finished:
            finished = rounds.pop(0)
            self.splits.append(finished.split)
            self._scope = finished.scope

    def _drop(self, begun: Round) -> None:
        begun.dropped = True
        self.checkpoint.drop_round(begun.split.number)

    def _is_too_long(self, rounds: Sequence[Round]) -> bool:
        """Return whether the rest of the rounds cannot be finished in time."""
        if not self.clock.timed or not any(begun.waiting for begun in rounds):
            return False
        left = self.clock.seconds_left(END_OF_ROUNDS)
        rest = [(begun.waiting, begun.scope) for begun in rounds]
        return self._seconds_needed(rest) > FAR_TOO_LONG * left

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

    def _next_scope(self, number: int, rounds: Sequence[Round]) -> TuningScope | None:
        """Return the scope of the next round, at most that of the last; None if there is no time."""
        active = self._repeated_methods()
        if not active:
            return None
        if not self.clock.timed:
            return "all"
        rounds_wanted = max(min(ROUNDS_WANTED, self.repeats - 1) - (number - 1), 1)
        left = self.division.left_for_rounds()
        rest = [(begun.waiting, begun.scope) for begun in rounds]
        so_far = rounds[-1].scope if rounds else self._scope
        scopes: tuple[TuningScope, ...] = ("all", "near", "same")
        for scope in scopes[scopes.index(so_far) :]:
            if left >= self._seconds_needed([*rest, *[(active, scope)] * rounds_wanted]):
                return scope
        return "same" if left >= self._seconds_needed([*rest, (active, "same")]) else None

    def _seconds_needed(
        self, work: Sequence[tuple[Sequence[tuple[Method, Outcome]], TuningScope]]
    ) -> float:
        """Return the predicted seconds until the running trials and those of some rounds have ended."""
        known = self.outcome_table, self.context.shape
        total = sum(round_seconds(methods, scope, *known) for methods, scope in work)
        longest = max(
            (chain_seconds(methods, scope, *known) for methods, scope in work), default=0.0
        )
        return max((total + self.runner.seconds_reserved()) / self.runner.n_slots, longest)

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
