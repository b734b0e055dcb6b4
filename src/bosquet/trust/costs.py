"""What to do with a probability: the decision that costs least."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sums import weighted_sum


def check_costs(costs: Any, n_classes: int) -> np.ndarray:
    """Costs as a square matrix: the line is the true class, the column what it is taken for."""
    matrix = np.asarray(costs, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}, but {n_classes} classes need ({n_classes}, {n_classes}):"
            " a line for each true class, a column for each answer"
        )
    if not np.isfinite(matrix).all():
        raise ValueError("costs must be finite numbers; a gain is a negative cost")
    return matrix


def cost_threshold(costs: Any) -> float:
    r"""The probability of the second class from which on it is the cheaper answer.

    With C[j, k] the cost of taking class j for class k, answer 1 is the cheaper one where

    .. math:: p > \frac{C_{01} - C_{00}}{C_{01} - C_{00} + C_{10} - C_{11}} .

    Parameters
    ----------
    costs : array of shape (2, 2)
        A wrong answer must cost more than the right one.

    Returns
    -------
    float

    Examples
    --------
    To overlook an illness costs nine times a false alarm:

    >>> from bosquet.trust import cost_threshold
    >>> print(cost_threshold([[0, 1], [9, 0]]))
    0.1

    References
    ----------
    Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.
    """
    matrix = check_costs(costs, 2)
    alarm, miss = matrix[0, 1] - matrix[0, 0], matrix[1, 0] - matrix[1, 1]
    for true, extra in ((0, alarm), (1, miss)):
        if not extra > 0:
            raise ValueError(
                f"costs says that taking class {true} for the other one costs no more than the right"
                " answer: there is no threshold, one answer is always the cheaper"
            )
    return float(alarm / (alarm + miss))


def least_costly(probabilities: np.ndarray, costs: Any) -> np.ndarray:
    """The number of the class whose expected cost is least, of equal ones the first."""
    expected = weighted_sum(check_costs(costs, probabilities.shape[1]), probabilities.T[:, :, None])
    return expected.argmin(axis=1)
