"""The voters of a vote: one of them, all as a sequence, what they make of the features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._sklearn import check_is_fitted
from bosquet._targets import check_labels, check_same_length
from bosquet.boosting._votes import TreeVote
from bosquet.data import TableEncoder


class NativeVoter:
    """A stump or tree of a vote.

    `value` at a leaf is what it says there: a sign, half the log-odds, a mean or, of several classes,
    a number for each. `arrays` has the rules (feature, threshold, children, ...) with an entry a node.
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
        value = np.nan_to_num(self.arrays["value"]) / (scale or 1.0)
        self.arrays["value"] = value
        self._tree = _core.Ensemble(
            encoder.n_features, outputs, [0.0] * outputs, encoder.categories, vector_leaves=at_once
        )
        _core.add_tree(
            self._tree,
            self.arrays["feature"],
            np.nan_to_num(self.arrays["threshold"], nan=0.0, posinf=np.inf, neginf=-np.inf),
            self.arrays["left"],
            self.arrays["missing_left"],
            self.arrays["left_categories"],
            np.ascontiguousarray(value.reshape(value.shape[0], -1)),
            self.arrays["gain"].astype(float),
            self.arrays["cover"].astype(float),
        )

    def decision_function(self, X: Any) -> np.ndarray:
        """What the voter says: (n_samples,), or (n_samples, n_classes) where it speaks of each class."""
        raw = self._tree.predict_raw(self._encoder.transform(X, owner=type(self).__name__), 0, 1)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict(self, X: Any) -> np.ndarray:
        """The class it votes for."""
        said = self.decision_function(X)
        number = (said > 0).astype(np.intp) if said.ndim == 1 else said.argmax(axis=1)
        return self.classes_[number]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of its gain by feature."""
        sums = self._tree.importance("gain")
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __repr__(self) -> str:
        leaves = int((self.arrays["feature"] < 0).sum())
        if leaves == 1:
            return f"Stump(always {self._at(0)})"
        if leaves > 2:
            return f"Tree({leaves} leaves, first split {self._rule()})"
        left = int(self.arrays["left"][0])
        return f"Stump({self._rule()}: {self._at(left)}, else {self._at(left + 1)})"

    def _rule(self) -> str:
        """What sends a row to the left at the root."""
        feature = int(self.arrays["feature"][0])
        names = self._encoder.feature_names
        name = f"x{feature}" if names is None else names[feature]
        chosen = self.arrays["left_categories"][0]
        if chosen is None:
            return f"{name} <= {self.arrays['threshold'][0]:.4g}"
        levels = self._encoder.levels[feature] or []
        shown = ", ".join(str(levels[code]) for code in chosen[:4])
        return f"{name} in {{{shown}{', ...' if len(chosen) > 4 else ''}}}"

    def _at(self, node: int) -> str:
        """What it says at a leaf: a number, the class it names, or a sign for each class."""
        value = np.atleast_1d(self.arrays["value"][node])
        if value.size == 1:
            return f"{value[0]:+.4g}"
        if abs(value.sum()) < 1e-9:  # a vote for one class, and as much against the others
            return repr(self.classes_.tolist()[int(value.argmax())])
        return "(" + ", ".join(f"{each:+.4g}" for each in value) + ")"


class AsSequence:
    """A fitted vote as the sequence of its learners: ``len(model)``, ``model[0]``, ``for h in model``."""

    estimators_: Any
    _vote: Any

    def __len__(self) -> int:
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    def __getitem__(self, place: int | slice) -> Any:
        return self.estimators_[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.estimators_)


def importances_of(vote: Any, weights: np.ndarray, learner: Any) -> np.ndarray:
    """Mean over the voters, by their weights, of each one's share of gain by feature."""
    if isinstance(vote, TreeVote):
        # A stump has one split, whatever it gained.
        shares = _core.importance_by_tree(vote.ensemble, "split" if learner is None else "gain")
    else:
        voters = [voter for voter in vote.voters if voter.learner is not None]
        if not all(hasattr(voter.learner, "feature_importances_") for voter in voters):
            raise AttributeError(
                f"{type(learner).__name__} has no feature_importances_ to take the mean of"
            )
        shares = np.array([voter.learner.feature_importances_ for voter in voters])
        weights = np.array([voter.scale for voter in voters])
    totals = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0)
    sums = weights @ shares
    return sums / sums.sum() if sums.sum() > 0 else sums


class StagedVotes:
    """What follows from `staged_predict`, for classifiers."""

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        raise NotImplementedError

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The accuracy after each round."""
        labels = check_labels(y)
        for said in self.staged_predict(X):
            check_same_length(labels.size, said.size)
            yield float(np.average(said == labels, weights=sample_weight))
