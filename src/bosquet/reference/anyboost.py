r"""AnyBoost: coordinate descent on :math:`\sum_i C(y_i f(x_i))` for any loss C of the margin.

Along a learner h the sum falls at the rate :math:`-\sum_i C'(y_i f(x_i))\, y_i h(x_i)`: under the weights
:math:`w_i \propto -C'(y_i f(x_i))`, the steepest direction is the learner of least weighted error.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Hypothesis = Callable[[Array], Array]
Learner = Callable[[Array, Array, Array], Hypothesis]
Loss = tuple[Callable[[Array], Array], Callable[[Array], Array]]  # C and C'

LOSSES: dict[str, Loss] = {
    "exponential": (lambda m: np.exp(-m), lambda m: -np.exp(-m)),
    "logistic": (lambda m: np.log1p(np.exp(-2 * m)), lambda m: -2 / (1 + np.exp(2 * m))),
    "squared_hinge": (
        lambda m: np.maximum(0, 1 - m) ** 2,
        lambda m: -2 * np.maximum(0, 1 - m),
    ),
    "smooth_hinge": (
        lambda m: np.where(m <= 0, 0.5 - m, np.maximum(0, 1 - m) ** 2 / 2),
        lambda m: np.where(m <= 0, -1.0, -np.maximum(0, 1 - m)),
    ),
    "doom2": (lambda m: 1 - np.tanh(m), lambda m: -1 / np.cosh(m) ** 2),
}


def anyboost(
    X: Array, y: Array, learn: Learner, loss: Loss, rounds: int, start: int = 0
) -> list[tuple[float, Hypothesis]]:
    """Pairs (α, h); y and what h says are -1 and +1. The first `start` rounds are AdaBoost's.

    >>> X, y = np.arange(4.0)[:, None], np.array([-1.0, 1, 1, -1])
    >>> def learn(X, y, w):
    ...     rules = [lambda X, a=a, s=s: np.where(X[:, 0] > a, s, -s) for a in (-1, .5, 2.5) for s in (1, -1)]
    ...     return min(rules, key=lambda h: w[h(X) != y].sum())
    >>> model = anyboost(X, y, learn, LOSSES["logistic"], 5)
    >>> np.sign(sum(alpha * h(X) for alpha, h in model))
    array([-1.,  1.,  1., -1.])
    """
    f = np.zeros(len(y))
    model: list[tuple[float, Hypothesis]] = []
    for t in range(rounds):
        slope = LOSSES["exponential"][1] if t < start else loss[1]
        w = -slope(y * f)
        if not w.any():
            break
        w = w / w.sum()
        h = learn(X, y, w)
        if w @ (y * h(X)) <= 0:
            break
        agrees = y * h(X)
        alpha = stops_falling(functools.partial(slope_along, slope, y * f, agrees))
        f = f + alpha * h(X)
        model.append((alpha, h))
    return model


def slope_along(slope: Callable[[Array], Array], margin: Array, agrees: Array, a: float) -> float:
    """Of the sum of losses, a steps along a learner."""
    return float(np.sum(slope(margin + a * agrees) * agrees))


def stops_falling(slope: Callable[[float], float]) -> float:
    """Where a slope that is below 0 at 0 comes up to it, by doubling and bisection."""
    low, high = 0.0, 0.5
    while slope(high) < 0:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high
