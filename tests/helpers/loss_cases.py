"""All losses of the core, with parameters inside their ranges and accepted targets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bosquet import _core

Array = NDArray[np.float64]

TRAITS = {loss["name"]: loss for loss in _core.all_losses()}
TWO_CLASSES = [name for name, loss in TRAITS.items() if loss["targets"] == "two_classes"]
REGRESSION = [name for name in TRAITS if name not in TWO_CLASSES]
POSITIVE = [
    name for name, loss in TRAITS.items() if loss["targets"] in ("non_negative", "positive")
]
NEWTON_LOSSES = [name for name, loss in TRAITS.items() if loss["uses_newton_steps"]]


def cases(
    names: Sequence[str] = tuple(TRAITS), shares: Sequence[float] = (0.2, 0.5, 0.9)
) -> list[tuple[str, float]]:
    """Return each loss with several parameters of its range, or with 0 if it has none."""
    found = []
    for name in names:
        low, high = TRAITS[name]["parameter"] or (0.0, 0.0)
        found += [(name, low + share * (high - low)) for share in (shares if high > low else [0.0])]
    return found


def parameters_of(name: str, parameter: float) -> list[float]:
    """Return the parameters to pass to the core for a parameter of `cases`."""
    return [] if TRAITS[name]["parameter"] is None else [parameter]


def core_loss(name: str, parameter: float, outputs: int = 1, targets: int = 1) -> _core.Loss:
    return _core.Loss(name, outputs, targets, parameters_of(name, parameter))


def accepted(name: str, y: Array) -> Array:
    """Convert any numbers to targets for which the loss is defined."""
    if name in TWO_CLASSES:
        return (y > 0).astype(np.float64)
    return np.exp(y) if name in POSITIVE else y


def targets_near(name: str, centre: float, rows: int = 203, seed: int = 0) -> tuple[Array, Array]:
    """Return accepted targets with a relative spread of 0.1 around `centre`, and weights."""
    rng = np.random.default_rng(seed)
    y = centre * (1 + 0.1 * rng.normal(size=rows))
    if name in TWO_CLASSES:
        y = (y > centre).astype(np.float64)
    return y, rng.choice([0.25, 1.0, 7.0], size=rows)
