"""The probability of a high salary, given age and years of study."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from bosquet.datasets.generator import LabelledInputs

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Seed


@dataclass(frozen=True)
class Salaries(LabelledInputs):
    r"""High salaries (class 1), depending on age and years of study.

    The probability of class 1 is

    .. math:: \eta(x) = P(Y = 1 \mid \text{age}, \text{studies})
              = \max\left(\frac{\text{studies}}{20} - \frac{(\text{age} - 45)^2}{500},\ 0\right),

    cut off at 1. Age and studies are uniform and independent. The decision boundary of the Bayes rule, η =
    ½, is the parabola studies = 10 + (age - 45)² / 25.

    Parameters
    ----------
    ages : (float, float), default=(20, 70)
        Smallest and largest age.
    studies : (float, float), default=(0, 20)
        Minimum and maximum number of years of study.

    Examples
    --------
    >>> from bosquet.datasets import Salaries
    >>> salaries = Salaries()
    >>> salaries.bayes_predict([[45, 9], [45, 11], [25, 20]])
    array([0, 1, 0])
    >>> print(f"{salaries.bayes_error:.4f}")
    0.1542
    """

    ages: tuple[float, float] = (20, 70)
    studies: tuple[float, float] = (0, 20)

    n_features = 2

    def __post_init__(self) -> None:
        for name in ("ages", "studies"):
            span = np.asarray(getattr(self, name), dtype=float)
            if span.shape != (2,) or not np.isfinite(span).all() or not span[0] < span[1]:
                raise ValueError(
                    f"{name}={getattr(self, name)!r} is not valid: {name} must be two finite numbers, the"
                    " smaller one first"
                )

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return np.column_stack(
            [rng.uniform(*self.ages, size=n), rng.uniform(*self.studies, size=n)]
        )

    def probability(self, X: ArrayLike) -> np.ndarray:
        age, studies = self._check_rows(X).T
        high = np.clip(studies / 20 - (age - 45) ** 2 / 500, 0, 1)
        return np.column_stack([1 - high, high])

    def frontier(self, age: ArrayLike) -> np.ndarray:
        """Return the years of study above which a high salary is more likely than not, for each age."""
        return 10 + (np.asarray(age, dtype=float) - 45) ** 2 / 25

    @cached_property
    def bayes_error(self) -> float:
        """E[min(η, 1 - η)]: closed form for the integral over studies, Simpson's rule for that over age."""
        from scipy.integrate import simpson

        age = np.linspace(*self.ages, 20_001)
        low, high = (years / 20 - (age - 45) ** 2 / 500 for years in self.studies)
        span = (self.studies[1] - self.studies[0]) / 20
        inner = (_integral_of_smaller(high) - _integral_of_smaller(low)) / span
        return float(simpson(inner, x=age) / (self.ages[1] - self.ages[0]))


def _integral_of_smaller(v: np.ndarray) -> np.ndarray:
    """Return ∫ min(u, 1 - u) du from 0 to v, with v clipped to [0, 1]."""
    v = np.clip(v, 0, 1)
    return np.where(v < 0.5, v**2 / 2, 0.25 - (1 - v) ** 2 / 2)


def make_salaries(
    n_samples: int = 100, *, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Salaries`: columns age and years of study, class 1 for a high salary.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)

    Examples
    --------
    >>> from bosquet.datasets import make_salaries
    >>> X, y = make_salaries(1000, random_state=0)
    >>> print(f"share of high salaries: {y.mean():.2f}")
    share of high salaries: 0.23
    """
    return Salaries().sample(n_samples, random_state)
