"""Discriminant analysis by densities, as the formula has it: one row, one class, one kernel at a time."""

from __future__ import annotations

import math

import numpy as np


def kernel_density(x: np.ndarray, rows: np.ndarray, width: float, kernel: str) -> float:
    """The mean of kernels around the rows, at x."""
    p, total = len(x), 0.0
    for row in rows:
        if kernel == "gaussian":
            distance = sum((a - b) ** 2 for a, b in zip(x, row, strict=True))
            total += math.exp(-distance / (2 * width**2)) / (width * math.sqrt(2 * math.pi)) ** p
        else:
            distance = sum(abs(a - b) for a, b in zip(x, row, strict=True))
            total += math.exp(-distance / width) / (2 * width) ** p
    return total / len(rows)


def neighbour_densities(
    x: np.ndarray, rows: np.ndarray, classes: np.ndarray, n_classes: int, k: int
) -> list[float]:
    """k_c / (n_c V): of the k nearest rows those of class c, in the ball that holds them."""
    distances = [math.dist(x, row) for row in rows]
    nearest = sorted(range(len(rows)), key=distances.__getitem__)[:k]
    radius = distances[nearest[-1]]
    volume = math.pi ** (len(x) / 2) / math.gamma(len(x) / 2 + 1) * radius ** len(x)
    return [
        sum(classes[i] == c for i in nearest) / (sum(classes == c) * volume)
        for c in range(n_classes)
    ]


def posterior(densities: list[float], priors: np.ndarray) -> np.ndarray:
    """π_k d_k / Σ π_l d_l."""
    joint = np.array(densities) * priors
    return joint / joint.sum()
