r"""Classification and regression trees (CART) of Breiman et al. (1984).

The impurity of a node (also called disorder) is a sum over its n rows. For regression it is the
inertia :math:`D = \sum (y - \bar y)^2`; for classification it is n times the Gini index
:math:`1 - \sum p_l^2` or n times the entropy, with :math:`p_l` the share of class l. A node is split by the
admissible split that reduces the impurity most. An ordered feature with m levels has m - 1 admissible
splits, a nominal one :math:`2^{m-1} - 1`. Here every one of them is tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def inertia(y: Array, w: Array) -> float:
    """Return the weighted sum of squared distances to the mean."""
    return float(np.sum(w * (y - np.average(y, weights=w)) ** 2))


def absolute_deviation(y: Array, w: Array) -> float:
    """Return the weighted sum of distances to the median, the smallest such sum to any value of y."""
    return min(float(np.sum(w * np.abs(y - m))) for m in np.unique(y))


def poisson(y: Array, w: Array) -> float:
    """Return half the Poisson deviance from the mean."""
    mean = np.average(y, weights=w)
    if mean <= 0:
        return np.inf
    ratio = np.where(y > 0, y / mean, 1.0)
    return float(np.sum(w * (y * np.log(ratio) - y + mean)))


def gini(y: Array, w: Array) -> float:
    """Return the total weight times the Gini index."""
    class_weight = np.bincount(y.astype(int), w)
    total = class_weight.sum()
    return float(total - np.sum(class_weight**2) / total)


def entropy(y: Array, w: Array) -> float:
    """Return the total weight times the entropy in bits."""
    class_weight = np.bincount(y.astype(int), w)
    class_weight = class_weight[class_weight > 0]
    return float(-np.sum(class_weight * np.log2(class_weight / class_weight.sum())))


IMPURITY = {
    "squared_error": inertia,
    "absolute_error": absolute_deviation,
    "poisson": poisson,
    "gini": gini,
    "entropy": entropy,
}


@dataclass
class CartNode:
    """A node of a tree; a leaf has no feature."""

    rows: NDArray[np.int64]
    impurity: float
    feature: int | None = None
    threshold: float = np.nan
    left_categories: frozenset[int] | None = None
    children: list[CartNode] = field(default_factory=list)


def admissible_splits(
    x: Array, nominal: bool
) -> Iterator[tuple[NDArray[np.bool_], float, frozenset[int]]]:
    """Yield every split of the values: the mask of the rows on the left, the threshold, the categories.

    The threshold is NaN for a nominal feature, and the categories are empty for an ordered one.
    """
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
) -> CartNode:
    """Grow a tree and return its root; the first feature and the first split win ties.

    `nominal` holds the indices of the nominal features. With several targets (columns of y), the impurity
    is the mean over the targets.
    """
    weights = np.ones(len(y)) if w is None else np.asarray(w, dtype=float)
    targets = y.reshape(len(y), -1)

    def impurity(rows: NDArray[np.int64]) -> float:
        impurities = [IMPURITY[criterion](target[rows], weights[rows]) for target in targets.T]
        return sum(impurities) / len(impurities)

    def grow_node(rows: NDArray[np.int64], depth: int) -> CartNode:
        node = CartNode(rows, impurity(rows))
        pure = len(np.unique(targets[rows], axis=0)) == 1
        if len(rows) < min_samples_split or depth == max_depth or pure:
            return node
        lowest = np.inf
        for feature in range(X.shape[1]):
            for left, threshold, group in admissible_splits(X[rows, feature], feature in nominal):
                if min(left.sum(), (~left).sum()) < min_samples_leaf:
                    continue
                after = impurity(rows[left]) + impurity(rows[~left])
                # A difference of the size of rounding errors is not an improvement.
                if after < lowest - 1e-9 * max(node.impurity, 1e-300):
                    lowest, sides = after, (rows[left], rows[~left])
                    node.feature, node.threshold = feature, threshold
                    node.left_categories = group if feature in nominal else None
        if node.feature is not None:
            node.children = [grow_node(side, depth + 1) for side in sides]
        return node

    return grow_node(np.arange(len(y)), 0)
