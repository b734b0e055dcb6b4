"""Discriminant analysis with densities estimated by kernels or by nearest neighbours.

A row x is assigned to the class k with the largest posterior probability, proportional to π_k d_k(x): the
prior of the class times its density at x.
"""

from __future__ import annotations

import math

import numpy as np


def kernel_density(x: np.ndarray, rows: np.ndarray, width: float, kernel: str) -> float:
    """Return the kernel density estimate at x: the mean over the rows of a kernel centred at each.

    The kernel is Gaussian with standard deviation `width`, or a product of Laplace kernels.
    """
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
    """Return k_c / (n_c V) for each class c.

    k_c of the k nearest rows belong to class c, n_c is the size of the class, and V is the volume of the
    smallest ball around x that contains the k rows.
    """
    distances = [math.dist(x, row) for row in rows]
    nearest = sorted(range(len(rows)), key=distances.__getitem__)[:k]
    radius = distances[nearest[-1]]
    volume = math.pi ** (len(x) / 2) / math.gamma(len(x) / 2 + 1) * radius ** len(x)
    return [
        sum(classes[i] == c for i in nearest) / (sum(classes == c) * volume)
        for c in range(n_classes)
    ]


def posterior(densities: list[float], priors: np.ndarray) -> np.ndarray:
    """Return the posterior probabilities π_k d_k / Σ_l π_l d_l."""
    joint = np.array(densities) * priors
    return joint / joint.sum()
