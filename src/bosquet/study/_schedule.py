"""Who is tried when, and for how long.

A round tries every method on one split. The first round tunes; what time it leaves goes to further rounds on
other splits, whole ones always, so that methods are compared on the same splits. Without a budget the
schedule is counted: every round tunes over all candidates, and nothing depends on the clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bosquet.study._candidates import candidate_with
from bosquet.study._clock import Clock
from bosquet.study._journal import Journal
from bosquet.study._outcomes import How, Outcome
from bosquet.study._splits import Split, split_rows
from bosquet.study._trial import Setting, narrowed, run_trial
from bosquet.study.choosing import TRUTH
from bosquet.study.method import Candidate, Chosen, Method, TableShape, all_rows

# Shares of the budget that are used up when: the first round ends, all rounds end. The rest is for
# explaining the winner and fitting it to all rows.
END_OF_FIRST_ROUND, END_OF_ROUNDS = 0.5, 0.8
# Further rounds there should be time for; they tune over fewer candidates if that is what it takes.
ROUNDS_WANTED = 4
REPEATS_COUNTED, REPEATS_TIMED = 5, 10
DEARER = 1.2  # what a fit takes at most, beside what one is thought to take
# Less than this share of the budget before the rounds must end, and no further method is begun.
LEAST_SHARE = 0.02
NO_TIME = "no time was left for it"
# Seconds below which a method says nothing of how far over its time it goes; and what is believed at most.
MEASURABLE, MOST_OVERRUN = 0.5, 4.0
# A method is stopped when it takes so many times its share and this share of the budget.
FAR_OVER, LARGEST_SHARE = 3.0, 0.12
WIDE = 500  # columns
# Share of the budget for what is tried last; the rest of the first round is worth more as further rounds.
MOST_FOR_COMBINING = 0.08

# What a method's time is worth against the others', and with it the order: the constant, what is cheap and
# readable, then what is most often best, then the rest. What a method leaves is the others': a cheap one
# loses nothing by a large share.
_WORTH = {
    "constant": 0.5,
    "nearest-barycentre": 1.0,
    "lda": 1.0,
    "linear": 1.0,
    "logistic": 1.0,
    "cart": 1.0,
    "gradient-boosting": 8.0,
    "random-forest": 2.0,
    "balanced-bagging": 1.5,
    "qda": 0.6,
    "poisson": 0.6,
    "polynomial": 0.6,
    "k-nearest-neighbours": 0.8,
    "adaboost": 1.2,
    "rusboost": 1.2,
    "extra-trees": 1.2,
    "bagging": 0.8,
    "mlp": 1.0,
    "svm-gaussian": 1.0,
    "svr-gaussian": 1.0,
    "svm-linear": 0.6,
    "svr-linear": 0.6,
    "super-learner": 4.0,
}
_WORTH_OF_OTHERS = 0.5


def in_order(methods: Iterable[Method]) -> list[Method]:
    """The methods by what is to be known first; those not known here keep their order, behind the others.

    Last are those that combine others.
    """
    places = {name: place for place, name in enumerate(_WORTH)}

    def place(method: Method) -> tuple[bool, int]:
        return method.combines is not None, places.get(method.name, len(places))

    return sorted(methods, key=place)


def worth(method: Method) -> float:
    """The weight of a method when time is shared out."""
    return _WORTH.get(method.name, _WORTH_OF_OTHERS)


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

    def run(self) -> None:
        """All the rounds there is time for."""
        self._first_round()
        used: How = "all"
        for number in range(1, self.repeats):
            how = self._how(number, used)
            if how is None or not self._round(number, how):
                break
            used = how
        self._note_rounds(used)

    def split(self, number: int) -> Split:
        """The split of a round."""
        y, target = self.study.y, self.study.target
        return split_rows(y, number, self.study.random_state, stratify=target.is_classes)

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
            if other.combines or other.name == TRUTH or outcome.subsampled:
                continue
            shape = replace(self.study.shape, n_rows=outcome.rows_used)
            with suppress(Exception):  # a method that cannot be made again is not combined
                candidate = candidate_with(other, shape, outcome.setting)
                if candidate is not None:
                    chosen[other.name] = Chosen(candidate, outcome.one_fit_seconds)
        return chosen

    # ---------------------------------------------------------------- rounds
    def _first_round(self) -> None:
        split = self.split(0)
        self.splits.append(split)
        for place, method in enumerate(self.methods):
            outcome = self.journal.get(0, method.name)
            if outcome is None:
                if place > 1 and self._is_late():
                    outcome = Outcome(method.name, 0, "skipped", NO_TIME)
                else:
                    seconds = self._share(self.methods[place:])
                    limits: dict[str, Any] = {"seconds": seconds, "at_most": self._at_most(seconds)}
                    ready = self.told_of_others(method, split, seconds)
                    outcome, estimator = run_trial(self.study, ready, split, **limits)
                    self._keep_leader(outcome, estimator)
                    self._learn_overrun(outcome, seconds)
                self.journal.add(outcome, self.clock.elapsed())
            self.told(method, outcome, len(self.methods) - place - 1)

    def _is_late(self) -> bool:
        budget = self.clock.budget
        return budget is not None and self.clock.left(END_OF_ROUNDS) < LEAST_SHARE * budget

    def _at_most(self, seconds: float | None) -> float | None:
        """When a method is stopped: far over its share, and before it is at the winner's expense.

        Of wide tables, where a single fit may take minutes; on others folds are better tried side by side.
        """
        if seconds is None or self.clock.budget is None or self.study.shape.n_indicators < WIDE:
            return None
        generous = max(FAR_OVER * seconds, LARGEST_SHARE * self.clock.budget)
        half = self.clock.left(END_OF_ROUNDS) / 2  # the others are to have a chance
        return max(min(generous, half), LEAST_SHARE * self.clock.budget)

    def _share(self, waiting: Sequence[Method]) -> float | None:
        """The seconds of the first method that waits, in proportion to what the methods are worth."""
        if not self.clock.timed:
            return None
        suited = [method for method in waiting[1:] if not method.suits(self.study.shape)]
        share = worth(waiting[0]) / (worth(waiting[0]) + sum(map(worth, suited)))
        # Where the first round is late, it takes from the others.
        left = max(self.clock.left(END_OF_FIRST_ROUND), self.clock.left(END_OF_ROUNDS) / 3)
        seconds = max(left, 0.0) * share / self.overrun
        if waiting[0].combines:
            assert self.clock.budget is not None
            seconds = min(seconds, MOST_FOR_COMBINING * self.clock.budget)
        return seconds

    def _learn_overrun(self, outcome: Outcome, seconds: float | None) -> None:
        """How far methods go over their time here: a limit is soft, and machines are busy."""
        if seconds and outcome.status == "done" and outcome.seconds > MEASURABLE:
            ratio = min(max(outcome.seconds / seconds, 1.0), MOST_OVERRUN)
            self.overrun += (ratio - self.overrun) / 4

    def _round(self, number: int, how: How) -> bool:
        """Another round of all methods; False if time ran out and it was given up."""
        split = self.split(number)
        going = self._going()
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

    def _going(self, number: int = 0) -> list[tuple[Method, Outcome]]:
        """The methods that a round, or the first, has not stopped, with what came of them there."""
        pairs = [(method, self.journal.get(number, method.name)) for method in self.methods]
        return [(method, first) for method, first in pairs if first and first.status == "done"]

    def _how(self, number: int, so_far: How) -> How | None:
        """How the next rounds are to tune, no better than those so far; None if there is no time for one."""
        going = self._going()
        if not going:
            return None
        if not self.clock.timed:
            return "all"
        wanted = min(ROUNDS_WANTED, self.repeats - 1) - (number - 1)
        left = self.clock.left(END_OF_ROUNDS)
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
        candidates = len(method.candidates(shape))
        near = len(narrowed(method, shape, first.setting).candidates(shape))
        return rest + max(one_fit, first.fit_seconds * near / candidates)

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
        for name in self.fitted:
            best = self.journal.get(0, name)
            leads = best is not None and best.score is not None
            if leads and not self.study.metric.better(outcome.score, best.score):  # type: ignore[union-attr,arg-type]
                return
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
