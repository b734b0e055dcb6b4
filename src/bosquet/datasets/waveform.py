"""Mixtures of two of three waves, from the book on classification and regression trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from bosquet._parameters import check_value, integer
from bosquet.datasets.generator import ClassMixture

# Triangles of height 6 with their tips at the 11th, 15th and 7th of 21 points.
WAVES = np.array([np.maximum(6 - np.abs(np.arange(1, 22) - tip), 0) for tip in (11, 15, 7)], float)
PAIRS = ((0, 1), (0, 2), (1, 2))


@dataclass(frozen=True)
class Waveform(ClassMixture):
    r"""Three classes, each a random mixture of two of three triangular waves at 21 points.

    A row is u h_a + (1 - u) h_b + N(0, I) with u uniform on [0, 1]; the classes are the pairs
    (h₁, h₂), (h₁, h₃), (h₂, h₃). The density of a class is a normal one averaged along the segment
    between two waves. With D = |h_a - h_b| and t D² = (x - h_b)·(h_a - h_b),

    .. math:: p(x) \propto e^{-(|x - h_b|^2 - t^2 D^2)/2}\,
              \frac{\Phi(D(1 - t)) - \Phi(-D t)}{D}.

    All that matters lies in the plane through the three waves, so the error of the best rule is an
    integral over two variables: 13.3 %. The literature says "about 14 %", from simulations.

    Parameters
    ----------
    noise_features : int, default=0
        Further columns of N(0, 1) that say nothing; 19 make the variant of 40 columns.

    Examples
    --------
    >>> from bosquet.datasets import Waveform
    >>> waves = Waveform()
    >>> X, y = waves.sample(20_000, random_state=0)
    >>> print(f"{waves.bayes_error:.4f}, seen {(waves.bayes_predict(X) != y).mean():.4f}")
    0.1329, seen 0.1328

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

    def _inputs_of(self, number: int, n: int, random: np.random.Generator) -> np.ndarray:
        one, other = (WAVES[wave] for wave in PAIRS[number])
        share = random.random((n, 1))
        X = random.standard_normal((n, self.n_features))
        X[:, :21] += share * one + (1 - share) * other
        return X

    def _log_densities(self, rows: np.ndarray) -> np.ndarray:
        return _log_densities_by(rows[:, :21], WAVES)

    @cached_property
    def bayes_error(self) -> float:
        """1 - ⅓ ∫ max_k p_k, summed over a fine grid in the plane through the three waves."""
        first, second = WAVES[1] - WAVES[0], WAVES[2] - WAVES[0]
        axis = first / np.linalg.norm(first)
        across = second - (second @ axis) * axis
        plane = np.column_stack([axis, across / np.linalg.norm(across)])
        corners = (WAVES - WAVES[0]) @ plane
        step, reach = 0.05, 9.0
        sides = [np.arange(c.min() - reach, c.max() + reach, step) for c in corners.T]
        grid = np.array(np.meshgrid(*sides)).reshape(2, -1).T
        largest = np.exp(_log_densities_by(grid, corners).max(axis=1)) / (2 * np.pi)
        return float(1 - largest.sum() * step**2 / 3)


def _log_densities_by(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Log densities of the three classes, but for the normal constant, with waves at `ends`."""
    result = np.empty((points.shape[0], 3))
    for number, (a, b) in enumerate(PAIRS):
        segment, away = ends[a] - ends[b], points - ends[b]
        length = float(np.linalg.norm(segment))
        place = away @ segment / length**2
        below, above = -length * place, length * (1 - place)
        # Φ(above) - Φ(below), taken in the tail where both are small, so that nothing cancels.
        mirrored = below > 0
        low, high = np.where(mirrored, -above, below), np.where(mirrored, -below, above)
        larger, smaller = log_ndtr(high), log_ndtr(low)
        mass = larger + np.log1p(-np.exp(smaller - larger))
        across = (away**2).sum(axis=1) - (length * place) ** 2
        result[:, number] = -across / 2 + mass + np.log(np.sqrt(2 * np.pi) / length)
    return result


def make_waveform(
    n_samples: int = 300, *, noise_features: int = 0, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of `Waveform`: mixtures of two of three waves, three classes."""
    return Waveform(noise_features).sample(n_samples, random_state)
