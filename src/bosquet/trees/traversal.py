"""Traversal of a tree with surrogate splits, in NumPy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.data import count_rows
from bosquet.trees.arrays import TreeArrays

if TYPE_CHECKING:
    from bosquet.data import Columns


def leaves_by_surrogates(tree: TreeArrays, columns: Columns, categories: list[int]) -> np.ndarray:
    """Return the leaf of each row of encoded columns.

    If the value of a split feature is missing, the surrogate splits of the node are tried in their order;
    if all of their values are missing too, the row takes the default branch of the node.
    """
    leaves = np.zeros(count_rows(columns), dtype=np.int32)
    stack = [(0, np.arange(leaves.size))]
    while stack:
        node, rows = stack.pop()
        if tree.feature[node] < 0 or rows.size == 0:
            leaves[rows] = node
            continue
        rule = {
            "feature": tree.feature[node],
            "threshold": tree.threshold[node],
            "left_categories": tree.left_categories[node],
        }
        left, is_decided = _evaluate_rule(rule, columns, categories, rows)
        for surrogate in tree.surrogates[node]:
            if is_decided.all():
                break
            undecided = np.flatnonzero(~is_decided)
            goes_left, has_value = _evaluate_rule(surrogate, columns, categories, rows[undecided])
            goes_left ^= bool(surrogate.get("reversed", False))
            left[undecided[has_value]] = goes_left[has_value]
            is_decided[undecided[has_value]] = True
        left[~is_decided] = tree.missing_left[node]
        stack.append((int(tree.left[node]), rows[left]))
        stack.append((int(tree.right[node]), rows[~left]))
    return leaves


def _evaluate_rule(
    rule: dict[str, Any], columns: Columns, categories: list[int], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows go left by a split rule, and which rows have a known value."""
    feature = int(rule["feature"])
    values = (columns[feature] if isinstance(columns, list) else columns[:, feature])[rows]
    levels = categories[feature]
    if levels == 0:
        with np.errstate(invalid="ignore"):
            has_value = values == values
            return np.asarray(values <= rule["threshold"]), np.asarray(has_value)
    has_value = (values >= 0) & (values < levels)
    goes_left = np.zeros(levels + 1, dtype=bool)
    goes_left[list(rule["left_categories"])] = True
    return goes_left[np.where(has_value, values, levels).astype(np.intp)], has_value
