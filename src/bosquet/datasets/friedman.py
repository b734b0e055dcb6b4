"""Friedman's three regression functions, with Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet.datasets.generator import RegressionGenerator

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Seed


@dataclass(frozen=True)
class Friedman1(RegressionGenerator):
    """y = 10 sin(π x₁ x₂) + 20 (x₃ - ½)² + 10 x₄ + 5 x₅ + ε, columns uniform on [0, 1].

    y does not depend on the columns after the fifth.

    Parameters
    ----------
    n_features : int, default=10
        At least 5.
    noise : float, default=1
        Standard deviation of ε; the error of the Bayes rule is its square.

    Examples
    --------
    >>> from bosquet.datasets import Friedman1
    >>> X, y = Friedman1().sample(10_000, random_state=0)
    >>> print(f"{((y - Friedman1().mean(X)) ** 2).mean():.2f} of {y.var():.1f} is noise")
    1.00 of 24.7 is noise

    References
    ----------
    Friedman, "Multivariate adaptive regression splines", Annals of Statistics 19, 1991.
    """

    n_features: int = 10
    noise: float = 1.0

    def __post_init__(self) -> None:
        check_value("n_features", self.n_features, integer(5))
        check_value("noise", self.noise, number(0))

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.random((n, self.n_features))

    def mean(self, X: ArrayLike) -> np.ndarray:
        a, b, c, d, e = self._check_rows(X)[:, :5].T
        return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


@dataclass(frozen=True)
class _Circuit(RegressionGenerator):
    """Base class of `Friedman2` and `Friedman3`: resistance and reactance of an electric circuit."""

    noise: float = 0.0

    n_features = 4

    def __post_init__(self) -> None:
        check_value("noise", self.noise, number(0))

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        low = np.array([0, 40 * np.pi, 0, 1])
        return low + rng.random((n, 4)) * np.array([100, 520 * np.pi, 1, 10])

    def _resistance_and_reactance(self, X: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        resistance, frequency, inductance, capacitance = self._check_rows(X).T
        return resistance, frequency * inductance - 1 / (frequency * capacitance)


@dataclass(frozen=True)
class Friedman2(_Circuit):
    """The impedance of a circuit: y = √(x₁² + (x₂x₃ - 1/(x₂x₄))²) + ε.

    x₁ is uniform on [0, 100], x₂ on [40π, 560π], x₃ on [0, 1], x₄ on [1, 11].

    Parameters
    ----------
    noise : float, default=125
        Standard deviation of ε, about a third of that of E[y | X].

    Examples
    --------
    >>> from bosquet.datasets import Friedman2
    >>> X, y = Friedman2().sample(10_000, random_state=0)
    >>> print(f"signal to noise {Friedman2().mean(X).std() / 125:.1f}")
    signal to noise 3.0

    References
    ----------
    Friedman, "Multivariate adaptive regression splines", Annals of Statistics 19, 1991.
    """

    noise: float = 125.0

    def mean(self, X: ArrayLike) -> np.ndarray:
        return np.hypot(*self._resistance_and_reactance(X))


@dataclass(frozen=True)
class Friedman3(_Circuit):
    """The phase of a circuit: y = arctan((x₂x₃ - 1/(x₂x₄)) / x₁) + ε, columns as in `Friedman2`.

    Parameters
    ----------
    noise : float, default=0.1
        Standard deviation of ε, about a third of that of E[y | X].

    Examples
    --------
    >>> from bosquet.datasets import Friedman3
    >>> X, y = Friedman3().sample(10_000, random_state=0)
    >>> print(f"signal to noise {Friedman3().mean(X).std() / 0.1:.1f}")
    signal to noise 3.2

    References
    ----------
    Friedman, "Multivariate adaptive regression splines", Annals of Statistics 19, 1991.
    """

    noise: float = 0.1

    def mean(self, X: ArrayLike) -> np.ndarray:
        resistance, reactance = self._resistance_and_reactance(X)
        return np.arctan2(reactance, resistance)


def make_friedman1(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    noise: float = 0.0,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Friedman1`; the default is no noise, as in the scikit-learn function of this name.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_features : int, default=10
        Number of columns, at least 5; only the first five have an effect.
    noise : float, default=0.0
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Friedman1(n_features, noise).sample(n_samples, random_state)


def make_friedman2(
    n_samples: int = 100, *, noise: float = 0.0, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Friedman2`; the default is no noise, as in the scikit-learn function of this name.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    noise : float, default=0.0
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Friedman2(noise).sample(n_samples, random_state)


def make_friedman3(
    n_samples: int = 100, *, noise: float = 0.0, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Friedman3`; the default is no noise, as in the scikit-learn function of this name.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    noise : float, default=0.0
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Friedman3(noise).sample(n_samples, random_state)
