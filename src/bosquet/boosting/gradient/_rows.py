"""The rows of a fit: training and validation set, and weights on a scale that single precision can hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bosquet._row_labels import warn_of_row_order_mismatch
from bosquet._targets import check_same_length
from bosquet._weights import check_sample_weight, power_of_two, warn_of_rescaling, warn_of_scale
from bosquet.boosting._inputs import as_indexable
from bosquet.boosting.gradient._offsets import check_offset
from bosquet.data import TableEncoder, count_rows

if TYPE_CHECKING:
    from bosquet._types import EvalSet
    from bosquet.losses import CustomLoss, NativeLoss


# The largest weight is kept within 2**±26: times a target of LARGEST_TARGET it fits single precision.
WEIGHT_RANGE = 26
# A parameter in units of weight has no effect if it is below this share of the smallest leaf's rows.
LEAST_SHARE = 0.05


@dataclass
class EncodedRows:
    """Encoded columns with targets of shape (targets, rows) and weights (empty: all 1).

    `weight_factor` is the factor by which the weights were scaled, so that they fit single precision.
    `offset` is added to the raw predictions, (outputs, rows); None: no offset.
    """

    columns: Any  # Columns or BatchedColumns; a matrix for learners of another kind
    target: np.ndarray
    weight: np.ndarray
    weight_factor: float = 1.0
    offset: np.ndarray | None = None

    @property
    def n_rows(self) -> int:
        return self.target.shape[1]

    def with_offset(self, raw: np.ndarray) -> np.ndarray:
        """Return raw predictions (outputs, rows) plus the offset, as a contiguous array."""
        return np.ascontiguousarray(raw if self.offset is None else raw + self.offset)


@dataclass
class FitRows:
    """All rows of a fit, the training set and the validation set.

    `validation_rows` are the numbers of the validation rows in X, None if they do not come from X.
    `weighted_rows` are the rows of X with a positive weight, None if all are.
    """

    all_rows: EncodedRows
    train: EncodedRows
    validation: EncodedRows | None
    validation_rows: np.ndarray | None
    weighted_rows: np.ndarray | None = None


def rows_of_eval_set(
    eval_set: EvalSet,
    encoder: TableEncoder | None,
    encode_target: Callable[[Any], np.ndarray],
    loss: NativeLoss | CustomLoss,
    owner: str,
    needs_offset: bool,
) -> EncodedRows:
    """Return the validation set that the caller passed as `eval_set`.

    `needs_offset` is whether the training rows have an offset: the loss would be wrong without one here.
    """
    if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3, 4):
        raise ValueError(
            "eval_set must be a tuple (X, y), (X, y, sample_weight) or (X, y, sample_weight, offset)"
        )
    X, y, given_weight, given_offset = (*eval_set, None, None)[:4]
    if needs_offset and given_offset is None:
        raise ValueError(
            "eval_set has no offset, but offset or exposure was passed for X; pass eval_set=(X, y,"
            " sample_weight, offset), with sample_weight=None for equal weights and the logarithm of an"
            " exposure as its offset"
        )
    warn_of_row_order_mismatch(("X of eval_set", "y of eval_set"), eval_set)
    target = encode_target(y)
    loss.check_targets(target)
    columns: Any = as_indexable(X) if encoder is None else encoder.transform(X, owner=owner)
    check_same_length(target.shape[1], columns.shape[0] if encoder is None else count_rows(columns))
    weight = check_sample_weight(given_weight, target.shape[1])
    offset = check_offset(given_offset, None, loss, target.shape[1], "eval_set[3]")
    return EncodedRows(columns, target, weight, offset=offset)


class ScaledWeights(NamedTuple):
    """Weights of rows after their multiplication by a factor."""

    weight: np.ndarray
    factor: float


def scale_weight(model: Any, weight: np.ndarray, encoder: TableEncoder) -> ScaledWeights:
    """Return weights that can be multiplied by gradients in single precision.

    The factor is a power of two, and parameters in units of weight are multiplied by it as well: the model
    has the same bits. Weights that are too small are not scaled if there are such parameters: compared with
    them the weights are negligible.
    """
    if model.estimator is not None:
        factor = power_of_two(weight)
        warn_of_rescaling(factor, weight)
        return ScaledWeights(weight * factor, factor)
    parameters = _in_units_of_weight(model, encoder)
    warn_of_scale(weight, parameters, least=LEAST_SHARE * model.parameters_["min_samples_leaf"])
    factor = power_of_two(weight, WEIGHT_RANGE)
    if factor > 1 and any(parameters.values()):
        factor = 1.0
    return ScaledWeights(weight * factor if factor != 1 else weight, factor)


def _in_units_of_weight(model: Any, encoder: TableEncoder) -> dict[str, float]:
    """Return the parameters that are compared with sums of weights."""
    names = ["l2_regularization", "min_child_weight", "min_split_gain"]
    if any(encoder.n_levels):
        names.append("cat_l2")
    return {name: float(model.parameters_.get(name, getattr(model, name))) for name in names}
