r"""One round of BrownBoost: how much weight a hypothesis gets, and how much time that costs.

Row i has the margin :math:`r_i`, s is the time left, and :math:`u_i = y_i h(x_i)` what the hypothesis
is worth on the row. Giving h the weight :math:`\alpha` at the cost of the time t keeps the potential

.. math:: \sum_i w_i \operatorname{erfc}\left( \frac{r_i + \alpha u_i + s - t}{\sqrt c} \right)

and :math:`dt / d\alpha` is the edge of h at that place. So for each alpha there is one t, found by
Newton's method on the potential (which falls in t, so that a bracket guards it), and the round ends
at the first alpha at which the edge is used up, or the time is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc, erfcinv

# The curve is followed in steps of this share of sqrt(c), the scale on which weights change.
STEP = 0.125
TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
# More steps than any curve has: alpha stays below a few times c + sqrt(c).
MOST_STEPS = 100_000


def time_for(target_error: float) -> float:
    """The time c = erfinv(1 - e)^2 whose guarantee on the training error, 1 - erf(sqrt(c)), is e."""
    return float(erfcinv(target_error)) ** 2


def potential_of_rows(margins: np.ndarray, time_left: float, c: float) -> np.ndarray:
    """1 - erf((r + s) / sqrt(c)): near 0 for a row that is safe, near 2 for one that is lost."""
    return erfc((margins + time_left) / math.sqrt(c))


def potential(margins: np.ndarray, time_left: float, c: float, share: np.ndarray) -> float:
    """What the rows hold on average."""
    return _mean(share, potential_of_rows(margins, time_left, c))


def row_weights(margins: np.ndarray, time_left: float, c: float, share: np.ndarray) -> np.ndarray:
    """Weights of the rows for the next round, of sum 1."""
    squares = (margins + time_left) ** 2 / c
    # The least square is taken off, so that some weight is left however far all rows are.
    weights = share * np.exp(squares.min() - squares)
    return weights / weights.sum()


@dataclass(frozen=True)
class Step:
    """The weight of a hypothesis, the time it costs, and the edge it has left afterwards."""

    alpha: float
    time: float
    edge_left: float


class Curve:
    """All (alpha, t) that keep the potential where it is, from (0, 0) on."""

    def __init__(
        self, worth: np.ndarray, margins: np.ndarray, time_left: float, c: float, share: np.ndarray
    ):
        self.worth, self.share = worth, share
        self.root = math.sqrt(c)
        self.start = (margins + time_left) / self.root
        self.level = _mean(share, erfc(self.start))
        self.fastest = float(np.abs(worth).max())
        self.time_left = time_left

    def places(self, alpha: float, t: float) -> np.ndarray:
        """(r + alpha u + s - t) / sqrt(c) of each row."""
        return self.start + (alpha * self.worth - t) / self.root

    def time_at(self, alpha: float, near: float, reach: float, accuracy: float = 1e-15) -> float:
        """The t of this alpha, known to lie within `reach` of `near`."""
        low, high, t = near - reach, near + reach, near
        for _ in range(200):
            z = self.places(alpha, t)
            excess = _mean(self.share, erfc(z)) - self.level
            low, high = (low, t) if excess > 0 else (t, high)
            slope = 2 / (math.sqrt(math.pi) * self.root) * _mean(self.share, np.exp(-z * z))
            better = t - excess / slope if slope > 0 else math.inf
            if not low <= better <= high:
                better = (low + high) / 2
            if abs(excess) <= 1e-15 * self.level or abs(better - t) <= accuracy * self.root:
                return better
            t = better
        return t

    def edge_at(self, alpha: float, t: float) -> float:
        weights = self.weights_at(self.places(alpha, t))
        return _mean(weights, self.worth) / float(weights.sum())

    def weights_at(self, z: np.ndarray) -> np.ndarray:
        squares = z * z
        return self.share * np.exp(squares.min() - squares)

    def top_from(self, alpha: float, t: float, least_edge: float) -> tuple[float, float] | None:
        """Where the edge falls to `least_edge`, by Newton's method in both unknowns; None if it strays.

        The equations are those of the potential and of the edge, and each step solves their
        linearisation: two lines in (alpha, t).
        """
        u = self.worth
        for _ in range(20):
            z = self.places(alpha, t)
            v = self.share * np.exp(-z * z)
            excess = _mean(self.share, erfc(z)) - self.level
            over = u - least_edge
            vz = v * z
            missing = _mean(v, over)
            # Derivatives by alpha and by t, all times sqrt(c).
            potential_by = (-TWO_BY_ROOT_PI * _mean(v, u), TWO_BY_ROOT_PI * float(v.sum()))
            edge_by = (-2 * _mean(vz, over * u), 2 * _mean(vz, over))
            determinant = potential_by[0] * edge_by[1] - potential_by[1] * edge_by[0]
            if determinant == 0 or not math.isfinite(determinant):
                return None
            d_alpha = self.root * (missing * potential_by[1] - excess * edge_by[1]) / determinant
            d_time = self.root * (excess * edge_by[0] - missing * potential_by[0]) / determinant
            if max(abs(d_alpha), abs(d_time)) > self.root:
                return None
            alpha, t = alpha + d_alpha, t + d_time
            if max(abs(d_alpha), abs(d_time)) <= 1e-12 * self.root:
                return alpha, t
        return None


def take_step(curve: Curve, least_edge: float) -> Step:
    """Follow the curve until the edge falls to `least_edge` or the time is up."""
    alpha = t = 0.0
    size = STEP * curve.root
    for _ in range(MOST_STEPS):
        # Along the curve |dt/dalpha| is at most the largest worth.
        further = curve.time_at(alpha + size, t, size * curve.fastest, 1e-6)
        if _remains(curve, alpha + size, further, least_edge) <= 0:
            return _end_within(curve, alpha, t, size, least_edge)
        alpha, t = alpha + size, further
    raise RuntimeError("the curve of a BrownBoost round has no end; is a value of the learner 0?")


def _remains(curve: Curve, alpha: float, t: float, least_edge: float) -> float:
    """Above 0 while there is both edge and time."""
    return min(curve.edge_at(alpha, t) - least_edge, (curve.time_left - t) / curve.root)


def _end_within(curve: Curve, alpha: float, t: float, size: float, least_edge: float) -> Step:
    """The end of the round, known to lie between alpha and alpha + size."""
    top = curve.top_from(alpha, t, least_edge)
    if top is not None and alpha <= top[0] <= alpha + size and top[1] < curve.time_left:
        end = curve.time_at(top[0], top[1], size * curve.fastest)
        return Step(top[0], end, curve.edge_at(top[0], end))

    def time(further: float) -> float:
        return curve.time_at(alpha + further, t, 2 * size * curve.fastest)

    def remains(further: float) -> float:
        return _remains(curve, alpha + further, time(further), least_edge)

    low, high = 0.0, size
    if remains(0.0) <= 0:
        # The way here was taken in steps of little accuracy: the end may lie just before alpha.
        low, high = -min(size, alpha), 0.0
        if remains(low) <= 0:
            return Step(alpha, time(0.0), curve.edge_at(alpha, time(0.0)))
    further = brentq(remains, low, high, xtol=1e-14, rtol=1e-14)
    end = time(further)
    if curve.time_left - end <= 1e-12 * curve.root:
        end = curve.time_left  # the clock stops at 0, not beside it
    return Step(alpha + further, end, curve.edge_at(alpha + further, end))


def _mean(share: np.ndarray, values: np.ndarray) -> float:
    # Not a product of vectors: BLAS would share it out over threads, at a high price for so little
    # work, and with other bits for another number of them.
    return float((share * values).sum())
