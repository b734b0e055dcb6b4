"""Binomial regression: Newton's method, Wald and likelihood ratio tests, backward elimination.

The probability π of a success depends on the row x through a link function g: g(π) = η with the linear
predictor η = x'β. With y successes in n trials per row, the log-likelihood Σ y ln π + (n - y) ln(1 - π) has
no maximum in closed form.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc, erfinv, gammaincc

Array = NDArray[np.float64]


class Link(NamedTuple):
    """A link g, its inverse π(η), the complement 1 - π(η), and the derivative π'(η).

    The complement has its own formula because 1 - π is rounded to 0 if π is nearly 1.
    """

    link: Callable[[Any], Array]
    inverse: Callable[[Any], Array]
    complement: Callable[[Any], Array]
    derivative: Callable[[Any], Array]


LINKS = {
    "logit": Link(
        lambda p: np.log(p / (1 - p)),
        lambda eta: 1 / (1 + np.exp(-eta)),
        lambda eta: 1 / (1 + np.exp(eta)),
        lambda eta: np.exp(-eta) / (1 + np.exp(-eta)) ** 2,
    ),
    "probit": Link(
        lambda p: np.sqrt(2) * erfinv(2 * p - 1),
        lambda eta: erfc(-eta / np.sqrt(2)) / 2,
        lambda eta: erfc(eta / np.sqrt(2)) / 2,
        lambda eta: np.exp(-(eta**2) / 2) / np.sqrt(2 * np.pi),
    ),
    "cloglog": Link(
        lambda p: np.log(-np.log(1 - p)),
        lambda eta: -np.expm1(-np.exp(eta)),
        lambda eta: np.exp(-np.exp(eta)),
        lambda eta: np.exp(eta - np.exp(eta)),
    ),
}


class BinomialFit(NamedTuple):
    """Coefficients β, their covariance, and the log-likelihood without the binomial coefficients."""

    coefficients: Array
    covariance: Array
    log_likelihood: float


def fit_binomial(
    X: Any, successes: Any, trials: Any = 1, link: str = "logit", steps: int = 50
) -> BinomialFit:
    """Fit the coefficients by Fisher scoring: Newton's method with the expected second derivatives.

    The gradient of the log-likelihood is X'(y - nπ) π' / (π(1 - π)), and the Fisher information is X'WX with
    the weights W = n π'² / (π(1 - π)). A step is the inverse of the information times the gradient.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(successes, dtype=float)
    n = np.broadcast_to(np.asarray(trials, dtype=float), y.shape)
    g = LINKS[link]
    beta = np.zeros(X.shape[1])  # here no π is 0 or 1, so that the likelihood is finite
    current = log_likelihood(X, y, n, beta, link)
    for _ in range(steps):
        pi, slope = g.inverse(X @ beta), g.derivative(X @ beta)
        variance = np.maximum(pi * g.complement(X @ beta), 1e-300)
        gradient = X.T @ ((y - n * pi) * slope / variance)
        information = X.T @ (X * (n * slope**2 / variance)[:, None])
        step = np.linalg.solve(information, gradient)
        lowest_accepted = current - 1e-9 * (1 + abs(current))
        while not log_likelihood(X, y, n, beta + step, link) >= lowest_accepted:
            step = step / 2  # the step was too long: the likelihood decreased or is not finite
        beta = beta + step
        current = log_likelihood(X, y, n, beta, link)
        if np.abs(step).max() < 1e-12 * (1 + np.abs(beta).max()):
            break
    return BinomialFit(beta, np.linalg.inv(information), current)


def log_likelihood(
    X: Array, successes: Array, trials: Array, beta: Array, link: str = "logit"
) -> float:
    """Return Σ y ln π + (n - y) ln(1 - π), with 0 · ln 0 = 0."""
    pi, complement = LINKS[link].inverse(X @ beta), LINKS[link].complement(X @ beta)
    failures = trials - successes
    with np.errstate(divide="ignore"):  # an observed event of probability 0 gives -infinity
        of_successes = np.where(
            successes > 0, successes * np.log(np.where(successes > 0, pi, 1)), 0
        )
        of_failures = np.where(
            failures > 0, failures * np.log(np.where(failures > 0, complement, 1)), 0
        )
    return float((of_successes + of_failures).sum())


def deviance(successes: Array, trials: Array, fit_likelihood: float) -> float:
    """Return twice the difference in log-likelihood between the saturated model (π = y / n) and the fit."""
    share = successes / trials
    with np.errstate(divide="ignore", invalid="ignore"):
        saturated = np.where(share > 0, successes * np.log(share), 0)
        saturated = saturated + np.where(share < 1, (trials - successes) * np.log(1 - share), 0)
    return 2 * (float(saturated.sum()) - fit_likelihood)


def chi_squared_tail(statistic: float, df: int) -> float:
    """Return the probability that a chi-squared variable with `df` degrees of freedom exceeds `statistic`."""
    return float(gammaincc(df / 2, statistic / 2))


def wald_test(fit: BinomialFit, columns: list[int]) -> tuple[float, float]:
    """Return the Wald statistic b'V⁻¹b and its p-value.

    b are the coefficients of `columns`, and V is their covariance matrix.
    """
    b = fit.coefficients[columns]
    V = fit.covariance[np.ix_(columns, columns)]
    statistic = float(b @ np.linalg.solve(V, b))
    return statistic, chi_squared_tail(statistic, len(columns))


def likelihood_ratio_test(
    X: Array, successes: Array, trials: Any, columns: list[int], link: str = "logit"
) -> tuple[float, float]:
    """Return the likelihood ratio statistic and its p-value for leaving out `columns`.

    The statistic is twice the difference of the log-likelihoods with and without the columns.
    """
    full = fit_binomial(X, successes, trials, link)
    reduced = fit_binomial(np.delete(X, columns, axis=1), successes, trials, link)
    statistic = 2 * (full.log_likelihood - reduced.log_likelihood)
    return statistic, chi_squared_tail(statistic, len(columns))


def confidence_band(
    X: Array, fit: BinomialFit, link: str = "logit", z: float = 1.959963984540054
) -> tuple[Array, Array, Array]:
    """Return the probability π of each row and the limits of its confidence interval.

    The interval is that of the linear predictor, x'β ± z standard errors, transformed by g⁻¹.
    """
    eta = X @ fit.coefficients
    error = np.sqrt(np.einsum("ij,jk,ik->i", X, fit.covariance, X))
    inverse = LINKS[link].inverse
    return inverse(eta), inverse(eta - z * error), inverse(eta + z * error)


def backward_elimination(
    terms: list[frozenset[str]], aic_of: Callable[[list[frozenset[str]]], float]
) -> tuple[list[frozenset[str]], float]:
    """Remove one term at a time while this lowers the AIC; return the remaining terms and their AIC.

    Terms are sets of factors. A term that is contained in another one, as {a} in {a, b}, is not removed
    before it. `aic_of` fits a list of terms and returns its AIC.
    """
    remaining, best = list(terms), aic_of(terms)
    while True:
        removable = [term for term in remaining if not any(term < other for other in remaining)]
        trials = [
            (aic_of([other for other in remaining if other != term]), term) for term in removable
        ]
        if not trials or min(trials, key=lambda trial: trial[0])[0] >= best:
            return remaining, best
        best, removed = min(trials, key=lambda trial: trial[0])
        remaining = [term for term in remaining if term != removed]
