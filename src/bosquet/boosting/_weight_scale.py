"""The scale of the weights that gradient boosting multiplies gradients by, in single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._weights import power_of_two, warn_of_rescaling, warn_of_scale
from bosquet.data import TableEncoder

# The largest weight is kept within 2**±26: times a target of LARGEST_TARGET it fits single precision.
WEIGHT_RANGE = 26
# A parameter in units of weight has no effect if it is below this share of the smallest leaf's rows.
LEAST_SHARE = 0.05


def scaled_weight(
    model: Any, weight: np.ndarray, encoder: TableEncoder
) -> tuple[np.ndarray, float]:
    """Weights that can be multiplied by gradients in single precision, and by what they were scaled.

    A power of two, by which the parameters in units of weight are multiplied as well: the model is the same
    to the bit. Weights that are too small stay as they are if there are such parameters: next to those they
    count for nothing.
    """
    if model.estimator is not None:
        factor = power_of_two(weight)
        warn_of_rescaling(factor, weight)
        return weight * factor, factor
    parameters = _in_units_of_weight(model, encoder)
    warn_of_scale(weight, parameters, least=LEAST_SHARE * model.min_samples_leaf)
    factor = power_of_two(weight, WEIGHT_RANGE)
    if factor > 1 and any(parameters.values()):
        factor = 1.0
    return weight * factor if factor != 1 else weight, factor


def _in_units_of_weight(model: Any, encoder: TableEncoder) -> dict[str, float]:
    """The parameters that are compared with sums of weights."""
    names = ["l2_regularization", "min_child_weight", "min_split_gain"]
    if any(encoder.categories):
        names.append("cat_l2")
    return {name: float(getattr(model, name)) for name in names}
