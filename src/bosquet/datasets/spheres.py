"""Classes that depend on the distance from the origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._parameters import check_value, integer, number
from bosquet.datasets.generator import LabelledInputs, noisy_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Seed


@dataclass(frozen=True)
class NestedSpheres(LabelledInputs):
    """X ~ N(0, I); the class is the spherical shell around the origin that contains the row.

    The squared radii between the shells are quantiles of the chi-square distribution, so that the classes
    are equally likely. With probability `label_noise` a label is replaced by one of the others, which is
    the error of the Bayes rule.

    Parameters
    ----------
    n_features : int, default=10
    n_classes : int, default=2
    label_noise : float, default=0
        Below 1 - 1 / n_classes; at this value labels would be independent of X.

    Examples
    --------
    >>> from bosquet.datasets import NestedSpheres
    >>> shells = NestedSpheres(n_features=2, n_classes=3)
    >>> shells.bayes_predict([[0, 0.1], [1, 0.5], [2, 2]])
    array([0, 1, 2])
    """

    n_features: int = 10
    n_classes: int = 2
    label_noise: float = 0.0

    def __post_init__(self) -> None:
        check_value("n_features", self.n_features, integer(1))
        check_value("n_classes", self.n_classes, integer(2))
        check_label_noise(self.label_noise, self.n_classes)

    @property
    def classes(self) -> np.ndarray:
        return np.arange(self.n_classes)

    @property
    def thresholds(self) -> np.ndarray:
        """Squared radii between the shells."""
        from scipy.stats import chi2

        return chi2.ppf(np.arange(1, self.n_classes) / self.n_classes, self.n_features)

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((n, self.n_features))

    def probability(self, X: ArrayLike) -> np.ndarray:
        shell = np.searchsorted(
            self.thresholds, (self._check_rows(X) ** 2).sum(axis=1), side="left"
        )
        return noisy_labels(shell, self.n_classes, self.label_noise)

    @property
    def bayes_error(self) -> float:
        return float(self.label_noise)


@dataclass(frozen=True)
class ChiSquare(LabelledInputs):
    """Example 10.2 of *The Elements of Statistical Learning*: y = +1 if |X|² > 9.34, else -1.

    X has ten independent standard normal columns, and 9.34 is the median of the chi-square distribution
    with ten degrees of freedom. Labels have no noise.

    Parameters
    ----------
    threshold : float, default=9.34
    n_features : int, default=10

    Examples
    --------
    >>> from bosquet.datasets import ChiSquare
    >>> X, y = ChiSquare().sample(10_000, random_state=0)
    >>> bool((y == ChiSquare().bayes_predict(X)).all()), f"{(y == 1).mean():.2f}"
    (True, '0.50')
    """

    threshold: float = 9.34
    n_features: int = 10

    def __post_init__(self) -> None:
        check_value("threshold", self.threshold, number(0))
        check_value("n_features", self.n_features, integer(1))

    @property
    def classes(self) -> np.ndarray:
        return np.array([-1, 1])

    def _draw_inputs(self, n: int, rng: np.random.Generator) -> np.ndarray:
        return rng.standard_normal((n, self.n_features))

    def probability(self, X: ArrayLike) -> np.ndarray:
        outside = (self._check_rows(X) ** 2).sum(axis=1) > self.threshold
        return noisy_labels(outside.astype(int), 2, 0.0)

    @property
    def bayes_error(self) -> float:
        return 0.0


def check_label_noise(label_noise: float, n_classes: int) -> None:
    """Raise a ValueError unless `label_noise` is in [0, 1 - 1 / n_classes)."""
    check_value("label_noise", label_noise, number(0, 1 - 1 / n_classes, open_high=True))


def make_nested_spheres(
    n_samples: int = 100,
    n_features: int = 10,
    *,
    n_classes: int = 2,
    label_noise: float = 0.0,
    random_state: Seed | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `NestedSpheres`: classes are spherical shells around the origin.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    n_features : int, default=10
        Number of columns.
    n_classes : int, default=2
        Number of classes.
    label_noise : float, default=0.0
        Probability that a label is changed.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return NestedSpheres(n_features, n_classes, label_noise).sample(n_samples, random_state)


def make_hastie_10_2(
    n_samples: int = 12_000, *, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `ChiSquare`, with the labels -1 and +1; scikit-learn has a function of this name.

    Parameters
    ----------
    n_samples : int, default=12000
        Number of rows.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return ChiSquare().sample(n_samples, random_state)
