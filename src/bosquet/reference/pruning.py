r"""Cost-complexity pruning: find the weakest link, prune it, and repeat.

A tree is given by the lists of children `left[t]` and `right[t]` (-1 in a leaf; node 0 is the root) and the
cost `D[t]` of node t if it were a leaf. With the price :math:`\gamma` per leaf, a tree with the set of
leaves L has the cost-complexity

.. math:: C = \sum_{t \in L} D(t) + \gamma |L| .

Pruning at node N replaces the branch :math:`A_N` of the tree A by one leaf, which gives the tree A' with
:math:`C(A') = C(A) + C(N) - C(A_N)`. This does not increase the cost-complexity if γ is at least

.. math:: g(N) = \frac{D(N) - D(A_N)}{|A_N| - 1} .
"""

from __future__ import annotations

from dataclasses import dataclass

SAME_GAMMA = 1e-10  # values of g with a smaller relative difference are treated as equal
NO_CHANGE = 1e-12  # a smaller relative change of D is treated as 0


@dataclass
class PrunedSubtree:
    """A subtree: the smallest γ for which it is best, the nodes pruned in this step, its leaves, its D."""

    gamma: float
    cut: list[int]
    leaves: list[int]
    cost: float


def branch_leaves(left: list[int], right: list[int], node: int, cut: set[int]) -> list[int]:
    """Return the leaves of the branch at `node`, if the nodes in `cut` have become leaves."""
    if left[node] < 0 or node in cut:
        return [node]
    children = [left[node], right[node]]
    return [leaf for child in children for leaf in branch_leaves(left, right, child, cut)]


def inner_nodes(left: list[int], right: list[int], cut: set[int], node: int = 0) -> list[int]:
    """Return the nodes that are not leaves, if the nodes in `cut` have become leaves."""
    if left[node] < 0 or node in cut:
        return []
    children = [left[node], right[node]]
    return [node] + [n for child in children for n in inner_nodes(left, right, cut, child)]


def link_strength(
    left: list[int], right: list[int], D: list[float], node: int, cut: set[int]
) -> float:
    """Return g(N) of `node`: the increase of D per removed leaf if the tree is pruned there."""
    leaves = branch_leaves(left, right, node, cut)
    increase = D[node] - sum(D[leaf] for leaf in leaves)
    return increase / (len(leaves) - 1) if abs(increase) > NO_CHANGE * abs(D[node]) else 0.0


def nested_subtrees(left: list[int], right: list[int], D: list[float]) -> list[PrunedSubtree]:
    """Return the subtrees that are best for some γ, from γ = 0 to the tree with only the root.

    >>> trees = nested_subtrees([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [9.0, 0.0, 2.0, 0.5, 0.5])
    >>> [(tree.gamma, tree.cut, tree.leaves) for tree in trees]
    [(0.0, [], [1, 3, 4]), (1.0, [2], [1, 2]), (7.0, [0], [0])]
    """
    cut: set[int] = set()
    gamma = 0.0
    subtrees: list[PrunedSubtree] = []
    while True:
        before = set(branch_leaves(left, right, 0, cut))
        prune_up_to(left, right, D, gamma, cut)
        leaves = branch_leaves(left, right, 0, cut)
        pruned = sorted(set(leaves) - before)
        subtrees.append(PrunedSubtree(gamma, pruned, leaves, sum(D[leaf] for leaf in leaves)))
        inner = inner_nodes(left, right, cut)
        if not inner:
            return subtrees
        gamma = min(link_strength(left, right, D, node, cut) for node in inner)


def prune_up_to(
    left: list[int], right: list[int], D: list[float], gamma: float, cut: set[int]
) -> None:
    """Prune the weakest links repeatedly while their strength is at most γ; add the pruned nodes to `cut`.

    Only links of equal strength are pruned together, because pruning changes the strength of the links above.
    """
    while inner := inner_nodes(left, right, cut):
        g = {node: link_strength(left, right, D, node, cut) for node in inner}
        weakest = min(g.values())
        if weakest > gamma * (1 + SAME_GAMMA):
            return
        cut.update(node for node in inner if g[node] <= weakest + SAME_GAMMA * abs(weakest))
