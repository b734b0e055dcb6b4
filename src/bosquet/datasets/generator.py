"""Base classes of data generators: distributions of (X, y) that can be sampled and are known exactly."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Seed


class Generator(ABC):
    """A distribution of (X, y) whose best possible prediction is known.

    Attributes
    ----------
    n_features : int
        Number of columns of X.
    bayes_error : float or None
        The error of the Bayes rule, the best possible rule. None if it is not known exactly;
        `bosquet.theory.bayes_error` estimates it then.
    """

    n_features: int

    @property
    def bayes_error(self) -> float | None:
        return None

    def sample(
        self, n_samples: int, random_state: Seed | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Draw independent rows and their targets.

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
    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]: ...

    @abstractmethod
    def bayes_predict(self, X: ArrayLike) -> np.ndarray:
        """Return the predictions of the Bayes rule."""

    @abstractmethod
    def bayes_error_at(self, X: ArrayLike) -> np.ndarray:
        """Return the expected loss of the Bayes rule at each row; its expectation is `bayes_error`."""

    def _check_rows(self, X: ArrayLike) -> np.ndarray:
        rows = np.asarray(X, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != self.n_features:
            raise ValueError(
                f"X has shape {rows.shape}, but {type(self).__name__} has {self.n_features} features; pass an"
                f" array of shape (n_samples, {self.n_features})"
            )
        return rows


class ClassGenerator(Generator):
    """A generator for classification, with known probabilities P(Y = k | X = x).

    The Bayes rule predicts the most probable class, the first one in a tie. Its error is
    E[1 - max_k P(Y = k | X)].
    """

    @property
    def classes(self) -> np.ndarray:
        """Class labels, in the order of the columns of `probability`."""
        return np.array([0, 1])

    @abstractmethod
    def probability(self, X: ArrayLike) -> np.ndarray:
        """Return P(Y = k | X = x), of shape (n_samples, n_classes)."""

    def bayes_predict(self, X: ArrayLike) -> np.ndarray:
        return self.classes[self.probability(X).argmax(axis=1)]

    def bayes_error_at(self, X: ArrayLike) -> np.ndarray:
        return np.maximum(1 - self.probability(X).max(axis=1), 0.0)


class LabelledInputs(ClassGenerator):
    """A generator that draws X, then the label of each row from its class probabilities."""

    @abstractmethod
    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray: ...

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = self._draw_inputs(n, rng)
        cumulative = self.probability(X).cumsum(axis=1)
        # The last sum may be rounded to less than 1; without it, the last class takes the remaining draws.
        numbers = (rng.random(n)[:, None] >= cumulative[:, :-1]).sum(axis=1)
        return X, self.classes[numbers]


class ClassMixture(ClassGenerator):
    """A generator that draws the class (all equally likely), then X from the density of the class."""

    @abstractmethod
    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows of the class with the given number."""

    @abstractmethod
    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        """Return the log-densities of the classes up to a common constant: (n_samples, n_classes)."""

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        numbers = rng.integers(self.classes.size, size=n)
        X = np.empty((n, self.n_features))
        for number in range(self.classes.size):
            chosen = numbers == number
            X[chosen] = self._draw_inputs_of(number, int(chosen.sum()), rng)
        return X, self.classes[numbers]

    def probability(self, X: ArrayLike) -> np.ndarray:
        log_density = self._log_densities(self._check_rows(X))
        density = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        return density / density.sum(axis=1, keepdims=True)


class RegressionGenerator(Generator):
    """A generator for regression: Y = f(X) + ε, with f known and ε ~ N(0, noise²) independent of X.

    The Bayes rule for squared error is f, and its error is noise².
    """

    noise: float

    @abstractmethod
    def mean(self, X: ArrayLike) -> np.ndarray:
        """Return f(x) = E[Y | X = x] for each row."""

    @abstractmethod
    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray: ...

    def _draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        X = self._draw_inputs(n, rng)
        return X, self.mean(X) + self.noise * rng.standard_normal(n)

    def bayes_predict(self, X: ArrayLike) -> np.ndarray:
        return self.mean(X)

    def bayes_error_at(self, X: ArrayLike) -> np.ndarray:
        return np.full(self._check_rows(X).shape[0], float(self.noise) ** 2)

    @property
    def bayes_error(self) -> float:
        return float(self.noise) ** 2


def random_numbers(random_state: Seed) -> np.random.Generator:
    """Return a NumPy generator for a seed or random state; the global state of NumPy is never used."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(np.iinfo(np.int32).max))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"random_state={random_state!r} is not a valid seed; pass an integer >= 0, a"
            " numpy.random.Generator, a RandomState or None"
        ) from error


def noisy_labels(number: np.ndarray, n_classes: int, label_noise: float) -> np.ndarray:
    """Return class probabilities: 1 - `label_noise` for the true class, the rest divided among the others."""
    probability = np.full((number.size, n_classes), label_noise / (n_classes - 1))
    probability[np.arange(number.size), number] = 1 - label_noise
    return probability
