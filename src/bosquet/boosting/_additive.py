"""What a boosted model is made of: native trees, or any learners with their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet import _core
from bosquet.trees._copying import add_copy


class TreeTerms:
    """Trees of the native core, over encoded columns; those of several runs stand round by round."""

    def __init__(self, ensemble: _core.Ensemble, runs: int = 1):
        self.ensemble = ensemble
        self.runs = runs

    @property
    def trees_a_round(self) -> int:
        return self.ensemble.n_outputs * self.runs

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_trees // self.trees_a_round

    def truncate(self, n_rounds: int) -> None:
        self.ensemble.truncate(n_rounds * self.trees_a_round)

    def copy(self) -> TreeTerms:
        return TreeTerms(self.ensemble.copy(), self.runs)

    def raw(
        self, columns: Any, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        """Raw predictions (rows, outputs) of rounds [first, last); the start counts with round 0."""
        each = self.trees_a_round
        last = self.n_rounds if last is None else last
        return self.ensemble.predict_raw(columns, first * each, last * each, threads)


def mean_of_runs(runs: Sequence[TreeTerms]) -> TreeTerms:
    """The mean of boosted sums of as many rounds each, which is such a sum itself.

    Its trees are those of all runs, with a share of their values: first those of everybody's first round,
    so that the first rounds of the mean are the mean of the first rounds.
    """
    ensembles = [run.ensemble for run in runs]
    first = ensembles[0]
    base = np.mean([ensemble.base for ensemble in ensembles], axis=0)
    mean = _core.Ensemble(
        first.n_features, first.n_outputs, base.tolist(), first.categories.tolist()
    )
    each = first.n_outputs
    for round_ in range(runs[0].n_rounds):
        for ensemble in ensembles:
            for tree in range(round_ * each, (round_ + 1) * each):
                add_copy(mean, ensemble, tree, 1 / len(runs))
    return TreeTerms(mean, len(runs))


class LearnerTerms:
    """Terms step * learner(X) of Friedman's general algorithm, one learner an output and round."""

    def __init__(self, base: np.ndarray):
        self.base = base
        self.rounds: list[list[tuple[float, Any]]] = []

    @property
    def n_rounds(self) -> int:
        return len(self.rounds)

    def truncate(self, n_rounds: int) -> None:
        del self.rounds[n_rounds:]

    def copy(self) -> LearnerTerms:
        other = LearnerTerms(self.base)
        other.rounds = list(self.rounds)
        return other

    def raw(self, X: Any, threads: int, first: int = 0, last: int | None = None) -> np.ndarray:
        rounds = self.rounds[first:last]
        start = self.base if first == 0 else np.zeros_like(self.base)
        columns = [
            start[k] + sum((step * learner.predict(X) for step, learner in terms), np.zeros(1))
            for k, terms in enumerate(zip(*rounds, strict=True))
        ]
        if not columns:
            return np.tile(start, (X.shape[0], 1))
        return np.column_stack(columns)
