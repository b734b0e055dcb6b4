"""Stumps on Haar features as a weak learner, and votes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bosquet import _core
from bosquet.boosting._capacity import vc_dim_of_stumps
from bosquet.boosting._native import instruction_set
from bosquet.boosting._votes import AS_SAID, AsVote
from bosquet.vision.features import HaarFeatures
from bosquet.vision.integral import feature_arrays, native_values

# Voters whose features are looked at together: their values are in memory at once.
TOGETHER = 128

CRITERIA = {"signs": "error", "probabilities": "exponential", "numbers": "squared"}


@dataclass(frozen=True)
class HaarRule:
    """One feature and a threshold: `left` is said of values below it, `right` of all others."""

    feature: int
    threshold: float  # of single precision
    left: float
    right: float


def said_of(values: np.ndarray, says: str) -> np.ndarray:
    """What the core's values mean: of probabilities it says half the logarithm of the odds."""
    if says == "probabilities":
        return np.column_stack([expit(-2 * values), expit(2 * values)])
    return values


class HaarLearner:
    """The best stump over all features of a stack of windows, under weights (see `boosting._weak`).

    With `trim` below 1 a stump is looked for among the heaviest windows that hold this share of the
    weight, and judged on all.
    """

    def __init__(
        self,
        windows: np.ndarray,
        positive: np.ndarray,
        features: HaarFeatures,
        *,
        says: str,
        normalise: bool,
        trim: float,
        memory: float,
        threads: int,
    ):
        self.says, self.trim = says, trim
        self.finds_the_best = trim >= 1 and says == "signs"
        self.features, self.normalise, self.threads = features, normalise, threads
        self.search = _core.HaarSearch(
            windows,
            np.ascontiguousarray(positive, dtype=bool).view(np.uint8),
            *feature_arrays(features),
            bool(normalise),
            int(memory * 1e9),
            instruction_set(),
            threads,
        )

    @property
    def attempts(self) -> int:
        return 1  # nothing is drawn

    @property
    def vc_dim(self) -> float | None:
        return vc_dim_of_stumps(len(self.features))

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> HaarRule:
        """The stump of this round; the classes are those that the learner was made with."""
        heavy = weight if self.trim == 1 else _heaviest(weight, self.trim)
        feature, threshold, left, right, *_ = self.search.best(heavy, CRITERIA[self.says])
        return HaarRule(feature, threshold, left, right)

    def on_training_rows(self, hypothesis: HaarRule) -> np.ndarray:
        below = self.below(hypothesis)
        return said_of(np.where(below, hypothesis.left, hypothesis.right), self.says)

    def on(self, hypothesis: HaarRule, X: Any) -> np.ndarray:
        """What it says of other windows."""
        feature = self.features[hypothesis.feature]
        values = native_values(X, feature, self.normalise, self.threads)[0]
        below = values < np.float32(hypothesis.threshold)
        return said_of(np.where(below, hypothesis.left, hypothesis.right), self.says)

    def below(self, hypothesis: HaarRule) -> np.ndarray:
        """Which windows are on the left."""
        return self.search.values(hypothesis.feature) < np.float32(hypothesis.threshold)


def _heaviest(weight: np.ndarray, share: float) -> np.ndarray:
    """Weights with the lightest set to 0, so that the others hold at least `share` of the whole."""
    ascending = np.sort(weight)
    lost = np.cumsum(ascending) <= (1 - share) * ascending.sum()
    # Windows as heavy as the first one kept stay too; the heaviest does in any case, though rounding may
    # make all of weights near the smallest number there is no more than a share of them.
    least = ascending[min(int(np.count_nonzero(lost)), ascending.size - 1)]
    return np.where(weight >= least, weight, 0.0)


class HaarVote:
    """A weighted vote of stumps on Haar features: f(x) = Σ scale · what the stump says of x."""

    def __init__(
        self, features: HaarFeatures, normalise: bool, says: str, as_vote: AsVote = AS_SAID
    ):
        self.features, self.normalise = features, normalise
        self.says, self.as_vote = says, as_vote
        self.rules: list[HaarRule] = []
        self.scales: list[float] = []

    @property
    def n_rounds(self) -> int:
        return len(self.rules)

    def add(self, hypothesis: HaarRule, scale: float) -> None:
        self.rules.append(hypothesis)
        self.scales.append(float(scale))

    def truncate(self, n_rounds: int) -> None:
        del self.rules[n_rounds:], self.scales[n_rounds:]

    @property
    def numbers(self) -> np.ndarray:
        """The features of the voters, as numbers among all."""
        return np.array([rule.feature for rule in self.rules], dtype=np.int64)

    @property
    def thresholds(self) -> np.ndarray:
        return np.array([rule.threshold for rule in self.rules], dtype=np.float32)

    @property
    def leaves(self) -> np.ndarray:
        """What each voter adds to f below its threshold and from it on: (rounds, 2)."""
        sides = np.array([(rule.left, rule.right) for rule in self.rules]).reshape(-1, 2)
        added = [self.as_vote(said_of(side, self.says)) for side in sides]
        return np.array(added).reshape(-1, 2) * np.array(self.scales)[:, None]

    def settled(self) -> SettledVote:
        """The vote as it is used from now on."""
        return SettledVote(
            self.features[self.numbers], self.numbers, self.thresholds, self.leaves, self.normalise
        )

    def raw(self, X: Any, threads: int, first: int = 0, last: int | None = None) -> np.ndarray:
        last = self.n_rounds if last is None else last
        total = np.zeros((len(X), 1))
        for added in self.settled().added(X, threads, first, last):
            total[:, 0] += added
        return total


@dataclass(frozen=True, eq=False)
class SettledVote:
    """A vote whose rounds are over: the features it asks for, thresholds, and what is added where."""

    features: HaarFeatures  # one a round
    numbers: np.ndarray  # their places among all features of their kind
    thresholds: np.ndarray
    leaves: np.ndarray  # (rounds, 2)
    normalise: bool

    @property
    def n_rounds(self) -> int:
        return len(self.thresholds)

    def added(
        self, windows: np.ndarray, threads: int, first: int = 0, last: int | None = None
    ) -> Any:
        """What each round adds to f, one array after the other."""
        last = self.n_rounds if last is None else last
        for start in range(first, last, TOGETHER):
            end = min(start + TOGETHER, last)
            values = native_values(windows, self.features[start:end], self.normalise, threads)
            for t, row in zip(range(start, end), values, strict=True):
                yield np.where(row < self.thresholds[t], self.leaves[t, 0], self.leaves[t, 1])
