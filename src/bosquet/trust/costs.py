"""Decisions of minimum expected cost from class probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._sums import weighted_sum

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def check_costs(costs: ArrayLike, n_classes: int) -> np.ndarray:
    """Return costs as a square matrix: rows are true classes, columns are predicted classes."""
    matrix = np.asarray(costs, dtype=float)
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs has shape {matrix.shape}, but {n_classes} classes need ({n_classes}, {n_classes}):"
            " a row per true class, a column per predicted class"
        )
    if not np.isfinite(matrix).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(matrix))[0])
        raise ValueError(
            f"costs[{row}, {column}] is {matrix[row, column]}; costs must be finite numbers (a gain is a"
            " negative cost)"
        )
    return matrix


def cost_threshold(costs: ArrayLike) -> float:
    r"""Return the probability of the second class above which predicting it has the lower expected cost.

    With C[j, k] the cost of predicting class k for a row of class j, predicting class 1 costs less if

    .. math:: p > \frac{C_{01} - C_{00}}{C_{01} - C_{00} + C_{10} - C_{11}} .

    Parameters
    ----------
    costs : array of shape (2, 2)
        An error must cost more than the correct prediction, for both classes.

    Returns
    -------
    float

    Examples
    --------
    Overlooking an illness costs nine times as much as a false alarm:

    >>> from bosquet.trust import cost_threshold
    >>> print(cost_threshold([[0, 1], [9, 0]]))
    0.1

    References
    ----------
    Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.
    """
    matrix = check_costs(costs, 2)
    false_positive, false_negative = matrix[0, 1] - matrix[0, 0], matrix[1, 0] - matrix[1, 1]
    for true, extra in ((0, false_positive), (1, false_negative)):
        if not extra > 0:
            raise ValueError(
                f"costs[{true}, {1 - true}] must exceed costs[{true}, {true}]: if an error costs no more"
                " than the correct prediction, there is no threshold"
            )
    return float(false_positive / (false_positive + false_negative))


def least_costly(probabilities: np.ndarray, costs: ArrayLike) -> np.ndarray:
    """Return the index of the class with the lowest expected cost; of equal classes, the first."""
    expected = weighted_sum(check_costs(costs, probabilities.shape[1]), probabilities.T[:, :, None])
    return expected.argmin(axis=1)
