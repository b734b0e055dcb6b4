"""Formulas that take the error of a learner apart, row by row.

Each takes what R fitted learners said, and weights of the learners (one row a version: first the
mean over all, then what a bootstrap draws), and returns the parts at each row of shape (versions,
rows). In every one of them error = bias + variance + noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

Parts = dict[str, np.ndarray]


@dataclass(frozen=True)
class SquaredError:
    """bias² = (E h - f)², variance = E (h - E h)², noise = Var(y | x)."""

    mean: np.ndarray
    noise: np.ndarray
    unbiased: bool

    name: ClassVar[str] = "squared error"
    formula: ClassVar[str] = "E(y - h)² = (E h - f)² + E(h - E h)² + Var(y | x)"

    def __call__(self, said: np.ndarray, weights: np.ndarray) -> Parts:
        # Measured from f, so that squares do not cancel when y lies far from 0.
        off = said - self.mean
        centre = weights @ off
        variance = np.maximum(weights @ off**2 - centre**2, 0)
        bias, variance = _shift(centre**2, variance, said.shape[0], self.unbiased)
        noise = np.broadcast_to(self.noise, bias.shape)
        return {"bias": bias, "variance": variance, "noise": noise}


@dataclass(frozen=True)
class KohaviWolpert:
    """bias² = ½ Σ (p_k - q_k)², variance = ½ (1 - Σ q_k²), noise = ½ (1 - Σ p_k²).

    p_k is the chance that y is k, q_k that a learner says k.
    """

    probability: np.ndarray
    unbiased: bool

    name: ClassVar[str] = "0-1 loss, Kohavi and Wolpert"
    formula: ClassVar[str] = "P(y ≠ h) = ½Σ(p - q)² + ½(1 - Σq²) + ½(1 - Σp²)"

    def __call__(self, said: np.ndarray, weights: np.ndarray) -> Parts:
        p = self.probability
        q = shares_of_classes(said, weights, p.shape[1])
        bias = ((p - q) ** 2).sum(axis=2) / 2
        # Shares add up to 1 but for rounding.
        variance = np.maximum(1 - (q**2).sum(axis=2), 0) / 2
        bias, variance = _shift(bias, variance, said.shape[0], self.unbiased)
        noise = np.broadcast_to(np.maximum(1 - (p**2).sum(axis=1), 0) / 2, bias.shape)
        return {"bias": bias, "variance": variance, "noise": noise}


@dataclass(frozen=True)
class Domingos:
    """bias = 1 where the main prediction is not the best one, variance = P(h is not the main one).

    Variance hurts where the main prediction is right and helps, as far as it leads to the best class,
    where it is wrong; noise turns some mistakes into hits. What is called variance and noise here
    are these effects, which add up for any number of classes; the plain rates are given besides.
    """

    probability: np.ndarray

    name: ClassVar[str] = "0-1 loss, Domingos"
    formula: ClassVar[str] = "P(y ≠ h) = B + c₂V + c₁N,  c₂ = ±1 for two classes"

    def __call__(self, said: np.ndarray, weights: np.ndarray) -> Parts:
        p = self.probability
        q = shares_of_classes(said, weights, p.shape[1])
        rows = np.arange(p.shape[0])
        best = p.argmax(axis=1)
        # Shares that are equal but for rounding are equal: the first class counts.
        main = np.round(q, 12).argmax(axis=2)
        says_best = q[:, rows, best]
        biased = main != best
        spread = 1 - np.take_along_axis(q, main[:, :, None], axis=2)[:, :, 0]
        noise_rate = np.broadcast_to(1 - p[rows, best], biased.shape)
        # P(h = y, and neither is the best class): the mistakes that noise turns into hits.
        lucky = (p * q).sum(axis=2) - p[rows, best] * says_best
        return {
            "bias": biased.astype(float),
            "variance": np.where(biased, -says_best, spread),
            "noise": says_best * noise_rate - lucky,
            "variance where the main prediction is right": np.where(biased, 0, spread),
            "variance where it is wrong": np.where(biased, spread, 0),
            "noise rate": noise_rate,
        }


def shares_of_classes(said: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """The weight of the learners that say each class, (versions, rows, classes)."""
    return np.stack([weights @ (said == k).astype(float) for k in range(n_classes)], axis=2)


def _shift(
    bias: np.ndarray, variance: np.ndarray, n_learners: int, unbiased: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Give the variance what R learners, rather than all there could be, put into the bias.

    The mean of R learners lies off their expectation by variance / R, which the plain bias² contains
    and the plain variance lacks. The sum stays as it is.
    """
    if not unbiased or n_learners < 2:
        return bias, variance
    moved = variance / (n_learners - 1)
    return bias - moved, variance + moved
