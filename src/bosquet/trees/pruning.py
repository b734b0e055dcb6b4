r"""Cost-complexity pruning: a penalty per leaf, and the nested subtrees that are optimal for it.

The cost of a tree A with K leaves is :math:`C(A) = D(A) + \gamma K`, where D is a sum over the leaves and
γ a penalty per leaf. Pruning at the inner node N, which makes N a leaf, changes the cost to
:math:`C(A') = C(A) + C(N) - C(A_N)`, where :math:`A_N` is the branch at N. The cost does not increase if

.. math:: \gamma \ge g(N) = \frac{D(N) - D(A_N)}{\text{leaves}(A_N) - 1} .

The node with the smallest g is the weakest link. Cutting the weakest link repeatedly gives a sequence of
nested subtrees. Subtree k is the smallest tree of minimal cost for all γ from its own value up to the next.

γ has the units of D, which is a sum over weighted rows: if all weights are halved, γ is halved. The
parameter `ccp_alpha` of scikit-learn is γ per unit of weight: `ccp_alpha = gamma / weight of the root`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bosquet.trees.arrays import (
    TreeArrays,
    check_class_shares,
    check_cost_matrix,
    predicted_classes,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# Relative tolerance for ties: links that are equal in exact arithmetic differ by rounding errors.
_TIE_TOLERANCE = 1e-10
# A split that decreases D by less than this fraction does not decrease it at all.
_ZERO_TOLERANCE = 1e-12

COSTS = ("impurity", "misclassified", "deviance", "squares")


def node_costs(tree: TreeArrays, cost: str | ArrayLike = "impurity") -> np.ndarray:
    """Return D of each node, as if it were a leaf (a sum over weighted rows, not a mean).

    Parameters
    ----------
    tree : TreeArrays
    cost : str or array, default="impurity"
        - "impurity": weight times impurity, as in scikit-learn.
        - "misclassified": weight of the rows that are not of the predicted class.
        - "deviance": -2 Σ n_l ln(n_l / n) over the classes.
        - "squares": sum of squared deviations from the mean, for regression trees grown by squared error
          (equal to their impurity times the weight).
        - an array of shape (classes, classes): a cost matrix (rows: true class, columns: predicted class);
          the node predicts the class of least expected cost.
        - an array of shape (nodes,): the values of D.

    Returns
    -------
    array of shape (nodes,)

    Examples
    --------
    >>> from bosquet.trees import TreeArrays, node_costs
    >>> leaf = TreeArrays([-1], [0], [-1], [-1], [0], [None], [[0.75, 0.25]], [8], [8], [0.375], [0])
    >>> node_costs(leaf, "misclassified"), node_costs(leaf), node_costs(leaf, [[0, 1], [9, 0]])
    (array([2.]), array([3.]), array([6.]))
    """
    if isinstance(cost, str):
        if cost not in COSTS:
            raise ValueError(
                f"cost={cost!r} is not valid: cost must be one of {', '.join(map(repr, COSTS))} or an array"
            )
        if cost in ("impurity", "squares"):
            # With unequal weights, rounding may leave a pure node with a tiny impurity.
            pure = tree.impurity <= 1e-14 * tree.impurity[0]
            return tree.weight * np.where(pure, 0.0, tree.impurity)
        counts = tree.weight[:, None] * check_class_shares(tree, f"cost={cost!r}")
        counts = _round_counts(counts)
        if cost == "misclassified":
            return counts.sum(axis=1) - counts.max(axis=1)
        shares = counts / np.where(counts > 0, tree.weight[:, None], 1)
        return -2 * (counts * np.log(np.where(counts > 0, shares, 1))).sum(axis=1) + 0.0
    values = np.asarray(cost, dtype=float)
    if values.ndim == 2:
        counts = _round_counts(tree.weight[:, None] * check_class_shares(tree, "a cost matrix"))
        costs = check_cost_matrix(values, tree.n_outputs)
        return (counts * costs[:, predicted_classes(tree, costs)].T).sum(axis=1)
    if values.shape != (tree.n_nodes,):
        raise ValueError(
            f"cost has shape {values.shape}, but must have one entry per node, shape ({tree.n_nodes},), or be"
            " a cost matrix"
        )
    if not np.isfinite(values).all():
        raise ValueError(
            f"cost[{np.flatnonzero(~np.isfinite(values))[0]}] is not finite; costs must be finite"
        )
    return values


def _round_counts(counts: np.ndarray) -> np.ndarray:
    """Remove rounding errors from counts that should be integers (shares times weight)."""
    nearest = np.rint(counts)
    return np.where(np.abs(counts - nearest) <= 1e-9 * np.maximum(nearest, 1), nearest, counts)


def cost_complexity(
    tree: TreeArrays, gamma: float, cost: str | ArrayLike = "impurity", node: int = 0
) -> float:
    """Return the cost C = D + γ · leaves of the branch at a node.

    Parameters
    ----------
    tree : TreeArrays
    gamma : float
        Penalty γ of a leaf.
    cost : str or array of shape (classes, decisions), default="impurity"
        The error D of a leaf, as in `node_costs`.
    node : int, default=0
        The root of the branch; 0 is the whole tree.

    Returns
    -------
    float
    """
    below = tree.descendants([node])
    leaves = tree.is_leaf & below if not tree.is_leaf[node] else np.arange(tree.n_nodes) == node
    return float(node_costs(tree, cost)[leaves].sum() + gamma * np.count_nonzero(leaves))


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The nested subtrees of a tree, largest first; returned by `weakest_link_path`.

    Attributes
    ----------
    gammas : array of shape (steps,)
        Subtree k is optimal for γ from `gammas[k]` up to `gammas[k + 1]`; `gammas[0]` is 0.
    leaves : int array
        Number of leaves of each subtree; the last subtree is the root.
    costs : array
        D of each subtree.
    cuts : list of int arrays
        The nodes that become leaves at each step. At step 0 these are the nodes whose branches do not
        decrease D.
    step_of_node : int array of shape (nodes,)
        The first step at which the node is a leaf or has been removed; 0 for the leaves of the tree. A
        node is an inner node of subtree k if this number is larger than k.
    root_weight : float
        Weight of the root: gamma = ccp_alpha * root_weight.
    cost : str
        The kind of D, see `node_costs`.
    """

    gammas: np.ndarray
    leaves: np.ndarray
    costs: np.ndarray
    cuts: list[np.ndarray] = field(repr=False)
    step_of_node: np.ndarray = field(repr=False)
    root_weight: float
    cost: str

    @property
    def n_steps(self) -> int:
        return len(self.gammas)

    @property
    def ccp_alphas(self) -> np.ndarray:
        """The penalties per unit of weight, as in scikit-learn."""
        return self.gammas / self.root_weight

    def gammas_between(self, weight: float | None = None) -> np.ndarray:
        """Return a typical γ of each subtree: the geometric mean of its own and the next; the last is ∞.

        Parameters
        ----------
        weight : float, optional
            Root weight of another tree, which was grown on part of the rows. The penalties are rescaled to
            this tree, so that they are the same per unit of weight.
        """
        upper = np.append(self.gammas[1:], np.inf)
        # Square roots before the product, because the product of two tiny penalties would underflow.
        between = np.sqrt(self.gammas) * np.sqrt(upper) if self.n_steps > 1 else upper
        scale = 1.0 if weight is None else weight / self.root_weight
        return between * scale

    def step_at(self, gamma: ArrayLike) -> int | np.ndarray:
        """Return the index of the optimal subtree for a penalty, or for each of several penalties.

        As in scikit-learn, a link is cut if γ is >= its g.
        """
        gamma = np.asarray(gamma, dtype=float)
        if np.isnan(gamma).any() or (gamma < 0).any():
            raise ValueError(f"gamma={gamma.min()} is not valid: gamma must be >= 0")
        # The tolerance absorbs rounding when gamma is converted to ccp_alpha and back.
        steps = np.searchsorted(self.gammas, gamma * (1 + _TIE_TOLERANCE), side="right") - 1
        return int(steps) if gamma.ndim == 0 else steps


def weakest_link_path(tree: TreeArrays, cost: str | ArrayLike = "impurity") -> PruningPath:
    """Return all subtrees that are optimal for some penalty per leaf, in O(nodes log nodes).

    Links with equal g are cut together. The first subtree is optimal for γ = 0; it is smaller than `tree`
    if some splits do not decrease D.

    Parameters
    ----------
    tree : TreeArrays
    cost : str or array, default="impurity"
        D of a node, see `node_costs`.

    Returns
    -------
    PruningPath

    Examples
    --------
    >>> from bosquet.trees import weakest_link_path
    >>> from bosquet.trees import TreeArrays
    >>> tree = TreeArrays(
    ...     feature=[0, -1, 1, -1, -1], threshold=[0.5, 0, 0.5, 0, 0], left=[1, -1, 3, -1, -1],
    ...     right=[2, -1, 4, -1, -1], missing_left=[0] * 5, left_categories=[None] * 5,
    ...     value=[[0.5, 0.5], [1, 0], [0.1, 0.9], [0.5, 0.5], [0, 1]],
    ...     n_rows=[18, 8, 10, 2, 8], weight=[18, 8, 10, 2, 8], impurity=[0.5, 0, 0.18, 0.5, 0],
    ...     gain=[0] * 5,
    ... )
    >>> path = weakest_link_path(tree, "misclassified")
    >>> path.gammas, path.leaves, path.costs
    (array([0., 8.]), array([2, 1]), array([1., 9.]))

    References
    ----------
    Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees", 1984, chapter 3.
    """
    costs = node_costs(tree, cost)
    removed_at = _removal_penalties(tree, _link_penalties(tree, costs))
    inner = ~tree.is_leaf
    gammas, step_of_node = _penalty_steps(removed_at, inner)
    parents = tree.parents
    step_of_parent = np.where(parents < 0, len(gammas), step_of_node[parents])
    topmost = inner & (step_of_parent > step_of_node)
    cut_nodes = np.flatnonzero(topmost)[np.argsort(step_of_node[topmost], kind="stable")]
    ends = np.searchsorted(step_of_node[cut_nodes], np.arange(1, len(gammas)))
    name = cost if isinstance(cost, str) else "cost"
    return PruningPath(
        gammas=gammas,
        leaves=sum_over_leaves(
            np.ones(tree.n_nodes, dtype=np.int64), step_of_node, parents, len(gammas)
        ),
        costs=sum_over_leaves(costs, step_of_node, parents, len(gammas)),
        cuts=np.split(cut_nodes, ends),
        step_of_node=step_of_node,
        root_weight=float(tree.weight[0]),
        cost=name,
    )


def _link_penalties(tree: TreeArrays, costs: np.ndarray) -> list[float]:
    """Return for each node the penalty γ at which it is cut if no ancestor is cut before; 0 for leaves.

    The nodes are processed from the bottom up. Each branch has a heap of the links that are cut before the
    branch itself, with their penalty, their increase of D and the number of leaves that they remove. For a
    new node, all links below it are first assumed to be cut, so that its children are leaves. Then links
    are undone, largest penalty first, as long as their penalty is not smaller than that of the node. An
    undone link is cut together with the node and is removed from the heap. So every link enters and leaves
    a heap once, and a cut never has to visit the ancestors.
    """
    cost, left, right = costs.tolist(), tree.left.tolist(), tree.right.tolist()
    penalty = [0.0] * tree.n_nodes
    heaps: dict[int, list[tuple[float, float, int]]] = {}
    for node in range(tree.n_nodes - 1, -1, -1):
        if left[node] < 0:
            continue
        small, heap = sorted((heaps.pop(left[node], []), heaps.pop(right[node], [])), key=len)
        for link in small:
            heapq.heappush(heap, link)
        increase, removed = cost[node] - cost[left[node]] - cost[right[node]], 1
        tolerance = _ZERO_TOLERANCE * abs(cost[node])
        node_penalty = increase if increase > tolerance else 0.0
        while heap and -heap[0][0] >= node_penalty:
            _, link_increase, link_removed = heapq.heappop(heap)
            increase, removed = increase + link_increase, removed + link_removed
            node_penalty = increase / removed if increase > tolerance else 0.0
        heapq.heappush(heap, (-node_penalty, increase, removed))
        heaps[node] = heap
        penalty[node] = node_penalty
    return penalty


def _removal_penalties(tree: TreeArrays, penalty: list[float]) -> np.ndarray:
    """Return for each node the smallest penalty at which it or an ancestor is cut."""
    smallest = penalty.copy()
    for node, parent in enumerate(tree.parents.tolist()):
        if node and smallest[parent] < smallest[node]:
            smallest[node] = smallest[parent]
    return np.array(smallest)


def _penalty_steps(removed_at: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct penalties in ascending order from 0, and the step of each node."""
    penalties = np.unique(np.append(removed_at[inner], 0.0))
    starts = [0] + [
        k + 1
        for k, (a, b) in enumerate(pairwise(penalties.tolist()))
        if b > a * (1 + _TIE_TOLERANCE)
    ]
    # Penalties that differ by rounding only are one step; its gamma is the largest of them, at which all
    # of the links are cut.
    gammas = penalties[np.append(np.array(starts[1:], dtype=np.int64), len(penalties)) - 1]
    step_of_node = np.searchsorted(gammas, removed_at, side="left")
    return gammas, np.where(inner, step_of_node, 0)


def sum_over_leaves(
    amounts: np.ndarray, step_of_node: np.ndarray, parents: np.ndarray, n_steps: int
) -> np.ndarray:
    """Return for each subtree of a path the sum of `amounts` over its leaves, in one pass.

    A node is a leaf from the step at which its branch is cut until the step at which an ancestor is cut.
    `amounts` has shape (nodes,) or (nodes, columns).
    """
    until = np.where(parents < 0, n_steps, step_of_node[parents])
    # A node that is cut together with its parent is never a leaf. Skipping it avoids rounding errors.
    ever_leaf = until > step_of_node
    change = np.zeros((n_steps + 1, *amounts.shape[1:]), dtype=amounts.dtype)
    np.add.at(change, step_of_node[ever_leaf], amounts[ever_leaf])
    np.subtract.at(change, until[ever_leaf], amounts[ever_leaf])
    return np.cumsum(change, axis=0)[:n_steps]


def prune_to(
    tree: TreeArrays,
    gamma: float,
    path: PruningPath | None = None,
    cost: str | ArrayLike = "impurity",
) -> TreeArrays:
    """Return the smallest subtree of minimal cost for a penalty γ per leaf.

    Parameters
    ----------
    tree : TreeArrays
    gamma : float
        Penalty per leaf in units of D; links with g <= gamma are cut.
    path : PruningPath of `tree`, optional
        Default: computed by `weakest_link_path(tree, cost)`.
    cost : str or array, default="impurity"
        D of a node, see `node_costs`. Not used if `path` is given.
    """
    if path is None:
        path = weakest_link_path(tree, cost)
    if len(path.step_of_node) != tree.n_nodes:
        raise ValueError(
            f"path belongs to a tree with {len(path.step_of_node)} nodes, but tree has {tree.n_nodes}; pass"
            " the path of this tree"
        )
    cut = ~tree.is_leaf & (path.step_of_node <= path.step_at(gamma))
    return tree.prune_at(np.flatnonzero(cut))


def prune_by_ccp_alpha(tree: TreeArrays, ccp_alpha: float) -> TreeArrays:
    """Return the tree pruned with scikit-learn's `ccp_alpha`; with 0 the tree is unchanged."""
    if not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha={ccp_alpha} is not valid: ccp_alpha must be >= 0")
    if ccp_alpha == 0:
        return tree
    gamma = gamma_from_ccp_alpha(ccp_alpha, tree)
    return prune_to(tree, gamma)


Number = TypeVar("Number", float, np.ndarray)


def gamma_from_ccp_alpha(ccp_alpha: Number, tree: TreeArrays) -> Number:
    """Convert scikit-learn's ccp_alpha to gamma: multiply by the weight of the root."""
    return ccp_alpha * float(tree.weight[0])


def ccp_alpha_from_gamma(gamma: Number, tree: TreeArrays) -> Number:
    """Convert gamma to scikit-learn's ccp_alpha: divide by the weight of the root."""
    return gamma / float(tree.weight[0])
