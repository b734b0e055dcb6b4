"""AdaBoost: a weighted vote of learners, each fitted to what the vote so far gets wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._fitted import reads_one_fit
from bosquet._parameters import Check, choice
from bosquet._sklearn import check_is_fitted, is_classifier
from bosquet.boosting._boosted_vote import CHECKS, BoostedVote
from bosquet.boosting._decisions import OfCodes
from bosquet.boosting._variants import VARIANTS, CappedLabels, Labels, Samme
from bosquet.boosting._weak_native import StumpLearner
from bosquet.losses import MarginLoss, margin_loss

_CHECKS: dict[str, Check] = {
    **CHECKS,
    "variant": choice(*VARIANTS),
    "multiclass": choice("samme", "mh", "one-vs-all", "all-vs-all", "ecoc"),
}


class AdaBoostClassifier(BoostedVote):
    """AdaBoost, for any learner, with native stumps by default.

    Every round fits a learner h under weights w of the rows, gives it a vote α, and raises the weights
    of the rows that it missed:

        ε = Σ w [h(x) ≠ y],   α = ½ ln((1 - ε) / ε),   w ← w exp(-α y h(x)) / Z,   Z = 2 √(ε (1 - ε))

    The vote is f(x) = Σ α h(x), its sign the decision; 1 / (1 + exp(-2f)) is the probability that goes
    with it. The training error is at most Π Z.

    Where scikit-learn's class of the same name differs: weights are handed to learners with mean 1,
    not sum 1 (an SVC given the latter learns nothing); a learner without errors wins the vote;
    `decision_function` is f itself, where scikit-learn's is 2f / Σα.

    Parameters
    ----------
    estimator : estimator or None, default=None
        The learner. None: a stump of the native core, the best threshold on one column. A
        `bosquet.DecisionTreeClassifier` is grown natively too, on columns prepared once. Any other
        scikit-learn classifier is cloned and fitted; a regressor is fitted to -1 and +1, and what it
        says is cut off there (`variant` "discrete", "mada"), or taken as it is ("gentle", "logit").
    n_estimators : int, default=50
        Rounds. Fewer, where a learner is perfect (ε = 0: its α would be infinite, so it is made to
        outvote all others) or no better than chance (ε >= ½).
    learning_rate : float, default=1.0
        Shrinkage of α.
    variant : {"discrete", "real", "gentle", "logit", "mada"}, default="discrete"
        "discrete" as above; "real" adds ½ ln(p / (1 - p)) of a learner's probabilities; "gentle" adds
        a least-squares fit to y, and bears outliers better; "logit" takes Newton steps on the binomial
        likelihood (LogitBoost); "mada" is discrete with weights that never exceed their start
        (MadaBoost).
    reweight : {"weights", "resample"}, default="weights"
        Hand the weights to the learner, or draw it a bootstrap sample by them; ε is that of the full
        weighted sample in either case. Learners without `sample_weight` are given samples by
        themselves, with a warning that says so. A sample whose learner has no edge is drawn again, up
        to ten times.
    multiclass : {"samme", "mh", "one-vs-all", "all-vs-all", "ecoc"}, default="samme"
        Several classes: learners that name one of K classes, better than chance if ε < 1 - 1/K
        (SAMME); a sign for each class under one distribution over rows and classes (AdaBoost.MH); or
        problems of two classes by a code: each against the rest, each pair, error-correcting codes,
        decoded by the exponential loss. SAMME is a rule of the discrete variant: mada takes "mh" in
        its place; real, gentle and logit take "one-vs-all", which for steps of 1 is what AdaBoost.MH
        with a learner a class comes to.
    sampling : {None, "under"}, default=None
        "under": each round fits on as many rows of every class as the rarest has (RUSBoost).
    split : {"exact", "histogram"}, default="exact"
        Native learners: thresholds between any two values, or between bins of columns.
    max_bins : int, default=255
        Bins of a column for split="histogram".
    categorical_features : "from_dtype", list of names or indices, mask, or None
        For native learners: columns whose values are categories. By default those of a category or
        string type.
    early_stopping : bool, default=False
        Set rows aside, and keep the number of rounds at which the vote errs least on them.
    validation_fraction : float, default=0.1
        Fraction of the rows in the validation set.
    n_iter_no_change : int, default=20
        Rounds without improvement before stopping.
    warm_start : bool, default=False
        Add rounds to the fitted model instead of starting anew: the same vote as by all rounds at once,
        to rounding. With early stopping the validation set is that of the first fit, and the best error
        and the rounds since are carried over.
    callbacks : list of callables, default=None
        Called after each round with a `RoundInfo` (losses are errors); returning True stops.
    verbose : int, default=0
        1: a progress bar.
    n_jobs : int or None, default=None
        Threads of native learners. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        For samples, validation rows, codes, and learners that are random themselves.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    estimators_ : list of learners; an array (rounds, columns) where a round has several.
    estimator_weights_ : array
        Their votes as scikit-learn has them: ln((1 - ε) / ε), twice the α above, times the learning
        rate; for SAMME + ln(K - 1); the factor of h for real, gentle and logit.
    estimator_errors_ : array
        Their ε; NaN where the variant has none.
    certificate_ : Certificate
        What the fit guarantees: ε, edge, α and Z of each round, bounds, margins of the training rows.
    feature_importances_ : array
        Mean over the voters, by their weights.
    stopped_because_ : str
        Why the rounds came to an end: all were made, a learner without mistakes (ε = 0) or without an
        edge (ε >= ½), early stopping, a callback. A warning tells of an end that nobody asked for.
    train_score_, validation_score_ : arrays
        The error after each round that was tried, on the training rows and on the validation set: of the
        same length, at least `n_estimators_`. NaN in rounds without a validation set.
    code_ : array of -1, 0 and 1, a line for each class and a column for each problem of two classes
        Where more than two classes were told apart by a code.
    n_estimators_ : int
        Number of rounds.
    n_features_in_, feature_names_in_ : as in scikit-learn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import AdaBoostClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=100).fit(X_train, y_train)
    >>> print(f"{model.score(X_test, y_test):.2f}")
    0.99

    References
    ----------
    Freund and Schapire, "A decision-theoretic generalization of on-line learning and an application to
    boosting", Journal of Computer and System Sciences 1997.
    Schapire and Singer, "Improved boosting algorithms using confidence-rated predictions", Machine
    Learning 1999: real AdaBoost, AdaBoost.MH.
    Friedman, Hastie and Tibshirani, "Additive logistic regression", Annals of Statistics 2000: gentle,
    LogitBoost.
    Domingo and Watanabe, "MadaBoost: a modification of AdaBoost", COLT 2000.
    Zhu, Zou, Rosset and Hastie, "Multi-class AdaBoost", Statistics and Its Interface 2009: SAMME.
    Allwein, Schapire and Singer, "Reducing multiclass to binary", JMLR 2000: codes.
    Seiffert et al., "RUSBoost", IEEE Transactions on Systems, Man, and Cybernetics A 2010.
    """

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 50,
        *,
        learning_rate: float = 1.0,
        variant: str = "discrete",
        reweight: str = "weights",
        multiclass: str = "samme",
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
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.variant = variant
        self.reweight = reweight
        self.multiclass = multiclass
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
        # SAMME is a rule for learners that name a class; the other variants have numbers to add.
        if self.multiclass == "samme" and self.variant != "discrete":
            return "mh" if self.variant == "mada" else "one-vs-all"
        if self.multiclass == "mh" and self.variant not in ("discrete", "mada"):
            return "one-vs-all"
        return self.multiclass

    def _variant(self, y: np.ndarray, share: np.ndarray, rows: int) -> Any:
        estimator = self.estimator
        if self.variant == "logit" and estimator is not None and is_classifier(estimator):
            raise ValueError(
                f"variant='logit' fits numbers by least squares, and {type(estimator).__name__} is a"
                " classifier; give a regressor, for example bosquet.DecisionTreeRegressor(max_depth=3)"
            )
        return VARIANTS[self.variant](y, share, self.learning_rate, rows)

    def _variant_of_many(self, scheme: str, numbers: np.ndarray, share: np.ndarray) -> Any:
        if scheme == "samme":
            return Samme(numbers, self.n_classes_, share, self.learning_rate)
        kind = CappedLabels if self.variant == "mada" else Labels
        return kind(numbers, self.n_classes_, share, self.learning_rate)

    def _runs_natively(self, learner: Any) -> bool:
        if not isinstance(learner, StumpLearner) or learner.reweighting.is_random:
            return False
        if self.learning_rate > 1:
            return False  # the core multiplies weights, which steps beyond the best may overflow
        return learner.says in ("signs", "probabilities", "numbers")

    def _margin_loss(self) -> MarginLoss:
        return margin_loss("exponential")

    @property
    @reads_one_fit
    def estimator_weights_(self) -> np.ndarray:
        """Votes of the learners as scikit-learn has them: twice α where there is one."""
        halves = not np.isnan(np.atleast_1d(self._by_round("alpha"))).all()
        return self._by_round("scale", 2.0 if halves else 1.0)

    @property
    @reads_one_fit
    def estimator_errors_(self) -> np.ndarray:
        """ε of each learner."""
        return self._by_round("error")

    @property
    @reads_one_fit
    def code_(self) -> np.ndarray:
        """On which side each problem of two classes (a column) puts each class (a line); 0: not asked."""
        check_is_fitted(self, "classes_")
        if not isinstance(self._decision, OfCodes):
            raise AttributeError(
                f"{type(self).__name__} has a code_ where several classes are told apart by one:"
                " multiclass='one-vs-all', 'all-vs-all' or 'ecoc'"
            )
        return self._decision.matrix
