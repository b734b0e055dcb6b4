"""Decompositions of the error of a learner into bias, variance and noise, row by row.

Each is called with the predictions of R fitted models, of shape (R, rows), and with weights of the models,
of shape (versions, R): equal weights, or the weights of bootstrap samples. It returns the parts at each
row, of shape (versions, rows). In all of them error = bias + variance + noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

Parts = dict[str, np.ndarray]


@dataclass(frozen=True)
class SquaredErrorDecomposition:
    """bias² = (E h - f)², variance = E (h - E h)², noise = Var(y | x); `mean` is f."""

    mean: np.ndarray
    noise: np.ndarray
    unbiased: bool

    name: ClassVar[str] = "squared error"
    formula: ClassVar[str] = "E(y - h)² = (E h - f)² + E(h - E h)² + Var(y | x)"

    def __call__(self, predictions: np.ndarray, weights: np.ndarray) -> Parts:
        # Deviations from f, to avoid cancellation if y is far from 0.
        deviation = predictions - self.mean
        mean_deviation = weights @ deviation
        variance = np.maximum(weights @ deviation**2 - mean_deviation**2, 0)
        bias, variance = _correct(mean_deviation**2, variance, predictions.shape[0], self.unbiased)
        noise = np.broadcast_to(self.noise, bias.shape)
        return {"bias": bias, "variance": variance, "noise": noise}


@dataclass(frozen=True)
class KohaviWolpertDecomposition:
    """bias² = ½ Σ (p_k - q_k)², variance = ½ (1 - Σ q_k²), noise = ½ (1 - Σ p_k²).

    p_k is the probability that y is k, and q_k the probability that a model predicts k.
    """

    probability: np.ndarray
    unbiased: bool

    name: ClassVar[str] = "0-1 loss, Kohavi and Wolpert"
    formula: ClassVar[str] = "P(y ≠ h) = ½Σ(p - q)² + ½(1 - Σq²) + ½(1 - Σp²)"

    def __call__(self, predictions: np.ndarray, weights: np.ndarray) -> Parts:
        p = self.probability
        q = class_shares(predictions, weights, p.shape[1])
        bias = ((p - q) ** 2).sum(axis=2) / 2
        # Rounding may make the sum of squares slightly larger than 1.
        variance = np.maximum(1 - (q**2).sum(axis=2), 0) / 2
        bias, variance = _correct(bias, variance, predictions.shape[0], self.unbiased)
        noise = np.broadcast_to(np.maximum(1 - (p**2).sum(axis=1), 0) / 2, bias.shape)
        return {"bias": bias, "variance": variance, "noise": noise}


@dataclass(frozen=True)
class DomingosDecomposition:
    """bias = 1 if the main (most frequent) prediction is not the most probable class, else 0.

    The variance of a row is the probability that a model deviates from the main prediction. It increases
    the error if the main prediction is right. If it is wrong, it decreases the error as far as the
    deviations are to the most probable class. Noise can turn an error into a correct prediction. "variance"
    and "noise" are these effects on the error, which add up for any number of classes. The rates are
    returned as well.
    """

    probability: np.ndarray

    name: ClassVar[str] = "0-1 loss, Domingos"
    formula: ClassVar[str] = "P(y ≠ h) = B + c₂V + c₁N,  c₂ = ±1 for two classes"

    def __call__(self, predictions: np.ndarray, weights: np.ndarray) -> Parts:
        p = self.probability
        q = class_shares(predictions, weights, p.shape[1])
        rows = np.arange(p.shape[0])
        best = p.argmax(axis=1)
        # Rounding makes shares equal that differ by rounding errors only; the first class wins a tie.
        main = np.round(q, 12).argmax(axis=2)
        q_best = q[:, rows, best]
        biased = main != best
        deviating = 1 - np.take_along_axis(q, main[:, :, None], axis=2)[:, :, 0]
        noise_rate = np.broadcast_to(1 - p[rows, best], biased.shape)
        # P(h = y, and neither is the most probable class): errors that noise makes correct.
        corrected = (p * q).sum(axis=2) - p[rows, best] * q_best
        return {
            "bias": biased.astype(float),
            "variance": np.where(biased, -q_best, deviating),
            "noise": q_best * noise_rate - corrected,
            "variance where the main prediction is right": np.where(biased, 0, deviating),
            "variance where it is wrong": np.where(biased, deviating, 0),
            "noise rate": noise_rate,
        }


def class_shares(predictions: np.ndarray, weights: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the weight of the models that predict each class: (versions, rows, classes)."""
    return np.stack([weights @ (predictions == k).astype(float) for k in range(n_classes)], axis=2)


def _correct(
    bias: np.ndarray, variance: np.ndarray, n_models: int, unbiased: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Correct bias² and variance for the finite number R of models.

    The squared error of the mean of R models is variance / R. The plain bias² contains it, and the plain
    variance lacks it. It is moved from one to the other, so that the sum does not change.
    """
    if not unbiased or n_models < 2:
        return bias, variance
    moved = variance / (n_models - 1)
    return bias - moved, variance + moved
