"""AnyBoost's variant of the loop: weights and steps from any loss of the margin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.optimize import brentq

from bosquet.boosting._variants import (
    CHANCE,
    Step,
    TwoClasses,
    Weights,
    adaboost_step,
)
from bosquet.losses import MarginLoss

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
        error = float((w * (1 - agreement)).sum() / 2)
        if self.loss.name == "exponential" and self.how == "exact" and (np.abs(vote) == 1).all():
            return adaboost_step(error, self.rows, size, self.learning_rate)
        if not float(w @ agreement) > CHANCE:
            return None
        if self.how not in ("exact", "line_search"):
            return self._of(self.learning_rate * float(self.how), vote, error)
        line = Line(self.loss, self.share, self.y * f, agreement)
        most = size + math.log(2 * self.rows + 1)
        if (agreement > 0).all() and line.slope(most) < 0:
            # Right everywhere, and the loss only ever falls along it: see adaboost_step.
            return Step(most, most * float(np.abs(vote).max()), error, None, True)
        far = line.lowest() if self.how == "exact" else line.low_enough()
        if not far > 0:
            return None
        return self._of(self.learning_rate * far, vote, error)

    def _of(self, scale: float, vote: np.ndarray, error: float) -> Step:
        return Step(scale, scale * float(np.abs(vote).max()), error, scale)


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
        while self.slope(high) < 0:
            low, high = high, 2 * high
            if high > 1e6:
                return low
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
