"""Losses of the margin m = y f(x): what AnyBoost descends."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit

# The step of a central difference: the cube root of the rounding unit balances the error of the
# formula against the error of the subtraction.
_STEP = float(np.finfo(float).eps ** (1 / 3))
# No sample of fewer than a million rows tells a smaller probability from none, and logarithms of it are
# finite.
LEAST_PROBABILITY = 1e-6
# Margins at which a loss of the user's own is tried out; not round, since kinks stand at round ones.
_TRIED = np.linspace(-3.17, 3.13, 22)


class MarginLoss:
    """A loss C(m) that falls as the margin grows, with its slope C'(m).

    The slope gives the weights of boosting, w = -C'(m). `probability` turns f into P(y = +1 | x): at
    the least expected loss P C'(f) = (1 - P) C'(-f). A loss that is flat beyond some margin says 0 or 1
    there, which no sample can tell; the probability is held off both by `LEAST_PROBABILITY`.
    """

    name = "custom"
    starts_from_adaboost = False

    def value(self, margin: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def slope(self, margin: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def probability(self, f: np.ndarray) -> np.ndarray:
        against, agree = -self.slope(-f), -self.slope(f)
        total = against + agree
        share = np.divide(against, total, out=np.full_like(f, 0.5), where=total > 0)
        return np.clip(share, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)


class Exponential(MarginLoss):
    """exp(-m): AdaBoost's."""

    name = "exponential"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.exp(np.minimum(-margin, _LARGEST_EXPONENT))

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -self.value(margin)

    def probability(self, f: np.ndarray) -> np.ndarray:
        return expit(2 * f)


class Logistic(MarginLoss):
    """ln(1 + exp(-2m)): minus the binomial log-likelihood for f = half the log-odds."""

    name = "logistic"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.logaddexp(0, -2 * margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -2 * expit(-2 * margin)

    def probability(self, f: np.ndarray) -> np.ndarray:
        return expit(2 * f)


class SquaredHinge(MarginLoss):
    """max(0, 1 - m)²: a margin of 1 is enough. P = (1 + f) / 2, cut off at 0 and 1."""

    name = "squared_hinge"

    def value(self, margin: np.ndarray) -> np.ndarray:
        return np.maximum(0, 1 - margin) ** 2

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -2 * np.maximum(0, 1 - margin)


class SmoothHinge(MarginLoss):
    """½ - m below 0, ½ (1 - m)² up to 1, then 0: linear in outliers, and no kink.

    P = 1 / (2 - f) for f in [0, 1], 1 beyond, and 1 - P(-f) below 0.
    """

    name = "smooth_hinge"

    def value(self, margin: np.ndarray) -> np.ndarray:
        short = 1 - np.clip(margin, 0, 1)
        return short**2 / 2 - np.minimum(margin, 0)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return np.clip(margin, 0, 1) - 1


class Doom2(MarginLoss):
    """1 - tanh(m): levels off on both sides, and so gives up rows far on the wrong side.

    At f = 0 it is as steep to one side as to the other: the hits and misses of a first learner would
    weigh the same, and the same learner be found for ever. Boosting starts from AdaBoost's vote.
    """

    name = "doom2"
    starts_from_adaboost = True

    def value(self, margin: np.ndarray) -> np.ndarray:
        return 1 - np.tanh(margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        return -1 / np.cosh(np.clip(margin, -300, 300)) ** 2

    def probability(self, f: np.ndarray) -> np.ndarray:
        # Its slope is even, and the general formula says ½ everywhere.
        return expit(2 * f)


class OwnMarginLoss(MarginLoss):
    """A loss of the user's own: ``value(margin)`` and, if it has it, ``slope(margin)``.

    Without a slope, a central difference of the value stands in for it. With both, the two are
    compared once. A plain function is taken for the value.

    Examples
    --------
    >>> import numpy as np
    >>> loss = OwnMarginLoss(lambda margin: np.exp(-3 * margin))
    >>> loss.slope(np.zeros(1)).round(6)
    array([-3.])
    """

    def __init__(self, user: Any):
        self.user = user
        value = getattr(user, "value", user)
        if not callable(value) or isinstance(user, type | str):
            raise ValueError(
                f"loss={user!r} must be one of {', '.join(map(repr, MARGIN_LOSSES))}, a function of the"
                " margin, or an object with value(margin) and slope(margin)"
            )
        self._value = value
        given = getattr(user, "slope", None)
        self._slope: Callable[[np.ndarray], Any] | None = given if callable(given) else None
        self._compare()

    def value(self, margin: np.ndarray) -> np.ndarray:
        return self._checked("value", self._value(margin), margin)

    def slope(self, margin: np.ndarray) -> np.ndarray:
        if self._slope is not None:
            return self._checked("slope", self._slope(margin), margin)
        return self._difference(margin)

    def _difference(self, margin: np.ndarray) -> np.ndarray:
        step = _STEP * (1 + np.abs(margin))
        return (self.value(margin + step) - self.value(margin - step)) / (2 * step)

    def _checked(self, what: str, said: Any, margin: np.ndarray) -> np.ndarray:
        said = np.asarray(said, dtype=float)
        if said.shape != margin.shape:
            raise ValueError(
                f"the {what} of loss={self.user!r} has shape {said.shape} for margins of shape"
                f" {margin.shape}; it must return one number a margin"
            )
        wrong = np.flatnonzero(~np.isfinite(said))
        if wrong.size:
            raise ValueError(
                f"the {what} of loss={self.user!r} is {said.flat[wrong[0]]} at margin"
                f" {margin.flat[wrong[0]]:g}; it must be finite"
            )
        return said

    def _compare(self) -> None:
        if self._slope is None:
            return
        told, measured = self.slope(_TRIED), self._difference(_TRIED)
        wrong = np.flatnonzero(np.abs(told - measured) > 1e-4 * (1 + np.abs(measured)))
        if wrong.size:
            at = wrong[0]
            raise ValueError(
                f"the slope of loss={self.user!r} at margin {_TRIED[at]:.2f} is {told[at]:g}, but its"
                f" value changes by {measured[at]:g} a unit there"
            )


# exp of more is no number a sum can use.
_LARGEST_EXPONENT = 600.0

MARGIN_LOSSES: dict[str, type[MarginLoss]] = {
    loss.name: loss for loss in (Exponential, Logistic, SquaredHinge, SmoothHinge, Doom2)
}


def margin_loss(loss: Any) -> MarginLoss:
    """The loss that a name or an object stands for; it must fall at margin 0.

    >>> margin_loss("logistic").slope(np.zeros(1))
    array([-1.])
    """
    if isinstance(loss, MarginLoss):
        found = loss
    elif isinstance(loss, str) and loss in MARGIN_LOSSES:
        found = MARGIN_LOSSES[loss]()
    else:
        found = OwnMarginLoss(loss)
    slope = float(found.slope(np.zeros(1))[0])
    if not slope < 0 or not math.isfinite(slope):
        raise ValueError(
            f"loss={loss!r} is not decreasing at margin 0, where its slope is {slope:g}: a larger margin"
            " would not be better"
        )
    return found
