"""Built-in losses, computed by the compiled core."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet.losses._custom import CustomLoss

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import State


# Properties of each loss of the core: accepted targets, scale, parameter.
TRAITS: dict[str, dict[str, Any]] = {loss["name"]: loss for loss in _core.all_losses()}
CLASSIFICATION = tuple(name for name, loss in TRAITS.items() if loss["targets"] == "two_classes")
REGRESSION = tuple(name for name in TRAITS if name not in CLASSIFICATION)

# Restrictions of the target by some losses: (test, description in messages).
_ACCEPTED: dict[str, tuple[Callable[[np.ndarray], np.ndarray], str]] = {
    "non_negative": (lambda y: y >= 0, "y >= 0"),
    "positive": (lambda y: y > 0, "y > 0"),
}
# Losses whose predictions are e to the power of the raw prediction.
LOG_LINK = tuple(
    name
    for name, loss in TRAITS.items()
    if loss["scale"] == "unitless" and loss["targets"] in _ACCEPTED
)


class NativeLoss:
    """A built-in loss for a given number of raw outputs.

    Arrays have the layout of the core: targets ``(targets, rows)``, raw predictions ``(outputs, rows)``.
    """

    def __init__(
        self, name: str, *, outputs: int = 1, targets: int = 1, parameters: Sequence[float] = ()
    ):
        self.name = name
        self.outputs = outputs
        self.targets = targets
        self.parameters = list(parameters)
        self.core = _core.Loss(name, outputs, targets, self.parameters)

    @property
    def uses_newton_steps(self) -> bool:
        """Whether the second derivative gives the step length; if not, leaves use the exact minimiser."""
        return self.core.uses_newton_steps

    def check_targets(self, target: np.ndarray) -> None:
        """Raise a ValueError if a target is outside the domain of the loss."""
        accepted = TRAITS[self.name]["targets"]
        if accepted not in _ACCEPTED:
            return
        inside, description = _ACCEPTED[accepted]
        wrong = np.flatnonzero(~inside(target).all(axis=0))
        if wrong.size:
            row = wrong[0]
            raise ValueError(
                f"loss='{self.name}' needs {description}, but y[{row}] is {target[:, row].min():g}"
                f" ({wrong.size} such row{'s' if wrong.size > 1 else ''}); correct y or use another loss"
            )
        if not (target.sum(axis=1) > 0).all():
            raise ValueError(
                f"loss='{self.name}' needs at least one y > 0, but all y are 0; use another loss"
            )

    def compare_derivatives(self, target: np.ndarray, raw: np.ndarray) -> None:
        """Do nothing: the derivatives of the core are tested against their formulas."""

    def best_constants(
        self, target: np.ndarray, weight: np.ndarray, offset: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the constant raw predictions with the smallest loss, one per output.

        With an offset of shape (outputs, rows), the constants are added to it.
        """
        return self.core.best_constants(target, weight, offset)

    def start_round(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> None:
        """Update what a loss computes once per round, such as the threshold of Huber's loss."""
        self.core.start_round(target, raw, weight)

    def gradient_hessian(
        self, target: np.ndarray, raw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the first and second derivatives by the raw predictions, of the shape of `raw`."""
        return self.core.gradient_hessian(target, raw)

    def mean_loss(self, target: np.ndarray, raw: np.ndarray, weight: np.ndarray) -> float:
        """Return the weighted mean loss."""
        total = weight.sum() if weight.size else target.shape[1]
        return self.core.value(target, raw, weight) / total

    def inverse_link(self, raw: np.ndarray) -> np.ndarray:
        """Convert raw predictions of shape (rows, outputs) to the scale of the target or to probabilities.

        Quantiles or expectiles of several levels are sorted in the order of their levels.
        """
        return self.core.responses(raw)

    def to_state(self) -> State:
        """Return the loss as JSON values for a model file."""
        return {
            "name": self.name,
            "outputs": self.outputs,
            "targets": self.targets,
            "parameters": self.parameters,
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> NativeLoss:
        """Build the loss from the result of `to_state`."""
        return cls(
            str(state["name"]),
            outputs=int(state["outputs"]),
            targets=int(state["targets"]),
            parameters=[float(p) for p in state["parameters"]],
        )

    def __reduce__(self) -> tuple[object, ...]:
        return (NativeLoss.from_state, (self.to_state(),))


def classification_loss(loss: object, n_classes: int) -> NativeLoss | CustomLoss:
    """Return the loss object for the `loss` parameter of a classifier."""
    if not isinstance(loss, str):
        return CustomLoss(
            loss, outputs=1 if n_classes == 2 else n_classes, targets=1, is_classification=True
        )
    if loss not in CLASSIFICATION:
        raise ValueError(
            f"loss={loss!r} is not a loss for classification; use one of {', '.join(CLASSIFICATION)}"
        )
    if loss != "log_loss" and n_classes > 2:
        raise ValueError(
            f"loss='{loss}' supports two classes, but y has {n_classes}; use loss='log_loss'"
        )
    return NativeLoss(loss, outputs=1 if n_classes == 2 else n_classes)


def regression_loss(
    loss: object,
    n_targets: int,
    *,
    quantile: ArrayLike = 0.5,
    expectile: ArrayLike = 0.5,
    alpha: float = 0.9,
    power: float = 1.5,
) -> NativeLoss | CustomLoss:
    """Return the loss object for the `loss` parameter of a regressor and the parameters of that loss."""
    if not isinstance(loss, str):
        return CustomLoss(loss, outputs=n_targets, targets=n_targets)
    if loss not in REGRESSION:
        raise ValueError(
            f"loss={loss!r} is not a loss for regression; use one of {', '.join(REGRESSION)}"
        )
    if loss in ("quantile", "expectile"):
        levels = _check_levels(loss, quantile if loss == "quantile" else expectile)
        if len(levels) > 1 and n_targets > 1:
            raise ValueError(
                f"{loss}={levels} has {len(levels)} levels and y has {n_targets} targets; several levels are"
                " supported for one target only"
            )
        outputs = max(len(levels), n_targets)
        return NativeLoss(loss, outputs=outputs, targets=n_targets, parameters=levels)
    parameters = {"huber": [alpha], "tweedie": [power]}.get(loss, [])
    return NativeLoss(loss, outputs=n_targets, targets=n_targets, parameters=parameters)


def _check_levels(name: str, value: ArrayLike) -> list[float]:
    """Return the levels of a parameter that accepts one level or several, in the given order."""
    levels = [float(level) for level in np.atleast_1d(value)]
    if not levels or not all(0 < level < 1 for level in levels) or len(set(levels)) < len(levels):
        raise ValueError(
            f"{name}={value!r} is not valid: {name} must be a level in (0, 1) or a list of distinct levels"
        )
    return levels
