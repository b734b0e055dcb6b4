r"""A regression tree on gradients and Hessians, as grown in second-order boosting.

The loss is expanded to second order in the values that the tree adds. For a leaf whose rows have the sums
:math:`G = \sum g` of gradients and :math:`H = \sum h` of Hessians, the best value is
:math:`-G / (H + \lambda)`, which reduces the objective by :math:`\frac12 G^2 / (H + \lambda)`. The gain of a
split into L and R, with a cost :math:`\beta` per leaf, is therefore

.. math:: \frac12 \left[ \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
          - \frac{G^2}{H + \lambda} \right] - \beta .

Gradients are rounded to integers before the search. Sums of integers are exact, so that they do not depend on
the order of the rows or on the number of threads. Leaf values are computed in `gradient_boosting`, from the
gradients before rounding.

With very many rows the unit of rounding is not much smaller than the gradients, and most of them would be
rounded in the same direction. They are then rounded stochastically: up with the probability of the fraction.
The expected value of a sum is the sum before rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.binning import BinnedTable
from bosquet.reference.draws import draw_share, hashed, mix, standard_normal

Integers = NDArray[np.int64]
Reals = NDArray[np.floating]


@dataclass(frozen=True)
class TreeOptions:
    """Limits on the tree and conditions on a split; `max_depth=0` means no limit."""

    max_leaf_nodes: int = 31
    max_depth: int = 0
    depth_wise: bool = False
    min_samples_leaf: int = 20
    min_child_weight: float = 1e-3
    l2_regularization: float = 0.0  # lambda
    min_split_gain: float = 0.0  # beta
    max_delta_step: float = 0.0  # 0: no limit
    split_noise: float = 0.0  # in units of the score of a split at random
    category_smoothing: float = 10.0
    category_l2: float = 10.0
    max_category_threshold: int = 32
    min_samples_category: int = 30
    features_by_tree: float = 1.0
    features_by_level: float = 1.0
    features_by_node: float = 1.0
    monotone: list[int] = field(default_factory=list)
    interactions: list[list[int]] = field(default_factory=list)


@dataclass
class Quantised:
    """Integer gradients and Hessians (rows, 2), and the real values that one unit of each represents."""

    pairs: Integers
    gradient_unit: float
    hessian_unit: float
    # Twice the gain that a split at random has on average.
    random_decrease: float = 0.0


def units_per_one(total: float, n_rows: int, largest_error: float = 0.5) -> float:
    """Return the largest power of two s for which s * total, with each row rounded, is below 2^31.

    Rounding adds at most `largest_error` per row: 1/2 to the nearest integer, 1 if it is stochastic. `total`
    is the sum of the absolute values of all rows, so that the sum over any subset of the rows fits into 32
    bits, too.
    """
    if not total > 0:
        return 1.0
    limit = 2**31 - 2 - n_rows * largest_error
    return 2.0 ** math.floor(math.log2(limit / total * (1 - 1e-9)))


def rounding_noise(n_rows: int, key: int) -> Reals:
    """Return numbers between -1/2 and 1/2 for the gradient and the Hessian of each row: shape (rows, 2).

    A number plus this noise, rounded to the nearest integer, is rounded up with the probability of its
    fraction. The noise is a hash of the number of the row. It has 21 random bits and does not reach ±1/2, so
    that integers stay as they are.
    """
    stream = int.from_bytes(b"round", "big")
    bits = np.array([hashed(key, stream, row) for row in range(n_rows)], dtype=np.uint64)
    first_and_last_21 = np.stack([bits >> 43, bits & (2**21 - 1)], axis=1)
    return (first_and_last_21 + 0.5) / 2**21 - 0.5


def quantise(pairs: NDArray[np.float32], key: int | None = None) -> Quantised:
    """Round gradients and Hessians to integers; a Hessian that is the same for all rows becomes 1.

    With a key, which seeds the random numbers, rounding is stochastic.
    """
    g, h = pairs.astype(np.float64).T
    largest_error = 0.5 if key is None else 1.0
    per_gradient = units_per_one(float(np.sum(np.abs(g))), len(g), largest_error)
    per_hessian = units_per_one(float(np.sum(h)), len(h), largest_error)
    hessian_unit = 1 / per_hessian
    if h.min() == h.max() > 0:
        hessian_unit = float(h[0])
        per_hessian = 1 / hessian_unit
    units = np.stack([g * per_gradient, h * per_hessian], axis=1)
    if key is not None:
        units += rounding_noise(len(units), key)
    integers = np.rint(units).astype(np.int64)
    random_decrease = float(np.sum(g * g) / np.sum(h)) if np.sum(h) > 0 else 0.0
    return Quantised(integers, 1 / per_gradient, hessian_unit, random_decrease)


def histogram(bins: Integers, pairs: Integers, n_bins: int) -> Integers:
    """Return the sums of gradients and Hessians and the number of rows of each bin: shape (n_bins, 3)."""
    columns = [pairs[:, 0], pairs[:, 1], np.ones(len(pairs))]
    sums = [np.bincount(bins, weights=column, minlength=n_bins) for column in columns]
    return np.column_stack(sums).astype(np.int64)


@dataclass
class BinSplit:
    """A split: rows with bins up to `bin`, or in `left_bins` if the feature is categorical, go left."""

    feature: int
    bin: int = 0
    missing_left: bool = False
    left_bins: list[int] = field(default_factory=list)
    gain: float = 0.0

    def goes_left(self, bins: Integers) -> NDArray[np.bool_]:
        """Return whether rows with these bins go left; bin 0 holds missing values."""
        present = np.isin(bins, self.left_bins) if self.left_bins else bins <= self.bin
        return np.where(bins == 0, self.missing_left, present)


@dataclass
class GradientNode:
    """A node of a tree: its rows, the bounds on its value, and its split (for a leaf, its best split).

    `key` seeds the random numbers of the node, and `path` holds the features of the splits above it.
    """

    number: int
    depth: int
    key: int
    rows: Integers
    path: list[int]
    lower: float = -math.inf
    upper: float = math.inf
    split: BinSplit | None = None
    left: int = 0  # number of the left child; the right child is the next one; 0 for a leaf
    value: float = 0.0
    cover: int = 0

    @property
    def is_leaf(self) -> bool:
        return self.left == 0


def ordered_candidates(sums: Integers, feature: int) -> tuple[list[BinSplit], Integers]:
    """Return the splits of an ordered feature, and the sums of their left children, as in a histogram.

    Every threshold is listed with the missing values on the right, then with the missing values on the left.
    """
    below = np.cumsum(sums[1:], axis=0)
    splits = [BinSplit(feature, bin=b) for b in range(1, len(sums))]
    if sums[0, 2] == 0:
        return splits, below
    splits += [BinSplit(feature, bin=b, missing_left=True) for b in range(1, len(sums))]
    return splits, np.concatenate([below, sums[0] + below])


def categorical_candidates(
    sums: Integers, feature: int, gradients: Quantised, options: TreeOptions
) -> tuple[list[BinSplit], Integers]:
    r"""Return the splits of a categorical feature, and the sums of their left children.

    The levels are sorted by :math:`G / (H + s)`, and the first or the last k of them go left. For one
    output and s = 0 the best of all subsets has this form (Fisher 1958). The smoothing s moves rare levels
    towards 0. Levels with too few rows are not sorted and go right. Missing values are a level.
    """
    g = sums[:, 0] * gradients.gradient_unit
    h = sums[:, 1] * gradients.hessian_unit
    mean_h = sums[:, 1].sum() * gradients.hessian_unit / sums[:, 2].sum()  # mean Hessian of a row
    least_h = options.min_samples_category * mean_h
    sorted_levels = [b for b in range(len(sums)) if h[b] > 0 and h[b] >= least_h]
    sorted_levels.sort(key=lambda b: (g[b] / (h[b] + options.category_smoothing * mean_h), b))
    splits, lefts = [], np.zeros((0, 3), dtype=np.int64)
    for levels in (sorted_levels, sorted_levels[::-1]):
        longest = min(len(levels), options.max_category_threshold)
        for length in range(1, longest + 1):
            chosen = sorted(levels[:length])
            splits.append(BinSplit(feature, missing_left=0 in chosen, left_bins=chosen))
        lefts = np.concatenate([lefts, np.cumsum(sums[levels[:longest]], axis=0)])
    return splits, lefts


def bounded_value(g: Reals, h: Reals, l2: float, node: GradientNode, options: TreeOptions) -> Reals:
    """Return -G / (H + l2), clipped to the largest step and to the bounds of the node."""
    value = -g / (h + l2)
    if options.max_delta_step > 0:
        value = np.clip(value, -options.max_delta_step, options.max_delta_step)
    return np.clip(value, node.lower, node.upper)


def value_score(g: Reals, h: Reals, l2: float, value: Reals) -> Reals:
    """Return twice the reduction of the objective by a leaf value; G² / (H + l2) at the best value."""
    return -(2 * g + (h + l2) * value) * value


class SplitSearch:
    """Search for the best split of a node over all features, thresholds and directions of missing values."""

    def __init__(self, table: BinnedTable, gradients: Quantised, options: TreeOptions) -> None:
        self.table = table
        self.gradients = gradients
        self.options = options
        self.unconstrained = options.max_delta_step == 0 and not options.monotone
        self.least_hessian = max(1, math.ceil(options.min_child_weight / gradients.hessian_unit))

    def dequantise(self, sums: Integers) -> tuple[Reals, Reals]:
        """Return integer sums of gradients and Hessians as real numbers."""
        return (
            sums[..., 0] * self.gradients.gradient_unit,
            sums[..., 1] * self.gradients.hessian_unit,
        )

    def scores(self, left: Integers, total: Integers, l2: float) -> Reals:
        r"""Return scores that rank the candidates, if leaf values are unconstrained.

        With :math:`a = H_L + \lambda`, :math:`c = H_R + \lambda` and :math:`S = a + c`,

        .. math:: \frac{G_L^2}{a} + \frac{G_R^2}{c}
                  = \frac{(G_L - a G / S)^2}{a c} S + \frac{G^2}{S} .

        Only the fraction on the right depends on the split. It has no large term that is common to all
        candidates, so that small differences are not lost to rounding.
        """
        (gl, hl), (g, h) = self.dequantise(left), self.dequantise(total)
        a, c = hl + l2, self.dequantise(total - left)[1] + l2
        t = gl - g / (h + 2 * l2) * a
        return t * t / (a * c)

    def reductions(
        self, left: Integers, total: Integers, feature: int, l2: float, node: GradientNode
    ) -> Reals:
        """Return twice the reduction of the objective by each candidate; -inf if a constraint forbids it."""
        (gl, hl), (g, h) = self.dequantise(left), self.dequantise(total)
        node_l2 = self.options.l2_regularization
        if self.unconstrained:
            both = h + 2 * l2
            before = g * g * (1 / both - 1 / (h + node_l2))
            return self.scores(left, total, l2) * both + (before if l2 > 0 else 0.0)
        gr, hr = g - gl, self.dequantise(total - left)[1]
        node_value = bounded_value(g, h, node_l2, node, self.options)
        left_value = bounded_value(gl, hl, l2, node, self.options)
        right_value = bounded_value(gr, hr, l2, node, self.options)
        both = value_score(gl, hl, l2, left_value) + value_score(gr, hr, l2, right_value)
        direction = self.options.monotone[feature] if self.options.monotone else 0
        forbidden = (right_value - left_value) * direction < 0
        return np.where(forbidden, -np.inf, both - value_score(g, h, node_l2, node_value))

    def rounding_error(self, total: Integers) -> float:
        """Return the largest gain that can be due to rounding; a node with identical rows must not be split.

        Unconstrained gains are squares of differences, so that their rounding errors are squared, too.
        """
        g, h = self.dequantise(total)
        relative = 1e-20 if self.unconstrained else 1e-13
        return float(relative * g * g / (h + self.options.l2_regularization))

    def on_feature(self, feature: int, node: GradientNode) -> BinSplit | None:
        """Return the first of the best splits on a feature; None if no split has a gain."""
        options, column = self.options, self.table.columns[feature]
        pairs = self.gradients.pairs[node.rows]
        sums = histogram(self.table.bins[node.rows, feature], pairs, column.n_bins)
        total = sums.sum(axis=0)
        l2 = options.l2_regularization
        if column.categorical:
            splits, lefts = categorical_candidates(sums, feature, self.gradients, options)
            l2 += options.category_l2
        else:
            splits, lefts = ordered_candidates(sums, feature)
        smaller = np.minimum(lefts, total - lefts)
        enough_rows = smaller[:, 2] >= options.min_samples_leaf
        admissible = np.flatnonzero(enough_rows & (smaller[:, 1] >= self.least_hessian))
        if len(admissible) == 0:
            return None
        lefts = lefts[admissible]
        reductions = self.reductions(lefts, total, feature, l2, node)
        by_score = self.unconstrained and not column.categorical
        first = int(np.argmax(self.scores(lefts, total, l2) if by_score else reductions))
        best, left = splits[admissible[first]], lefts[first]
        best.gain = float(reductions[first]) / 2 - options.min_split_gain
        if not best.gain > self.rounding_error(total):
            return None
        # Without missing values in training, later ones go to the child with more Hessian.
        if sums[0, 2] == 0:
            best.missing_left = bool(2 * left[1] >= total[1])
        return best

    def find_best(self, node: GradientNode, features: list[int]) -> BinSplit | None:
        """Return the split with the highest priority; the first feature wins a tie."""
        splits = [split for f in features if (split := self.on_feature(f, node)) is not None]
        return max(splits, key=lambda split: self.priority(split, node), default=None)

    def priority(self, split: BinSplit, node: GradientNode) -> float:
        r"""Return the gain of a split or, with noise, :math:`\sqrt{2 \text{gain}}` plus a random number.

        The root of a split at random is distributed like the absolute value of a normal variable. The noise
        has the same scale, so that it changes the choice among features without a clear effect only.
        """
        if self.options.split_noise == 0:
            return split.gain
        root = math.sqrt(2 * (split.gain + self.options.min_split_gain))
        scale = self.options.split_noise * math.sqrt(self.gradients.random_decrease)
        return root + scale * standard_normal(node.key, 1, split.feature)

    def leaf_value(self, rows: Integers, node: GradientNode) -> float:
        """Return the leaf value of a subset of the rows of a node, from the integer sums."""
        g, h = self.dequantise(self.gradients.pairs[rows].sum(axis=0))
        return float(bounded_value(g, h, self.options.l2_regularization, node, self.options))


def allowed_features(
    node: GradientNode, drawn: list[int], key: int, options: TreeOptions
) -> list[int]:
    """Return the features drawn for the tree, the level and the node that may interact with its path."""
    features = draw_share(drawn, options.features_by_level, key, 2 + node.depth)
    if options.interactions:
        groups = [group for group in options.interactions if set(node.path) <= set(group)]
        features = [f for f in features if any(f in group for group in groups)]
    return draw_share(features, options.features_by_node, node.key, 0)


def split_node(
    node: GradientNode, number: int, table: BinnedTable, search: SplitSearch
) -> tuple[GradientNode, GradientNode]:
    """Return the two children of a node.

    After a split on a monotone feature, the midpoint of their values becomes a bound of both children.
    """
    assert node.split is not None
    feature = node.split.feature
    lefts = node.split.goes_left(table.bins[node.rows, feature])
    left, right = (
        GradientNode(
            number=number + side,
            depth=node.depth + 1,
            key=hashed(node.key, side, 0),
            rows=rows,
            path=[*node.path, feature],
            lower=node.lower,
            upper=node.upper,
        )
        for side, rows in enumerate((node.rows[lefts], node.rows[~lefts]))
    )
    direction = search.options.monotone[feature] if search.options.monotone else 0
    if direction != 0:
        middle = (search.leaf_value(left.rows, node) + search.leaf_value(right.rows, node)) / 2
        low, high = (left, right) if direction > 0 else (right, left)
        low.upper = min(low.upper, middle)
        high.lower = max(high.lower, middle)
    return left, right


def grow(
    table: BinnedTable, gradients: Quantised, options: TreeOptions, rows: Integers, key: int = 0
) -> list[GradientNode]:
    """Grow a tree on the given rows and return its nodes; leaf values are not set yet.

    Leaf-wise growth splits the leaf with the largest gain next. Depth-wise growth splits the leaves of the
    smallest depth first, and among them the one with the largest gain. Nodes are numbered in the order in
    which they are added.
    """
    search = SplitSearch(table, gradients, options)
    splittable = [f for f, column in enumerate(table.columns) if column.splittable]
    drawn = draw_share(splittable, options.features_by_tree, key, 1)

    def find_split(node: GradientNode) -> None:
        deep = options.max_depth > 0 and node.depth >= options.max_depth
        if not deep and len(node.rows) >= 2 * max(1, options.min_samples_leaf):
            node.split = search.find_best(node, allowed_features(node, drawn, key, options))

    def priority(node: GradientNode) -> tuple[int, float, int]:
        assert node.split is not None
        return (node.depth if options.depth_wise else 0, -node.split.gain, node.number)

    root = GradientNode(number=0, depth=0, key=mix(key), rows=rows, path=[])
    find_split(root)
    tree = [root]
    for _ in range(options.max_leaf_nodes - 1):
        frontier = [node for node in tree if node.is_leaf and node.split is not None]
        if not frontier:
            break
        node = min(frontier, key=priority)
        node.left = len(tree)
        children = split_node(node, node.left, table, search)
        for child in children:
            find_split(child)
        tree.extend(children)
    return tree


def leaf_of(tree: list[GradientNode], bins: Integers) -> Integers:
    """Return the number of the leaf of each row."""
    current = np.zeros(len(bins), dtype=np.int64)
    for node in tree:  # children come after their parents
        if node.is_leaf or node.split is None:
            continue
        here = np.flatnonzero(current == node.number)
        lefts = node.split.goes_left(bins[here, node.split.feature])
        current[here] = np.where(lefts, node.left, node.left + 1)
    return current
