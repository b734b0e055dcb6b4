"""The tree that the report draws: the chosen model if it is a tree, else a surrogate tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.explain import surrogate_tree
from bosquet.study.record import TreeNode
from bosquet.study.table.frames import take
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.trees.export import split_table

MAX_ROWS = 10_000
LEAVES = 12
MAX_LEAVES = 200
WIDE = 200


def tree_to_draw(
    model: Any, X: Any, y: np.ndarray, *, important: list[str], seed: int
) -> tuple[TreeNode | None, str]:
    """Return the tree and its title; the title of a surrogate tree has its fidelity."""
    if isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor):
        n = model.get_n_leaves()
        tree = model.tree_
        title = f"The chosen tree, {n} {'leaf' if n == 1 else 'leaves'}"
        if n > MAX_LEAVES:
            tree = _upper_levels(model)
            title += f", shown to depth {int(tree.depth)}"
        return node_of(tree, _split_texts(model, tree)), title
    return _surrogate_tree(model, X, y, important, seed)


def _surrogate_tree(
    model: Any, X: Any, y: np.ndarray, important: list[str], seed: int
) -> tuple[TreeNode | None, str]:
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:MAX_ROWS])
    sample = take(X, rows)
    predictor: Any = model
    # A small tree uses few columns, so only the most important ones are searched.
    if X.shape[1] > WIDE:
        predictions = np.asarray(model.predict(sample))
        sample = sample[[name for name in important if name in sample.columns][:WIDE]]
        predictor = _StoredPredictions(predictions, sample, model)
    try:
        surrogate = surrogate_tree(predictor, sample, max_leaf_nodes=LEAVES, random_state=seed)
    except ValueError:
        return None, "The model predicts the same value for every row: there is no tree to draw."
    fidelity = f"R² {surrogate.fidelity:.2f} with its predictions for"
    if hasattr(model, "classes_"):
        fidelity = f"the same class for {surrogate.fidelity:.0%} of"
    leaves = surrogate.tree.get_n_leaves()
    title = (
        f"A surrogate tree of {leaves} leaves that approximates the model: {fidelity} unseen rows"
    )
    return node_of(surrogate.tree.tree_, _split_texts(surrogate.tree, surrogate.tree.tree_)), title


class _StoredPredictions:
    """The predictions of a model, looked up by the row labels of a table with fewer columns."""

    def __init__(self, predictions: np.ndarray, table: Any, model: Any):
        self.by_label = dict(zip(table.index, predictions, strict=True))
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, table: Any) -> np.ndarray:
        return np.array([self.by_label[label] for label in table.index])


def _upper_levels(model: Any) -> Any:
    """Return the upper levels of a tree that is too large to draw."""
    tree = model.tree_
    depth = 1
    while np.count_nonzero(tree.depths <= depth + 1) < 2 * MAX_LEAVES and depth < tree.depth:
        depth += 1
    return tree.prune_at(np.flatnonzero(tree.depths == depth))


def _split_texts(model: Any, tree: Any) -> dict[int, str]:
    """Return the split rule of each inner node as text."""
    names = model.export_options()
    table = split_table(tree, names["feature_names"], names["categories"])
    return {row["node"]: row["goes_left"] for row in table if row["kind"] == "split"}


def node_of(tree: Any, rules: dict[int, str]) -> TreeNode:
    """Return the root of a tree as nested nodes."""
    nodes: list[TreeNode] = [
        {
            "id": node,
            "rule": rules.get(node, ""),
            "n": int(tree.n_rows[node]),
            "value": [float(value) for value in tree.value[node]],
            "children": [],
        }
        for node in range(tree.n_nodes)
    ]
    for node in range(tree.n_nodes):
        if tree.left[node] >= 0:
            nodes[node]["children"] = [nodes[int(tree.left[node])], nodes[int(tree.right[node])]]
    return nodes[0]
