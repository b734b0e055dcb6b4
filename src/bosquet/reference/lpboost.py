r"""LPBoost as a linear program over all hypotheses at once, instead of rounds.

Letters: m rows with labels :math:`y_i = \pm 1`; :math:`u_{ij} = y_i h_j(x_i)` is the agreement of
hypothesis j with row i; :math:`a_j` is the weight of the hypothesis in the vote, :math:`\rho` the margin,
and :math:`\xi_i` the amount by which row i falls short of it. The largest soft margin of a vote is

.. math:: \max_{a, \rho, \xi} \; \rho - \frac{1}{\nu m} \sum_i \xi_i
          \quad \text{where} \quad \sum_j a_j u_{ij} \ge \rho - \xi_i,
          \quad \sum_j a_j = 1, \quad a, \xi \ge 0.

The dual finds the weights :math:`d_i` of the rows that are hardest for all hypotheses; :math:`\beta` is the
largest agreement of a hypothesis under these weights:

.. math:: \min_{d, \beta} \; \beta
          \quad \text{where} \quad \sum_i d_i u_{ij} \le \beta \text{ for all } j,
          \quad \sum_i d_i = 1, \quad 0 \le d_i \le \frac{1}{\nu m}.

Both programs have the same value. With :math:`\nu = 0` no slack :math:`\xi` is allowed: the margin is hard,
and the two programs are the two sides of a zero-sum game.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]


def largest_margin(agreements: Array, nu: float = 0.0) -> tuple[float, float, Array]:
    """Return the value of the program, the margin ρ and the weights a of the vote.

    >>> agreements = np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> value, rho, a = largest_margin(agreements)
    >>> round(rho, 9), a.round(9)
    (0.333333333, array([0.33333333, 0.33333333, 0.33333333]))
    """
    rows, columns = agreements.shape
    slack_cost = 1 / (nu * rows) if nu > 0 else 0.0
    # The variables are a, rho and xi; linprog minimises.
    costs = np.concatenate([np.zeros(columns), [-1.0], np.full(rows, slack_cost)])
    shortfall = np.hstack([-agreements, np.ones((rows, 1)), -np.eye(rows)])
    sum_to_one = np.concatenate([np.ones(columns), np.zeros(1 + rows)])[None, :]
    slack = (0, None) if nu > 0 else (0, 0)
    bounds = [(0, None)] * columns + [(None, None)] + [slack] * rows
    solution = linprog(costs, shortfall, np.zeros(rows), sum_to_one, [1.0], bounds)
    return float(-solution.fun), float(solution.x[columns]), solution.x[:columns]


def hardest_rows(agreements: Array, nu: float = 0.0) -> tuple[float, Array]:
    """Return the value β of the dual, and the distribution d of the rows that attains it.

    >>> value, d = hardest_rows(np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]]))
    >>> round(value, 9), d.round(9)
    (0.333333333, array([0.33333333, 0.33333333, 0.33333333]))
    """
    rows, columns = agreements.shape
    costs = np.concatenate([np.zeros(rows), [1.0]])
    excess = np.hstack([agreements.T, -np.ones((columns, 1))])
    sum_to_one = np.concatenate([np.ones(rows), [0.0]])[None, :]
    largest_weight = 1 / (nu * rows) if nu > 0 else 1.0
    bounds = [(0, largest_weight)] * rows + [(None, None)]
    solution = linprog(costs, excess, np.zeros(columns), sum_to_one, [1.0], bounds)
    return float(solution.fun), solution.x[:rows]
