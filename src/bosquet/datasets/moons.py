"""Two interleaving half circles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from bosquet._parameters import check_value, number
from bosquet.datasets.generator import ClassMixture

if TYPE_CHECKING:
    from bosquet._types import Seed


# Maximum number of rows times quadrature points in memory at a time, 8 bytes each.
BLOCK_SIZE = 2_000_000


@dataclass(frozen=True)
class Moons(ClassMixture):
    r"""Two half circles with Gaussian noise.

    A row of class 0 is (cos t, sin t), one of class 1 is (1 - cos t, 1/2 - sin t), with t uniform
    on [0, π], plus N(0, noise² I). The density of a class is therefore a Gaussian averaged along
    its arc,

    .. math:: p_k(x) = \frac1\pi \int_0^\pi \frac{1}{2\pi\sigma^2}
              \exp\left(-\frac{\|x - c_k(t)\|^2}{2\sigma^2}\right) dt,

    which Gauss-Legendre quadrature computes to machine precision. The Bayes rule is therefore known. The
    classes are equally likely. In contrast, scikit-learn's `make_moons` puts equally spaced points on the
    arcs, half of them on each.

    Parameters
    ----------
    noise : float, default=0.3
        Standard deviation of the noise, at least 0.01. Without noise the classes would not overlap.

    Examples
    --------
    >>> from bosquet.datasets import Moons
    >>> moons = Moons(noise=0.3)
    >>> X, y = moons.sample(5000, random_state=0)
    >>> print(f"{moons.bayes_error:.4f}, in the sample {(moons.bayes_predict(X) != y).mean():.4f}")
    0.0855, in the sample 0.0788
    """

    noise: float = 0.3

    n_features = 2

    def __post_init__(self) -> None:
        check_value("noise", self.noise, number(0.01))

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        points = self._arc(number, rng.uniform(0, np.pi, size=n))
        return points + self.noise * rng.standard_normal((n, 2))

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        nodes, weights = self._quadrature
        at_once = max(1, BLOCK_SIZE // nodes.size)
        result = np.empty((rows.shape[0], 2))
        for start in range(0, rows.shape[0], at_once):
            block = rows[start : start + at_once]
            for moon in (0, 1):
                arc = self._arc(moon, nodes)
                distance = (block[:, :1] - arc[:, 0]) ** 2 + (block[:, 1:] - arc[:, 1]) ** 2
                result[start : start + at_once, moon] = logsumexp(
                    -distance / (2 * self.noise**2), axis=1, b=weights
                )
        return result

    @staticmethod
    def _arc(number: int, t: np.ndarray) -> np.ndarray:
        outer = np.column_stack([np.cos(t), np.sin(t)])
        # The inner arc is the outer arc rotated by 180 degrees about (1/2, 1/4).
        return outer if number == 0 else np.array([1, 0.5]) - outer

    @cached_property
    def _quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        # The integrand has a peak of width `noise`; the distance of the nodes must be smaller.
        nodes, weights = np.polynomial.legendre.leggauss(int(np.ceil(16 / self.noise)) + 32)
        return (nodes + 1) * np.pi / 2, weights / 2

    @cached_property
    def bayes_error(self) -> float:
        """½ ∫ min(p_0, p_1), as a sum over a grid with steps of noise / 4."""
        border, step = 7 * self.noise, self.noise / 4
        horizontal = np.arange(-1 - border, 2 + border, step)
        vertical = np.arange(-0.5 - border, 1 + border, step)
        grid = np.array(np.meshgrid(horizontal, vertical)).reshape(2, -1).T
        smaller = np.exp(self._log_densities(grid)).min(axis=1) / (2 * np.pi * self.noise**2)
        return float(smaller.sum() * step**2 / 2)


def make_moons(
    n_samples: int = 100, *, noise: float = 0.3, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Moons`: two half circles with Gaussian noise.

    Parameters
    ----------
    n_samples : int, default=100
        Number of rows.
    noise : float, default=0.3
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)

    Examples
    --------
    >>> from bosquet.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((200, 2), [0, 1])
    """
    return Moons(noise).sample(n_samples, random_state)
