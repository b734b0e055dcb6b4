r"""Prediction with expert advice.

At step t the forecaster chooses weights :math:`p_t` for N experts. Then the losses
:math:`\ell_t(1), \ldots, \ell_t(N)` of the experts are revealed, and the forecaster has the loss
:math:`p_t \cdot \ell_t`. After n steps its regret with respect to expert j is
:math:`R_n(j) = \sum_t p_t \cdot \ell_t - \sum_t \ell_t(j)`. The instantaneous regret of a step is
:math:`r_t(j) = p_t \cdot \ell_t - \ell_t(j)`, and :math:`L_t(j)` is the cumulative loss of expert j.

Here a rule is a Python generator: it yields weights, and the losses of the step are sent to it. `play` runs
a rule on a table of losses. `mix` runs it on forecasts :math:`f_t(j)`, with the linearised losses
:math:`\ell'(\hat x_t, y_t)\, f_t(j)` (gradient trick): the regret for these is an upper bound of the regret.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rule = Generator[Array, Array, None]


def play(rule: Rule, losses: Array, awake: NDArray[np.bool_] | None = None) -> Array:
    """Return the weights of every step and of the step after the last, of shape (steps + 1, experts).

    A sleeping expert has no weight, and the rule receives the loss of the forecaster as its loss.

    >>> play(exponential_weights(2, lambda t: np.log(2)), np.array([[0.0, 1.0]]))
    array([[0.5       , 0.5       ],
           [0.66666667, 0.33333333]])
    """
    weights = [next(rule)]
    for t in range(len(losses)):
        observed = losses[t].copy()
        if awake is not None:
            p = np.where(awake[t], weights[t], 0.0)
            weights[t] = p / p.sum()
            observed[~awake[t]] = weights[t][awake[t]] @ observed[awake[t]]
        weights.append(rule.send(observed))
    return np.array(weights)


def mix(
    rule: Rule, forecasts: Array, truths: Array, slope: Callable[[float, float], float]
) -> Array:
    """Return the weights for linearised losses; `slope` is the derivative of the loss by the prediction."""
    weights = [next(rule)]
    for f, y in zip(forecasts, truths, strict=True):
        prediction = weights[-1] @ f
        weights.append(rule.send(slope(prediction, y) * f))
    return np.array(weights)


def softmax(score: Array) -> Array:
    """Return weights proportional to exp(score)."""
    p = np.exp(score - score.max())
    return p / p.sum()


# ------------------------------------------------------------------------------ exponential weights
def exponential_weights(n: int, beta: Callable[[int], float]) -> Rule:
    """p_t(j) ∝ exp(-β_t L_{t-1}(j))."""
    total, t = np.zeros(n), 1
    while True:
        total += yield softmax(-beta(t) * total)
        t += 1


def rate_on_grid(n: int, grid: Array) -> Rule:
    """Exponential weights with the learning rate of the grid whose cumulative loss is smallest so far."""
    total, lost, best = np.zeros(n), np.zeros(len(grid)), len(grid) // 2
    while True:
        losses = yield softmax(-grid[best] * total)
        for i, beta in enumerate(grid):
            lost[i] += softmax(-beta * total) @ losses
        best = int(lost.argmin())
        total += losses


def adahedge(n: int) -> Rule:
    """Exponential weights with η = ln N / Δ, infinite for Δ = 0.

    Δ is the cumulative mixability gap: the loss p·ℓ minus the mix loss -ln(Σ p(j) exp(-η ℓ(j))) / η.
    """
    total, delta = np.zeros(n), 0.0
    while True:
        if delta > 0:
            eta = np.log(n) / delta
            p = softmax(-eta * total)
            losses = yield p
            mix_loss = losses.min() - np.log(p @ np.exp(-eta * (losses - losses.min()))) / eta
        else:
            p = (total == total.min()) / np.sum(total == total.min())
            losses = yield p
            mix_loss = (total + losses).min() - total.min()
        delta += max(0.0, p @ losses - mix_loss)
        total += losses


def fixed_share(n: int, eta: float, alpha: float) -> Rule:
    """Exponential weights, of which a share α is redistributed equally among the experts at each step."""
    p = np.full(n, 1 / n)
    while True:
        losses = yield p
        v = p * np.exp(-eta * (losses - losses.min()))
        p = (1 - alpha) * v / v.sum() + alpha / n


def follow_the_leader(n: int) -> Rule:
    """All weight on the expert with the smallest cumulative loss, divided equally in a tie."""
    total = np.zeros(n)
    while True:
        leaders = total == total.min()
        total += yield leaders / leaders.sum()


# --------------------------------------------------------------------- a learning rate for each expert
def ml_poly(n: int, largest: float = 0.0) -> Rule:
    """p(j) ∝ η(j) max(R(j), 0) with 1/η(j) = B + Σ r(j)², where B is the largest r² so far.

    `largest` is the initial value of B.
    """
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


def multiple_rates(n: int, limit: float, gain: Callable[[Array, Array], Array]) -> Rule:
    """p(j) ∝ η(j) exp(η(j) G(j)) with η(j) = min(1/(2B), √(ln N / (B² + Σ r(j)²))).

    G(j) is the sum of `gain` over the steps, and `limit` is B, a bound on |r|. If it is 0, B is the largest
    |r| so far, and regrets of a step that exceed it are scaled down to it.
    """
    total, squares, eta = np.zeros(n), np.zeros(n), np.zeros(n)
    while True:
        if limit > 0:
            eta = np.minimum(1 / (2 * limit), np.sqrt(np.log(n) / (limit**2 + squares)))
            p = softmax(np.log(eta) + eta * total)
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
    """ML-Prod: weights are multiplied by 1 + η r at each step."""
    return multiple_rates(n, limit, lambda eta, r: np.log1p(eta * r) / eta)


def boa(n: int, limit: float = 0.0) -> Rule:
    """BOA (Bernstein online aggregation): weights are multiplied by exp(η r - η² r²) at each step."""
    return multiple_rates(n, limit, lambda eta, r: r - eta * r**2)


def squint(n: int, limit: float) -> Rule:
    """p(j) ∝ Σ_i γ_i η_i exp(η_i R(j) - η_i² V(j)) with the 32 rates η_i = 2^-i / (2B).

    V(j) is the sum of r(j)², γ_i the prior weight of rate i, and `limit` is B, a bound on |r|.
    """
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


# ----------------------------------------------------------- gradient descent and ridge regression
def nearest_weights(point: Array) -> Array:
    """Return the projection onto the simplex: max(point - c, 0), with c such that the sum is 1."""
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
    """Online gradient descent: p ← projection of p - η ℓ with η = 1 / √Σ|r|²."""
    p, squares = np.full(n, 1 / n), 0.0
    while True:
        losses = yield p
        r = p @ losses - losses
        squares += float(r @ r)
        if squares > 0:
            p = nearest_weights(p + r / np.sqrt(squares))


def regularised_leader(n: int, loss_range: float, entropy: bool) -> Rule:
    """Follow the regularised leader: p minimises ψ(p)/η - p·R with η = c / √(G² + Σ|r|²).

    The regulariser ψ is the negative entropy if `entropy`, else |p|²/2. G bounds the size of r.
    """
    regret, squares = np.zeros(n), 0.0
    start = np.full(n, 1 / n)
    scale = 2 * np.sqrt(np.log(n)) if entropy else np.sqrt((1 - 1 / n) / 2)
    largest = loss_range * (1 if entropy else np.sqrt(n))
    while True:
        eta = scale / np.sqrt(largest**2 + squares)
        p = softmax(eta * regret) if entropy else nearest_weights(start + eta * regret)
        losses = yield p
        r = p @ losses - losses
        regret = regret + r
        squares += float((r.max() - r.min()) ** 2 if entropy else r @ r)


def ridge(forecasts: Array, truths: Array, penalty: float) -> Array:
    """Return the weights of every step: the ridge regression on the steps before it.

    The penalty is the squared distance of the weights from 1/N.
    """
    n = forecasts.shape[1]
    weights = []
    for t in range(len(truths) + 1):
        A = penalty * np.eye(n) + forecasts[:t].T @ forecasts[:t]
        b = penalty / n + forecasts[:t].T @ truths[:t]
        weights.append(np.linalg.solve(A, b))
    return np.array(weights)


# ------------------------------------------------------------------------------------------- bandits
def exp3(losses: Array, loss_range: float, uniforms: Array, implicit: bool) -> tuple[Array, Array]:
    """Return the weights and the chosen experts of EXP3, which observes only the loss of the chosen expert.

    `uniforms` are random numbers in [0, 1), one per step: the first expert whose cumulative weight exceeds
    the number is chosen. The loss of the chosen expert divided by its probability is an unbiased estimate.
    Implicit exploration (IX) adds γ = ηM/2 to that probability, with M the range of the losses.
    """
    n = losses.shape[1]
    estimate = np.zeros(n)
    weights, choices = [], []
    for t in range(len(losses)):
        eta = np.sqrt(np.log(n) / (n * (t + 1))) / loss_range
        p = softmax(-eta * estimate)
        chosen = int(np.searchsorted(p.cumsum(), uniforms[t], side="right"))
        gamma = eta * loss_range / 2 if implicit else 0.0
        estimate[chosen] += losses[t, chosen] / (p[chosen] + gamma)
        weights.append(p)
        choices.append(chosen)
    return np.array(weights), np.array(choices)


# ------------------------------------------------------------------------------------------ hindsight
def best_sequence(losses: Array, shifts: int) -> float:
    """Return the smallest total loss of a sequence of experts with at most `shifts` changes."""
    steps, n = losses.shape

    def least(t: int, expert: int, left: int) -> float:
        if t == steps:
            return 0.0
        later_loss = least(t + 1, expert, left)
        if left:
            later_loss = min(
                [later_loss, *(least(t + 1, k, left - 1) for k in range(n) if k != expert)]
            )
        return float(losses[t, expert]) + later_loss

    return min(least(0, k, shifts) for k in range(n))
