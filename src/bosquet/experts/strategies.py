"""Comparison of portfolio strategies."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bosquet._text_table import text_table
from bosquet.experts.exponentiated_gradient import ExponentiatedGradient
from bosquet.experts.portfolio import (
    Portfolio,
    best_constant_rebalanced,
    best_stock,
    log_wealth,
    read_relatives,
)
from bosquet.experts.semi_log_optimal import SemiLogOptimal
from bosquet.experts.summary import format_value
from bosquet.experts.universal_portfolio import UniversalPortfolio

if TYPE_CHECKING:
    from bosquet._types import TableLike


@dataclass(frozen=True)
class WealthTable:
    """Final wealth of strategies, of the best stock and of the best constant rebalanced portfolio.

    Attributes
    ----------
    log_wealth : dict of str to float
        Logarithm of the final wealth by strategy.
    bound : dict of str to float
        Upper bound of the difference to the best constant rebalanced portfolio; NaN without one.
    """

    log_wealth: dict[str, float]
    bound: dict[str, float]

    @property
    def wealth(self) -> dict[str, float]:
        with np.errstate(over="ignore"):
            return {name: float(np.exp(value)) for name, value in self.log_wealth.items()}

    def __str__(self) -> str:
        best = self.log_wealth["best rebalanced"]
        rows = [["", "wealth", "log regret", "bound"]]
        for name, value in self.wealth.items():
            log_regret = best - self.log_wealth[name]
            bound = self.bound.get(name, math.nan)
            rows.append(
                [
                    name,
                    format_value(value),
                    format_value(log_regret),
                    "" if math.isnan(bound) else format_value(bound),
                ]
            )
        return "\n".join(text_table(rows, gap=" "))


def wealth_table(
    X: TableLike, strategies: dict[str, Portfolio] | Sequence[Portfolio] | None = None
) -> WealthTable:
    """Compare the final wealth of strategies, the uniform portfolio and the best ones in hindsight.

    Parameters
    ----------
    X : array of shape (n_days, n_stocks)
        Price relatives.
    strategies : dict of name to Portfolio, or list of them, default=None
        None: exponentiated gradient, universal and semi-log-optimal.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.experts import ExponentiatedGradient, UniversalPortfolio, wealth_table
    >>> X = np.tile([[1, 2], [1, 0.5]], (20, 1))
    >>> print(wealth_table(X, {"EG": ExponentiatedGradient(), "Cover": UniversalPortfolio()}))
                    wealth log regret bound
    uniform           10.5          0
    best stock           1       2.36
    best rebalanced   10.5          0
    EG                9.43      0.111  14.9
    Cover             5.99      0.566  3.71
    """
    relatives = read_relatives(X)
    if strategies is None:
        strategies = {
            "exponentiated gradient": ExponentiatedGradient(),
            "universal": UniversalPortfolio(random_state=0),
            "semi-log-optimal": SemiLogOptimal(),
        }
    elif not isinstance(strategies, dict):
        strategies = {type(strategy).__name__: strategy for strategy in strategies}
    stocks = relatives.shape[1]
    best = np.eye(stocks)[best_stock(relatives)]
    fixed = {
        "uniform": np.full(stocks, 1 / stocks),
        "best stock": best,
        "best rebalanced": best_constant_rebalanced(relatives),
    }
    final = {name: float(log_wealth(relatives, b)[-1]) for name, b in fixed.items()}
    bounds = {}
    for name, strategy in strategies.items():
        strategy.fit(relatives)
        final[name], bounds[name] = float(strategy.log_wealth_[-1]), strategy.bound_
    return WealthTable(final, bounds)
