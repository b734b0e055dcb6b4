r"""Sequential investment in stocks.

The price relative :math:`x_t(j)` is the price of stock j on day t divided by its price on the day before. A
portfolio b holds the share of the wealth invested in each stock. The wealth after n days is
:math:`\prod_{t=1}^n b_t \cdot x_t`.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

Array = NDArray[np.float64]


def exponentiated_gradient(relatives: Array, eta: float) -> Array:
    """Return the portfolios b ∝ b exp(η x / (b·x)), starting from equal shares: shape (days + 1, stocks)."""
    b = np.full(relatives.shape[1], 1 / relatives.shape[1])
    portfolios = [b]
    for x in relatives:
        b = b * np.exp(eta * x / (b @ x))
        b = b / b.sum()
        portfolios.append(b)
    return np.array(portfolios)


def universal_wealth(relatives: Array) -> float:
    """Return the wealth of the universal portfolio for two stocks.

    It is ∫ Π_t (b x_t(1) + (1 - b) x_t(2)) db over [0, 1]. The integrand is the wealth of the constant
    portfolio (b, 1 - b), a polynomial in b.

    >>> universal_wealth(np.array([[1.0, 2.0], [1.0, 0.5]]))
    1.0833333333333333
    """
    wealth = Polynomial([1.0])
    for first, second in relatives:
        wealth = wealth * Polynomial([second, first - second])
    antiderivative = wealth.integ()
    return float(antiderivative(1) - antiderivative(0))


def semi_log_choice(past: Array, window: int, radius: float, grid: int = 2000) -> Array:
    """Return the semi-log-optimal portfolio of two stocks.

    It maximises Σ h(b·x) over the past days x that followed a window similar to the last `window` days,
    i.e. at a distance of at most `radius`. h(z) = z - 1 - (z - 1)²/2 is the expansion of ln z. If there is
    no such day, the shares are equal.
    """
    days = len(past)
    returns = []
    for i in range(window, days):
        difference = past[i - window : i] - past[days - window :]
        if np.sqrt((difference**2).sum()) <= radius:
            returns.append(past[i] - 1)
    if not returns:
        return np.array([0.5, 0.5])
    b = np.linspace(0, 1, grid + 1)
    gain = np.outer(b, [r[0] for r in returns]) + np.outer(1 - b, [r[1] for r in returns])
    best = b[(gain - gain**2 / 2).sum(axis=1).argmax()]
    return np.array([best, 1 - best])
