"""Priors and costs: how they change the weight of a row, and the class of a leaf.

Under priors π a class counts by π_j instead of its share of the rows. A cost matrix C, where C[j, k]
is what it costs to take class j for class k, changes splits through altered priors (Breiman et al.
1984, 4.4): π_j Σ_k C[j, k], made to sum to one; and it changes the class of a leaf, which is the one
whose expected cost is least.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._sums import weighted_sum
from bosquet._warnings import warn_user


@dataclass
class ClassCosts:
    """Priors and costs of a fit, as factors of the rows' weights."""

    row_factor: np.ndarray  # by class: a row of the class counts this much when splitting
    share_factor: np.ndarray  # by class: from shares of weight to probabilities under the priors
    costs: np.ndarray | None

    def probabilities(self, shares: np.ndarray) -> np.ndarray:
        """Probabilities under the priors, from shares of weight in a node (nodes, classes)."""
        if (self.share_factor == self.share_factor[0]).all():
            return shares
        weighed = shares * self.share_factor
        return weighed / weighed.sum(axis=1, keepdims=True)

    def decide(self, probabilities: np.ndarray) -> np.ndarray:
        """The class of each row of probabilities: most probable, or least costly."""
        if self.costs is None:
            return probabilities.argmax(axis=1)
        return weighted_sum(self.costs, probabilities.T[:, :, None]).argmin(axis=1)


def class_costs(priors: Any, costs: Any, classes: np.ndarray, mass: np.ndarray) -> ClassCosts:
    """Check `priors` and `costs`; `mass` is the weight of each class in the training rows."""
    share = mass / mass.sum()
    prior = share if priors is None else _check_priors(priors, classes)
    matrix = None if costs is None else _check_costs(costs, classes)
    altered = prior if matrix is None else prior * matrix.sum(axis=1)
    altered = altered / altered.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        row_factor = np.where(mass > 0, altered / share, 0.0)
        share_factor = np.where(altered > 0, prior / altered, 0.0)
    if priors is None and matrix is None:
        row_factor = share_factor = np.ones(classes.size)
    return ClassCosts(row_factor, share_factor, matrix)


def _check_priors(priors: Any, classes: np.ndarray) -> np.ndarray:
    if isinstance(priors, dict):
        unknown = [label for label in priors if label not in classes]
        if unknown:
            raise ValueError(f"priors names the class {unknown[0]!r}, which y does not have")
        missing = [label for label in classes if label not in priors]
        if missing:
            raise ValueError(f"priors leaves out the class {missing[0]!r}")
        priors = [priors[label] for label in classes]
    prior = np.asarray(priors, dtype=float)
    if prior.shape != classes.shape:
        raise ValueError(f"priors has shape {prior.shape}, but y has {classes.size} classes")
    if not np.isfinite(prior).all() or (prior < 0).any() or not prior.any():
        raise ValueError(f"priors={priors!r} must be finite, not negative, and not all 0")
    total = prior.sum()
    if not np.isclose(total, 1, rtol=0, atol=1e-6):
        warn_user(f"priors sum to {total:g}; they are divided by it", UserWarning)
    return prior / total


def _check_costs(costs: Any, classes: np.ndarray) -> np.ndarray:
    matrix = np.asarray(costs, dtype=float)
    wanted = (classes.size, classes.size)
    if matrix.shape != wanted:
        raise ValueError(
            f"costs has shape {matrix.shape}, but must be {wanted}: true class by class"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite")
    if (matrix < 0).any():
        j, k = np.argwhere(matrix < 0)[0]
        raise ValueError(f"costs[{j}, {k}] is {matrix[j, k]:g}; a cost must not be negative")
    if np.diag(matrix).any():
        j = int(np.flatnonzero(np.diag(matrix))[0])
        raise ValueError(f"costs[{j}, {j}] is {matrix[j, j]:g}; a right answer costs nothing")
    if not (matrix.sum(axis=1) > 0).all():
        j = int(np.flatnonzero(matrix.sum(axis=1) == 0)[0])
        raise ValueError(f"costs says that taking class {classes[j]!r} for another costs nothing")
    return matrix
