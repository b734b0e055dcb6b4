"""The Bayes rule of simulated data as an estimator that needs no training, and as a method of the study."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.methods.method import BAYES_RULE, Candidate, Method
from bosquet.study.record import MethodProperties, Task
from bosquet.study.table.target import StudyTarget

BAYES_RULE_PROPERTIES: MethodProperties = {
    "readable": ("yes", "it is the distribution of the data"),
    "score_or_interval": ("yes", "true probabilities or means"),
    "consistent": ("yes", "nothing is estimated"),
    "minimax": ("yes", "no rule has a smaller risk"),
    "non_asymptotic": ("yes", "its risk is known"),
    "parameter_free": ("yes", "nothing to tune"),
    "online": ("yes", "nothing to fit"),
}


class BayesRule:
    """A generator of `bosquet.datasets`, or a function of X, with the interface of a scikit-learn estimator.

    For classification, probabilities are those of the generator, or the matrix that the function returns with
    one column per class. If the function returns labels, they have probability 1.
    """

    def __init__(self, truth: Any, target: StudyTarget):
        self.truth, self.target = truth, target
        self.classes_ = target.classes

    def fit(self, X: Any, y: Any) -> BayesRule:
        """Do nothing; the rule is known."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted labels or means."""
        if self.target.is_classes:
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        rule = getattr(self.truth, "mean", None) or getattr(self.truth, "bayes_predict", self.truth)
        return np.asarray(rule(_matrix(X)), dtype=float).ravel()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the class probabilities, with one column per class."""
        rule = getattr(self.truth, "probability", None) or getattr(
            self.truth, "bayes_predict", self.truth
        )
        predicted = np.asarray(rule(_matrix(X)))
        if predicted.ndim == 2:
            classes = getattr(self.truth, "classes", self.classes_)
            if len(classes) != predicted.shape[1] or len(classes) != len(self.classes_):
                raise ValueError(
                    f"bayes returned {predicted.shape[1]} probabilities per row, but the target has"
                    f" {len(self.classes_)} classes; return one column per class, in sorted order"
                )
            probabilities = np.zeros(predicted.shape)
            probabilities[:, class_numbers(np.asarray(classes), self.classes_)] = predicted
            return probabilities
        return np.eye(len(self.classes_))[class_numbers(predicted, self.classes_)]


def bayes_rule_method(rule: BayesRule, tasks: frozenset[Task]) -> Method:
    """Return the Bayes rule as a method, so that the leaderboard shows how much could still be gained."""
    return Method(
        name=BAYES_RULE,
        title="Bayes rule (the truth)",
        tasks=tasks,
        parameter="",
        log_axis=False,
        candidates=lambda shape: [Candidate(0.0, "", {}, lambda seed: rule)],
        properties=BAYES_RULE_PROPERTIES,
    )


def _matrix(X: Any) -> np.ndarray:
    return np.asarray(X, dtype=float)
