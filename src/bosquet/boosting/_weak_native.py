"""Native weak learners: stumps searched by the core, and Bosquet's trees grown again under new weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from bosquet import _core
from bosquet._parameters import check_parameters
from bosquet._sklearn import clone
from bosquet.boosting._capacity import vc_dim_of, vc_dim_of_stumps
from bosquet.boosting._native import EDGE_ROWS, SMALL_TABLE, instruction_set
from bosquet.boosting._reweighting import Reweighting
from bosquet.boosting._weak_foreign import DRAWN_AGAIN
from bosquet.data import TableEncoder, n_rows
from bosquet.trees._growing import (
    Target,
    cart_fit,
    class_shares,
    code_table,
    empty_ensemble,
    growing_options,
)

# Odd, so that the keys of the rounds run through all 2^64 before one comes again.
KEY_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True)
class StumpRule:
    """A stump of the core, and what it says on its left and on its right."""

    stump: _core.Stump
    said: np.ndarray

    def add_to(self, ensemble: _core.Ensemble, value: np.ndarray) -> None:
        """Append it as a tree with `value` (2, outputs) on its sides."""
        self.stump.add_to(ensemble, 1.0, np.ascontiguousarray(value))


@dataclass(frozen=True)
class TreeRule:
    """A tree by itself in an ensemble whose leaves hold shares or numbers, and what it says at each node."""

    alone: _core.Ensemble
    arrays: dict[str, Any]
    said: np.ndarray

    def add_to(self, ensemble: _core.Ensemble, value: np.ndarray) -> None:
        """Append it with `value` (nodes, outputs) at its leaves."""
        arrays = self.arrays
        _core.add_tree(
            ensemble,
            arrays["feature"],
            np.where(np.isnan(arrays["threshold"]), 0.0, arrays["threshold"]),
            arrays["left"],
            arrays["missing_left"],
            arrays["left_categories"],
            np.ascontiguousarray(np.where(np.isfinite(value), value, 0.0)),
            arrays["gain"].astype(float),
            arrays["cover"].astype(float),
        )


def threads_for(rows: int, columns: int, threads: int) -> int:
    return 1 if rows * columns < SMALL_TABLE else threads


def learned_bins(
    columns: Any, encoder: TableEncoder, max_bins: int, threads: int, seed: int
) -> _core.Bins:
    return _core.learn_bins(
        columns, encoder.categories, np.zeros(0), max_bins, EDGE_ROWS, seed, threads
    )


class StumpLearner:
    """The best stump under the weights: one threshold (or set of categories) on one column.

    What is best follows from what it says: signs by the weighted 0-1 error, probabilities by the sum
    of weights that they lead to, numbers by the squared error, classes and labels by their 0-1 error.
    """

    def __init__(
        self,
        columns: Any,
        encoder: TableEncoder,
        *,
        says: str,
        n_classes: int,
        reweighting: Reweighting,
        threads: int,
        split: str,
        max_bins: int,
    ):
        self.encoder, self.says, self.n_classes = encoder, says, n_classes
        self.reweighting = reweighting
        threads = threads_for(n_rows(columns), encoder.n_features, threads)
        bins = None
        if split == "histogram":
            bins = learned_bins(columns, encoder, max_bins, threads, reweighting.seed)
        self.search = _core.StumpSearch(
            columns, encoder.categories, bins, instruction_set(), threads
        )

    @property
    def attempts(self) -> int:
        return DRAWN_AGAIN if self.reweighting.is_random else 1

    @property
    def vc_dim(self) -> float | None:
        if any(self.encoder.categories):
            return None
        return vc_dim_of_stumps(self.encoder.n_features)

    @property
    def finds_the_best(self) -> bool:
        """Of signs it does; the other criteria are not the error, and a sample is not the rows."""
        return self.says == "signs" and not self.reweighting.is_random

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> StumpRule:
        if self.says == "labels":
            return self._rule(
                self.search.best_of_signs(target, self._by_label(weight, round_, attempt))
            )
        importance = self.reweighting(weight, round_, attempt)
        if self.says == "classes":
            numbers = np.ascontiguousarray(target, dtype=np.uint32)
            return self._rule(self.search.best_of_classes(numbers, self.n_classes, importance))
        criterion = {"signs": "error", "probabilities": "exponential", "numbers": "squared"}
        return self._rule(self.search.best(target, importance, criterion[self.says]))

    def _by_label(self, weight: np.ndarray, round_: int, attempt: int) -> np.ndarray:
        """Weights (labels, rows): a row drawn k times brings all its labels k times."""
        if not self.reweighting.is_random:
            return weight
        of_rows = weight.sum(axis=0)
        return weight / of_rows * self.reweighting(of_rows, round_, attempt)

    def _rule(self, stump: _core.Stump) -> StumpRule:
        values = stump.values
        return StumpRule(stump, self._said(values.T if values.shape[1] > 1 else values[:, 0]))

    def _said(self, values: np.ndarray) -> np.ndarray:
        if self.says == "classes":
            return values.astype(np.intp)
        if self.says == "probabilities":
            # The core's stump says half the logarithm of the odds.
            return np.column_stack([expit(-2 * values), expit(2 * values)])
        return values

    def on_training_rows(self, hypothesis: StumpRule) -> np.ndarray:
        return self._said(hypothesis.stump.on_rows(self.search))

    def on(self, hypothesis: StumpRule, X: Any) -> np.ndarray:
        width = hypothesis.stump.values.shape[1]
        alone = _core.Ensemble(
            self.encoder.n_features,
            width,
            [0.0] * width,
            self.encoder.categories,
            vector_leaves=width > 1,
        )
        hypothesis.stump.add_to(alone, 1.0)
        raw = alone.predict_raw(self.encoder.transform(X, owner=type(self).__name__), 0, 1)
        return self._said(raw.T if width > 1 else raw[:, 0])


class TreeLearner:
    """Bosquet's decision tree under changing weights: the columns are coded once."""

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
        split: str,
        max_bins: int,
    ):
        from bosquet.trees.cart import CHECKS, DecisionTreeClassifier

        check_parameters(estimator, CHECKS)
        estimator._check_criterion()
        self.classifier = isinstance(estimator, DecisionTreeClassifier)
        if says in ("classes", "probabilities") and not self.classifier:
            raise ValueError(
                f"{type(estimator).__name__} is not a classifier, and cannot say {says}; with two classes,"
                " variant='discrete' or 'gentle' take a regressor"
            )
        self.columns, self.encoder = columns, encoder
        self.says, self.n_classes = says, n_classes
        self.reweighting = reweighting
        rows = n_rows(columns)
        self.threads = threads_for(rows, encoder.n_features, threads)
        self.template = clone(estimator)
        self.template.n_samples_fit_ = rows
        self.table = code_table(
            columns,
            encoder,
            exact=split == "exact",
            threads=self.threads,
            max_bins=max_bins,
            seed=reweighting.seed,
        )

    @property
    def attempts(self) -> int:
        return DRAWN_AGAIN if self.reweighting.is_random else 1

    @property
    def vc_dim(self) -> float | None:
        if any(self.encoder.categories) or not self.classifier:
            return None
        return vc_dim_of(self.template, self.encoder.n_features)

    @property
    def finds_the_best(self) -> bool:
        return False  # it grows by one greedy split after the other

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> TreeRule:
        importance = self.reweighting(weight, round_, attempt)
        wanted = self._target(target)
        options = growing_options(self.template, self.encoder, float(importance.sum()))
        grower = cart_fit(self.table, wanted, importance, options, self.threads)
        key = self.reweighting.seed + (DRAWN_AGAIN * round_ + attempt + 1) * KEY_STEP
        alone = empty_ensemble(self.encoder, wanted)
        grower.grow_one(key % 2**64).add_to(alone)
        arrays = alone.tree_arrays(0)
        value = arrays["value"].reshape(arrays["feature"].size, -1)
        return TreeRule(alone, arrays, self._said(value))

    def _target(self, target: np.ndarray) -> Target:
        if not self.classifier:
            return Target.of_numbers(np.asarray(target, dtype=float)[None])
        if self.says == "classes" or self.n_classes > 2:
            return Target.of_classes(target, self.n_classes)
        return Target.of_classes(target > 0, 2)

    def _said(self, value: np.ndarray) -> np.ndarray:
        """What is said where leaves hold `value`: class shares, or numbers."""
        if not self.classifier:
            return np.clip(value[:, 0], -1, 1) if self.says == "signs" else value[:, 0]
        if self.says == "signs":
            return np.where(value[:, 0] > 0.5, 1.0, -1.0)
        if self.says == "numbers":
            return 2 * value[:, 0] - 1
        shares = class_shares(value)
        return np.nan_to_num(shares).argmax(axis=1) if self.says == "classes" else shares

    def on_training_rows(self, hypothesis: TreeRule) -> np.ndarray:
        return self._said(hypothesis.alone.predict_raw(self.columns, 0, 1, self.threads))

    def on(self, hypothesis: TreeRule, X: Any) -> np.ndarray:
        raw = hypothesis.alone.predict_raw(
            self.encoder.transform(X, owner=type(self).__name__), 0, 1, self.threads
        )
        return self._said(raw)
