"""Breiman's clouds of normal points: twonorm, threenorm, ringnorm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import integrate, stats

from bosquet._parameters import check_value, integer, number
from bosquet.datasets.generator import ClassMixture


@dataclass(frozen=True)
class Twonorm(ClassMixture):
    """Two normal clouds: class 1 about (a, ..., a), class 0 about (-a, ..., -a), a = 2 / √d.

    The centres lie 4 apart whatever the number of columns, and both covariances are I. The best rule
    asks for the sign of the sum of the columns; its error is Φ(-2) = 2.28 %.

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
    def _centre(self) -> np.ndarray:
        return np.full(self.n_features, 2 / np.sqrt(self.n_features))

    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        return random.standard_normal((n, self.n_features)) + (2 * number - 1) * self._centre

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        along = rows @ self._centre
        return np.column_stack([-along, along])

    @property
    def bayes_error(self) -> float:
        return float(stats.norm.cdf(-2))


@dataclass(frozen=True)
class Threenorm(ClassMixture):
    r"""Three normal clouds in two classes: class 0 about (a, ..., a) and (-a, ..., -a), half each,
    class 1 about (a, -a, a, -a, ...), with a = 2 / √d and covariance I.

    All that matters lies in the plane of the centres. With u along (1, ..., 1) and v across, class 1
    is the more likely one where

    .. math:: v > \frac{\ln\cosh 2u - 2 c u}{2 \sqrt{1 - c^2}},

    c being the cosine between the two axes of centres: 0 where the number of columns is even, else
    1/d. One integral over u then gives the error of the best rule, 10.5 % for 20 columns.

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
    def _centres(self) -> tuple[np.ndarray, np.ndarray]:
        same = np.full(self.n_features, 2 / np.sqrt(self.n_features))
        return same, same * np.where(np.arange(self.n_features) % 2 == 0, 1, -1)

    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        cloud = random.standard_normal((n, self.n_features))
        if number == 1:
            return cloud + self._centres[1]
        return cloud + random.choice([-1.0, 1.0], size=n)[:, None] * self._centres[0]

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        same, alternating = (rows @ centre for centre in self._centres)
        # ln ½(eˢ + e⁻ˢ); both classes have e^(-2) besides, from centres of squared length 4.
        return np.column_stack([_log_cosh(same), alternating])

    @cached_property
    def bayes_error(self) -> float:
        cosine = float(self._centres[0] @ self._centres[1]) / 4
        sine = np.sqrt(1 - cosine**2)

        def mistaken(u: float) -> float:
            frontier = (_log_cosh(2 * u) - 2 * cosine * u) / (2 * sine)
            of_one = stats.norm.pdf(u - 2 * cosine) * stats.norm.cdf(frontier - 2 * sine)
            of_zero = (stats.norm.pdf(u - 2) + stats.norm.pdf(u + 2)) / 2 * stats.norm.sf(frontier)
            return float(of_one + of_zero) / 2

        return float(integrate.quad(mistaken, -12, 12, limit=200, epsabs=1e-12)[0])


def _log_cosh(x: Any) -> Any:
    """ln cosh x, which does not overflow."""
    size = np.abs(x)
    return size + np.log1p(np.exp(-2 * size)) - np.log(2)


@dataclass(frozen=True)
class Ringnorm(ClassMixture):
    r"""A small normal cloud inside a large one: class 0 is N(0, 4I), class 1 is N(m, I).

    Class 1 is the more likely one where |x - m|² - |x|²/4 < d ln 4: a ball. The chance to fall into
    a ball is a noncentral chi-square probability in both classes, so the error of the best rule is
    exact: 1.24 % with the mean of length 2 (a = 2 / √20 in each of 20 columns), which Breiman
    rounds to 1.3 %. Some descriptions, R's mlbench among them, have a mean of length 1
    (``shift=1``): 1.50 %.

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
    def _centre(self) -> np.ndarray:
        return np.full(self.n_features, self.shift / np.sqrt(self.n_features))

    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        cloud = random.standard_normal((n, self.n_features))
        return 2 * cloud if number == 0 else cloud + self._centre

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        wide = -(rows**2).sum(axis=1) / 8 - self.n_features * np.log(2)
        return np.column_stack([wide, -((rows - self._centre) ** 2).sum(axis=1) / 2])

    @property
    def bayes_error(self) -> float:
        d, length = self.n_features, self.shift**2
        # Completing the square: with x = m + z the ball is |z - m/3|² < 4/3 r, with x = 2w it is
        # |w - 2m/3|² < r/3, where r = d ln 4 + |m|²/3.
        reach = d * np.log(4) + length / 3
        outside = _chi2_cdf_complement(4 / 3 * reach, d, length / 9)
        inside = 1 - _chi2_cdf_complement(reach / 3, d, 4 * length / 9)
        return float((outside + inside) / 2)


def _chi2_cdf_complement(x: float, degrees: int, noncentrality: float) -> float:
    if noncentrality == 0:
        return float(stats.chi2.sf(x, degrees))
    return float(stats.ncx2.sf(x, degrees, noncentrality))


@dataclass(frozen=True)
class Xor(ClassMixture):
    """Four normal clouds at the corners of a square: class 1 where x₁ and x₂ have different signs.

    The centres are (±1, ±1), the noise N(0, spread² I); further columns are N(0, 1) and say nothing.
    No line, and no single stump, does better than a coin; the product x₁ x₂ is all that is needed.
    With p = Φ(-1/spread) the best rule, the sign of x₁ x₂, errs with probability 2p(1 - p).

    Parameters
    ----------
    spread : float, default=0.4
        Standard deviation of each cloud.
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

    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        X = random.standard_normal((n, self.n_features))
        first = random.choice([-1.0, 1.0], size=n)
        X[:, 0] = first + self.spread * X[:, 0]
        X[:, 1] = (1 - 2 * number) * first + self.spread * X[:, 1]
        return X

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        first, second = rows[:, 0] / self.spread**2, rows[:, 1] / self.spread**2
        return np.column_stack([_log_cosh(first + second), _log_cosh(first - second)])

    @property
    def bayes_error(self) -> float:
        crossed = float(stats.norm.cdf(-1 / self.spread))
        return 2 * crossed * (1 - crossed)


def make_twonorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `Twonorm`: two normal clouds, 2.3 % Bayes error."""
    return Twonorm(n_features).sample(n_samples, random_state)


def make_threenorm(
    n_samples: int = 300, n_features: int = 20, *, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `Threenorm`: one class of two normal clouds, one of one."""
    return Threenorm(n_features).sample(n_samples, random_state)


def make_ringnorm(
    n_samples: int = 300, n_features: int = 20, *, shift: float = 2.0, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `Ringnorm`: a small normal cloud inside a large one."""
    return Ringnorm(n_features, shift).sample(n_samples, random_state)


def make_xor(
    n_samples: int = 100, *, spread: float = 0.4, n_features: int = 2, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `Xor`: four clouds, opposite corners of one class."""
    return Xor(spread, n_features).sample(n_samples, random_state)
