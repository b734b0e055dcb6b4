"""Upper bounds on the VC dimension of the learners that are boosted most: stumps and small trees."""

from __future__ import annotations

import math
from typing import Any


def vc_dim_of_stumps(n_features: int) -> float:
    """At most the largest v with C(v, v/2) <= 2 n_features; 2 on a line.

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


def vc_dim_of_trees(n_splits: int, n_features: int) -> float:
    """At most the largest v with 2^v <= 4^s (d v)^s 2^(s + 1), for s splits and d features.

    v points are labelled by a tree through its shape (fewer than 4^s), a feature and one of the v ways
    to cut its order at each split, and a label at each of the s + 1 leaves.

    >>> vc_dim_of_trees(7, 10)
    90.0
    """
    v = 1
    while v + 1 <= n_splits * (2 + math.log2(n_features * (v + 1))) + n_splits + 1:
        v += 1
    return float(v)


def vc_dim_of(tree: Any, n_features: int) -> float | None:
    """The bound for a tree estimator's limits, None where it may grow without any."""
    leaves = [2**tree.max_depth] if tree.max_depth is not None and tree.max_depth < 40 else []
    if getattr(tree, "max_leaf_nodes", None):
        leaves.append(tree.max_leaf_nodes)
    if getattr(tree, "max_nodes", None):
        leaves.append((tree.max_nodes + 1) // 2)
    if not leaves:
        return None
    splits = max(1, min(leaves) - 1)
    return vc_dim_of_stumps(n_features) if splits == 1 else vc_dim_of_trees(splits, n_features)
