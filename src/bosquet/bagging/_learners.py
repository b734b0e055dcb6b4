"""A single learner of an ensemble: its default, its fit to a bag of rows, its votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._bags import misclassified, squared_errors
from bosquet._sklearn import columns_of, has_fit_parameter, rows_of, seeded_clone
from bosquet._suggestions import first_names
from bosquet.bagging._sampling import Sampler
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

if TYPE_CHECKING:
    from bosquet._types import Estimator, TableLike


def default_estimator(classifier: bool) -> Any:
    """Return the learner for estimator=None: a full decision tree."""
    return DecisionTreeClassifier() if classifier else DecisionTreeRegressor()


@dataclass(frozen=True)
class ClassifierVotes:
    """Function that returns the votes of a classifier, one column per class of the ensemble.

    With `soft`, the votes are the probabilities of the learner. Otherwise, or if the learner has no
    `predict_proba`, a vote is 1 for the predicted class. A bag may lack a class, so the columns of the
    learner are matched by label.
    """

    classes: np.ndarray
    soft: bool

    losses = staticmethod(misclassified)

    def __call__(self, learner: Any, X: TableLike) -> np.ndarray:
        if self.soft and hasattr(learner, "predict_proba"):
            probabilities = np.asarray(learner.predict_proba(X), dtype=float)
            if probabilities.shape[1] == self.classes.size:
                return probabilities
            votes = np.zeros((probabilities.shape[0], self.classes.size))
            votes[:, self.columns(learner, learner.classes_)] = probabilities
            return votes
        labels = np.asarray(learner.predict(X))
        labels = labels[:, 0] if labels.ndim == 2 and labels.shape[1] == 1 else labels
        predicted = self.columns(learner, check_length(learner, labels, X))
        votes = np.zeros((predicted.size, self.classes.size))
        votes[np.arange(predicted.size), predicted] = 1
        return votes

    def columns(self, learner: Any, labels: Any) -> np.ndarray:
        """Return the column of each label of a learner; raise a ValueError for a label without one."""
        labels = np.asarray(labels)
        columns = np.minimum(np.searchsorted(self.classes, labels), self.classes.size - 1)
        unknown = np.flatnonzero(self.classes[columns] != labels)
        if unknown.size:
            raise ValueError(
                f"{type(learner).__name__} predicts the class {labels.tolist()[unknown[0]]!r}, which is not"
                f" one of {first_names(self.classes)}; the estimator must predict classes of y"
            )
        return columns


def check_length(learner: Any, predictions: np.ndarray, X: Any) -> np.ndarray:
    """Return the predictions; raise a ValueError unless their first dimension is the number of rows of X."""
    if predictions.shape[:1] != X.shape[:1]:
        raise ValueError(
            f"{type(learner).__name__} returned predictions of shape {predictions.shape} for {X.shape[0]}"
            " rows; it must predict one value per row"
        )
    return predictions


@dataclass(frozen=True)
class RegressorVotes:
    """Function that returns the predictions of a regressor, one column per target."""

    losses = staticmethod(squared_errors)

    def __call__(self, learner: Any, X: Any) -> np.ndarray:
        predictions = check_length(learner, np.asarray(learner.predict(X), dtype=float), X)
        return predictions[:, None] if predictions.ndim == 1 else predictions


VoteFunction = ClassifierVotes | RegressorVotes


@dataclass(frozen=True)
class FittedLearner:
    """A fitted learner, its columns (None: all), and its votes on the rows that it did not draw."""

    learner: Any
    features: np.ndarray | None
    oob_votes: np.ndarray | None = None


@dataclass(frozen=True)
class BagFitter:
    """Fits learner number t to its bag, for any t; holds all that a parallel worker needs."""

    template: Any
    sampler: Sampler
    n_features: int
    n_features_drawn: int
    replace_features: bool
    votes_of: VoteFunction
    needs_oob: bool

    def fit(self, number: int, X: TableLike, y: np.ndarray, weight: np.ndarray) -> FittedLearner:
        """Return learner `number`, fitted to its bag."""
        features = self.sampler.features(
            number, self.n_features, self.n_features_drawn, self.replace_features
        )
        learner = seeded_clone(self.template, self.sampler.learner_generator(number))
        learner = self._fit_to_bag(learner, number, select_columns(X, features), y, weight)
        votes = self.oob_votes(number, learner, features, X) if self.needs_oob else None
        return FittedLearner(learner, features, votes)

    def oob_votes(
        self, number: int, learner: Estimator, features: np.ndarray | None, X: TableLike
    ) -> np.ndarray | None:
        """Return the votes of a learner on the rows that it did not draw; None if it drew all rows."""
        rows = self.sampler.left_out(number)
        if rows.size == 0:
            return None
        return self.votes_of(learner, rows_of(select_columns(X, features), rows))

    def _fit_to_bag(
        self, learner: Estimator, number: int, X: TableLike, y: np.ndarray, weight: np.ndarray
    ) -> Any:
        if not has_fit_parameter(learner, "sample_weight"):
            rows = self.sampler.rows(number)
            return self._fit_or_constant(learner, rows_of(X, rows), y[rows])
        # A row drawn k times is passed once with weight k: an equivalent fit with fewer rows.
        counts = self.sampler.counts(number)
        rows = np.flatnonzero(counts)
        bag_weight = counts[rows].astype(float)
        if weight.size:
            bag_weight *= weight[rows]
        weights = {} if (bag_weight == 1).all() else {"sample_weight": bag_weight}
        return self._fit_or_constant(learner, rows_of(X, rows), y[rows], **weights)

    def _fit_or_constant(
        self, learner: Estimator, X: TableLike, y: np.ndarray, **weight: np.ndarray
    ) -> Any:
        """Return the fitted learner; if it rejects a bag of one class, a constant classifier instead."""
        try:
            return learner.fit(X, y, **weight)
        except ValueError:
            if not isinstance(self.votes_of, ClassifierVotes) or (y != y[0]).any():
                raise
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, y)


def select_columns(X: TableLike, features: np.ndarray | None) -> Any:
    """Return the columns `features` of X; None: all columns."""
    return X if features is None else columns_of(X, features)
