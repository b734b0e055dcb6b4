"""The rounds of a fitted boosted classifier, of Bosquet's or scikit-learn's, from its public attributes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from bosquet._sklearn import check_is_fitted
from bosquet._targets import check_labels, class_numbers
from bosquet.boosting.adaboost.bounds import tree_vc_bound, vc_dim_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike


@dataclass(frozen=True)
class VoteContribution:
    """The contribution of one learner to the vote.

    alpha : its weight α = ½ ln((1-ε)/ε); None for variants whose learners are not weighted.
    predictions : shape (rows,) with values in [-1, 1] for two classes, else (rows, classes). The learner adds
        alpha * predictions to the vote.
    """

    alpha: float | None
    predictions: np.ndarray

    @property
    def vote_term(self) -> np.ndarray:
        """The term that the round adds to the vote."""
        return self.predictions if self.alpha is None else self.alpha * self.predictions

    @property
    def size(self) -> float:
        """Largest change of a margin by this round; margins are divided by the sum over the rounds."""
        if self.predictions.ndim > 1:
            added = self.vote_term
            return float((added.max(axis=1) - added.min(axis=1)).max(initial=0.0))
        if self.alpha is None:
            return float(np.abs(self.predictions).max(initial=0.0))
        return abs(self.alpha)


def rounds_of(model: Any, X: TableLike) -> Iterator[VoteContribution]:
    """Iterate over the rounds of a model with their predictions for X; one round is in memory at a time."""
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise ValueError(
            f"{type(model).__name__} is not a classifier (it has no classes_); pass a boosted classifier"
        )
    if is_sklearn_adaboost(model):
        return _rounds_of_sklearn(model, X)
    if hasattr(model, "staged_decision_function") and hasattr(model, "certificate_"):
        return _rounds_of_bosquet(model, X)
    raise ValueError(
        f"{type(model).__name__} is not a boosted vote; pass a boosted classifier of Bosquet with the"
        " attribute certificate_, or scikit-learn's AdaBoostClassifier"
    )


def is_sklearn_adaboost(model: Any) -> bool:
    """Return whether `model` is scikit-learn's AdaBoostClassifier."""
    from sklearn.ensemble import AdaBoostClassifier

    return isinstance(model, AdaBoostClassifier)


def _rounds_of_sklearn(model: Any, X: TableLike) -> Iterator[VoteContribution]:
    weights = model.estimator_weights_[: len(model.estimators_)]
    # The learners were fitted to arrays, and would warn about feature names.
    X = X if issparse(X) else np.asarray(X)
    for learner, weight in zip(model.estimators_, weights, strict=True):
        predicted = learner.predict(X)
        if len(model.classes_) == 2:
            predictions = np.where(predicted == model.classes_[1], 1.0, -1.0)
        else:
            predictions = (predicted[:, None] == model.classes_[None, :]).astype(float)
        # scikit-learn's weight is ln((1-ε)/ε), which is 2α and gives the same vote.
        yield VoteContribution(float(weight) / 2, predictions)


def _rounds_of_bosquet(model: Any, X: TableLike) -> Iterator[VoteContribution]:
    alphas = model.certificate_.alphas
    before: Any = 0.0
    for t, now in enumerate(model.staged_decision_function(X)):
        added = np.asarray(now, dtype=float) - before
        before = np.array(now, dtype=float)
        if alphas is None or not np.isfinite(alphas[t]) or alphas[t] == 0:
            yield VoteContribution(None, added)
        else:
            yield VoteContribution(float(alphas[t]), added / alphas[t])


def encode_labels(model: Any, y: ArrayLike) -> np.ndarray:
    """Return the labels as -1 and +1 for two classes, else as class numbers."""
    numbers = class_numbers(check_labels(y), model.classes_)
    return 2.0 * numbers - 1.0 if len(model.classes_) == 2 else numbers


def margins_of(vote: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return y f for two classes; else the vote for the true class minus the largest other vote."""
    if vote.ndim == 1:
        return target * vote
    rows = np.arange(vote.shape[0])
    other_votes = vote.copy()
    other_votes[rows, target] = -np.inf
    return vote[rows, target] - other_votes.max(axis=1)


def is_wrong(vote: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return which rows the vote misclassifies; the first class wins a tie, as in predict."""
    if vote.ndim == 1:
        return np.where(vote > 0, 1.0, -1.0) != target
    return vote.argmax(axis=1) != target


def vc_dim_of_learner(model: Any) -> float | None:
    """Return an upper bound on the VC dimension of the learners, if they are trees; else None."""
    if not is_sklearn_adaboost(model):
        return getattr(model.certificate_, "vc_dim", None)
    if not all(hasattr(learner, "tree_") for learner in model.estimators_):
        return None
    from_parameters = vc_dim_of(model.estimator_, model.n_features_in_)
    if from_parameters is not None:
        return from_parameters
    splits = max(int(learner.tree_.n_leaves) - 1 for learner in model.estimators_)
    return tree_vc_bound(max(splits, 1), model.n_features_in_)
