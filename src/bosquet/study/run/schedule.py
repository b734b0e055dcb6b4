"""The schedule of a study: which method runs when, on which split, and for how long.

A round runs every method on one split. The methods are tuned in the first round. The remaining time is used
for further rounds on other splits; an unfinished round is discarded, so that all methods are compared on the
same splits. Without a budget every round tunes over all candidates, and the result does not depend on time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bosquet.study.methods.candidates import adjacent_candidates, candidate_with
from bosquet.study.methods.method import (
    BAYES_RULE,
    INCUMBENT,
    Candidate,
    ChosenCandidate,
    Method,
    TableShape,
    all_rows,
)
from bosquet.study.run.checkpoint import Checkpoint
from bosquet.study.run.clock import StudyClock, format_seconds
from bosquet.study.run.context import StudyContext
from bosquet.study.run.final_model import TIME_MARGIN, seconds_for_rows
from bosquet.study.run.machine import SMALL_TABLE
from bosquet.study.run.order import time_weight
from bosquet.study.run.outcomes import How, Outcome
from bosquet.study.run.time_prediction import FitTimeModel
from bosquet.study.run.trial import run_trial
from bosquet.study.table.splits import StudySplit

# Shares of the budget at which the first round and all rounds end. The rest is for explaining the chosen
# method and fitting it to all rows; rounds end earlier if that fit is predicted to take longer.
END_OF_FIRST_ROUND, END_OF_ROUNDS = 0.5, 0.8
# Number of further rounds to leave time for; they tune over fewer candidates if necessary.
ROUNDS_WANTED = 4
REPEATS_COUNTED, REPEATS_TIMED = 5, 10
# Least share of the budget for explaining the chosen method, besides its fit to all rows.
EXPLAINING = 0.05
# No further method is started if less than this share of the budget is left for the rounds.
LEAST_SHARE = 0.02
NO_TIME = "no time was left for it"
# Overruns of shorter methods (seconds) are not measured; larger overruns are clipped to this factor.
MEASURABLE, MOST_OVERRUN = 0.5, 4.0
# A method is stopped if it takes this many times its share, and more than this share of the budget.
FAR_OVER, LARGEST_SHARE = 3.0, 0.06
WIDE = 500  # columns
# Number of fits that tuning on fewer rows should have time for; fits per learner of a combination.
FITS_OF_A_SHARE, COMBINING_FITS = 4, 3
# Share of the budget for gradient boosting with default hyper-parameters, which runs before the others.
INCUMBENT_SHARE = 0.45
# Largest share of the budget for combinations of methods, so that time is left for further rounds.
MOST_FOR_COMBINING = 0.08


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
    overrun: float = 1.0  # moving average of the ratio of used to allotted seconds
    splits: list[StudySplit] = field(default_factory=list)
    fitted: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fit_times = FitTimeModel(self.context.shape)

    def run(self) -> None:
        """Run as many rounds as time allows."""
        self._first_round()
        used: How = "all"
        most = self.context.splits.most
        for number in range(1, self.repeats if most is None else min(self.repeats, most)):
            how = self._how(number, used)
            if how is None or not self._round(number, how):
                break
            used = how
        self._note_rounds(used)

    def split(self, number: int) -> StudySplit:
        """Return the split of a round."""
        return self.context.splits.split(number)

    def outcomes(self, method: Method) -> list[Outcome]:
        """Return the outcomes of a method, one per finished round."""
        found = [self.checkpoint.get(split.number, method.name) for split in self.splits]
        return [outcome for outcome in found if outcome is not None]

    def with_combined_candidates(
        self, method: Method, split: StudySplit, seconds: float | None, first: Outcome | None = None
    ) -> Method:
        """Return a method that combines others with candidates made of the tuned methods.

        Other methods are returned unchanged. With a time limit the method combines the same learners as in
        its `first` outcome.
        """
        if method.combines is None:
            return method
        chosen = self._chosen_of_others(split)
        if first is not None and seconds is not None:
            seconds = None
            learners = first.setting.get("learners", chosen)
            chosen = {name: one for name, one in chosen.items() if name in learners}
        shape = replace(self.context.shape, n_rows=len(split.train))
        try:
            candidates = list(method.combines(shape, chosen, seconds))
        except Exception as error:  # raised again in the trial, which reports it as a failure
            return replace(method, candidates=partial(_raise, error))
        if not candidates:
            return method
        return replace(method, candidates=lambda shape: candidates, rows_affordable=all_rows)

    def _chosen_of_others(self, split: StudySplit) -> dict[str, ChosenCandidate]:
        """Return the chosen candidates on a split of the methods that were fitted to all training rows."""
        chosen = {}
        for other, outcome in self._done_methods(split.number):
            if other.combines or other.name == BAYES_RULE or outcome.subsampled:
                continue
            shape = replace(self.context.shape, n_rows=outcome.rows_used)
            with suppress(Exception):  # a method whose candidate cannot be rebuilt is not combined
                candidate = candidate_with(other, shape, outcome.setting)
                if candidate is not None:
                    chosen[other.name] = ChosenCandidate(candidate, outcome.one_fit_seconds)
        return chosen

    # ---------------------------------------------------------------- rounds
    def _first_round(self) -> None:
        """Run every method on the first split; on large tables, methods that can use all rows run first."""
        split = self.split(0)
        self.splits.append(split)
        late = []
        for position, method in enumerate(self.methods):
            outcome = self.checkpoint.get(0, method.name)
            if outcome is None and position > 1 and self._is_late():
                outcome = self._added(Outcome(method.name, 0, "not reached", NO_TIME))
            if outcome is None and self._is_expensive(method, split):
                late.append(method)
                continue
            if outcome is None:
                rows = len(split.train) if self.chooses_rows else None
                outcome = self._first_trial(method, self.methods[position:], split, rows)
            self.fit_times.update(method, outcome)
            self.report(method, outcome, len(self.methods) - position - 1 + len(late))
        late.sort(key=lambda method: (method.combines is not None, self._one_fit(method, split)))
        for position, method in enumerate(late):
            outcome = self._late_trial(late[position:], split)
            self.fit_times.update(method, outcome)
            self.report(method, outcome, len(late) - position - 1)

    def _first_trial(
        self, method: Method, waiting: Sequence[Method], split: StudySplit, rows: int | None
    ) -> Outcome:
        seconds = self._share(waiting)
        limits: dict[str, Any] = {"seconds": seconds, "at_most": self._at_most(method, seconds)}
        ready = self.with_combined_candidates(method, split, seconds)
        outcome, estimator = run_trial(self.context, ready, split, rows=rows, **limits)
        self._keep_leader(outcome, estimator)
        self._learn_overrun(outcome, seconds)
        return self._added(outcome)

    def _added(self, outcome: Outcome) -> Outcome:
        self.checkpoint.add(outcome, self.clock.elapsed())
        return outcome

    # ------------------------------------------------------- rows of large tables
    @property
    def chooses_rows(self) -> bool:
        """Whether expensive methods are postponed: on large tables with a time limit.

        On smaller tables each method determines by a trial fit how many rows it can afford, usually all.
        """
        shape = self.context.shape
        large = shape.n_rows * shape.n_indicators >= SMALL_TABLE or shape.n_indicators >= WIDE
        return large and self.clock.timed

    def _is_expensive(self, method: Method, split: StudySplit) -> bool:
        """Return whether a fit to all training rows exceeds the method's share or half of the time left."""
        budget = self.clock.budget
        first = method.name == INCUMBENT or method.why_unsuited(self.context.shape)
        if not self.chooses_rows or budget is None or first:
            return False
        allowed = min(self._largest_share(method) * budget, self._left() / 2)
        return self._one_fit(method, split) > allowed

    def _largest_share(self, method: Method) -> float:
        """Return the largest share of the budget that a method may use."""
        return max(LARGEST_SHARE, time_weight(method) / sum(map(time_weight, self.methods)))

    def _one_fit(self, method: Method, split: StudySplit) -> float:
        """Return the predicted seconds of one fit to all training rows, or of a combination of methods."""
        if method.combines is None:
            return self.fit_times.seconds(method, len(split.train))
        chosen = self._chosen_of_others(split)
        ready = self.with_combined_candidates(method, split, self._share([method]))
        if ready is method:
            return self.fit_times.seconds(method, len(split.train))
        setting = ready.candidates(replace(self.context.shape, n_rows=len(split.train)))[0].setting
        return COMBINING_FITS * sum(
            chosen[name].seconds for name in setting.get("learners", ()) if name in chosen
        )

    def _late_trial(self, late: Sequence[Method], split: StudySplit) -> Outcome:
        """Run a postponed method: on all rows if there is time now, else on as many as it can afford."""
        method, budget, seconds = late[0], self.clock.budget, self._share(late)
        assert budget is not None
        assert seconds is not None
        if not self._is_late() and not self._is_expensive(method, split):
            return self._first_trial(method, late, split, len(split.train))
        if method.combines or self.clock.left(END_OF_FIRST_ROUND) < LEAST_SHARE * budget:
            one_fit = format_seconds(self._one_fit(method, split))
            why = f"one fit to all {len(split.train):,} training rows would take about {one_fit}"
            return self._added(Outcome(method.name, 0, "not reached", why))
        rows = self.fit_times.rows(method, seconds / FITS_OF_A_SHARE)
        return self._first_trial(method, late, split, rows)

    def _left(self) -> float:
        """Return the seconds until all rounds must end, so that there is time for the final fit."""
        budget = self.clock.budget
        left = self.clock.left(END_OF_ROUNDS)
        leader = self._leader()
        if budget is None or leader is None:
            return left
        method, outcome = leader
        final = seconds_for_rows(method, outcome, self.context.shape, len(self.context.y))
        return min(left, self.clock.left(1 - EXPLAINING) - final)

    def _leader(self, on_all_rows: bool = False) -> tuple[Method, Outcome] | None:
        """Return the method with the best score on the first split so far, of all or of those on all rows."""
        best: tuple[Method, Outcome] | None = None
        for method, outcome in self._done_methods():
            if outcome.score is None or method.name == BAYES_RULE:
                continue
            if on_all_rows and outcome.subsampled:
                continue
            if best is None or self.context.metric.better(outcome.score, best[1].score):  # type: ignore[arg-type]
                best = method, outcome
        return best

    def _is_late(self) -> bool:
        budget = self.clock.budget
        return budget is not None and self._left() < LEAST_SHARE * budget

    def _at_most(self, method: Method, seconds: float | None) -> float | None:
        """Return the hard time limit of a method, or None.

        The limit is far above the share of the method, and at most half of the time left. It is set only on
        large or wide tables, where a single fit may take minutes. It rules out parallel fits, which are more
        useful on smaller tables.
        """
        if seconds is None or self.clock.budget is None or not self.chooses_rows:
            return None
        if method.name == INCUMBENT:
            return seconds
        generous = max(FAR_OVER * seconds, self._largest_share(method) * self.clock.budget)
        half = self._left() / 2  # leaves time for the other methods
        return max(min(generous, half), LEAST_SHARE * self.clock.budget)

    def _share(self, waiting: Sequence[Method]) -> float | None:
        """Return the seconds of the first waiting method, in proportion to the weights of the methods."""
        if self.clock.budget is None:
            return None
        if waiting[0].name == INCUMBENT:
            return INCUMBENT_SHARE * self.clock.budget
        suited = [method for method in waiting[1:] if not method.why_unsuited(self.context.shape)]
        share = time_weight(waiting[0]) / (time_weight(waiting[0]) + sum(map(time_weight, suited)))
        # If the first round is late, it uses time of the further rounds.
        left = max(self.clock.left(END_OF_FIRST_ROUND), self._left() / 3)
        seconds = max(left, 0.0) * share / self.overrun
        if waiting[0].combines:
            seconds = min(seconds, MOST_FOR_COMBINING * self.clock.budget)
        return seconds

    def _learn_overrun(self, outcome: Outcome, seconds: float | None) -> None:
        """Update the average overrun: limits are soft, and the machine may be busy."""
        # On large tables `fit_times` predicts the duration of a method before it is started.
        timed = outcome.status == "done" and outcome.seconds > MEASURABLE
        if seconds and timed and not self.chooses_rows:
            ratio = min(max(outcome.seconds / seconds, 1.0), MOST_OVERRUN)
            self.overrun += (ratio - self.overrun) / 4

    def _round(self, number: int, how: How) -> bool:
        """Run a further round of all methods; return False if time ran out and the round was discarded."""
        split = self.split(number)
        active = self._repeated_methods()
        for position, (method, first) in enumerate(active):
            if (number, method.name) in self.checkpoint:
                continue
            if self.clock.timed and self._estimate(active[position:], how) > 1.5 * self.clock.left(
                END_OF_ROUNDS
            ):
                self.checkpoint.drop_round(number)
                return False
            seconds = None if not self.clock.timed else max(first.seconds, 0.2)
            ready = self.with_combined_candidates(method, split, seconds, first)
            outcome, _ = run_trial(
                self.context, ready, split, seconds=seconds, how=how, first=first
            )
            self.checkpoint.add(outcome, self.clock.elapsed())
            self.report(method, outcome, len(active) - position - 1)
        self.splits.append(split)
        return True

    def _repeated_methods(self) -> list[tuple[Method, Outcome]]:
        """Return the methods of further rounds.

        On large tables these are the methods that use all training rows, and those that are better than all
        of them with fewer rows: one split is too little evidence to choose them.
        """
        active = self._done_methods()
        if not self.chooses_rows:
            return active
        leader = self._leader(on_all_rows=True)
        best = None if leader is None else leader[1].score
        better = self.context.metric.better
        return [
            (method, first)
            for method, first in active
            if not first.subsampled
            or (best is not None and first.score is not None and better(first.score, best))
        ]

    def _done_methods(self, number: int = 0) -> list[tuple[Method, Outcome]]:
        """Return the methods that were finished in a round (default: the first), with their outcomes."""
        pairs = [(method, self.checkpoint.get(number, method.name)) for method in self.methods]
        return [(method, first) for method, first in pairs if first and first.status == "done"]

    def _how(self, number: int, so_far: How) -> How | None:
        """Return how the next rounds tune, with no more candidates than so far; None if there is no time."""
        active = self._repeated_methods()
        if not active:
            return None
        if not self.clock.timed:
            return "all"
        wanted = min(ROUNDS_WANTED, self.repeats - 1) - (number - 1)
        left = self._left()
        ways: tuple[How, ...] = ("all", "near", "same")
        for how in ways[ways.index(so_far) :]:
            if left >= max(wanted, 1) * self._estimate(active, how):
                return how
        return "same" if left >= self._estimate(active, "same") else None

    def _estimate(self, active: Sequence[tuple[Method, Outcome]], how: How) -> float:
        """Return the predicted seconds of a round of these methods."""
        total = 0.0
        for method, first in active:
            latest = self._latest(method, how)
            if latest is not None:
                total += latest
            elif how == "all":
                total += first.fit_seconds + first.decision_seconds + first.judge_seconds
            else:
                total += self._reduced(method, first, how)
        return total

    def _reduced(self, method: Method, first: Outcome, how: How) -> float:
        """Return the predicted seconds of a method that is tuned over fewer candidates, or not at all."""
        # The margin is for a busy machine, and because `one_fit_seconds` may be a mean over candidates.
        one_fit = min(first.fit_seconds, TIME_MARGIN * first.one_fit_seconds)
        if how == "same":  # the threshold of the first split is used too
            return first.judge_seconds + one_fit
        rest = first.decision_seconds + first.judge_seconds
        if method.combines:
            return rest + first.fit_seconds
        shape = replace(self.context.shape, n_rows=first.rows_used)
        candidates = list(method.candidates(shape))
        near = len(adjacent_candidates(candidates, first.setting))
        return rest + max(one_fit, first.fit_seconds * near / len(candidates))

    def _latest(self, method: Method, how: How) -> float | None:
        """Return the seconds of the method when it was last tuned like this, or None."""
        for split in reversed(self.splits[1:]):
            outcome = self.checkpoint.get(split.number, method.name)
            if outcome is not None and outcome.how == how:
                return outcome.seconds
        return None

    def _keep_leader(self, outcome: Outcome, estimator: Any) -> None:
        """Keep the estimator with the best score so far, which may be explained later."""
        if outcome.score is None or estimator is None:
            return
        leader = self._leader()
        score = None if leader is None else leader[1].score
        if not self.fitted or score is None or self.context.metric.better(outcome.score, score):
            self.fitted = {outcome.method: estimator}

    def _note_rounds(self, how: How) -> None:
        n = len(self.splits)
        if n < self.repeats:
            self.notes.append(
                f"There was time for {n} of {self.repeats} splits."
                if n > 1
                else "There was time for one split only."
            )
        if how == "near":
            self.notes.append(
                "From the second split on, methods were tuned only over the hyper-parameters chosen on the"
                " first split and their neighbours."
            )
        elif how == "same":
            self.notes.append(
                "From the second split on, methods kept the hyper-parameters chosen on the first split. Test"
                " rows of these splits were training rows of the first one, so the scores are slightly"
                " optimistic, for all methods alike."
            )


def _raise(error: Exception, shape: TableShape) -> list[Candidate]:
    raise error
