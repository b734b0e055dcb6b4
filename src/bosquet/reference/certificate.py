r"""Error bounds of AdaBoost (Freund and Schapire 1997), computed from the predictions of its learners.

``predictions[t][i]`` is :math:`h_t(x_i)`, the prediction of learner t for row i, in [-1, 1]; ``alphas[t]``
is its weight :math:`\alpha_t` in the vote; ``y[i]`` is -1 or +1. The weights of the m rows start at
:math:`D_1(i) = 1/m`. In each round the error :math:`\epsilon_t`, the normaliser :math:`Z_t` and the next
weights are

.. math:: \epsilon_t = \sum_i D_t(i)\,\tfrac{1 - y_i h_t(x_i)}2, \qquad
    Z_t = \sum_i D_t(i)\,e^{-\alpha_t y_i h_t(x_i)}, \qquad
    D_{t+1}(i) = \frac{D_t(i)\,e^{-\alpha_t y_i h_t(x_i)}}{Z_t}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def certificate(predictions: Array, alphas: Sequence[float], y: Array) -> dict[str, Array]:
    """Return the columns of a certificate, with one value per round, and the margins and weights of the rows.

    The edge of a round is γ_t = ½ - ε_t. The training error after T rounds is at most Π Z_t ("product"). If
    α_t = ½ ln((1 - ε_t) / ε_t), it is also at most exp(-2 Σ γ_t²) ("exponential_bound") and, with γ the
    smallest edge, at most exp(-2 γ² T) ("smallest_edge_bound"). A vote of exactly 0 counts as -1.

    >>> predictions = np.array([[1.0, 1.0, -1.0, 1.0]])
    >>> found = certificate(predictions, [math.log(3) / 2], np.array([1.0, 1.0, -1.0, -1.0]))
    >>> found["errors"][0], round(found["product"][0], 3), found["training_errors"][0]
    (np.float64(0.25), np.float64(0.866), np.float64(0.25))
    """
    m = len(y)
    weight = [1.0 / m] * m
    vote = [0.0] * m
    product, squares, smallest = 1.0, 0.0, math.inf
    rounds: list[list[float]] = []
    for t, alpha in enumerate(alphas):
        error = sum(weight[i] * (1 - y[i] * predictions[t][i]) / 2 for i in range(m))
        edge = 0.5 - error
        unnormalised = [weight[i] * math.exp(-alpha * y[i] * predictions[t][i]) for i in range(m)]
        z = sum(unnormalised)
        weight = [u / z if z > 0 else w for u, w in zip(unnormalised, weight, strict=True)]
        vote = [vote[i] + alpha * predictions[t][i] for i in range(m)]
        wrong = sum((1.0 if vote[i] > 0 else -1.0) != y[i] for i in range(m)) / m
        product *= z
        squares += edge**2
        smallest = min(smallest, edge)
        by_smallest = math.exp(-2 * max(smallest, 0.0) ** 2 * (t + 1))
        rounds.append([error, edge, alpha, z, wrong, product, math.exp(-2 * squares), by_smallest])
    names = ["errors", "edges", "alphas", "normalisers", "training_errors", "product"]
    names += ["exponential_bound", "smallest_edge_bound"]
    columns = {name: np.array([values[c] for values in rounds]) for c, name in enumerate(names)}
    total_alpha = sum(abs(alpha) for alpha in alphas)
    columns["margins"] = np.array([y[i] * vote[i] / total_alpha for i in range(m)])
    columns["weights"] = np.array(weight)
    return columns


def margin_distribution(margins: Array, theta: float) -> float:
    """Return the share of rows with a margin of at most θ."""
    return sum(1 for margin in margins if margin <= theta) / len(margins)
