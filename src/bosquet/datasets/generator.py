"""What a generator of data is: rows can be drawn from it, and the truth can be asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from bosquet._parameters import check_value, integer


class Generator(ABC):
    """A distribution of (X, y) whose best possible prediction is known.

    Attributes
    ----------
    n_features : int
        Number of columns of X.
    bayes_error : float or None
        The risk of the best rule there is; None where nobody has worked it out, which is for
        `bosquet.theory.bayes_error` to estimate.
    """

    n_features: int

    @property
    def bayes_error(self) -> float | None:
        return None

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Rows and their targets, drawn independently.

        Parameters
        ----------
        n_samples : int
        random_state : int, numpy.random.Generator, numpy.random.RandomState or None
            The same seed gives the same rows.

        Returns
        -------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        """
        check_value("n_samples", n_samples, integer(1))
        return self._draw(int(n_samples), random_numbers(random_state))

    @abstractmethod
    def _draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def bayes_predict(self, X: Any) -> np.ndarray:
        """What the best rule says of each row."""

    @abstractmethod
    def bayes_error_at(self, X: Any) -> np.ndarray:
        """The risk of the best rule at each row; its mean over X is `bayes_error`."""

    def _rows(self, X: Any) -> np.ndarray:
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(f"X must have shape (n_samples, {self.n_features}), got {rows.shape}")
        return rows


class ClassGenerator(Generator):
    """A generator of classes: P(Y = k | X = x) is known.

    The best rule names the most probable class, the first of equal ones. Its error is
    E[1 - max_k P(Y = k | X)].
    """

    @property
    def classes(self) -> np.ndarray:
        """The labels, in the order of the columns of `probability`."""
        return np.array([0, 1])

    @abstractmethod
    def probability(self, X: Any) -> np.ndarray:
        """P(Y = k | X = x), of shape (n_samples, n_classes)."""

    def bayes_predict(self, X: Any) -> np.ndarray:
        return self.classes[self.probability(X).argmax(axis=1)]

    def bayes_error_at(self, X: Any) -> np.ndarray:
        return np.maximum(1 - self.probability(X).max(axis=1), 0.0)


class LabelledInputs(ClassGenerator):
    """A generator that draws X first, and the label of a row by its probabilities."""

    @abstractmethod
    def _inputs(self, n: int, random: np.random.Generator) -> np.ndarray: ...

    def _draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = self._inputs(n, random)
        below = self.probability(X).cumsum(axis=1)
        # The last sum is 1 but for rounding: it must not be what stops a draw.
        numbers = (random.random(n)[:, None] >= below[:, :-1]).sum(axis=1)
        return X, self.classes[numbers]


class ClassMixture(ClassGenerator):
    """A generator that draws the class first, all equally likely, and X by the class's density."""

    @abstractmethod
    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        """n rows of the class with that number."""

    @abstractmethod
    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Logarithms of the classes' densities up to one constant, (n_samples, n_classes)."""

    def _draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        numbers = random.integers(self.classes.size, size=n)
        X = np.empty((n, self.n_features))
        for number in range(self.classes.size):
            chosen = numbers == number
            X[chosen] = self._inputs_of(number, int(chosen.sum()), random)
        return X, self.classes[numbers]

    def probability(self, X: Any) -> np.ndarray:
        logarithm = self._log_densities(self._rows(X))
        share = np.exp(logarithm - logarithm.max(axis=1, keepdims=True))
        return share / share.sum(axis=1, keepdims=True)


class RegressionGenerator(Generator):
    """A generator of numbers Y = f(X) + ε, with f known and ε ~ N(0, noise²) independent of X.

    The best rule under squared error is f, and its error is noise².
    """

    noise: float

    @abstractmethod
    def mean(self, X: Any) -> np.ndarray:
        """f(x) = E[Y | X = x]."""

    @abstractmethod
    def _inputs(self, n: int, random: np.random.Generator) -> np.ndarray: ...

    def _draw(self, n: int, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = self._inputs(n, random)
        return X, self.mean(X) + self.noise * random.standard_normal(n)

    def bayes_predict(self, X: Any) -> np.ndarray:
        return self.mean(X)

    def bayes_error_at(self, X: Any) -> np.ndarray:
        return np.full(self._rows(X).shape[0], float(self.noise) ** 2)

    @property
    def bayes_error(self) -> float:
        return float(self.noise) ** 2


def random_numbers(random_state: Any) -> np.random.Generator:
    """A source of random numbers of its own, never NumPy's global one."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} is not a seed: give an integer >= 0, a"
            " numpy.random.Generator, a RandomState or None"
        ) from error


def noisy_labels(number: np.ndarray, n_classes: int, label_noise: float) -> np.ndarray:
    """Probabilities where a label is as it should be, or with `label_noise` one of the others."""
    shares = np.full((number.size, n_classes), label_noise / (n_classes - 1))
    shares[np.arange(number.size), number] = 1 - label_noise
    return shares
