r"""AdaBoost.R2: boosting for numbers, by drawing the rows that were badly predicted.

Each round draws rows by the distribution p, fits a learner to them, and looks at its loss on every row:
:math:`l_i = Q(y_i, h(x_i))`, with :math:`L = \max_i l_i` and :math:`\hat\varepsilon = \sum_i p_i l_i`. With

.. math:: \beta = \frac{\hat\varepsilon}{L - \hat\varepsilon}, \qquad
          p_i \leftarrow p_i\, \beta^{1 - l_i / L} / \text{sum}

rows of small loss lose most. The learner speaks with the weight :math:`\ln(1/\beta)`, which is above 0
while :math:`\hat\varepsilon < L/2`; else the rounds stop, or begin again from equal weights.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fit = Callable[[NDArray[np.int64]], Array]  # rows' counts -> predictions of all rows
Draw = Callable[[int, Array], NDArray[np.int64]]  # round, p -> how often each row is drawn


def losses(errors: Array, loss: str, unit: float) -> Array:
    """Q by name, of the errors y - h(x)."""
    if loss == "linear":
        return np.abs(errors)
    if loss == "square":
        return errors**2
    return 1 - np.exp(-np.abs(errors) / unit)


def adaboost_r2(
    y: Array,
    fit: Fit,
    draw: Draw,
    n_rounds: int,
    *,
    loss: str = "linear",
    unit: float = 1.0,
    learning_rate: float = 1.0,
    restart: bool = False,
) -> tuple[Array, Array, Array]:
    """Predictions of the rows (learners, rows), weights of the learners, and their mean losses over L."""
    start = np.full(len(y), 1 / len(y))
    p = start
    predictions, weights, shares = [], [], []
    for number in range(n_rounds):
        predicted = fit(draw(number, p))
        given = losses(y - predicted, loss, unit)
        largest, mean = given.max(), p @ given
        if largest == 0:  # a learner without a mistake needs no others
            return predicted[None, :], np.ones(1), np.zeros(1)
        if mean >= 0.5 * largest:
            if not restart:
                break
            p = start
            continue
        beta = mean / (largest - mean)
        predictions.append(predicted)
        weights.append(learning_rate * math.log(1 / beta))
        shares.append(mean / largest)
        p = p * beta ** (learning_rate * (1 - given / largest))
        p = p / p.sum()
    return np.array(predictions), np.array(weights), np.array(shares)


def weighted_median(values: Array, weights: Array) -> float:
    """The least value that holds, with those below it, at least half of the weight.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    held = np.cumsum(weights[order])
    return float(values[order][held >= 0.5 * held[-1]][0])


def weighted_mean(values: Array, weights: Array) -> float:
    return float(values @ weights / weights.sum())
