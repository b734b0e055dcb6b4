r"""One round of BrownBoost: the weight of a hypothesis, and the time that it costs.

Row i has the margin :math:`r_i`, s is the remaining time, and :math:`u_i = y_i h(x_i)` the agreement of the
hypothesis with the row. The weight :math:`\alpha` of h costs the time t that keeps the potential constant,

.. math:: \sum_i w_i \operatorname{erfc}\left( \frac{r_i + \alpha u_i + s - t}{\sqrt c} \right)

and :math:`dt / d\alpha` is the edge of h there. For each alpha there is one t, found by Newton's method on
the potential, which is monotone in t, within a bracket. The round ends at the first alpha at which no edge or
no time is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import erfc, erfcinv

# Length of the steps along the curve in units of sqrt(c), the scale on which weights change.
STEP = 0.125
TWO_BY_ROOT_PI = 2 / math.sqrt(math.pi)
# More steps than any curve needs: alpha stays below a few times c + sqrt(c).
MAX_STEPS = 100_000


def time_for(target_error: float) -> float:
    """Return c = erfinv(1 - e)^2, for which the bound on the training error, 1 - erf(sqrt(c)), is e."""
    return float(erfcinv(target_error)) ** 2


def potential_of_rows(margins: np.ndarray, time_left: float, c: float) -> np.ndarray:
    """1 - erf((r + s) / sqrt(c)): near 0 for a large margin, near 2 for a very negative one."""
    return erfc((margins + time_left) / math.sqrt(c))


def potential(margins: np.ndarray, time_left: float, c: float, distribution: np.ndarray) -> float:
    """Return the mean potential of the rows."""
    return _weighted_mean(distribution, potential_of_rows(margins, time_left, c))


def row_weights(
    margins: np.ndarray, time_left: float, c: float, distribution: np.ndarray
) -> np.ndarray:
    """Return weights of the rows for the next round, which sum to 1."""
    squares = (margins + time_left) ** 2 / c
    # The smallest square is subtracted, so that the exponential does not underflow for all rows.
    weights = distribution * np.exp(squares.min() - squares)
    return weights / weights.sum()


@dataclass(frozen=True)
class BrownianStep:
    """The weight of a hypothesis, the time it costs, and its edge afterwards."""

    alpha: float
    time: float
    edge_left: float


class PotentialCurve:
    """The points (alpha, t) with the potential of (0, 0)."""

    def __init__(
        self,
        agreement: np.ndarray,
        margins: np.ndarray,
        time_left: float,
        c: float,
        distribution: np.ndarray,
    ):
        self.agreement, self.distribution = agreement, distribution
        self.sqrt_c = math.sqrt(c)
        self.start = (margins + time_left) / self.sqrt_c
        self.level = _weighted_mean(distribution, erfc(self.start))
        self.largest_agreement = float(np.abs(agreement).max())
        self.time_left = time_left

    def scaled_margins(self, alpha: float, t: float) -> np.ndarray:
        """(r + alpha u + s - t) / sqrt(c) of each row."""
        return self.start + (alpha * self.agreement - t) / self.sqrt_c

    def time_at(self, alpha: float, near: float, reach: float, accuracy: float = 1e-15) -> float:
        """Return the t of this alpha, which lies within `reach` of `near`."""
        low, high, t = near - reach, near + reach, near
        for _ in range(200):
            z = self.scaled_margins(alpha, t)
            excess = _weighted_mean(self.distribution, erfc(z)) - self.level
            low, high = (low, t) if excess > 0 else (t, high)
            slope = (
                2
                / (math.sqrt(math.pi) * self.sqrt_c)
                * _weighted_mean(self.distribution, np.exp(-z * z))
            )
            better = t - excess / slope if slope > 0 else math.inf
            if not low <= better <= high:
                better = (low + high) / 2
            if abs(excess) <= 1e-15 * self.level or abs(better - t) <= accuracy * self.sqrt_c:
                return better
            t = better
        return t

    def edge_at(self, alpha: float, t: float) -> float:
        weights = self.weights_at(self.scaled_margins(alpha, t))
        return _weighted_mean(weights, self.agreement) / float(weights.sum())

    def weights_at(self, z: np.ndarray) -> np.ndarray:
        squares = z * z
        return self.distribution * np.exp(squares.min() - squares)

    def point_with_edge(
        self, alpha: float, t: float, least_edge: float
    ) -> tuple[float, float] | None:
        """Return the point at which the edge is `least_edge`, by Newton's method.

        The result is None if the method does not converge.

        Each step solves the linearised equations of the potential and of the edge for (alpha, t).
        """
        u = self.agreement
        for _ in range(20):
            z = self.scaled_margins(alpha, t)
            v = self.distribution * np.exp(-z * z)
            excess = _weighted_mean(self.distribution, erfc(z)) - self.level
            over = u - least_edge
            vz = v * z
            missing = _weighted_mean(v, over)
            # Derivatives by alpha and by t, all times sqrt(c).
            potential_by = (-TWO_BY_ROOT_PI * _weighted_mean(v, u), TWO_BY_ROOT_PI * float(v.sum()))
            edge_by = (-2 * _weighted_mean(vz, over * u), 2 * _weighted_mean(vz, over))
            determinant = potential_by[0] * edge_by[1] - potential_by[1] * edge_by[0]
            if determinant == 0 or not math.isfinite(determinant):
                return None
            d_alpha = self.sqrt_c * (missing * potential_by[1] - excess * edge_by[1]) / determinant
            d_time = self.sqrt_c * (excess * edge_by[0] - missing * potential_by[0]) / determinant
            if max(abs(d_alpha), abs(d_time)) > self.sqrt_c:
                return None
            alpha, t = alpha + d_alpha, t + d_time
            if max(abs(d_alpha), abs(d_time)) <= 1e-12 * self.sqrt_c:
                return alpha, t
        return None


def take_step(curve: PotentialCurve, least_edge: float) -> BrownianStep:
    """Follow the curve until the edge is `least_edge` or no time is left."""
    alpha = t = 0.0
    size = STEP * curve.sqrt_c
    for _ in range(MAX_STEPS):
        # Along the curve |dt/dalpha| is at most the largest |agreement|.
        further = curve.time_at(alpha + size, t, size * curve.largest_agreement, 1e-6)
        if _remaining_edge_and_time(curve, alpha + size, further, least_edge) <= 0:
            return _end_within(curve, alpha, t, size, least_edge)
        alpha, t = alpha + size, further
    raise RuntimeError(
        f"a round of BrownBoost did not end within {MAX_STEPS} steps; check that the estimator does not"
        " predict almost 0 for all rows, or increase target_error"
    )


def _remaining_edge_and_time(
    curve: PotentialCurve, alpha: float, t: float, least_edge: float
) -> float:
    """Positive as long as both edge and time are left."""
    return min(curve.edge_at(alpha, t) - least_edge, (curve.time_left - t) / curve.sqrt_c)


def _end_within(
    curve: PotentialCurve, alpha: float, t: float, size: float, least_edge: float
) -> BrownianStep:
    """Return the end of the round, which lies between alpha and alpha + size."""
    point = curve.point_with_edge(alpha, t, least_edge)
    if point is not None and alpha <= point[0] <= alpha + size and point[1] < curve.time_left:
        end = curve.time_at(point[0], point[1], size * curve.largest_agreement)
        return BrownianStep(point[0], end, curve.edge_at(point[0], end))

    def time(further: float) -> float:
        return curve.time_at(alpha + further, t, 2 * size * curve.largest_agreement)

    def remains(further: float) -> float:
        return _remaining_edge_and_time(curve, alpha + further, time(further), least_edge)

    low, high = 0.0, size
    if remains(0.0) <= 0:
        # The steps up to here were computed with low accuracy: the end may lie just before alpha.
        low, high = -min(size, alpha), 0.0
        if remains(low) <= 0:
            return BrownianStep(alpha, time(0.0), curve.edge_at(alpha, time(0.0)))
    further = brentq(remains, low, high, xtol=1e-14, rtol=1e-14)
    end = time(further)
    if curve.time_left - end <= 1e-12 * curve.sqrt_c:
        end = curve.time_left  # the remaining time becomes exactly 0
    return BrownianStep(alpha + further, end, curve.edge_at(alpha + further, end))


def _weighted_mean(distribution: np.ndarray, values: np.ndarray) -> float:
    # Not a dot product: BLAS would use threads, which is slow for so little work and gives other bits for
    # another number of threads.
    return float((distribution * values).sum())
