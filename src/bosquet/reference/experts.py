r"""Prediction with expert advice.

At step t the forecaster puts weights :math:`p_t` on N experts, then learns their losses
:math:`\ell_t(1), \ldots, \ell_t(N)` and suffers :math:`p_t \cdot \ell_t`. The regret to expert j is
:math:`R_n(j) = \sum_t p_t \cdot \ell_t - \sum_t \ell_t(j)`.

A rule is a generator here: it yields weights and is sent the losses of the step. `play` runs one on
a table of losses, `mix` on forecasts: there the losses are those of the gradient trick,
:math:`\ell'(\hat x_t, y_t)\, f_t(j)`, whose regret is no smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rule = Generator[Array, Array, None]


def play(rule: Rule, losses: Array, awake: NDArray[np.bool_] | None = None) -> Array:
    """Weights of every step and of the one after the last, shape (steps + 1, experts).

    An expert asleep gets no weight, and is said to have lost what the forecaster lost.

    >>> play(exponential_weights(2, lambda t: np.log(2)), np.array([[0.0, 1.0]]))
    array([[0.5       , 0.5       ],
           [0.66666667, 0.33333333]])
    """
    weights = [next(rule)]
    for t in range(len(losses)):
        told = losses[t].copy()
        if awake is not None:
            p = np.where(awake[t], weights[t], 0.0)
            weights[t] = p / p.sum()
            told[~awake[t]] = weights[t][awake[t]] @ told[awake[t]]
        weights.append(rule.send(told))
    return np.array(weights)


def mix(
    rule: Rule, forecasts: Array, truths: Array, slope: Callable[[float, float], float]
) -> Array:
    """Weights for the linearised losses; `slope` is the derivative of the loss in the prediction."""
    weights = [next(rule)]
    for f, y in zip(forecasts, truths, strict=True):
        said = weights[-1] @ f
        weights.append(rule.send(slope(said, y) * f))
    return np.array(weights)


def soft(score: Array) -> Array:
    p = np.exp(score - score.max())
    return p / p.sum()


# ------------------------------------------------------------------------------ exponential weights
def exponential_weights(n: int, beta: Callable[[int], float]) -> Rule:
    """p_t(j) ∝ exp(-β_t L_{t-1}(j))."""
    total, t = np.zeros(n), 1
    while True:
        total += yield soft(-beta(t) * total)
        t += 1


def rate_on_grid(n: int, grid: Array) -> Rule:
    """Exponential weights at the rate of the grid that would have lost least so far."""
    total, lost, best = np.zeros(n), np.zeros(len(grid)), len(grid) // 2
    while True:
        losses = yield soft(-grid[best] * total)
        for i, beta in enumerate(grid):
            lost[i] += soft(-beta * total) @ losses
        best = int(lost.argmin())
        total += losses


def adahedge(n: int) -> Rule:
    """η = ln N / Δ, Δ the sum of the gaps between the loss and the mix loss; infinite for Δ = 0."""
    total, delta = np.zeros(n), 0.0
    while True:
        if delta > 0:
            eta = np.log(n) / delta
            p = soft(-eta * total)
            losses = yield p
            mix_loss = losses.min() - np.log(p @ np.exp(-eta * (losses - losses.min()))) / eta
        else:
            p = (total == total.min()) / np.sum(total == total.min())
            losses = yield p
            mix_loss = (total + losses).min() - total.min()
        delta += max(0.0, p @ losses - mix_loss)
        total += losses


def fixed_share(n: int, eta: float, alpha: float) -> Rule:
    """A share α of the weight is handed out anew at each step."""
    p = np.full(n, 1 / n)
    while True:
        losses = yield p
        v = p * np.exp(-eta * (losses - losses.min()))
        p = (1 - alpha) * v / v.sum() + alpha / n


def follow_the_leader(n: int) -> Rule:
    """All weight to the least loss so far."""
    total = np.zeros(n)
    while True:
        leaders = total == total.min()
        total += yield leaders / leaders.sum()


# --------------------------------------------------------------------- a learning rate for each expert
def ml_poly(n: int, largest: float = 0.0) -> Rule:
    """p(j) ∝ η(j) max(R(j), 0), 1/η(j) = B + Σ r(j)², B the largest r² so far (or of the start)."""
    regret, squares = np.zeros(n), np.zeros(n)
    while True:
        if regret.max() > 0:
            w = np.maximum(regret, 0) / (largest + squares)
            p = w / w.sum()
        else:
            p = np.full(n, 1 / n)
        losses = yield p
        r = p @ losses - losses
        regret, squares = regret + r, squares + r**2
        largest = max(largest, (r**2).max())


def many_rates(n: int, limit: float, gain: Callable[[Array, Array], Array]) -> Rule:
    """p(j) ∝ η(j) exp(η(j) G(j)), η(j) = min(1/(2B), √(ln N / (B² + Σ r(j)²))).

    `limit` is B; where it is 0 it is learned, and a step beyond it shrunk to it.
    """
    total, squares, eta = np.zeros(n), np.zeros(n), np.zeros(n)
    while True:
        if limit > 0:
            eta = np.minimum(1 / (2 * limit), np.sqrt(np.log(n) / (limit**2 + squares)))
            p = soft(np.log(eta) + eta * total)
        else:
            p = np.full(n, 1 / n)
        losses = yield p
        r = p @ losses - losses
        size = np.abs(r).max()
        if limit > 0:
            r = r * min(1.0, limit / size) if size > 0 else r
            total, squares = total + gain(eta, r), squares + r**2
        limit = max(limit, size)


def ml_prod(n: int, limit: float = 0.0) -> Rule:
    """Weights multiplied by 1 + η r."""
    return many_rates(n, limit, lambda eta, r: np.log1p(eta * r) / eta)


def boa(n: int, limit: float = 0.0) -> Rule:
    """Weights multiplied by exp(η r - η² r²)."""
    return many_rates(n, limit, lambda eta, r: r - eta * r**2)


def squint(n: int, limit: float) -> Rule:
    """p(j) ∝ Σ_i γ_i η_i exp(η_i R(j) - η_i² V(j)) over 32 rates 2^-i / (2B)."""
    regret, squares = np.zeros(n), np.zeros(n)
    i = np.arange(32)
    rates, gamma = 0.5**i / (2 * limit), 1 / ((i + 1) * (i + 2))
    while True:
        exponent = rates[:, None] * regret - rates[:, None] ** 2 * squares
        top = exponent.max()
        w = (gamma * rates) @ np.exp(exponent - top)
        p = w / w.sum()
        losses = yield p
        r = p @ losses - losses
        regret, squares = regret + r, squares + r**2


# --------------------------------------------------------------------------------- descent and ridge
def nearest_weights(point: Array) -> Array:
    """The nearest point of the simplex: the same amount off every entry, none below 0, sum 1."""
    low, high = point.min() - 1, point.max()
    for _ in range(200):
        shift = (low + high) / 2
        if np.maximum(point - shift, 0).sum() > 1:
            low = shift
        else:
            high = shift
    p = np.maximum(point - high, 0)
    return p / p.sum()


def gradient_descent(n: int) -> Rule:
    """p ← projection of p - η ℓ with η = 1 / √Σ|r|², r = p·ℓ - ℓ."""
    p, squares = np.full(n, 1 / n), 0.0
    while True:
        losses = yield p
        r = p @ losses - losses
        squares += float(r @ r)
        if squares > 0:
            p = nearest_weights(p + r / np.sqrt(squares))


def regularised_leader(n: int, loss_range: float, entropy: bool) -> Rule:
    """p minimises ψ(p)/η - p·R with η = c / √(G² + Σ|r|²)."""
    regret, squares = np.zeros(n), 0.0
    start = np.full(n, 1 / n)
    scale = 2 * np.sqrt(np.log(n)) if entropy else np.sqrt((1 - 1 / n) / 2)
    largest = loss_range * (1 if entropy else np.sqrt(n))
    while True:
        eta = scale / np.sqrt(largest**2 + squares)
        p = soft(eta * regret) if entropy else nearest_weights(start + eta * regret)
        losses = yield p
        r = p @ losses - losses
        regret = regret + r
        squares += float((r.max() - r.min()) ** 2 if entropy else r @ r)


def ridge(forecasts: Array, truths: Array, penalty: float) -> Array:
    """Weights of every step: the penalised least squares solution on the steps before it."""
    n = forecasts.shape[1]
    weights = []
    for t in range(len(truths) + 1):
        A = penalty * np.eye(n) + forecasts[:t].T @ forecasts[:t]
        b = penalty / n + forecasts[:t].T @ truths[:t]
        weights.append(np.linalg.solve(A, b))
    return np.array(weights)


# ------------------------------------------------------------------------------------------- bandits
def exp3(losses: Array, loss_range: float, chances: Array, implicit: bool) -> tuple[Array, Array]:
    """Weights and choices when only the loss of the expert drawn is seen.

    `chances` are uniform numbers, one a step; the draw is the first expert whose cumulated weight
    exceeds it. Implicit exploration (IX) adds γ = ηM/2 to the probability in the estimate.
    """
    n = losses.shape[1]
    estimate = np.zeros(n)
    weights, choices = [], []
    for t in range(len(losses)):
        eta = np.sqrt(np.log(n) / (n * (t + 1))) / loss_range
        p = soft(-eta * estimate)
        chosen = int(np.searchsorted(p.cumsum(), chances[t], side="right"))
        gamma = eta * loss_range / 2 if implicit else 0.0
        estimate[chosen] += losses[t, chosen] / (p[chosen] + gamma)
        weights.append(p)
        choices.append(chosen)
    return np.array(weights), np.array(choices)


# ------------------------------------------------------------------------------------------ hindsight
def best_sequence(losses: Array, shifts: int) -> float:
    """Least total loss of a sequence of experts with at most that many shifts, by recursion."""
    steps, n = losses.shape

    def least(t: int, expert: int, left: int) -> float:
        if t == steps:
            return 0.0
        stay = least(t + 1, expert, left)
        if left:
            stay = min([stay, *(least(t + 1, k, left - 1) for k in range(n) if k != expert)])
        return float(losses[t, expert]) + stay

    return min(least(0, k, shifts) for k in range(n))
