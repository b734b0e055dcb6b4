"""The exponentiated gradient portfolio."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from bosquet._parameters import Check, number, or_text
from bosquet.experts.portfolio import Portfolio


class ExponentiatedGradient(Portfolio):
    r"""Exponentiated gradient: :math:`b_{t+1}(j) \propto b_t(j) \exp(\eta x_t(j) / (b_t \cdot x_t))`.

    Its final wealth W satisfies ln W* - ln W ≤ ln N / η + η n / (8 r²). W* is the wealth of the best
    constant rebalanced portfolio. r is the smallest ratio of a price relative to the largest one of the
    same day.

    Parameters
    ----------
    learning_rate : float or "tuned", default=0.05
        η. "tuned" is r √(8 ln N / n). It uses r of all days in hindsight, so it serves only as a benchmark.

    Attributes
    ----------
    portfolios_ : array of shape (n_days, n_stocks)
        Shares of the wealth in each stock, for each day.
    final_portfolio_ : array of shape (n_stocks,)
        The portfolio for the day after the last.
    wealth_ : array of shape (n_days,)
        Wealth after each day, for an initial wealth of 1.
    bound_ : float
        Upper bound of ln W* - ln W; infinite if the price of a stock fell to 0.

    References
    ----------
    Helmbold, Schapire, Singer and Warmuth, On-line portfolio selection using multiplicative updates,
    1998.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import ExponentiatedGradient
    >>> X = np.tile([[1, 2], [1, 0.5]], (20, 1))
    >>> print(f"{ExponentiatedGradient().fit(X).wealth_[-1]:.2f}")
    9.43
    """

    checks: ClassVar[dict[str, Check]] = {
        "learning_rate": or_text(number(0, open_low=True), "tuned")._replace(
            accepted="a number > 0 or 'tuned'"
        )
    }

    def __init__(self, learning_rate: Any = 0.05):
        self.learning_rate = learning_rate

    def _step_size(self, relatives: np.ndarray) -> float:
        if not isinstance(self.learning_rate, str):
            return float(self.learning_rate)
        days, stocks = relatives.shape
        return max(_smallest_ratio(relatives), 1e-3) * math.sqrt(
            8 * math.log(max(stocks, 2)) / days
        )

    def _compute_portfolios(self, relatives: np.ndarray) -> np.ndarray:
        days, stocks = relatives.shape
        eta = self._step_size(relatives)
        portfolios = np.empty((days + 1, stocks))
        score = np.zeros(stocks)
        for t in range(days + 1):
            b = np.exp(score - score.max())
            portfolios[t] = b / b.sum()
            if t < days:
                gain = portfolios[t] @ relatives[t]
                score = score + eta * relatives[t] / gain if gain > 0 else score
        return portfolios

    def _regret_bound(self, relatives: np.ndarray) -> float:
        days, stocks = relatives.shape
        ratio = _smallest_ratio(relatives)
        if ratio == 0:
            return math.inf
        eta = self._step_size(relatives)
        return math.log(stocks) / eta + eta * days / (8 * ratio**2)


def _smallest_ratio(relatives: np.ndarray) -> float:
    return float((relatives.min(axis=1) / relatives.max(axis=1)).min())
