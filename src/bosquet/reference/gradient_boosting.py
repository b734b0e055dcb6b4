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


def set_leaf_values(tree: list[Node], values: Array, options: BoostOptions) -> None:
    """Held to the largest step and to the node's bounds, then shrunk."""
    step = options.tree.max_delta_step
    for node in tree:
        node.cover = len(node.rows)
        value = float(values[node.number])
        if step > 0:
            value = min(max(value, -step), step)
        node.value = min(max(value, node.lower), node.upper) * options.learning_rate


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
            values = np.zeros(len(tree))
            for node in tree:
                if node.is_leaf:
                    values[node.number] = loss.minimiser(y[node.rows], f[node.rows], w[node.rows])
        set_leaf_values(tree, values, options)
        f = f + np.array([node.value for node in tree])[leaf]
        trees.append(tree)
    return trees, f
