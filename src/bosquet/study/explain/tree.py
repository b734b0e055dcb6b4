"""A tree to draw: the winner's own if it is one, or a small one that imitates it."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.study.record import TreeNode
from bosquet.study.table.frames import take
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

MOST_ROWS = 10_000
LEAVES = 12
MOST_LEAVES = 200
WIDE = 200


def tree_shown(
    model: Any, X: Any, y: np.ndarray, *, important: list[str], seed: int
) -> tuple[TreeNode | None, str]:
    """The tree and a title that says whose it is; with an imitation, how nearly it says the same."""
    if isinstance(model, DecisionTreeClassifier | DecisionTreeRegressor):
        n = model.get_n_leaves()
        tree = model.tree_
        title = f"The chosen tree, {n} {'leaf' if n == 1 else 'leaves'}"
        if n > MOST_LEAVES:
            tree = _crown(model)
            title += f", shown to depth {int(tree.depth)}"
        return node_of(tree, _rules(model, tree)), title
    return _imitation(model, X, y, important, seed)


def _imitation(
    model: Any, X: Any, y: np.ndarray, important: list[str], seed: int
) -> tuple[TreeNode | None, str]:
    from bosquet.explain import surrogate_tree

    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS])
    some = take(X, rows)
    asked: Any = model
    if X.shape[1] > WIDE:  # a tree of a few leaves uses few columns; most are not worth the search
        said = np.asarray(model.predict(some))
        some = some[[name for name in important if name in some.columns][:WIDE]]
        asked = _Said(said, some, model)
    try:
        found = surrogate_tree(asked, some, max_leaf_nodes=LEAVES, random_state=seed)
    except ValueError:
        return None, "The model says the same of every row: there is no tree to draw."
    told = f"R² {found.fidelity:.2f} with what it says"
    if hasattr(model, "classes_"):
        told = f"the same class on {found.fidelity:.0%}"
    leaves = found.tree.get_n_leaves()
    title = f"A tree of {leaves} leaves that imitates the model: {told} of rows it has not seen"
    return node_of(found.tree.tree_, _rules(found.tree, found.tree.tree_)), title


class _Said:
    """What a model said of a table, looked up by the rows of a narrower one."""

    def __init__(self, said: np.ndarray, table: Any, model: Any):
        self.said = dict(zip(table.index, said, strict=True))
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, table: Any) -> np.ndarray:
        return np.array([self.said[label] for label in table.index])


def _crown(model: Any) -> Any:
    """The upper part of a tree that is too large to draw."""
    tree = model.tree_
    depth = 1
    while np.count_nonzero(tree.depths <= depth + 1) < 2 * MOST_LEAVES and depth < tree.depth:
        depth += 1
    return tree.pruned_at(np.flatnonzero(tree.depths == depth))


def _rules(model: Any, tree: Any) -> dict[int, str]:
    """The question of each inner node, in words."""
    from bosquet.trees.reading import split_table

    words = model._reading()
    table = split_table(tree, words["feature_names"], words["categories"])
    return {one["node"]: one["goes_left"] for one in table if one["kind"] == "split"}


def node_of(tree: Any, rules: dict[int, str]) -> TreeNode:
    """The nodes of a tree, each inside its parent."""
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
