"""Any scikit-learn estimator as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import has_fit_parameter, is_classifier, rows_of, seeded_clone
from bosquet.boosting._capacity import vc_dim_of
from bosquet.boosting._reweighting import Reweighting


@dataclass(frozen=True)
class Speech:
    """The language between the loop and an estimator: targets one way, answers the other.

    The loop speaks of signs -1 and +1, class numbers, probabilities and numbers; the estimator of
    `labels`. It holds no data, and is pickled with the model.
    """

    says: str
    labels: np.ndarray
    classifier: bool

    def target(self, target: np.ndarray) -> np.ndarray:
        """What the estimator is to learn, in its own words."""
        if not self.classifier:
            return target
        if self.says == "classes" or self.labels.size > 2:
            return self.labels[target]
        return self.labels[(target > 0).astype(np.intp)]

    def __call__(self, learner: Any, X: Any) -> np.ndarray:
        """What a fitted estimator says of X."""
        if not self.classifier:
            said = finite(_one_a_row(np.asarray(learner.predict(X), dtype=float), X))
            return np.clip(said, -1, 1) if self.says == "signs" else said
        if self.says == "signs":
            return 2.0 * self._numbers(learner, X) - 1
        if self.says == "classes":
            return self._numbers(learner, X)
        shares = self._probabilities(learner, X)
        return 2 * shares[:, 1] - 1 if self.says == "numbers" else shares

    def _numbers(self, learner: Any, X: Any) -> np.ndarray:
        """The place of each answer among the labels; whatever else it may say is no vote."""
        said = _one_a_row(np.asarray(learner.predict(X)), X)
        numbers = np.minimum(np.searchsorted(self.labels, said), self.labels.size - 1)
        wrong = np.flatnonzero(self.labels[numbers] != said)
        if wrong.size:
            raise ValueError(
                f"it says {said.tolist()[wrong[0]]!r} of row {wrong[0]}, which is none of the classes"
                f" {self.labels.tolist()} that it was taught"
            )
        return numbers

    def _probabilities(self, learner: Any, X: Any) -> np.ndarray:
        """One column a label, whichever of them the learner has seen."""
        given = np.asarray(learner.predict_proba(X), dtype=float)
        known = np.asarray(getattr(learner, "classes_", self.labels))
        if given.shape != (X.shape[0], known.size) or not np.isin(known, self.labels).all():
            raise ValueError(
                f"its predict_proba has shape {given.shape} for {X.shape[0]} rows and the classes"
                f" {self.labels.tolist()}"
            )
        finite(given)
        if (given < 0).any():
            row = int(np.flatnonzero((given < 0).any(axis=1))[0])
            raise ValueError(
                f"it says {given[row].tolist()} of row {row}, which are no probabilities"
            )
        if known.size == self.labels.size:
            return given
        shares = np.zeros((given.shape[0], self.labels.size))
        shares[:, np.searchsorted(self.labels, known)] = given
        return shares


def _one_a_row(said: np.ndarray, X: Any) -> np.ndarray:
    said = said[:, 0] if said.ndim == 2 and said.shape[1] == 1 else said
    if said.shape != (X.shape[0],):
        raise ValueError(f"its predict has shape {said.shape} for {X.shape[0]} rows")
    return said


def finite(said: np.ndarray) -> np.ndarray:
    """What was said, unless a row of it is NaN or infinite."""
    if not np.isfinite(said).all():
        row = int(np.flatnonzero(~np.isfinite(said.reshape(said.shape[0], -1)).all(axis=1))[0])
        raise ValueError(f"it says {said[row]} of row {row}; a learner must be finite")
    return said


class ForeignLearner:
    """Clones of an estimator, fitted on one table under changing weights."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        *,
        says: str,
        labels: np.ndarray,
        reweighting: Reweighting,
    ):
        self.estimator, self.X = estimator, X
        self.reweighting = reweighting
        classifier = is_classifier(estimator)
        name = type(estimator).__name__
        if says in ("classes", "probabilities") and not classifier:
            raise ValueError(
                f"{name} is not a classifier, and cannot say {says}; with two classes, variant='discrete'"
                " or 'gentle' take a regressor"
            )
        asks = classifier and says in ("numbers", "probabilities")
        if asks and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                f"{name} has no predict_proba, and variant='real' or 'gentle' asks a classifier for"
                " probabilities; choose one that has it (or variant='discrete')"
            )
        self.speech = Speech(says, labels, classifier)
        self.takes_weight = has_fit_parameter(estimator, "sample_weight")
        self.round = 0  # whose hypothesis is being made

    @property
    def attempts(self) -> int:
        return DRAWN_AGAIN if self.reweighting.is_random else 1

    @property
    def vc_dim(self) -> float | None:
        from sklearn.tree import BaseDecisionTree

        is_tree = isinstance(self.estimator, BaseDecisionTree) and self.speech.classifier
        if is_tree and len(self.X.shape) == 2:
            return vc_dim_of(self.estimator, self.X.shape[1])
        return None

    @property
    def finds_the_best(self) -> bool:
        return False  # nobody has proved it

    def fit(self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0) -> Any:
        self.round = round_
        importance = self.reweighting(weight, round_, attempt)
        random = np.random.RandomState([self.reweighting.seed, round_, attempt, 1])
        learner = seeded_clone(self.estimator, random)
        y = self.speech.target(target)
        try:
            return self._fitted(learner, y, importance)
        except Exception as error:
            raise told_with_its_round(error, learner, round_) from error

    def _fitted(self, learner: Any, y: np.ndarray, importance: np.ndarray) -> Any:
        if not self.reweighting.is_random and self.takes_weight:
            return learner.fit(self.X, y, sample_weight=importance)
        if self.takes_weight:
            # A row drawn k times is one row of weight k: the same to a learner, and fewer rows.
            rows = np.flatnonzero(importance)
            return self._fit_or_constant(learner, rows, y, sample_weight=importance[rows])
        rows = np.repeat(np.arange(importance.size), importance.astype(np.intp))
        return self._fit_or_constant(learner, rows, y)

    def _fit_or_constant(
        self, learner: Any, rows: np.ndarray, y: np.ndarray, **weight: np.ndarray
    ) -> Any:
        """The fitted learner; where it cannot learn from a single class, one that always says it."""
        X, y = rows_of(self.X, rows), y[rows]
        try:
            return learner.fit(X, y, **weight)
        except ValueError:
            if not self.speech.classifier or (y != y[0]).any():
                raise
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, y)

    def on_training_rows(self, hypothesis: Any) -> np.ndarray:
        return self.on(hypothesis, self.X)

    def on(self, hypothesis: Any, X: Any) -> np.ndarray:
        try:
            return self.speech(hypothesis, X)
        except Exception as error:
            raise told_with_its_round(error, hypothesis, self.round) from error


# A drawn sample may be an unlucky one; so many draws tell bad luck from a bad learner.
DRAWN_AGAIN = 10


def told_with_its_round(error: Exception, learner: Any, round_: int) -> Exception:
    """The same kind of error where its kind is a common one, with who failed and when."""
    text = f"{type(learner).__name__} failed at round {round_ + 1}: {error}"
    for kind in (ValueError, TypeError, MemoryError):
        if isinstance(error, kind):
            return kind(text)
    return RuntimeError(f"{type(learner).__name__} failed at round {round_ + 1}: {error!r}")
