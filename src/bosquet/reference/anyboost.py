r"""AnyBoost: coordinate descent on :math:`\sum_i C(y_i f(x_i))` for any loss C of the margin.

The model is :math:`f = \sum_t \alpha_t h_t`, and :math:`y_i f(x_i)` is the margin of row i. In the direction
of a hypothesis h the sum decreases at the rate :math:`-\sum_i C'(y_i f(x_i))\, y_i h(x_i)`. With the row
weights :math:`w_i \propto -C'(y_i f(x_i))`, the steepest direction is therefore the hypothesis with the
smallest weighted error. A line search then finds its :math:`\alpha`.
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
    """Return the pairs (α, h); y and the predictions of h are -1 or +1.

    The first `start` rounds use the exponential loss, as AdaBoost does.

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
        derivative = LOSSES["exponential"][1] if t < start else loss[1]
        w = -derivative(y * f)
        if not w.any():
            break
        w = w / w.sum()
        h = learn(X, y, w)
        agreement = y * h(X)
        if w @ agreement <= 0:
            break
        alpha = line_search(functools.partial(directional_derivative, derivative, y * f, agreement))
        f = f + alpha * h(X)
        model.append((alpha, h))
    return model


def directional_derivative(
    derivative: Callable[[Array], Array], margin: Array, agreement: Array, a: float
) -> float:
    """Return d/da Σ C(m_i + a u_i), with margins m_i and agreements u_i = y_i h(x_i)."""
    return float(np.sum(derivative(margin + a * agreement) * agreement))


def line_search(slope: Callable[[float], float]) -> float:
    """Return the first a > 0 at which the slope of the loss is 0, by doubling and bisection."""
    low, high = 0.0, 0.5
    while slope(high) < 0:
        low, high = high, 2 * high
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) < 0 else (low, middle)
    return high
