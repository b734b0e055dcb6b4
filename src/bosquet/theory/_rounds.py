"""The rounds of a fitted boosted classifier, read through its public face: Bosquet's or scikit-learn's."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from bosquet._sklearn import check_is_fitted
from bosquet._targets import check_labels, class_numbers
from bosquet.boosting._capacity import vc_dim_of, vc_dim_of_trees


@dataclass(frozen=True)
class Round:
    """One learner's part in the vote.

    alpha : its weight, in the ½ form; None for a variant whose learners carry their own.
    said : what it says on each row: in [-1, 1] for two classes and shape (rows,), else a number for
        each class, shape (rows, classes). What it adds to the vote is alpha * said.
    """

    alpha: float | None
    said: np.ndarray

    @property
    def added(self) -> np.ndarray:
        return self.said if self.alpha is None else self.alpha * self.said

    @property
    def size(self) -> float:
        """The most that it moves a margin on these rows: what margins are measured in."""
        if self.said.ndim > 1:
            added = self.added
            return float((added.max(axis=1) - added.min(axis=1)).max(initial=0.0))
        return float(np.abs(self.said).max(initial=0.0)) if self.alpha is None else abs(self.alpha)


def rounds_of(model: Any, X: Any) -> Iterator[Round]:
    """What each learner in turn says on the rows of X; rows × rounds are never held at once."""
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise ValueError(f"{type(model).__name__} is not a classifier: it has no classes_")
    if is_scikit_learns(model):
        return _rounds_of_scikit_learn(model, X)
    if hasattr(model, "staged_decision_function") and hasattr(model, "certificate_"):
        return _rounds_of_bosquet(model, X)
    raise ValueError(
        f"{type(model).__name__} is not a boosted vote: give a boosted classifier of Bosquet's with a"
        " certificate_, or scikit-learn's AdaBoostClassifier"
    )


def is_scikit_learns(model: Any) -> bool:
    """Whether it is scikit-learn's AdaBoostClassifier: learners and their weights, in the open."""
    from sklearn.ensemble import AdaBoostClassifier

    return isinstance(model, AdaBoostClassifier)


def _rounds_of_scikit_learn(model: Any, X: Any) -> Iterator[Round]:
    weights = model.estimator_weights_[: len(model.estimators_)]
    # Its learners were given bare arrays, and warn of names.
    X = X if issparse(X) else np.asarray(X)
    for learner, weight in zip(model.estimators_, weights, strict=True):
        predicted = learner.predict(X)
        if len(model.classes_) == 2:
            said = np.where(predicted == model.classes_[1], 1.0, -1.0)
        else:
            said = (predicted[:, None] == model.classes_[None, :]).astype(float)
        # scikit-learn's weight is ln((1-ε)/ε): twice that of the ½ form, and the same vote.
        yield Round(float(weight) / 2, said)


def _rounds_of_bosquet(model: Any, X: Any) -> Iterator[Round]:
    alphas = model.certificate_.alphas
    before: Any = 0.0
    for t, now in enumerate(model.staged_decision_function(X)):
        added = np.asarray(now, dtype=float) - before
        before = np.array(now, dtype=float)
        if alphas is None or not np.isfinite(alphas[t]) or alphas[t] == 0:
            yield Round(None, added)
        else:
            yield Round(float(alphas[t]), added / alphas[t])


def signs_or_numbers(model: Any, y: Any) -> np.ndarray:
    """The labels as -1 and +1 for two classes, else as the places of the classes."""
    numbers = class_numbers(check_labels(y), model.classes_)
    return 2.0 * numbers - 1.0 if len(model.classes_) == 2 else numbers


def margins_of(vote: np.ndarray, target: np.ndarray) -> np.ndarray:
    """y f for two classes; else the true class's part of the vote less the largest other."""
    if vote.ndim == 1:
        return target * vote
    rows = np.arange(vote.shape[0])
    others = vote.copy()
    others[rows, target] = -np.inf
    return vote[rows, target] - others.max(axis=1)


def is_wrong(vote: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Rows that the vote gets wrong; an even vote is for the first class, as in predict."""
    if vote.ndim == 1:
        return np.where(vote > 0, 1.0, -1.0) != target
    return vote.argmax(axis=1) != target


def vc_dim_of_learner(model: Any) -> float | None:
    """A bound on the VC dimension of the model's learners, where they are trees."""
    if not is_scikit_learns(model):
        return getattr(model.certificate_, "vc_dim", None)
    if not all(hasattr(learner, "tree_") for learner in model.estimators_):
        return None
    limited = vc_dim_of(model.estimator_, model.n_features_in_)
    if limited is not None:
        return limited
    splits = max(int(learner.tree_.n_leaves) - 1 for learner in model.estimators_)
    return vc_dim_of_trees(max(splits, 1), model.n_features_in_)
