"""Voting ensembles: different estimators fitted to the same rows, with a weighted mean of their votes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils import Bunch

from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import Check, check_estimator, check_parameters, choice, integer
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    RegressorMixin,
    available_if,
    check_classification_targets,
    check_is_fitted,
    clone,
    has_fit_parameter,
    in_parallel,
    tags_of,
)
from bosquet._sums import weighted_sum
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    single_class_message,
)
from bosquet._weights import check_sample_weight
from bosquet.bagging._learners import ClassifierVotes, RegressorVotes
from bosquet.bagging._tables import copy_input_tags, validate_table
from bosquet.bagging.diversity import check_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, NamedEstimators, TableLike


CHECKS: dict[str, Check] = {
    "voting": choice("hard", "soft", "real"),
    "verbose": integer(0),
}


class BaseVoting(SaveMixin, ExplainMixin, BaseEstimator):
    """Fits and combines a list of named base estimators."""

    estimators: NamedEstimators
    weights: ArrayLike | None
    n_jobs: int | None
    verbose: int

    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit a clone of each base estimator to all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas and polars frames are passed to the base estimators as frames, other tables as arrays.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Passed to the base estimators; each of them must accept it.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        check_parameters(self, CHECKS)
        self._check_estimators()
        named_learners = self._used_learners()
        self._used_weights()  # raises for invalid weights before anything is fitted
        X = validate_table(self, X, [learner for _, learner in named_learners], reset=True)
        target = self._check_target(y)
        check_same_length(len(target), X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0], scale_matters=True)
        for name, learner in named_learners if weight.size else []:
            if not has_fit_parameter(learner, "sample_weight"):
                raise ValueError(
                    f"estimator {name!r}: {type(learner).__name__}.fit has no parameter sample_weight; remove"
                    " this estimator or do not pass sample_weight"
                )
        calls = [(clone(learner), X, target, weight) for _, learner in named_learners]
        self.estimators_ = in_parallel(
            _fit_learner, calls, n_jobs=self.n_jobs, verbose=self.verbose
        )
        fitted = iter(self.estimators_)

        self.named_estimators_ = Bunch(
            **{
                name: "drop" if _is_dropped(learner) else next(fitted)
                for name, learner in self.estimators
            }
        )
        return self

    # -------------------------------------------------------------- the learners
    def _check_estimators(self) -> None:
        pairs = _check_pairs(self.estimators)
        if not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} is not valid: estimators must be a list of (name, estimator)"
                " pairs with at least one pair"
            )
        names = [name for name, _ in pairs]
        parameters = self.get_params(deep=False)
        for name, times in Counter(names).items():
            if times > 1:
                raise ValueError(
                    f"estimators has the name {name!r} {times} times; names must be unique"
                )
            if "__" in name or name in parameters:
                raise ValueError(
                    f"estimators has the name {name!r}, which conflicts with a parameter; use a name that is"
                    " not a constructor argument and does not contain '__'"
                )
        for name, learner in self._used_learners():
            check_estimator(learner, "estimators", name=name)
        if not self._used_learners():
            raise ValueError("all estimators are 'drop'; at least one estimator is required")
        self._check_votes()

    def _check_votes(self) -> None:
        """Raise a ValueError if a learner lacks the method that `voting` needs."""

    def _used_learners(self) -> list[tuple[str, Estimator]]:
        """Return the (name, estimator) pairs that are not dropped."""
        return [
            (name, learner)
            for name, learner in _check_pairs(self.estimators)
            if not _is_dropped(learner)
        ]

    def _used_weights(self) -> np.ndarray:
        """Return the weights of the learners that are not dropped, with sum 1."""
        weights = check_weights(self.weights, len(self.estimators))
        is_used = np.array([not _is_dropped(learner) for _, learner in self.estimators])
        if not weights[is_used].any():
            raise ValueError(
                "weights are zero for all estimators that are not dropped; at least one must be > 0"
            )
        return weights[is_used] / weights[is_used].sum()

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters; with `deep`, also the base estimators by name and their parameters."""
        parameters = super().get_params(deep=False)
        for name, learner in _check_pairs(self.estimators) if deep else []:
            parameters[name] = learner
            if hasattr(learner, "get_params"):
                for key, value in learner.get_params(deep=True).items():
                    parameters[f"{name}__{key}"] = value
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``name=`` replaces a base estimator, ``name__key=`` sets one of its parameters."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in _check_pairs(self.estimators)]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [
                (name, replaced.get(name, learner)) for name, learner in self.estimators
            ]
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, [learner for _, learner in self._used_learners()])
        return tags

    # --------------------------------------------------------------- predicting
    def _learner_votes(
        self, X: TableLike, votes_of: Callable[[Estimator, TableLike], np.ndarray]
    ) -> np.ndarray:
        """Return the votes of each learner, shape (learners, rows, columns)."""
        check_is_fitted(self, "estimators_")
        X = validate_table(self, X, self.estimators_, reset=False)
        calls = [(learner, X) for learner in self.estimators_]
        return np.stack(in_parallel(votes_of, calls, n_jobs=self.n_jobs, threads=True))

    def _check_target(self, y: ArrayLike) -> np.ndarray:
        raise NotImplementedError


def _check_pairs(estimators: NamedEstimators) -> list[tuple[str, Estimator]]:
    """Return the (name, estimator) pairs; an empty list if `estimators` is not valid.

    `get_params` must work before `fit` validates the parameters.
    """
    if not isinstance(estimators, list | tuple):
        return []
    valid = all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in estimators
    )
    return [(name, learner) for name, learner in estimators] if valid else []


def _is_dropped(learner: Estimator) -> bool:
    return isinstance(learner, str) and learner == "drop"


def _fit_learner(learner: Estimator, X: TableLike, y: np.ndarray, weight: np.ndarray) -> Estimator:
    return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)


def _has_decision_function(model: VotingClassifier) -> bool:
    return model.voting == "real"


def _has_predict_proba(model: VotingClassifier) -> bool:
    return model.voting != "real"


class VotingClassifier(ClassifierMixin, BaseVoting):
    """Voting ensemble of different classifiers.

    Each base estimator gives a vote for each class. The prediction is the class with the largest weighted
    sum of votes.

    Guide: the page "Bagging and voting" of the documentation

    Parameters
    ----------
    estimators : list of (name, estimator)
        The base estimators. "drop" instead of an estimator excludes it from the ensemble.
    voting : {"hard", "soft", "real"}, default="hard"
        What a vote is. "hard": 1 for the predicted class, which gives a majority vote (weighted by
        `weights`). "soft": the probabilities of the base estimator. "real": its ``decision_function``; for
        two classes the ensemble predicts the sign of Σ w_t h_t(x) with real-valued h_t, so that base
        estimators with larger confidence count more.
    weights : list of floats, default=None
        Non-negative weight of each of `estimators`; None: equal weights.
    n_jobs : int or None, default=None
        Number of base estimators fitted in parallel by joblib. None: 1, unless set by
        ``joblib.parallel_config``; -1: all processors.
    verbose : int, default=0
        Verbosity of joblib's progress messages.

    Attributes
    ----------
    classes_ : array
        The class labels, sorted.
    estimators_ : list
        The fitted base estimators that are not dropped.
    named_estimators_ : Bunch
        The fitted base estimators by name.

    See Also
    --------
    SuperLearnerClassifier : Stacking: the weights are chosen by cross-validation.
    BaggingClassifier : One classifier on many samples of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bosquet import VotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = VotingClassifier(
    ...     [
    ...         ("line", LogisticRegression(max_iter=1000)),
    ...         ("bayes", GaussianNB()),
    ...         ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ...     ],
    ...     weights=[3, 1, 1],
    ... ).fit(X, y)
    >>> model.votes(X[[0, 52, 133]])
    array([[0, 0, 0],
           [1, 2, 1],
           [2, 1, 1]])
    >>> model.predict(X[[0, 52, 133]])
    array([0, 1, 2])
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        voting: str = "hard",
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_votes(self) -> None:
        needed = {"soft": "predict_proba", "real": "decision_function"}.get(self.voting)
        for name, learner in self._used_learners() if needed else []:
            if not hasattr(learner, str(needed)):
                raise ValueError(
                    f"voting={self.voting!r} needs {needed}, but estimator {name!r}"
                    f" ({type(learner).__name__}) does not have it; use voting='hard'"
                )

    def _check_target(self, y: ArrayLike) -> np.ndarray:
        labels = check_labels(y, owner=type(self).__name__)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if self.voting == "real" and self.classes_.size < 2:
            raise ValueError(
                f"{single_class_message(self.classes_)}: voting='real' needs at least two classes; use"
                " voting='soft' or 'hard'"
            )
        return labels

    def _mean_votes(self, X: TableLike) -> np.ndarray:
        votes = self._learner_votes(X, self._vote_function())
        return weighted_sum(self._used_weights(), votes)

    def _vote_function(self) -> Callable[[Estimator, TableLike], np.ndarray]:
        check_is_fitted(self, "estimators_")
        if self.voting == "real":
            return _real_votes
        return ClassifierVotes(self.classes_, soft=self.voting == "soft")

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X.

        This is the class with the largest sum of votes. Ties go to the first class in `classes_`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        largest = self._mean_votes(X).argmax(axis=1)
        return self.classes_[largest]

    @available_if(_has_predict_proba)
    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        This is the weighted mean over the base estimators; with voting="hard", the fraction of votes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._mean_votes(X)

    @available_if(_has_decision_function)
    @reads_fit_snapshot
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Compute the weighted mean of the decision functions of the base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        votes = self._mean_votes(X)
        return votes[:, 1] if votes.shape[1] == 2 else votes

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the vote of each base estimator.

        Returns
        -------
        array of shape (n_samples, n_estimators) or (n_samples, n_estimators, n_classes)
            With voting="hard" the predicted classes; otherwise probabilities or decision values of each
            class.
        """
        votes = self._learner_votes(X, self._vote_function()).transpose(1, 0, 2)
        return self.classes_[votes.argmax(axis=2)] if self.voting == "hard" else votes


def _real_votes(learner: Any, X: TableLike) -> np.ndarray:
    """Return decision values with one column per class; two classes get the columns -h and +h."""
    decision = np.asarray(learner.decision_function(X), dtype=float)
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


class VotingRegressor(RegressorMixin, BaseVoting):
    """Voting ensemble of different regressors: the (weighted) mean of their predictions.

    Guide: the page "Bagging and voting" of the documentation

    Parameters
    ----------
    estimators : list of (name, estimator)
        The base estimators. "drop" instead of an estimator excludes it from the ensemble.
    weights : list of floats, default=None
        Non-negative weight of each of `estimators`; None: equal weights.
    n_jobs : int or None, default=None
        Number of base estimators fitted in parallel by joblib. None: 1, unless set by
        ``joblib.parallel_config``; -1: all processors.
    verbose : int, default=0
        Verbosity of joblib's progress messages.

    Attributes
    ----------
    estimators_ : list
        The fitted base estimators that are not dropped.
    named_estimators_ : Bunch
        The fitted base estimators by name.

    See Also
    --------
    SuperLearnerRegressor : Stacking: the weights are chosen by cross-validation.
    BaggingRegressor : One regressor on many samples of the rows.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from bosquet import VotingRegressor
    >>> from bosquet.bagging import ambiguity
    >>> X, y = [[0], [1], [2], [3]], [0, 1, 4, 9]
    >>> model = VotingRegressor(
    ...     [("line", LinearRegression()), ("near", KNeighborsRegressor(n_neighbors=1))]
    ... ).fit(X, y)
    >>> model.votes(X[:2]).round(2) + 0.0
    array([[-1.,  0.],
           [ 2.,  1.]])
    >>> model.predict(X[:2]).round(2)
    array([-0.5,  1.5])
    >>> parts = ambiguity(model.votes(X), y)
    >>> print(f"{parts.error_of_mean:.2f} = {parts.mean_error:.2f} - {parts.ambiguity:.2f}")
    0.25 = 0.50 - 0.25
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_target(self, y: ArrayLike) -> np.ndarray:
        target = check_finite_target(y, owner=type(self).__name__).T
        return target[:, 0] if target.shape[1] == 1 else target

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X, as the weighted mean over the base estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_targets)
        """
        votes = self._learner_votes(X, RegressorVotes())
        mean = weighted_sum(self._used_weights(), votes)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the prediction of each base estimator.

        Returns
        -------
        array of shape (n_samples, n_estimators), or (n_samples, n_estimators, n_targets)
        """
        votes = self._learner_votes(X, RegressorVotes()).transpose(1, 0, 2)
        return votes[:, :, 0] if votes.shape[2] == 1 else votes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = all(
            tags_of(learner).target_tags.multi_output for _, learner in self._used_learners()
        )
        return tags
