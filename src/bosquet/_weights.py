"""The scale of sample weights: kept where sums do not overflow, warned of where it changes a model.

An integer weight stands for so many copies of its row. Parameters that are compared with a sum of weights,
such as an L2 penalty, therefore act the more, the smaller the weights are: no rule can keep this and give
the same model for weights of any scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from bosquet._warnings import warn_user

# The largest weight is kept between 2**-60 and 2**60: so sums over all rows fit single precision, in which
# trees store the weight of a node, and sums of squares fit double precision.
RANGE = 60
# Mean weights between which parameters in units of weight act as documented. Gradient boosting with its
# defaults, on five tables of 442 to 6,000 rows with weights that are all the same, beside weights of 1: the
# loss on a quarter of the rows changed by at most 5 % from 0.1 to 10 and 6 % up to 100; it was 21 % larger at
# 0.03, 55 % at 0.01, four times at 0.001, and 20 % larger at 10⁶.
LEAST_MEAN, LARGEST_MEAN = 0.1, 100.0


def power_of_two(weight: np.ndarray, reach: int = RANGE) -> float:
    """What to multiply weights by so that the largest lies within 2**±reach; 1 if it does.

    Multiplying by a power of two changes no digit: a learner without parameters in units of weight gives
    the same model.

    >>> power_of_two(np.array([3.0, 0.5])), power_of_two(np.array([2.0**70, 1.0]))
    (1.0, 8.470329472543003e-22)
    """
    exponent = math.frexp(float(weight.max()))[1] - 1 if weight.size else 0
    return 1.0 if abs(exponent) <= reach else math.ldexp(1.0, min(-exponent, 1023))


def warn_of_rescaling(factor: float, weight: np.ndarray) -> None:
    """Warn that weights beyond any use were multiplied by `factor`, of a model that may notice."""
    if factor != 1:
        warn_user(
            f"the largest sample weight is {weight.max():g}, and sums of such weights overflow or underflow:"
            f" the weights were multiplied by 2**{round(math.log2(factor))}; pass sample_weight /"
            " np.mean(sample_weight) instead"
        )


def warn_of_scale(weight: np.ndarray, parameters: Mapping[str, float], least: float) -> None:
    """Warn if the weights are so far from 1 on average that some parameters act differently.

    `parameters` are those that are compared with sums of weights. One that is below `least`, both as it was
    set and as it acts, has no effect.
    """
    if not weight.size:
        return
    mean = float(weight[weight > 0].mean())
    if LEAST_MEAN <= mean <= LARGEST_MEAN:
        return
    acting = {
        name: value
        for name, value in parameters.items()
        if value > 0 and max(value, value / mean) >= least
    }
    if acting:
        given = ", ".join(f"{name}={value:g}" for name, value in acting.items())
        instead = ", ".join(f"{name}={value / mean:.3g}" for name, value in acting.items())
        warn_user(
            f"the positive sample weights have the mean {mean:.3g}, and {given} compares with sums of"
            f" weights: the effect is that of {instead} for weights of mean 1; pass sample_weight /"
            " np.mean(sample_weight), or choose the parameters for weights of this scale"
        )
