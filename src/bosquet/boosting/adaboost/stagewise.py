"""The loop that AdaBoost, AnyBoost and BrownBoost share, and the variants of AdaBoost.

    f = 0
    for t = 1, 2, ...:
        w   = weights computed from f, which sum to 1       choice 1 of the variant
        h   = a hypothesis of the learner under w
        α   = step size along h                             choice 2 (stop if h is no better than chance)
        f   = f + α h

Learners are in `_weak_learners.py`, the vote that collects their hypotheses in `votes.py`. With y the signs
of the classes, D the sample weights and m = y f the margins, the variants are

    discrete  h in [-1, 1];  w = D exp(-m);  ε = Σ w (1 - y h) / 2;  step ½ ln((1 - ε) / ε)
    real      h = ½ ln(p / (1 - p));  w = D exp(-m);  step 1
    gentle    h = E_w[y | x] by least squares;  w = D exp(-m);  step 1
    logit     h = least squares on z = y / p_y;  w = D p_y (1 - p_y), p_y = 1 / (1 + exp(-2m));  step ½
    mada      as discrete, with w = D min(1, exp(-m))
    samme     h a class of K;  w = D exp(-f_y);  step ln((1 - ε) / ε) + ln(K - 1)
    mh        h a sign for each class; a weight for each row and class; as discrete

Every step is multiplied by the learning rate. `anyboost.py` and `brownboost.py` have variants of their own.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from bosquet.boosting.adaboost._weak_learners import WeakLearner
from bosquet.boosting.adaboost.endings import NO_WEIGHT_LEFT, Ending, without_edge, without_mistake
from bosquet.boosting.adaboost.votes import IDENTITY, AsVote, CentredVotes, HalfLogOdds, Vote

# An edge no larger than this is a rounding error.
EDGE_TOLERANCE = 1e-10
# A learner without errors gets the sum of all steps before it plus the α of this error. The value does not
# depend on the number of rows, so that a row of weight 2 is still equivalent to two rows.
ERROR_OF_A_PERFECT_LEARNER = 1e-4
# LogitBoost: lower bound of the weights, upper bound of the working responses.
MIN_WEIGHT, LARGEST_RESPONSE = 2.0**-51, 4.0
LARGEST_EXPONENT = 700.0


# ------------------------------------------------------------------------- the loop
@dataclass(frozen=True)
class Weights:
    """The distribution over rows (or rows and classes) of the next round.

    `log_mass` is the logarithm of the mean of exp(-m) over the rows, an upper bound of the training error
    for any f. With exponential weights it is the sum of the weights before normalisation. None for several
    classes.
    """

    distribution: np.ndarray
    log_mass: float | None


@dataclass(frozen=True)
class VoteStep:
    """The step along a hypothesis.

    `scale` is the factor of its vote, `size` the largest change of a margin, `alpha` the scale in
    AdaBoost's ½ form if the variant has one, `error` the weighted error ε. With `is_last` the learner is
    perfect: its α would be infinite, and nothing is left to learn.
    """

    scale: float
    size: float
    error: float | None
    alpha: float | None
    is_last: bool = False


class Variant(Protocol):
    """The interface that `stagewise.boost` uses; a variant holds the classes and the sample weights."""

    output_kind: str  # of the learner, see `_weak_learners`
    chance: float  # the error of guessing
    as_vote: AsVote  # turns the outputs of a hypothesis into what it adds to f, before scaling

    def zero_vote(self) -> np.ndarray:
        """Return f before the first round."""

    def target(self, f: np.ndarray) -> np.ndarray:
        """Return the target of the learner."""

    def weights(self, f: np.ndarray) -> Weights | None:
        """Return the weights of the next round; None if all are 0."""

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        """None for a learner no better than chance; `step_sum` is the sum of the steps so far."""

    def error_of(self, votes: np.ndarray, w: np.ndarray) -> float:
        """Return the weighted error of a hypothesis."""

    def rejected_error(self, votes: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        """Return the ε of a hypothesis that `step` rejected; never below `chance`."""

    def training_error(self, f: np.ndarray) -> float: ...


class WorseThanChance(ValueError):
    """The learner has no edge in the first round, so there is no model.

    Attributes
    ----------
    error : float
        The weighted error of its first hypothesis: ε = ½(1 - Σ w y h) for values h in [-1, 1]; larger values
        are scaled into this interval.
    """

    __module__ = "bosquet.boosting"  # the public name
    error: float = math.nan


@dataclass(frozen=True)
class BoostingRound:
    """The result of a round: its step, Z (None if it is not a bound), and the training error of the vote.

    `scores` returns f on the training rows; it is valid until the next round.
    """

    step: VoteStep
    normaliser: float | None
    training_error: float
    scores: Callable[[], np.ndarray]


Loop = Generator[BoostingRound, None, Ending]


def boost(
    learner: WeakLearner,
    variant: Variant,
    vote: Vote,
    *,
    f: np.ndarray | None = None,
    first: int = 0,
    step_sum: float = 0.0,
) -> Loop:
    """Add a hypothesis to `vote` each time the next round is requested.

    The loop ends if the learner is no better than chance, if it is perfect, or if all weights are 0, and
    returns the reason. To continue a vote, pass its values `f` on the training rows, the number of its
    rounds and the sum of its steps.
    """
    f = variant.zero_vote() if f is None else f
    scores = functools.partial(np.asarray, f)
    w = variant.weights(f)
    for t in itertools.count(first):
        if w is None:
            return NO_WEIGHT_LEFT
        h, votes, step = fit_better_than_chance(learner, variant, f, w.distribution, t, step_sum)
        if step is None:
            error = variant.rejected_error(votes, w.distribution, f)
            return without_edge(t + 1, error, variant.chance)
        vote.add(h, step.scale)
        f += step.scale * votes
        step_sum += step.size
        before, w = w, variant.weights(f)
        yield BoostingRound(step, normaliser(before, w), variant.training_error(f), scores)
        if step.is_last:
            return without_mistake(t + 1, step.error)
    raise AssertionError("the count of rounds is infinite")


def fit_better_than_chance(
    learner: WeakLearner, variant: Variant, f: np.ndarray, w: np.ndarray, t: int, step_sum: float
) -> tuple[Any, np.ndarray, VoteStep | None]:
    """Return a hypothesis, its votes on the training rows and its step, None if it has no edge.

    A learner that is fitted to samples has several attempts.
    """
    for attempt in range(learner.attempts):
        h = learner.fit(variant.target(f), w, t, attempt)
        votes = variant.as_vote(learner.predict_training_rows(h))
        step = variant.step(votes, w, f, step_sum)
        if step is not None:
            return h, votes, step
    if t == 0:
        raise no_edge_error(variant.rejected_error(votes, w, f), variant.chance)
    return h, votes, None


def no_edge_error(error: float, chance: float) -> WorseThanChance:
    exception = WorseThanChance(
        f"the learner is no better than chance: at round 1 its weighted error is ε = {error:.6g}, and"
        f" guessing has {chance:.6g}; boosting needs a learner with an edge, for example a deeper tree"
    )
    exception.error = error
    return exception


def normaliser(before: Weights, after: Weights | None) -> float | None:
    """Z = Σ w exp(-α y h): the sum of the new weights before they are normalised."""
    if before.log_mass is None or after is None or after.log_mass is None:
        return None
    # A step far beyond the best one makes Z overflow; it is not a useful bound then.
    return math.exp(min(after.log_mass - before.log_mass, LARGEST_EXPONENT))


# --------------------------------------------------------------------- the variants
class TwoClasses:
    """Base class of the variants for two classes, -1 and +1; y has shape (rows,) or (K, rows)."""

    output_kind = "signs"
    chance = 0.5
    as_vote: AsVote = IDENTITY

    def __init__(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        learning_rate: float = 1.0,
        n_rows: int | None = None,
    ):
        self.y = y
        self.n_rows = n_rows or y.shape[-1]  # of the whole fit; y may hold some of its rows only
        self.distribution = weight / weight.sum()
        self.learning_rate = learning_rate

    @functools.cached_property
    def log_distribution(self) -> np.ndarray:
        return np.log(self.distribution)

    def zero_vote(self) -> np.ndarray:
        return np.zeros(self.y.shape)

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.y

    def weights(self, f: np.ndarray) -> Weights | None:
        return exponential_weights(self.log_distribution - self.y * f)

    def log_mean_exponential(self, f: np.ndarray) -> float:
        logs = self.log_distribution - self.y * f
        largest = float(logs.max())
        return largest + math.log(float(np.exp(logs - largest).sum()))

    def error_of(self, votes: np.ndarray, w: np.ndarray) -> float:
        return weighted_error(self.y * votes, w)

    def rejected_error(self, votes: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        return self.error_of(votes, w)

    def training_error(self, f: np.ndarray) -> float:
        return float(self.distribution[(f > 0) != (self.y > 0)].sum())

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        return adaboost_step(self.error_of(votes, w), step_sum, self.learning_rate)


class DiscreteAdaBoost(TwoClasses):
    """Freund and Schapire's AdaBoost, for hypotheses of -1 and +1 or of values between."""


class MadaBoost(TwoClasses):
    """MadaBoost: no weight exceeds its initial value, which limits the influence of outliers."""

    def weights(self, f: np.ndarray) -> Weights | None:
        capped = exponential_weights(self.log_distribution - np.maximum(self.y * f, 0))
        return Weights(capped.distribution, self.log_mean_exponential(f))


class MultiLabelAdaBoost(TwoClasses):
    """AdaBoost.MH: a sign for each class, and one distribution over pairs of row and class."""

    output_kind = "labels"

    def __init__(
        self, classes: np.ndarray, n_classes: int, weight: np.ndarray, learning_rate: float
    ):
        self.classes = classes
        y = np.where(np.arange(n_classes)[:, None] == classes, 1.0, -1.0)
        super().__init__(y, np.broadcast_to(weight, y.shape), learning_rate)

    def training_error(self, f: np.ndarray) -> float:
        wrong = f.argmax(axis=0) != self.classes
        return float(self.distribution[:, wrong].sum())


class MultiLabelMadaBoost(MultiLabelAdaBoost, MadaBoost):
    """AdaBoost.MH with MadaBoost's capped weights."""


class RealValued(TwoClasses):
    """Base class of the variants with real-valued hypotheses; ε is the error of their signs."""

    def error_of(self, votes: np.ndarray, w: np.ndarray) -> float:
        return float(w[(votes > 0) != (self.y > 0)].sum())

    def rejected_error(self, votes: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        # The error of the signs can be below ½ although the agreement is not above 0. The error of the
        # values, scaled into [-1, 1], cannot.
        weight = w * np.abs(self.target(f))
        scaled = votes / max(1.0, float(np.abs(votes).max()))
        return weighted_error(self.y * scaled, weight / weight.sum())

    def agreement(self, votes: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        """Return how fast the loss decreases along a hypothesis: Σ w y h, y the least-squares target."""
        return float((w * self.target(f) * votes).sum())


class RealAdaBoost(RealValued):
    """Real AdaBoost: hypotheses are confidence-rated, h = ½ ln(p / (1 - p))."""

    output_kind = "probabilities"

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.as_vote = self.half_log_odds = HalfLogOdds(self.n_rows)

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        largest = float(np.abs(votes).max())
        if largest <= EDGE_TOLERANCE or not self.agreement(votes, w, f) > 0:
            return None
        error = self.error_of(votes, w)
        is_perfect = float((self.y * votes).min()) >= self.half_log_odds.largest
        scale = 1 + float(np.abs(f).max()) / largest if is_perfect else self.learning_rate
        if not is_perfect and (w * np.exp(-self.y * votes)).sum() >= 1:
            # The learner is overconfident: a step of 1 would increase the loss.
            scale *= step_with_smallest_z(w, self.y * votes)
        return VoteStep(scale, scale * largest, error, None, is_perfect)


class GentleAdaBoost(RealValued):
    """GentleBoost: a Newton step on the exponential loss, which is the weighted mean of y."""

    output_kind = "numbers"
    factor = 1.0

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        largest = float(np.abs(votes).max())
        if largest <= EDGE_TOLERANCE or not self.agreement(votes, w, f) > 0:
            return None
        scale = self.learning_rate * self.factor
        return VoteStep(scale, scale * largest, None, None)


class LogitBoost(GentleAdaBoost):
    """LogitBoost: Newton steps on the binomial likelihood, with p_y = 1 / (1 + exp(-2 y f))."""

    factor = 0.5

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.y * np.minimum(1 / expit(2 * self.y * f), LARGEST_RESPONSE)

    def weights(self, f: np.ndarray) -> Weights | None:
        p = expit(2 * self.y * f)
        w = self.distribution * np.maximum(p * (1 - p), MIN_WEIGHT)
        return Weights(w / w.sum(), self.log_mean_exponential(f))


class Samme:
    """SAMME: AdaBoost with learners that predict one of K classes; better than chance is ε < 1 - 1/K."""

    output_kind = "classes"

    def __init__(
        self, classes: np.ndarray, n_classes: int, weight: np.ndarray, learning_rate: float
    ):
        self.classes, self.n_classes = classes, n_classes
        self.distribution = weight / weight.sum()
        self.log_distribution = np.log(self.distribution)
        self.learning_rate = learning_rate
        self.chance = 1 - 1 / n_classes
        self.as_vote: AsVote = CentredVotes(n_classes)
        self.row_indices = np.arange(classes.size)

    def zero_vote(self) -> np.ndarray:
        return np.zeros((self.n_classes, self.classes.size))

    def target(self, f: np.ndarray) -> np.ndarray:
        return self.classes

    def weights(self, f: np.ndarray) -> Weights | None:
        weights_of_rows = exponential_weights(
            self.log_distribution - f[self.classes, self.row_indices]
        )
        return Weights(weights_of_rows.distribution, None)

    def error_of(self, votes: np.ndarray, w: np.ndarray) -> float:
        return float(w[votes[self.classes, self.row_indices] < 0].sum())

    def rejected_error(self, votes: np.ndarray, w: np.ndarray, f: np.ndarray) -> float:
        return self.error_of(votes, w)

    def training_error(self, f: np.ndarray) -> float:
        return float(self.distribution[f.argmax(axis=0) != self.classes].sum())

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        error = self.error_of(votes, w)
        class_term = math.log(self.n_classes - 1)
        if error >= self.chance - EDGE_TOLERANCE:
            return None
        if error == 0:
            scale = step_sum + math.log(1 / ERROR_OF_A_PERFECT_LEARNER - 1) + class_term
            return VoteStep(scale, scale, 0.0, None, True)
        scale = self.learning_rate * (math.log((1 - error) / error) + class_term)
        return VoteStep(scale, scale, error, None)


def weighted_error(agreement: np.ndarray, w: np.ndarray) -> float:
    """ε = ½(1 - Σ w y h) of a hypothesis in [-1, 1], from y h; for signs the weight of the wrong ones."""
    # Not computed in that form: a small error would be lost in the rounding of the 1.
    return float((w * (1 - agreement)).sum() / 2)


def adaboost_step(error: float, step_sum: float, learning_rate: float) -> VoteStep | None:
    """α = ½ ln((1 - ε) / ε), times the learning rate.

    None if ε >= ½. If ε = 0, α would be infinite; it becomes larger than all steps before it together, so
    that the perfect learner wins the vote, and is not multiplied by the learning rate.
    """
    if error >= 0.5 - EDGE_TOLERANCE:
        return None
    if error <= 0:
        alpha = step_sum + math.log(1 / ERROR_OF_A_PERFECT_LEARNER - 1) / 2
        return VoteStep(alpha, alpha, 0.0, alpha, True)
    alpha = learning_rate * math.log((1 - error) / error) / 2
    return VoteStep(alpha, alpha, error, alpha)


def step_with_smallest_z(w: np.ndarray, agreement: np.ndarray) -> float:
    """Return the α in (0, 1] that minimises Σ w exp(-α agreement), for an edge above 0."""

    def slope(alpha: float) -> float:
        return -float((w * agreement * np.exp(-alpha * agreement)).sum())

    return 1.0 if slope(1.0) <= 0 else float(brentq(slope, 0.0, 1.0))


def exponential_weights(logs: np.ndarray) -> Weights:
    """Return exp(logs), normalised to sum to 1, without overflow or underflow of the largest."""
    largest = logs.max()
    w = np.exp(logs - largest)
    mass = float(w.sum())
    w /= mass
    return Weights(w, float(largest) + math.log(mass))


VARIANTS: dict[str, type[TwoClasses]] = {
    "discrete": DiscreteAdaBoost,
    "real": RealAdaBoost,
    "gentle": GentleAdaBoost,
    "logit": LogitBoost,
    "mada": MadaBoost,
}
