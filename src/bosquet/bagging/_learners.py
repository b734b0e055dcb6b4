"""One learner: where it comes from, how it is fitted on its bag, what it votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._bags import misclassified, squared_errors
from bosquet._sklearn import columns_of, has_fit_parameter, rows_of, seeded_clone
from bosquet.bagging._sampling import Sampler


def default_estimator(classifier: bool) -> Any:
    """What is bagged when no estimator is given: a full decision tree."""
    from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier() if classifier else DecisionTreeRegressor()


def check_learner(learner: Any, parameter: str) -> None:
    """Raise a TypeError unless `learner` is an estimator that can be cloned, fitted and asked."""
    if isinstance(learner, type) or not all(
        hasattr(learner, method) for method in ("fit", "predict", "get_params")
    ):
        raise TypeError(
            f"{parameter}={learner!r} must be an estimator with fit and predict: an object, not its class"
        )


@dataclass(frozen=True)
class ClassVotes:
    """What a classifier says, in one column a class of the ensemble.

    A bag may lack a class, so a learner's columns are placed by label. Without `soft`, or from a
    learner that has no probabilities, a vote is 1 for the class it predicts.
    """

    classes: np.ndarray
    soft: bool

    losses = staticmethod(misclassified)

    def __call__(self, learner: Any, X: Any) -> np.ndarray:
        if self.soft and hasattr(learner, "predict_proba"):
            given = np.asarray(learner.predict_proba(X), dtype=float)
            if given.shape[1] == self.classes.size:
                return given
            votes = np.zeros((given.shape[0], self.classes.size))
            votes[:, self.numbers(learner.classes_)] = given
            return votes
        said = self.numbers(learner.predict(X))
        votes = np.zeros((said.size, self.classes.size))
        votes[np.arange(said.size), said] = 1
        return votes

    def numbers(self, labels: Any) -> np.ndarray:
        """The columns of some labels."""
        return np.searchsorted(self.classes, np.asarray(labels))


@dataclass(frozen=True)
class Predictions:
    """What a regressor says, in one column a target."""

    losses = staticmethod(squared_errors)

    def __call__(self, learner: Any, X: Any) -> np.ndarray:
        said = np.asarray(learner.predict(X), dtype=float)
        return said[:, None] if said.ndim == 1 else said


Vote = ClassVotes | Predictions


@dataclass(frozen=True)
class Bagged:
    """A fitted learner, its columns (None: all), and its votes on the rows it did not draw."""

    learner: Any
    features: np.ndarray | None
    left_out_votes: np.ndarray | None = None


@dataclass(frozen=True)
class Plan:
    """All that a worker needs to know to fit learner number t, for any t."""

    template: Any
    sampler: Sampler
    n_features: int
    features_drawn: int
    replace_features: bool
    vote: Vote
    judge: bool

    def fit(self, number: int, X: Any, y: np.ndarray, weight: np.ndarray) -> Bagged:
        features = self.sampler.features(
            number, self.n_features, self.features_drawn, self.replace_features
        )
        learner = seeded_clone(self.template, self.sampler.learner_seed(number))
        learner = self._fit_on_bag(learner, number, some_columns(X, features), y, weight)
        votes = self.votes_left_out(number, learner, features, X) if self.judge else None
        return Bagged(learner, features, votes)

    def votes_left_out(
        self, number: int, learner: Any, features: np.ndarray | None, X: Any
    ) -> np.ndarray | None:
        """The learner's votes on the rows it did not draw, None where it drew them all."""
        rows = self.sampler.left_out(number)
        if rows.size == 0:
            return None
        return self.vote(learner, rows_of(some_columns(X, features), rows))

    def _fit_on_bag(
        self, learner: Any, number: int, X: Any, y: np.ndarray, weight: np.ndarray
    ) -> Any:
        if not has_fit_parameter(learner, "sample_weight"):
            rows = self.sampler.rows(number)
            return self._fit_or_constant(learner, rows_of(X, rows), y[rows])
        # A row drawn k times is one row of weight k: the same to a learner, and fewer rows.
        counts = self.sampler.counts(number)
        rows = np.flatnonzero(counts)
        importance = counts[rows].astype(float)
        if weight.size:
            importance *= weight[rows]
        given = {} if (importance == 1).all() else {"sample_weight": importance}
        return self._fit_or_constant(learner, rows_of(X, rows), y[rows], **given)

    def _fit_or_constant(self, learner: Any, X: Any, y: np.ndarray, **weight: np.ndarray) -> Any:
        """The fitted learner; where it cannot learn from a single class, one that always says it."""
        try:
            return learner.fit(X, y, **weight)
        except ValueError:
            if not isinstance(self.vote, ClassVotes) or (y != y[0]).any():
                raise
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, y)


def some_columns(X: Any, features: np.ndarray | None) -> Any:
    return X if features is None else columns_of(X, features)
