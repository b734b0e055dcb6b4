"""The learners of a fitted vote: one tree as an estimator, all as a sequence, feature importances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._sklearn import check_is_fitted
from bosquet.boosting.adaboost.votes import TreeVote
from bosquet.data import TableEncoder, count_rows, take_rows
from bosquet.trees.copying import add_arrays

if TYPE_CHECKING:
    from bosquet._types import Estimator, TableLike
    from bosquet.data import Columns


# Predictions of all trees are computed for this many values at a time.
VALUES_AT_A_TIME = 4_000_000


class NativeVoter:
    """A stump or tree of a vote, as a classifier.

    `arrays` holds the tree (feature, threshold, children, ...) with one entry per node. The `value` of a leaf
    is its output: a sign, half the log-odds, a mean or, with several classes, a number for each class. That
    of an inner node is NaN.
    """

    def __init__(
        self,
        ensemble: _core.Ensemble,
        number: int,
        scale: float,
        encoder: TableEncoder,
        classes: np.ndarray,
    ):
        self._encoder = encoder
        self.classes_ = classes
        self.n_features_in_ = encoder.n_features
        at_once = ensemble.vector_leaves
        outputs = ensemble.n_outputs if at_once else 1
        self.arrays = ensemble.tree_arrays(number)
        self.arrays["value"] /= scale or 1.0
        self._tree = _core.Ensemble(
            encoder.n_features, outputs, [0.0] * outputs, encoder.n_levels, vector_leaves=at_once
        )
        add_arrays(self._tree, self.arrays, self.arrays["value"])

    def decision_function(self, X: TableLike) -> np.ndarray:
        """Return outputs: (n_samples,), or (n_samples, n_classes) if leaves hold a number per class."""
        raw = self._tree.predict_raw(self._encoder.transform(X, owner=type(self).__name__), 0, 1)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict(self, X: TableLike) -> np.ndarray:
        """Return classes that the tree votes for."""
        outputs = self.decision_function(X)
        number = (outputs > 0).astype(np.intp) if outputs.ndim == 1 else outputs.argmax(axis=1)
        return self.classes_[number]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of the gain of the tree by feature."""
        sums = self._tree.importance("gain")
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __repr__(self) -> str:
        leaves = int((self.arrays["feature"] < 0).sum())
        if leaves == 1:
            return f"Stump(always {self._leaf_text(0)})"
        if leaves > 2:
            return f"Tree({leaves} leaves, first split {self._rule_text()})"
        left = int(self.arrays["left"][0])
        return (
            f"Stump({self._rule_text()}: {self._leaf_text(left)}, else {self._leaf_text(left + 1)})"
        )

    def _rule_text(self) -> str:
        """Return the condition of the root for the left child."""
        feature = int(self.arrays["feature"][0])
        names = self._encoder.feature_names
        name = f"x{feature}" if names is None else names[feature]
        chosen = self.arrays["left_categories"][0]
        if chosen is None:
            return f"{name} <= {self.arrays['threshold'][0]:.4g}"
        levels = self._encoder.levels[feature] or []
        shown = ", ".join(str(levels[code]) for code in chosen[:4])
        return f"{name} in {{{shown}{', ...' if len(chosen) > 4 else ''}}}"

    def _leaf_text(self, node: int) -> str:
        """Return the output of a leaf: a number, the class that it votes for, or a number for each class."""
        value = np.atleast_1d(self.arrays["value"][node])
        if value.size == 1:
            return f"{value[0]:+.4g}"
        # A vote for one class sums to 0 with those against the others.
        if abs(value.sum()) < 1e-9:
            return repr(self.classes_.tolist()[int(value.argmax())])
        return "(" + ", ".join(f"{number:+.4g}" for number in value) + ")"


class NativeRegressor(NativeVoter):
    """A tree of AdaBoost.R2, as a regressor."""

    def __init__(self, ensemble: _core.Ensemble, number: int, encoder: TableEncoder):
        super().__init__(ensemble, number, 1.0, encoder, np.zeros(0))
        del self.classes_  # a regressor has none

    def predict(self, X: TableLike) -> np.ndarray:
        """Return predictions (n_samples,)."""
        return self.decision_function(X)


class LearnerSequenceMixin:
    """Mixin that makes a fitted vote a sequence of its learners: ``len(model)``, ``model[0]``, iteration."""

    estimators_: Any
    _vote: Any

    def __len__(self) -> int:
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    def __getitem__(self, index: int | slice) -> Any:
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


def importances_of(vote: Any, weights: np.ndarray, learner: Estimator) -> np.ndarray:
    """Return the mean over the learners, weighted by their votes, of the share of the gain by feature."""
    if isinstance(vote, TreeVote):
        # A stump has one split, whose share is 1 for any gain.
        shares = _core.importance_by_tree(vote.ensemble, "split" if learner is None else "gain")
    else:
        voters = [voter for voter in vote.voters if voter.learner is not None]
        if not all(hasattr(voter.learner, "feature_importances_") for voter in voters):
            raise AttributeError(
                f"feature_importances_ is not available: {type(learner).__name__} has no"
                " feature_importances_; use a learner that has them, such as a tree"
            )
        shares = np.array([voter.learner.feature_importances_ for voter in voters])
        weights = np.array([voter.scale for voter in voters])
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)
    sums = weights @ shares
    return sums / sums.sum() if sums.sum() > 0 else sums


def predictions_by_tree(
    ensemble: _core.Ensemble, columns: Columns, threads: int
) -> Iterator[np.ndarray]:
    """Return predictions of each tree, shape (rows, trees), in blocks of rows."""
    values = [ensemble.tree_arrays(t)["value"].reshape(-1) for t in range(ensemble.n_trees)]
    n_rows, size = count_rows(columns), max(1, VALUES_AT_A_TIME // len(values))
    for first in range(0, n_rows, size):
        last = min(first + size, n_rows)
        whole = last - first == n_rows
        block = columns if whole else take_rows(columns, np.arange(first, last))
        leaves = ensemble.apply(block, threads)
        predictions = np.empty(leaves.shape)
        for t, value in enumerate(values):
            predictions[:, t] = value[leaves[:, t]]
        yield predictions
