"""How the weights of a round reach a learner: as weights, by a draw, or on fewer rows of large classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Reweighting:
    """From the distribution over the rows to what a learner is handed, one number a row.

    Weights are handed on with mean 1, not sum 1: a learner with a penalty (an SVC and its C) takes a
    row of weight 1 for one row, and with weights that sum to 1 would see a sample of a single row.
    A drawn sample is told as the times each row was drawn. With `strata`, the rows of every class
    are first cut down, at random, to as many as the smallest class has.

    What is drawn follows from the seed, the round and the attempt alone, by streams that NumPy has
    frozen: the same in every version.
    """

    seed: int
    resample: bool = False
    strata: np.ndarray | None = None  # class numbers

    @property
    def is_random(self) -> bool:
        """Whether another attempt may give another learner."""
        return self.resample or self.strata is not None

    def __call__(self, weight: np.ndarray, round_: int, attempt: int = 0) -> np.ndarray:
        if not self.is_random:
            return weight * (weight.size / weight.sum())
        random = np.random.RandomState([self.seed, round_, attempt])
        rows = weight.size
        if self.strata is not None:
            kept = self._balanced(random)
            weight, rows = np.where(kept, weight, 0.0), int(kept.sum())
            if not weight.any():  # nothing of the kept rows' weight is left: they count alike
                weight = kept.astype(float)
        if not self.resample:
            return weight * (rows / weight.sum())
        return _times_drawn(weight, rows, random)

    def _balanced(self, random: np.random.RandomState) -> np.ndarray:
        """Which rows stay: as many of each class as the smallest has, drawn without replacement."""
        assert self.strata is not None
        kept = np.zeros(self.strata.size, dtype=bool)
        counts = np.bincount(self.strata)
        smallest = counts[counts > 0].min()
        for number in np.flatnonzero(counts):
            members = np.flatnonzero(self.strata == number)
            kept[random.permutation(members)[:smallest]] = True
        return kept


def _times_drawn(weight: np.ndarray, draws: int, random: np.random.RandomState) -> np.ndarray:
    """How often each row comes up in `draws` draws with replacement, in proportion to its weight."""
    steps = np.cumsum(weight)
    # Sorted, which changes no count: one search then begins where the last one ended.
    marks = np.sort(random.random_sample(draws)) * steps[-1]
    drawn = np.searchsorted(steps, marks, side="right")
    last = np.flatnonzero(weight)[-1]  # rounding may lead past the last row that has a weight
    return np.bincount(np.minimum(drawn, last), minlength=weight.size).astype(float)
