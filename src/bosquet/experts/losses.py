"""What a forecast costs: the named losses, and losses of the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("square", "absolute", "percentage", "pinball", "log", "zero-one", "linear")
OF_CLASSES = ("square", "absolute", "log", "zero-one")
# No forecast costs more than 36.04 by the logarithm: one that calls the truth impossible.
LEAST_PROBABILITY = 2.0**-52


@dataclass(frozen=True)
class UserLoss:
    """A loss of the user's own: a value, and a gradient where it is to be linearised.

    Parameters
    ----------
    value : callable
        ``value(forecasts, truth)``: the loss of each forecast of an array of shape (n,), with
        `classes` (n, n_classes); returns (n,).
    gradient : callable, optional
        ``gradient(forecast, truth)``: the derivative in one forecast, a number, with `classes` one
        number a class.
    """

    value: Callable[[Any, Any], Any]
    gradient: Callable[[Any, Any], Any] | None = None

    def values(self, forecasts: np.ndarray, truth: Any) -> np.ndarray:
        found = np.asarray(self.value(forecasts, truth), dtype=float)
        if found.shape != forecasts.shape[:1]:
            raise ValueError(
                f"the loss returned an array of shape {found.shape} for {len(forecasts)} forecasts; it must"
                " return one number a forecast"
            )
        return found

    def slope(self, forecast: np.ndarray, truth: Any) -> np.ndarray:
        assert self.gradient is not None
        # A number is handed over as one, as the truth is.
        given = forecast if forecast.size > 1 else float(forecast[0])
        found = np.asarray(self.gradient(given, truth), dtype=float).ravel()
        if found.shape != forecast.shape or not np.isfinite(found).all():
            raise ValueError(
                f"the gradient of the loss is {found!r}; it must be {forecast.size} finite number(s)"
            )
        return found


def loss_of(loss: Any) -> str | UserLoss:
    """A name, or a loss of the user's own from a function, a pair of them or an object."""
    if isinstance(loss, str):
        if loss in NAMES:
            return loss
    elif isinstance(loss, UserLoss):
        return loss
    elif isinstance(loss, tuple) and len(loss) == 2 and all(callable(part) for part in loss):
        return UserLoss(*loss)
    elif callable(getattr(loss, "value", None)):
        return UserLoss(loss.value, getattr(loss, "gradient", None))
    elif callable(loss):
        return UserLoss(loss)
    raise ValueError(
        f"loss={loss!r} is out of range: loss must be one of {', '.join(map(repr, NAMES))}, a function"
        " value(forecasts, truth), or a pair (value, gradient) of functions"
    )


def loss_matrix(
    forecasts: np.ndarray, truths: np.ndarray, loss: str | UserLoss, quantile: float
) -> np.ndarray:
    """Losses (steps, experts) of forecasts (steps, experts) or (steps, experts, classes).

    `truths` are numbers, or numbers of classes. A missing forecast has a missing loss.
    """
    if isinstance(loss, UserLoss):
        rows = zip(forecasts, truths, strict=True)
        return np.array([loss.values(f, y) for f, y in rows])
    if forecasts.ndim == 3:
        return _of_classes(forecasts, truths.astype(np.intp), loss)
    x, y = forecasts, truths[:, None]
    if loss == "square":
        return (x - y) ** 2
    if loss == "absolute":
        return np.abs(x - y)
    if loss == "percentage":
        return np.abs(x - y) / np.abs(y)
    if loss == "pinball":
        return ((y < x) - quantile) * (x - y)
    if loss == "log":
        return -np.log(np.maximum(np.where(y > 0.5, x, 1 - x), LEAST_PROBABILITY))
    if loss == "zero-one":
        return np.where(np.isnan(x), np.nan, x != y)
    return x.copy()


def _of_classes(x: np.ndarray, truths: np.ndarray, loss: str) -> np.ndarray:
    rows = np.arange(len(truths))
    if loss == "log":
        return -np.log(np.maximum(x[rows, :, truths], LEAST_PROBABILITY))
    if loss == "zero-one":
        wrong = np.nan_to_num(x, nan=-1.0).argmax(axis=2) != truths[:, None]
        return np.where(np.isnan(x).any(axis=2), np.nan, wrong)
    apart = x - np.eye(x.shape[2])[truths][:, None, :]
    return (apart**2 if loss == "square" else np.abs(apart)).sum(axis=2)
