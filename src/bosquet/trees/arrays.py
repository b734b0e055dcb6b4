"""TreeArrays: a grown tree as plain arrays, one entry a node."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from bosquet._lazy import cached_property
from bosquet.trees.node_splits import COMPETITOR, SURROGATE, NodeSplits

_TYPES = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "value": np.float64,
    "n_rows": np.int64,
    "weight": np.float64,
    "impurity": np.float64,
    "gain": np.float64,
}


@dataclass(eq=False)
class TreeArrays:
    """A binary tree in arrays. Node 0 is the root, and children stand behind their parent.

    Parameters
    ----------
    feature : int32 array of shape (nodes,)
        What a node asks about; -1 in a leaf.
    threshold : float64 array
        A row goes left if its value is at most this; NaN in a leaf and where categories decide.
    left, right : int32 arrays
        The children; -1 in a leaf.
    missing_left : bool array
        Whether a row goes left whose value is missing (and that no surrogate knows).
    left_categories : list
        For each node None, or the codes of the categories that go left; all others go right.
    value : float64 array of shape (nodes, outputs)
        Shares of the classes, under priors and weights if there are any; means for regression.
    n_rows : int64 array
        Training rows in the node.
    weight : float64 array
        Their weight, the number of rows where all weigh 1.
    impurity : float64 array
        Disorder of the node by the criterion that the tree was grown with, per unit of weight.
    gain : float64 array
        What the split took off the disorder.
    competitors : NodeSplits, or a list of dicts for each node
        For each node the splits that came next: `feature`, `threshold`, `left_categories`, `gain`.
    surrogates : NodeSplits, or a list of dicts for each node
        For each node splits on other features that send most rows the same way, best first:
        `feature`, `threshold`, `reversed` (at most the threshold goes right), `left_categories`,
        `agreement` (share of rows sent the same way).

    Examples
    --------
    >>> from bosquet.trees import TreeArrays
    >>> tree = TreeArrays(
    ...     feature=[0, -1, -1], threshold=[2.5, float("nan"), float("nan")],
    ...     left=[1, -1, -1], right=[2, -1, -1], missing_left=[True, False, False],
    ...     left_categories=[None] * 3, value=[[0.5, 0.5], [0.9, 0.1], [0.1, 0.9]],
    ...     n_rows=[20, 10, 10], weight=[20, 10, 10], impurity=[0.5, 0.18, 0.18],
    ...     gain=[0.32, 0, 0],
    ... )
    >>> tree
    TreeArrays(3 nodes, 2 leaves, depth 1)
    >>> tree.pruned_at([0])
    TreeArrays(1 nodes, 1 leaves, depth 0)
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    left_categories: list[Any]
    value: np.ndarray
    n_rows: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    competitors: NodeSplits = field(default_factory=list)  # type: ignore[assignment]
    surrogates: NodeSplits = field(default_factory=list)  # type: ignore[assignment]

    def __post_init__(self) -> None:
        for name, dtype in _TYPES.items():
            setattr(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        if self.value.ndim == 1:
            self.value = self.value[:, None]
        self.competitors = _node_splits(self.competitors, self.n_nodes, COMPETITOR)
        self.surrogates = _node_splits(self.surrogates, self.n_nodes, SURROGATE)
        self._check()

    def _check(self) -> None:
        if self.n_nodes == 0:
            raise ValueError("feature is empty: a tree has at least its root")
        for entry in fields(self):
            length = len(getattr(self, entry.name))
            if length != self.n_nodes:
                raise ValueError(f"{entry.name} has {length} entries for {self.n_nodes} nodes")
        if ((self.left < 0) != (self.right < 0)).any():
            node = int(np.flatnonzero((self.left < 0) != (self.right < 0))[0])
            raise ValueError(f"node {node} has one child; a node has two or none")
        inner = np.flatnonzero(self.left >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        if not np.array_equal(np.sort(children), np.arange(1, self.n_nodes)):
            raise ValueError("left and right must name every node but the root exactly once")
        behind = np.minimum(self.left[inner], self.right[inner]) > inner
        if not behind.all():
            raise ValueError(f"a child of node {inner[~behind][0]} stands before it")

    def __repr__(self) -> str:
        return f"TreeArrays({self.n_nodes} nodes, {self.n_leaves} leaves, depth {self.depth})"

    @property
    def n_nodes(self) -> int:
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        return int(np.count_nonzero(self.is_leaf))

    @property
    def n_outputs(self) -> int:
        return self.value.shape[1]

    @property
    def is_leaf(self) -> np.ndarray:
        """For each node whether it is a leaf."""
        return self.left < 0

    @property
    def leaf_ids(self) -> np.ndarray:
        """The numbers of the leaves, ascending."""
        return np.flatnonzero(self.is_leaf)

    @cached_property
    def parents(self) -> np.ndarray:
        """For each node the number of its parent; -1 for the root."""
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(self.left >= 0)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    @cached_property
    def depths(self) -> np.ndarray:
        """For each node the number of splits above it."""
        depths = [0] * self.n_nodes
        for node, parent in enumerate(self.parents.tolist()):
            if node:
                depths[node] = depths[parent] + 1
        return np.array(depths, dtype=np.int64)

    @property
    def depth(self) -> int:
        """Splits on the longest path."""
        return int(self.depths.max())

    @cached_property
    def branch_leaves(self) -> np.ndarray:
        """For each node the number of leaves at or below it."""
        counts = self.is_leaf.astype(np.int64).tolist()
        parents = self.parents.tolist()
        for node in range(self.n_nodes - 1, 0, -1):
            counts[parents[node]] += counts[node]
        return np.array(counts)

    def levels(self) -> list[np.ndarray]:
        """The nodes of each depth, from the root down."""
        order = np.argsort(self.depths, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depths))[:-1])

    def below(self, nodes: Iterable[int]) -> np.ndarray:
        """A mask of the nodes that stand below any of `nodes`, themselves not counted."""
        top = np.zeros(self.n_nodes, dtype=bool)
        top[_node_numbers(nodes, self.n_nodes)] = True
        cut, covered = top.tolist(), [False] * self.n_nodes
        for node, parent in enumerate(self.parents.tolist()):
            if node:
                covered[node] = cut[parent] or covered[parent]
        return np.array(covered)

    def pruned_at(self, nodes: Iterable[int]) -> TreeArrays:
        """The tree in which each of `nodes` is a leaf, with the remaining nodes renumbered.

        The numbers keep their order. `nodes` may hold leaves and nodes below other ones.
        """
        return self.subtree(~self.below(nodes))

    def subtree(self, keep: np.ndarray) -> TreeArrays:
        """The tree of the nodes in the mask `keep`, renumbered in their order.

        `keep` must hold the root, and of each node it holds both children or neither (which makes
        the node a leaf).
        """
        keep = np.asarray(keep, dtype=bool)
        if keep.shape != (self.n_nodes,):
            raise ValueError(f"keep has shape {keep.shape}, expected ({self.n_nodes},)")
        with_parent = keep[1:] & ~keep[self.parents[1:]]
        if not keep[0] or with_parent.any():
            node = 0 if not keep[0] else int(np.flatnonzero(with_parent)[0]) + 1
            raise ValueError(f"keep must hold the way from the root to each node; see node {node}")
        inner = np.flatnonzero(keep & (self.left >= 0))
        torn = inner[keep[self.left[inner]] != keep[self.right[inner]]]
        if torn.size:
            raise ValueError(
                f"keep holds one child of node {torn[0]}; it must hold both or neither"
            )
        kept = np.flatnonzero(keep)
        closed = np.zeros(self.n_nodes, dtype=bool)  # inner nodes that become leaves
        closed[inner[~keep[self.left[inner]]]] = True
        number = np.cumsum(keep) - 1

        def children(old: np.ndarray) -> np.ndarray:
            return np.where(closed | (old < 0), -1, number[old])[kept]

        return TreeArrays(
            feature=np.where(closed, -1, self.feature)[kept],
            threshold=np.where(closed, np.nan, self.threshold)[kept],
            left=children(self.left),
            right=children(self.right),
            missing_left=(self.missing_left & ~closed)[kept],
            left_categories=[
                None if shut else self.left_categories[node]
                for node, shut in zip(kept.tolist(), closed[kept].tolist(), strict=True)
            ],
            value=self.value[kept],
            n_rows=self.n_rows[kept],
            weight=self.weight[kept],
            impurity=self.impurity[kept],
            gain=np.where(closed, 0.0, self.gain)[kept],
            competitors=self.competitors.subset(kept, ~closed[kept]),
            surrogates=self.surrogates.subset(kept, ~closed[kept]),
        )


def class_shares(tree: TreeArrays, purpose: str) -> np.ndarray:
    """The values of a classification tree, or an error that says what wanted shares of classes."""
    shares = tree.value
    if shares.shape[1] < 2 or (shares < 0).any() or (np.abs(shares.sum(axis=1) - 1) > 1e-6).any():
        raise ValueError(
            f"{purpose} needs a tree of classes: value must hold shares of two or more classes that"
            " add up to 1 in each node"
        )
    return shares


def predicted_classes(tree: TreeArrays, cost_matrix: Any = None) -> np.ndarray:
    """The class each node decides for: the most frequent, or the least costly.

    Parameters
    ----------
    tree : TreeArrays of classes.
    cost_matrix : array of shape (classes, classes), optional
        What it costs to take a row of the class of the line for one of the class of the column.
    """
    shares = class_shares(tree, "a predicted class")
    if cost_matrix is None:
        return shares.argmax(axis=1)
    return (shares @ check_cost_matrix(cost_matrix, shares.shape[1])).argmin(axis=1)


def check_cost_matrix(cost_matrix: Any, n_classes: int) -> np.ndarray:
    """Costs as float64, or an error that says what is wrong with them."""
    costs = np.asarray(cost_matrix, dtype=float)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(f"cost_matrix has shape {costs.shape}, expected {(n_classes, n_classes)}")
    if not np.isfinite(costs).all() or (costs < 0).any():
        raise ValueError("cost_matrix must hold finite costs that are not negative")
    return costs


def _node_splits(given: Any, n_nodes: int, names: tuple[str, ...]) -> NodeSplits:
    """What was given as the competitors or surrogates of a tree; an empty list stands for none."""
    if isinstance(given, NodeSplits):
        return given
    return NodeSplits.from_lists(given or [[] for _ in range(n_nodes)], names)


def _node_numbers(nodes: Iterable[int], n_nodes: int) -> np.ndarray:
    numbers = np.asarray(list(nodes), dtype=np.int64)
    wrong = numbers[(numbers < 0) | (numbers >= n_nodes)]
    if wrong.size:
        raise ValueError(f"node {wrong[0]} is not in a tree of {n_nodes} nodes")
    return numbers
