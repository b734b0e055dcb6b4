r"""Classification and regression trees as the lecture has them.

A node's *disorder* is, for numbers, the inertia :math:`D = \sum (y - \bar y)^2`, and for classes
n times Gini's index :math:`1 - \sum p_l^2` or n times the entropy. The split of a node is the one
of all admissible splits that lowers disorder most. An ordered feature with m levels admits m - 1
splits, a nominal one :math:`2^{m-1} - 1`: here every one of them is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def inertia(y: Array, w: Array) -> float:
    """Weighted sum of squared distances to the mean."""
    return float(np.sum(w * (y - np.average(y, weights=w)) ** 2))


def distances(y: Array, w: Array) -> float:
    """Weighted sum of distances to the median, which is the least there is: at some y."""
    return min(float(np.sum(w * np.abs(y - m))) for m in np.unique(y))


def poisson(y: Array, w: Array) -> float:
    """Half the Poisson deviance from the mean."""
    mean = np.average(y, weights=w)
    if mean <= 0:
        return np.inf
    ratio = np.where(y > 0, y / mean, 1.0)
    return float(np.sum(w * (y * np.log(ratio) - y + mean)))


def gini(y: Array, w: Array) -> float:
    """Weight times Gini's index."""
    mass = np.bincount(y.astype(int), w)
    return float(mass.sum() - np.sum(mass**2) / mass.sum())


def entropy(y: Array, w: Array) -> float:
    """Weight times the entropy in bits."""
    mass = np.bincount(y.astype(int), w)
    mass = mass[mass > 0]
    return float(-np.sum(mass * np.log2(mass / mass.sum())))


DISORDER = {
    "squared_error": inertia,
    "absolute_error": distances,
    "poisson": poisson,
    "gini": gini,
    "entropy": entropy,
}


@dataclass
class Node:
    """A node of the tree; without a feature it is a leaf."""

    rows: NDArray[np.int64]
    disorder: float
    feature: int | None = None
    threshold: float = np.nan
    left_categories: frozenset[int] | None = None
    children: list[Node] = field(default_factory=list)


def admissible(
    x: Array, nominal: bool
) -> Iterator[tuple[NDArray[np.bool_], float, frozenset[int]]]:
    """Every way to part the values in two: who goes left, the threshold or the categories."""
    values = np.unique(x)
    if not nominal:
        for low, high in pairwise(values):
            yield x <= low, low / 2 + high / 2, frozenset()
        return
    for group in range(1, 2 ** (len(values) - 1)):
        chosen = [v for i, v in enumerate(values) if group >> i & 1]
        yield np.isin(x, chosen), np.nan, frozenset(int(v) for v in chosen)


def grow(
    X: Array,
    y: Array,
    w: Array | None = None,
    *,
    criterion: str = "squared_error",
    nominal: tuple[int, ...] = (),
    min_samples_leaf: int = 1,
    min_samples_split: int = 2,
    max_depth: int | None = None,
) -> Node:
    """The full tree, split by split; ties go to the first feature and the first split found.

    With several targets, the columns of y, disorder is the mean over them.
    """
    weights = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    targets = y.reshape(len(y), -1)

    def disorder(rows: NDArray[np.int64]) -> float:
        each = [DISORDER[criterion](target[rows], weights[rows]) for target in targets.T]
        return sum(each) / len(each)

    def at(rows: NDArray[np.int64], depth: int) -> Node:
        node = Node(rows, disorder(rows))
        pure = len(np.unique(targets[rows], axis=0)) == 1
        if len(rows) < min_samples_split or depth == max_depth or pure:
            return node
        best = np.inf
        for feature in range(X.shape[1]):
            for left, threshold, group in admissible(X[rows, feature], feature in nominal):
                if min(left.sum(), (~left).sum()) < min_samples_leaf:
                    continue
                after = disorder(rows[left]) + disorder(rows[~left])
                # Sums in another order differ in their last digits: that is no improvement.
                if after < best - 1e-9 * max(node.disorder, 1e-300):
                    best, sides = after, (rows[left], rows[~left])
                    node.feature, node.threshold = feature, threshold
                    node.left_categories = group if feature in nominal else None
        if node.feature is not None:
            node.children = [at(side, depth + 1) for side in sides]
        return node

    return at(np.arange(len(y)), 0)
