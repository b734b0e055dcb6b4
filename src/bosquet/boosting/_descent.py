"""AnyBoost's variant of the loop: weights and steps from any loss of the margin."""

from __future__ import annotations

import itertools
import math
from collections.abc import Generator
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bosquet.boosting._endings import Ending, without_mistake
from bosquet.boosting._stagewise import Round, boost
from bosquet.boosting._variants import (
    CHANCE,
    NEXT_TO_NOTHING,
    Step,
    TwoClasses,
    Weights,
    adaboost_step,
    weighted_error,
)
from bosquet.boosting._votes import Vote
from bosquet.boosting._weak import WeakLearner
from bosquet.losses import Exponential, MarginLoss

# How many rounds of AdaBoost a loss that needs a start is given.
START_ROUNDS = 10
# A loss that would fall by no more than this from here on is as low as it gets.
NO_MORE_FALL = 1e-9
# A backtracking step must bring this share of what the slope at its start promises.
SHARE_OF_SLOPE = 1e-4


class Descent(TwoClasses):
    """Descent on Σ D C(y f): the learner is fitted under -C'(y f), the step found along it.

    Under these weights the learner of least error is the direction in which the loss falls fastest.
    For the exponential loss all of this is AdaBoost, and its step is taken from AdaBoost's formula.
    """

    def __init__(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        learning_rate: float = 1.0,
        rows: int | None = None,
        *,
        loss: MarginLoss,
        step: Any = "exact",
    ):
        super().__init__(y, weight, learning_rate, rows)
        self.loss, self.how = loss, step

    def weights(self, f: np.ndarray) -> Weights | None:
        if self.loss.name == "exponential":
            return super().weights(f)
        # Where a loss rises, a row has all the margin that it wants.
        w = self.share * np.maximum(-self.loss.slope(self.y * f), 0)
        total = float(w.sum())
        return Weights(w / total, self.log_mean_exponential(f)) if total > 0 else None

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        agreement = self.y * vote
        error = weighted_error(agreement, w)
        if self.loss.name == "exponential" and self.how == "exact" and (np.abs(vote) == 1).all():
            return adaboost_step(error, size, self.learning_rate)
        if not float(w @ agreement) > CHANCE:
            return None
        if self.how not in ("exact", "line_search"):
            return self._of(self.learning_rate * float(self.how), vote, error)
        line = Line(self.loss, self.share, self.y * f, agreement)
        most = size + math.log(1 / NEXT_TO_NOTHING - 1) / 2
        if (agreement > 0).all() and line.slope(most) < 0:
            # Right everywhere, and the loss only ever falls along it: see adaboost_step.
            return Step(most, most * float(np.abs(vote).max()), error, None, True)
        far = line.lowest() if self.how == "exact" else line.low_enough()
        if not far > 0:
            return None
        return self._of(self.learning_rate * far, vote, error)

    def _of(self, scale: float, vote: np.ndarray, error: float) -> Step:
        return Step(scale, scale * float(np.abs(vote).max()), error, scale)


def descend(
    learner: WeakLearner,
    variant: Descent,
    vote: Vote,
    *,
    f: np.ndarray | None = None,
    first: int = 0,
    size: float = 0.0,
) -> Generator[Round, None, Ending]:
    """The loop on any loss of the margin; where it asks for that, from the first votes of AdaBoost."""
    f = variant.nobody() if f is None else f
    if variant.loss.starts_from_adaboost and first < START_ROUNDS:
        exponential = Descent(
            variant.y, variant.share, variant.learning_rate, variant.rows, loss=Exponential()
        )
        start = boost(learner, exponential, vote, f=f, first=first, size=size)
        for found in itertools.islice(start, START_ROUNDS - first):
            first, size = first + 1, size + found.step.size
            yield found
            if found.step.is_last:
                return without_mistake(first, found.step.error)
    return (yield from boost(learner, variant, vote, f=f, first=first, size=size))


class Line:
    """The mean loss along a direction: share · C(margin + α agreement) as a function of α."""

    def __init__(
        self, loss: MarginLoss, share: np.ndarray, margin: np.ndarray, agreement: np.ndarray
    ):
        self.loss, self.share = loss, share
        self.margin, self.agreement = margin, agreement

    def value(self, alpha: float) -> float:
        return float(self.share @ self.loss.value(self.margin + alpha * self.agreement))

    def slope(self, alpha: float) -> float:
        slopes = self.loss.slope(self.margin + alpha * self.agreement)
        return float((self.share * self.agreement) @ slopes)

    def lowest(self) -> float:
        """Where the loss stops falling, to the last digit; the first such place if there are more."""
        if not self.slope(0.0) < 0:
            return 0.0
        low, high = 0.0, 0.5
        while (slope := self.slope(high)) < 0:
            if -slope * high < NO_MORE_FALL:
                return high  # a loss that levels off falls for ever, by less and less
            low, high = high, 2 * high
        return float(brentq(self.slope, low, high, xtol=1e-14, rtol=1e-14))

    def low_enough(self) -> float:
        """A step by doubling and halving that brings a fair share of what the slope promises."""
        start, slope = self.value(0.0), self.slope(0.0)
        if not slope < 0:
            return 0.0

        def fair(alpha: float) -> bool:
            return self.value(alpha) <= start + SHARE_OF_SLOPE * alpha * slope

        alpha = 1.0
        while not fair(alpha):
            alpha /= 2
            if alpha < 1e-12:
                return 0.0
        while self.value(2 * alpha) < self.value(alpha) and alpha < 1e6:
            alpha *= 2
        return alpha
