r"""The linear programme of LPBoost on the hypotheses found so far.

.. math:: \min_{d, \beta} \beta \quad \text{where} \quad \sum_i d_i u_{ij} \le \beta \text{ for all } j,
          \quad \sum_i d_i = 1, \quad 0 \le d_i \le D_i

with :math:`u_{ij} = y_i h_j(x_i)`. Its multipliers are the weights a of the vote with the largest soft
margin. It is solved in this form since it has one condition a hypothesis, not one a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array


@dataclass(frozen=True)
class Solution:
    """A vote and the rows that are hardest for it."""

    vote: np.ndarray  # a, of sum 1
    distribution: np.ndarray  # d, of sum 1
    rho: float  # the margin that rows fall short of at a price
    value: float  # rho less the price: what the vote is sure of


class MarginProgramme:
    """Grows by a column a round; `caps` are the most that each row may weigh."""

    def __init__(self, caps: np.ndarray):
        self.caps = caps
        self.worths: list[np.ndarray] = []

    def add(self, worth: np.ndarray) -> None:
        """One more hypothesis, by what it is worth on each row."""
        self.worths.append(worth)

    def solve(self) -> Solution:
        rows, columns = self.caps.size, len(self.worths)
        worths = np.stack(self.worths)
        # As shares of agreement, (1 + u) / 2: half of the table is then 0, which is half of the work.
        shares = csr_array(np.hstack([(1 + worths) / 2, np.full((columns, 1), -1.0)]))
        found = linprog(
            np.concatenate([np.zeros(rows), [1.0]]),
            shares,
            np.zeros(columns),
            np.concatenate([np.ones(rows), [0.0]])[None, :],
            [1.0],
            np.column_stack([np.append(np.zeros(rows), -np.inf), np.append(self.caps, np.inf)]),
            method="highs",
            options={
                "presolve": False
            },  # it finds nothing to take off, and takes as long as the rest
        )
        if not found.success:
            raise RuntimeError(
                f"the linear programme of {columns} hypotheses was not solved: {found.message}"
            )
        vote = np.maximum(-found.ineqlin.marginals, 0.0)
        vote /= vote.sum()
        distribution = np.clip(found.x[:rows], 0.0, self.caps)
        rho, value = soft_margin(vote @ worths, self.caps)
        return Solution(vote, distribution / distribution.sum(), rho, value)


def soft_margin(margins: np.ndarray, caps: np.ndarray) -> tuple[float, float]:
    r"""The rho that makes :math:`\rho - \sum_i D_i (\rho - \text{margin}_i)_+` largest, and that value.

    The derivative in rho is 1 less the caps of the rows below it: so it is the margin at which these
    add up to 1. Computed from the vote itself, it holds whatever the accuracy of the solver.
    """
    order = np.argsort(margins, kind="stable")
    held = np.cumsum(caps[order])
    place = min(int(np.searchsorted(held, 1 - 1e-12)), margins.size - 1)
    rho = float(margins[order[place]])
    return rho, rho - float(caps @ np.maximum(rho - margins, 0.0))
