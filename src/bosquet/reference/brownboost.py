r"""BrownBoost: boosting with a clock, which gives up on rows it cannot place in time.

Let :math:`u_i = y_i h(x_i)` be what a hypothesis is worth on row i, :math:`r_i = y_i f(x_i)` the margin
so far and s the time left, of c at the start. A row weighs :math:`e^{-(r_i + s)^2 / c}`: most near
:math:`r_i = -s`, where it is still open whether it can be brought over, little where it is safe, and
little where it is lost. A round takes h with the weight :math:`\alpha`, which costs the time t:

.. math:: \frac{dt}{d\alpha} = \gamma(\alpha, t)
          = \frac{\sum_i e^{-(r_i + \alpha u_i + s - t)^2 / c}\, u_i}
                 {\sum_i e^{-(r_i + \alpha u_i + s - t)^2 / c}}

from (0, 0) until h has no edge any more, :math:`\gamma \le \nu`, or the time is up, t = s. Along that
curve the potential :math:`\sum_i 1 - \operatorname{erf}((r_i + s)/\sqrt c)` does not change, since its
derivative is the difference of the two sides. It begins at :math:`m (1 - \operatorname{erf} \sqrt c)`,
and at the end, s = 0, each misclassified row holds at least 1 of it: so the training error is at most
:math:`1 - \operatorname{erf} \sqrt c`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass
class Round:
    """The hypothesis taken (a column), its weight, the time it cost, and the potential afterwards."""

    column: int
    alpha: float
    time: float
    potential: float


def time_for(target_error: float) -> float:
    """The c at which the guarantee is `target_error`: 1 - erf(sqrt(c)), solved by halving.

    >>> round(1 - math.erf(math.sqrt(time_for(0.1))), 12)
    0.1
    """
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erfc(math.sqrt(middle)) > target_error else (low, middle)
    return low


def potential(margins: Array, time_left: float, c: float) -> float:
    """What there is to lose, the same before and after every round."""
    return sum(math.erfc((r + time_left) / math.sqrt(c)) for r in margins)


def edge(worth: Array, margins: Array, time_left: float, c: float) -> float:
    """The weighted mean of what the hypothesis is worth."""
    weights = np.exp(-((margins + time_left) ** 2) / c)
    return float(weights @ worth / weights.sum())


def follow(
    worth: Array, margins: Array, s: float, c: float, nu: float, step: float
) -> tuple[float, float]:
    """The end (alpha, t) of the curve, by Runge and Kutta's steps; the last is halved until it fits."""

    def slope(alpha: float, t: float) -> float:
        return edge(worth, margins + alpha * worth, s - t, c)

    alpha = t = 0.0
    while step > 1e-12:
        k1 = slope(alpha, t)
        k2 = slope(alpha + step / 2, t + step / 2 * k1)
        k3 = slope(alpha + step / 2, t + step / 2 * k2)
        k4 = slope(alpha + step, t + step * k3)
        further = t + step * (k1 + 2 * k2 + 2 * k3 + k4) / 6
        if slope(alpha + step, further) <= nu or further >= s:
            step /= 2  # the end lies within this step
        else:
            alpha, t = alpha + step, further
    return alpha, t


def brownboost(
    worths: Array, c: float, n_rounds: int, *, nu: float = 0.0, steps: int = 100
) -> tuple[list[Round], Array, float]:
    """Rounds, margins and time left. `worths[i, j]` is y_i h_j(x_i): a column a hypothesis.

    A curve is followed in steps of sqrt(c) / `steps`.

    >>> worths = np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> rounds, margins, left = brownboost(worths, time_for(0.1), 50)
    >>> bool((margins > 0).all())
    True
    """
    margins, s = np.zeros(len(worths)), c
    rounds: list[Round] = []
    while len(rounds) < n_rounds and s > 1e-9 * c:
        edges = [edge(worths[:, j], margins, s, c) for j in range(worths.shape[1])]
        best = int(np.argmax(edges))
        if edges[best] <= nu + 1e-12:
            break
        alpha, t = follow(worths[:, best], margins, s, c, nu, math.sqrt(c) / steps)
        margins = margins + alpha * worths[:, best]
        s -= t
        rounds.append(Round(best, alpha, t, potential(margins, s, c)))
    return rounds, margins, s
