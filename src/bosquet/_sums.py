"""Sums over learners whose bits do not depend on how many rows are asked for at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np


def weighted_sum(weights: Iterable[Any], parts: Iterable[np.ndarray]) -> np.ndarray:
    """Return Σ weights[t] · parts[t], added in the order of t.

    A matrix product adds in an order that depends on its shape, so that a row's prediction would change
    in its last bits with the size of the batch.
    """
    terms = (weight * part for weight, part in zip(weights, parts, strict=True))
    total = next(terms)
    for term in terms:
        total += term
    return total
