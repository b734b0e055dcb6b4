"""TreeArrays: a grown tree as arrays with one entry per node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._lazy import cached_property
from bosquet.trees.node_splits import COMPETITOR, SURROGATE, NodeSplits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


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
    """A binary tree as arrays. Node 0 is the root, and children have larger numbers than their parent.

    Parameters
    ----------
    feature : int32 array of shape (nodes,)
        Feature that the node splits on; -1 in a leaf.
    threshold : float64 array
        A row goes left if its value is <= the threshold; NaN in a leaf and for splits on categories.
    left, right : int32 arrays
        Numbers of the children; -1 in a leaf.
    missing_left : bool array
        Whether a row with a missing value goes left (if no surrogate split applies).
    left_categories : list
        For each node None, or the codes of the categories that go left; all others go right.
    value : float64 array of shape (nodes, outputs)
        Class shares, adjusted for priors and weights; means for regression.
    n_rows : int64 array
        Number of training rows in the node.
    weight : float64 array
        Weight of these rows; equal to `n_rows` without sample weights.
    impurity : float64 array
        Impurity of the node by the criterion that the tree was grown with, per unit of weight.
    gain : float64 array
        Decrease of impurity by the split.
    competitors : NodeSplits, or a list of dicts for each node
        For each node the next best splits: `feature`, `threshold`, `left_categories`, `gain`.
    surrogates : NodeSplits, or a list of dicts for each node
        For each node splits on other features that send most rows to the same side, best first:
        `feature`, `threshold`, `reversed` (values <= the threshold go right), `left_categories`,
        `agreement` (fraction of rows sent to the same side).

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
    >>> tree.prune_at([0])
    TreeArrays(1 nodes, 1 leaves, depth 0)
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    left_categories: list[list[int] | None]
    value: np.ndarray
    n_rows: np.ndarray
    weight: np.ndarray
    impurity: np.ndarray
    gain: np.ndarray
    competitors: NodeSplits = field(default_factory=list)  # type: ignore[assignment]
    surrogates: NodeSplits = field(default_factory=list)  # type: ignore[assignment]

    @classmethod
    def from_core(cls, arrays: Mapping[str, Any], **other_fields: Any) -> TreeArrays:
        """Return the tree from `Ensemble.tree_arrays`; `other_fields` are not taken from it."""
        names = ("feature", "threshold", "left", "right", "missing_left", "left_categories", "gain")
        return cls(**{name: arrays[name] for name in names}, **other_fields)

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
            raise ValueError("feature is empty; a tree needs at least a root node")
        for entry in fields(self):
            length = len(getattr(self, entry.name))
            if length != self.n_nodes:
                raise ValueError(
                    f"{entry.name} has {length} entries, but feature has {self.n_nodes}; pass one per node"
                )
        if ((self.left < 0) != (self.right < 0)).any():
            node = int(np.flatnonzero((self.left < 0) != (self.right < 0))[0])
            raise ValueError(f"node {node} has one child; a node must have two children or none")
        inner = np.flatnonzero(self.left >= 0)
        children = np.concatenate([self.left[inner], self.right[inner]])
        if not np.array_equal(np.sort(children), np.arange(1, self.n_nodes)):
            raise ValueError("left and right must contain each node except the root exactly once")
        ordered = np.minimum(self.left[inner], self.right[inner]) > inner
        if not ordered.all():
            raise ValueError(
                f"a child of node {inner[~ordered][0]} has a smaller number than the node; children must have"
                " larger numbers"
            )

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
        """Whether each node is a leaf."""
        return self.left < 0

    @property
    def leaf_ids(self) -> np.ndarray:
        """Numbers of the leaves in ascending order."""
        return np.flatnonzero(self.is_leaf)

    @cached_property
    def parents(self) -> np.ndarray:
        """Parent of each node; -1 for the root."""
        parents = np.full(self.n_nodes, -1, dtype=np.int32)
        inner = np.flatnonzero(self.left >= 0)
        parents[self.left[inner]] = inner
        parents[self.right[inner]] = inner
        return parents

    @cached_property
    def depths(self) -> np.ndarray:
        """Depth of each node; 0 for the root."""
        depths = [0] * self.n_nodes
        for node, parent in enumerate(self.parents.tolist()):
            if node:
                depths[node] = depths[parent] + 1
        return np.array(depths, dtype=np.int64)

    @property
    def depth(self) -> int:
        """Depth of the tree: the number of splits on the longest path."""
        return int(self.depths.max())

    @cached_property
    def branch_leaves(self) -> np.ndarray:
        """Number of leaves in the branch of each node; 1 for a leaf."""
        counts = self.is_leaf.astype(np.int64).tolist()
        parents = self.parents.tolist()
        for node in range(self.n_nodes - 1, 0, -1):
            counts[parents[node]] += counts[node]
        return np.array(counts)

    def levels(self) -> list[np.ndarray]:
        """Return the nodes of each depth, from the root down."""
        order = np.argsort(self.depths, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depths))[:-1])

    def descendants(self, nodes: Iterable[int]) -> np.ndarray:
        """Return a mask of the descendants of `nodes`, without `nodes` themselves."""
        top = np.zeros(self.n_nodes, dtype=bool)
        top[_node_numbers(nodes, self.n_nodes)] = True
        cut, covered = top.tolist(), [False] * self.n_nodes
        for node, parent in enumerate(self.parents.tolist()):
            if node:
                covered[node] = cut[parent] or covered[parent]
        return np.array(covered)

    def prune_at(self, nodes: Iterable[int]) -> TreeArrays:
        """Return the tree in which each of `nodes` is a leaf.

        The remaining nodes are renumbered in the same order. `nodes` may contain leaves and descendants of
        other nodes.
        """
        return self.subtree(~self.descendants(nodes))

    def subtree(self, keep: np.ndarray) -> TreeArrays:
        """Return the tree with the nodes of the mask `keep`, renumbered in the same order.

        `keep` must contain the root, and both children of a node or neither. A node without its children
        becomes a leaf.
        """
        keep = np.asarray(keep, dtype=bool)
        if keep.shape != (self.n_nodes,):
            raise ValueError(
                f"keep has shape {keep.shape}, but the tree has {self.n_nodes} nodes; pass one entry per node"
            )
        if not keep[0]:
            raise ValueError("keep does not contain node 0, the root; it must be kept")
        orphans = np.flatnonzero(keep[1:] & ~keep[self.parents[1:]]) + 1
        if orphans.size:
            raise ValueError(
                f"keep contains node {orphans[0]} without its parent; keep the path from the root to a node"
            )
        inner = np.flatnonzero(keep & (self.left >= 0))
        one_child = inner[keep[self.left[inner]] != keep[self.right[inner]]]
        if one_child.size:
            raise ValueError(
                f"keep contains one child of node {one_child[0]}; it must contain both children or neither"
            )
        kept_nodes = np.flatnonzero(keep)
        cut = np.zeros(self.n_nodes, dtype=bool)  # inner nodes that become leaves
        cut[inner[~keep[self.left[inner]]]] = True
        number = np.cumsum(keep) - 1

        def children(old: np.ndarray) -> np.ndarray:
            return np.where(cut | (old < 0), -1, number[old])[kept_nodes]

        return TreeArrays(
            feature=np.where(cut, -1, self.feature)[kept_nodes],
            threshold=np.where(cut, np.nan, self.threshold)[kept_nodes],
            left=children(self.left),
            right=children(self.right),
            missing_left=(self.missing_left & ~cut)[kept_nodes],
            left_categories=[
                None if is_cut else self.left_categories[node]
                for node, is_cut in zip(kept_nodes.tolist(), cut[kept_nodes].tolist(), strict=True)
            ],
            value=self.value[kept_nodes],
            n_rows=self.n_rows[kept_nodes],
            weight=self.weight[kept_nodes],
            impurity=self.impurity[kept_nodes],
            gain=np.where(cut, 0.0, self.gain)[kept_nodes],
            competitors=self.competitors.subset(kept_nodes, ~cut[kept_nodes]),
            surrogates=self.surrogates.subset(kept_nodes, ~cut[kept_nodes]),
        )


def check_class_shares(tree: TreeArrays, purpose: str) -> np.ndarray:
    """Return the class shares of a classification tree.

    Raises a ValueError, which names the `purpose`, if the values are not class shares.
    """
    shares = tree.value
    if shares.shape[1] < 2 or (shares < 0).any() or (np.abs(shares.sum(axis=1) - 1) > 1e-6).any():
        raise ValueError(
            f"{purpose} needs a classification tree, but the values of this tree are not class shares; value"
            " must have a column per class, with sum 1 in each node"
        )
    return shares


def predicted_classes(tree: TreeArrays, cost_matrix: ArrayLike | None = None) -> np.ndarray:
    """Return the class that each node predicts: the most frequent, or that of least expected cost.

    Parameters
    ----------
    tree : TreeArrays
        A classification tree.
    cost_matrix : array of shape (classes, classes), optional
        Misclassification costs; rows: true class, columns: predicted class.
    """
    shares = check_class_shares(tree, "predicted_classes")
    if cost_matrix is None:
        return shares.argmax(axis=1)
    return (shares @ check_cost_matrix(cost_matrix, shares.shape[1])).argmin(axis=1)


def check_cost_matrix(cost_matrix: ArrayLike | None, n_classes: int) -> np.ndarray:
    """Return the costs as a float array; raise a ValueError if they are not valid."""
    costs = np.asarray(cost_matrix, dtype=float)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has shape {costs.shape}, but must have shape {(n_classes, n_classes)}:"
            " one row and one column per class"
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        row, column = np.argwhere(~(np.isfinite(costs) & (costs >= 0)))[0]
        raise ValueError(
            f"cost_matrix[{row}, {column}] is {costs[row, column]:g}; costs must be finite and >= 0"
        )
    return costs


def _node_splits(
    splits: NodeSplits | Iterable[list[dict[str, Any]]] | None, n_nodes: int, names: tuple[str, ...]
) -> NodeSplits:
    """Convert the argument `competitors` or `surrogates`; an empty list means no splits."""
    if isinstance(splits, NodeSplits):
        return splits
    return NodeSplits.from_lists(splits or [[] for _ in range(n_nodes)], names)


def _node_numbers(nodes: Iterable[int], n_nodes: int) -> np.ndarray:
    numbers = np.asarray(list(nodes), dtype=np.int64)
    wrong = numbers[(numbers < 0) | (numbers >= n_nodes)]
    if wrong.size:
        raise ValueError(
            f"nodes has the entry {wrong[0]}, but the tree has {n_nodes} nodes;"
            f" pass numbers in [0, {n_nodes})"
        )
    return numbers
