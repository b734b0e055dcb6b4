"""The kernel-based semi-log-optimal strategy."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from bosquet._parameters import Check, integer
from bosquet.experts._solvers import simplex_least_squares
from bosquet.experts.portfolio import Portfolio


class SemiLogOptimal(Portfolio):
    r"""The kernel-based semi-log-optimal strategy: what was best after days like the last ones.

    An expert (k, ℓ) looks for past days whose k days before were within a radius of the last k days,
    and invests in the portfolio that would have been best on those days by the second-order
    approximation of the logarithm,

    .. math:: b = \arg\max_b \sum_{i} h(b \cdot x_i), \qquad
              h(z) = z - 1 - \tfrac12 (z - 1)^2,

    equal shares if there are none. The experts' wealths weigh their portfolios. On a stationary and
    ergodic market its growth rate comes near that of the best strategy there is.

    Parameters
    ----------
    windows : list of int, default=(1, 2, 3, 4, 5)
        k.
    radii : int, default=10
        ℓ = 1, ..., radii. The squared radius of (k, ℓ) is 0.0001 N k ℓ, as in the paper.

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

    def _trade(self, relatives: np.ndarray) -> np.ndarray:
        windows = [int(k) for k in np.atleast_1d(self.windows)]
        if not windows or min(windows) < 1:
            raise ValueError(f"windows={self.windows!r} must be integers >= 1, at least one")
        days, stocks = relatives.shape
        experts = [(k, level) for k in windows for level in range(1, self.radii + 1)]
        log_wealth = np.zeros(len(experts))
        portfolios = np.empty((days + 1, stocks))
        for t in range(days + 1):
            choices = np.array(self._choices(relatives[:t], windows))
            share = np.exp(log_wealth - log_wealth.max())
            portfolios[t] = share @ choices / share.sum()
            if t < days:
                with np.errstate(divide="ignore"):
                    log_wealth = log_wealth + np.log(choices @ relatives[t])
        self.expert_wealth_ = np.exp(log_wealth).reshape(len(windows), self.radii)
        return portfolios

    def _choices(self, past: np.ndarray, windows: list[int]) -> list[np.ndarray]:
        """The portfolio of each expert for the day after `past`."""
        days, stocks = past.shape
        equal = np.full(stocks, 1 / stocks)
        found = []
        for k in windows:
            # Days i whose k days before end at i - 1; the last k days are past[-k:].
            starts = np.arange(max(days - k, 0))
            apart = np.zeros(len(starts))
            for j in range(k if len(starts) else 0):
                apart += ((past[starts + j] - past[days - k + j]) ** 2).sum(axis=1)
            known: tuple[int, np.ndarray] = (0, equal)
            for level in range(1, self.radii + 1):
                similar = starts[apart <= 1e-4 * stocks * k * level] + k
                # A wider radius with the same days has the same answer.
                if len(similar) != known[0]:
                    moves = past[similar] - 1
                    known = (len(similar), simplex_least_squares(moves, np.ones(len(similar))))
                found.append(known[1])
        return found
