"""Sure independence screening: the share of the target's variance that each column explains by itself."""

from __future__ import annotations

from typing import Any

import numpy as np

# A numeric target with more distinct values is a quantity; other targets are classes.
MAX_CLASSES = 20


def target_columns(y: Any) -> np.ndarray | None:
    """Return the target as centred columns of norm 1: one for numbers, one per class for classes."""
    if y is None:
        return None
    target = np.asarray(y)
    if target.dtype.kind in "biuf" and np.unique(target).size > MAX_CLASSES:
        table = np.asarray(target, dtype=float)[:, None]
    else:
        classes, codes = np.unique(target, return_inverse=True)
        table = np.eye(classes.size)[codes]
    table = table - table.mean(axis=0)
    length = np.sqrt((table**2).sum(axis=0))
    return table[:, length > 0] / length[length > 0]


def explained_by_columns(block: np.ndarray, targets: np.ndarray | None) -> np.ndarray:
    """Return the share of the targets' variance explained by each column; without targets, its variance."""
    centred = block - block.mean(axis=0)
    length = (centred**2).sum(axis=0)
    if targets is None:
        return length
    products = (targets.T @ centred) ** 2
    return np.divide(products.sum(axis=0), length, out=np.zeros(len(length)), where=length > 0)


def explained_by_levels(slot: np.ndarray, targets: np.ndarray | None, total: int) -> np.ndarray:
    """Return the same for one-hot encoded columns, computed from counts.

    `slot` is the column that is 1 in each row, or -1.
    """
    has_slot = slot >= 0
    columns, rows = slot[has_slot], len(slot)
    count = np.bincount(columns, minlength=total)
    length = count * (1 - count / rows)
    if targets is None:
        return length
    products = sum(
        np.bincount(columns, weights=target[has_slot], minlength=total) ** 2 for target in targets.T
    )
    return np.divide(products, length, out=np.zeros(total), where=length > 0)
