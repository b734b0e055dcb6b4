r"""LPBoost with every hypothesis on the table: one linear programme instead of rounds.

With :math:`u_{ij} = y_i h_j(x_i)`, the largest soft margin that a vote can have is

.. math:: \max_{a, \rho, \xi} \; \rho - \frac{1}{\nu m} \sum_i \xi_i
          \quad \text{where} \quad \sum_j a_j u_{ij} \ge \rho - \xi_i,
          \quad \sum_j a_j = 1, \quad a, \xi \ge 0.

The dual looks for the rows that are hardest for all hypotheses at once:

.. math:: \min_{d, \beta} \; \beta
          \quad \text{where} \quad \sum_i d_i u_{ij} \le \beta \text{ for all } j,
          \quad \sum_i d_i = 1, \quad 0 \le d_i \le \frac{1}{\nu m}.

Both have the same value. With :math:`\nu = 0` no row may be given up: the margin is hard, and the two
programmes are the two players of a game.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

Array = NDArray[np.float64]


def largest_margin(worths: Array, nu: float = 0.0) -> tuple[float, float, Array]:
    """The value, the margin rho and the weights a of the vote.

    >>> worths = np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]])
    >>> value, rho, a = largest_margin(worths)
    >>> round(rho, 9), a.round(9)
    (0.333333333, array([0.33333333, 0.33333333, 0.33333333]))
    """
    rows, columns = worths.shape
    price = 1 / (nu * rows) if nu > 0 else 0.0
    # The variables are a, rho and xi; linprog minimises.
    costs = np.concatenate([np.zeros(columns), [-1.0], np.full(rows, price)])
    short_of = np.hstack([-worths, np.ones((rows, 1)), -np.eye(rows)])
    whole = np.concatenate([np.ones(columns), np.zeros(1 + rows)])[None, :]
    slack = (0, None) if nu > 0 else (0, 0)
    bounds = [(0, None)] * columns + [(None, None)] + [slack] * rows
    found = linprog(costs, short_of, np.zeros(rows), whole, [1.0], bounds)
    return float(-found.fun), float(found.x[columns]), found.x[:columns]


def hardest_rows(worths: Array, nu: float = 0.0) -> tuple[float, Array]:
    """The value beta of the dual, and the distribution of rows under which no hypothesis has more.

    >>> value, d = hardest_rows(np.array([[1.0, 1, -1], [1, -1, 1], [-1, 1, 1]]))
    >>> round(value, 9), d.round(9)
    (0.333333333, array([0.33333333, 0.33333333, 0.33333333]))
    """
    rows, columns = worths.shape
    costs = np.concatenate([np.zeros(rows), [1.0]])
    above = np.hstack([worths.T, -np.ones((columns, 1))])
    whole = np.concatenate([np.ones(rows), [0.0]])[None, :]
    most = 1 / (nu * rows) if nu > 0 else 1.0
    bounds = [(0, most)] * rows + [(None, None)]
    found = linprog(costs, above, np.zeros(columns), whole, [1.0], bounds)
    return float(found.fun), found.x[:rows]
