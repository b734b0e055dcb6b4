"""Any scikit-learn estimator as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import has_fit_parameter, is_classifier, rows_of, seeded_clone
from bosquet._suggestions import first_names
from bosquet.boosting._inputs import (
    check_finite,
    check_one_per_row,
    error_naming_round,
    predicted_numbers,
)
from bosquet.boosting.adaboost._weak_learners import Reweighting, needs_classifier
from bosquet.boosting.adaboost.bounds import vc_dim_of

if TYPE_CHECKING:
    from bosquet._types import Estimator, TableLike


@dataclass(frozen=True)
class LabelAdapter:
    """Converts the targets of the loop for an estimator, and the estimator's predictions for the loop.

    The loop uses signs, class numbers, probabilities and numbers, the estimator uses `labels`. The adapter
    holds no data, and is pickled with the model.
    """

    output_kind: str
    labels: np.ndarray
    classifier: bool

    def target(self, target: np.ndarray) -> np.ndarray:
        """Return the target of the estimator: labels for a classifier."""
        if not self.classifier:
            return target
        if self.output_kind == "classes" or self.labels.size > 2:
            return self.labels[target]
        return self.labels[(target > 0).astype(np.intp)]

    def __call__(self, learner: Estimator, X: TableLike) -> np.ndarray:
        """Return outputs of a fitted estimator on X."""
        if not self.classifier:
            values = predicted_numbers(learner, X)
            return np.clip(values, -1, 1) if self.output_kind == "signs" else values
        if self.output_kind == "signs":
            return 2.0 * self._predict_numbers(learner, X) - 1
        if self.output_kind == "classes":
            return self._predict_numbers(learner, X)
        shares = self._predict_label_probabilities(learner, X)
        return 2 * shares[:, 1] - 1 if self.output_kind == "numbers" else shares

    def _predict_numbers(self, learner: Estimator, X: TableLike) -> np.ndarray:
        """Return class numbers of the predicted labels; a ValueError for any other prediction."""
        predicted = check_one_per_row(np.asarray(learner.predict(X)), X)
        numbers = np.minimum(np.searchsorted(self.labels, predicted), self.labels.size - 1)
        wrong = np.flatnonzero(self.labels[numbers] != predicted)
        if wrong.size:
            raise ValueError(
                f"predict returned {predicted.tolist()[wrong[0]]!r} for row {wrong[0]}, which is not one of"
                f" the classes {first_names(self.labels)}; the estimator must predict classes of y"
            )
        return numbers

    def _predict_label_probabilities(self, learner: Any, X: Any) -> np.ndarray:
        """Return one column per label; 0 for labels that were not in the learner's sample."""
        probabilities = np.asarray(learner.predict_proba(X), dtype=float)
        learner_classes = np.asarray(getattr(learner, "classes_", self.labels))
        if (
            probabilities.shape != (X.shape[0], learner_classes.size)
            or not np.isin(learner_classes, self.labels).all()
        ):
            raise ValueError(
                f"predict_proba returned shape {probabilities.shape} for {X.shape[0]} rows and the classes"
                f" {first_names(learner_classes)}; it must return one row per row of X and one column per"
                " class of y"
            )
        check_finite(probabilities, "predict_proba")
        if (probabilities < 0).any():
            row = int(np.flatnonzero((probabilities < 0).any(axis=1))[0])
            raise ValueError(
                f"predict_proba returned {probabilities[row].tolist()} for row {row}; probabilities must not"
                " be negative"
            )
        if learner_classes.size == self.labels.size:
            return probabilities
        of_all_labels = np.zeros((probabilities.shape[0], self.labels.size))
        of_all_labels[:, np.searchsorted(self.labels, learner_classes)] = probabilities
        return of_all_labels


class EstimatorLearner:
    """Clones of an estimator, fitted to one table under changing weights."""

    def __init__(
        self,
        estimator: Estimator,
        X: Any,
        *,
        output_kind: str,
        labels: np.ndarray,
        reweighting: Reweighting,
    ):
        self.estimator, self.X = estimator, X
        self.reweighting = reweighting
        classifier = is_classifier(estimator)
        if output_kind in ("classes", "probabilities") and not classifier:
            raise needs_classifier(estimator, output_kind)
        needs_probabilities = classifier and output_kind in ("numbers", "probabilities")
        if needs_probabilities and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{type(estimator).__name__} has no predict_proba, which variant='real' and 'gentle' need of"
                " a classifier; pass a classifier that has it, or use variant='discrete'"
            )
        self.adapter = LabelAdapter(output_kind, labels, classifier)
        self.takes_weight = has_fit_parameter(estimator, "sample_weight")
        self.round = 0  # of the last call of fit, for error messages

    @property
    def attempts(self) -> int:
        return self.reweighting.attempts

    @property
    def vc_dim(self) -> float | None:
        from sklearn.tree import BaseDecisionTree

        is_tree = isinstance(self.estimator, BaseDecisionTree) and self.adapter.classifier
        if is_tree and len(self.X.shape) == 2:
            return vc_dim_of(self.estimator, self.X.shape[1])
        return None

    @property
    def finds_optimum(self) -> bool:
        return False  # nothing is known about how the estimator searches

    def fit(
        self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0
    ) -> Estimator:
        self.round = round_
        row_weights = self.reweighting(weight, round_, attempt)
        rng = np.random.RandomState([self.reweighting.seed, round_, attempt, 1])
        learner = seeded_clone(self.estimator, rng)
        y = self.adapter.target(target)
        try:
            return self._fit_learner(learner, y, row_weights)
        except Exception as error:
            raise error_naming_round(error, learner, round_) from error

    def _fit_learner(self, learner: Estimator, y: np.ndarray, row_weights: np.ndarray) -> Any:
        if not self.reweighting.is_random and self.takes_weight:
            return learner.fit(self.X, y, sample_weight=row_weights)
        if self.takes_weight:
            # A row that was drawn k times is one row of weight k: the same fit, with fewer rows.
            rows = np.flatnonzero(row_weights)
            return self._fit_or_constant(learner, rows, y, sample_weight=row_weights[rows])
        rows = np.repeat(np.arange(row_weights.size), row_weights.astype(np.intp))
        return self._fit_or_constant(learner, rows, y)

    def _fit_or_constant(
        self, learner: Estimator, rows: np.ndarray, y: np.ndarray, **weight: np.ndarray
    ) -> Any:
        """Return the fitted learner; a constant if the sample has one class and the learner needs two."""
        X, y = rows_of(self.X, rows), y[rows]
        try:
            return learner.fit(X, y, **weight)
        except ValueError:
            if not self.adapter.classifier or (y != y[0]).any():
                raise
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, y)

    def predict_training_rows(self, hypothesis: Any) -> np.ndarray:
        return self.predict(hypothesis, self.X)

    def predict(self, hypothesis: Any, X: TableLike) -> np.ndarray:
        try:
            return self.adapter(hypothesis, X)
        except Exception as error:
            raise error_naming_round(error, hypothesis, self.round) from error
