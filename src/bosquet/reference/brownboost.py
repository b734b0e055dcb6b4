r"""BrownBoost: boosting with a time limit, which gives up on rows with large negative margins.

Letters: m rows with labels :math:`y_i = \pm 1`; :math:`u_i = y_i h(x_i)` is the agreement of a hypothesis h
with row i; :math:`r_i = y_i f(x_i)` is the current margin; c is the total time and s the remaining time.
Row i has the weight :math:`e^{-(r_i + s)^2 / c}`. It is largest at :math:`r_i = -s`, where the row can
still be classified correctly in the remaining time, and small for rows far on the right side and for rows
far on the wrong side. A round adds h with the weight :math:`\alpha`, which takes the time t. The two are
related by

.. math:: \frac{dt}{d\alpha} = \gamma(\alpha, t)
          = \frac{\sum_i e^{-(r_i + \alpha u_i + s - t)^2 / c}\, u_i}
                 {\sum_i e^{-(r_i + \alpha u_i + s - t)^2 / c}}

starting from (0, 0). The round ends when the edge of h is used up, :math:`\gamma \le \nu`, or when no time
remains, t = s. Along this curve the potential :math:`\sum_i 1 - \operatorname{erf}((r_i + s)/\sqrt c)` is
constant, since its derivative is proportional to the difference of the two sides. It starts at
:math:`m (1 - \operatorname{erf} \sqrt c)`. At the end, s = 0, each misclassified row contributes at least 1,
so that the training error is at most :math:`1 - \operatorname{erf} \sqrt c`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class BrownBoostRound:
    """A round: the chosen hypothesis (a column), its weight α, the time it took, the potential after it."""

    column: int
    alpha: float
    time: float
    potential: float


def time_for(target_error: float) -> float:
    """Return the c with 1 - erf(sqrt(c)) = `target_error`, found by bisection.

    >>> round(1 - math.erf(math.sqrt(time_for(0.1))), 12)
    0.1
    """
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(math.sqrt(middle)) > target_error else (low, middle)
    return low


def potential(margins: Array, time_left: float, c: float) -> float:
    """Return the potential, which is the same before and after every round."""
    return sum(math.erfc((r + time_left) / math.sqrt(c)) for r in margins)


def edge(agreement: Array, margins: Array, time_left: float, c: float) -> float:
    """Return γ, the weighted mean agreement of a hypothesis with the labels."""
    weights = np.exp(-((margins + time_left) ** 2) / c)
    return float(weights @ agreement / weights.sum())


def solve_round(
    agreement: Array, margins: Array, s: float, c: float, nu: float, step: float
) -> tuple[float, float]:
    """Return the end point (α, t) of the curve, by the Runge-Kutta method.

    Steps that would pass the end are halved.
    """

    def slope(alpha: float, t: float) -> float:
        return edge(agreement, margins + alpha * agreement, s - t, c)

    alpha = t = 0.0
    while step > 1e-12:
        k1 = slope(alpha, t)
        k2 = slope(alpha + step / 2, t + step / 2 * k1)
        k3 = slope(alpha + step / 2, t + step / 2 * k2)
        k4 = slope(alpha + step, t + step * k3)
        next_t = t + step * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        if slope(alpha + step, next_t) <= nu or next_t >= s:
            step /= 2  # the end lies within this step
        else:
            alpha, t = alpha + step, next_t
    return alpha, t


def brownboost(
    agreements: Array, c: float, n_rounds: int, *, nu: float = 0.0, steps: int = 100
) -> tuple[list[BrownBoostRound], Array, float]:
    """Return the rounds, the margins and the remaining time.

    `agreements[i, j]` is y_i h_j(x_i), one column per hypothesis. The differential equation of a round is
    solved in steps of sqrt(c) / `steps`.

    >>> agreements = np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> rounds, margins, time_left = brownboost(agreements, time_for(0.1), 50)
    >>> bool((margins > 0).all())
    True
    """
    margins, s = np.zeros(len(agreements)), c
    rounds: list[BrownBoostRound] = []
    while len(rounds) < n_rounds and s > 1e-9 * c:
        edges = [edge(column, margins, s, c) for column in agreements.T]
        best = int(np.argmax(edges))
        if edges[best] <= nu + 1e-12:
            break
        alpha, t = solve_round(agreements[:, best], margins, s, c, nu, math.sqrt(c) / steps)
        margins = margins + alpha * agreements[:, best]
        s -= t
        rounds.append(BrownBoostRound(best, alpha, t, potential(margins, s, c)))
    return rounds, margins, s
