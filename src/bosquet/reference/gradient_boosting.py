r"""Gradient boosting of trees: the stagewise loop.

The model f starts as the best constant. Each round computes the gradients g and Hessians h of the loss at the
current predictions, grows a tree on them, gives each leaf a value, and adds the tree times the learning
rate :math:`\nu`: :math:`f \leftarrow f + \nu\, \text{tree}`.

The value of a leaf is the Newton step :math:`-\sum g / (\sum h + \lambda)`, with the penalty
:math:`\lambda`; for gradient steps it is the exact minimiser of the loss on the rows of the leaf. For
squared error with residuals r the Newton step is :math:`\sum r / (n + \lambda)`; for the log loss with
probabilities p it is :math:`\sum (y - p) / (\sum p (1 - p) + \lambda)`.

With an offset o the model is :math:`o + f`. It starts from the best constant beside the offset and is boosted
in the same way: the gradients and hessians are those at :math:`o + f`. For Poisson counts with the exposure
t, the offset :math:`\ln t` gives the mean :math:`t e^f`, and the constant is
:math:`\ln(\sum w y / \sum w t)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.binning import BinnedTable
from bosquet.reference.draws import hashed, random_signs, sample_of_rows
from bosquet.reference.gradient_trees import GradientNode, TreeOptions, grow, leaf_of, quantise
from bosquet.reference.losses import Loss

Array = NDArray[np.float64]
GradientPairs = NDArray[np.float32]  # weighted gradient and Hessian of each row: (rows, 2)
PairFunction = Callable[[Array, Array, Array], GradientPairs]  # of y, f, w


@dataclass(frozen=True)
class BoostOptions:
    """Options of boosting. With `newton=False`, leaf values are exact minimisers of the loss.

    With more rows than `stochastic_rounding_above`, gradients are rounded stochastically.
    """

    tree: TreeOptions = field(default_factory=TreeOptions)
    learning_rate: float = 0.1
    subsample: float = 1.0
    newton: bool = True
    seed: int = 0
    stochastic_rounding_above: int = 50_000_000


def grow_next(
    table: BinnedTable,
    pairs: GradientPairs,
    rows: NDArray[np.int64],
    number: int,
    options: BoostOptions,
) -> list[GradientNode]:
    """Grow the tree of a round on the given rows; it has no leaf values yet."""
    key = hashed(options.seed, number, 0)
    is_large = len(pairs) > options.stochastic_rounding_above
    return grow(table, quantise(pairs, key if is_large else None), options.tree, rows, key)


def newton_values(
    tree: list[GradientNode], leaf: NDArray[np.int64], pairs: GradientPairs, l2: float
) -> Array:
    """Return -G / (H + l2) of each leaf, from unrounded gradients; `leaf` is the leaf of each row."""
    g = np.bincount(leaf, weights=pairs[:, 0], minlength=len(tree))  # adds in the order of the rows
    h = np.bincount(leaf, weights=pairs[:, 1], minlength=len(tree)) + l2
    return np.divide(-g, h, out=np.zeros(len(tree)), where=h > 0)


def clip_step(value: float, options: BoostOptions) -> float:
    """Clip a leaf value to ± `max_delta_step`; 0 means no limit."""
    limit = options.tree.max_delta_step
    return min(max(value, -limit), limit) if limit > 0 else value


def set_leaf_values(tree: list[GradientNode], values: Array, options: BoostOptions) -> None:
    """Clip leaf values to the largest step and the bounds of the node; multiply by the learning rate."""
    for node in tree:
        node.cover = len(node.rows)
        value = clip_step(float(values[node.number]), options)
        node.value = min(max(value, node.lower), node.upper) * options.learning_rate


def update_monotone_bounds(
    tree: list[GradientNode], minimisers: Array, options: BoostOptions
) -> None:
    """Compute the bounds of monotone splits from the exact minimisers of the children, parents first.

    The bounds from growing the tree were computed from gradients, and exact leaf values may violate them.
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
        best = [clip_step(float(minimisers[child.number]), options) for child in children]
        middle = sum(min(max(value, node.lower), node.upper) for value in best) / 2
        low, high = children[::direction]
        low.upper, high.lower = min(low.upper, middle), max(high.lower, middle)


def boost(
    table: BinnedTable,
    y: Array,
    loss: Loss,
    rounds: int,
    options: BoostOptions,
    weight: Array | None = None,
    start: Array | None = None,
    pairs_of: PairFunction | None = None,
    offset: Array | None = None,
) -> tuple[list[list[GradientNode]], Array]:
    """Return the trees, and the raw predictions for the training rows, which include the offset.

    `start` are the initial raw predictions; the default is the best constant, added to the offset.
    `pairs_of(y, f, w)`, if given, replaces the weighted gradients and Hessians of the loss.

    >>> from bosquet.reference.binning import bin_table
    >>> from bosquet.reference.losses import SquaredError
    >>> x, y = np.arange(8.0)[:, None], np.array([0, 0, 0, 0, 1, 1, 1, 1.0])
    >>> once = BoostOptions(TreeOptions(min_samples_leaf=1), learning_rate=1)
    >>> trees, raw = boost(bin_table(x), y, SquaredError(), 1, once)
    >>> raw
    array([0., 0., 0., 0., 1., 1., 1., 1.])
    """
    w = np.ones_like(y) if weight is None else weight
    if start is not None:
        f = start.copy()
    elif offset is not None:
        f = offset + loss.best_shift(y, offset, w)
    else:
        f = np.full_like(y, loss.best_constant(y, w))
    trees = []
    for number in range(rounds):
        loss.start_round(y, f, w)
        pairs = loss.pairs(y, f, w) if pairs_of is None else pairs_of(y, f, w)
        if not options.newton:
            # Fit the pseudo-residuals by least squares: the Hessian of a row is its weight.
            pairs = np.column_stack([pairs[:, 0], w.astype(np.float32)])
        rows = np.arange(len(y))
        if options.subsample < 1:
            rows = np.array(sample_of_rows(len(y), options.subsample, options.seed, number))
        tree = grow_next(table, pairs, rows, number, options)
        leaf = leaf_of(tree, table.bins)
        if options.newton:
            l2 = options.tree.l2_regularization
            values = newton_values(tree, leaf[rows], pairs[rows], l2)
        else:
            values = np.array([loss.minimiser(y[n.rows], f[n.rows], w[n.rows]) for n in tree])
            if options.tree.monotone:
                update_monotone_bounds(tree, values, options)
        set_leaf_values(tree, values, options)
        f = f + np.array([node.value for node in tree])[leaf]
        trees.append(tree)
    return trees, f


def boost_all_outputs(
    table: BinnedTable,
    pairs_of: Callable[[Array], GradientPairs],
    outputs: int,
    rounds: int,
    options: BoostOptions,
) -> tuple[list[list[GradientNode]], list[Array], Array]:
    """Boost trees whose leaves have one value per output; return the trees, their values and f.

    `pairs_of(f)` returns the gradients and Hessians (outputs, rows, 2) at the raw predictions f
    (outputs, rows), which start at 0. The splits of a tree are found on the sum over the outputs, each
    with a random sign. For classes, such a tree separates a random group of classes from the others. The
    value of output k in a leaf is the Newton step of its own gradients. The values of a tree have the shape
    (nodes, outputs).
    """
    n_rows = len(table.bins)
    f = np.zeros((outputs, n_rows))
    trees, values = [], []
    for number in range(rounds):
        pairs = pairs_of(f)
        signs = random_signs(outputs, hashed(options.seed, number, outputs))
        mixed = np.zeros((n_rows, 2), dtype=np.float32)
        for sign, of_output in zip(signs, pairs, strict=True):
            mixed[:, 0] += np.float32(sign) * of_output[:, 0]
            mixed[:, 1] += of_output[:, 1]
        rows = np.arange(n_rows)
        if options.subsample < 1:
            rows = np.array(sample_of_rows(n_rows, options.subsample, options.seed, number))
        tree = grow_next(table, mixed, rows, number, options)
        leaf = leaf_of(tree, table.bins)
        l2 = options.tree.l2_regularization
        steps = [newton_values(tree, leaf[rows], of_output[rows], l2) for of_output in pairs]
        trees.append(tree)
        values.append(options.learning_rate * np.stack(steps, axis=1))
        f = f + values[-1][leaf].T
    return trees, values, f
