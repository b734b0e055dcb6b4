r"""Cost-complexity pruning as a lecture writes it: find the weakest link, cut it, start again.

A tree is its two lists of children (`left[t]` and `right[t]`, -1 in a leaf; node 0 is the root) and
the cost `D[t]` that node t has as a leaf. A tree with the leaves :math:`t \in L` costs

.. math:: C = \sum_{t \in L} D(t) + \gamma |L| .

Cutting below node N replaces the branch :math:`A_N` by one leaf, so that
:math:`C(A') = C(A) + C(N) - C(A_N)`. That is no dearer as soon as γ reaches

.. math:: g(N) = \frac{D(N) - D(A_N)}{|A_N| - 1} .
"""

from __future__ import annotations

from dataclasses import dataclass

SAME = 1e-10  # prices that differ by less than this share are equal but for rounding
NOTHING = 1e-12  # a fall of D by less than this share is none


@dataclass
class Step:
    """A subtree: the price from which it is best, the nodes cut to get it, its leaves, its D."""

    gamma: float
    cut: list[int]
    leaves: list[int]
    cost: float


def branch_leaves(left: list[int], right: list[int], node: int, cut: set[int]) -> list[int]:
    """The leaves of the branch at `node` when nothing stands below the nodes in `cut`."""
    if left[node] < 0 or node in cut:
        return [node]
    below = [left[node], right[node]]
    return [leaf for child in below for leaf in branch_leaves(left, right, child, cut)]


def inner_nodes(left: list[int], right: list[int], cut: set[int], node: int = 0) -> list[int]:
    """The nodes that still have a branch."""
    if left[node] < 0 or node in cut:
        return []
    children = [left[node], right[node]]
    return [node] + [n for child in children for n in inner_nodes(left, right, cut, child)]


def weakness(left: list[int], right: list[int], D: list[float], node: int, cut: set[int]) -> float:
    """g of the link at `node`: what D rises by for each leaf that goes."""
    leaves = branch_leaves(left, right, node, cut)
    rise = D[node] - sum(D[leaf] for leaf in leaves)
    return rise / (len(leaves) - 1) if abs(rise) > NOTHING * abs(D[node]) else 0.0


def nested_subtrees(left: list[int], right: list[int], D: list[float]) -> list[Step]:
    """The subtrees that are best for some price, from γ = 0 to the root alone.

    >>> steps = nested_subtrees([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [9.0, 0.0, 2.0, 0.5, 0.5])
    >>> [(step.gamma, step.cut, step.leaves) for step in steps]
    [(0.0, [], [1, 3, 4]), (1.0, [2], [1, 2]), (7.0, [0], [0])]
    """
    cut: set[int] = set()
    gamma = 0.0
    steps: list[Step] = []
    while True:
        before = set(branch_leaves(left, right, 0, cut))
        cut_all_up_to(left, right, D, gamma, cut)
        leaves = branch_leaves(left, right, 0, cut)
        now = sorted(set(leaves) - before)
        steps.append(Step(gamma, now, leaves, sum(D[leaf] for leaf in leaves)))
        inner = inner_nodes(left, right, cut)
        if not inner:
            return steps
        gamma = min(weakness(left, right, D, node, cut) for node in inner)


def cut_all_up_to(
    left: list[int], right: list[int], D: list[float], gamma: float, cut: set[int]
) -> None:
    """Cuts the weakest links, again and again, while they are no stronger than γ.

    One at a time (or all that are equally weak): cutting a link makes those above it stronger.
    """
    while inner := inner_nodes(left, right, cut):
        g = {node: weakness(left, right, D, node, cut) for node in inner}
        weakest = min(g.values())
        if weakest > gamma * (1 + SAME):
            return
        cut.update(node for node in inner if g[node] <= weakest + SAME * abs(weakest))
