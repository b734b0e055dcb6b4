r"""A regression tree on gradients and hessians, as second-order boosting grows it.

Expand the loss to the second order in what a tree adds. A leaf whose rows have the sums
:math:`G = \sum g` and :math:`H = \sum h` is best given the value :math:`-G / (H + \lambda)` and
takes :math:`\frac12 G^2 / (H + \lambda)` off the objective. Splitting it is therefore worth

.. math:: \frac12 \left[ \frac{G_L^2}{H_L + \lambda} + \frac{G_R^2}{H_R + \lambda}
          - \frac{G^2}{H + \lambda} \right] - \beta .

Gradients are rounded to integers before the search: sums of integers are exact, so it does not
matter in which order, or on how many threads, rows are added up. Values of leaves are not computed
here but in `gradient_boosting`, from the gradients as they were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.binning import Table
from bosquet.reference.draws import draw_share, hashed, mix

Integers = NDArray[np.int64]
Reals = NDArray[np.floating]


@dataclass(frozen=True)
class TreeOptions:
    """The shape of the tree, and what a split must satisfy. `max_depth` 0 means no limit."""

    max_leaf_nodes: int = 31
    max_depth: int = 0
    depth_wise: bool = False
    min_samples_leaf: int = 20
    min_child_weight: float = 1e-3
    l2_regularization: float = 0.0  # lambda
    min_split_gain: float = 0.0  # beta
    max_delta_step: float = 0.0  # 0: no limit
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
    """Integer gradients (rows, 2), and what 1 is worth in each of the two columns."""

    pairs: Integers
    gradient_unit: float
    hessian_unit: float


def units_per_one(total: float, rows: int) -> float:
    """The largest power of two s for which s * total, each row rounded, stays below 2^31.

    Rounding adds at most 1/2 a row. As `total` is the sum of the absolute values over all rows, no
    sum over some of the rows can overflow 32 bits either.
    """
    if not total > 0:
        return 1.0
    room = 2**31 - 2 - rows / 2
    return 2.0 ** math.floor(math.log2(room / total * (1 - 1e-9)))


def quantise(pairs: NDArray[np.float32]) -> Quantised:
    """Rounds gradients and hessians to integers. A hessian that all rows share becomes 1."""
    g, h = pairs.astype(np.float64).T
    per_gradient = units_per_one(float(np.sum(np.abs(g))), len(g))
    per_hessian = units_per_one(float(np.sum(h)), len(h))
    hessian_unit = 1 / per_hessian
    if h.min() == h.max() > 0:
        hessian_unit = float(h[0])
        per_hessian = 1 / hessian_unit
    integers = np.rint(np.stack([g * per_gradient, h * per_hessian], axis=1)).astype(np.int64)
    return Quantised(integers, 1 / per_gradient, hessian_unit)


def histogram(bins: Integers, pairs: Integers, n_bins: int) -> Integers:
    """Sums by bin of the gradient, the hessian and the rows: shape (n_bins, 3)."""
    columns = [pairs[:, 0], pairs[:, 1], np.ones(len(pairs))]
    sums = [np.bincount(bins, weights=column, minlength=n_bins) for column in columns]
    return np.column_stack(sums).astype(np.int64)


@dataclass
class Split:
    """A rule: bins up to `bin`, or those in `left_bins` if it is categorical, go left."""

    feature: int
    bin: int = 0
    missing_left: bool = False
    left_bins: list[int] = field(default_factory=list)
    gain: float = 0.0

    def goes_left(self, bins: Integers) -> NDArray[np.bool_]:
        present = np.isin(bins, self.left_bins) if self.left_bins else bins <= self.bin
        return np.where(bins == 0, self.missing_left, present)


@dataclass
class Node:
    """A node of a tree: its rows, the bounds on its value, the split it has or could have."""

    number: int
    depth: int
    key: int
    rows: Integers
    path: list[int]
    lower: float = -math.inf
    upper: float = math.inf
    split: Split | None = None
    left: int = 0  # number of the left child, the right one is the next; 0: a leaf
    value: float = 0.0
    cover: int = 0

    @property
    def is_leaf(self) -> bool:
        return self.left == 0


def ordered_candidates(sums: Integers, feature: int) -> tuple[list[Split], Integers]:
    """Every threshold with the missing values on the right, then with them on the left.

    Beside the rules stand the sums, as in a histogram, of the children they send left.
    """
    below = np.cumsum(sums[1:], axis=0)
    rules = [Split(feature, bin=b) for b in range(1, len(sums))]
    if sums[0, 2] == 0:
        return rules, below
    rules += [Split(feature, bin=b, missing_left=True) for b in range(1, len(sums))]
    return rules, np.concatenate([below, sums[0] + below])


def categorical_candidates(
    sums: Integers, feature: int, gradients: Quantised, options: TreeOptions
) -> tuple[list[Split], Integers]:
    r"""Runs of the levels sorted by :math:`G / (H + s)`, from either end.

    For one output the best of all subsets is such a run (Fisher 1958). The smoothing s draws rare
    levels to 0. Levels too rare to be sorted stay on the right; missing values are a level.
    """
    g = sums[:, 0] * gradients.gradient_unit
    h = sums[:, 1] * gradients.hessian_unit
    row = sums[:, 1].sum() * gradients.hessian_unit / sums[:, 2].sum()  # hessian of a mean row
    kept = [b for b in range(len(sums)) if h[b] > 0 and h[b] >= options.min_samples_category * row]
    kept.sort(key=lambda b: (g[b] / (h[b] + options.category_smoothing * row), b))
    rules, lefts = [], np.zeros((0, 3), dtype=np.int64)
    for levels in (kept, kept[::-1]):
        longest = min(len(levels), options.max_category_threshold)
        for length in range(1, longest + 1):
            chosen = sorted(levels[:length])
            rules.append(Split(feature, missing_left=0 in chosen, left_bins=chosen))
        lefts = np.concatenate([lefts, np.cumsum(sums[levels[:longest]], axis=0)])
    return rules, lefts


def bounded_value(g: Reals, h: Reals, l2: float, node: Node, options: TreeOptions) -> Reals:
    """-G / (H + l2), held within the largest step and the node's bounds."""
    value = -g / (h + l2)
    if options.max_delta_step > 0:
        value = np.clip(value, -options.max_delta_step, options.max_delta_step)
    return np.clip(value, node.lower, node.upper)


def value_score(g: Reals, h: Reals, l2: float, value: Reals) -> Reals:
    """Twice what a leaf of this value takes off the objective; G^2 / (H + l2) at the best value."""
    return -(2 * g + (h + l2) * value) * value


class SplitSearch:
    """The best split of a node, over all features, thresholds and directions of missing values."""

    def __init__(self, table: Table, gradients: Quantised, options: TreeOptions) -> None:
        self.table = table
        self.gradients = gradients
        self.options = options
        self.free = options.max_delta_step == 0 and not options.monotone
        self.least_hessian = max(1, math.ceil(options.min_child_weight / gradients.hessian_unit))

    def real(self, sums: Integers) -> tuple[Reals, Reals]:
        """Integer sums, by row, as real numbers."""
        return (
            sums[..., 0] * self.gradients.gradient_unit,
            sums[..., 1] * self.gradients.hessian_unit,
        )

    def scores(self, left: Integers, total: Integers, l2: float) -> Reals:
        r"""What distinguishes candidates, where values are free.

        With :math:`a = H_L + \lambda`, :math:`c = H_R + \lambda` and :math:`S = a + c`,

        .. math:: \frac{G_L^2}{a} + \frac{G_R^2}{c}
                  = \frac{(G_L - a G / S)^2}{a c} S + \frac{G^2}{S} .

        Only the fraction on the right depends on the split; its square has no large part that all
        candidates share and that would drown small differences.
        """
        (gl, hl), (g, h) = self.real(left), self.real(total)
        a, c = hl + l2, self.real(total - left)[1] + l2
        t = gl - g / (h + 2 * l2) * a
        return t * t / (a * c)

    def reductions(
        self, left: Integers, total: Integers, feature: int, l2: float, node: Node
    ) -> Reals:
        """Twice what each candidate takes off the objective; -inf where a constraint forbids it."""
        (gl, hl), (g, h) = self.real(left), self.real(total)
        node_l2 = self.options.l2_regularization
        if self.free:
            both = h + 2 * l2
            before = g * g * (1 / both - 1 / (h + node_l2))
            return self.scores(left, total, l2) * both + (before if l2 > 0 else 0.0)
        gr, hr = g - gl, self.real(total - left)[1]
        own = bounded_value(g, h, node_l2, node, self.options)
        left_value = bounded_value(gl, hl, l2, node, self.options)
        right_value = bounded_value(gr, hr, l2, node, self.options)
        both = value_score(gl, hl, l2, left_value) + value_score(gr, hr, l2, right_value)
        direction = self.options.monotone[feature] if self.options.monotone else 0
        forbidden = (right_value - left_value) * direction < 0
        return np.where(forbidden, -np.inf, both - value_score(g, h, node_l2, own))

    def rounding_error(self, total: Integers) -> float:
        """A gain no larger than this is none: a node whose rows are all alike must not be split.

        Free gains are squares of differences, so what rounding leaves of them is squared too.
        """
        g, h = self.real(total)
        relative = 1e-20 if self.free else 1e-13
        return float(relative * g * g / (h + self.options.l2_regularization))

    def on_feature(self, feature: int, node: Node) -> Split | None:
        """The first of the best splits on one feature, or none where nothing is gained."""
        options, column = self.options, self.table.columns[feature]
        pairs = self.gradients.pairs[node.rows]
        sums = histogram(self.table.bins[node.rows, feature], pairs, column.n_bins)
        total = sums.sum(axis=0)
        l2 = options.l2_regularization
        if column.categorical:
            rules, lefts = categorical_candidates(sums, feature, self.gradients, options)
            l2 += options.category_l2
        else:
            rules, lefts = ordered_candidates(sums, feature)
        lighter = np.minimum(lefts, total - lefts)
        large_enough = lighter[:, 2] >= options.min_samples_leaf
        admissible = np.flatnonzero(large_enough & (lighter[:, 1] >= self.least_hessian))
        if len(admissible) == 0:
            return None
        lefts = lefts[admissible]
        reductions = self.reductions(lefts, total, feature, l2, node)
        by_score = self.free and not column.categorical
        first = int(np.argmax(self.scores(lefts, total, l2) if by_score else reductions))
        best, left = rules[admissible[first]], lefts[first]
        best.gain = float(reductions[first]) / 2 - options.min_split_gain
        if not best.gain > self.rounding_error(total):
            return None
        if sums[0, 2] == 0:  # nobody is missing here: whoever comes goes with the heavier child
            best.missing_left = bool(2 * left[1] >= total[1])
        return best

    def best(self, node: Node, features: list[int]) -> Split | None:
        """Higher gain, then lower feature."""
        splits = [split for f in features if (split := self.on_feature(f, node)) is not None]
        return max(splits, key=lambda split: split.gain, default=None)

    def leaf_value(self, rows: Integers, node: Node) -> float:
        """The value some rows of a node would take, from the integer sums."""
        g, h = self.real(self.gradients.pairs[rows].sum(axis=0))
        return float(bounded_value(g, h, self.options.l2_regularization, node, self.options))


def allowed_features(node: Node, drawn: list[int], key: int, options: TreeOptions) -> list[int]:
    """Those drawn for the tree, the level and the node, which may meet the features on its path."""
    features = draw_share(drawn, options.features_by_level, key, 2 + node.depth)
    if options.interactions:
        groups = [group for group in options.interactions if set(node.path) <= set(group)]
        features = [f for f in features if any(f in group for group in groups)]
    return draw_share(features, options.features_by_node, node.key, 0)


def part(node: Node, number: int, table: Table, search: SplitSearch) -> tuple[Node, Node]:
    """The two children of a node; those of a monotone split part at the middle of their values."""
    assert node.split is not None
    feature = node.split.feature
    lefts = node.split.goes_left(table.bins[node.rows, feature])
    left, right = (
        Node(
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
    table: Table, gradients: Quantised, options: TreeOptions, rows: Integers, key: int = 0
) -> list[Node]:
    """Grows a tree on the given rows, and returns its nodes; leaves have no values yet.

    Best first, the leaf with the largest gain is split next; depth-wise, the shallowest, and among
    those the one with the largest gain. Nodes are numbered in the order they come into the tree.
    """
    search = SplitSearch(table, gradients, options)
    splittable = [f for f, column in enumerate(table.columns) if column.splittable]
    drawn = draw_share(splittable, options.features_by_tree, key, 1)

    def find_split(node: Node) -> None:
        deep = options.max_depth > 0 and node.depth >= options.max_depth
        if not deep and len(node.rows) >= 2 * max(1, options.min_samples_leaf):
            node.split = search.best(node, allowed_features(node, drawn, key, options))

    def urgency(node: Node) -> tuple[int, float, int]:
        assert node.split is not None
        return (node.depth if options.depth_wise else 0, -node.split.gain, node.number)

    root = Node(number=0, depth=0, key=mix(key), rows=rows, path=[])
    find_split(root)
    tree = [root]
    for _ in range(options.max_leaf_nodes - 1):
        frontier = [node for node in tree if node.is_leaf and node.split is not None]
        if not frontier:
            break
        node = min(frontier, key=urgency)
        node.left = len(tree)
        children = part(node, node.left, table, search)
        for child in children:
            find_split(child)
        tree.extend(children)
    return tree


def leaf_of(tree: list[Node], bins: Integers) -> Integers:
    """The number of the leaf that each row of bins falls into."""
    at = np.zeros(len(bins), dtype=np.int64)
    for node in tree:  # children come after their parents
        if node.is_leaf or node.split is None:
            continue
        here = np.flatnonzero(at == node.number)
        lefts = node.split.goes_left(bins[here, node.split.feature])
        at[here] = np.where(lefts, node.left, node.left + 1)
    return at
