"""What a boosted model is made of: native trees, or any learners with their steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core


class TreeTerms:
    """Trees of the native core, over encoded columns."""

    def __init__(self, ensemble: _core.Ensemble):
        self.ensemble = ensemble

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_trees // self.ensemble.n_outputs

    def truncate(self, n_rounds: int) -> None:
        self.ensemble.truncate(n_rounds * self.ensemble.n_outputs)

    def copy(self) -> TreeTerms:
        return TreeTerms(self.ensemble.copy())

    def raw(
        self, columns: Any, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        """Raw predictions (rows, outputs) of rounds [first, last); the start counts with round 0."""
        outputs = self.ensemble.n_outputs
        last = self.n_rounds if last is None else last
        return self.ensemble.predict_raw(columns, first * outputs, last * outputs, threads)


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
