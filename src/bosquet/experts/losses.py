"""Losses of forecasts: the named ones, and custom losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

NAMES = ("square", "absolute", "percentage", "pinball", "log", "zero-one", "linear")
CLASS_LOSSES = ("square", "absolute", "log", "zero-one")
# Probabilities are clipped here, so that the log loss is at most 52 ln 2 = 36.04.
MIN_PROBABILITY = 2.0**-52


@dataclass(frozen=True)
class CustomExpertLoss:
    """A custom loss: its value and, for linearised losses, its gradient.

    Parameters
    ----------
    value : callable
        ``value(forecasts, truth)`` returns the losses, of shape (n,), of forecasts of shape (n,), or
        (n, n_classes) with `classes`.
    gradient : callable, optional
        ``gradient(forecast, truth)`` returns the derivative with respect to one forecast: a number, or with
        `classes` one number per class.
    """

    value: Callable[[Any, Any], Any]
    gradient: Callable[[Any, Any], Any] | None = None

    def values(self, forecasts: np.ndarray, truth: Any) -> np.ndarray:
        losses = np.asarray(self.value(forecasts, truth), dtype=float)
        if losses.shape != forecasts.shape[:1]:
            raise ValueError(
                f"the loss returned an array of shape {losses.shape} for {len(forecasts)} forecasts; it must"
                " return one number per forecast"
            )
        return losses

    def slope(self, forecast: np.ndarray, truth: Any) -> np.ndarray:
        assert self.gradient is not None
        # A single forecast is passed as a float, like the truth.
        argument = forecast if forecast.size > 1 else float(forecast[0])
        derivative = np.asarray(self.gradient(argument, truth), dtype=float).ravel()
        if derivative.shape != forecast.shape or not np.isfinite(derivative).all():
            raise ValueError(
                f"the gradient of the loss returned {derivative!r}; it must return {forecast.size} finite"
                " number(s)"
            )
        return derivative


def as_loss(loss: Any) -> str | CustomExpertLoss:
    """Return the name of a loss, or a `CustomExpertLoss` for a function, a pair of functions or an object."""
    if isinstance(loss, str):
        if loss in NAMES:
            return loss
    elif isinstance(loss, CustomExpertLoss):
        return loss
    elif isinstance(loss, tuple) and len(loss) == 2 and all(map(callable, loss)):
        return CustomExpertLoss(*loss)
    elif callable(getattr(loss, "value", None)):
        return CustomExpertLoss(loss.value, getattr(loss, "gradient", None))
    elif callable(loss):
        return CustomExpertLoss(loss)
    raise ValueError(
        f"loss={loss!r} is not valid: loss must be one of {', '.join(map(repr, NAMES))}, a function"
        " value(forecasts, truth), or a pair (value, gradient) of functions"
    )


def loss_matrix(
    forecasts: np.ndarray, truths: np.ndarray, loss: str | CustomExpertLoss, quantile: float
) -> np.ndarray:
    """Return the losses (n_rows, n_experts) of forecasts (n_rows, n_experts[, n_classes]).

    `truths` are numbers, or indices of classes. The loss of a missing forecast is NaN.
    """
    if isinstance(loss, CustomExpertLoss):
        rows = zip(forecasts, truths, strict=True)
        return np.array([loss.values(f, y) for f, y in rows])
    if forecasts.ndim == 3:
        return _class_losses(forecasts, truths.astype(np.intp), loss)
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
        return -np.log(np.maximum(np.where(y > 0.5, x, 1 - x), MIN_PROBABILITY))
    if loss == "zero-one":
        return np.where(np.isnan(x), np.nan, x != y)
    return x.copy()


def _class_losses(x: np.ndarray, truths: np.ndarray, loss: str) -> np.ndarray:
    rows = np.arange(len(truths))
    if loss == "log":
        return -np.log(np.maximum(x[rows, :, truths], MIN_PROBABILITY))
    if loss == "zero-one":
        wrong = np.nan_to_num(x, nan=-1.0).argmax(axis=2) != truths[:, None]
        return np.where(np.isnan(x).any(axis=2), np.nan, wrong)
    difference = x - np.eye(x.shape[2])[truths][:, None, :]
    return (difference**2 if loss == "square" else np.abs(difference)).sum(axis=2)
