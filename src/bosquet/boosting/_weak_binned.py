"""Bosquet's trees on bins under changing weights, by the engine that grows the trees of gradient boosting.

For two classes Gini's index falls by what the squared error of the signs does, (ΣwY)²/Σw on either side:
the gain of a gradient tree whose gradients are -w y and whose hessians are w. So a tree on bins can be
grown by that engine, on histograms of integers, in a fraction of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._parameters import check_parameters
from bosquet._sklearn import clone
from bosquet.boosting._native import instruction_set
from bosquet.boosting._reweighting import Reweighting
from bosquet.boosting._weak_native import TreeLearner, TreeRule, learned_bins, threads_for
from bosquet.data import TableEncoder, n_rows

# Parameters that the engine has no match for, with the value at which they ask for nothing.
NOT_ASKED_FOR: dict[str, Any] = {
    "max_features": None,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "min_samples_split": 2,
    "max_nodes": None,
    "monotonic_cst": None,
}

# Of an average row: gradients in single precision tell nothing of rows far lighter than this.
LIGHTEST_LEAF = 1e-3


def suits(
    estimator: Any, encoder: TableEncoder, says: str, n_classes: int, reweighting: Reweighting
) -> bool:
    """Whether the engine grows this tree: two classes by Gini's index, or numbers by squares."""
    if reweighting.is_random or says == "classes" or n_classes > 2 or any(encoder.categories):
        return False
    if estimator.criterion not in ("gini", "squared_error"):
        return False
    if not isinstance(estimator.min_samples_leaf, int | np.integer):
        return False
    leaves = estimator.max_leaf_nodes or 2 ** min(estimator.max_depth or 64, 64)
    if leaves > 65_535:
        return False
    return all(getattr(estimator, name) == value for name, value in NOT_ASKED_FOR.items())


@dataclass(frozen=True)
class GrownRule(TreeRule):
    """A tree, and what it says of the rows it was grown on."""

    on_rows: np.ndarray


class BinnedTreeLearner(TreeLearner):
    """The table is put into bins once."""

    def __init__(
        self,
        estimator: Any,
        columns: Any,
        encoder: TableEncoder,
        *,
        says: str,
        n_classes: int,
        reweighting: Reweighting,
        threads: int,
        max_bins: int,
    ):
        from bosquet.trees.cart import CHECKS, DecisionTreeClassifier

        check_parameters(estimator, CHECKS)
        self.classifier = isinstance(estimator, DecisionTreeClassifier)
        self.columns, self.encoder = columns, encoder
        self.says, self.n_classes, self.reweighting = says, n_classes, reweighting
        self.template = clone(estimator)
        self.rows = n_rows(columns)
        self.threads = threads_for(self.rows, encoder.n_features, threads)
        bins = learned_bins(columns, encoder, max_bins, self.threads, reweighting.seed)
        isa = instruction_set()
        matrix = _core.bin_table(columns, bins, isa, self.threads)
        loss = _core.Loss("squared_error", 1, 1, [])
        nothing = np.zeros((1, self.rows))
        self.engine = _core.Fit(
            matrix, bins, nothing, np.zeros(0), loss, self._options(), isa, self.threads
        )

    def _options(self) -> dict[str, Any]:
        best_first = self.template.max_leaf_nodes is not None
        return {
            "depth_wise": not best_first,
            "max_leaf_nodes": self.template.max_leaf_nodes or 65_535,
            "max_depth": self.template.max_depth or 0,
            "min_samples_leaf": int(self.template.min_samples_leaf),
            "min_child_weight": LIGHTEST_LEAF,
            "l2_regularization": 0.0,
            "learning_rate": 1.0,
            "newton": True,
        }

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> GrownRule:
        importance = self.reweighting(weight, round_, attempt)
        pairs = np.empty((1, self.rows, 2), dtype=np.float32)
        pairs[0, :, 0], pairs[0, :, 1] = -importance * target, importance
        alone = _core.Ensemble(self.encoder.n_features, 1, [0.0], self.encoder.categories)
        self.engine.start_from(np.zeros(1))
        self.engine.round(alone, pairs)
        arrays = alone.tree_arrays(0)
        return GrownRule(
            alone, arrays, self._said(arrays["value"][:, None]), self._said(self.engine.raw().T)
        )

    def _said(self, value: np.ndarray) -> np.ndarray:
        # A Newton step -Σg/Σh is the weighted mean of the target; of signs, a classification tree's
        # leaves hold the share of the second class.
        return super()._said((1 + value) / 2 if self.classifier else value)

    def on_training_rows(self, hypothesis: TreeRule) -> np.ndarray:
        if isinstance(hypothesis, GrownRule):
            return hypothesis.on_rows
        return super().on_training_rows(hypothesis)
