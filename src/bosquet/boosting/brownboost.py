"""BrownBoost: boosting with a clock, which gives up on rows that it cannot place in time."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import erf

from bosquet._fitted import reads_one_fit
from bosquet._parameters import Check, number
from bosquet._warnings import warn_user
from bosquet.boosting._binary import CHECKS as COMMON
from bosquet.boosting._binary import BinaryVote, Rows
from bosquet.boosting._brownian import (
    Curve,
    potential,
    row_weights,
    take_step,
    time_for,
)
from bosquet.boosting._endings import Ending, all_rounds, by_callback, following
from bosquet.boosting._loop import LoopResult
from bosquet.boosting._stagewise import Round, boost
from bosquet.boosting._variants import CHANCE, Step, TwoClasses, Weights
from bosquet.boosting.certificate import Certificate

# With more time erfc(sqrt(c)) is no number any more that halves of it can be told from.
LONGEST_TIME = 500.0

CHECKS: dict[str, Check] = {
    **COMMON,
    "c": number(0, LONGEST_TIME, open_low=True, none=True),
    "target_error": number(0, 1, open_low=True, open_high=True),
    "least_edge": number(0, 1),
}


class Brownian(TwoClasses):
    """BrownBoost as a variant of the stagewise loop: it has a clock besides the vote."""

    def __init__(self, y: np.ndarray, share: np.ndarray, c: float, least_edge: float):
        super().__init__(y, share)
        self.c, self.least_edge = c, least_edge
        self.time_left = c
        self.times: list[float] = []
        self.says_signs = True

    def weights(self, f: np.ndarray) -> Weights | None:
        if self.time_left <= 0:
            return None
        return Weights(row_weights(self.y * f, self.time_left, self.c, self.share), None)

    def step(self, vote: np.ndarray, w: np.ndarray, f: np.ndarray, size: float) -> Step | None:
        worth = self.y * vote
        edge = float((w * worth).sum())
        if not edge > self.least_edge + CHANCE:
            if not self.times and edge > CHANCE:
                raise ValueError(
                    f"least_edge={self.least_edge:g} is too large: the first hypothesis has the edge"
                    f" {edge:.6g}, and a round ends where the edge falls to least_edge; take a smaller one"
                )
            return None
        curve = Curve(worth, self.y * f, self.time_left, self.c, self.share)
        found = take_step(curve, self.least_edge)
        self.time_left -= found.time
        self.times.append(found.time)
        sizes = np.abs(vote)
        self.says_signs = self.says_signs and bool((sizes == 1).all())
        largest = float(sizes.max())
        is_last = self.time_left <= 0
        return Step(
            found.alpha, found.alpha * largest, self.error_of(vote, w), found.alpha, is_last
        )

    def potential(self, f: np.ndarray) -> float:
        return potential(self.y * f, self.time_left, self.c, self.share)


class Clock:
    """The rounds of BrownBoost, and the potential that they keep (see `_loop.run_rounds`)."""

    def __init__(self, rows: Rows, variant: Brownian, vote: Any):
        self.terms, self.variant = vote, variant
        self.f = variant.nobody()
        self.loop = boost(rows.learner, variant, vote, f=self.f)
        self.potentials = [variant.potential(self.f)]
        self.rounds: list[Round] = []
        self.ending: Ending | None = None

    def step(self) -> bool:
        found, self.ending = following(self.loop)
        if found is None:
            return False
        self.rounds.append(found)
        self.potentials.append(self.variant.potential(self.f))
        return True

    def train_loss(self) -> float:
        return self.rounds[-1].training_error

    def validation_loss(self) -> None:
        return None


class BrownBoostClassifier(BinaryVote):
    r"""BrownBoost: boosting that gives up on rows it cannot place, for labels with noise.

    AdaBoost weighs a row the more the more it is wrong, and runs after outliers for ever.
    BrownBoost has a clock, with the time c at the start. With s of it left, a row of margin
    :math:`r_i = y_i f(x_i)` weighs

    .. math:: w_i \propto e^{-(r_i + s)^2 / c}

    which is most for rows that the time left may still bring over (r near -s), and little both for
    those that are safe and for those that are lost. A hypothesis gets the weight :math:`\alpha` at the
    cost of the time t, such that the potential

    .. math:: \Phi = \sum_i \left[ 1 - \operatorname{erf} \frac{r_i + s}{\sqrt c} \right]

    is the same before and after, and the hypothesis has no edge left. When the time is up (s = 0),
    every misclassified row holds at least 1 of the potential, which is what it was at the start: so
    the training error is at most :math:`1 - \operatorname{erf} \sqrt c`, the error it aims at. As c
    grows, BrownBoost becomes AdaBoost (with margins counted double).

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        What is boosted; None is a native stump. Learners with values in [-1, 1] are taken as they are.
    n_estimators : int, default=1000
        Rounds at most. Where they are not enough for the time to run out, a warning says so.
    c : float, default=None
        The time; at most 500. None is the time for `target_error`.
    target_error : float, default=0.1
        The bound on the training error to aim at, :math:`c = \operatorname{erfinv}(1 - \varepsilon)^2`.
        A row that is given up holds nearly 2 of the potential, so that twice the share of labels
        that are wrong is a first guess, and cross-validation knows better: with less BrownBoost is
        like AdaBoost and needs many rounds, with more it gives up too soon.
    least_edge : float, default=0.0
        A round ends when the edge of its hypothesis has fallen to this (Freund's nu), and the fit when
        no hypothesis has more. Above 0 steps are shorter, and more of them are needed.
    split : {"exact", "histogram"}, default="exact"
        Native learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Bins of a column for split="histogram".
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        For native learners.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are errors); returning True stops.
    verbose : int, default=0
        1: a progress bar.
    n_jobs : int or None, default=None
        Threads; None is all. The model is the same for any number.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    classes_ : array of the two labels
    c_ : float
        The time at the start.
    time_left_ : float
        0 unless the rounds ended before the time.
    times_ : array of shape (n_rounds,)
        The time that each round took.
    potential_ : array of shape (n_rounds + 1,)
        The potential a row at the start and after each round: all the same.
    estimators_ : list
        The hypotheses.
    estimator_weights_, estimator_errors_ : arrays of shape (n_rounds,)
        alpha, and the weighted error of each hypothesis in its round.
    certificate_ : Certificate
    feature_importances_ : array of shape (n_features,)
        Mean over the hypotheses, by their weights.
    stopped_because_ : str
        Why the rounds came to an end: the time is up, as it should, or a warning tells.

    Examples
    --------
    One label in ten is wrong:

    >>> import numpy as np
    >>> from bosquet import AdaBoostClassifier, BrownBoostClassifier
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(-1, 1, size=(1000, 5))
    >>> truth = np.where(X.sum(axis=1) > 0, 1, -1)
    >>> y = np.where(random.random(1000) < 0.1, -truth, truth)
    >>> brown = BrownBoostClassifier(target_error=0.2).fit(X[:500], y[:500])
    >>> ada = AdaBoostClassifier(n_estimators=400).fit(X[:500], y[:500])
    >>> print(f"{brown.score(X[500:], truth[500:]):.2f} {ada.score(X[500:], truth[500:]):.2f}")
    0.92 0.84

    References
    ----------
    Freund, "An adaptive version of the boost by majority algorithm", Machine Learning 2001.
    """

    _checks = CHECKS

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 1000,
        *,
        c: float | None = None,
        target_error: float = 0.1,
        least_edge: float = 0.0,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.c = c
        self.target_error = target_error
        self.least_edge = least_edge
        self.split = split
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.callbacks = callbacks
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> BrownBoostClassifier:
        rows = self._rows(X, y, sample_weight)
        c = time_for(self.target_error) if self.c is None else float(self.c)
        variant = Brownian(rows.y, rows.share, c, float(self.least_edge))
        self.c_ = c  # what probabilities are made with, in callbacks too
        clock = Clock(rows, variant, self._vote)
        history = self._run(clock)
        self.time_left_ = max(0.0, variant.time_left)
        self.times_, self.potential_ = np.asarray(variant.times), np.asarray(clock.potentials)
        self.estimator_weights_ = np.array([found.step.alpha for found in clock.rounds])
        self.estimator_errors_ = np.array([found.step.error for found in clock.rounds])
        self.n_iter_ = len(clock.rounds)
        self.certificate_ = self._certificate(rows, clock, variant.says_signs)
        self._tell_of_the_end(clock, history)
        return self

    def _certificate(self, rows: Rows, clock: Clock, says_signs: bool) -> Certificate:
        vc_dim, missing = rows.capacity(says_signs)
        margins = rows.y * clock.f / np.abs(self.estimator_weights_).sum()
        other_weights = "the weights are those of a clock, not exp(-y f)"
        return Certificate.from_rounds(
            variant="brownboost",
            n_rows=rows.y.size,
            errors=self.estimator_errors_,
            alphas=self.estimator_weights_,
            normalisers=None,
            training_errors=[found.training_error for found in clock.rounds],
            margins=margins,
            row_weight=rows.share,
            vc_dim=vc_dim,
            missing={
                **missing,
                "normalisers": other_weights,
                "exponential_bound": other_weights,
                "smallest_edge_bound": other_weights,
            },
        )

    def _tell_of_the_end(self, clock: Clock, history: LoopResult) -> None:
        told = f"{self.time_left_ / self.c_:.0%} of the time is left after {self.n_iter_} rounds"
        if self.time_left_ == 0:
            self.stopped_because_ = "the time is up"
            return
        if history.stopped_by == "callback":
            self.stopped_because_ = by_callback(self.n_iter_).reason
            return
        if clock.ending is None:
            self.stopped_because_ = all_rounds(self.n_iter_).reason
            why = "raise n_estimators, or target_error"
        else:
            self.stopped_because_ = clock.ending.reason
            why = (
                "no hypothesis has an edge any more; raise target_error, or use a stronger learner"
            )
        from sklearn.exceptions import ConvergenceWarning

        warn_user(
            f"{told}, so that the training error need not be below the target: {why}",
            ConvergenceWarning,
        )

    # --------------------------------------------------------------- predicting
    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the two classes; of the second it is (1 + erf(f / sqrt(c))) / 2."""
        return self._probabilities(self.decision_function(X))

    @reads_one_fit
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """The same of the first 1, 2, ... hypotheses."""
        for f in self.staged_decision_function(X):
            yield self._probabilities(f)

    def _probabilities(self, f: np.ndarray) -> np.ndarray:
        second = (1 + erf(f / math.sqrt(self.c_))) / 2
        return np.column_stack([1 - second, second])
