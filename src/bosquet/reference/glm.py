"""Binomial regression as a lecture writes it: Newton's method, Wald's test, the likelihood ratio.

The chance π of a success is tied to a row x by a monotone map g of (0, 1) to the line, g(π) = x'β. With y
successes in n trials a row, the log-likelihood Σ y ln π + (n - y) ln(1 - π) has no maximum in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfinv, gammaincc

Array = NDArray[np.float64]


class Link(NamedTuple):
    """g, its inverse π, 1 - π (by itself: where π is nearly 1 the difference is rounded to 0), π'."""

    to_line: Callable[[Any], Array]
    to_chance: Callable[[Any], Array]
    to_rest: Callable[[Any], Array]
    slope: Callable[[Any], Array]


LINKS = {
    "logit": Link(
        lambda p: np.log(p / (1 - p)),
        lambda line: 1 / (1 + np.exp(-line)),
        lambda line: 1 / (1 + np.exp(line)),
        lambda line: np.exp(-line) / (1 + np.exp(-line)) ** 2,
    ),
    "probit": Link(
        lambda p: np.sqrt(2) * erfinv(2 * p - 1),
        lambda line: erfc(-line / np.sqrt(2)) / 2,
        lambda line: erfc(line / np.sqrt(2)) / 2,
        lambda line: np.exp(-(line**2) / 2) / np.sqrt(2 * np.pi),
    ),
    "cloglog": Link(
        lambda p: np.log(-np.log(1 - p)),
        lambda line: -np.expm1(-np.exp(line)),
        lambda line: np.exp(-np.exp(line)),
        lambda line: np.exp(line - np.exp(line)),
    ),
}


class BinomialFit(NamedTuple):
    """Coefficients, their covariance, the log-likelihood (without the binomial coefficients)."""

    coefficients: Array
    covariance: Array
    log_likelihood: float


def fit_binomial(
    X: Any, successes: Any, trials: Any = 1, link: str = "logit", steps: int = 50
) -> BinomialFit:
    """Newton's method with expected second derivatives.

    The gradient is X'(y - nπ) π' / (π(1 - π)) and minus the expected second derivative X'WX with weights
    W = n π'² / (π(1 - π)), π' being the slope of g⁻¹ at x'β. A step is the one divided by the other.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(successes, dtype=float)
    n = np.broadcast_to(np.asarray(trials, dtype=float), y.shape)
    g = LINKS[link]
    beta = np.zeros(X.shape[1])  # where no row is certain yet
    height = log_likelihood(X, y, n, beta, link)
    for _ in range(steps):
        chance, slope = g.to_chance(X @ beta), g.slope(X @ beta)
        spread = np.maximum(chance * g.to_rest(X @ beta), 1e-300)
        gradient = X.T @ ((y - n * chance) * slope / spread)
        information = X.T @ (X * (n * slope**2 / spread)[:, None])
        step = np.linalg.solve(information, gradient)
        while not log_likelihood(X, y, n, beta + step, link) >= height - 1e-9 * (1 + abs(height)):
            step = step / 2  # too far: the likelihood fell, or a row became certain
        beta = beta + step
        height = log_likelihood(X, y, n, beta, link)
        if np.abs(step).max() < 1e-12 * (1 + np.abs(beta).max()):
            break
    return BinomialFit(beta, np.linalg.inv(information), height)


def log_likelihood(
    X: Array, successes: Array, trials: Array, beta: Array, link: str = "logit"
) -> float:
    """Σ y ln π + (n - y) ln(1 - π); nothing is added for what did not happen."""
    chance, rest = LINKS[link].to_chance(X @ beta), LINKS[link].to_rest(X @ beta)
    done, failed = successes, trials - successes
    with np.errstate(divide="ignore"):  # what was held impossible and happened: -infinity
        happened = np.where(done > 0, done * np.log(np.where(done > 0, chance, 1)), 0)
        missed = np.where(failed > 0, failed * np.log(np.where(failed > 0, rest, 1)), 0)
    return float((happened + missed).sum())


def deviance(successes: Array, trials: Array, fit_likelihood: float) -> float:
    """Twice what a fit falls short of one with a chance of its own, y / n, for every row."""
    share = successes / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        best = np.where(share > 0, successes * np.log(share), 0)
        best = best + np.where(share < 1, (trials - successes) * np.log(1 - share), 0)
    return 2 * (float(best.sum()) - fit_likelihood)


def chi_squared_tail(statistic: float, df: int) -> float:
    """The chance that a chi-squared variable is as large."""
    return float(gammaincc(df / 2, statistic / 2))


def wald_test(fit: BinomialFit, columns: list[int]) -> tuple[float, float]:
    """b'V⁻¹b for some coefficients b with covariance V: statistic and p-value."""
    b = fit.coefficients[columns]
    V = fit.covariance[np.ix_(columns, columns)]
    statistic = float(b @ np.linalg.solve(V, b))
    return statistic, chi_squared_tail(statistic, len(columns))


def likelihood_ratio_test(
    X: Array, successes: Array, trials: Any, columns: list[int], link: str = "logit"
) -> tuple[float, float]:
    """Twice the log-likelihood that is lost without some columns: statistic and p-value."""
    full = fit_binomial(X, successes, trials, link)
    rest = fit_binomial(np.delete(X, columns, axis=1), successes, trials, link)
    statistic = 2 * (full.log_likelihood - rest.log_likelihood)
    return statistic, chi_squared_tail(statistic, len(columns))


def band(
    X: Array, fit: BinomialFit, link: str = "logit", z: float = 1.959963984540054
) -> tuple[Array, Array, Array]:
    """The chance of each row with its confidence interval: that of x'β, carried over by g⁻¹."""
    line = X @ fit.coefficients
    error = np.sqrt(np.einsum("ij,jk,ik->i", X, fit.covariance, X))
    g = LINKS[link].to_chance
    return g(line), g(line - z * error), g(line + z * error)


def backward(
    terms: list[frozenset[str]], aic_of: Callable[[list[frozenset[str]]], float]
) -> tuple[list[frozenset[str]], float]:
    """Leaves out one term at a time while that lowers AIC.

    Terms are sets of factors; one that lies inside another, as {a} in {a, b}, may not leave before it.
    `aic_of` fits a list of terms and returns its AIC.
    """
    kept, best = list(terms), aic_of(terms)
    while True:
        free = [term for term in kept if not any(term < other for other in kept)]
        trials = [(aic_of([other for other in kept if other != term]), term) for term in free]
        if not trials or min(trials, key=lambda trial: trial[0])[0] >= best:
            return kept, best
        best, leaving = min(trials, key=lambda trial: trial[0])
        kept = [term for term in kept if term != leaving]
