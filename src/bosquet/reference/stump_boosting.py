r"""Boosting of stumps for two classes, in five variants.

The label is :math:`y_i = \pm 1`, f is the sum of the stumps so far, :math:`m_i = y_i f(x_i)` is the margin
of row i, and :math:`D_0` are the weights that the user gives to the rows:

========  ====================================  =======================================
variant   stump                                 row weights, proportional to
========  ====================================  =======================================
discrete  smallest error ε, α = ½ ln((1-ε)/ε)   :math:`D_0 e^{-m}`
real      half the log-odds, smallest Z         :math:`D_0 e^{-m}`
gentle    least-squares fit of y                :math:`D_0 e^{-m}`
logit     least-squares fit of z, times ½       :math:`D_0 p (1-p)`, p = 1 / (1 + e^(-2f))
mada      as discrete                           :math:`D_0 \min(1, e^{-m})`
========  ====================================  =======================================

For logit, z is the working response of Newton's method for the log loss. In every variant :math:`Z_t` is the
factor by which round t multiplies the weighted mean of :math:`e^{-m}`. The product of the :math:`Z_t` is
therefore this mean, which is at least the training error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.stumps import WeightedStump, linear

Array = NDArray[np.float64]

MAX_RESPONSE = 4.0  # Friedman, Hastie and Tibshirani (2000) recommend 2 to 4
MIN_WEIGHT = 2.0**-51


@dataclass
class StumpRound:
    """A round: stump, error ε, weight α, normaliser Z, and the training error after the round.

    `taken` is False if boosting stops before the stump is added.
    """

    stump: WeightedStump
    error: float
    alpha: float
    z: float
    training_error: float
    taken: bool = True


def working_response(y: Array, margin: Array) -> tuple[Array, Array]:
    """Return the working response z and its weights: Newton's step for the log loss as least squares."""
    p_own = 1 / (1 + np.exp(-2 * margin))  # estimated probability of the class of the row
    p_other = 1 / (1 + np.exp(2 * margin))
    z = y * np.minimum(1 / p_own, MAX_RESPONSE)
    return z, np.maximum(p_own * p_other, MIN_WEIGHT)


def distribution(variant: str, prior: Array, margin: Array, y: Array) -> Array:
    """Return the row weights for the given margins, with sum 1; `prior` is D₀."""
    if variant == "logit":
        w = prior * working_response(y, margin)[1]
    elif variant == "mada":
        w = prior * np.minimum(1, np.exp(-margin))
    else:
        w = prior * np.exp(-margin)
    return w / w.sum()


def boost(
    X: Array,
    y: Array,
    weight: Array,
    variant: str = "discrete",
    rounds: int = 10,
    learning_rate: float = 1.0,
    nominal: tuple[int, ...] = (),
) -> tuple[list[StumpRound], Array]:
    """Return the rounds, and the margins of the rows after them."""
    prior = weight / weight.sum()
    f = np.zeros(len(y))
    criterion = {"real": "exponential", "gentle": "squared", "logit": "squared"}.get(
        variant, "error"
    )
    history: list[StumpRound] = []
    for _ in range(rounds):
        w = distribution(variant, prior, y * f, y)
        target = working_response(y, y * f)[0] if variant == "logit" else y
        stump = linear(X, target, w, criterion, nominal)
        h = stump.predict(X)
        error = float(np.sum(w[(h > 0) != (y > 0)]))
        if criterion == "error":
            alpha = learning_rate * 0.5 * math.log((1 - error) / error) if error else math.inf
            if error == 0 or error >= 0.5:
                wrong = float(np.sum(prior[(f > 0) != (y > 0)]))
                z = 0.0 if error == 0 else 1.0
                history.append(StumpRound(stump, error, alpha, z, wrong, taken=False))
                break
        else:
            alpha = learning_rate / 2 if variant == "logit" else learning_rate
        before = np.sum(prior * np.exp(-y * f))
        f = f + alpha * h
        z = float(np.sum(prior * np.exp(-y * f)) / before)
        wrong = float(np.sum(prior[(f > 0) != (y > 0)]))
        history.append(StumpRound(stump, error, alpha, z, wrong))
    return history, y * f
