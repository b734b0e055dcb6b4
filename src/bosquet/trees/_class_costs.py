"""Class priors and misclassification costs of classification trees.

With priors π, class j has the probability π_j instead of its relative frequency. In a cost matrix C, the
entry C[j, k] is the cost of predicting class k for a row of class j. Costs change the splits through
altered priors (Breiman et al. 1984, section 4.4): π_j Σ_k C[j, k], normalised to sum 1. They also change
the class of a leaf, which is the class of least expected cost.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._suggestions import first_names
from bosquet._sums import weighted_sum
from bosquet._warnings import warn_user

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass
class ClassCosts:
    """Priors and costs of a fit, as factors for row weights and class shares.

    Attributes
    ----------
    row_factor : factor for the weight of a row of each class, when the tree is grown.
    share_factor : factor for the share of each class in a node, which gives probabilities under the priors.
    costs : misclassification costs, or None.
    """

    row_factor: np.ndarray
    share_factor: np.ndarray
    costs: np.ndarray | None

    def probabilities(self, shares: np.ndarray) -> np.ndarray:
        """Return probabilities under the priors from the shares of weight in each node (nodes, classes)."""
        if (self.share_factor == self.share_factor[0]).all():
            return shares
        weighted = shares * self.share_factor
        return weighted / weighted.sum(axis=1, keepdims=True)

    def decide(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the predicted class for each row of probabilities: the most probable or least costly."""
        if self.costs is None:
            return probabilities.argmax(axis=1)
        return weighted_sum(self.costs, probabilities.T[:, :, None]).argmin(axis=1)


def class_costs(
    priors: ArrayLike | Mapping[Hashable, float] | None,
    costs: ArrayLike | None,
    classes: np.ndarray,
    mass: np.ndarray,
) -> ClassCosts:
    """Check `priors` and `costs` and return their factors; `mass` is the training weight per class."""
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


def _check_priors(
    priors: ArrayLike | Mapping[Hashable, float] | None, classes: np.ndarray
) -> np.ndarray:
    if isinstance(priors, dict):
        unknown = [label for label in priors if label not in classes]
        if unknown:
            raise ValueError(
                f"priors has the class {unknown[0]!r}, which is not in y; the classes are"
                f" {first_names(classes)}"
            )
        missing = [label for label in classes.tolist() if label not in priors]
        if missing:
            raise ValueError(
                f"priors has no entry for the class {missing[0]!r}; pass one per class"
            )
        priors = [priors[label] for label in classes]
    try:
        prior = np.asarray(priors, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"priors={priors!r} is not valid: priors must be one number >= 0 per class, as a list or as a"
            " dict"
        ) from error
    if prior.shape != classes.shape:
        raise ValueError(
            f"priors has shape {prior.shape}, but y has {classes.size} classes; pass one prior per class"
        )
    if not np.isfinite(prior).all() or (prior < 0).any() or not prior.any():
        raise ValueError(
            f"priors={priors!r} is not valid: priors must be finite and >= 0, with at least one > 0"
        )
    total = prior.sum()
    if not np.isclose(total, 1, rtol=0, atol=1e-6):
        warn_user(
            f"priors sum to {total:g} instead of 1; they are divided by their sum", UserWarning
        )
    return prior / total


def _check_costs(costs: ArrayLike | None, classes: np.ndarray) -> np.ndarray:
    try:
        matrix = np.asarray(costs, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"costs={costs!r} is not valid: costs must be a matrix of numbers, one row per true class and one"
            " column per predicted class"
        ) from error
    expected = (classes.size, classes.size)
    if matrix.shape != expected:
        raise ValueError(
            f"costs has shape {matrix.shape}, but must have shape {expected}: one row per true class and one"
            " column per predicted class"
        )
    if not np.isfinite(matrix).all():
        j, k = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"costs[{j}, {k}] is {matrix[j, k]:g}; costs must be finite and >= 0")
    if (matrix < 0).any():
        j, k = np.argwhere(matrix < 0)[0]
        raise ValueError(f"costs[{j}, {k}] is {matrix[j, k]:g}; costs must be >= 0")
    if np.diag(matrix).any():
        j = int(np.flatnonzero(np.diag(matrix))[0])
        raise ValueError(
            f"costs[{j}, {j}] is {matrix[j, j]:g}; the cost of a correct prediction must be 0"
        )
    if not (matrix.sum(axis=1) > 0).all():
        j = int(np.flatnonzero(matrix.sum(axis=1) == 0)[0])
        raise ValueError(
            f"all costs in row {j}, of class {classes.tolist()[j]!r}, are 0; at least one must be > 0"
        )
    return matrix
