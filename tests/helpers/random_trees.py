"""Trees with random splits that are grown until every leaf has one row, as in a forest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from handmade import Leaf, Node, Split


def random_split(
    X: np.ndarray, f: int, rng: np.random.Generator, levels: int, thresholds: np.ndarray | None
) -> tuple[Split, np.ndarray]:
    """A split on feature f, without children yet, and the rows that go left."""
    split = Split(f, Leaf(0.0), Leaf(0.0), missing_left=bool(rng.random() < 0.5))
    if levels:
        split.left_set = set(rng.choice(levels, levels // 2, replace=False).tolist())
        left = np.isin(X[:, f], list(split.left_set))
    else:
        split.threshold = float(np.nan_to_num(rng.choice(X[:, f])))
        if thresholds is not None:
            split.threshold = float(thresholds[np.abs(thresholds - split.threshold).argmin()])
        left = X[:, f] <= split.threshold
    return split, left | (np.isnan(X[:, f]) & split.missing_left)


def random_tree(
    X: np.ndarray,
    rng: np.random.Generator,
    leaf_value: Callable[[], float | tuple[float, ...]],
    categories: dict[int, int] | None = None,
    thresholds: np.ndarray | None = None,
) -> Node:
    """Return a tree that separates most rows of X; covers count rows.

    Thresholds are values of rows, or the nearest of `thresholds` to them.
    """
    for f in rng.permutation(X.shape[1]).tolist() if len(X) > 1 else []:
        split, left = random_split(X, f, rng, (categories or {}).get(f, 0), thresholds)
        if 0 < left.sum() < len(X):
            split.left = random_tree(X[left], rng, leaf_value, categories, thresholds)
            split.right = random_tree(X[~left], rng, leaf_value, categories, thresholds)
            split.gain, split.cover = float(np.float32(rng.random())), float(len(X))
            return split
    return Leaf(leaf_value(), float(len(X)))
