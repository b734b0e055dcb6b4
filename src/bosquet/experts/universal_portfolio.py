"""Cover's universal portfolio."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from bosquet._parameters import Check, integer
from bosquet._sklearn import check_random_state
from bosquet.experts.portfolio import Portfolio

if TYPE_CHECKING:
    from bosquet._types import RandomState


class UniversalPortfolio(Portfolio):
    r"""Cover's universal portfolio: the mean of all constant rebalanced portfolios, weighted by wealth.

    .. math:: b_{t+1} = \frac{\int b\, S_t(b)\, db}{\int S_t(b)\, db}, \qquad
              W_n = \int S_n(b)\, db

    over the uniform distribution on portfolios. It satisfies ln W* - ln W_n ≤ (N - 1) ln(n + 1), where W* is
    the wealth of the best constant rebalanced portfolio. With two stocks the integral is exact, by
    Gauss-Legendre quadrature. With more stocks it is a mean over random portfolios, which may all be far
    from the best one, so the bound does not hold and `bound_` is NaN.

    Parameters
    ----------
    n_samples : int, default=10000
        Number of random portfolios, used with more than two stocks.
    random_state : int, RandomState instance or None, default=None
        Random seed of the portfolios drawn.

    Attributes
    ----------
    portfolios_, final_portfolio_, wealth_, bound_
        As in `ExponentiatedGradient`.

    References
    ----------
    Cover, Universal portfolios, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import UniversalPortfolio
    >>> X = np.tile([[1, 2], [1, 0.5]], (20, 1))
    >>> universal = UniversalPortfolio().fit(X)
    >>> print(f"{universal.wealth_[-1]:.2f}")
    5.99
    """

    checks: ClassVar[dict[str, Check]] = {"n_samples": integer(1)}

    def __init__(self, n_samples: int = 10_000, *, random_state: RandomState = None):
        self.n_samples = n_samples
        self.random_state = random_state

    def _quadrature_nodes(self, days: int, stocks: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes (n_nodes, n_stocks) of the integral and their weights."""
        if stocks == 1:
            return np.ones((1, 1)), np.ones(1)
        if stocks == 2:
            # S_n(b) b is a polynomial of degree n + 1 in b; this number of nodes integrates it exactly.
            nodes, weights = np.polynomial.legendre.leggauss(days // 2 + 2)
            first = (nodes + 1) / 2
            return np.column_stack([first, 1 - first]), weights / 2
        rng = check_random_state(self.random_state)
        drawn = rng.dirichlet(np.ones(stocks), size=self.n_samples)
        return drawn, np.full(len(drawn), 1 / len(drawn))

    def _compute_portfolios(self, relatives: np.ndarray) -> np.ndarray:
        days, stocks = relatives.shape
        nodes, weights = self._quadrature_nodes(days, stocks)
        log_wealth = np.zeros(len(nodes))
        portfolios = np.empty((days + 1, stocks))
        for t in range(days + 1):
            share = weights * np.exp(log_wealth - log_wealth.max())
            portfolios[t] = share @ nodes / share.sum()
            if t < days:
                with np.errstate(divide="ignore"):
                    log_wealth = log_wealth + np.log(nodes @ relatives[t])
        return portfolios

    def _regret_bound(self, relatives: np.ndarray) -> float:
        days, stocks = relatives.shape
        return (stocks - 1) * math.log(days + 1) if stocks <= 2 else math.nan
