r"""Portfolios on price relatives :math:`x_t(j)`, today's price over yesterday's.

A portfolio b says what share of the wealth each stock is given; the wealth after n days is
:math:`\prod_t b_t \cdot x_t`.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

Array = NDArray[np.float64]


def exponentiated_gradient(relatives: Array, eta: float) -> Array:
    """b ∝ b exp(η x / (b·x)), from equal shares; (days + 1, stocks)."""
    b = np.full(relatives.shape[1], 1 / relatives.shape[1])
    portfolios = [b]
    for x in relatives:
        b = b * np.exp(eta * x / (b @ x))
        b = b / b.sum()
        portfolios.append(b)
    return np.array(portfolios)


def universal_wealth(relatives: Array) -> float:
    """∫ Π (b x(1) + (1 - b) x(2)) db over [0, 1], for two stocks: a polynomial in b, integrated.

    >>> universal_wealth(np.array([[1.0, 2.0], [1.0, 0.5]]))
    1.0833333333333333
    """
    wealth = Polynomial([1.0])
    for first, second in relatives:
        wealth = wealth * Polynomial([second, first - second])
    area = wealth.integ()
    return float(area(1) - area(0))


def semi_log_choice(past: Array, window: int, radius: float, grid: int = 2000) -> Array:
    """For two stocks: after days like the last `window`, the shares with the best Σ h(b·x).

    h(z) = z - 1 - (z - 1)²/2. Equal shares if no such day is known.
    """
    days = len(past)
    moves = []
    for i in range(window, days):
        before = past[i - window : i] - past[days - window :]
        if np.sqrt((before**2).sum()) <= radius:
            moves.append(past[i] - 1)
    if not moves:
        return np.array([0.5, 0.5])
    b = np.linspace(0, 1, grid + 1)
    gain = np.outer(b, [m[0] for m in moves]) + np.outer(1 - b, [m[1] for m in moves])
    best = b[(gain - gain**2 / 2).sum(axis=1).argmax()]
    return np.array([best, 1 - best])
