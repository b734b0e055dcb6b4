r"""What regret cannot exceed, as the papers state it.

Losses lie within M of each other at every step; there are N experts and n steps. r(j) is the loss of
the forecaster less that of expert j, and S(j) the sum of its squares.
"""

from __future__ import annotations

import math


def exponential_weights(N: int, n: int, M: float, beta: float) -> float:
    """ln N / β + M² β n / 8 (Cesa-Bianchi and Lugosi 2006, theorem 2.2)."""
    return math.log(N) / beta + M**2 * beta * n / 8


def tuned_exponential_weights(N: int, n: int, M: float) -> float:
    """M √(n ln N / 2), at β = √(8 ln N / n) / M.

    >>> beta = math.sqrt(8 * math.log(10) / 100)
    >>> round(exponential_weights(10, 100, 1, beta) - tuned_exponential_weights(10, 100, 1), 12)
    0.0
    """
    return M * math.sqrt(n * math.log(N) / 2)


def anytime_exponential_weights(N: int, n: int, M: float) -> float:
    """M √(n ln N): ln N / β_n + Σ β_t M²/8 with β_t = 2 √(ln N / t) / M, as Σ 1/√t ≤ 2 √n."""
    return M * math.sqrt(n * math.log(N))


def fixed_share(N: int, n: int, M: float, eta: float, alpha: float, shifts: int) -> float:
    """Against sequences with that many shifts (Cesa-Bianchi and Lugosi 2006, theorem 5.2)."""
    m = shifts
    surprise = (m + 1) * math.log(N) + (n - m - 1) * math.log(1 / (1 - alpha))
    surprise += m * math.log(1 / alpha) if m else 0.0
    return surprise / eta + eta * M**2 * n / 8


def adahedge(N: int, variance: float, largest_spread: float) -> float:
    """2 √(V ln N) + S (4/3 ln N + 2) (de Rooij et al. 2014)."""
    return 2 * math.sqrt(variance * math.log(N)) + largest_spread * (4 / 3 * math.log(N) + 2)


def ml_poly(N: int, n: int, M: float, squares: float) -> float:
    """√(N (1 + ln(1 + n)) (M² + S)) (Gaillard, Stoltz and van Erven 2014)."""
    return math.sqrt(N * (1 + math.log(1 + n)) * (M**2 + squares))


def ml_prod(N: int, n: int, M: float, squares: float) -> float:
    """C/√(ln N) √(M² + S) + 2CM, C = 3 ln N + ln(1 + N/(2e) (1 + ln(n + 1))).

    Gaillard, Stoltz and van Erven 2014, for ML-Prod. BOA with the same rates obeys it too.
    """
    C = 3 * math.log(N) + math.log(1 + N / (2 * math.e) * (1 + math.log(n + 1)))
    return C / math.sqrt(math.log(N)) * math.sqrt(M**2 + squares) + 2 * C * M


def gradient_descent(excess_norms: float) -> float:
    """2 √Σ|r|² on the simplex, whose diameter is √2 (Orabona 2019, chapter 4)."""
    return 2 * math.sqrt(excess_norms)


def exp3(N: int, n: int, M: float) -> float:
    """Expected regret at most 2 M √(n N ln N) (Bubeck and Cesa-Bianchi 2012, theorem 3.1)."""
    return 2 * M * math.sqrt(n * N * math.log(N))


def exp3_ix(N: int, n: int, M: float, confidence: float) -> float:
    """With that probability (Neu 2015, theorem 1)."""
    surprise = math.log(2 / (1 - confidence))
    scale = math.sqrt(N * n / math.log(N))
    return M * (4 * scale * math.log(N) + (2 * scale + 1) * surprise)


def universal_portfolio(stocks: int, days: int) -> float:
    """On ln of the best constant rebalanced wealth over Cover's: (N - 1) ln(n + 1) (Cover 1991)."""
    return (stocks - 1) * math.log(days + 1)


def exponentiated_gradient(stocks: int, days: int, smallest_ratio: float, eta: float) -> float:
    """On the same difference: ln N / η + η n / (8 r²) (Helmbold et al. 1998)."""
    return math.log(stocks) / eta + eta * days / (8 * smallest_ratio**2)
