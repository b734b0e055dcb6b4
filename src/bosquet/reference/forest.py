r"""Random forests of Breiman (2001).

Tree t is grown to full depth on a bag: rows drawn with replacement. At each node q of the p features are
drawn, and their best split (the largest reduction of the impurity) is taken. Extremely randomised trees
also draw the threshold of each feature at random. The vote of the forest is the mean of the votes of the
trees.

Random numbers are counter-based (see `draws`). The bag of a tree is determined by the key of the tree, and
the random numbers of a node by the key of the node, which depends only on the path from the root.
The out-of-bag errors are in `bagging`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.cart import IMPURITY, admissible_splits
from bosquet.reference.draws import WORD, hashed, mix

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def tree_key(seed: int, tree: int) -> int:
    """Return the key of the random numbers of a tree."""
    return (seed + (tree + 1) * 0x9E3779B97F4A7C15) & WORD


def bag(key: int, n_rows: int, draws: int) -> Counts:
    """Return how often each row is drawn in `draws` draws with replacement.

    >>> int(bag(key=1, n_rows=4, draws=8).sum())
    8
    """
    counts = np.zeros(n_rows, dtype=np.int64)
    for i in range(draws):
        counts[hashed(key, int.from_bytes(b"bag", "big"), i) * n_rows >> 64] += 1
    return counts


def shuffled_features(key: int, n_features: int) -> Iterator[int]:
    """Yield the features in random order (Fisher-Yates shuffle).

    >>> sorted(shuffled_features(key=1, n_features=5))
    [0, 1, 2, 3, 4]
    """
    features = list(range(n_features))
    for i in range(n_features):
        j = i + hashed(key, ord("f"), i) % (n_features - i)
        features[i], features[j] = features[j], features[i]
        yield features[i]


def random_threshold(x: Array, key: int, feature: int) -> float:
    """Return a threshold uniform between the smallest and the largest value."""
    draw = mix(hashed(key, int.from_bytes(b"cut", "big"), feature)) >> 11
    threshold = x.min() + draw / 2**53 * (x.max() - x.min())
    return float(threshold if threshold < x.max() else x.min())


@dataclass
class ForestNode:
    """A node with its vote: the class shares, or the mean target. A leaf has no feature."""

    vote: Array
    feature: int | None = None
    threshold: float = np.nan
    children: list[ForestNode] = field(default_factory=list)


def grow(
    X: Array,
    y: Array,
    counts: Counts,
    key: int,
    *,
    criterion: str,
    features_per_node: int,
    min_samples_leaf: int = 1,
    extremely_random: bool = False,
) -> ForestNode:
    """Grow a tree on a bag and return its root.

    If all drawn features of a node are constant in it, more are drawn until one is not.
    """
    impurity = IMPURITY[criterion]
    n_classes = int(y.max()) + 1 if criterion in ("gini", "entropy") else 0
    weights = counts.astype(float)

    def vote(rows: NDArray[np.int64]) -> Array:
        if n_classes:
            counted = np.bincount(y[rows].astype(int), weights[rows], minlength=n_classes)
            return counted / counted.sum()
        return np.array([np.average(y[rows], weights=weights[rows])])

    def grow_node(rows: NDArray[np.int64], key: int) -> ForestNode:
        node = ForestNode(vote(rows))
        if len(np.unique(y[rows])) == 1:
            return node
        lowest, before, any_varies = np.inf, impurity(y[rows], weights[rows]), False
        all_features = features_per_node >= X.shape[1]
        order = range(X.shape[1]) if all_features else shuffled_features(key, X.shape[1])
        for drawn, feature in enumerate(order):
            if drawn >= features_per_node and any_varies:
                break
            x = X[rows, feature]
            if x.min() == x.max():
                continue
            any_varies = True
            thresholds = [threshold for _, threshold, _ in admissible_splits(x, nominal=False)]
            if extremely_random:
                thresholds = [random_threshold(x, key, feature)]
            for threshold in thresholds:
                sides = rows[x <= threshold], rows[x > threshold]
                if min(map(len, sides)) < min_samples_leaf:
                    continue
                after = sum(impurity(y[side], weights[side]) for side in sides)
                # A difference of the size of rounding errors is not an improvement.
                if after < lowest - 1e-9 * before:
                    lowest, best_sides = after, sides
                    node.feature, node.threshold = feature, threshold
        if node.feature is not None:
            node.children = [grow_node(best_sides[side], hashed(key, side, 1)) for side in (0, 1)]
        return node

    return grow_node(np.flatnonzero(counts), mix(key))


def tree_votes(tree: ForestNode, X: Array) -> Array:
    """Return the votes of a tree: shape (rows, classes), or (rows, 1) for regression."""
    votes = []
    for row in X:
        node = tree
        while node.feature is not None:
            node = node.children[int(row[node.feature] > node.threshold)]
        votes.append(node.vote)
    return np.array(votes)


def hard_votes(votes: Array) -> Array:
    """Return 1 for the class with the largest share (the first one in a tie), 0 for the others."""
    return np.eye(votes.shape[-1])[votes.argmax(axis=-1)]
