"""The trees of an ensemble one by one: what each predicts, where a median is to be taken of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet import _core
from bosquet.boosting._voters import NativeVoter
from bosquet.data import TableEncoder, n_rows, take_rows

# Predictions of all trees are held for this many values at a time.
VALUES_AT_A_TIME = 4_000_000


class NativeRegressor(NativeVoter):
    """A tree among regressors: what it says is its prediction."""

    def __init__(self, ensemble: _core.Ensemble, number: int, encoder: TableEncoder):
        super().__init__(ensemble, number, 1.0, encoder, np.zeros(0))
        del self.classes_  # what a leaf says is a number

    def predict(self, X: Any) -> np.ndarray:
        """Predictions (n_samples,)."""
        return self.decision_function(X)


def each_tree(ensemble: _core.Ensemble, columns: Any, threads: int) -> Iterator[np.ndarray]:
    """Predictions of each tree (rows, trees), some rows at a time."""
    values = [ensemble.tree_arrays(t)["value"].reshape(-1) for t in range(ensemble.n_trees)]
    rows, size = n_rows(columns), max(1, VALUES_AT_A_TIME // len(values))
    for first in range(0, rows, size):
        last = min(first + size, rows)
        whole = last - first == rows
        some = columns if whole else take_rows(columns, np.arange(first, last))
        leaves = ensemble.apply(some, threads)
        said = np.empty(leaves.shape)
        for t, value in enumerate(values):
            said[:, t] = value[leaves[:, t]]
        yield said
