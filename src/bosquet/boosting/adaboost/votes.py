"""Weighted votes: their sums, output codes for several classes, and the classes decoded from the sums.

A vote consists of trees of the core (`TreeVote`) or of any learners (`LearnerVote`). Both compute
f(x) = Σ scale · as_vote(output of the hypothesis on x) for each output, and have the same methods: `add` a
hypothesis (or a list, one per output), `add_nothing` for an output whose loop has ended, `predict_raw`, sums
of shape (rows, outputs) over rounds [first, last), `truncate`, `copy`.

A code is a matrix with a line of -1, 0 and +1 for each class and a column for each two-class problem.
One-vs-rest, one-vs-one and error-correcting codes differ in the matrix alone. Column l is fitted to the rows
whose class has a non-zero entry there, with that entry as the sign.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import softmax

from bosquet import _core
from bosquet._sums import weighted_sum
from bosquet.boosting._inputs import error_naming_round
from bosquet.losses import MarginLoss

if TYPE_CHECKING:
    from bosquet._types import TableLike


AsVote = Callable[[np.ndarray], np.ndarray]

# Up to this number of classes an error-correcting code contains all possible columns; random codes would
# have about as many.
MAX_FOR_ALL_COLUMNS = 5
# Number of random codes from which the best is chosen.
CODES_TRIED = 1000


# ---------------------------------------------------- from outputs to votes
@dataclass(frozen=True)
class Identity:
    """The output of a hypothesis is its vote."""

    def __call__(self, outputs: np.ndarray) -> np.ndarray:
        return outputs


IDENTITY = Identity()


@dataclass(frozen=True)
class HalfLogOdds:
    """½ ln(p / (1 - p)) for the second class; p is kept away from 0 and 1 by half a row."""

    n_rows: int

    @property
    def largest(self) -> float:
        return math.log(2 * self.n_rows + 1) / 2

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            odds = np.log(probabilities[:, 1]) - np.log(probabilities[:, 0])
        return np.clip(odds / 2, -self.largest, self.largest)


@dataclass(frozen=True)
class CentredVotes:
    """A vote for one of K classes as K numbers that sum to 0: 1 - 1/K for it, -1/K for the others."""

    n_classes: int

    def __call__(self, numbers: np.ndarray) -> np.ndarray:
        votes = np.full((self.n_classes, numbers.size), -1 / self.n_classes)
        votes[numbers, np.arange(numbers.size)] += 1
        return votes


# -------------------------------------------------------------- the votes
class TreeVote:
    """A vote of native stumps or trees over encoded columns; leaves hold what they add to f."""

    def __init__(self, ensemble: _core.Ensemble, as_vote: AsVote = IDENTITY):
        self.ensemble = ensemble
        self.as_vote = as_vote

    @property
    def trees_per_round(self) -> int:
        return 1 if self.ensemble.vector_leaves else self.ensemble.n_outputs

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_trees // self.trees_per_round

    def add(self, hypothesis: Any, scale: float) -> None:
        if isinstance(hypothesis, list):
            for member in hypothesis:
                self.add(member, scale)
            return
        votes = self.as_vote(hypothesis.leaf_outputs)
        value = scale * (votes[:, None] if votes.ndim == 1 else votes.T)
        hypothesis.add_to(self.ensemble, value)

    def add_nothing(self) -> None:
        outputs = self.ensemble.n_outputs if self.ensemble.vector_leaves else 1
        no_categories, no_split = np.zeros(1), np.full(1, -1, dtype=np.int32)
        no_vote = np.zeros((1, outputs))
        _core.add_tree(
            self.ensemble,
            no_split,
            no_categories,
            no_split,
            np.zeros(1, bool),
            [None],
            no_vote,
            no_categories,
            no_categories,
        )

    def predict_raw(
        self, X: TableLike, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        last = self.n_rounds if last is None else last
        trees_per_round = self.trees_per_round
        return self.ensemble.predict_raw(
            X, first * trees_per_round, last * trees_per_round, threads
        )

    def truncate(self, n_rounds: int) -> None:
        self.ensemble.truncate(n_rounds * self.trees_per_round)

    def copy(self) -> TreeVote:
        return TreeVote(self.ensemble.copy(), self.as_vote)


@dataclass
class Voter:
    """A learner and its factor in the vote; a learner of None adds nothing."""

    scale: float
    learner: Any


class LearnerVote:
    """A vote of any learners, over unencoded tables; `adapter` converts their predictions."""

    def __init__(self, adapter: Any, as_vote: AsVote, outputs: int, at_once: bool):
        self.adapter, self.as_vote = adapter, as_vote
        self.outputs, self.at_once = outputs, at_once
        self.voters: list[Voter] = []

    @property
    def voters_per_round(self) -> int:
        return 1 if self.at_once else self.outputs

    @property
    def n_rounds(self) -> int:
        return len(self.voters) // self.voters_per_round

    def add(self, hypothesis: Any, scale: float) -> None:
        hypotheses = hypothesis if isinstance(hypothesis, list) else [hypothesis]
        self.voters.extend(Voter(scale, member) for member in hypotheses)

    def add_nothing(self) -> None:
        self.voters.append(Voter(0.0, None))

    def predict_raw(
        self, X: Any, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        last = self.n_rounds if last is None else last
        total = np.zeros((X.shape[0], self.outputs))
        for output, added in self._iterate_votes(X, first, last):
            total[:, output] += added
        return total

    def _iterate_votes(
        self, X: TableLike, first: int, last: int
    ) -> Iterator[tuple[Any, np.ndarray]]:
        voters_per_round = self.voters_per_round
        for number in range(first * voters_per_round, last * voters_per_round):
            voter = self.voters[number]
            if voter.learner is None:
                continue
            try:
                outputs = self.adapter(voter.learner, X)
            except Exception as error:
                raise error_naming_round(
                    error, voter.learner, number // voters_per_round
                ) from error
            added = voter.scale * self.as_vote(outputs)
            yield (slice(None), added.T) if self.at_once else (number % voters_per_round, added)

    def truncate(self, n_rounds: int) -> None:
        del self.voters[n_rounds * self.voters_per_round :]

    def copy(self) -> LearnerVote:
        other = LearnerVote(self.adapter, self.as_vote, self.outputs, self.at_once)
        other.voters = list(self.voters)
        return other


Vote = TreeVote | LearnerVote


# -------------------------------------------------------------- the codes
def code_matrix(kind: str, n_classes: int, seed: int = 0) -> np.ndarray:
    """Return the matrix (classes, columns) of a code, by its name.

    >>> code_matrix("one-vs-rest", 3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    >>> code_matrix("one-vs-one", 3)
    array([[-1, -1,  0],
           [ 1,  0, -1],
           [ 0,  1,  1]], dtype=int8)
    """
    if kind == "one-vs-rest":
        return (2 * np.eye(n_classes) - 1).astype(np.int8)
    if kind == "one-vs-one":
        return _all_pairs(n_classes)
    if n_classes <= MAX_FOR_ALL_COLUMNS:
        return _every_column(n_classes)
    return _random_code(n_classes, seed)


def _all_pairs(n_classes: int) -> np.ndarray:
    first, second = np.triu_indices(n_classes, 1)
    matrix = np.zeros((n_classes, first.size), dtype=np.int8)
    columns = np.arange(first.size)
    matrix[first, columns], matrix[second, columns] = -1, 1
    return matrix


def _every_column(n_classes: int) -> np.ndarray:
    """Return all 2^(K-1) - 1 ways to split the classes in two, with the first class always at -1."""
    numbers = np.arange(1, 2 ** (n_classes - 1))
    bits = numbers >> np.arange(n_classes - 1)[:, None] & 1
    other_classes = np.where(bits == 1, 1, -1)
    return np.vstack([np.full(numbers.size, -1), other_classes]).astype(np.int8)


def _random_code(n_classes: int, seed: int) -> np.ndarray:
    """Return the random code of 10 log2(K) columns in which the two closest classes differ most."""
    rng = np.random.RandomState(seed)
    columns = math.ceil(10 * math.log2(n_classes))
    best, best_distance = None, -1
    for _ in range(CODES_TRIED):
        matrix = (2 * rng.randint(0, 2, (n_classes, columns)) - 1).astype(np.int8)
        if (np.abs(matrix.sum(axis=0, dtype=int)) == n_classes).any():
            continue  # a column that separates no classes
        distance = _least_distance(matrix)
        if distance > best_distance:
            best, best_distance = matrix, distance
    assert best is not None
    return best


def _least_distance(matrix: np.ndarray) -> int:
    """Return the number of columns in which the two closest classes differ."""
    agreement = matrix.astype(int) @ matrix.T.astype(int)
    np.fill_diagonal(agreement, -matrix.shape[1])
    return int(matrix.shape[1] - agreement.max()) // 2


# ---------------------------------------------------------- from sums to classes
class SignDecoder:
    """Two classes by the sign of one sum f."""

    def scores(self, raw: np.ndarray) -> np.ndarray:
        return raw[:, 0]

    def class_indices(self, scores: np.ndarray) -> np.ndarray:
        return (scores > 0).astype(np.intp)

    def margins(self, raw: np.ndarray, class_indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """y f / Σ|α|."""
        return (2 * class_indices - 1) * raw[:, 0] / max(float(sizes.sum()), 1e-300)


@dataclass(frozen=True)
class TwoClassDecoder(SignDecoder):
    """Two classes, with probabilities by the loss that f minimises."""

    loss: MarginLoss

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        second = self.loss.probability(scores)
        return np.column_stack([1 - second, second])


class LargestScore:
    """A score for each class, of which the largest decides."""

    def scores(self, raw: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def class_indices(self, scores: np.ndarray) -> np.ndarray:
        return scores.argmax(axis=1)


@dataclass(frozen=True)
class VoteDecoder(LargestScore):
    """A sum of votes for each class; `log_odds_factor` times a sum is on the scale of log-odds.

    The factor is 1 for SAMME. It is 2 for AdaBoost.MH, whose sums are half the log-odds of each class against
    the others.
    """

    log_odds_factor: float

    def scores(self, raw: np.ndarray) -> np.ndarray:
        return raw

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        return softmax(self.log_odds_factor * scores, axis=1)

    def margins(self, raw: np.ndarray, class_indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the vote for the true class minus the largest other one, by the largest possible vote."""
        largest = self.log_odds_factor * max(float(sizes.sum()), 1e-300)
        return lead_of_own_class(raw, class_indices) / largest


@dataclass(frozen=True)
class CodeDecoder(LargestScore):
    """Loss-based decoding: the class whose line of the code has the smallest loss, Σ_l C(M_kl f_l).

    The score of a class is minus the logarithm of its mean loss. With one column and the exponential
    loss the probabilities are those of two classes.
    """

    matrix: np.ndarray
    loss: MarginLoss

    def scores(self, raw: np.ndarray) -> np.ndarray:
        # The loss of a column is C(f), C(-f) or C(0) for each class.
        losses = weighted_sum((self.matrix == 1).T, self.loss.value(raw).T[:, :, None])
        losses += weighted_sum((self.matrix == -1).T, self.loss.value(-raw).T[:, :, None])
        losses += (self.matrix == 0).sum(axis=1) * float(self.loss.value(np.zeros(1))[0])
        return -np.log(np.maximum(losses / self.matrix.shape[1], np.finfo(float).tiny))

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        return softmax(scores, axis=1)

    def margins(self, raw: np.ndarray, class_indices: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Return the score of the true class minus the largest other one, by the largest possible gap.

        The gap is largest if all columns agree with one line of the code and disagree with another. With one
        column and the exponential loss the margin is y f / Σ|α|.
        """
        reach = np.array([-1.0, 1.0]) * max(float(sizes.max()), 1e-300)
        largest_gap = -np.diff(np.log(np.maximum(self.loss.value(reach), np.finfo(float).tiny)))[0]
        return lead_of_own_class(self.scores(raw), class_indices) / max(largest_gap, 1e-300)


Decoder = TwoClassDecoder | VoteDecoder | CodeDecoder


def lead_of_own_class(scores: np.ndarray, class_indices: np.ndarray) -> np.ndarray:
    """Return the score of each row's own class minus the largest score of the other classes."""
    rows = np.arange(class_indices.size)
    own_score = scores[rows, class_indices]
    other_scores = scores.copy()
    other_scores[rows, class_indices] = -np.inf
    return own_score - other_scores.max(axis=1)
