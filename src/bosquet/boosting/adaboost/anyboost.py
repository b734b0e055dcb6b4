"""AnyBoost: gradient descent on any loss of the margin, with one weak learner per step."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from numbers import Real
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import brentq

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check, choice
from bosquet.boosting.adaboost._weak_learners import WeakLearner
from bosquet.boosting.adaboost.classifier import CHECKS, StagewiseClassifier
from bosquet.boosting.adaboost.endings import without_mistake
from bosquet.boosting.adaboost.fitting import Algorithm
from bosquet.boosting.adaboost.stagewise import (
    EDGE_TOLERANCE,
    ERROR_OF_A_PERFECT_LEARNER,
    Loop,
    TwoClasses,
    VoteStep,
    Weights,
    adaboost_step,
    boost,
    weighted_error,
)
from bosquet.boosting.adaboost.votes import Vote
from bosquet.losses import Exponential, MarginLoss, margin_loss

if TYPE_CHECKING:
    from bosquet._types import CategoricalFeatures, Estimator, RandomState
    from bosquet.boosting.rounds import Callback


# Number of AdaBoost rounds at the start, for a loss that needs an initial model.
START_ROUNDS = 10
# The line search ends if the loss would decrease by less than this.
NO_MORE_FALL = 1e-9
# A backtracking step must reach this share of the decrease that the slope at its start predicts.
SHARE_OF_SLOPE = 1e-4


def _step_kind() -> Check:
    def accepts(value: object) -> bool:
        if isinstance(value, str):
            return value in ("exact", "line_search")
        return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1e300

    return Check(accepts, "'exact', 'line_search' or a number above 0")


_CHECKS: dict[str, Check] = {
    **CHECKS,
    "step": _step_kind(),
    "multiclass": choice("one-vs-rest", "one-vs-one", "ecoc"),
}


class AnyBoostClassifier(StagewiseClassifier):
    """AnyBoost: coordinate descent in function space, for any loss C of the margin m = y f(x).

    Every round fits a weak learner h with the weights w = -C'(y f): the weak learner with the smallest
    weighted error is the direction in which the mean loss decreases fastest. The step along it minimises
    the loss:

        α = argmin Σ C(y (f + α h)),   f ← f + ν α h

    With C = exp(-m) this is AdaBoost, with the same bits; on native stumps up to rounding, because AdaBoost
    then updates the weights by a product, and AnyBoost computes them from f.

    `predict_proba` follows from the loss, P C'(f) = (1 - P) C'(-f). The hinge losses are flat beyond a
    margin of 1, where P is 0 or 1 (up to 1e-6). For reliable probabilities wrap the model in a
    `bosquet.CalibratedModel`.

    Guide: the page "AdaBoost, LogitBoost, SAMME, RUSBoost and other variants" of the documentation

    Parameters
    ----------
    loss : str, function or object, default="exponential"
        "exponential" exp(-m), "logistic" ln(1 + exp(-2m)), "squared_hinge" max(0, 1 - m)²,
        "smooth_hinge" (½ - m below 0, ½ (1 - m)² up to 1, 0 beyond), "doom2" 1 - tanh(m), which is
        bounded and therefore ignores badly misclassified rows. Or a custom loss: a function of an array
        of margins, or an object with ``value(margin)`` and ``slope(margin)``; it must be finite, and
        decreasing at margin 0.
    estimator : estimator or None, default=None
        The weak learner, as in `AdaBoostClassifier`.
    n_estimators : int, default=50
        Maximum number of rounds.
    learning_rate : float, default=1.0
        Shrinkage ν: the factor of α.
    step : {"exact", "line_search"} or float, default="exact"
        The minimiser of the loss along h; an approximate line search by doubling and halving; or a
        constant step size.
    multiclass : {"one-vs-rest", "one-vs-one", "ecoc"}, default="one-vs-rest"
        Codes that turn several classes into two-class problems, decoded by the loss itself.
    reweight : {"weights", "resample"}, default="weights"
        Pass the weights to the weak learner, or draw a bootstrap sample with them, as in
        `AdaBoostClassifier`.
    sampling : {None, "under"}, default=None
        "under": each round undersamples every class to the size of the rarest.
    split : {"exact", "histogram"}, default="exact"
        Native weak learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Maximum number of bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        For native weak learners: columns whose values are categories. "from_dtype": those of a category or
        string type.
    early_stopping : bool, default=False
        Whether to split off a validation set, and keep the number of rounds with the smallest error on it.
    validation_fraction : float, default=0.1
        Fraction of the rows in the validation set.
    n_iter_no_change : int, default=20
        Number of rounds without improvement before stopping.
    warm_start : bool, default=False
        Add rounds to the fitted model instead of fitting a new one, as in `AdaBoostClassifier`.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are error rates); a callback that returns True
        stops the fit.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads of native weak learners. None: all. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of samples, the validation set, codes, and random weak learners.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    estimators_ : list of weak learners; an array (rounds, columns) for several classes.
    estimator_weights_ : array
        Their step sizes α, times the learning rate.
    estimator_errors_ : array
        Their weighted errors ε.
    certificate_ : Certificate
        Quantities of each round and bounds on the error, as far as they are defined.
    feature_importances_, stopped_because_, train_score_, validation_score_, n_estimators_,
    n_features_in_, feature_names_in_ : as in `AdaBoostClassifier`.

    See Also
    --------
    AdaBoostClassifier : The exponential loss, with closed-form steps.
    BrownBoostClassifier : Boosting for noisy labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import AnyBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = AnyBoostClassifier("logistic", n_estimators=100).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.99

    References
    ----------
    Mason, Baxter, Bartlett and Frean, "Functional gradient techniques for combining hypotheses",
    Advances in Large Margin Classifiers 2000.
    """

    _checks = _CHECKS

    def __init__(
        self,
        loss: object = "exponential",
        *,
        estimator: Estimator | None = None,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        step: float | str = "exact",
        multiclass: str = "one-vs-rest",
        reweight: str = "weights",
        sampling: str | None = None,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        warm_start: bool = False,
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ):
        self.loss = loss
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.step = step
        self.multiclass = multiclass
        self.reweight = reweight
        self.sampling = sampling
        self.split = split
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.warm_start = warm_start
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _scheme(self) -> str:
        return self.multiclass

    def _algorithm(self) -> Algorithm:
        loss = margin_loss(self.loss)

        def two_classes(y: np.ndarray, distribution: np.ndarray, n_rows: int) -> Descent:
            return Descent(y, distribution, self.learning_rate, n_rows, loss=loss, step=self.step)

        scheme = "two" if self.n_classes_ == 2 else self._scheme()
        return Algorithm(scheme, two_classes, loss, loop=descend)

    def _variant_name(self) -> str:
        return f"anyboost, {margin_loss(self.loss).name}"

    @property
    @reads_fit_snapshot
    def estimator_weights_(self) -> np.ndarray:
        """The step sizes α."""
        return self._values_by_round("scale")

    @property
    @reads_fit_snapshot
    def estimator_errors_(self) -> np.ndarray:
        """The weighted error of each weak learner."""
        return self._values_by_round("error")


class Descent(TwoClasses):
    """Descent on Σ D C(y f): the weak learner is fitted with weights -C'(y f), the step is a line search.

    For the exponential loss this is AdaBoost, and the step is AdaBoost's formula.
    """

    def __init__(
        self,
        y: np.ndarray,
        weight: np.ndarray,
        learning_rate: float = 1.0,
        n_rows: int | None = None,
        *,
        loss: MarginLoss,
        step: float | str = "exact",
    ):
        super().__init__(y, weight, learning_rate, n_rows)
        self.loss, self.step_rule = loss, step

    def weights(self, f: np.ndarray) -> Weights | None:
        if self.loss.name == "exponential":
            return super().weights(f)
        # A row at which the loss increases with the margin has weight 0.
        w = self.distribution * np.maximum(-self.loss.slope(self.y * f), 0)
        total = float(w.sum())
        return Weights(w / total, self.log_mean_exponential(f)) if total > 0 else None

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        agreement = self.y * votes
        error = weighted_error(agreement, w)
        if (
            self.loss.name == "exponential"
            and self.step_rule == "exact"
            and (np.abs(votes) == 1).all()
        ):
            return adaboost_step(error, step_sum, self.learning_rate)
        if not float(w @ agreement) > EDGE_TOLERANCE:
            return None
        if self.step_rule not in ("exact", "line_search"):
            return self._make_step(self.learning_rate * float(self.step_rule), votes, error)
        line = LossAlongStep(self.loss, self.distribution, self.y * f, agreement)
        perfect_step = step_sum + math.log(1 / ERROR_OF_A_PERFECT_LEARNER - 1) / 2
        if (agreement > 0).all() and line.slope(perfect_step) < 0:
            # Correct on all rows, and the loss decreases without end along it: see adaboost_step.
            return VoteStep(
                perfect_step, perfect_step * float(np.abs(votes).max()), error, None, True
            )
        alpha = line.minimiser() if self.step_rule == "exact" else line.backtracking_step()
        if not alpha > 0:
            return None
        return self._make_step(self.learning_rate * alpha, votes, error)

    def _make_step(self, scale: float, votes: np.ndarray, error: float) -> VoteStep:
        return VoteStep(scale, scale * float(np.abs(votes).max()), error, scale)


def descend(
    learner: WeakLearner,
    variant: Descent,
    vote: Vote,
    *,
    f: np.ndarray | None = None,
    first: int = 0,
    step_sum: float = 0.0,
) -> Loop:
    """The loop for any margin loss, after some rounds of AdaBoost if the loss needs an initial model."""
    f = variant.zero_vote() if f is None else f
    if variant.loss.starts_from_adaboost and first < START_ROUNDS:
        exponential = Descent(
            variant.y,
            variant.distribution,
            variant.learning_rate,
            variant.n_rows,
            loss=Exponential(),
        )
        start = boost(learner, exponential, vote, f=f, first=first, step_sum=step_sum)
        for round_ in itertools.islice(start, START_ROUNDS - first):
            first, step_sum = first + 1, step_sum + round_.step.size
            yield round_
            if round_.step.is_last:
                return without_mistake(first, round_.step.error)
    return (yield from boost(learner, variant, vote, f=f, first=first, step_sum=step_sum))


class LossAlongStep:
    """The mean loss along a direction: distribution · C(margin + α agreement) as a function of α."""

    def __init__(
        self, loss: MarginLoss, distribution: np.ndarray, margin: np.ndarray, agreement: np.ndarray
    ):
        self.loss, self.distribution = loss, distribution
        self.margin, self.agreement = margin, agreement

    def value(self, alpha: float) -> float:
        return float(self.distribution @ self.loss.value(self.margin + alpha * self.agreement))

    def slope(self, alpha: float) -> float:
        slopes = self.loss.slope(self.margin + alpha * self.agreement)
        return float((self.distribution * self.agreement) @ slopes)

    def minimiser(self) -> float:
        """Return the first α at which the loss stops decreasing, to full precision."""
        if not self.slope(0.0) < 0:
            return 0.0
        low, high = 0.0, 0.5
        while (slope := self.slope(high)) < 0:
            if -slope * high < NO_MORE_FALL:
                return high  # the loss approaches its limit without reaching it
            low, high = high, 2 * high
        return float(brentq(self.slope, low, high, xtol=1e-14, rtol=1e-14))

    def backtracking_step(self) -> float:
        """Return a step by halving and doubling that decreases the loss sufficiently (Armijo's condition)."""
        start, slope = self.value(0.0), self.slope(0.0)
        if not slope < 0:
            return 0.0

        def decreases_enough(alpha: float) -> bool:
            return self.value(alpha) <= start + SHARE_OF_SLOPE * alpha * slope

        alpha = 1.0
        while not decreases_enough(alpha):
            alpha /= 2
            if alpha < 1e-12:
                return 0.0
        while self.value(2 * alpha) < self.value(alpha) and alpha < 1e6:
            alpha *= 2
        return alpha
