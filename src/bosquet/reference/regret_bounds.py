r"""Upper bounds on the regret of aggregation rules, as the papers state them.

Letters: N experts, n steps; M is the range of the losses (at every step they differ by at most M); r(j) is
the loss of the forecaster minus that of expert j at one step, and S(j), the argument `squares`, is the sum
of r(j)² over the steps. Each function returns the bound of the rule with the same name in `experts`.
"""

from __future__ import annotations

import math


def exponential_weights(N: int, n: int, M: float, beta: float) -> float:
    """Return ln N / β + M² β n / 8, for the learning rate β (Cesa-Bianchi and Lugosi 2006, theorem 2.2)."""
    return math.log(N) / beta + M**2 * beta * n / 8


def tuned_exponential_weights(N: int, n: int, M: float) -> float:
    """Return M √(n ln N / 2), the bound for the best learning rate β = √(8 ln N / n) / M.

    >>> beta = math.sqrt(8 * math.log(10) / 100)
    >>> round(exponential_weights(10, 100, 1, beta) - tuned_exponential_weights(10, 100, 1), 12)
    0.0
    """
    return M * math.sqrt(n * math.log(N) / 2)


def anytime_exponential_weights(N: int, n: int, M: float) -> float:
    """Return M √(n ln N), the bound for β_t = 2 √(ln N / t) / M.

    It is ln N / β_n + Σ β_t M²/8, with Σ 1/√t ≤ 2 √n.
    """
    return M * math.sqrt(n * math.log(N))


def fixed_share(N: int, n: int, M: float, eta: float, alpha: float, shifts: int) -> float:
    """Return the bound on the regret with respect to sequences of experts with m = `shifts` changes.

    It is ((m + 1) ln N + (n - m - 1) ln 1/(1 - α) + m ln 1/α) / η + η M² n / 8 (Cesa-Bianchi and Lugosi 2006,
    theorem 5.2).
    """
    m = shifts
    entropy = (m + 1) * math.log(N) + (n - m - 1) * math.log(1 / (1 - alpha))
    entropy += m * math.log(1 / alpha) if m else 0.0
    return entropy / eta + eta * M**2 * n / 8


def adahedge(N: int, variance: float, largest_spread: float) -> float:
    """Return 2 √(V ln N) + S (4/3 ln N + 2) (de Rooij et al. 2014).

    V is the cumulative variance of the losses under the weights, S the largest range of the losses of a step.
    """
    return 2 * math.sqrt(variance * math.log(N)) + largest_spread * (4 / 3 * math.log(N) + 2)


def ml_poly(N: int, n: int, M: float, squares: float) -> float:
    """Return √(N (1 + ln(1 + n)) (M² + S)) (Gaillard, Stoltz and van Erven 2014)."""
    return math.sqrt(N * (1 + math.log(1 + n)) * (M**2 + squares))


def ml_prod(N: int, n: int, M: float, squares: float) -> float:
    """Return C/√(ln N) √(M² + S) + 2CM with C = 3 ln N + ln(1 + N/(2e) (1 + ln(n + 1))).

    Gaillard, Stoltz and van Erven 2014, for ML-Prod. It also holds for BOA with the same learning rates.
    """
    C = 3 * math.log(N) + math.log(1 + N / (2 * math.e) * (1 + math.log(n + 1)))
    return C / math.sqrt(math.log(N)) * math.sqrt(M**2 + squares) + 2 * C * M


def gradient_descent(excess_norms: float) -> float:
    """Return 2 √Σ|r|², on the simplex with its diameter √2 (Orabona 2019, chapter 4)."""
    return 2 * math.sqrt(excess_norms)


def exp3(N: int, n: int, M: float) -> float:
    """Return the bound 2 M √(n N ln N) on the expected regret (Bubeck and Cesa-Bianchi 2012, theorem 3.1)."""
    return 2 * M * math.sqrt(n * N * math.log(N))


def exp3_ix(N: int, n: int, M: float, confidence: float) -> float:
    """Return the bound on the regret that holds with probability `confidence` (Neu 2015, theorem 1)."""
    log_term = math.log(2 / (1 - confidence))
    scale = math.sqrt(N * n / math.log(N))
    return M * (4 * scale * math.log(N) + (2 * scale + 1) * log_term)


def universal_portfolio(stocks: int, days: int) -> float:
    """Return (N - 1) ln(n + 1), the bound of the universal portfolio with N stocks and n days (Cover 1991).

    It bounds the logarithm of the wealth of the best constant portfolio divided by the wealth of Cover's.
    """
    return (stocks - 1) * math.log(days + 1)


def exponentiated_gradient(stocks: int, days: int, smallest_ratio: float, eta: float) -> float:
    """Return ln N / η + η n / (8 r²), the bound on the same logarithm (Helmbold et al. 1998).

    r is the minimum over the days of the smallest price relative divided by the largest one.
    """
    return math.log(stocks) / eta + eta * days / (8 * smallest_ratio**2)
