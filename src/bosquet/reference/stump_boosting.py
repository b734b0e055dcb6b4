r"""Boosting on stumps for two classes: one loop, five ways to weigh the rows.

With margins :math:`m_i = y_i f(x_i)` and row weights :math:`D_0`:

========  ====================================  =======================================
variant   stump                                 weights of the next round, proportional to
========  ====================================  =======================================
discrete  least error, times α = ½ ln((1-ε)/ε)  :math:`D_0 e^{-m}`
real      half the log odds, least Z            :math:`D_0 e^{-m}`
gentle    weighted mean of y, least squares     :math:`D_0 e^{-m}`
logit     least squares to z, times ½           :math:`D_0 p (1-p)`, p = 1 / (1 + e^(-2f))
mada      as discrete                           :math:`D_0 \min(1, e^{-m})`
========  ====================================  =======================================

Whatever the variant, :math:`Z_t` is what the mean of :math:`e^{-m}` is multiplied by in round t, so
that the product of all is that mean, which is no less than the training error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bosquet.reference.stumps import Stump, linear

Array = NDArray[np.float64]

MOST_RESPONSE = 4.0  # Friedman, Hastie, Tibshirani (2000): between 2 and 4
LEAST_WEIGHT = 2.0**-51


@dataclass
class Round:
    """What is known of a round; `taken` is false if the loop has to stop before it."""

    stump: Stump
    error: float
    alpha: float
    z: float
    training_error: float
    taken: bool = True


def working_response(y: Array, margin: Array) -> tuple[Array, Array]:
    """Newton's step for the log loss as a least-squares problem: response and weight."""
    own, other = 1 / (1 + np.exp(-2 * margin)), 1 / (1 + np.exp(2 * margin))  # chances given
    z = y * np.minimum(1 / own, MOST_RESPONSE)
    return z, np.maximum(own * other, LEAST_WEIGHT)


def distribution(variant: str, prior: Array, margin: Array, y: Array) -> Array:
    """The weights that follow from the margins, adding up to 1."""
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
) -> tuple[list[Round], Array]:
    """The rounds, and the margins after them."""
    prior = weight / weight.sum()
    f = np.zeros(len(y))
    criterion = {"real": "exponential", "gentle": "squared", "logit": "squared"}.get(
        variant, "error"
    )
    history: list[Round] = []
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
                history.append(Round(stump, error, alpha, z, wrong, taken=False))
                break
        else:
            alpha = learning_rate / 2 if variant == "logit" else learning_rate
        before = np.sum(prior * np.exp(-y * f))
        f = f + alpha * h
        z = float(np.sum(prior * np.exp(-y * f)) / before)
        wrong = float(np.sum(prior[(f > 0) != (y > 0)]))
        history.append(Round(stump, error, alpha, z, wrong))
    return history, y * f
