"""Portfolios: sequential investment as a game against the market."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from bosquet._fitted import fits_aside
from bosquet._parameters import Check, check_parameters
from bosquet._sklearn import BaseEstimator
from bosquet.experts._solvers import simplex_log_loss


def read_relatives(X: Any) -> np.ndarray:
    """Price relatives x_t(j) = z_t(j) / z_{t-1}(j), not negative, one of them positive each day."""
    relatives = np.asarray(X, dtype=float)
    if relatives.ndim != 2 or 0 in relatives.shape:
        raise ValueError(
            f"X has shape {relatives.shape}; it must have a row a day, a column a stock"
        )
    wrong = ~np.isfinite(relatives) | (relatives < 0)
    if wrong.any():
        day, stock = np.argwhere(wrong)[0]
        raise ValueError(
            f"X[{day}, {stock}] is {relatives[day, stock]}; a price relative (today's price over"
            " yesterday's) is finite and not negative"
        )
    ruined = np.flatnonzero(relatives.max(axis=1) <= 0)
    if ruined.size:
        raise ValueError(
            f"on day {ruined[0]} every stock loses everything: there is nothing to play for"
        )
    return relatives


def wealth(X: Any, portfolios: Any) -> np.ndarray:
    """The wealth factor S_t = Π_{s ≤ t} x_s · b_s after each day.

    Parameters
    ----------
    X : array of shape (n_days, n_stocks)
        Price relatives.
    portfolios : array of shape (n_stocks,) or (n_days, n_stocks)
        Shares of the wealth in each stock: rebalanced to the same every day, or day by day.
    """
    relatives = read_relatives(X)
    held = np.asarray(portfolios, dtype=float)
    if held.shape not in (relatives.shape, relatives.shape[1:]):
        raise ValueError(
            f"portfolios have shape {held.shape}; with X of {relatives.shape} they have"
            f" {relatives.shape[1:]}, or a row a day"
        )
    if not (np.isfinite(held).all() and np.allclose(held.sum(axis=-1), 1, atol=1e-6)):
        raise ValueError("the shares of a portfolio are finite and sum to 1")
    with np.errstate(over="ignore"):
        return np.exp(log_wealth(relatives, held))


def log_wealth(relatives: np.ndarray, portfolios: np.ndarray) -> np.ndarray:
    """ln S_t: wealth itself leaves the range of numbers on a long enough way."""
    with np.errstate(divide="ignore"):
        return np.log((relatives * portfolios).sum(axis=1)).cumsum()


def best_stock(X: Any) -> int:
    """The stock with the largest final wealth."""
    with np.errstate(divide="ignore"):
        return int(np.log(read_relatives(X)).sum(axis=0).argmax())


def best_constant_rebalanced(X: Any) -> np.ndarray:
    """The portfolio that, restored every day, would have ended with the largest wealth.

    Examples
    --------
    >>> from bosquet.experts import best_constant_rebalanced
    >>> best_constant_rebalanced([[1, 2], [1, 0.5]] * 10).round(3)  # Cover's example
    array([0.5, 0.5])
    """
    return simplex_log_loss(read_relatives(X))


class Portfolio(BaseEstimator):
    """What the strategies share: ``fit(X)`` trades day by day, each on what it saw before."""

    checks: ClassVar[dict[str, Check]] = {}

    @fits_aside
    def fit(self, X: Any, y: Any = None) -> Any:
        """Trade.

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
        portfolios = self._trade(relatives)
        self.portfolios_, self.final_portfolio_ = portfolios[:-1], portfolios[-1]
        self.log_wealth_ = log_wealth(relatives, self.portfolios_)
        with np.errstate(over="ignore"):
            self.wealth_ = np.exp(self.log_wealth_)
        self.bound_ = self._bound(relatives)
        self.n_features_in_ = relatives.shape[1]
        return self

    def _trade(self, relatives: np.ndarray) -> np.ndarray:
        """Portfolios of every day, and of the day after the last."""
        raise NotImplementedError

    def _bound(self, relatives: np.ndarray) -> float:
        return math.nan
