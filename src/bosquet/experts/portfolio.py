"""Portfolios: sequential investment, wealth and its best constant competitors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bosquet._fitted import publishes_fit_atomically
from bosquet._parameters import Check, check_parameters
from bosquet._sklearn import BaseEstimator
from bosquet.experts._solvers import simplex_log_loss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike


def read_relatives(X: TableLike) -> np.ndarray:
    """Return price relatives x_t(j) = z_t(j) / z_{t-1}(j), checked: non-negative, not all 0 on a day."""
    relatives = np.asarray(X, dtype=float)
    if relatives.ndim != 2 or 0 in relatives.shape:
        raise ValueError(f"X has shape {relatives.shape}; it must have shape (n_days, n_stocks)")
    wrong = ~np.isfinite(relatives) | (relatives < 0)
    if wrong.any():
        day, stock = np.argwhere(wrong)[0]
        raise ValueError(
            f"X[{day}, {stock}] is {relatives[day, stock]}; price relatives (today's price divided by"
            " yesterday's) must be finite and non-negative"
        )
    ruined = np.flatnonzero(relatives.max(axis=1) <= 0)
    if ruined.size:
        raise ValueError(
            f"X[{ruined[0]}] is 0 for every stock; at least one price relative per day must be positive"
        )
    return relatives


def wealth(X: TableLike, portfolios: Any) -> np.ndarray:
    """Return the wealth S_t = Π_{s ≤ t} x_s · b_s after each day.

    Parameters
    ----------
    X : array of shape (n_days, n_stocks)
        Price relatives.
    portfolios : array of shape (n_stocks,) or (n_days, n_stocks)
        Shares of the wealth in each stock: the same for every day, or one row per day.
    """
    relatives = read_relatives(X)
    shares = np.asarray(portfolios, dtype=float)
    if shares.shape not in (relatives.shape, relatives.shape[1:]):
        raise ValueError(
            f"portfolios has shape {shares.shape}; for X of shape {relatives.shape} it must have shape"
            f" {relatives.shape[1:]} or {relatives.shape}"
        )
    sums = np.atleast_1d(shares.sum(axis=-1))
    wrong = np.flatnonzero(~np.isclose(sums, 1, atol=1e-6))
    if wrong.size:
        name = f"portfolios[{wrong[0]}]" if shares.ndim == 2 else "portfolios"
        raise ValueError(
            f"{name} has the sum {sums[wrong[0]]:g}; shares must be finite and sum to 1"
        )
    with np.errstate(over="ignore"):
        return np.exp(log_wealth(relatives, shares))


def log_wealth(relatives: np.ndarray, portfolios: np.ndarray) -> np.ndarray:
    """Return ln S_t; S_t itself may overflow or underflow."""
    with np.errstate(divide="ignore"):
        return np.log((relatives * portfolios).sum(axis=1)).cumsum()


def best_stock(X: TableLike) -> int:
    """Return the index of the stock with the largest final wealth."""
    with np.errstate(divide="ignore"):
        return int(np.log(read_relatives(X)).sum(axis=0).argmax())


def best_constant_rebalanced(X: TableLike) -> np.ndarray:
    """Return the portfolio with the largest final wealth if it is rebalanced to the same shares every day.

    Examples
    --------
    >>> from bosquet.experts import best_constant_rebalanced
    >>> best_constant_rebalanced([[1, 2], [1, 0.5]] * 10).round(3)  # Cover's example
    array([0.5, 0.5])
    """
    return simplex_log_loss(read_relatives(X))


class Portfolio(BaseEstimator):
    """Base class of the strategies: ``fit(X)`` trades day by day, using only past days."""

    checks: ClassVar[dict[str, Check]] = {}

    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike | None = None) -> Self:
        """Trade on all days in order.

        Parameters
        ----------
        X : array of shape (n_days, n_stocks)
            Price relatives.
        y : ignored

        Returns
        -------
        self
        """
        check_parameters(self, self.checks)
        relatives = read_relatives(X)
        portfolios = self._compute_portfolios(relatives)
        self.portfolios_, self.final_portfolio_ = portfolios[:-1], portfolios[-1]
        self.log_wealth_ = log_wealth(relatives, self.portfolios_)
        with np.errstate(over="ignore"):
            self.wealth_ = np.exp(self.log_wealth_)
        self.bound_ = self._regret_bound(relatives)
        self.n_features_in_ = relatives.shape[1]
        return self

    def _compute_portfolios(self, relatives: np.ndarray) -> np.ndarray:
        """Return the portfolios of every day, and of the day after the last."""
        raise NotImplementedError

    def _regret_bound(self, relatives: np.ndarray) -> float:
        return math.nan
