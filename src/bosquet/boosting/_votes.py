"""A weighted vote: native rules as trees of the core, or any learners with their weights.

Both kinds have f(x) = Σ scale · as_vote(what the hypothesis says of x) for each output, and the same
methods: `add` a voter (or a list of them: where an output has voters of its own, those of a round come
one after the other), `add_nothing` where an output has no more to learn, `raw` sums (rows, outputs) of
rounds [first, last), `truncate`, `copy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet.boosting._weak_foreign import told_with_its_round

AsVote = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class AsSaid:
    """What is said is what is added."""

    def __call__(self, said: np.ndarray) -> np.ndarray:
        return said


AS_SAID = AsSaid()


@dataclass(frozen=True)
class HalfLogOdds:
    """½ ln(p / (1 - p)) of the second class, with p held off 0 and 1 as by half a row more of each."""

    rows: int

    @property
    def largest(self) -> float:
        return math.log(2 * self.rows + 1) / 2

    def __call__(self, said: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            odds = np.log(said[:, 1]) - np.log(said[:, 0])
        return np.clip(odds / 2, -self.largest, self.largest)


@dataclass(frozen=True)
class ClassVotes:
    """A vote for a class of K as K numbers that sum to 0: 1 - 1/K for it, -1/K for the others."""

    n_classes: int

    def __call__(self, said: np.ndarray) -> np.ndarray:
        votes = np.full((self.n_classes, said.size), -1 / self.n_classes)
        votes[said, np.arange(said.size)] += 1
        return votes


class TreeVote:
    """Votes of native rules, over encoded columns: leaves hold what they add."""

    def __init__(self, ensemble: _core.Ensemble, as_vote: AsVote = AS_SAID):
        self.ensemble = ensemble
        self.as_vote = as_vote

    @property
    def trees_a_round(self) -> int:
        return 1 if self.ensemble.vector_leaves else self.ensemble.n_outputs

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_trees // self.trees_a_round

    def add(self, hypothesis: Any, scale: float) -> None:
        if isinstance(hypothesis, list):
            for one in hypothesis:
                self.add(one, scale)
            return
        said = self.as_vote(hypothesis.said)
        value = scale * (said[:, None] if said.ndim == 1 else said.T)
        hypothesis.add_to(self.ensemble, value)

    def add_nothing(self) -> None:
        outputs = self.ensemble.n_outputs if self.ensemble.vector_leaves else 1
        none, no_leaf = np.zeros(1), np.full(1, -1, dtype=np.int32)
        nothing = np.zeros((1, outputs))
        _core.add_tree(
            self.ensemble, no_leaf, none, no_leaf, np.zeros(1, bool), [None], nothing, none, none
        )

    def raw(self, X: Any, threads: int, first: int = 0, last: int | None = None) -> np.ndarray:
        last = self.n_rounds if last is None else last
        each = self.trees_a_round
        return self.ensemble.predict_raw(X, first * each, last * each, threads)

    def truncate(self, n_rounds: int) -> None:
        self.ensemble.truncate(n_rounds * self.trees_a_round)

    def copy(self) -> TreeVote:
        return TreeVote(self.ensemble.copy(), self.as_vote)


@dataclass
class Voter:
    """A learner and what its answers are multiplied by; None adds nothing."""

    scale: float
    learner: Any


class LearnerVote:
    """Votes of any learners, over tables as they are."""

    def __init__(self, speech: Any, as_vote: AsVote, outputs: int, at_once: bool):
        self.speech, self.as_vote = speech, as_vote
        self.outputs, self.at_once = outputs, at_once
        self.voters: list[Voter] = []

    @property
    def voters_a_round(self) -> int:
        return 1 if self.at_once else self.outputs

    @property
    def n_rounds(self) -> int:
        return len(self.voters) // self.voters_a_round

    def add(self, hypothesis: Any, scale: float) -> None:
        several = hypothesis if isinstance(hypothesis, list) else [hypothesis]
        self.voters.extend(Voter(scale, one) for one in several)

    def add_nothing(self) -> None:
        self.voters.append(Voter(0.0, None))

    def raw(self, X: Any, threads: int, first: int = 0, last: int | None = None) -> np.ndarray:
        last = self.n_rounds if last is None else last
        total = np.zeros((X.shape[0], self.outputs))
        for place, added in self._added(X, first, last):
            total[:, place] += added
        return total

    def _added(self, X: Any, first: int, last: int) -> Iterator[tuple[Any, np.ndarray]]:
        each = self.voters_a_round
        for number in range(first * each, last * each):
            voter = self.voters[number]
            if voter.learner is None:
                continue
            try:
                said = self.speech(voter.learner, X)
            except Exception as error:
                raise told_with_its_round(error, voter.learner, number // each) from error
            added = voter.scale * self.as_vote(said)
            yield (slice(None), added.T) if self.at_once else (number % each, added)

    def truncate(self, n_rounds: int) -> None:
        del self.voters[n_rounds * self.voters_a_round :]

    def copy(self) -> LearnerVote:
        other = LearnerVote(self.speech, self.as_vote, self.outputs, self.at_once)
        other.voters = list(self.voters)
        return other


Vote = TreeVote | LearnerVote
