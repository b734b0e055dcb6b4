"""Noisy mixtures of triangular waves (Breiman et al., *Classification and Regression Trees*)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import log_ndtr

from bosquet._parameters import check_value, integer
from bosquet.datasets.generator import ClassMixture

if TYPE_CHECKING:
    from bosquet._types import Seed


# Triangles of height 6 with their maxima at the 11th, 15th and 7th of 21 points.
WAVES = np.array([np.maximum(6 - np.abs(np.arange(1, 22) - top), 0) for top in (11, 15, 7)], float)
PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Waveform(ClassMixture):
    r"""Three classes, each a random mixture of two of three triangular waves at 21 points.

    A row is u h_a + (1 - u) h_b + N(0, I) with u uniform on [0, 1]; the classes are the pairs (h₁, h₂),
    (h₁, h₃), (h₂, h₃). The density of a class is the average of normal densities with means on the segment
    between two waves. With D = |h_a - h_b| and t D² = (x - h_b)·(h_a - h_b),

    .. math:: p(x) \propto e^{-(|x - h_b|^2 - t^2 D^2)/2}\,
              \frac{\Phi(D(1 - t)) - \Phi(-D t)}{D}.

    The class probabilities only depend on the projection onto the plane through the three waves. The error
    of the Bayes rule is therefore an integral over two variables: 13.3 %. The literature gives "about 14
    %", from simulations.

    Parameters
    ----------
    noise_features : int, default=0
        Number of additional columns of N(0, 1) noise; 19 gives the variant with 40 columns.

    Examples
    --------
    >>> from bosquet.datasets import Waveform
    >>> waves = Waveform()
    >>> X, y = waves.sample(20_000, random_state=0)
    >>> print(f"{waves.bayes_error:.4f}, in the sample {(waves.bayes_predict(X) != y).mean():.4f}")
    0.1329, in the sample 0.1328

    References
    ----------
    Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984, section 2.6.2.
    """

    noise_features: int = 0

    def __post_init__(self) -> None:
        check_value("noise_features", self.noise_features, integer(0))

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return 21 + self.noise_features

    @property
    def classes(self) -> np.ndarray:
        return np.arange(3)

    def _draw_inputs_of(self, number: int, n: int, rng: np.random.Generator) -> np.ndarray:
        first, second = (WAVES[wave] for wave in PAIRS[number])
        share = rng.random((n, 1))
        X = rng.standard_normal((n, self.n_features))
        X[:, :21] += share * first + (1 - share) * second
        return X

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        return _log_densities_by(rows[:, :21], WAVES)

    @cached_property
    def bayes_error(self) -> float:
        """1 - ⅓ ∫ max_k p_k, as a sum over a fine grid in the plane through the three waves."""
        first, second = WAVES[1] - WAVES[0], WAVES[2] - WAVES[0]
        axis = first / np.linalg.norm(first)
        orthogonal = second - (second @ axis) * axis
        plane = np.column_stack([axis, orthogonal / np.linalg.norm(orthogonal)])
        corners = (WAVES - WAVES[0]) @ plane
        step, border = 0.05, 9.0
        sides = [np.arange(c.min() - border, c.max() + border, step) for c in corners.T]
        grid = np.array(np.meshgrid(*sides)).reshape(2, -1).T
        largest = np.exp(_log_densities_by(grid, corners).max(axis=1)) / (2 * np.pi)
        return float(1 - largest.sum() * step**2 / 3)


def _log_densities_by(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the log-densities of the three classes without the normal constant, for waves at `ends`."""
    result = np.empty((points.shape[0], 3))
    for number, (a, b) in enumerate(PAIRS):
        segment, difference = ends[a] - ends[b], points - ends[b]
        length = float(np.linalg.norm(segment))
        t = difference @ segment / length**2
        below, above = -length * t, length * (1 - t)
        # Compute Φ(above) - Φ(below) in the tail where both are small, to avoid cancellation.
        mirrored = below > 0
        low, high = np.where(mirrored, -above, below), np.where(mirrored, -below, above)
        larger, smaller = log_ndtr(high), log_ndtr(low)
        log_mass = larger + np.log1p(-np.exp(smaller - larger))
        squared_distance = (difference**2).sum(axis=1) - (length * t) ** 2
        result[:, number] = -squared_distance / 2 + log_mass + np.log(np.sqrt(2 * np.pi) / length)
    return result


def make_waveform(
    n_samples: int = 300, *, noise_features: int = 0, random_state: Seed | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Draw rows from `Waveform`: three classes, mixtures of two of three waves.

    Parameters
    ----------
    n_samples : int, default=300
        Number of rows.
    noise_features : int, default=0
        Number of additional columns of N(0, 1) noise.
    random_state : int, RandomState, Generator or None, default=None
        Random seed. The same seed gives the same rows.

    Returns
    -------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    """
    return Waveform(noise_features).sample(n_samples, random_state)
