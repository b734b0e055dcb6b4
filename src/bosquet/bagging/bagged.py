"""Bagging: the same learner on many samples of the rows, and the mean of what they say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._bags import OutOfBag
from bosquet._fitted import reads_one_fit
from bosquet._sklearn import (
    ClassifierMixin,
    RegressorMixin,
    check_classification_targets,
)
from bosquet._targets import check_finite_target, check_labels
from bosquet.bagging._base import BaseBagging
from bosquet.bagging._learners import ClassVotes, Predictions
from bosquet.bagging._sampling import Sampler, balanced_sampler

_PARAMETERS_DOC = """
    estimator : scikit-learn estimator, default=None
        What is fitted on each bag; None is a full decision tree. Bagging helps learners that change
        much with the rows they see. Small trees are ``DecisionTreeClassifier(max_leaf_nodes=d)``,
        trees pruned by cross-validation a ``GridSearchCV`` over their ``ccp_alpha``. Each clone's
        random_state is drawn from `random_state`.
    n_estimators : int or "auto", default=10
        Learners. "auto" adds 10 at a time until the out-of-bag error has settled: its mean over the
        last 20 learners is less than a tenth of its standard error below its mean over the 20
        before, or has risen. At most 500. It needs ``bootstrap=True``, and leaves the attributes of
        ``oob_score=True``.
    max_samples : int or float, default=1.0
        Rows that a bag draws: a number, or a share of those of X.{balanced_size}
    max_features : int, float, "sqrt" or "log2", default=1.0
        Columns that each learner is given: a number, or a share of those of X.
    bootstrap : bool, default=True
        Draw rows with replacement.
    bootstrap_features : bool, default=False
        Draw columns with replacement. Learners then see arrays, not frames: a column may be there
        twice, its name may not.
    """

_SHARED_DOC = """
    oob_score : bool, default=False
        Judge each row by the learners that did not draw it.
    warm_start : bool, default=False
        Add learners to the fitted model instead of starting anew. The bags stay those of the first
        fit: adding 5 to 5 gives the same model as 10 at once.
    n_jobs : int or None, default=None
        Learners fitted at a time, by joblib: None is 1 unless a ``joblib.parallel_config`` says
        otherwise, -1 all processors. The model is the same for any number.
    random_state : int, RandomState or None, default=None
        What the bags are drawn from.
    verbose : int, default=0
        Progress messages of joblib, more with larger numbers.
    """

_ATTRIBUTES_DOC = """
    estimators_ : list
        The fitted learners.
    estimators_samples_ : list of arrays
        The rows each of them drew, one entry a draw. Not stored, but drawn again from the seed.
    estimators_features_ : list of arrays
        The columns each of them was given.
    n_estimators_ : int
        Number of learners.
    oob_score_ : float
        {score} of the out-of-bag votes.
    oob_error_ : float
        Error ({error}) of the vote over the learners that did not draw a row. Rows
        that every learner drew are left out, and told in a warning.
    oob_learner_error_ : float
        Mean over the learners of each one's error on the rows that it did not draw: what one
        learner is worth, where `oob_error_` is what all are worth together.
    oob_curve_ : array of shape (n_estimators_,)
        `oob_error_` after 1, 2, ... learners.
    """


def _with_common_docs(**words: str) -> Any:
    """Fill the shared parameters and attributes into a class's docstring."""

    def fill(cls: type) -> type:
        doc = cls.__doc__ or ""
        for mark, text in (
            ("parameters", _PARAMETERS_DOC),
            ("shared", _SHARED_DOC),
            ("attributes", _ATTRIBUTES_DOC),
        ):
            for name, word in words.items():
                text = text.replace("{" + name + "}", word)
            doc = doc.replace("    {" + mark + "}\n", text.strip("\n").rstrip(" "))
        cls.__doc__ = doc
        return cls

    return fill


@_with_common_docs(
    score="Accuracy",
    error="share of misclassified rows",
    balanced_size="""
        With ``balanced=True`` of each class: a number, or a share of the smallest class.""",
)
class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Bagging for classes: learners on bootstrap samples vote.

    Bag t holds rows drawn with replacement, about 63 % of the different ones; the learner h_t
    fitted on it votes, and the class with the largest mean vote wins. A bag may hold one class only:
    its learner then votes for that class.

    Parameters
    ----------
    {parameters}
    voting : {"soft", "hard"}, default="soft"
        A vote is the learner's probabilities, or 1 for the class it predicts. Learners that have no
        ``predict_proba`` vote hard either way.
    balanced : bool, default=False
        Each bag draws as many rows of every class as the smallest class has. For rare classes; the
        probabilities are then those of equally frequent classes.
    {shared}

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    {attributes}
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Mean out-of-bag vote, NaN for rows that every learner drew.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import train_test_split
    >>> from bosquet import BaggingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    >>> model = BaggingClassifier(n_estimators=50, oob_score=True, random_state=0)
    >>> model = model.fit(X_train, y_train)
    >>> print(f"out of bag {model.oob_score_:.2f}, test {model.score(X_test, y_test):.2f}")
    out of bag 0.93, test 0.96

    References
    ----------
    Breiman, "Bagging predictors", Machine Learning 1996.
    Breiman, "Out-of-bag estimation", technical report, Berkeley 1996.
    """

    _classifier = True
    classes_: np.ndarray
    _vote: ClassVotes

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: Any = 10,
        *,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        voting: str = "soft",
        balanced: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.voting = voting
        self.balanced = balanced
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_target(self, y: Any, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        labels = check_labels(y)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if continuing:
            strange = np.setdiff1d(classes, self.classes_)
            if strange.size:
                raise ValueError(
                    f"y holds the class {strange[0]!r}, which is not one of {list(self.classes_)}"
                )
            codes = np.searchsorted(self.classes_, labels)
        else:
            self.classes_ = classes
            self._vote = ClassVotes(classes, soft=self.voting == "soft")
        return labels, codes

    def _make_sampler(
        self, seed: int, target: np.ndarray, weight: np.ndarray, by_weight: bool
    ) -> Sampler:
        if not self.balanced:
            return super()._make_sampler(seed, target, weight, by_weight)
        return balanced_sampler(
            seed,
            target,
            weight,
            by_weight=by_weight,
            max_samples=self.max_samples,
            replace=bool(self.bootstrap),
        )

    def _publish_votes(self, account: OutOfBag) -> None:
        self.oob_score_ = 1 - account.error
        self.oob_decision_function_ = account.mean_votes(self.classes_.size)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest mean vote; of equal ones, the first in `classes_`."""
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Mean vote for each class: mean probability, or with voting="hard" the share of votes."""
        return self._mean_votes(X)

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_one_fit
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Mean votes of the first 1, 2, ... learners."""
        yield from self._staged_mean_votes(X)

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Classes by the first 1, 2, ... learners."""
        for votes in self._staged_mean_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each learner says.

        Returns
        -------
        array of shape (n_samples, n_estimators_, n_classes) of probabilities with voting="soft";
        (n_samples, n_estimators_) of classes with voting="hard"
        """
        votes = self._all_votes(X).transpose(1, 0, 2)
        return votes if self._vote.soft else self.classes_[votes.argmax(axis=2)]

    @reads_one_fit
    def jackknife_standard_errors(self, X: Any) -> np.ndarray:
        """How far each probability would move if other rows had been drawn from the population.

        The jackknife after the bootstrap: a probability is compared with that of the learners which
        did not draw row i, for each training row i. What the finite number of learners adds is taken
        off, which may leave 0. It takes many learners, about as many as rows; a warning tells when
        they are far too few.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)

        References
        ----------
        Efron, "Jackknife-after-bootstrap standard errors and influence functions", Journal of the
        Royal Statistical Society B 1992.
        Wager, Hastie and Efron, "Confidence intervals for random forests: the jackknife and the
        infinitesimal jackknife", Journal of Machine Learning Research 2014.
        """
        return self._jackknife(X)


@_with_common_docs(
    score="R²",
    error="mean squared error",
    balanced_size="",
)
class BaggingRegressor(RegressorMixin, BaseBagging):
    """Bagging for numbers: the mean of learners on bootstrap samples.

    Bag t holds rows drawn with replacement, about 63 % of the different ones, h_t is the learner
    fitted on it, and the prediction is H_T = (1/T) Σ h_t.

    Parameters
    ----------
    {parameters}
    {shared}

    Attributes
    ----------
    {attributes}
    oob_prediction_ : array of shape (n_samples,) or (n_samples, n_targets)
        Mean out-of-bag prediction, NaN for rows that every learner drew.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=200, oob_score=True, random_state=0).fit(X, y)
    >>> one, all_of_them = model.oob_learner_error_**0.5, model.oob_error_**0.5
    >>> print(f"one tree errs by {one:.0f}, all of them by {all_of_them:.0f}")
    one tree errs by 81, all of them by 59
    >>> print(f"standard error of a prediction {model.jackknife_standard_errors(X).mean():.0f}")
    standard error of a prediction 30

    References
    ----------
    Breiman, "Bagging predictors", Machine Learning 1996.
    """

    _classifier = False
    _n_targets: int

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: Any = 10,
        *,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_target(self, y: Any, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        target = check_finite_target(y).T
        if continuing and target.shape[1] != self._n_targets:
            raise ValueError(
                f"y has {target.shape[1]} targets, but the model was fitted to {self._n_targets}"
            )
        self._n_targets = target.shape[1]
        self._vote = Predictions()
        return (target[:, 0] if target.shape[1] == 1 else target), target

    def _publish_votes(self, account: OutOfBag) -> None:
        self.oob_score_ = account.r2()
        self.oob_prediction_ = self._shaped(account.mean_votes(self._n_targets))

    def _shaped(self, values: np.ndarray) -> np.ndarray:
        return values[..., 0] if values.shape[-1] == 1 else values

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Mean prediction of the learners: (n_samples,), or a column for each target."""
        return self._shaped(self._mean_votes(X))

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Mean predictions of the first 1, 2, ... learners."""
        for votes in self._staged_mean_votes(X):
            yield self._shaped(votes)

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each learner says.

        Returns
        -------
        array of shape (n_samples, n_estimators_), or (n_samples, n_estimators_, n_targets)
        """
        return self._shaped(self._all_votes(X).transpose(1, 0, 2))

    @reads_one_fit
    def jackknife_standard_errors(self, X: Any) -> np.ndarray:
        """How far each prediction would move if other rows had been drawn from the population.

        The jackknife after the bootstrap: a prediction is compared with that of the learners which
        did not draw row i, for each training row i. What the finite number of learners adds is taken
        off, which may leave 0. It takes many learners, about as many as rows; a warning tells when
        they are far too few.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_targets)

        References
        ----------
        Efron, "Jackknife-after-bootstrap standard errors and influence functions", Journal of the
        Royal Statistical Society B 1992.
        Wager, Hastie and Efron, "Confidence intervals for random forests: the jackknife and the
        infinitesimal jackknife", Journal of Machine Learning Research 2014.
        """
        return self._shaped(self._jackknife(X))
