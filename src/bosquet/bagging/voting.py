"""Voting: different learners on the same rows, and a weighted mean of what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._parameters import Check, check_parameters, choice, integer
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
    check_sample_weight,
    only_class,
)
from bosquet.bagging._learners import ClassVotes, Predictions, check_learner
from bosquet.bagging._tables import copy_input_tags, table_for
from bosquet.bagging.diversity import check_weights

KINDS: dict[str, Check] = {
    "voting": choice("hard", "soft", "real"),
    "verbose": integer(0),
}


class BaseVoting(Saved, Explained, BaseEstimator):
    """Fitting and asking a list of named learners."""

    estimators: Any
    weights: Any
    n_jobs: Any
    verbose: Any

    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit a clone of every learner on all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas and polars frames reach the learners as frames, anything else as an array.
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Handed on; every learner has to take it.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, KINDS)
        self._check_estimators()
        kept = self._kept()
        self._kept_weights()  # so that wrong ones are told before any work is done
        X = table_for(self, X, [learner for _, learner in kept], reset=True)
        target = self._check_target(y)
        check_same_length(len(target), X.shape[0])
        weight = check_sample_weight(sample_weight, X.shape[0], scale_matters=True)
        for name, learner in kept if weight.size else []:
            if not has_fit_parameter(learner, "sample_weight"):
                raise ValueError(
                    f"the learner {name!r} ({type(learner).__name__}) takes no sample_weight; leave the"
                    " weights or the learner out"
                )
        calls = [(clone(learner), X, target, weight) for _, learner in kept]
        self.estimators_ = in_parallel(
            _fit_learner, calls, n_jobs=self.n_jobs, verbose=self.verbose
        )
        fitted = iter(self.estimators_)
        from sklearn.utils import Bunch

        self.named_estimators_ = Bunch(
            **{
                name: "drop" if _dropped(learner) else next(fitted)
                for name, learner in self.estimators
            }
        )
        return self

    # -------------------------------------------------------------- the learners
    def _check_estimators(self) -> None:
        pairs = _pairs(self.estimators)
        if not pairs:
            raise ValueError(
                f"estimators={self.estimators!r} must be a list of (name, estimator) pairs, at least one"
            )
        names = [name for name, _ in pairs]
        parameters = self.get_params(deep=False)
        for name, times in Counter(names).items():
            if times > 1:
                raise ValueError(f"estimators holds the name {name!r} more than once")
            if "__" in name or name in parameters:
                raise ValueError(
                    f"a learner cannot be named {name!r}: it would clash with parameters of that name"
                )
        for name, learner in self._kept():
            check_learner(learner, name)
        if not self._kept():
            raise ValueError("every learner in estimators is 'drop': at least one has to stay")
        self._check_votes()

    def _check_votes(self) -> None:
        """Whether the learners can vote as they are to."""

    def _kept(self) -> list[tuple[str, Any]]:
        return [
            (name, learner) for name, learner in _pairs(self.estimators) if not _dropped(learner)
        ]

    def _kept_weights(self) -> np.ndarray:
        """Weights of the learners that stay, with sum 1."""
        every = check_weights(self.weights, len(self.estimators))
        kept = np.array([not _dropped(learner) for _, learner in self.estimators])
        if not every[kept].any():
            raise ValueError("weights are zero for every learner that is not dropped")
        return every[kept] / every[kept].sum()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters; with `deep`, the learners by their names and their parameters too."""
        parameters = super().get_params(deep=False)
        for name, learner in _pairs(self.estimators) if deep else []:
            parameters[name] = learner
            if hasattr(learner, "get_params"):
                for key, value in learner.get_params(deep=True).items():
                    parameters[f"{name}__{key}"] = value
        return parameters

    def set_params(self, **params: Any) -> Any:
        """Set parameters; a learner's name replaces it, ``name__key`` sets a parameter of its own."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        names = [name for name, _ in _pairs(self.estimators)]
        replaced = {name: params.pop(name) for name in names if name in params}
        if replaced:
            self.estimators = [
                (name, replaced.get(name, learner)) for name, learner in self.estimators
            ]
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        copy_input_tags(tags, [learner for _, learner in self._kept()])
        return tags

    # ------------------------------------------------------------------- asking
    def _ask(self, X: Any, vote: Callable[[Any, Any], np.ndarray]) -> np.ndarray:
        """Each learner's votes, (learners, rows, columns)."""
        check_is_fitted(self, "estimators_")
        X = table_for(self, X, self.estimators_, reset=False)
        calls = [(learner, X) for learner in self.estimators_]
        return np.stack(in_parallel(vote, calls, n_jobs=self.n_jobs, threads=True))

    def _check_target(self, y: Any) -> np.ndarray:
        raise NotImplementedError


def _pairs(estimators: Any) -> list[tuple[str, Any]]:
    """The (name, estimator) pairs, none if `estimators` holds anything else.

    Parameters may be asked for before `fit` has had a chance to complain.
    """
    if not isinstance(estimators, list | tuple):
        return []
    good = all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str)
        for pair in estimators
    )
    return [(name, learner) for name, learner in estimators] if good else []


def _dropped(learner: Any) -> bool:
    return isinstance(learner, str) and learner == "drop"


def _fit_learner(learner: Any, X: Any, y: np.ndarray, weight: np.ndarray) -> Any:
    return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)


def _real(model: VotingClassifier) -> bool:
    return model.voting == "real"


def _shares(model: VotingClassifier) -> bool:
    return model.voting != "real"


class VotingClassifier(ClassifierMixin, BaseVoting):
    """Different classifiers vote.

    Each learner casts a vote for every class; the votes are added with the learners' weights and
    the class with the largest sum wins.

    Parameters
    ----------
    estimators : list of (name, estimator)
        The learners. "drop" in place of an estimator leaves it out.
    voting : {"hard", "soft", "real"}, default="hard"
        "hard": 1 for the class that the learner predicts, so with `weights` a weighted majority.
        "soft": the learner's probabilities. "real": its ``decision_function``, for two classes the
        sign of Σ w_t h_t(x) with real-valued h_t: a learner that is surer of itself counts more.
    weights : list of floats, default=None
        One for each of `estimators`, not negative; None: all the same.
    n_jobs : int or None, default=None
        Learners fitted at a time, by joblib.
    verbose : int, default=0
        Progress messages of joblib.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    estimators_ : list
        The fitted learners, without those dropped.
    named_estimators_ : Bunch
        The same by name.

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
        estimators: Any,
        *,
        voting: str = "hard",
        weights: Any = None,
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
        for name, learner in self._kept() if needed else []:
            if not hasattr(learner, str(needed)):
                raise ValueError(
                    f"voting={self.voting!r} needs {needed}, which the learner {name!r}"
                    f" ({type(learner).__name__}) does not have; use voting='hard'"
                )

    def _check_target(self, y: Any) -> np.ndarray:
        labels = check_labels(y)
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        if self.voting == "real" and self.classes_.size < 2:
            raise ValueError(
                f"{only_class(self.classes_)}: voting='real' needs at least two classes"
            )
        return labels

    def _mean_votes(self, X: Any) -> np.ndarray:
        votes = self._ask(X, self._vote())
        return weighted_sum(self._kept_weights(), votes)

    def _vote(self) -> Callable[[Any, Any], np.ndarray]:
        check_is_fitted(self, "estimators_")
        if self.voting == "real":
            return _real_votes
        return ClassVotes(self.classes_, soft=self.voting == "soft")

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest sum of votes; of equal ones, the first in `classes_`."""
        largest = self._mean_votes(X).argmax(axis=1)
        return self.classes_[largest]

    @available_if(_shares)
    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Weighted mean of the probabilities; with voting="hard", each class's share of the vote."""
        return self._mean_votes(X)

    @available_if(_real)
    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """Weighted mean of the decision functions: one column a class, one in all for two classes."""
        votes = self._mean_votes(X)
        return votes[:, 1] if votes.shape[1] == 2 else votes

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each learner says.

        Returns
        -------
        array of shape (n_samples, n_learners) of classes with voting="hard"; of shape (n_samples,
        n_learners, n_classes) of probabilities or decisions otherwise
        """
        votes = self._ask(X, self._vote()).transpose(1, 0, 2)
        return self.classes_[votes.argmax(axis=2)] if self.voting == "hard" else votes


def _real_votes(learner: Any, X: Any) -> np.ndarray:
    """Decisions in one column a class; two classes get -h and +h."""
    decision = np.asarray(learner.decision_function(X), dtype=float)
    return np.column_stack([-decision, decision]) if decision.ndim == 1 else decision


class VotingRegressor(RegressorMixin, BaseVoting):
    """The mean of different regressors, weighted if asked for.

    Parameters
    ----------
    estimators : list of (name, estimator)
        The learners. "drop" in place of an estimator leaves it out.
    weights : list of floats, default=None
        One for each of `estimators`, not negative; None: all the same.
    n_jobs : int or None, default=None
        Learners fitted at a time, by joblib.
    verbose : int, default=0
        Progress messages of joblib.

    Attributes
    ----------
    estimators_ : list
        The fitted learners, without those dropped.
    named_estimators_ : Bunch
        The same by name.

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
        estimators: Any,
        *,
        weights: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ):
        self.estimators = estimators
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_target(self, y: Any) -> np.ndarray:
        target = check_finite_target(y).T
        return target[:, 0] if target.shape[1] == 1 else target

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """Weighted mean of the predictions: (n_samples,), or a column for each target."""
        votes = self._ask(X, Predictions())
        mean = weighted_sum(self._kept_weights(), votes)
        return mean[:, 0] if mean.shape[1] == 1 else mean

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each learner says.

        Returns
        -------
        array of shape (n_samples, n_learners), or (n_samples, n_learners, n_targets)
        """
        votes = self._ask(X, Predictions()).transpose(1, 0, 2)
        return votes[:, :, 0] if votes.shape[2] == 1 else votes

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = all(
            tags_of(learner).target_tags.multi_output for _, learner in self._kept()
        )
        return tags
