r"""Offsets: known terms of the raw prediction, such as the logarithm of an exposure.

With the offset :math:`o_i` of row i the model is :math:`F(x_i) + o_i`, and only F is fitted. With a
logarithmic link, an exposure :math:`t_i` is the offset :math:`\ln t_i`: the predicted mean is
:math:`t_i e^{F(x_i)}`.
"""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._masks import without_mask
from bosquet._targets import LARGEST_TARGET
from bosquet.losses.native import CLASSIFICATION, LOG_LINK

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.losses import CustomLoss, NativeLoss


def check_offset(
    offset: ArrayLike | None,
    exposure: ArrayLike | None,
    loss: NativeLoss | CustomLoss,
    n_rows: int,
    name: str = "offset",
) -> np.ndarray | None:
    """Return the offsets of all outputs, (outputs, rows); None if there are none or all are 0.

    `name` is that of the offset in messages.
    """
    if offset is None and exposure is None:
        return None
    total: Any = 0.0
    if offset is not None:
        total = _numbers_by_output(offset, name, loss, n_rows)
        _check_range(total, name)
    if exposure is not None:
        total = total + np.log(_check_exposure(exposure, loss, n_rows))
    return np.ascontiguousarray(total) if np.any(total) else None


def _numbers_by_output(
    offset: ArrayLike, name: str, loss: NativeLoss | CustomLoss, n_rows: int
) -> np.ndarray:
    """Return the numbers as an array of shape (outputs, rows)."""
    try:
        numbers = np.asarray(without_mask(offset), dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must contain numbers: {error}") from error
    if numbers.ndim == 0:
        numbers = np.full(n_rows, float(numbers))
    if numbers.ndim > 2 or numbers.shape[0] != n_rows:
        raise ValueError(
            f"{name} has shape {numbers.shape}, but X has {n_rows} rows; pass one number per row"
        )
    if numbers.ndim == 1 and _has_several_classes(loss):
        raise ValueError(
            f"{name} has one number per row, but there are {loss.outputs} classes, and the same number for"
            f" all classes has no effect; pass an array of shape ({n_rows}, {loss.outputs})"
        )
    if numbers.ndim == 2 and numbers.shape[1] != loss.outputs:
        raise ValueError(
            f"{name} has shape {numbers.shape}, but the model has {loss.outputs} output"
            f"{'s' if loss.outputs > 1 else ''}; pass one number per row, or one column per output"
        )
    by_row = numbers[:, None] if numbers.ndim == 1 else numbers
    return np.broadcast_to(by_row.T, (loss.outputs, n_rows))


def _has_several_classes(loss: NativeLoss | CustomLoss) -> bool:
    is_classification = loss.name in CLASSIFICATION or getattr(loss, "is_classification", False)
    return bool(is_classification) and loss.outputs > 1


def _check_range(offset: np.ndarray, name: str) -> None:
    wrong = np.flatnonzero(~(np.abs(offset) <= LARGEST_TARGET).all(axis=0))
    if wrong.size:
        row = wrong[0]
        values = offset[:, row]
        value = values[~(np.abs(values) <= LARGEST_TARGET)][0]
        wanted = "finite" if not np.isfinite(value) else f"at most {LARGEST_TARGET:g}"
        raise ValueError(f"{name}[{row}] is {value:g}; offsets must be {wanted}")


def _check_exposure(exposure: ArrayLike, loss: NativeLoss | CustomLoss, n_rows: int) -> np.ndarray:
    if loss.name not in LOG_LINK:
        used = "a custom loss" if loss.name == "custom" else f"loss={loss.name!r}"
        raise ValueError(
            f"exposure needs a loss with a logarithmic link ({', '.join(LOG_LINK)}), but this model has"
            f" {used}; use one of these losses, or pass an offset on the scale of the raw prediction"
        )
    numbers = _numbers_by_output(exposure, "exposure", loss, n_rows)
    wrong = np.flatnonzero(~((numbers > 0) & np.isfinite(numbers)).all(axis=0))
    if wrong.size:
        row = wrong[0]
        values = numbers[:, row]
        value = values[~((values > 0) & np.isfinite(values))][0]
        more = f" ({wrong.size} such rows)" if wrong.size > 1 else ""
        raise ValueError(
            f"exposure[{row}] is {value:g}{more}; exposures must be positive and finite"
        )
    return numbers


class WithOffset:
    """A fitted model whose predictions include the offsets of one table: what a scorer is given."""

    PREDICTS = ("predict", "predict_proba", "predict_log_proba", "decision_function")

    def __init__(self, model: Any, offset: np.ndarray):
        self._model = model
        self._offset = offset.T

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._model, name)
        if name not in self.PREDICTS:
            return attribute

        @wraps(attribute)  # scikit-learn's scorers read the name
        def predict(X: Any) -> np.ndarray:
            return attribute(X, offset=self._offset)

        return predict
