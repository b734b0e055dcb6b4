"""Stumps on Haar features as a weak learner, and weighted votes of such stumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet.boosting.adaboost.bounds import vc_dim_of_stumps
from bosquet.boosting.adaboost.votes import IDENTITY, AsVote
from bosquet.vision.features import HaarFeatures
from bosquet.vision.integral import feature_arrays, values_of_grey_images

# Number of rounds whose feature values are in memory at the same time.
ROUNDS_PER_BLOCK = 128

CRITERIA = {"signs": "error", "probabilities": "exponential", "numbers": "squared"}


@dataclass(frozen=True)
class HaarStump:
    """A stump: predicts `left` for feature values below the threshold, else `right`."""

    feature: int
    threshold: float  # rounded to single precision
    left: float
    right: float


def to_outputs(values: np.ndarray, output_kind: str) -> np.ndarray:
    """Convert leaf values to outputs of the given kind; for probabilities, leaf values are half log-odds."""
    if output_kind == "probabilities":
        return np.column_stack([expit(-2 * values), expit(2 * values)])
    return values


class HaarLearner:
    """Weak learner: the best stump over all features of an array of windows (see `WeakLearner`).

    With `trim` below 1, the search uses only the windows with the largest weights, which sum to this
    fraction of the total weight. The weighted error is that on all windows.
    """

    def __init__(
        self,
        windows: np.ndarray,
        positive: np.ndarray,
        features: HaarFeatures,
        *,
        output_kind: str,
        normalise: bool,
        trim: float,
        memory: float,
        threads: int,
    ):
        self.output_kind, self.trim = output_kind, trim
        self.finds_optimum = trim >= 1 and output_kind == "signs"
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
        return 1  # the learner is deterministic

    @property
    def vc_dim(self) -> float | None:
        return vc_dim_of_stumps(len(self.features))

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> HaarStump:
        """Return the best stump under these weights.

        `target` is ignored, the constructor was given the classes.
        """
        trimmed = weight if self.trim == 1 else _trimmed_weights(weight, self.trim)
        feature, threshold, left, right, *_ = self.search.find_best(
            trimmed, CRITERIA[self.output_kind]
        )
        return HaarStump(feature, threshold, left, right)

    def predict_training_rows(self, hypothesis: HaarStump) -> np.ndarray:
        below = self.is_below(hypothesis)
        return to_outputs(np.where(below, hypothesis.left, hypothesis.right), self.output_kind)

    def predict(self, hypothesis: HaarStump, X: Any) -> np.ndarray:
        """Return outputs of the stump for other windows."""
        feature = self.features[hypothesis.feature]
        values = values_of_grey_images(X, feature, self.normalise, self.threads)[0]
        below = values < np.float32(hypothesis.threshold)
        return to_outputs(np.where(below, hypothesis.left, hypothesis.right), self.output_kind)

    def is_below(self, hypothesis: HaarStump) -> np.ndarray:
        """Whether each training window goes left."""
        return self.search.values(hypothesis.feature) < np.float32(hypothesis.threshold)


def _trimmed_weights(weight: np.ndarray, share: float) -> np.ndarray:
    """Set the smallest weights to 0, so that the others keep at least a fraction `share` of the sum."""
    ascending = np.sort(weight)
    dropped = np.cumsum(ascending) <= (1 - share) * ascending.sum()
    # Equal weights are all kept or all dropped. The largest is always kept: with subnormal weights, rounding
    # could otherwise drop all of them.
    smallest_kept = ascending[min(int(np.count_nonzero(dropped)), ascending.size - 1)]
    return np.where(weight >= smallest_kept, weight, 0.0)


class HaarVote:
    """A weighted vote of stumps on Haar features that can grow: f(x) = Σ scale_t · h_t(x)."""

    def __init__(
        self, features: HaarFeatures, normalise: bool, output_kind: str, as_vote: AsVote = IDENTITY
    ):
        self.features, self.normalise = features, normalise
        self.output_kind, self.as_vote = output_kind, as_vote
        self.stumps: list[HaarStump] = []
        self.scales: list[float] = []

    @property
    def n_rounds(self) -> int:
        return len(self.stumps)

    def add(self, hypothesis: HaarStump, scale: float) -> None:
        self.stumps.append(hypothesis)
        self.scales.append(float(scale))

    def truncate(self, n_rounds: int) -> None:
        del self.stumps[n_rounds:], self.scales[n_rounds:]

    @property
    def numbers(self) -> np.ndarray:
        """Index of the feature of each round."""
        return np.array([stump.feature for stump in self.stumps], dtype=np.int64)

    @property
    def thresholds(self) -> np.ndarray:
        return np.array([stump.threshold for stump in self.stumps], dtype=np.float32)

    @property
    def leaves(self) -> np.ndarray:
        """Values that each round adds to f, below its threshold and from the threshold on: (rounds, 2)."""
        sides = np.array([(stump.left, stump.right) for stump in self.stumps]).reshape(-1, 2)
        added = [self.as_vote(to_outputs(side, self.output_kind)) for side in sides]
        return np.array(added).reshape(-1, 2) * np.array(self.scales)[:, None]

    def to_fitted_vote(self) -> FittedVote:
        """Return the vote as arrays, for prediction."""
        return FittedVote(
            self.features[self.numbers], self.numbers, self.thresholds, self.leaves, self.normalise
        )

    def predict_raw(
        self, X: Any, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        last = self.n_rounds if last is None else last
        total = np.zeros((len(X), 1))
        for added in self.to_fitted_vote().contributions(X, threads, first, last):
            total[:, 0] += added
        return total


@dataclass(frozen=True, eq=False)
class FittedVote:
    """Arrays of a fitted vote: the features of its rounds, thresholds and leaf values."""

    features: HaarFeatures  # one per round
    numbers: np.ndarray  # indices of the features in `haar_features`
    thresholds: np.ndarray
    leaves: np.ndarray  # (rounds, 2)
    normalise: bool

    @property
    def n_rounds(self) -> int:
        return len(self.thresholds)

    def contributions(
        self, windows: np.ndarray, threads: int, first: int = 0, last: int | None = None
    ) -> Any:
        """Yield, for each round, the values that it adds to f."""
        last = self.n_rounds if last is None else last
        for start in range(first, last, ROUNDS_PER_BLOCK):
            end = min(start + ROUNDS_PER_BLOCK, last)
            values = values_of_grey_images(
                windows, self.features[start:end], self.normalise, threads
            )
            for t, row in zip(range(start, end), values, strict=True):
                yield np.where(row < self.thresholds[t], self.leaves[t, 0], self.leaves[t, 1])
