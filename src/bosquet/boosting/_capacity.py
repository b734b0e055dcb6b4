"""Upper bounds on the VC dimension of the learners that are boosted most: stumps and small trees.

The one source: certificates and `bosquet.theory` have them from here.
"""

from __future__ import annotations

import math
from typing import Any

DEEPEST = 40  # levels whose leaves are counted: deeper trees are as good as unlimited


def vc_dim_of_stumps(n_features: int) -> float:
    """The largest v with C(v, v/2) <= 2 n_features; 2 on a line.

    To shatter v points a stump must cut off each of their C(v, floor(v/2)) subsets of that size. The
    order of the points along a feature has one such subset at either end, so that all features
    together cut off no more than 2 n_features of them.

    >>> vc_dim_of_stumps(1), vc_dim_of_stumps(10), vc_dim_of_stumps(1000)
    (2.0, 6.0, 13.0)
    """
    v = 1
    while math.comb(v + 1, (v + 1) // 2) <= 2 * n_features:
        v += 1
    return float(v)


def vc_dim_of_trees(n_splits: int, n_features: int, *, full: bool = False) -> float:
    """At most the largest v with 2^v <= S (d v)^s 2^(s + 1), for s splits and d features.

    v points are labelled by a tree through its shape, a feature and one of the v ways to cut its order at
    each split, and a label at each of the s + 1 leaves. There are S = C(2s, s) / (s + 1) shapes (Catalan's
    number), one if the tree is `full`. For one split it is the dimension of stumps.

    >>> vc_dim_of_trees(3, 10), vc_dim_of_trees(7, 10), vc_dim_of_trees(7, 10, full=True)
    (31.0, 84.0, 74.0)
    """
    if n_splits == 1:
        return vc_dim_of_stumps(n_features)
    shapes = 0.0
    if not full:
        shapes = math.lgamma(2 * n_splits + 1) - 2 * math.lgamma(n_splits + 1)
        shapes -= math.log(n_splits + 1)
    fixed = shapes / math.log(2) + n_splits * math.log2(n_features) + n_splits + 1

    def reaches(v: int) -> bool:
        return fixed + n_splits * math.log2(v) >= v

    low = n_splits + 1
    high = 2 * low
    while reaches(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reaches(middle) else (low, middle)
    return float(low)


def vc_dim_of(tree: Any, n_features: int) -> float | None:
    """The bound for a tree estimator's limits, the best of several; None where it may grow without any."""
    leaves = [tree.max_leaf_nodes] if getattr(tree, "max_leaf_nodes", None) else []
    if getattr(tree, "max_nodes", None):
        leaves.append((tree.max_nodes + 1) // 2)
    found = [vc_dim_of_trees(max(1, most - 1), n_features) for most in leaves]
    if tree.max_depth is not None and tree.max_depth < DEEPEST:
        found.append(vc_dim_of_trees(max(1, 2**tree.max_depth - 1), n_features, full=True))
    return min(found, default=None)
