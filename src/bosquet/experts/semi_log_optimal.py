"""The kernel-based semi-log-optimal portfolio."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bosquet._parameters import Check, integer
from bosquet.experts._solvers import simplex_least_squares
from bosquet.experts.portfolio import Portfolio


class SemiLogOptimal(Portfolio):
    r"""Kernel-based semi-log-optimal portfolio: the best one after days similar to the last ones.

    An expert (k, ℓ) searches for past days whose k preceding days were within a radius of the last k days.
    It invests in the portfolio that would have been best on those days, by the second-order approximation
    of the logarithm,

    .. math:: b = \arg\max_b \sum_{i} h(b \cdot x_i), \qquad
              h(z) = z - 1 - \tfrac12 (z - 1)^2,

    or in equal shares if there are no such days. The portfolios of the experts are weighted by their
    wealth. On a stationary and ergodic market the growth rate converges to that of the best strategy.

    Parameters
    ----------
    windows : list of int, default=(1, 2, 3, 4, 5)
        Values of k.
    radii : int, default=10
        Number of radii: ℓ = 1, ..., radii. The squared radius of (k, ℓ) is 0.0001 N k ℓ, as in the paper.

    Attributes
    ----------
    portfolios_, final_portfolio_, wealth_
        As in `ExponentiatedGradient`.
    expert_wealth_ : array of shape (n_windows, radii)
        Final wealth of each expert.
    bound_ : float
        NaN: the guarantee is asymptotic.

    References
    ----------
    Györfi, Urbán and Vajda, Kernel-based semi-log-optimal empirical portfolio selection strategies,
    2007.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import SemiLogOptimal
    >>> X = np.tile([[1, 2], [1, 0.5]], (20, 1))  # tomorrow follows from today
    >>> print(f"{SemiLogOptimal(windows=[1, 2], radii=2).fit(X).wealth_[-1]:.0f}")
    387072
    """

    checks: ClassVar[dict[str, Check]] = {"radii": integer(1)}

    def __init__(self, windows: Any = (1, 2, 3, 4, 5), *, radii: int = 10):
        self.windows = windows
        self.radii = radii

    def _compute_portfolios(self, relatives: np.ndarray) -> np.ndarray:
        windows = [int(k) for k in np.atleast_1d(self.windows)]
        if not windows or min(windows) < 1:
            raise ValueError(
                f"windows={self.windows!r} is not valid: windows must be a non-empty list of integers >= 1"
            )
        days, stocks = relatives.shape
        experts = [(k, level) for k in windows for level in range(1, self.radii + 1)]
        log_wealth = np.zeros(len(experts))
        portfolios = np.empty((days + 1, stocks))
        for t in range(days + 1):
            choices = np.array(self._portfolios_of_experts(relatives[:t], windows))
            share = np.exp(log_wealth - log_wealth.max())
            portfolios[t] = share @ choices / share.sum()
            if t < days:
                with np.errstate(divide="ignore"):
                    log_wealth = log_wealth + np.log(choices @ relatives[t])
        self.expert_wealth_ = np.exp(log_wealth).reshape(len(windows), self.radii)
        return portfolios

    def _portfolios_of_experts(self, past: np.ndarray, windows: list[int]) -> list[np.ndarray]:
        """Return the portfolio of each expert for the day after `past`."""
        days, stocks = past.shape
        equal = np.full(stocks, 1 / stocks)
        portfolios = []
        for k in windows:
            # A window past[start : start + k] precedes day start + k; the last k days are past[-k:].
            starts = np.arange(max(days - k, 0))
            distances = np.zeros(len(starts))
            for j in range(k if len(starts) else 0):
                distances += ((past[starts + j] - past[days - k + j]) ** 2).sum(axis=1)
            previous: tuple[int, np.ndarray] = (0, equal)  # number of similar days, portfolio
            for level in range(1, self.radii + 1):
                similar = starts[distances <= 1e-4 * stocks * k * level] + k
                # A larger radius that adds no days has the same portfolio.
                if len(similar) != previous[0]:
                    moves = past[similar] - 1
                    previous = (len(similar), simplex_least_squares(moves, np.ones(len(similar))))
                portfolios.append(previous[1])
        return portfolios
