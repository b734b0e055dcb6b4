r"""AdaBoost.R2: boosting for regression by drawing rows with large losses more often.

Each round draws rows with probabilities :math:`p_i`, fits a learner h to them, and computes its loss on
every row, :math:`l_i = Q(y_i, h(x_i))`. Let :math:`L = \max_i l_i` be the largest loss and
:math:`\hat\varepsilon = \sum_i p_i l_i` the mean loss. With

.. math:: \beta = \frac{\hat\varepsilon}{L - \hat\varepsilon}, \qquad
          p_i \leftarrow p_i\, \beta^{1 - l_i / L} / \text{sum}

the probability of rows with a small loss decreases most. The learner has the weight :math:`\ln(1/\beta)`,
which is positive if :math:`\hat\varepsilon < L/2`. Otherwise the rounds stop, or restart from equal
probabilities. The prediction is the weighted median, or mean, of the predictions of the learners.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Fit = Callable[[NDArray[np.int64]], Array]  # counts of the drawn rows -> predictions for all rows
Draw = Callable[[int, Array], NDArray[np.int64]]  # round, p -> how often each row is drawn


def losses(errors: Array, loss: str, unit: float) -> Array:
    """Return the losses Q for errors y - h(x): |e|, e² or 1 - exp(-|e| / unit)."""
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
    """Return predictions of shape (learners, rows), the weights ln(1/β), and the ratios ε̂ / L."""
    uniform = np.full(len(y), 1 / len(y))
    p = uniform
    predictions, weights, relative_losses = [], [], []
    for number in range(n_rounds):
        predicted = fit(draw(number, p))
        row_losses = losses(y - predicted, loss, unit)
        largest, mean = row_losses.max(), p @ row_losses
        if largest == 0:  # a learner without errors is used alone
            return predicted[None, :], np.ones(1), np.zeros(1)
        if mean >= 0.5 * largest:
            if not restart:
                break
            p = uniform
            continue
        beta = mean / (largest - mean)
        predictions.append(predicted)
        weights.append(learning_rate * math.log(1 / beta))
        relative_losses.append(mean / largest)
        p = p * beta ** (learning_rate * (1 - row_losses / largest))
        p = p / p.sum()
    return np.array(predictions), np.array(weights), np.array(relative_losses)


def weighted_median(values: Array, weights: Array) -> float:
    """Return the smallest value such that it and all smaller values have at least half of the weight.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0]))
    2.0
    """
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weights[order])
    return float(values[order][cumulative >= 0.5 * cumulative[-1]][0])


def weighted_mean(values: Array, weights: Array) -> float:
    """Return Σ w_t v_t / Σ w_t."""
    return float(values @ weights / weights.sum())
