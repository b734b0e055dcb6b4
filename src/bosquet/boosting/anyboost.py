"""AnyBoost: descent on any loss of the margin, one learner a step."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from bosquet._fitted import reads_one_fit
from bosquet._parameters import Check, choice
from bosquet.boosting._boosted_vote import CHECKS, BoostedVote
from bosquet.boosting._descent import Descent
from bosquet.losses import MarginLoss, margin_loss


def _step_kind() -> Check:
    def ok(value: Any) -> bool:
        if isinstance(value, str):
            return value in ("exact", "line_search")
        return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < 1e300

    return ok, "'exact', 'line_search' or a number above 0"


_CHECKS: dict[str, Check] = {
    **CHECKS,
    "step": _step_kind(),
    "multiclass": choice("one-vs-all", "all-vs-all", "ecoc"),
}


class AnyBoostClassifier(BoostedVote):
    """AnyBoost: coordinate descent in function space, for any loss C of the margin m = y f(x).

    Every round fits a learner h under the weights w = -C'(y f), for which the learner of least error
    is the direction in which the mean loss falls fastest, and goes along it to where the loss is
    least:

        α = argmin Σ C(y (f + α h)),   f ← f + ν α h

    With C = exp(-m) this is AdaBoost, to the bit; on native stumps to rounding, since AdaBoost's loop
    there multiplies the weights of the round before, and this one computes them from f.

    `predict_proba` is what the loss implies, P C'(f) = (1 - P) C'(-f). The hinges are flat beyond a
    margin of 1 and say 0 or 1 there (held off by 1e-6): to be relied on, wrap the model in
    `bosquet.CalibratedModel`.

    Parameters
    ----------
    loss : str, function or object, default="exponential"
        "exponential" exp(-m), "logistic" ln(1 + exp(-2m)), "squared_hinge" max(0, 1 - m)²,
        "smooth_hinge" (½ - m below 0, ½ (1 - m)² up to 1, 0 beyond), "doom2" 1 - tanh(m), which does
        not rise for ever and so gives up hopeless rows. Or your own: a function of an array of
        margins, or an object with ``value(margin)`` and ``slope(margin)``; it must be finite, and
        fall at margin 0.
    estimator : estimator or None, default=None
        The learner, as in `AdaBoostClassifier`.
    n_estimators : int, default=50
    learning_rate : float, default=1.0
        Shrinkage ν of α.
    step : {"exact", "line_search"} or float, default="exact"
        Where the loss is least along h; a shorter search by doubling and halving; or steps of the
        same length.
    multiclass : {"one-vs-all", "all-vs-all", "ecoc"}, default="one-vs-all"
        Codes by which several classes become problems of two; decoded by the loss itself.
    reweight, sampling, split, max_bins, categorical_features : as in `AdaBoostClassifier`
    early_stopping, validation_fraction, n_iter_no_change, warm_start : as there
    callbacks, verbose, n_jobs, random_state : as there

    Attributes
    ----------
    classes_ : array
    estimators_ : list of learners; an array (rounds, columns) for several classes.
    estimator_weights_ : array
        Their steps α, the learning rate included.
    estimator_errors_ : array
        Their weighted errors ε.
    certificate_ : Certificate
    feature_importances_, stopped_because_, train_score_, validation_score_, n_estimators_,
    n_features_in_, feature_names_in_ : as in `AdaBoostClassifier`.

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

    def __init__(
        self,
        loss: Any = "exponential",
        *,
        estimator: Any = None,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        step: Any = "exact",
        multiclass: str = "one-vs-all",
        reweight: str = "weights",
        sampling: str | None = None,
        split: str = "exact",
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 20,
        warm_start: bool = False,
        callbacks: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        random_state: Any = None,
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

    def _checks(self) -> dict[str, Check]:
        return _CHECKS

    def _scheme(self) -> str:
        return self.multiclass

    def _variant(self, y: np.ndarray, share: np.ndarray, rows: int) -> Descent:
        return Descent(y, share, self.learning_rate, rows, loss=self._margin_loss(), step=self.step)

    def _margin_loss(self) -> MarginLoss:
        return margin_loss(self.loss)

    @property
    @reads_one_fit
    def estimator_weights_(self) -> np.ndarray:
        """The steps α."""
        return self._by_round("scale")

    @property
    @reads_one_fit
    def estimator_errors_(self) -> np.ndarray:
        """The weighted error of each learner."""
        return self._by_round("error")
