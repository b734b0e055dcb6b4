"""BrownBoost: boosting with a limited time, which gives up on rows that stay misclassified."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import erf
from sklearn.exceptions import ConvergenceWarning

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import Check, number
from bosquet._warnings import warn_user
from bosquet.boosting.adaboost._base import CHECKS as COMMON
from bosquet.boosting.adaboost._base import SignedRows, VoteClassifier
from bosquet.boosting.adaboost._brownian import (
    PotentialCurve,
    potential,
    row_weights,
    take_step,
    time_for,
)
from bosquet.boosting.adaboost.certificate import Certificate
from bosquet.boosting.adaboost.endings import Ending, all_rounds, by_callback, next_round
from bosquet.boosting.adaboost.stagewise import (
    EDGE_TOLERANCE,
    BoostingRound,
    TwoClasses,
    VoteStep,
    Weights,
    boost,
)
from bosquet.boosting.adaboost.votes import TwoClassDecoder
from bosquet.boosting.rounds import LossHistory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import CategoricalFeatures, Estimator, RandomState, TableLike
    from bosquet.boosting.rounds import Callback


# For a longer time erfc(sqrt(c)) is too small for double precision.
LONGEST_TIME = 500.0

CHECKS: dict[str, Check] = {
    **COMMON,
    "c": number(0, LONGEST_TIME, open_low=True, none=True),
    "target_error": number(0, 1, open_low=True, open_high=True),
    "least_edge": number(0, 1),
}


class Brownian(TwoClasses):
    """BrownBoost as a variant of the stagewise loop, with the remaining time as additional state."""

    def __init__(self, y: np.ndarray, distribution: np.ndarray, c: float, least_edge: float):
        super().__init__(y, distribution)
        self.c, self.least_edge = c, least_edge
        self.time_left = c
        self.times: list[float] = []
        self.has_signs = True  # whether all hypotheses predict -1 or +1

    def weights(self, f: np.ndarray) -> Weights | None:
        if self.time_left <= 0:
            return None
        return Weights(row_weights(self.y * f, self.time_left, self.c, self.distribution), None)

    def step(
        self, votes: np.ndarray, w: np.ndarray, f: np.ndarray, step_sum: float
    ) -> VoteStep | None:
        agreement = self.y * votes
        edge = float((w * agreement).sum())
        if not edge > self.least_edge + EDGE_TOLERANCE:
            if not self.times and edge > EDGE_TOLERANCE:
                raise ValueError(
                    f"least_edge={self.least_edge:g} is too large: the edge of the first hypothesis is only"
                    f" {edge:.6g}; pass a smaller least_edge"
                )
            return None
        curve = PotentialCurve(agreement, self.y * f, self.time_left, self.c, self.distribution)
        brownian_step = take_step(curve, self.least_edge)
        self.time_left -= brownian_step.time
        self.times.append(brownian_step.time)
        sizes = np.abs(votes)
        self.has_signs = self.has_signs and bool((sizes == 1).all())
        largest = float(sizes.max())
        is_last = self.time_left <= 0
        return VoteStep(
            brownian_step.alpha,
            brownian_step.alpha * largest,
            self.error_of(votes, w),
            brownian_step.alpha,
            is_last,
        )

    def potential(self, f: np.ndarray) -> float:
        return potential(self.y * f, self.time_left, self.c, self.distribution)


class BrownBoostStepper:
    """The rounds of BrownBoost, and the potential after each of them (see `rounds.run_rounds`)."""

    def __init__(self, rows: SignedRows, variant: Brownian, vote: Any):
        self.terms, self.variant = vote, variant
        self.f = variant.zero_vote()
        self.loop = boost(rows.learner, variant, vote, f=self.f)
        self.potentials = [variant.potential(self.f)]
        self.rounds: list[BoostingRound] = []
        self.ending: Ending | None = None

    def step(self) -> bool:
        round_, self.ending = next_round(self.loop)
        if round_ is None:
            return False
        self.rounds.append(round_)
        self.potentials.append(self.variant.potential(self.f))
        return True

    def train_loss(self) -> float:
        return self.rounds[-1].training_error

    def validation_loss(self) -> None:
        return None


class ErrorFunctionProbability:
    """The probability (1 + erf(f / sqrt(c))) / 2 of the second class."""

    def __init__(self, c: float):
        self.c = c

    def probability(self, f: np.ndarray) -> np.ndarray:
        return (1 + erf(f / math.sqrt(self.c))) / 2


class BrownBoostClassifier(VoteClassifier):
    r"""BrownBoost: boosting that gives up on rows that stay misclassified, for noisy labels.

    In AdaBoost the weight of a misclassified row grows without limit, so outliers dominate.
    BrownBoost has a limited time, c at the start. With the remaining time s, a row of margin
    :math:`r_i = y_i f(x_i)` has the weight

    .. math:: w_i \propto e^{-(r_i + s)^2 / c}

    It is largest for rows that can still be classified correctly in the remaining time (r near -s), and
    small both for large margins and for very negative ones. A hypothesis gets the weight :math:`\alpha` at
    the cost of the time t, such that the potential

    .. math:: \Phi = \sum_i \left[ 1 - \operatorname{erf} \frac{r_i + s}{\sqrt c} \right]

    does not change, and the hypothesis has no edge left. When no time is left (s = 0), the potential of
    every misclassified row is at least 1, and their sum is the potential at the start: so the training
    error is at most :math:`1 - \operatorname{erf} \sqrt c`, the target error. As c grows, BrownBoost
    becomes AdaBoost (with margins doubled).

    Guide: the page "Robust boosting" of the documentation

    Parameters
    ----------
    estimator : classifier or regressor, default=None
        The weak learner; None is a native stump. Predictions of a regressor are clipped to [-1, 1].
    n_estimators : int, default=1000
        Maximum number of rounds. There is a warning if time is left after them.
    c : float, default=None
        The time at the start, at most 500. None: the time for `target_error`.
    target_error : float, default=0.1
        The bound on the training error, :math:`c = \operatorname{erfinv}(1 - \varepsilon)^2`. The
        potential of a row that is given up is nearly 2, so twice the share of wrong labels is a first
        guess; cross-validation finds a better value. With a smaller one BrownBoost is like AdaBoost and
        needs many rounds, with a larger one it gives up too many rows.
    least_edge : float, default=0.0
        A round ends when the edge of its hypothesis has decreased to this value (Freund's nu), and the fit
        when no hypothesis has a larger edge. With a value above 0, steps are shorter and more are needed.
    split : {"exact", "histogram"}, default="exact"
        Native weak learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Maximum number of bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None, default="from_dtype"
        For native weak learners: columns whose values are categories. "from_dtype": those of a category or
        string type.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are error rates); a callback that returns True
        stops the fit.
    verbose : int, default=0
        0 prints nothing, 1 shows a progress bar.
    n_jobs : int or None, default=None
        Number of threads; None: all. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        Seed of random weak learners.

    Attributes
    ----------
    classes_ : array of the two labels
    c_ : float
        The time at the start.
    time_left_ : float
        The remaining time; 0 unless the rounds ended before.
    times_ : array of shape (n_rounds,)
        The time that each round cost.
    potential_ : array of shape (n_rounds + 1,)
        The mean potential of the rows at the start and after each round; all values are equal.
    estimators_ : list
        The hypotheses.
    estimator_weights_, estimator_errors_ : arrays of shape (n_rounds,)
        alpha, and the weighted error of each hypothesis in its round.
    certificate_ : Certificate
        Quantities of each round and bounds on the error, as far as they are defined.
    feature_importances_ : array of shape (n_features,)
        Mean over the hypotheses, weighted by their votes.
    stopped_because_ : str
        Why the rounds ended. There is a warning if time was left.

    See Also
    --------
    LPBoostClassifier : The vote with the largest soft margin.
    AdaBoostClassifier : Boosting without a limit on the weights of rows.

    Examples
    --------
    One label in ten is wrong:

    >>> import numpy as np
    >>> from bosquet import AdaBoostClassifier, BrownBoostClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(1000, 5))
    >>> truth = np.where(X.sum(axis=1) > 0, 1, -1)
    >>> y = np.where(rng.random(1000) < 0.1, -truth, truth)
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
        estimator: Estimator | None = None,
        n_estimators: int = 1000,
        *,
        c: float | None = None,
        target_error: float = 0.1,
        least_edge: float = 0.0,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: CategoricalFeatures = "from_dtype",
        callbacks: Sequence[Callback] | None = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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

    def _fit(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> BrownBoostClassifier:
        rows = self._signed_rows(X, y, sample_weight)
        c = time_for(self.target_error) if self.c is None else float(self.c)
        variant = Brownian(rows.y, rows.distribution, c, float(self.least_edge))
        self.c_ = c  # set before the rounds: callbacks may ask for probabilities
        stepper = BrownBoostStepper(rows, variant, self._vote)
        history = LossHistory()
        self._run(stepper, history)
        self.time_left_ = max(0.0, variant.time_left)
        self.times_, self.potential_ = np.asarray(variant.times), np.asarray(stepper.potentials)
        self.estimator_weights_ = np.array([round_.step.alpha for round_ in stepper.rounds])
        self.estimator_errors_ = np.array([round_.step.error for round_ in stepper.rounds])
        self.n_iter_ = len(stepper.rounds)
        self.certificate_ = self._make_certificate(rows, stepper, variant.has_signs)
        self._report_ending(stepper, history)
        return self

    def _make_certificate(
        self, rows: SignedRows, stepper: BrownBoostStepper, has_signs: bool
    ) -> Certificate:
        vc_dim, missing = rows.vc_dim(has_signs)
        margins = rows.y * stepper.f / np.abs(self.estimator_weights_).sum()
        other_weights = "the weights of BrownBoost are not exp(-y f)"
        return Certificate.from_rounds(
            variant="brownboost",
            n_rows=rows.y.size,
            errors=self.estimator_errors_,
            alphas=self.estimator_weights_,
            normalisers=None,
            training_errors=[round_.training_error for round_ in stepper.rounds],
            margins=margins,
            row_weight=rows.distribution,
            vc_dim=vc_dim,
            missing={
                **missing,
                "normalisers": other_weights,
                "exponential_bound": other_weights,
                "smallest_edge_bound": other_weights,
            },
        )

    def _report_ending(self, stepper: BrownBoostStepper, history: LossHistory) -> None:
        if self.time_left_ == 0:
            self.stopped_because_ = "no time is left"
            return
        if history.stopped_by == "callback":
            self.stopped_because_ = by_callback(self.n_iter_).reason
            return
        if stepper.ending is None:
            self.stopped_because_ = all_rounds(self.n_iter_).reason
            advice = "increase n_estimators or target_error"
        else:
            self.stopped_because_ = stepper.ending.reason
            advice = "no hypothesis has an edge; increase target_error or use a stronger learner"
        rounds = "1 round" if self.n_iter_ == 1 else f"{self.n_iter_} rounds"
        warn_user(
            f"{self.time_left_ / self.c_:.0%} of the time is left after {rounds}, so the training error may"
            f" exceed target_error; {advice}",
            ConvergenceWarning,
        )

    # --------------------------------------------------------------- predicting
    @property
    def _decoder(self) -> TwoClassDecoder:
        return TwoClassDecoder(ErrorFunctionProbability(self.c_))  # type: ignore[arg-type]

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        That of the second class is (1 + erf(f / sqrt(c))) / 2.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, 2)
            The columns are in the order of `classes_`.
        """
        decision = self.decision_function(X)
        return self._decoder.probabilities(decision)

    @reads_fit_snapshot
    def staged_predict_proba(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the probability of each class, as predicted by the first 1, 2, ... hypotheses.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples, 2)
        """
        for f in self.staged_decision_function(X):
            yield self._decoder.probabilities(f)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
