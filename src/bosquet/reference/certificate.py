r"""What AdaBoost promises, computed from what its learners say, as the lecture derives it.

``said[t][i]`` is the answer of learner t on row i, in [-1, 1], ``alphas[t]`` its weight in the vote
and ``y[i]`` is -1 or +1. The weights of the rows start from :math:`D_1(i) = 1/m`; in each round

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


def certificate(said: Array, alphas: Sequence[float], y: Array) -> dict[str, Array]:
    """Each column of a certificate, a number a round, and the margin of each row.

    A vote of exactly 0 counts as -1.

    >>> said = np.array([[1.0, 1.0, -1.0, 1.0]])
    >>> found = certificate(said, [math.log(3) / 2], np.array([1.0, 1.0, -1.0, -1.0]))
    >>> found["errors"][0], round(found["product"][0], 3), found["training_errors"][0]
    (np.float64(0.25), np.float64(0.866), np.float64(0.25))
    """
    m = len(y)
    weight = [1.0 / m] * m
    vote = [0.0] * m
    product, squares, smallest = 1.0, 0.0, math.inf
    rows: list[list[float]] = []
    for t, alpha in enumerate(alphas):
        error = sum(weight[i] * (1 - y[i] * said[t][i]) / 2 for i in range(m))
        edge = 0.5 - error
        raised = [weight[i] * math.exp(-alpha * y[i] * said[t][i]) for i in range(m)]
        z = sum(raised)
        weight = [r / z if z > 0 else w for r, w in zip(raised, weight, strict=True)]
        vote = [vote[i] + alpha * said[t][i] for i in range(m)]
        wrong = sum((1.0 if vote[i] > 0 else -1.0) != y[i] for i in range(m)) / m
        product *= z
        squares += edge**2
        smallest = min(smallest, edge)
        worst = math.exp(-2 * max(smallest, 0.0) ** 2 * (t + 1))
        rows.append([error, edge, alpha, z, wrong, product, math.exp(-2 * squares), worst])
    names = ["errors", "edges", "alphas", "normalisers", "training_errors", "product"]
    names += ["exponential_bound", "smallest_edge_bound"]
    found = {name: np.array([row[c] for row in rows]) for c, name in enumerate(names)}
    length = sum(abs(alpha) for alpha in alphas)
    found["margins"] = np.array([y[i] * vote[i] / length for i in range(m)])
    found["weights"] = np.array(weight)
    return found


def share_up_to(margins: Array, theta: float) -> float:
    """Share of rows with a margin of at most θ."""
    return sum(1 for margin in margins if margin <= theta) / len(margins)
