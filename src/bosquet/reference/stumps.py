r"""The best decision stump for weighted rows, by brute force and in linear time.

A stump h is a tree with one split, "x <= t" or "x is one of these levels", and predicts one value on either
side. Fitting it means to minimise one of three criteria over all splits:

- ``"error"``: the weighted 0-1 error :math:`\sum w_i [h(x_i) \ne y_i]`, with h in {-1, 1};
- ``"exponential"``: :math:`Z = \sum w_i e^{-y_i h(x_i)}`. With :math:`W_+` and :math:`W_-` the weights of
  the two classes on a side, its best value is half the log-odds, :math:`\frac12 \ln(W_+ / W_-)`, and Z is
  the sum of :math:`2 \sqrt{W_+ W_-}` over both sides;
- ``"squared"``: :math:`\sum w_i (y_i - h(x_i))^2`. The best value of a side is its weighted mean.

With m rows and d features, :func:`brute_force` sums all rows for every split: O(d m²). :func:`linear` sorts
the rows by each feature and moves them from the right side to the left one by one: O(d m) after sorting.
Both return the first of equally good stumps, in this order: constant stump, lowest feature, lowest
threshold, missing values on the right. Weights are rounded to multiples of a small unit, so that sums are
exact and ties do not depend on rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass
class Sums:
    """Sums over some rows, in integer units: the response (weight times target) and the weight."""

    response: int
    weight: int

    @property
    def positive(self) -> int:
        """Weight of the rows with y = 1, if y is -1 or +1."""
        return (self.weight + self.response) // 2

    @property
    def negative(self) -> int:
        """Weight of the rows with y = -1, if y is -1 or +1."""
        return (self.weight - self.response) // 2

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.response - other.response, self.weight - other.weight)


@dataclass
class WeightedStump:
    """A stump: rows go left if x <= threshold, or if x is one of the categories.

    `values` are the predictions of the left and the right side; a smaller `criterion_value` is better. A
    constant stump has feature -1.
    """

    feature: int = -1
    threshold: float = math.inf
    categories: frozenset[int] = frozenset()
    missing_left: bool = True
    values: tuple[float, float] = (0.0, 0.0)
    criterion_value: float = 0.0

    def goes_left(self, X: Array) -> Bools:
        """Return whether each row goes left."""
        if self.feature < 0:
            return np.ones(len(X), dtype=bool)
        x = X[:, self.feature]
        goes_left = np.isin(x, list(self.categories)) if self.categories else x <= self.threshold
        return np.where(np.isnan(x), self.missing_left, goes_left)

    def predict(self, X: Array) -> Array:
        """Return the value of the side of each row."""
        return np.where(self.goes_left(X), *self.values)


def units_per_one(total: float, n_rows: int) -> float:
    """Return the number of units per 1: the largest power of two for which the total is below 2^62 units."""
    limit = (2.0**62 - n_rows) * (1 - 1e-9)
    exponent = 61 - math.frexp(total)[1]
    return math.ldexp(1.0, exponent + (math.ldexp(total, exponent + 1) <= limit))


# Gains: larger is better. A split is used if its gain exceeds that of the constant stump.


def error_gain(left: Sums, total: Sums) -> float:
    """Return the correct weight minus the wrong weight, if each side predicts its majority."""
    return abs(left.response) + abs(total.response - left.response)


def exponential_gain(left: Sums, total: Sums) -> float:
    """Return -Z / 2."""
    right = total - left
    roots = [math.sqrt(float(s.positive) * float(s.negative)) for s in (left, right)]
    return -(roots[0] + roots[1])


def squared_gain(left: Sums, total: Sums) -> float:
    """Return the decrease of the sum of squares, divided by the total weight."""
    right_weight = total.weight - left.weight
    if left.weight <= 0 or right_weight <= 0:
        return 0.0
    t = left.response - float(total.response) / float(total.weight) * float(left.weight)
    return t * t / (float(left.weight) * float(right_weight))


GAIN: dict[str, Callable[[Sums, Sums], float]] = {
    "error": error_gain,
    "exponential": exponential_gain,
    "squared": squared_gain,
}


@dataclass
class QuantisedProblem:
    """Targets and weights in integer units, with the values of the criterion for sums of them."""

    y: Array
    w: Array
    criterion: str
    response: list[int] = field(init=False)
    weight: list[int] = field(init=False)
    total: Sums = field(init=False)

    def __post_init__(self) -> None:
        rows = len(self.y)
        self.per_weight = units_per_one(float(np.sum(self.w)), rows)
        absolute = float(np.sum(self.w * np.abs(self.y)))
        self.per_response = units_per_one(absolute, rows) if absolute > 0 else 1.0
        if self.criterion != "squared":
            self.per_response = self.per_weight
        self.weight = [int(u) for u in np.rint(self.w * self.per_weight)]
        self.response = [int(u) for u in np.rint(self.w * self.y * self.per_response)]
        self.total = self.sums(np.ones(rows, dtype=bool))

    def sums(self, chosen: Bools) -> Sums:
        """Return the sums over the chosen rows."""
        rows = np.flatnonzero(chosen)
        return Sums(sum(self.response[i] for i in rows), sum(self.weight[i] for i in rows))

    def gain(self, left: Sums) -> float:
        """Return the gain of a split with the given sums of the left side."""
        return GAIN[self.criterion](left, self.total)

    def best_value(self, side: Sums) -> float:
        """Return the best prediction of a side; odds are smoothed by half the weight of an average row."""
        if self.criterion == "error":
            return 1.0 if side.response > 0 else -1.0
        if self.criterion == "squared":
            return side.response / self.per_response / (side.weight / self.per_weight)
        smoothing = self.total.weight / (2 * len(self.y))
        return 0.5 * math.log((side.positive + smoothing) / (side.negative + smoothing))

    def criterion_value(self, gain: float) -> float:
        """Return the value of the criterion for a given gain."""
        if self.criterion == "error":
            return (self.total.weight - gain) / 2 / self.per_weight
        if self.criterion == "exponential":
            return -2 * gain / self.per_weight
        w = self.total.weight / self.per_weight
        of_constant = (
            float(np.sum(self.w * self.y**2)) - (self.total.response / self.per_response) ** 2 / w
        )
        decrease = gain * self.total.weight * self.per_weight / self.per_response**2
        return max(0.0, of_constant - decrease)

    def constant(self) -> WeightedStump:
        """Return the best constant stump."""
        value = self.best_value(self.total)
        return WeightedStump(
            values=(value, value), criterion_value=self.criterion_value(self.gain(Sums(0, 0)))
        )


def all_splits(X: Array, nominal: tuple[int, ...]) -> Iterator[WeightedStump]:
    """Yield every split, without values, in the order in which ties are resolved."""
    for feature in range(X.shape[1]):
        x = X[:, feature]
        levels = np.unique(x[~np.isnan(x)])
        missing_sides = [False, True] if np.isnan(x).any() else [None]
        if feature in nominal:
            for group in range(2 ** len(levels)):
                chosen = frozenset(int(v) for i, v in enumerate(levels) if group >> i & 1)
                for side in missing_sides:
                    yield WeightedStump(feature, math.nan, chosen, bool(side))
            continue
        thresholds = [threshold_between(a, b) for a, b in pairwise(levels)]
        for t in thresholds:
            for side in missing_sides:
                majority = 2 * int(np.sum(x <= t)) > len(x)
                yield WeightedStump(feature, t, missing_left=majority if side is None else side)
        if len(missing_sides) == 2:
            yield WeightedStump(feature, math.inf, missing_left=False)


def threshold_between(a: float, b: float) -> float:
    """Return a number t with a <= t < b: the midpoint, or a if rounding puts the midpoint outside."""
    middle = float(a) / 2 + float(b) / 2
    return float(middle if a <= middle < b else a)


def brute_force(
    X: Array, y: Array, w: Array, criterion: str = "error", nominal: tuple[int, ...] = ()
) -> WeightedStump:
    """Return the best stump by trying every split; a nominal feature with k levels has 2^k."""
    problem = QuantisedProblem(y, w, criterion)
    best, best_gain = problem.constant(), problem.gain(Sums(0, 0))
    for stump in all_splits(X, nominal):
        left = problem.sums(stump.goes_left(X))
        if problem.gain(left) > best_gain:
            best, best_gain = stump, problem.gain(left)
            best.values = (problem.best_value(left), problem.best_value(problem.total - left))
            best.criterion_value = problem.criterion_value(best_gain)
    return best


def linear(
    X: Array, y: Array, w: Array, criterion: str = "error", nominal: tuple[int, ...] = ()
) -> WeightedStump:
    """Return the best stump by moving rows to the left side in the order of their values.

    Levels of a nominal feature are moved in the order of their mean response.
    """
    problem = QuantisedProblem(y, w, criterion)
    best, best_gain = problem.constant(), problem.gain(Sums(0, 0))
    for feature in range(X.shape[1]):
        splits = nominal_splits if feature in nominal else ordered_splits
        for stump, left in splits(problem, X[:, feature]):
            gain = problem.gain(left)
            if gain > best_gain:
                best, best_gain = stump, gain
                best.feature = feature
                best.values = (problem.best_value(left), problem.best_value(problem.total - left))
                best.criterion_value = problem.criterion_value(gain)
    return best


def ordered_splits(problem: QuantisedProblem, x: Array) -> Iterator[tuple[WeightedStump, Sums]]:
    """Yield the splits of an ordered feature with the sums of their left sides."""
    missing = problem.sums(np.isnan(x))
    has_missing = bool(np.isnan(x).any())
    order = np.argsort(x, kind="stable")[: len(x) - int(np.isnan(x).sum())]
    left = Sums(0, 0)
    for count, (row, after) in enumerate(pairwise(order), start=1):
        left = Sums(left.response + problem.response[row], left.weight + problem.weight[row])
        if x[row] == x[after]:
            continue
        threshold = threshold_between(x[row], x[after])
        majority = 2 * count > len(x)
        yield WeightedStump(0, threshold, missing_left=False if has_missing else majority), left
        if has_missing:
            with_missing = Sums(left.response + missing.response, left.weight + missing.weight)
            yield WeightedStump(0, threshold, missing_left=True), with_missing
    if has_missing:
        yield WeightedStump(0, math.inf, missing_left=False), problem.total - missing


def nominal_splits(problem: QuantisedProblem, x: Array) -> Iterator[tuple[WeightedStump, Sums]]:
    """Yield the groups of levels that can be best, with the sums of their left sides.

    Missing values are a level (-1). For the 0-1 error the best side of each level depends on the level
    alone. For the other criteria the best group consists of all levels up to some mean response (Fisher
    1958, Breiman et al. 1984); -1 comes first among levels with equal means.
    """
    level = np.where(np.isnan(x), -1, x).astype(int)
    sums = {int(v): problem.sums(level == v) for v in np.unique(level)}
    if problem.criterion == "error":
        groups = [[v for v in sums if sums[v].response < 0]]
    else:
        order = [v for v in sums if sums[v].weight > 0]
        order.sort(key=lambda v: float(sums[v].response) / float(sums[v].weight))
        groups = [order[:size] for size in range(1, len(order))]
    for group in groups:
        chosen = frozenset(v for v in group if v >= 0)
        majority = 2 * int(np.isin(level, list(chosen)).sum()) > len(x)
        missing_left = -1 in group if -1 in sums else majority
        left = Sums(sum(sums[v].response for v in group), sum(sums[v].weight for v in group))
        yield WeightedStump(0, math.nan, chosen, missing_left), left


def find_best_by_class(
    X: Array, y: NDArray[np.int64], n_classes: int, w: Array, nominal: tuple[int, ...] = ()
) -> WeightedStump:
    """Return the stump with the smallest weighted 0-1 error for several classes, by trying every split.

    Each side predicts the class with the largest weight.
    """
    units = np.rint(w * units_per_one(float(np.sum(w)), len(w)))
    unit = 1 / units_per_one(float(np.sum(w)), len(w))

    def class_weights(chosen: Bools) -> list[int]:
        return [sum(int(u) for u in units[chosen & (y == k)]) for k in range(n_classes)]

    total = class_weights(np.ones(len(y), dtype=bool))
    majority = float(np.argmax(total))
    best = WeightedStump(values=(majority, majority))
    least = sum(total) - max(total)
    for stump in all_splits(X, nominal):
        goes_left = stump.goes_left(X)
        left, right = class_weights(goes_left), class_weights(~goes_left)
        wrong = sum(total) - max(left) - max(right)
        if wrong < least:
            best, least = stump, wrong
            best.values = (left.index(max(left)), right.index(max(right)))
    best.criterion_value = least * unit
    return best


def find_best_by_signs(
    X: Array, y: Array, w: Array, nominal: tuple[int, ...] = ()
) -> tuple[WeightedStump, Array]:
    """Return the stump with the smallest sum over the classes of weighted 0-1 errors, and its predictions.

    y is -1 or +1 for each class; y and w have the shape (classes, m). Each side predicts a sign for each
    class; the predictions have the shape (2, classes). Every split is tried.
    """
    scale = units_per_one(float(np.sum(w)), w.size)
    signed = [[int(u) for u in np.rint(row * scale)] for row in w * y]
    total_weight = sum(int(u) for u in np.rint(w * scale).ravel())

    def sums(chosen: Bools) -> list[int]:
        return [sum(row[i] for i in np.flatnonzero(chosen)) for row in signed]

    total = sums(np.ones(y.shape[1], dtype=bool))
    best, signs = WeightedStump(), [total, total]
    largest = sum(abs(s) for s in total)
    for stump in all_splits(X, nominal):
        goes_left = stump.goes_left(X)
        sides = [sums(goes_left), sums(~goes_left)]
        gain = sum(abs(s) for side in sides for s in side)
        if gain > largest:
            best, largest, signs = stump, gain, sides
    best.criterion_value = (total_weight - largest) / 2 / scale
    return best, np.where(np.array(signs, dtype=object) > 0, 1.0, -1.0)
