"""Where rows come from, and fitting the same learner again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sklearn import check_random_state, seeded_clone


def is_generator(data: Any) -> bool:
    """Whether rows can be drawn from `data` and the truth be asked of it."""
    return hasattr(data, "sample") and (hasattr(data, "probability") or hasattr(data, "mean"))


def check_table(data: Any, y: Any, target: str) -> None:
    """Raise a TypeError unless `data` is a table, a ValueError where the `target` of its rows is missing."""
    if isinstance(data, str) or not (hasattr(data, "shape") or hasattr(data, "__len__")):
        raise TypeError(
            f"data={data!r} must be a generator such as bosquet.datasets.Moons(), with sample(n,"
            " random_state) and probability(X) or mean(X), or a table that y goes with"
        )
    if y is None:
        raise ValueError(
            f"y is missing: data is a table of rows (it has no sample(n, random_state)), which needs the"
            f" {target} that goes with it"
        )


def has_classes(generator: Any) -> bool:
    return hasattr(generator, "probability")


def check_estimator_object(estimator: Any, parameter: str = "estimator") -> None:
    """Raise a TypeError unless it can be cloned, fitted and asked."""
    if isinstance(estimator, type) or not all(
        hasattr(estimator, method) for method in ("fit", "predict", "get_params")
    ):
        raise TypeError(
            f"{parameter}={estimator!r} must be an estimator with fit and predict: an object, not its class"
        )


def seeded(estimator: Any, random: np.random.RandomState) -> Any:
    """A copy that draws from `random` wherever its own random_state, nested ones too, is None."""
    return seeded_clone(estimator, random, keep_set=True)


def streams(random_state: Any, number: int) -> list[np.random.RandomState]:
    """Independent sources of random numbers, one a task, that do not depend on who runs it."""
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=number)
    return [np.random.RandomState(seed) for seed in seeds]


def class_codes(labels: Any, classes: np.ndarray, who: str) -> np.ndarray:
    """The place of each label among the classes, which are sorted."""
    said = np.asarray(labels)
    codes = np.minimum(np.searchsorted(classes, said), classes.size - 1)
    wrong = np.flatnonzero(classes[codes] != said)
    if wrong.size:
        raise ValueError(f"{who} holds the class {said[wrong[0]]!r}, not one of {classes.tolist()}")
    return codes


@dataclass(frozen=True)
class Truth:
    """What is known of some rows: probabilities of the classes, or mean and variance of a number."""

    X: Any
    probability: np.ndarray | None = None
    classes: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None

    @classmethod
    def of(cls, generator: Any, X: np.ndarray) -> Truth:
        if has_classes(generator):
            probability = np.asarray(generator.probability(X), dtype=float)
            classes = np.asarray(getattr(generator, "classes", np.arange(probability.shape[1])))
            order = np.argsort(classes)
            return cls(X, probability=probability[:, order], classes=classes[order])
        if not hasattr(generator, "bayes_error_at"):
            raise TypeError(
                f"{generator!r} has mean(X) but no bayes_error_at(X), the variance of y at each row"
            )
        mean = np.asarray(generator.mean(X), dtype=float)
        return cls(X, mean=mean, variance=np.asarray(generator.bayes_error_at(X), dtype=float))

    def excess(self, predicted: Any) -> np.ndarray:
        """By how much the risk at each row exceeds that of the best rule."""
        if self.probability is None:
            return (np.asarray(predicted, dtype=float) - self.mean) ** 2
        assert self.classes is not None
        codes = class_codes(predicted, self.classes, "the prediction")
        best = self.probability.max(axis=1)
        return best - self.probability[np.arange(codes.size), codes]

    @property
    def bayes(self) -> np.ndarray:
        """The risk of the best rule at each row."""
        if self.probability is None:
            assert self.variance is not None
            return self.variance
        return np.maximum(
            1 - self.probability.max(axis=1), 0.0
        )  # they add up to 1 but for rounding


def signs_of(y: Any, what: str = "weak learnability") -> tuple[np.ndarray, np.ndarray]:
    """Labels of two classes as -1 and +1, and the classes; `what` is about them."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have one label a row, got shape {labels.shape}")
    classes = np.unique(labels)
    if classes.size != 2:
        raise ValueError(
            f"y holds {classes.size} class(es), {classes.tolist()[:5]}; {what} is about two"
        )
    return np.where(labels == classes[1], 1.0, -1.0), classes
