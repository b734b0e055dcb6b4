"""Losses C(m) of the margin m = y f(x), which AnyBoost minimises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


# The step of a central difference: the cube root of the machine epsilon balances the truncation error against
# the rounding error.
_STEP = float(np.finfo(float).eps ** (1 / 3))
# A smaller probability cannot be distinguished from 0 with fewer than a million rows, and the logarithm of
# this one is finite.
MIN_PROBABILITY = 1e-6
# Margins at which a custom loss is tested. They are not round numbers, at which losses often have kinks.
_TEST_MARGINS = np.linspace(-3.17, 3.13, 22)


class MarginLoss:
    """A loss C(m) that decreases with the margin m, and its derivative, the slope C'(m).

    The weights of boosting are w = -C'(m). `probability` converts f to P(y = +1 | x): the expected loss is
    minimal where P C'(f) = (1 - P) C'(-f). For a loss that is constant above some margin, this would be
    exactly 0 or 1, which a sample cannot justify. The probability is therefore clipped to
    [MIN_PROBABILITY, 1 - MIN_PROBABILITY].
    """

    name = "custom"
    starts_from_adaboost = False

    def value(self, margin: np.ndarray) -> np.ndarray:
        """Return the loss C(m)."""
        raise NotImplementedError

    def slope(self, margin: np.ndarray) -> np.ndarray:
        """Return the derivative C'(m)."""
        raise NotImplementedError

    def probability(self, f: np.ndarray) -> np.ndarray:
        """Return P(y = +1 | x) for the value f(x) of the vote."""
        against, agree = -self.slope(-f), -self.slope(f)
        total = against + agree
        share = np.divide(against, total, out=np.full_like(f, 0.5), where=total > 0)
        return np.clip(share, MIN_PROBABILITY, 1 - MIN_PROBABILITY)


class Exponential(MarginLoss):
    """exp(-m), the loss of AdaBoost."""

    name = "exponential"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(-margin, _LARGEST_EXPONENT))

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -self.value(margin)

    def probability(self, f: np.ndarray) -> np.ndarray:
        return expit(2 * f)


class Logistic(MarginLoss):
    """ln(1 + exp(-2m)), the negative binomial log-likelihood if f is half the log-odds."""

    name = "logistic"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -2 * margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -2 * expit(-2 * margin)

    def probability(self, f: np.ndarray) -> np.ndarray:
        return expit(2 * f)


class SquaredHinge(MarginLoss):
    """max(0, 1 - m)², which is 0 for margins above 1. P = (1 + f) / 2, clipped to [0, 1]."""

    name = "squared_hinge"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.maximum(0, 1 - margin) ** 2

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -2 * np.maximum(0, 1 - margin)


class SmoothHinge(MarginLoss):
    """½ - m below 0, ½ (1 - m)² in [0, 1], then 0: linear for outliers, and differentiable everywhere.

    P = 1 / (2 - f) for f in [0, 1], 1 above, and 1 - P(-f) below 0.
    """

    name = "smooth_hinge"

    def value(self, margin: np.ndarray) -> np.ndarray:
        short = 1 - np.clip(margin, 0, 1)
        return short**2 / 2 - np.minimum(margin, 0)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return np.clip(margin, 0, 1) - 1


class Doom2(MarginLoss):
    """1 - tanh(m), which is flat on both sides, so that rows with very negative margins lose their influence.

    The slope is an even function. After the first learner, the rows that it classifies correctly and
    incorrectly would have the same weight, and the same learner would be found forever. Boosting therefore
    starts from a vote fitted by AdaBoost.
    """

    name = "doom2"
    starts_from_adaboost = True

    def value(self, margin: np.ndarray) -> np.ndarray:
        return 1 - np.tanh(margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -1 / np.cosh(np.clip(margin, -300, 300)) ** 2

    def probability(self, f: np.ndarray) -> np.ndarray:
        # The slope is an even function, so the general formula would give ½ everywhere.
        return expit(2 * f)


class CustomMarginLoss(MarginLoss):
    """A custom loss: an object with ``value(margin)`` and optionally ``slope(margin)``, or a function.

    Without `slope`, the slope is a central difference of the value. With both, they are compared once. A
    function is used as the value.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CustomMarginLoss(lambda margin: np.exp(-3 * margin))
    >>> loss.slope(np.zeros(1)).round(6)
    array([-3.])
    """

    def __init__(self, user: object):
        self.user = user
        value = getattr(user, "value", user)
        if not callable(value) or isinstance(user, type | str):
            raise ValueError(
                f"loss={user!r} is not valid: loss must be one of {', '.join(map(repr, MARGIN_LOSSES))}, a"
                " function of the margin, or an object with value(margin) and slope(margin)"
            )
        self._value = value
        slope = getattr(user, "slope", None)
        self._slope: Callable[[np.ndarray], ArrayLike] | None = slope if callable(slope) else None
        self._compare_slope()

    def value(self, margin: np.ndarray) -> np.ndarray:
        return self._check_shape("value", self._value(margin), margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        if self._slope is not None:
            return self._check_shape("slope", self._slope(margin), margin)
        return self._numerical_slope(margin)

    def _numerical_slope(self, margin: np.ndarray) -> np.ndarray:
        step = _STEP * (1 + np.abs(margin))
        return (self.value(margin + step) - self.value(margin - step)) / (2 * step)

    def _check_shape(self, what: str, result: ArrayLike, margin: np.ndarray) -> np.ndarray:
        result = np.asarray(result, dtype=float)
        if result.shape != margin.shape:
            raise ValueError(
                f"the {what} of loss={self.user!r} has shape {result.shape} for margins of shape"
                f" {margin.shape}; it must return one number per margin"
            )
        wrong = np.flatnonzero(~np.isfinite(result))
        if wrong.size:
            raise ValueError(
                f"the {what} of loss={self.user!r} is {result.flat[wrong[0]]} at margin"
                f" {margin.flat[wrong[0]]:g}; it must be finite"
            )
        return result

    def _compare_slope(self) -> None:
        """Raise a ValueError if the slope is not the derivative of the value."""
        if self._slope is None:
            return
        returned, numerical = self.slope(_TEST_MARGINS), self._numerical_slope(_TEST_MARGINS)
        wrong = np.flatnonzero(np.abs(returned - numerical) > 1e-4 * (1 + np.abs(numerical)))
        if wrong.size:
            at = wrong[0]
            raise ValueError(
                f"the slope of loss={self.user!r} at margin {_TEST_MARGINS[at]:.2f} is {returned[at]:g},"
                f" but the derivative of its value is {numerical[at]:g}; correct one of the two methods"
            )


# exp of a larger number could overflow in a sum.
_LARGEST_EXPONENT = 600.0

MARGIN_LOSSES: dict[str, type[MarginLoss]] = {
    loss.name: loss for loss in (Exponential, Logistic, SquaredHinge, SmoothHinge, Doom2)
}


def margin_loss(loss: object) -> MarginLoss:
    """Return the loss for a name or an object; raise a ValueError unless it decreases at margin 0.

    >>> margin_loss("logistic").slope(np.zeros(1))
    array([-1.])
    """
    if isinstance(loss, MarginLoss):
        result = loss
    elif isinstance(loss, str) and loss in MARGIN_LOSSES:
        result = MARGIN_LOSSES[loss]()
    else:
        result = CustomMarginLoss(loss)
    slope = float(result.slope(np.zeros(1))[0])
    if not slope < 0 or not math.isfinite(slope):
        raise ValueError(
            f"the slope of loss={loss!r} at margin 0 is {slope:g}; it must be negative, so that larger"
            " margins have a smaller loss"
        )
    return result
