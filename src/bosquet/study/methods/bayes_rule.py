"""The best rule for simulated data as an estimator that has nothing to learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.table.target import Target


class TrueRule:
    """A generator of `bosquet.datasets`, or a function of X, behind scikit-learn's methods.

    Of classes it tells probabilities: the generator's, the function's if it gives a matrix with a column
    for each class, or certainty for the label that the function gives.
    """

    def __init__(self, truth: Any, target: Target):
        self.truth, self.target = truth, target
        self.classes_ = target.classes

    def fit(self, X: Any, y: Any) -> TrueRule:
        """Nothing."""
        return self

    def predict(self, X: Any) -> np.ndarray:
        if self.target.is_classes:
            return self.classes_[self.predict_proba(X).argmax(axis=1)]
        rule = getattr(self.truth, "mean", None) or getattr(self.truth, "bayes_predict", self.truth)
        return np.asarray(rule(_matrix(X)), dtype=float).ravel()

    def predict_proba(self, X: Any) -> np.ndarray:
        rule = getattr(self.truth, "probability", None) or getattr(
            self.truth, "bayes_predict", self.truth
        )
        said = np.asarray(rule(_matrix(X)))
        if said.ndim == 2:
            own = getattr(self.truth, "classes", self.classes_)
            if len(own) != said.shape[1] or len(own) != len(self.classes_):
                raise ValueError(
                    f"bayes gives {said.shape[1]} probabilities for {len(self.classes_)} classes"
                )
            answer = np.zeros(said.shape)
            answer[:, class_numbers(np.asarray(own), self.classes_)] = said
            return answer
        return np.eye(len(self.classes_))[class_numbers(said, self.classes_)]


def _matrix(X: Any) -> np.ndarray:
    return np.asarray(X, dtype=float)
