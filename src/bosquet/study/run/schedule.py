"""Who is tried when, and for how long.

A round tries every method on one split. The first round tunes; what time it leaves goes to further rounds on
other splits, whole ones always, so that methods are compared on the same splits. Without a budget the
schedule is counted: every round tunes over all candidates, and nothing depends on the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bosquet.study.methods.candidates import candidate_with, neighbours
from bosquet.study.methods.method import (
    BAYES_RULE,
    INCUMBENT,
    Candidate,
    Chosen,
    Method,
    TableShape,
    all_rows,
)
from bosquet.study.run.checkpoint import Journal
from bosquet.study.run.clock import Clock, in_words
from bosquet.study.run.final_model import DEARER, seconds_for_rows
from bosquet.study.run.machine import SMALL_TABLE
from bosquet.study.run.order import worth
from bosquet.study.run.outcomes import How, Outcome
from bosquet.study.run.pace import Pace
from bosquet.study.run.trial import Setting, run_trial
from bosquet.study.table.splits import Split

# Shares of the budget that are used up when: the first round ends, all rounds end. The rest is for
# explaining the winner and fitting it to all rows; if that takes longer by what was measured, rounds end
# earlier.
END_OF_FIRST_ROUND, END_OF_ROUNDS = 0.5, 0.8
# Further rounds there should be time for; they tune over fewer candidates if that is what it takes.
ROUNDS_WANTED = 4
REPEATS_COUNTED, REPEATS_TIMED = 5, 10
# Share of the budget that explaining the winner has at least, beside the fit of it to all rows.
EXPLAINING = 0.05
# Less than this share of the budget before the rounds must end, and no further method is begun.
LEAST_SHARE = 0.02
NO_TIME = "no time was left for it"
# Seconds below which a method says nothing of how far over its time it goes; and what is believed at most.
MEASURABLE, MOST_OVERRUN = 0.5, 4.0
# A method is stopped when it takes so many times its share and this share of the budget.
FAR_OVER, LARGEST_SHARE = 3.0, 0.06
WIDE = 500  # columns
# Fits that tuning on fewer rows should have time for, and fits of each learner that combining takes.
FITS_OF_A_SHARE, COMBINING_FITS = 4, 3
# Share of the budget within which gradient boosting with default settings is fitted, before all others.
INCUMBENT_SHARE = 0.45
# Share of the budget for what is tried last; the rest of the first round is worth more as further rounds.
MOST_FOR_COMBINING = 0.08


@dataclass
class Schedule:
    """Runs the rounds and keeps what came of them.

    Attributes
    ----------
    splits : of the rounds that were finished
    fitted : the estimator of the method that leads on the first split, by its name
    notes : what a reader should know of rounds left out or cut short
    """

    study: Setting
    methods: Sequence[Method]
    clock: Clock
    journal: Journal
    repeats: int
    told: Callable[[Method, Outcome, int], Any] = lambda method, outcome, waiting: None
    overrun: float = 1.0  # seconds taken for each second given, lately
    splits: list[Split] = field(default_factory=list)
    fitted: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pace = Pace(self.study.shape)

    def run(self) -> None:
        """All the rounds there is time for."""
        self._first_round()
        used: How = "all"
        most = self.study.splits.most
        for number in range(1, self.repeats if most is None else min(self.repeats, most)):
            how = self._how(number, used)
            if how is None or not self._round(number, how):
                break
            used = how
        self._note_rounds(used)

    def split(self, number: int) -> Split:
        """The split of a round."""
        return self.study.splits.split(number)

    def outcomes(self, method: Method) -> list[Outcome]:
        """What came of a method, round by round."""
        found = [self.journal.get(split.number, method.name) for split in self.splits]
        return [outcome for outcome in found if outcome is not None]

    def told_of_others(
        self, method: Method, split: Split, seconds: float | None, first: Outcome | None = None
    ) -> Method:
        """A method that combines others, with the candidates that follow from what was chosen of them.

        Under a clock it combines the same ones as in its `first` outcome.
        """
        if method.combines is None:
            return method
        chosen = self._chosen_of_others(split)
        if first is not None and seconds is not None:
            seconds = None
            learners = first.setting.get("learners", chosen)
            chosen = {name: one for name, one in chosen.items() if name in learners}
        shape = replace(self.study.shape, n_rows=len(split.train))
        try:
            candidates = list(method.combines(shape, chosen, seconds))
        except Exception as error:  # of the method's own; its trial tells it
            return replace(method, candidates=partial(_failing, error))
        if not candidates:
            return method
        return replace(method, candidates=lambda shape: candidates, rows_affordable=all_rows)

    def _chosen_of_others(self, split: Split) -> dict[str, Chosen]:
        """What was chosen on a split of the methods that could afford all of its training rows."""
        chosen = {}
        for other, outcome in self._going(split.number):
            if other.combines or other.name == BAYES_RULE or outcome.subsampled:
                continue
            shape = replace(self.study.shape, n_rows=outcome.rows_used)
            with suppress(Exception):  # a method that cannot be made again is not combined
                candidate = candidate_with(other, shape, outcome.setting)
                if candidate is not None:
                    chosen[other.name] = Chosen(candidate, outcome.one_fit_seconds)
        return chosen

    # ---------------------------------------------------------------- rounds
    def _first_round(self) -> None:
        """Every method on the first split; of large tables first those that can use all training rows."""
        split = self.split(0)
        self.splits.append(split)
        late = []
        for place, method in enumerate(self.methods):
            outcome = self.journal.get(0, method.name)
            if outcome is None and place > 1 and self._is_late():
                outcome = self._added(Outcome(method.name, 0, "not reached", NO_TIME))
            if outcome is None and self._is_expensive(method, split):
                late.append(method)
                continue
            if outcome is None:
                rows = len(split.train) if self.chooses_rows else None
                outcome = self._first_trial(method, self.methods[place:], split, rows)
            self.pace.learn(method, outcome)
            self.told(method, outcome, len(self.methods) - place - 1 + len(late))
        late.sort(key=lambda method: (method.combines is not None, self._one_fit(method, split)))
        for place, method in enumerate(late):
            outcome = self._late_trial(late[place:], split)
            self.pace.learn(method, outcome)
            self.told(method, outcome, len(late) - place - 1)

    def _first_trial(
        self, method: Method, waiting: Sequence[Method], split: Split, rows: int | None
    ) -> Outcome:
        seconds = self._share(waiting)
        limits: dict[str, Any] = {"seconds": seconds, "at_most": self._at_most(method, seconds)}
        ready = self.told_of_others(method, split, seconds)
        outcome, estimator = run_trial(self.study, ready, split, rows=rows, **limits)
        self._keep_leader(outcome, estimator)
        self._learn_overrun(outcome, seconds)
        return self._added(outcome)

    def _added(self, outcome: Outcome) -> Outcome:
        self.journal.add(outcome, self.clock.elapsed())
        return outcome

    # ------------------------------------------------------- rows of large tables
    @property
    def chooses_rows(self) -> bool:
        """Whether methods have all training rows or come late: of large tables, under a clock.

        On others each method finds the rows that it can afford by a trial fit, which are most often all.
        """
        shape = self.study.shape
        large = shape.n_rows * shape.n_indicators >= SMALL_TABLE or shape.n_indicators >= WIDE
        return large and self.clock.timed

    def _is_expensive(self, method: Method, split: Split) -> bool:
        """Whether a fit to all training rows is more than a method's share, or than what is left."""
        budget = self.clock.budget
        first = method.name == INCUMBENT or method.suits(self.study.shape)
        if not self.chooses_rows or budget is None or first:
            return False
        allowed = min(self._largest_share(method) * budget, self._left() / 2)
        return self._one_fit(method, split) > allowed

    def _largest_share(self, method: Method) -> float:
        """The share of the budget that a method may take where the others leave it."""
        return max(LARGEST_SHARE, worth(method) / sum(map(worth, self.methods)))

    def _one_fit(self, method: Method, split: Split) -> float:
        """Seconds of one fit to all training rows, or of a combination of others."""
        if method.combines is None:
            return self.pace.seconds(method, len(split.train))
        chosen = self._chosen_of_others(split)
        ready = self.told_of_others(method, split, self._share([method]))
        if ready is method:
            return self.pace.seconds(method, len(split.train))
        setting = ready.candidates(replace(self.study.shape, n_rows=len(split.train)))[0].setting
        return COMBINING_FITS * sum(
            chosen[name].seconds for name in setting.get("learners", ()) if name in chosen
        )

    def _late_trial(self, late: Sequence[Method], split: Split) -> Outcome:
        """A method that was too expensive: on all rows if it no longer is, or on as many as it can afford."""
        method, budget, seconds = late[0], self.clock.budget, self._share(late)
        assert budget is not None
        assert seconds is not None
        if not self._is_late() and not self._is_expensive(method, split):
            return self._first_trial(method, late, split, len(split.train))
        if method.combines or self.clock.left(END_OF_FIRST_ROUND) < LEAST_SHARE * budget:
            one_fit = in_words(self._one_fit(method, split))
            why = f"one fit to all {len(split.train):,} training rows would take about {one_fit}"
            return self._added(Outcome(method.name, 0, "not reached", why))
        rows = self.pace.rows(method, seconds / FITS_OF_A_SHARE)
        return self._first_trial(method, late, split, rows)

    def _left(self) -> float:
        """Seconds until all rounds must end: the leader is to be fitted to all rows, and explained."""
        budget = self.clock.budget
        left = self.clock.left(END_OF_ROUNDS)
        leader = self._leader()
        if budget is None or leader is None:
            return left
        method, outcome = leader
        final = seconds_for_rows(method, outcome, self.study.shape, len(self.study.y))
        return min(left, self.clock.left(1 - EXPLAINING) - final)

    def _leader(self) -> tuple[Method, Outcome] | None:
        """The method with the best score on the first split so far."""
        best: tuple[Method, Outcome] | None = None
        for method, outcome in self._going():
            if outcome.score is None or method.name == BAYES_RULE:
                continue
            if best is None or self.study.metric.better(outcome.score, best[1].score):  # type: ignore[arg-type]
                best = method, outcome
        return best

    def _is_late(self) -> bool:
        budget = self.clock.budget
        return budget is not None and self._left() < LEAST_SHARE * budget

    def _at_most(self, method: Method, seconds: float | None) -> float | None:
        """When a method is stopped: far over its share, and before it is at the winner's expense.

        Of large and wide tables, where a single fit may take minutes; on others folds are better tried side
        by side, and members of an ensemble too.
        """
        if seconds is None or self.clock.budget is None or not self.chooses_rows:
            return None
        if method.name == INCUMBENT:
            return seconds
        generous = max(FAR_OVER * seconds, self._largest_share(method) * self.clock.budget)
        half = self._left() / 2  # the others are to have a chance
        return max(min(generous, half), LEAST_SHARE * self.clock.budget)

    def _share(self, waiting: Sequence[Method]) -> float | None:
        """The seconds of the first method that waits, in proportion to what the methods are worth."""
        if self.clock.budget is None:
            return None
        if waiting[0].name == INCUMBENT:
            return INCUMBENT_SHARE * self.clock.budget
        suited = [method for method in waiting[1:] if not method.suits(self.study.shape)]
        share = worth(waiting[0]) / (worth(waiting[0]) + sum(map(worth, suited)))
        # Where the first round is late, it takes from the others.
        left = max(self.clock.left(END_OF_FIRST_ROUND), self._left() / 3)
        seconds = max(left, 0.0) * share / self.overrun
        if waiting[0].combines:
            seconds = min(seconds, MOST_FOR_COMBINING * self.clock.budget)
        return seconds

    def _learn_overrun(self, outcome: Outcome, seconds: float | None) -> None:
        """How far methods go over their time here: a limit is soft, and machines are busy."""
        # Of large tables the pace tells what a method takes before it is begun.
        timed = outcome.status == "done" and outcome.seconds > MEASURABLE
        if seconds and timed and not self.chooses_rows:
            ratio = min(max(outcome.seconds / seconds, 1.0), MOST_OVERRUN)
            self.overrun += (ratio - self.overrun) / 4

    def _round(self, number: int, how: How) -> bool:
        """Another round of all methods; False if time ran out and it was given up."""
        split = self.split(number)
        going = self._repeated()
        for place, (method, first) in enumerate(going):
            if (number, method.name) in self.journal:
                continue
            if self.clock.timed and self._estimate(going[place:], how) > 1.5 * self.clock.left(
                END_OF_ROUNDS
            ):
                self.journal.drop_round(number)
                return False
            seconds = None if not self.clock.timed else max(first.seconds, 0.2)
            ready = self.told_of_others(method, split, seconds, first)
            outcome, _ = run_trial(self.study, ready, split, seconds=seconds, how=how, first=first)
            self.journal.add(outcome, self.clock.elapsed())
            self.told(method, outcome, len(going) - place - 1)
        self.splits.append(split)
        return True

    def _repeated(self) -> list[tuple[Method, Outcome]]:
        """The methods of further rounds; of large tables those that can use all training rows."""
        going = self._going()
        return [pair for pair in going if not (self.chooses_rows and pair[1].subsampled)]

    def _going(self, number: int = 0) -> list[tuple[Method, Outcome]]:
        """The methods that a round, or the first, has not stopped, with what came of them there."""
        pairs = [(method, self.journal.get(number, method.name)) for method in self.methods]
        return [(method, first) for method, first in pairs if first and first.status == "done"]

    def _how(self, number: int, so_far: How) -> How | None:
        """How the next rounds are to tune, no better than those so far; None if there is no time for one."""
        going = self._repeated()
        if not going:
            return None
        if not self.clock.timed:
            return "all"
        wanted = min(ROUNDS_WANTED, self.repeats - 1) - (number - 1)
        left = self._left()
        ways: tuple[How, ...] = ("all", "near", "same")
        for how in ways[ways.index(so_far) :]:
            if left >= max(wanted, 1) * self._estimate(going, how):
                return how
        return "same" if left >= self._estimate(going, "same") else None

    def _estimate(self, going: Sequence[tuple[Method, Outcome]], how: How) -> float:
        """Seconds that a round of these methods takes."""
        total = 0.0
        for method, first in going:
            latest = self._latest(method, how)
            if latest is not None:
                total += latest
            elif how == "all":
                total += first.fit_seconds + first.decision_seconds + first.judge_seconds
            else:
                total += self._reduced(method, first, how)
        return total

    def _reduced(self, method: Method, first: Outcome, how: How) -> float:
        """Seconds of a method that is tuned over fewer candidates than in the first round, or not at all."""
        # Machines are busy, and of bagged methods what one fit takes is a mean over candidates.
        one_fit = min(first.fit_seconds, DEARER * first.one_fit_seconds)
        if how == "same":  # the threshold as well
            return first.judge_seconds + one_fit
        rest = first.decision_seconds + first.judge_seconds
        if method.combines:
            return rest + first.fit_seconds
        shape = replace(self.study.shape, n_rows=first.rows_used)
        candidates = list(method.candidates(shape))
        near = len(neighbours(candidates, first.setting))
        return rest + max(one_fit, first.fit_seconds * near / len(candidates))

    def _latest(self, method: Method, how: How) -> float | None:
        """What the method took when it was last tuned in this way."""
        for split in reversed(self.splits[1:]):
            outcome = self.journal.get(split.number, method.name)
            if outcome is not None and outcome.how == how:
                return outcome.seconds
        return None

    def _keep_leader(self, outcome: Outcome, estimator: Any) -> None:
        """Keep the estimator of the best score so far, which may have to be explained."""
        if outcome.score is None or estimator is None:
            return
        leader = self._leader()
        score = None if leader is None else leader[1].score
        if not self.fitted or score is None or self.study.metric.better(outcome.score, score):
            self.fitted = {outcome.method: estimator}

    def _note_rounds(self, how: How) -> None:
        n = len(self.splits)
        if n < self.repeats:
            self.notes.append(
                f"Time allowed {n} of {self.repeats} splits."
                if n > 1
                else "Time allowed one split."
            )
        if how == "near":
            self.notes.append(
                "From the second split on methods were tuned over the first split's choice and its"
                " neighbours."
            )
        elif how == "same":
            self.notes.append(
                "From the second split on methods kept the setting chosen on the first split, whose"
                " training rows are test rows there: a small advantage that all methods share."
            )


def _failing(error: Exception, shape: TableShape) -> list[Candidate]:
    raise error
