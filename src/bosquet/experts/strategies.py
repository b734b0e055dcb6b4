"""The strategies side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.experts._summary import columns_of_text, digits
from bosquet.experts.exponentiated_gradient import ExponentiatedGradient
from bosquet.experts.portfolio import (
    Portfolio,
    best_constant_rebalanced,
    best_stock,
    read_relatives,
    wealth,
)
from bosquet.experts.semi_log_optimal import SemiLogOptimal
from bosquet.experts.universal_portfolio import UniversalPortfolio


@dataclass(frozen=True)
class WealthTable:
    """Final wealth of strategies beside the best stock and the best rebalanced portfolio."""

    wealth: dict[str, float]
    bound: dict[str, float]

    def __str__(self) -> str:
        best = self.wealth["best rebalanced"]
        rows = [["", "wealth", "log regret", "bound"]]
        for name, value in self.wealth.items():
            behind = math.log(best / value) if value > 0 else math.inf
            bound = self.bound.get(name, math.nan)
            rows.append(
                [name, digits(value), digits(behind), "" if math.isnan(bound) else digits(bound)]
            )
        return "\n".join(columns_of_text(rows))


def wealth_table(X: Any, strategies: dict[str, Portfolio] | None = None) -> WealthTable:
    """Wealth after all days: uniform, best stock, best constant rebalanced, and each strategy.

    Parameters
    ----------
    X : array of shape (n_days, n_stocks)
        Price relatives.
    strategies : dict of name to Portfolio, default=None
        None: exponentiated gradient, Cover's and the semi-log-optimal one.

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
    stocks = relatives.shape[1]
    best = np.eye(stocks)[best_stock(relatives)]
    fixed = {
        "uniform": np.full(stocks, 1 / stocks),
        "best stock": best,
        "best rebalanced": best_constant_rebalanced(relatives),
    }
    final = {name: float(wealth(relatives, b)[-1]) for name, b in fixed.items()}
    bounds = {}
    for name, strategy in strategies.items():
        strategy.fit(relatives)
        final[name], bounds[name] = float(strategy.wealth_[-1]), strategy.bound_
    return WealthTable(final, bounds)
