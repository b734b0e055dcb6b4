r"""Decision stumps under weights, found slowly and found fast.

A stump asks one question of one feature, "is x at most t?" or "is x one of these levels?", and says
one thing on either side. To learn it is to minimise one of three criteria over all questions:

- ``"error"``: the weighted 0-1 error :math:`\sum w_i [h(x_i) \ne y_i]`, with h in {-1, 1};
- ``"exponential"``: :math:`Z = \sum w_i e^{-y_i h(x_i)}`, least where a side says half the
  logarithm of its odds :math:`W_+ / W_-` and then :math:`2 \sqrt{W_+ W_-}` summed over sides;
- ``"squared"``: :math:`\sum w_i (y_i - h(x_i))^2`, least where a side says its weighted mean.

:func:`brute_force` tries every question and adds up every row for it: O(d m²). :func:`linear` puts
the rows of a feature in order once and moves them from the right side to the left one by one:
O(d m) after sorting. Both take the first of equal questions: constant rule, lowest feature, lowest
threshold, missing values on the right. So that equal means equal, weights are whole numbers of a
tiny unit.
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
    """Of some rows, in units: weight times target, and weight."""

    response: int
    weight: int

    @property
    def positive(self) -> int:
        return (self.weight + self.response) // 2

    @property
    def negative(self) -> int:
        return (self.weight - self.response) // 2

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.response - other.response, self.weight - other.weight)


@dataclass
class Stump:
    """Rows go left if x <= threshold, or if x is one of the categories; feature -1 asks nothing."""

    feature: int = -1
    threshold: float = math.inf
    categories: frozenset[int] = frozenset()
    missing_left: bool = True
    values: tuple[float, float] = (0.0, 0.0)
    merit: float = 0.0

    def goes_left(self, X: Array) -> Bools:
        if self.feature < 0:
            return np.ones(len(X), dtype=bool)
        x = X[:, self.feature]
        known = np.isin(x, list(self.categories)) if self.categories else x <= self.threshold
        return np.where(np.isnan(x), self.missing_left, known)

    def predict(self, X: Array) -> Array:
        return np.where(self.goes_left(X), *self.values)


def per_one(total: float, rows: int) -> float:
    """Units to 1: the largest power of two for which all rows together stay below 2^62."""
    room = (2.0**62 - rows) * (1 - 1e-9)
    exponent = 61 - math.frexp(total)[1]
    return math.ldexp(1.0, exponent + (math.ldexp(total, exponent + 1) <= room))


# More is better; a question is worth asking if it gains more than the constant rule does.


def error_gain(left: Sums, total: Sums) -> float:
    """Weight that is said right less weight that is said wrong, if each side says its sign."""
    return abs(left.response) + abs(total.response - left.response)


def exponential_gain(left: Sums, total: Sums) -> float:
    """Minus Z / 2."""
    right = total - left
    roots = [math.sqrt(float(s.positive) * float(s.negative)) for s in (left, right)]
    return -(roots[0] + roots[1])


def squared_gain(left: Sums, total: Sums) -> float:
    """By how much the sum of squares falls, divided by all the weight."""
    rest = total.weight - left.weight
    if left.weight <= 0 or rest <= 0:
        return 0.0
    t = left.response - float(total.response) / float(total.weight) * float(left.weight)
    return t * t / (float(left.weight) * float(rest))


GAIN: dict[str, Callable[[Sums, Sums], float]] = {
    "error": error_gain,
    "exponential": exponential_gain,
    "squared": squared_gain,
}


@dataclass
class Problem:
    """Targets and weights in units, and what the criterion makes of sums."""

    y: Array
    w: Array
    criterion: str
    response: list[int] = field(init=False)
    weight: list[int] = field(init=False)
    total: Sums = field(init=False)

    def __post_init__(self) -> None:
        rows = len(self.y)
        self.per_weight = per_one(float(np.sum(self.w)), rows)
        absolute = float(np.sum(self.w * np.abs(self.y)))
        self.per_response = per_one(absolute, rows) if absolute > 0 else 1.0
        if self.criterion != "squared":
            self.per_response = self.per_weight
        self.weight = [int(u) for u in np.rint(self.w * self.per_weight)]
        self.response = [int(u) for u in np.rint(self.w * self.y * self.per_response)]
        self.total = self.sums(np.ones(rows, dtype=bool))

    def sums(self, chosen: Bools) -> Sums:
        rows = np.flatnonzero(chosen)
        return Sums(sum(self.response[i] for i in rows), sum(self.weight[i] for i in rows))

    def gain(self, left: Sums) -> float:
        return GAIN[self.criterion](left, self.total)

    def says(self, side: Sums) -> float:
        """What a side says best; odds are smoothed by half the weight of an average row."""
        if self.criterion == "error":
            return 1.0 if side.response > 0 else -1.0
        if self.criterion == "squared":
            return side.response / self.per_response / (side.weight / self.per_weight)
        smoothing = self.total.weight / (2 * len(self.y))
        return 0.5 * math.log((side.positive + smoothing) / (side.negative + smoothing))

    def merit(self, gain: float) -> float:
        if self.criterion == "error":
            return (self.total.weight - gain) / 2 / self.per_weight
        if self.criterion == "exponential":
            return -2 * gain / self.per_weight
        w = self.total.weight / self.per_weight
        alone = (
            float(np.sum(self.w * self.y**2)) - (self.total.response / self.per_response) ** 2 / w
        )
        fall = gain * self.total.weight * self.per_weight / self.per_response**2
        return max(0.0, alone - fall)

    def constant(self) -> Stump:
        value = self.says(self.total)
        return Stump(values=(value, value), merit=self.merit(self.gain(Sums(0, 0))))


def questions(X: Array, nominal: tuple[int, ...]) -> Iterator[Stump]:
    """Every question there is, in the order in which equal ones are preferred."""
    for feature in range(X.shape[1]):
        x = X[:, feature]
        known = np.unique(x[~np.isnan(x)])
        sides = [False, True] if np.isnan(x).any() else [None]
        if feature in nominal:
            for group in range(2 ** len(known)):
                chosen = frozenset(int(v) for i, v in enumerate(known) if group >> i & 1)
                for side in sides:
                    yield Stump(feature, math.nan, chosen, bool(side))
            continue
        thresholds = [halfway(a, b) for a, b in pairwise(known)]
        for t in thresholds:
            for side in sides:
                majority = 2 * int(np.sum(x <= t)) > len(x)
                yield Stump(feature, t, missing_left=majority if side is None else side)
        if len(sides) == 2:
            yield Stump(feature, math.inf, missing_left=False)


def halfway(a: float, b: float) -> float:
    """A number t with a <= t < b."""
    middle = float(a) / 2 + float(b) / 2
    return float(middle if a <= middle < b else a)


def brute_force(
    X: Array, y: Array, w: Array, criterion: str = "error", nominal: tuple[int, ...] = ()
) -> Stump:
    """Tries every question; a nominal feature of k levels has 2^k."""
    problem = Problem(y, w, criterion)
    best, best_gain = problem.constant(), problem.gain(Sums(0, 0))
    for stump in questions(X, nominal):
        left = problem.sums(stump.goes_left(X))
        if problem.gain(left) > best_gain:
            best, best_gain = stump, problem.gain(left)
            best.values = (problem.says(left), problem.says(problem.total - left))
            best.merit = problem.merit(best_gain)
    return best


def linear(
    X: Array, y: Array, w: Array, criterion: str = "error", nominal: tuple[int, ...] = ()
) -> Stump:
    """Moves rows to the left in the order of their values; levels in the order of their means."""
    problem = Problem(y, w, criterion)
    best, best_gain = problem.constant(), problem.gain(Sums(0, 0))
    for feature in range(X.shape[1]):
        ways = levels_in_order if feature in nominal else rows_in_order
        for stump, left in ways(problem, X[:, feature]):
            gain = problem.gain(left)
            if gain > best_gain:
                best, best_gain = stump, gain
                best.feature = feature
                best.values = (problem.says(left), problem.says(problem.total - left))
                best.merit = problem.merit(gain)
    return best


def rows_in_order(problem: Problem, x: Array) -> Iterator[tuple[Stump, Sums]]:
    """The questions of an ordered feature with the sums of their left sides."""
    missing = problem.sums(np.isnan(x))
    has_missing = bool(np.isnan(x).any())
    order = np.argsort(x, kind="stable")[: len(x) - int(np.isnan(x).sum())]
    left = Sums(0, 0)
    for count, (row, after) in enumerate(pairwise(order), start=1):
        left = Sums(left.response + problem.response[row], left.weight + problem.weight[row])
        if x[row] == x[after]:
            continue
        threshold = halfway(x[row], x[after])
        majority = 2 * count > len(x)
        yield Stump(0, threshold, missing_left=False if has_missing else majority), left
        if has_missing:
            with_missing = Sums(left.response + missing.response, left.weight + missing.weight)
            yield Stump(0, threshold, missing_left=True), with_missing
    if has_missing:
        yield Stump(0, math.inf, missing_left=False), problem.total - missing


def levels_in_order(problem: Problem, x: Array) -> Iterator[tuple[Stump, Sums]]:
    """Groups of levels that can be best; missing values are a level (-1), the first of equals.

    For the 0-1 error every level goes by its own sign. For the other criteria the best group is one
    of those that hold all levels up to some mean response (Fisher 1958, Breiman et al. 1984).
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
        yield Stump(0, math.nan, chosen, missing_left), left


def best_of_classes(
    X: Array, y: NDArray[np.int64], n_classes: int, w: Array, nominal: tuple[int, ...] = ()
) -> Stump:
    """Every question, each side saying its heaviest class: the least weighted 0-1 error."""
    units = np.rint(w * per_one(float(np.sum(w)), len(w)))
    unit = 1 / per_one(float(np.sum(w)), len(w))

    def masses(chosen: Bools) -> list[int]:
        return [sum(int(u) for u in units[chosen & (y == k)]) for k in range(n_classes)]

    everything = masses(np.ones(len(y), dtype=bool))
    heaviest = float(np.argmax(everything))
    best = Stump(values=(heaviest, heaviest))
    least = sum(everything) - max(everything)
    for stump in questions(X, nominal):
        goes_left = stump.goes_left(X)
        left, right = masses(goes_left), masses(~goes_left)
        wrong = sum(everything) - max(left) - max(right)
        if wrong < least:
            best, least = stump, wrong
            best.values = (left.index(max(left)), right.index(max(right)))
    best.merit = least * unit
    return best


def best_of_signs(
    X: Array, y: Array, w: Array, nominal: tuple[int, ...] = ()
) -> tuple[Stump, Array]:
    """Every question, each side saying a sign for each class: y and w have the shape (classes, m).

    The least sum over classes of the weighted errors; returns the stump and its signs (2, classes).
    """
    scale = per_one(float(np.sum(w)), w.size)
    signed = [[int(u) for u in np.rint(row * scale)] for row in w * y]
    total_weight = sum(int(u) for u in np.rint(w * scale).ravel())

    def sums(chosen: Bools) -> list[int]:
        return [sum(row[i] for i in np.flatnonzero(chosen)) for row in signed]

    everything = sums(np.ones(y.shape[1], dtype=bool))
    best, signs = Stump(), [everything, everything]
    most = sum(abs(s) for s in everything)
    for stump in questions(X, nominal):
        goes_left = stump.goes_left(X)
        sides = [sums(goes_left), sums(~goes_left)]
        gain = sum(abs(s) for side in sides for s in side)
        if gain > most:
            best, most, signs = stump, gain, sides
    best.merit = (total_weight - most) / 2 / scale
    return best, np.where(np.array(signs, dtype=object) > 0, 1.0, -1.0)
