"""Breiman's mixtures of normal distributions: twonorm, threenorm, ringnorm; and XOR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import integrate, stats

from bosquet._parameters import check_value, integer, number
from bosquet.datasets.generator import ClassMixture

if TYPE_CHECKING:
    from bosquet._types import Seed


@dataclass(frozen=True)
class Twonorm(ClassMixture):
    """Two normal distributions: class 1 has mean (a, ..., a), class 0 (-a, ..., -a), with a = 2 / √d.

    The distance of the means is 4 for any number d of columns, and both covariance matrices are I. The
    Bayes rule predicts the sign of the sum of the columns; its error is Φ(-2) = 2.28 %.

    Parameters
    ----------
    n_features : int, default=20

    Examples
    --------
    >>> from bosquet.datasets import Twonorm
    >>> print(f"{Twonorm().bayes_error:.4f}")
    0.0228

    References
    ----------
    Breiman, "Bias, variance, and arcing classifiers", technical report 460, Berkeley, 1996.
    """

    n_features: int = 20

    def __post_init__(self) -> None:
        check_value("n_features", self.n_features, integer(1))

    @property
    def _mean(self) -> np.ndarray:
        return np.full(self.n_features, 2 / np.sqrt(self.n_features))

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((n, self.n_features)) + (2 * number - 1) * self._mean

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        projection = rows @ self._mean
        return np.column_stack([-projection, projection])

    @property
    def bayes_error(self) -> float:
        return float(stats.norm.cdf(-2))


@dataclass(frozen=True)
class Threenorm(ClassMixture):
    r"""Three normal distributions in two classes, with covariance I.

    Class 0 has the means (a, ..., a) and (-a, ..., -a), equally likely; class 1 has the mean (a, -a, a, -a,
    ...), with a = 2 / √d for d columns. The class probabilities only depend on the projection onto the
    plane of the means. With the coordinate u along (1, ..., 1) and v orthogonal to it, class 1 is more
    likely where

    .. math:: v > \frac{\ln\cosh 2u - 2 c u}{2 \sqrt{1 - c^2}}.

    Here c is the cosine of the angle between (1, ..., 1) and the mean of class 1: 0 if d is even, else 1/d.
    An integral over u gives the error of the Bayes rule, 10.5 % for 20 columns.

    Parameters
    ----------
    n_features : int, default=20
        At least 2.

    Examples
    --------
    >>> from bosquet.datasets import Threenorm
    >>> print(f"{Threenorm().bayes_error:.4f}")
    0.1046

    References
    ----------
    Breiman, "Bias, variance, and arcing classifiers", technical report 460, Berkeley, 1996.
    """

    n_features: int = 20

    def __post_init__(self) -> None:
        check_value("n_features", self.n_features, integer(2))

    @property
    def _means(self) -> tuple[np.ndarray, np.ndarray]:
        same = np.full(self.n_features, 2 / np.sqrt(self.n_features))
        return same, same * np.where(np.arange(self.n_features) % 2 == 0, 1, -1)

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((n, self.n_features))
        if number == 1:
            return noise + self._means[1]
        return noise + rng.choice([-1.0, 1.0], size=n)[:, None] * self._means[0]

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        same, alternating = (rows @ mean for mean in self._means)
        # ln ½(eˢ + e⁻ˢ); the common factor e^(-2), from means of squared length 4, is omitted.
        return np.column_stack([_log_cosh(same), alternating])

    @cached_property
    def bayes_error(self) -> float:
        cosine = float(self._means[0] @ self._means[1]) / 4
        sine = np.sqrt(1 - cosine**2)

        def error_density(u: float) -> float:
            frontier = (_log_cosh(2 * u) - 2 * cosine * u) / (2 * sine)
            of_one = stats.norm.pdf(u - 2 * cosine) * stats.norm.cdf(frontier - 2 * sine)
            of_zero = (stats.norm.pdf(u - 2) + stats.norm.pdf(u + 2)) / 2 * stats.norm.sf(frontier)
            return float(of_one + of_zero) / 2

        return float(integrate.quad(error_density, -12, 12, limit=200, epsabs=1e-12)[0])


def _log_cosh(x: float | np.ndarray) -> np.ndarray:
    """Return ln cosh x without overflow."""
    size = np.abs(x)
    return size + np.log1p(np.exp(-2 * size)) - np.log(2)


@dataclass(frozen=True)
class Ringnorm(ClassMixture):
    r"""A narrow normal distribution inside a wide one: class 0 is N(0, 4I), class 1 is N(m, I).

    Class 1 is more likely in the ball |x - m|² - |x|²/4 < d ln 4, for d columns. The probability of a ball
    is a noncentral chi-square probability in both classes. The exact error of the Bayes rule is 1.24 % for
    a mean m of length 2 (a = 2 / √20 in each of 20 columns); Breiman gives 1.3 %. Other descriptions, for
    example that of R's mlbench, have a mean of length 1 (``shift=1``), with an error of 1.50 %.

    Parameters
    ----------
    n_features : int, default=20
    shift : float, default=2
        Length of m; its entries are equal.

    Examples
    --------
    >>> from bosquet.datasets import Ringnorm
    >>> print(f"{Ringnorm().bayes_error:.4f}, {Ringnorm(shift=1).bayes_error:.4f}")
    0.0124, 0.0150

    References
    ----------
    Breiman, "Bias, variance, and arcing classifiers", technical report 460, Berkeley, 1996.
    """

    n_features: int = 20
    shift: float = 2.0

    def __post_init__(self) -> None:
        check_value("n_features", self.n_features, integer(1))
        check_value("shift", self.shift, number(0))

    @property
    def _mean(self) -> np.ndarray:
        return np.full(self.n_features, self.shift / np.sqrt(self.n_features))

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        noise = rng.standard_normal((n, self.n_features))
        return 2 * noise if number == 0 else noise + self._mean

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        wide = -(rows**2).sum(axis=1) / 8 - self.n_features * np.log(2)
        return np.column_stack([wide, -((rows - self._mean) ** 2).sum(axis=1) / 2])

    @property
    def bayes_error(self) -> float:
        d, squared_shift = self.n_features, self.shift**2
        # Completing the square with r = d ln 4 + |m|²/3: for x = m + z the ball is |z - m/3|² < 4/3 r, and
        # for x = 2w it is |w - 2m/3|² < r/3.
        r = d * np.log(4) + squared_shift / 3
        outside = _chi2_survival(4 / 3 * r, d, squared_shift / 9)
        inside = 1 - _chi2_survival(r / 3, d, 4 * squared_shift / 9)
        return float((outside + inside) / 2)


def _chi2_survival(x: float, degrees: int, noncentrality: float) -> float:
    """Return the probability that a noncentral chi-square variable exceeds x."""
    if noncentrality == 0:
        return float(stats.chi2.sf(x, degrees))
    return float(stats.ncx2.sf(x, degrees, noncentrality))


@dataclass(frozen=True)
class Xor(ClassMixture):
    """Four normal distributions at the corners of a square; opposite corners have the same class.

    The means are (±1, ±1) and the covariance is spread² I; class 1 has the means with different signs.
    Further columns are N(0, 1) noise. The Bayes rule predicts by the sign of x₁ x₂. Its error is 2p(1 - p)
    with p = Φ(-1/spread). A line or a single stump is hardly better than random guessing.

    Parameters
    ----------
    spread : float, default=0.4
        Standard deviation of each normal distribution.
    n_features : int, default=2
        At least 2.

    Examples
    --------
    >>> from bosquet.datasets import Xor
    >>> xor = Xor(spread=0.5)
    >>> xor.bayes_predict([[1, 1], [1, -1], [-1, -1]])
    array([0, 1, 0])
    >>> print(f"{xor.bayes_error:.4f}")
    0.0445
    """

    spread: float = 0.4
    n_features: int = 2

    def __post_init__(self) -> None:
        check_value("spread", self.spread, number(0, open_low=True))
        check_value("n_features", self.n_features, integer(2))

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        X = rng.standard_normal((n, self.n_features))
        first = rng.choice([-1.0, 1.0], size=n)
        X[:, 0] = first + self.spread * X[:, 0]
        X[:, 1] = (1 - 2 * number) * first + self.spread * X[:, 1]
        return X

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        first, second = rows[:, 0] / self.spread**2, rows[:, 1] / self.spread**2
        return np.column_stack([_log_cosh(first + second), _log_cosh(first - second)])

    @property
    def bayes_error(self) -> float:
        p = float(stats.norm.cdf(-1 / self.spread))
        return 2 * p * (1 - p)


def make_twonorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Twonorm`: two normal distributions, Bayes error 2.3 %.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features : int, default=20
        Number of columns.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Twonorm(n_features).sample(n_samples, random_state)


def make_threenorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Threenorm`: three normal distributions in two classes.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features : int, default=20
        Number of columns.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Threenorm(n_features).sample(n_samples, random_state)


def make_ringnorm(
    n_samples: int = 300,
    n_features: int = 20,
    *,
    shift: float = 2.0,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Ringnorm`: a narrow normal distribution inside a wide one.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    n_features : int, default=20
        Number of columns.
    shift : float, default=2.0
        Distance of the centre of the narrow distribution from the origin.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Ringnorm(n_features, shift).sample(n_samples, random_state)


def make_xor(
    n_samples: int = 100,
    *,
    spread: float = 0.4,
    n_features: int = 2,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Xor`: four normal distributions; opposite corners have the same class.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    spread : float, default=0.4
        Standard deviation of each normal distribution.
    n_features : int, default=2
        Number of columns.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Xor(spread, n_features).sample(n_samples, random_state)
