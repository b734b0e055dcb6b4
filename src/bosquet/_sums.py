"""Sums over learners whose bits do not depend on the number of rows in a batch."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np


def weighted_sum(
    weights: Iterable[float | np.ndarray], summands: Iterable[np.ndarray]
) -> np.ndarray:
    """Return Σ weights[t] · summands[t], added in the order of t.

    A matrix product adds in an order that depends on its shape. The last bits of the prediction for a row
    would then change with the size of the batch.
    """
    terms = (weight * summand for weight, summand in zip(weights, summands, strict=True))
    total = next(terms)
    for term in terms:
        total += term
    return total
