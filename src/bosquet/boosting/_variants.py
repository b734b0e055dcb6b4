"""The variants of AdaBoost: what weights a vote so far leaves, and how far to go along a learner.

A variant is what the loop in `_stagewise.py` leaves open. f is the vote so far, y the truth, D the
weights of the rows that the fit was given, m = y f the margins:

    discrete  h in [-1, 1];  w = D exp(-m);  ε = Σ w (1 - y h) / 2;  step ½ ln((1 - ε) / ε)
    real      h = ½ ln(p / (1 - p));  w = D exp(-m);  step 1
    gentle    h = E_w[y | x] by least squares;  w = D exp(-m);  step 1
    logit     h = least squares on z = y / p_y;  w = D p_y (1 - p_y), p_y = 1 / (1 + exp(-2m));  step ½
    mada      as discrete, with w = D min(1, exp(-m))
    samme     h a class of K;  w = D exp(-f_y);  step ln((1 - ε) / ε) + ln(K - 1)
    mh        h a sign for each class; a weight for each row and class; as discrete

Every step is multiplied by the learning rate.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from bosquet.boosting._votes import AS_SAID, AsVote, ClassVotes, HalfLogOdds

# An edge no larger than this is rounding, not knowledge.
CHANCE = 1e-10
# What a learner without errors is given beside all votes before it: α as for so small an error. It is
# no number of rows, so that a row of weight 2 remains the same as two rows.
NEXT_TO_NOTHING = 1e-4
# LogitBoost: weights no smaller than this, working responses no larger than that.
LEAST_WEIGHT, LARGEST_RESPONSE = 2.0**-51, 4.0


@dataclass(frozen=True)
class Weights:
    """The distribution over rows (or rows and classes) that a vote leaves.

    `log_mass` is the logarithm of the mean of exp(-m) over the rows, which their weights sum to
    before they are made to sum to 1 where weights are exponential, and which bounds the training
    error however f came about; None for several classes.
    """

    distribution: np.ndarray
    log_mass: float | None


@dataclass(frozen=True)
class Step:
    """How far to go along a hypothesis.

    `scale` is what its vote is multiplied by, `size` the most that it then adds to a margin, `alpha`
    the scale in AdaBoost's own terms (the ½ form) where the variant has one, `error` its ε. With
    `is_last` the learner is perfect: its α would be infinite, and there is nothing left to learn.
    """

    scale: float
    size: float
    error: float | None
    alpha: float | None
    is_last: bool = False


class Variant(Protocol):
    """What `_stagewise.boost` asks of a variant; it holds the truth and the rows' own weights."""

    says: str  # of the learner, see `_weak`
    chance: float  # the error of guessing
    as_vote: AsVote  # from what is said to what is added to f, but for the scale

    def nobody(self) -> np.ndarray:
        """The vote of nobody: zeros."""

    def target(self, f: np.ndarray) -> np.ndarray:
        """What the learner is to learn."""

    def weights(self, f: np.ndarray) -> Weights | None:
        """None where no weight is left."""

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        """None for a learner no better than chance; `size` is the sum of the steps so far."""

    def error_of(self, vote: np.ndarray, w: np.ndarray) -> float:
        """The weighted error of a hypothesis."""

    def shortfall(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        """The ε of a hypothesis without a step: not below `chance`."""

    def training_error(self, f: np.ndarray) -> float: ...


class TwoClasses:
    """What the variants for two classes, -1 and +1, have in common; y may be (rows,) or (K, rows)."""

    says = "signs"
    chance = 0.5
    as_vote: AsVote = AS_SAID

    def __init__(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        learning_rate: float = 1.0,
        rows: int | None = None,
    ):
        self.y = y
        self.rows = rows or y.shape[-1]  # of the fit as a whole, where this is a part of it
        self.share = weight / weight.sum()
        self.learning_rate = learning_rate

    @functools.cached_property
    def log_share(self) -> np.ndarray:
        return np.log(self.share)

    def nobody(self) -> np.ndarray:
        return np.zeros(self.y.shape)

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.y

    def weights(self, f: np.ndarray) -> Weights | None:
        return exponential_weights(self.log_share - self.y * f)

    def log_mean_exponential(self, f: np.ndarray) -> float:
        logs = self.log_share - self.y * f
        largest = float(logs.max())
        return largest + math.log(float(np.exp(logs - largest).sum()))

    def error_of(self, vote: np.ndarray, w: np.ndarray) -> float:
        return weighted_error(self.y * vote, w)

    def shortfall(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        return self.error_of(vote, w)

    def training_error(self, f: np.ndarray) -> float:
        return float(self.share[(f > 0) != (self.y > 0)].sum())

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        return adaboost_step(self.error_of(vote, w), size, self.learning_rate)


class Discrete(TwoClasses):
    """Freund and Schapire's AdaBoost, for hypotheses of -1 and +1 or of values between."""


class Mada(TwoClasses):
    """MadaBoost: a row never weighs more than at the start, so that outliers cannot take over."""

    def weights(self, f: np.ndarray) -> Weights | None:
        capped = exponential_weights(self.log_share - np.maximum(self.y * f, 0))
        return Weights(capped.distribution, self.log_mean_exponential(f))


class Labels(TwoClasses):
    """AdaBoost.MH: a sign for each class; rows and classes share one distribution."""

    says = "labels"

    def __init__(
        self, classes: np.ndarray, n_classes: int, weight: np.ndarray, learning_rate: float
    ):
        self.classes = classes
        y = np.where(np.arange(n_classes)[:, None] == classes, 1.0, -1.0)
        super().__init__(y, np.broadcast_to(weight, y.shape), learning_rate)

    def training_error(self, f: np.ndarray) -> float:
        wrong = f.argmax(axis=0) != self.classes
        return float(self.share[:, wrong].sum())


class CappedLabels(Labels, Mada):
    """AdaBoost.MH with MadaBoost's capped weights."""


class OfAnySize(TwoClasses):
    """What the variants whose hypotheses are numbers of any size have in common: ε is that of their signs."""

    def error_of(self, vote: np.ndarray, w: np.ndarray) -> float:
        return float(w[(vote > 0) != (self.y > 0)].sum())

    def shortfall(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        # Of the signs it may be below ½ though the agreement is not above 0; of values in [-1, 1] it is not.
        weight = w * np.abs(self.target(f))
        scaled = vote / max(1.0, float(np.abs(vote).max()))
        return weighted_error(self.y * scaled, weight / weight.sum())

    def agreement(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        """How fast the loss falls along a hypothesis: Σ w y h, y the target of the least squares."""
        return float((w * self.target(f) * vote).sum())


class Real(OfAnySize):
    """Real AdaBoost: learners say how sure they are, h = ½ ln(p / (1 - p))."""

    says = "probabilities"

    def __init__(self, *given: Any, **options: Any):
        super().__init__(*given, **options)
        self.as_vote = self.half_log_odds = HalfLogOdds(self.rows)

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        largest = float(np.abs(vote).max())
        if largest <= CHANCE or not self.agreement(vote, w, f) > 0:
            return None
        error = self.error_of(vote, w)
        sure = float((self.y * vote).min()) >= self.half_log_odds.largest
        scale = 1 + float(np.abs(f).max()) / largest if sure else self.learning_rate
        if not sure and (w * np.exp(-self.y * vote)).sum() >= 1:
            # A learner surer than it should be: a step of 1 would take f further off.
            scale *= least_z(w, self.y * vote)
        return Step(scale, scale * largest, error, None, sure)


class Gentle(OfAnySize):
    """GentleBoost: a Newton step on the exponential loss, which is the weighted mean of y."""

    says = "numbers"
    factor = 1.0

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        largest = float(np.abs(vote).max())
        if largest <= CHANCE or not self.agreement(vote, w, f) > 0:
            return None
        scale = self.learning_rate * self.factor
        return Step(scale, scale * largest, None, None)


class Logit(Gentle):
    """LogitBoost: Newton steps on the binomial likelihood, with p_y = 1 / (1 + exp(-2 y f))."""

    factor = 0.5

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.y * np.minimum(1 / expit(2 * self.y * f), LARGEST_RESPONSE)

    def weights(self, f: np.ndarray) -> Weights | None:
        p = expit(2 * self.y * f)
        w = self.share * np.maximum(p * (1 - p), LEAST_WEIGHT)
        return Weights(w / w.sum(), self.log_mean_exponential(f))


class Samme:
    """SAMME: AdaBoost whose learners name one of K classes; better than chance is ε < 1 - 1/K."""

    says = "classes"

    def __init__(
        self, classes: np.ndarray, n_classes: int, weight: np.ndarray, learning_rate: float
    ):
        self.classes, self.n_classes = classes, n_classes
        self.share = weight / weight.sum()
        self.log_share = np.log(self.share)
        self.learning_rate = learning_rate
        self.chance = 1 - 1 / n_classes
        self.as_vote = ClassVotes(n_classes)
        self.rows = np.arange(classes.size)

    def nobody(self) -> np.ndarray:
        return np.zeros((self.n_classes, self.classes.size))

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.classes

    def weights(self, f: np.ndarray) -> Weights | None:
        found = exponential_weights(self.log_share - f[self.classes, self.rows])
        return Weights(found.distribution, None)

    def error_of(self, vote: np.ndarray, w: np.ndarray) -> float:
        return float(w[vote[self.classes, self.rows] < 0].sum())

    def shortfall(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        return self.error_of(vote, w)

    def training_error(self, f: np.ndarray) -> float:
        return float(self.share[f.argmax(axis=0) != self.classes].sum())

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        error = self.error_of(vote, w)
        more = math.log(self.n_classes - 1)
        if error >= self.chance - CHANCE:
            return None
        if error == 0:
            scale = size + math.log(1 / NEXT_TO_NOTHING - 1) + more
            return Step(scale, scale, 0.0, None, True)
        scale = self.learning_rate * (math.log((1 - error) / error) + more)
        return Step(scale, scale, error, None)


def weighted_error(agreement: np.ndarray, w: np.ndarray) -> float:
    """ε = ½(1 - Σ w y h) of hypotheses in [-1, 1], from y h: of signs the weight of the wrong ones."""
    # Not in that form: a small error would drown in the rounding of the 1.
    return float((w * (1 - agreement)).sum() / 2)


def adaboost_step(error: float, size: float, learning_rate: float) -> Step | None:
    """α = ½ ln((1 - ε) / ε), times the learning rate.

    ε >= ½: none. ε = 0: α would be infinite; it becomes more than all steps before it together, so
    that the perfect learner wins the vote, and is not shrunk.
    """
    if error >= 0.5 - CHANCE:
        return None
    if error <= 0:
        alpha = size + math.log(1 / NEXT_TO_NOTHING - 1) / 2
        return Step(alpha, alpha, 0.0, alpha, True)
    alpha = learning_rate * math.log((1 - error) / error) / 2
    return Step(alpha, alpha, error, alpha)


def least_z(w: np.ndarray, agreement: np.ndarray) -> float:
    """The α in (0, 1] at which Σ w exp(-α agreement) is least, for an edge above 0."""

    def slope(alpha: float) -> float:
        return -float((w * agreement * np.exp(-alpha * agreement)).sum())

    return 1.0 if slope(1.0) <= 0 else float(brentq(slope, 0.0, 1.0))


def exponential_weights(logs: np.ndarray) -> Weights:
    """exp(logs), made to sum to 1; however far apart they are, the largest is never lost."""
    largest = logs.max()
    w = np.exp(logs - largest)
    mass = float(w.sum())
    w /= mass
    return Weights(w, float(largest) + math.log(mass))


VARIANTS = {"discrete": Discrete, "real": Real, "gentle": Gentle, "logit": Logit, "mada": Mada}
