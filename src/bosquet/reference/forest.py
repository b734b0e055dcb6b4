r"""Random forests as the lecture has them: a bag for each tree, a few features at each node, a vote.

Tree t is grown to full depth on a bag of rows drawn with replacement. At each node q of the p
features are drawn, and of their splits the one that lowers disorder most is taken; extremely
randomised trees draw the threshold of each feature too. The forest's vote is the mean of the trees'.

Nothing is drawn from a sequence: the bag of a tree follows from its key, what is drawn at a node from
the key of the node, which follows from the way to it. `bagging` has the out-of-bag errors that
follow from bags and votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.cart import DISORDER, admissible
from bosquet.reference.draws import WORD, hashed, mix

Array = NDArray[np.float64]
Counts = NDArray[np.int64]


def key_of_tree(seed: int, tree: int) -> int:
    """What tree number `tree` draws by; the keys of a seed lie far apart."""
    return (seed + (tree + 1) * 0x9E3779B97F4A7C15) & WORD


def bag(key: int, rows: int, draws: int) -> Counts:
    """How often each row is drawn: `draws` times one of them, each with the same chance.

    >>> int(bag(key=1, rows=4, draws=8).sum())
    8
    """
    counts = np.zeros(rows, dtype=np.int64)
    for i in range(draws):
        counts[hashed(key, int.from_bytes(b"bag", "big"), i) * rows >> 64] += 1
    return counts


def shuffled(key: int, n_features: int) -> Iterator[int]:
    """The features in a random order, drawn one by one from those that are left.

    >>> sorted(shuffled(key=1, n_features=5))
    [0, 1, 2, 3, 4]
    """
    left = list(range(n_features))
    for i in range(n_features):
        j = i + hashed(key, ord("f"), i) % (n_features - i)
        left[i], left[j] = left[j], left[i]
        yield left[i]


def random_threshold(x: Array, key: int, feature: int) -> float:
    """Evenly between the least and the greatest value."""
    draw = mix(hashed(key, int.from_bytes(b"cut", "big"), feature)) >> 11
    threshold = x.min() + draw / 2**53 * (x.max() - x.min())
    return float(threshold if threshold < x.max() else x.min())


@dataclass
class Node:
    """A node with its vote: shares of classes, or a mean. Without a feature it is a leaf."""

    vote: Array
    feature: int | None = None
    threshold: float = np.nan
    children: list[Node] = field(default_factory=list)


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
) -> Node:
    """A tree on a bag. A feature that is constant in a node does not count if no other was found."""
    disorder = DISORDER[criterion]
    n_classes = int(y.max()) + 1 if criterion in ("gini", "entropy") else 0

    weights = counts.astype(float)

    def vote(rows: NDArray[np.int64]) -> Array:
        if n_classes:
            mass = np.bincount(y[rows].astype(int), weights[rows], minlength=n_classes)
            return mass / mass.sum()
        return np.array([np.average(y[rows], weights=weights[rows])])

    def at(rows: NDArray[np.int64], key: int) -> Node:
        node = Node(vote(rows))
        if len(np.unique(y[rows])) == 1:
            return node
        best, whole, any_varies = np.inf, disorder(y[rows], weights[rows]), False
        all_features = features_per_node >= X.shape[1]
        order = range(X.shape[1]) if all_features else shuffled(key, X.shape[1])
        for drawn, feature in enumerate(order):
            if drawn >= features_per_node and any_varies:
                break
            x = X[rows, feature]
            if x.min() == x.max():
                continue
            any_varies = True
            thresholds = [threshold for _, threshold, _ in admissible(x, nominal=False)]
            if extremely_random:
                thresholds = [random_threshold(x, key, feature)]
            for threshold in thresholds:
                sides = rows[x <= threshold], rows[x > threshold]
                if min(map(len, sides)) < min_samples_leaf:
                    continue
                after = sum(disorder(y[side], weights[side]) for side in sides)
                if after < best - 1e-9 * whole:  # sums in another order differ in their last digits
                    best, parts = after, sides
                    node.feature, node.threshold = feature, threshold
        if node.feature is not None:
            node.children = [at(parts[side], hashed(key, side, 1)) for side in (0, 1)]
        return node

    return at(np.flatnonzero(counts), mix(key))


def votes_of(tree: Node, X: Array) -> Array:
    """What a tree votes on each row: (rows, columns)."""
    found = []
    for row in X:
        node = tree
        while node.feature is not None:
            node = node.children[int(row[node.feature] > node.threshold)]
        found.append(node.vote)
    return np.array(found)


def hard(votes: Array) -> Array:
    """1 for the class of the largest share; of equal ones for the first."""
    return np.eye(votes.shape[-1])[votes.argmax(axis=-1)]
