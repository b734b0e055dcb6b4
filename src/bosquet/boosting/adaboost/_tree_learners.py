"""Bosquet's decision trees as weak learners: columns are prepared once, a tree is grown in each round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet._sklearn import clone
from bosquet._state.kinds import with_checked_parameters
from bosquet._weights import NO_WEIGHT
from bosquet.boosting._inputs import MAX_LEAVES, threads_for
from bosquet.boosting.adaboost._weak_learners import (
    SAMPLES_TRIED,
    NativeLearnerOptions,
    needs_classifier,
)
from bosquet.boosting.adaboost.bounds import vc_dim_of
from bosquet.data import TableEncoder, count_rows
from bosquet.trees.binning import bin_table, learn_bins
from bosquet.trees.cart import DecisionTreeClassifier
from bosquet.trees.copying import add_arrays
from bosquet.trees.growing import (
    TreeTarget,
    cart_fit,
    class_shares,
    code_table,
    empty_ensemble,
    growing_options,
    tree_key,
)

if TYPE_CHECKING:
    from bosquet._types import TableLike
    from bosquet.data import Columns
    from bosquet.trees.cart import BaseTree


# Parameters that the engine of gradient boosting does not have, with the value at which they do nothing.
NOT_IN_THE_ENGINE: dict[str, Any] = {
    "max_features": None,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "min_samples_split": 2,
    "max_nodes": None,
    "monotonic_cst": None,
}

# In units of an average row: rows far lighter than this vanish in sums of single precision.
LIGHTEST_LEAF = 1e-3


@dataclass(frozen=True)
class TreeRule:
    """A tree in an ensemble of its own, whose leaves hold class shares or numbers, and its outputs."""

    single_tree: _core.Ensemble
    arrays: dict[str, Any]
    leaf_outputs: np.ndarray

    def add_to(self, ensemble: _core.Ensemble, value: np.ndarray) -> None:
        """Append the tree with `value` (nodes, outputs) in its leaves."""
        add_arrays(ensemble, self.arrays, value)


@dataclass(frozen=True)
class GrownRule(TreeRule):
    """A tree with its outputs on the training rows."""

    outputs: np.ndarray


def make_tree_learner(
    estimator: BaseTree,
    columns: Columns,
    encoder: TableEncoder,
    options: NativeLearnerOptions,
) -> TreeLearner:
    """Return a learner with exact splits or on bins.

    On bins, trees are grown by the engine of gradient boosting if possible.
    """
    if options.output_kind in ("classes", "probabilities") and not isinstance(
        estimator, DecisionTreeClassifier
    ):
        raise needs_classifier(estimator, options.output_kind)
    if options.split == "histogram" and engine_can_grow(estimator, encoder, options):
        return BinnedTreeLearner(estimator, columns, encoder, options)
    return TreeLearner(estimator, columns, encoder, options)


def engine_can_grow(estimator: Any, encoder: TableEncoder, options: NativeLearnerOptions) -> bool:
    """Whether the engine of gradient boosting can grow this tree: two classes by Gini, numbers by squares."""
    if options.reweighting.is_random or options.output_kind == "classes" or options.n_classes > 2:
        return False
    if any(encoder.n_levels) or estimator.criterion not in ("gini", "squared_error"):
        return False
    if not isinstance(estimator.min_samples_leaf, int | np.integer):
        return False
    leaves = estimator.max_leaf_nodes or 2 ** min(estimator.max_depth or 64, 64)
    if leaves > MAX_LEAVES:
        return False
    return all(getattr(estimator, name) == value for name, value in NOT_IN_THE_ENGINE.items())


class TreeLearner:
    """A decision tree of Bosquet under changing weights; the columns are coded once."""

    def __init__(
        self,
        estimator: BaseTree,
        columns: Columns,
        encoder: TableEncoder,
        options: NativeLearnerOptions,
    ):
        with_checked_parameters(estimator)
        self.classifier = isinstance(estimator, DecisionTreeClassifier)
        self.columns, self.encoder = columns, encoder
        self.output_kind, self.n_classes = options.output_kind, options.n_classes
        self.reweighting = options.reweighting
        self.n_rows = count_rows(columns)
        self.threads = threads_for(self.n_rows, encoder.n_features, options.threads)
        self.template = clone(estimator)
        self.template.n_samples_fit_ = self.n_rows
        self._prepare_table(options)

    def _prepare_table(self, options: NativeLearnerOptions) -> None:
        self.table = code_table(
            self.columns,
            self.encoder,
            exact=options.split == "exact",
            threads=self.threads,
            max_bins=options.max_bins,
            seed=self.reweighting.seed,
        )

    @property
    def attempts(self) -> int:
        return self.reweighting.attempts

    @property
    def vc_dim(self) -> float | None:
        if any(self.encoder.n_levels) or not self.classifier:
            return None
        return vc_dim_of(self.template, self.encoder.n_features)

    @property
    def finds_optimum(self) -> bool:
        return False  # a tree is grown greedily

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> TreeRule:
        row_weights = self.reweighting(weight, round_, attempt)
        tree_target = self._make_target(target)
        options = growing_options(self.template, self.encoder, float(row_weights.sum()))
        grower = cart_fit(self.table, tree_target, row_weights, options, self.threads)
        key = tree_key(self.reweighting.seed, SAMPLES_TRIED * round_ + attempt)
        single_tree = empty_ensemble(self.encoder, tree_target)
        grower.grow_one(key).add_to(single_tree)
        arrays = single_tree.tree_arrays(0)
        value = arrays["value"].reshape(arrays["feature"].size, -1)
        return TreeRule(single_tree, arrays, self._to_outputs(value))

    def _make_target(self, target: np.ndarray) -> TreeTarget:
        if not self.classifier:
            return TreeTarget.of_numbers(np.asarray(target, dtype=float)[None])
        if self.output_kind == "classes" or self.n_classes > 2:
            return TreeTarget.of_classes(target, self.n_classes)
        return TreeTarget.of_classes(target > 0, 2)

    def _to_outputs(self, value: np.ndarray) -> np.ndarray:
        """Return outputs of the learner's kind from the values of leaves: class shares, or numbers."""
        if not self.classifier:
            return np.clip(value[:, 0], -1, 1) if self.output_kind == "signs" else value[:, 0]
        if self.output_kind == "signs":
            return np.where(value[:, 0] > 0.5, 1.0, -1.0)
        if self.output_kind == "numbers":
            return 2 * value[:, 0] - 1
        shares = class_shares(value)
        return np.nan_to_num(shares).argmax(axis=1) if self.output_kind == "classes" else shares

    def predict_training_rows(self, hypothesis: TreeRule) -> np.ndarray:
        return self._to_outputs(
            hypothesis.single_tree.predict_raw(self.columns, 0, 1, self.threads)
        )

    def predict(self, hypothesis: TreeRule, X: TableLike) -> np.ndarray:
        raw = hypothesis.single_tree.predict_raw(
            self.encoder.transform(X, owner=type(self).__name__), 0, 1, self.threads
        )
        return self._to_outputs(raw)


class BinnedTreeLearner(TreeLearner):
    """A tree on bins, grown by the engine of gradient boosting.

    For two classes the decrease of the Gini index is that of the squared error of the signs, (Σwy)²/Σw on
    each side: the gain of a gradient tree with gradients -w y and Hessians w. The engine grows it on integer
    histograms in a fraction of the time. The table is binned once.
    """

    def _prepare_table(self, options: NativeLearnerOptions) -> None:
        bins = learn_bins(
            self.columns,
            self.encoder.n_levels,
            NO_WEIGHT,
            max_bins=options.max_bins,
            seed=self.reweighting.seed,
            threads=self.threads,
        )
        matrix = bin_table(self.columns, bins, self.threads)
        loss = _core.Loss("squared_error", 1, 1, [])
        targets = np.zeros((1, self.n_rows))  # not used: `fit` passes the gradients
        self.engine = _core.BoostingFit(
            matrix,
            bins,
            targets,
            NO_WEIGHT,
            loss,
            self._core_options(),
            instruction_set(),
            self.threads,
        )

    def _core_options(self) -> dict[str, Any]:
        best_first = self.template.max_leaf_nodes is not None
        return {
            "depth_wise": not best_first,
            "max_leaf_nodes": self.template.max_leaf_nodes or MAX_LEAVES,
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
        row_weights = self.reweighting(weight, round_, attempt)
        pairs = np.empty((1, self.n_rows, 2), dtype=np.float32)
        pairs[0, :, 0], pairs[0, :, 1] = -row_weights * target, row_weights
        single_tree = _core.Ensemble(self.encoder.n_features, 1, [0.0], self.encoder.n_levels)
        self.engine.start_from(np.zeros(1))
        self.engine.round(single_tree, pairs)
        arrays = single_tree.tree_arrays(0)
        leaf_outputs = self._to_outputs(arrays["value"][:, None])
        return GrownRule(single_tree, arrays, leaf_outputs, self._to_outputs(self.engine.raw().T))

    def _to_outputs(self, value: np.ndarray) -> np.ndarray:
        # A Newton step -Σg/Σh is the weighted mean of the target. The leaves of a classification tree hold
        # the share of the second class instead of the mean of the signs.
        return super()._to_outputs((1 + value) / 2 if self.classifier else value)

    def predict_training_rows(self, hypothesis: TreeRule) -> np.ndarray:
        if isinstance(hypothesis, GrownRule):
            return hypothesis.outputs
        return super().predict_training_rows(hypothesis)
