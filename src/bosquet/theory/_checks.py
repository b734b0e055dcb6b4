"""Checks of generators, tables and estimators; repeated fits; the true distribution at test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._sklearn import check_random_state, seeded_clone
from bosquet._suggestions import first_names

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState


def is_generator(data: Any) -> bool:
    """Return whether `data` can be sampled and has known class probabilities or means."""
    return hasattr(data, "sample") and (hasattr(data, "probability") or hasattr(data, "mean"))


def check_table(data: object, y: ArrayLike | None, target: str) -> None:
    """Raise a TypeError unless `data` is a table, and a ValueError if its target `y` is missing."""
    if isinstance(data, str) or not (hasattr(data, "shape") or hasattr(data, "__len__")):
        raise TypeError(
            f"data={data!r} is neither a table nor a generator; pass X and y, or a generator with"
            " sample(n, random_state) and probability(X) or mean(X), such as bosquet.datasets.Moons()"
        )
    if y is None:
        raise ValueError(
            f"y is missing: data is a table (it has no method sample), so pass its {target} as y"
        )


def has_classes(generator: Any) -> bool:
    """Return whether a generator draws classes, not numbers."""
    return hasattr(generator, "probability")


def clone_with_seeds(estimator: Estimator, rng: np.random.RandomState) -> Any:
    """Return a clone in which every random_state that is None, also a nested one, is set from `rng`."""
    return seeded_clone(estimator, rng, keep_set=True)


def independent_streams(random_state: RandomState, number: int) -> list[np.random.RandomState]:
    """Return one random state per task, so that results do not depend on the order of the tasks."""
    seeds = check_random_state(random_state).randint(np.iinfo(np.int32).max, size=number)
    return [np.random.RandomState(seed) for seed in seeds]


def class_codes(labels: Any, classes: np.ndarray, source: str) -> np.ndarray:
    """Return the index of each label in the sorted `classes`; `source` names the labels in the error."""
    values = np.asarray(labels)
    codes = np.minimum(np.searchsorted(classes, values), classes.size - 1)
    unknown = np.flatnonzero(classes[codes] != values)
    if unknown.size:
        row = int(unknown[0])
        raise ValueError(
            f"{source} contains the class {values[row]!r} (row {row}), which is not one of"
            f" {first_names(classes)}"
        )
    return codes


@dataclass(frozen=True)
class Truth:
    """Rows with their true distribution: class probabilities, or mean and variance of the target."""

    X: Any
    probability: np.ndarray | None = None
    classes: np.ndarray | None = None
    mean: np.ndarray | None = None
    variance: np.ndarray | None = None

    @classmethod
    def of(cls, generator: Any, X: np.ndarray) -> Truth:
        """Return the distribution of a generator at the rows of X, with sorted classes."""
        if has_classes(generator):
            probability = np.asarray(generator.probability(X), dtype=float)
            classes = np.asarray(getattr(generator, "classes", np.arange(probability.shape[1])))
            order = np.argsort(classes)
            return cls(X, probability=probability[:, order], classes=classes[order])
        if not hasattr(generator, "bayes_error_at"):
            raise TypeError(
                f"{generator!r} has mean(X) but no bayes_error_at(X); add this method, which returns the"
                " variance of y at each row"
            )
        mean = np.asarray(generator.mean(X), dtype=float)
        return cls(X, mean=mean, variance=np.asarray(generator.bayes_error_at(X), dtype=float))

    def excess(self, predicted: Any) -> np.ndarray:
        """Return the risk of the predictions minus that of the Bayes rule, at each row."""
        if self.probability is None:
            return (np.asarray(predicted, dtype=float) - self.mean) ** 2
        assert self.classes is not None
        codes = class_codes(predicted, self.classes, "the prediction")
        best = self.probability.max(axis=1)
        return best - self.probability[np.arange(codes.size), codes]

    @property
    def bayes(self) -> np.ndarray:
        """Risk of the Bayes rule at each row."""
        if self.probability is None:
            assert self.variance is not None
            return self.variance
        # Rounding may make a probability slightly larger than 1.
        return np.maximum(1 - self.probability.max(axis=1), 0.0)


def signs_of(y: ArrayLike, what: str = "weak learnability") -> tuple[np.ndarray, np.ndarray]:
    """Return the labels of two classes as -1 and +1, and the classes; `what` names the task in the error."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y has shape {labels.shape}; pass one label per row, shape (n_samples,)")
    classes = np.unique(labels)
    if classes.size != 2:
        noun = "class" if classes.size == 1 else "classes"
        raise ValueError(
            f"y has {classes.size} {noun} ({', '.join(map(repr, classes.tolist()[:5]))}"
            f"{', ...' if classes.size > 5 else ''}); {what} needs two"
        )
    return np.where(labels == classes[1], 1.0, -1.0), classes
