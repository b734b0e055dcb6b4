r"""Gradient boosting of trees: the stagewise loop.

Start from the best constant. Each round takes the gradients of the loss at the present predictions,
grows a tree on them, gives each leaf a value and adds the tree, shrunk by the learning rate
:math:`\nu`: :math:`f \leftarrow f + \nu\, \text{tree}`.

The value of a leaf is the Newton step :math:`-\sum g / (\sum h + \lambda)` or, for the gradient
step, the exact minimiser of the loss on its rows. For squared error the Newton step is
:math:`\sum r / (n + \lambda)`, for the log loss :math:`\sum (y - p) / (\sum p (1 - p) + \lambda)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.binning import Table
from bosquet.reference.draws import hashed, sample_of_rows
from bosquet.reference.gradient_trees import Node, TreeOptions, grow, leaf_of, quantise
from bosquet.reference.losses import Loss

Array = NDArray[np.float64]
Pairs = NDArray[np.float32]
PairsOf = Callable[[Array, Array, Array], Pairs]


@dataclass(frozen=True)
class BoostOptions:
    """How trees are added up. `newton` false: leaves take the exact minimiser."""

    tree: TreeOptions = field(default_factory=TreeOptions)
    learning_rate: float = 0.1
    subsample: float = 1.0
    newton: bool = True
    seed: int = 0


def newton_values(tree: list[Node], leaf: NDArray[np.int64], pairs: Pairs, l2: float) -> Array:
    """-G / (H + l2) by node, from gradients as they were before they became integers."""
    g = np.bincount(leaf, weights=pairs[:, 0], minlength=len(tree))  # adds row after row
    h = np.bincount(leaf, weights=pairs[:, 1], minlength=len(tree)) + l2
    return np.divide(-g, h, out=np.zeros(len(tree)), where=h > 0)


def within_step(value: float, options: BoostOptions) -> float:
    """Held to the largest step, if there is one."""
    step = options.tree.max_delta_step
    return min(max(value, -step), step) if step > 0 else value


def set_leaf_values(tree: list[Node], values: Array, options: BoostOptions) -> None:
    """Held to the largest step and to the node's bounds, then shrunk."""
    for node in tree:
        node.cover = len(node.rows)
        value = within_step(float(values[node.number]), options)
        node.value = min(max(value, node.lower), node.upper) * options.learning_rate


def bound_by_minimisers(tree: list[Node], minimisers: Array, options: BoostOptions) -> None:
    """Bounds of monotone splits from the exact minimisers of the children, parents first.

    The bounds that the tree was grown with come from gradients, and exact leaves need not respect them.
    """
    for node in tree:
        if node.split is None or node.is_leaf:
            continue
        children = tree[node.left], tree[node.left + 1]
        for child in children:
            child.lower, child.upper = node.lower, node.upper
        direction = options.tree.monotone[node.split.feature]
        if direction == 0:
            continue
        best = [within_step(float(minimisers[child.number]), options) for child in children]
        middle = sum(min(max(value, node.lower), node.upper) for value in best) / 2
        low, high = children[::direction]
        low.upper, high.lower = min(low.upper, middle), max(high.lower, middle)


def boost(
    table: Table,
    y: Array,
    loss: Loss,
    rounds: int,
    options: BoostOptions,
    weight: Array | None = None,
    start: Array | None = None,
    pairs_of: PairsOf | None = None,
) -> tuple[list[list[Node]], Array]:
    """The trees and the raw predictions of the training rows.

    `start` are raw predictions to begin with, the best constant if not given. `pairs_of(y, raw, w)`
    may stand in for the loss's own weighted gradients and hessians.

    >>> from bosquet.reference.binning import bin_table
    >>> from bosquet.reference.losses import SquaredError
    >>> x, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    >>> once = BoostOptions(TreeOptions(min_samples_leaf=1), learning_rate=1)
    >>> trees, raw = boost(bin_table(x), y, SquaredError(), 1, once)
    >>> raw
    array([0., 0., 0., 0., 1., 1., 1., 1.])
    """
    w = np.ones_like(y) if weight is None else weight
    f = np.full_like(y, loss.best_constant(y, w)) if start is None else start.copy()
    trees = []
    for number in range(rounds):
        loss.start_round(y, f, w)
        pairs = loss.pairs(y, f, w) if pairs_of is None else pairs_of(y, f, w)
        if not options.newton:
            # A least-squares tree on the pseudo-residuals: a row counts by its weight.
            pairs = np.column_stack([pairs[:, 0], w.astype(np.float32)])
        rows = np.arange(len(y))
        if options.subsample < 1:
            rows = np.array(sample_of_rows(len(y), options.subsample, options.seed, number))
        tree = grow(table, quantise(pairs), options.tree, rows, hashed(options.seed, number, 0))
        leaf = leaf_of(tree, table.bins)
        if options.newton:
            l2 = options.tree.l2_regularization
            values = newton_values(tree, leaf[rows], pairs[rows], l2)
        else:
            values = np.array([loss.minimiser(y[n.rows], f[n.rows], w[n.rows]) for n in tree])
            if options.tree.monotone:
                bound_by_minimisers(tree, values, options)
        set_leaf_values(tree, values, options)
        f = f + np.array([node.value for node in tree])[leaf]
        trees.append(tree)
    return trees, f
