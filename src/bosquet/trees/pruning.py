r"""Cost-complexity pruning: as leaves grow dearer, a tree is cut back link by link.

A tree A with K leaves costs :math:`C(A) = D(A) + \gamma K`, where D adds up over its leaves. Making
the inner node N a leaf changes that to :math:`C(A') = C(A) + C(N) - C(A_N)` with :math:`A_N` the
branch at N, and pays as soon as

.. math:: \gamma \ge g(N) = \frac{D(N) - D(A_N)}{\text{leaves}(A_N) - 1} .

The node of smallest g is the weakest link. Cutting it, and again in what is left, gives nested
trees, each of them the smallest that costs least for the γ from its own up to the next.

γ is in the units of D, which are counts of rows: halving the weights halves it. scikit-learn's
`ccp_alpha` is the same per unit of weight, `ccp_alpha = gamma / weight of the root`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from bosquet.trees.arrays import TreeArrays, check_cost_matrix, class_shares, predicted_classes

# Links as weak as each other in exact arithmetic differ by rounding; these are cut together.
_SAME = 1e-10
_NOTHING = 1e-12

COSTS = ("impurity", "misclassified", "deviance", "squares")


def node_costs(tree: TreeArrays, cost: Any = "impurity") -> np.ndarray:
    """D of each node, as if it were a leaf: weighted rows, not a mean.

    Parameters
    ----------
    tree : TreeArrays
    cost : str or array, default="impurity"
        - "impurity": weight times impurity, what scikit-learn prunes by.
        - "misclassified": weight of the rows that are not of the node's class.
        - "deviance": -2 Σ n_l ln(n_l / n) over the classes.
        - "squares": sum of squares about the mean, for regression trees grown by squared error (it
          is their impurity times the weight).
        - an array of shape (classes, classes): a cost matrix; line: true class, column: decision.
          The node decides for its least costly class.
        - an array of shape (nodes,): D itself.

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
            raise ValueError(f"cost is {cost!r}; it must be one of {', '.join(COSTS)} or an array")
        if cost in ("impurity", "squares"):
            # A pure node whose rows weigh unequal amounts may be left with a trace of impurity.
            pure = tree.impurity <= 1e-14 * tree.impurity[0]
            return tree.weight * np.where(pure, 0.0, tree.impurity)
        counts = tree.weight[:, None] * class_shares(tree, f'cost="{cost}"')
        counts = _whole(counts)
        if cost == "misclassified":
            return counts.sum(axis=1) - counts.max(axis=1)
        shares = counts / np.where(counts > 0, tree.weight[:, None], 1)
        return -2 * (counts * np.log(np.where(counts > 0, shares, 1))).sum(axis=1) + 0.0
    given = np.asarray(cost, dtype=float)
    if given.ndim == 2:
        counts = _whole(tree.weight[:, None] * class_shares(tree, "a cost matrix"))
        costs = check_cost_matrix(given, tree.n_outputs)
        return (counts * costs[:, predicted_classes(tree, costs)].T).sum(axis=1)
    if given.shape != (tree.n_nodes,):
        raise ValueError(f"cost has shape {given.shape}, expected ({tree.n_nodes},)")
    if not np.isfinite(given).all():
        raise ValueError(f"cost of node {np.flatnonzero(~np.isfinite(given))[0]} is not finite")
    return given


def _whole(counts: np.ndarray) -> np.ndarray:
    """Counts of rows that each weigh 1 are whole; shares times weight miss that by rounding."""
    nearest = np.rint(counts)
    return np.where(np.abs(counts - nearest) <= 1e-9 * np.maximum(nearest, 1), nearest, counts)


def cost_complexity(tree: TreeArrays, gamma: float, cost: Any = "impurity", node: int = 0) -> float:
    """C = D + γ · leaves of the branch at `node`, by default of the whole tree."""
    below = tree.below([node])
    leaves = tree.is_leaf & below if not tree.is_leaf[node] else np.arange(tree.n_nodes) == node
    return float(node_costs(tree, cost)[leaves].sum() + gamma * np.count_nonzero(leaves))


@dataclass(frozen=True, eq=False)
class PruningPath:
    """The nested subtrees of a tree, largest first. Made by `weakest_link_path`.

    Attributes
    ----------
    gammas : array of shape (steps,)
        Subtree k is the one for γ from `gammas[k]` up to `gammas[k + 1]`; the first is 0.
    leaves : int array
        Leaves of each subtree; the last is the root alone.
    costs : array
        D of each subtree.
    cuts : list of int arrays
        The nodes that become leaves at each step. At step 0 these are the nodes whose branches
        cost as much as they do alone.
    step_of_node : int array of shape (nodes,)
        The first step at which nothing stands below the node: 0 for the leaves of the tree. A node
        is an inner node of subtree k if this is larger than k.
    root_weight : float
        The factor from ccp_alpha to gamma.
    cost : str
        What D is.
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
        """The same prices per unit of weight, as scikit-learn gives them."""
        return self.gammas / self.root_weight

    def gammas_between(self, weight: float | None = None) -> np.ndarray:
        """A typical γ of each subtree: the geometric mean of its own and the next; last infinity.

        Parameters
        ----------
        weight : float, optional
            Weight of the root of another tree, grown on part of the rows. The same price per unit
            of weight is a smaller one in its counts.
        """
        upper = np.append(self.gammas[1:], np.inf)
        # Roots first: the product of two very small prices would vanish.
        between = np.sqrt(self.gammas) * np.sqrt(upper) if self.n_steps > 1 else upper
        scale = 1.0 if weight is None else weight / self.root_weight
        return between * scale

    def step_at(self, gamma: Any) -> Any:
        """The number of the subtree for a price, or for each of several.

        A link is cut when γ reaches its own g, as in scikit-learn.
        """
        gamma = np.asarray(gamma, dtype=float)
        if np.isnan(gamma).any() or (gamma < 0).any():
            raise ValueError(f"gamma is {gamma.min()}; a leaf must not have a negative price")
        # A price that went through a division and a multiplication must find its own step again.
        steps = np.searchsorted(self.gammas, gamma * (1 + _SAME), side="right") - 1
        return int(steps) if gamma.ndim == 0 else steps


def weakest_link_path(tree: TreeArrays, cost: Any = "impurity") -> PruningPath:
    """All subtrees that some price of a leaf makes the best, in O(nodes log nodes).

    Links of equal weakness are cut together. The first subtree is the one for γ = 0: smaller than
    `tree` if some splits take nothing off D.

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
    reached = _gone_at(tree, _links(tree, costs))
    inner = ~tree.is_leaf
    gammas, step_of_node = _steps(reached, inner)
    parents = tree.parents
    step_of_parent = np.where(parents < 0, len(gammas), step_of_node[parents])
    topmost = inner & (step_of_parent > step_of_node)
    in_order = np.flatnonzero(topmost)[np.argsort(step_of_node[topmost], kind="stable")]
    ends = np.searchsorted(step_of_node[in_order], np.arange(1, len(gammas)))
    name = cost if isinstance(cost, str) else "cost"
    return PruningPath(
        gammas=gammas,
        leaves=spread(np.ones(tree.n_nodes, dtype=np.int64), step_of_node, parents, len(gammas)),
        costs=spread(costs, step_of_node, parents, len(gammas)),
        cuts=np.split(in_order, ends),
        step_of_node=step_of_node,
        root_weight=float(tree.weight[0]),
        cost=name,
    )


def _links(tree: TreeArrays, costs: np.ndarray) -> list[float]:
    """For each node the price at which it is cut if nothing above it is cut before; leaves: 0.

    From the bottom up. Each branch keeps the links cut below it before it is cut itself: their
    price, by how much they raise D and how many leaves they take. A node starts from the state in
    which all of them are cut, its children being leaves, and takes back the dearest as long as that
    is dearer than its own link would be. What it takes back will go with the node and is forgotten,
    so every link enters a heap once and leaves it once, and no ancestor is visited for a cut.
    """
    cost, left, right = costs.tolist(), tree.left.tolist(), tree.right.tolist()
    price = [0.0] * tree.n_nodes
    heaps: dict[int, list[tuple[float, float, int]]] = {}
    for node in range(tree.n_nodes - 1, -1, -1):
        if left[node] < 0:
            continue
        small, heap = sorted((heaps.pop(left[node], []), heaps.pop(right[node], [])), key=len)
        for link in small:
            heapq.heappush(heap, link)
        rise, fewer = cost[node] - cost[left[node]] - cost[right[node]], 1
        nothing = _NOTHING * abs(cost[node])
        own = rise if rise > nothing else 0.0
        while heap and -heap[0][0] >= own:
            _, more, leaves = heapq.heappop(heap)
            rise, fewer = rise + more, fewer + leaves
            own = rise / fewer if rise > nothing else 0.0
        heapq.heappush(heap, (-own, rise, fewer))
        heaps[node] = heap
        price[node] = own
    return price


def _gone_at(tree: TreeArrays, price: list[float]) -> np.ndarray:
    """For each node the price at which it or an ancestor is cut."""
    gone = price.copy()
    for node, parent in enumerate(tree.parents.tolist()):
        if node and gone[parent] < gone[node]:
            gone[node] = gone[parent]
    return np.array(gone)


def _steps(reached: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct prices, 0 first, and for each node which of them it is gone at."""
    prices = np.unique(np.append(reached[inner], 0.0))
    starts = [0] + [
        k + 1 for k, (a, b) in enumerate(pairwise(prices.tolist())) if b > a * (1 + _SAME)
    ]
    # Of prices that are the same but for rounding the last stands for all: it has cut them.
    gammas = prices[np.append(np.array(starts[1:], dtype=np.int64), len(prices)) - 1]
    step_of_node = np.searchsorted(gammas, reached, side="left")
    return gammas, np.where(inner, step_of_node, 0)


def spread(
    amounts: np.ndarray, step_of_node: np.ndarray, parents: np.ndarray, n_steps: int
) -> np.ndarray:
    """For each subtree of a path the sum of `amounts` over its leaves, in one pass.

    A node is a leaf from the step that cuts below it until the step that cuts above it. `amounts`
    is of shape (nodes,) or (nodes, columns).
    """
    until = np.where(parents < 0, n_steps, step_of_node[parents])
    # A node cut together with its parent is never a leaf; left out, it adds no rounding either.
    ever = until > step_of_node
    change = np.zeros((n_steps + 1, *amounts.shape[1:]), dtype=amounts.dtype)
    np.add.at(change, step_of_node[ever], amounts[ever])
    np.subtract.at(change, until[ever], amounts[ever])
    return np.cumsum(change, axis=0)[:n_steps]


def prune_to(
    tree: TreeArrays, gamma: float, path: PruningPath | None = None, cost: Any = "impurity"
) -> TreeArrays:
    """The smallest subtree that costs least when a leaf costs γ.

    Parameters
    ----------
    tree : TreeArrays
    gamma : float
        Price of a leaf in units of D; links with g ≤ gamma are cut.
    path : PruningPath of `tree`, optional
        Found by `weakest_link_path(tree, cost)` if it is not given.
    cost : str or array, default="impurity"
        D of a node, see `node_costs`; only used to find the path.
    """
    if path is None:
        path = weakest_link_path(tree, cost)
    if len(path.step_of_node) != tree.n_nodes:
        raise ValueError(
            f"path belongs to a tree of {len(path.step_of_node)} nodes, tree has {tree.n_nodes}"
        )
    cut = ~tree.is_leaf & (path.step_of_node <= path.step_at(gamma))
    return tree.pruned_at(np.flatnonzero(cut))


def prune_by_ccp_alpha(tree: TreeArrays, ccp_alpha: float) -> TreeArrays:
    """The tree as scikit-learn's `ccp_alpha` would prune it; 0 leaves it as it is."""
    if not ccp_alpha >= 0:
        raise ValueError(f"ccp_alpha is {ccp_alpha}; it must not be negative")
    if ccp_alpha == 0:
        return tree
    gamma = gamma_from_ccp_alpha(ccp_alpha, tree)
    return prune_to(tree, gamma)


def gamma_from_ccp_alpha(ccp_alpha: Any, tree: TreeArrays) -> Any:
    """A price per unit of weight as one in counts: times the weight of the root."""
    return ccp_alpha * float(tree.weight[0])


def ccp_alpha_from_gamma(gamma: Any, tree: TreeArrays) -> Any:
    """A price in counts as one per unit of weight, scikit-learn's ccp_alpha."""
    return gamma / float(tree.weight[0])
