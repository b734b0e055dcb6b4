"""Bagging: one estimator fitted to many samples of the rows; votes or predictions are averaged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._bags import OutOfBagRecord
from bosquet._fitted import reads_fit_snapshot
from bosquet._sklearn import (
    ClassifierMixin,
    RegressorMixin,
    check_classification_targets,
)
from bosquet._targets import check_finite_target, check_labels
from bosquet.bagging._base import BaseBagging
from bosquet.bagging._learners import ClassifierVotes, RegressorVotes
from bosquet.bagging._sampling import Sampler, balanced_sampler

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, RandomState, TableLike


_PARAMETERS_DOC = """
    estimator : scikit-learn estimator, default=None
        The base estimator that is cloned and fitted to each bag; None: a full decision tree. Bagging
        improves unstable base estimators, whose predictions change strongly with the training rows. For
        small trees use ``DecisionTreeClassifier(max_leaf_nodes=d)``; for trees pruned by cross-validation
        use a ``GridSearchCV`` over ``ccp_alpha``. The random_state of each clone is drawn from
        `random_state`.
    n_estimators : int or "auto", default=10
        Number of base estimators. "auto" adds 10 at a time until the out-of-bag error has settled: its mean
        over the last 20 base estimators is at most a tenth of its standard error below its mean over the 20
        before, or has risen. At most 500. "auto" needs ``bootstrap=True`` and sets the same attributes
        as ``oob_score=True``.
    max_samples : int or float, default=1.0
        Number of rows drawn per bag, or a fraction of the rows of X.{balanced_size}
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Number of columns drawn per base estimator, or a fraction of the columns of X, rounded down as in
        scikit-learn. None: all columns.
    bootstrap : bool, default=True
        Whether to draw rows with replacement.
    bootstrap_features : bool, default=False
        Whether to draw columns with replacement. Base estimators then get arrays instead of data frames,
        because a column may be drawn twice and column names must be unique.
    """

_SHARED_DOC = """
    oob_score : bool, default=False
        Whether to compute out-of-bag errors: each row is predicted by the base estimators that did not draw
        it.
    warm_start : bool, default=False
        Whether `fit` adds base estimators to the fitted model instead of starting again. The bags of the
        first fit are kept: 5 base estimators and then 5 more give the same model as 10 in one fit.
    n_jobs : int or None, default=None
        Number of base estimators fitted in parallel by joblib. None: 1, unless set by
        ``joblib.parallel_config``; -1: all processors. The model does not depend on it.
    random_state : int, RandomState or None, default=None
        Random seed of the bags.
    verbose : int, default=0
        Verbosity of joblib's progress messages.
    """

_ATTRIBUTES_DOC = """
    estimators_ : list
        The fitted base estimators.
    estimators_samples_ : list of arrays
        Rows that each base estimator drew, one entry per draw. Not stored, but computed again from the
        seed.
    estimators_features_ : list of arrays
        Columns that each base estimator was fitted to.
    n_estimators_ : int
        Number of base estimators.
    oob_score_ : float
        {score} of the out-of-bag predictions.
    oob_error_ : float
        Out-of-bag error of the ensemble ({error}). Each row is predicted by the base estimators that did
        not draw it. Rows that all base estimators drew are ignored, with a warning.
    oob_learner_error_ : float
        Mean over the base estimators of the error of a single base estimator on the rows that it did not
        draw. Compare with `oob_error_`, the error of the ensemble.
    oob_curve_ : array of shape (n_estimators_,)
        `oob_error_` after 1, 2, ... base estimators.
    """


def _with_common_docs(**words: str) -> Any:
    """Insert the shared parameters and attributes into the docstring of a class."""

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
        With ``balanced=True``, the number of rows per class, or a fraction of the smallest class.""",
)
class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Bagging classifier: base estimators fitted to bootstrap samples vote.

    Bag t holds rows drawn with replacement, about 63 % of the distinct rows. Base estimator h_t is fitted
    to bag t, and the ensemble predicts the class with the largest mean vote. If a bag holds a single class,
    its base estimator always votes for that class.

    Guide: the page "Bagging and voting" of the documentation

    Parameters
    ----------
    {parameters}
    voting : {"soft", "hard"}, default="soft"
        What a vote is. "soft": the probabilities of the base estimator. "hard": 1 for the predicted class.
        Base estimators without ``predict_proba`` always cast hard votes.
    balanced : bool, default=False
        Whether each bag draws as many rows of every class as the smallest class has. Useful for rare
        classes. The predicted probabilities are then those of equally frequent classes.
    {shared}

    Attributes
    ----------
    classes_ : array
        The class labels, sorted.
    {attributes}
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Mean out-of-bag vote; NaN for rows that all base estimators drew.

    See Also
    --------
    RandomForestClassifier : Bagged trees that draw features at each node, in the C++ core.
    VotingClassifier : Different classifiers on the same rows.

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
    _votes_of: ClassifierVotes

    def __init__(
        self,
        estimator: Estimator | None = None,
        n_estimators: int | str = 10,
        *,
        max_samples: float = 1.0,
        max_features: float | str | None = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        voting: str = "soft",
        balanced: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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

    def _check_target(self, y: ArrayLike, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        labels = check_labels(y, owner=type(self).__name__)
        check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
        if continuing:
            unknown = np.setdiff1d(classes, self.classes_)
            if unknown.size:
                raise ValueError(
                    f"y has the class {unknown.tolist()[0]!r}, but the model was fitted to the classes"
                    f" {self.classes_.tolist()}; warm_start=True needs the same classes"
                )
            codes = np.searchsorted(self.classes_, labels)
        else:
            self.classes_ = classes
            self._votes_of = ClassifierVotes(classes, soft=self.voting == "soft")
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

    def _set_oob_predictions(self, record: OutOfBagRecord) -> None:
        self.oob_score_ = 1 - record.error
        self.oob_decision_function_ = record.mean_votes(self.classes_.size)

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X.

        This is the class with the largest mean vote. Ties go to the first class in `classes_`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        This is the mean over the base estimators; with voting="hard", the fraction of votes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._mean_votes(X)

    @reads_fit_snapshot
    def predict_log_proba(self, X: TableLike) -> np.ndarray:
        """Predict the logarithm of the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_fit_snapshot
    def staged_predict_proba(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the probability of each class, as predicted by the first 1, 2, ... base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples, n_classes)
        """
        yield from self._staged_mean_votes(X)

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the class of each row of X, as predicted by the first 1, 2, ... base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,)
        """
        for votes in self._staged_mean_votes(X):
            yield self.classes_[votes.argmax(axis=1)]

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the vote of each base estimator.

        Returns
        -------
        array of shape (n_samples, n_estimators_, n_classes) or (n_samples, n_estimators_)
            Probabilities with voting="soft", predicted classes with voting="hard".
        """
        votes = self._all_votes(X).transpose(1, 0, 2)
        return votes if self._votes_of.soft else self.classes_[votes.argmax(axis=2)]

    @reads_fit_snapshot
    def jackknife_standard_errors(self, X: TableLike) -> np.ndarray:
        """Standard error of each probability, by the jackknife after the bootstrap.

        It estimates how much the probability would vary over other training samples. For each training row
        i, the probability is compared with that of the base estimators that did not draw row i. The noise
        due to the finite number of base estimators is subtracted, which may give 0. The estimate needs many
        base estimators, about as many as rows; a warning is given if there are far too few.

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
    """Bagging regressor: the mean of base estimators fitted to bootstrap samples.

    Bag t holds rows drawn with replacement, about 63 % of the distinct rows. Base estimator h_t is fitted
    to bag t, and the ensemble predicts H_T = (1/T) Σ h_t.

    Guide: the page "Bagging and voting" of the documentation

    Parameters
    ----------
    {parameters}
    {shared}

    Attributes
    ----------
    {attributes}
    oob_prediction_ : array of shape (n_samples,) or (n_samples, n_targets)
        Mean out-of-bag prediction; NaN for rows that all base estimators drew.

    See Also
    --------
    RandomForestRegressor : Bagged trees that draw features at each node, in the C++ core.
    VotingRegressor : Different regressors on the same rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = BaggingRegressor(n_estimators=200, oob_score=True, random_state=0).fit(X, y)
    >>> tree, ensemble = model.oob_learner_error_**0.5, model.oob_error_**0.5
    >>> print(f"RMSE of one tree {tree:.0f}, of the ensemble {ensemble:.0f}")
    RMSE of one tree 81, of the ensemble 59
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
        estimator: Estimator | None = None,
        n_estimators: int | str = 10,
        *,
        max_samples: float = 1.0,
        max_features: float | str | None = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: RandomState = None,
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

    def _check_target(self, y: ArrayLike, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        target = check_finite_target(y, owner=type(self).__name__).T
        if continuing and target.shape[1] != self._n_targets:
            raise ValueError(
                f"y has {target.shape[1]} targets, but the model was fitted to {self._n_targets};"
                " warm_start=True needs the same targets"
            )
        self._n_targets = target.shape[1]
        self._votes_of = RegressorVotes()
        return (target[:, 0] if target.shape[1] == 1 else target), target

    def _set_oob_predictions(self, record: OutOfBagRecord) -> None:
        self.oob_score_ = record.r2()
        self.oob_prediction_ = self._without_target_axis(record.mean_votes(self._n_targets))

    def _without_target_axis(self, values: np.ndarray) -> np.ndarray:
        """Drop the last axis if there is a single target."""
        return values[..., 0] if values.shape[-1] == 1 else values

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X, as the mean over the base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        return self._without_target_axis(self._mean_votes(X))

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the target of each row of X, as predicted by the first 1, 2, ... base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        for votes in self._staged_mean_votes(X):
            yield self._without_target_axis(votes)

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the prediction of each base estimator.

        Returns
        -------
        array of shape (n_samples, n_estimators_), or (n_samples, n_estimators_, n_targets)
        """
        return self._without_target_axis(self._all_votes(X).transpose(1, 0, 2))

    @reads_fit_snapshot
    def jackknife_standard_errors(self, X: TableLike) -> np.ndarray:
        """Standard error of each prediction, by the jackknife after the bootstrap.

        It estimates how much the prediction would vary over other training samples. For each training row
        i, the prediction is compared with that of the base estimators that did not draw row i. The noise
        due to the finite number of base estimators is subtracted, which may give 0. The estimate needs many
        base estimators, about as many as rows; a warning is given if there are far too few.

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
        return self._without_target_axis(self._jackknife(X))
