"""Rows down a tree in NumPy: where a value is missing, surrogates are asked before the default."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.data import n_rows
from bosquet.trees.arrays import TreeArrays


def leaves_by_surrogates(tree: TreeArrays, columns: Any, categories: list[int]) -> np.ndarray:
    """The leaf of each row of encoded columns."""
    leaves = np.zeros(n_rows(columns), dtype=np.int32)
    waiting = [(0, np.arange(leaves.size))]
    while waiting:
        node, rows = waiting.pop()
        if tree.feature[node] < 0 or rows.size == 0:
            leaves[rows] = node
            continue
        rule = {
            "feature": tree.feature[node],
            "threshold": tree.threshold[node],
            "left_categories": tree.left_categories[node],
        }
        left, known = _sides(rule, columns, categories, rows)
        for surrogate in tree.surrogates[node]:
            if known.all():
                break
            open_rows = np.flatnonzero(~known)
            says, knows = _sides(surrogate, columns, categories, rows[open_rows])
            says ^= bool(surrogate.get("reversed", False))
            left[open_rows[knows]] = says[knows]
            known[open_rows[knows]] = True
        left[~known] = tree.missing_left[node]
        waiting.append((int(tree.left[node]), rows[left]))
        waiting.append((int(tree.right[node]), rows[~left]))
    return leaves


def _sides(
    rule: dict[str, Any], columns: Any, categories: list[int], rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which rows go left by a rule, and of which rows it knows the value."""
    feature = int(rule["feature"])
    values = (columns[feature] if isinstance(columns, list) else columns[:, feature])[rows]
    levels = categories[feature]
    if levels == 0:
        with np.errstate(invalid="ignore"):
            known = values == values
            return np.asarray(values <= rule["threshold"]), np.asarray(known)
    known = (values >= 0) & (values < levels)
    goes_left = np.zeros(levels + 1, dtype=bool)
    goes_left[list(rule["left_categories"])] = True
    return goes_left[np.where(known, values, levels).astype(np.intp)], known
