"""Small methods for the tests of the study: fast, slow, failing, and one that records its calls."""

from __future__ import annotations

import time
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bosquet.study.methods.method import Candidate, Method
from bosquet.study.record import MethodProperties

TASKS = frozenset({"binary", "multiclass", "regression"})


def properties(readable: str = "no") -> MethodProperties:
    nothing = ("no", "a stand-in")
    return {
        "readable": (readable, "a stand-in"),
        "score_or_interval": nothing,
        "consistent": nothing,
        "minimax": nothing,
        "non_asymptotic": nothing,
        "parameter_free": nothing,
        "online": nothing,
    }


def method(name, make, values=(1,), *, readable="no", parameter="complexity", **more) -> Method:
    """`make(shape, value, seed)` returns an unfitted estimator."""

    def candidates(shape):
        return [
            Candidate(
                float(value),
                f"{parameter} {value}",
                {parameter: value},
                lambda seed, value=value: make(shape, value, seed),
            )
            for value in values
        ]

    return Method(
        name, name.capitalize(), TASKS, parameter, False, candidates, properties(readable), **more
    )


def constant() -> Method:
    def make(shape, value, seed):
        regression = shape.task == "regression"
        return DummyRegressor() if regression else DummyClassifier(strategy="prior")

    return method("constant", make, readable="yes")


def linear(readable="yes") -> Method:
    def make(shape, value, seed):
        return Ridge(value) if shape.task == "regression" else LogisticRegression(C=1 / value)

    return method("linear", make, (0.1, 1.0, 10.0), readable=readable)


def tree() -> Method:
    def make(shape, value, seed):
        kind = DecisionTreeRegressor if shape.task == "regression" else DecisionTreeClassifier
        return kind(max_depth=value, random_state=seed)

    return method("stub-tree", make, (1, 2, 4, 6))


class Spy(ClassifierMixin, RegressorMixin, BaseEstimator):
    """Record the rows, identified by their first column, that it was fitted to and that it predicted."""

    fitted: ClassVar[list[set[float]]] = []
    predicted: ClassVar[list[set[float]]] = []

    def fit(self, X, y):
        Spy.fitted.append(set(np.asarray(X)[:, 0].tolist()))
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        Spy.predicted.append(set(np.asarray(X)[:, 0].tolist()))
        return np.full(len(X), self.mean_)


class Slow(RegressorMixin, BaseEstimator):
    """Fit slowly."""

    def __init__(self, seconds=0.05):
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


class Failing(BaseEstimator):
    def fit(self, X, y):
        raise RuntimeError("it does not\nwork")
