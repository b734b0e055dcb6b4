"""Comparison of the splits of two boosted models or trees, up to ties of the gain.

Sums in another order, or with weights instead of copies, differ in their last digits.
If two splits have the same gain these digits decide, and all later splits may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

TIE = 1e-4  # gains are stored in single precision, and with weights they are sums of rounded gradients


def trees_of(model: Any) -> list[dict[str, Any]]:
    """Return the trees of a fitted model as arrays."""
    if hasattr(model, "tree_"):
        tree = model.tree_
        names = ("feature", "threshold", "left", "right", "missing_left", "left_categories", "gain")
        return [{name: getattr(tree, name) for name in names}]
    terms = getattr(model, "_terms", getattr(model, "_vote", None))
    ensemble = model._ensemble if terms is None else terms.ensemble
    return [ensemble.tree_arrays(number) for number in range(ensemble.n_trees)]


def same_but_for_ties(
    model: Any, other: Any, places: Sequence[int] | None = None, *, independent: bool = False
) -> bool:
    """Return True if all splits are the same, False if they are the same up to a tie.

    Column j of `other` is column `places[j]` of `model`. Trees of a forest are `independent`: a tie in one
    does not affect the next. Raise an AssertionError if different splits have different gains.
    """
    ones, twos = trees_of(model), trees_of(other)
    rounding = 1e-7 * max(float(np.max(tree["gain"], initial=0.0)) for tree in [*ones, *twos])
    whole = True
    for number, (one, two) in enumerate(zip(ones, twos, strict=False)):
        if not _same_tree(one, two, places, number, rounding):
            whole = False
            if not independent:
                return False
    assert len(ones) == len(twos)
    return whole


def _same_tree(
    one: Any, two: Any, places: Sequence[int] | None, number: int, rounding: float
) -> bool:
    waiting = [(0, 0)]
    while waiting:
        a, b = waiting.pop()
        if one["left"][a] <= 0 and two["left"][b] <= 0:
            continue
        gains = [float(tree["gain"][at]) for tree, at in ((one, a), (two, b))]
        if not _same_split(one, a, two, b, places):
            tied = abs(gains[0] - gains[1]) <= TIE * max(gains) + rounding
            assert tied, f"tree {number}, nodes {a} and {b}: other splits, which gain {gains}"
            return False
        waiting += [(one[side][a], two[side][b]) for side in ("left", "right")]
    return True


def _same_split(one: Any, a: int, two: Any, b: int, places: Sequence[int] | None) -> bool:
    if one["left"][a] <= 0 or two["left"][b] <= 0:
        return False
    column = two["feature"][b] if places is None else places[two["feature"][b]]
    if one["feature"][a] != column or one["missing_left"][a] != two["missing_left"][b]:
        return False
    mine, theirs = one["left_categories"][a], two["left_categories"][b]
    if mine is not None or theirs is not None:
        return mine is not None and theirs is not None and set(mine) == set(theirs)
    return bool(one["threshold"][a] == two["threshold"][b])
