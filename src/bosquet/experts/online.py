"""Online mixtures of scikit-learn estimators that are trained while they predict."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._fitted import publishes_fit_atomically, reads_fit_snapshot, working_copy
from bosquet._parameters import Check, boolean, check_parameters, integer, number
from bosquet._sklearn import (
    ClassifierMixin,
    RegressorMixin,
    check_is_fitted,
    check_random_state,
    rows_of,
    seed_from,
    seeded_clone,
)
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    class_numbers,
    unique_classes,
    warn_of_column_vector,
)
from bosquet.experts._learners import NamedLearners, predicted_numbers, predicted_probabilities
from bosquet.experts.mixture import Mixture

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, NamedEstimators, RandomState, TableLike
    from bosquet.experts._rule import ExpertRule


CHECKS: dict[str, Check] = {
    "warmup": number(0, 1, open_low=True),
    "batch_size": integer(1),
    "refit": boolean(),
}


class BaseOnlineMixture(NamedLearners):
    """Base class: models predict a batch, the weights are updated, then models are trained on it."""

    rule: str | ExpertRule
    loss: Any
    gradient: Any
    warmup: Any
    batch_size: Any
    refit: Any
    random_state: Any
    mixture_: Mixture

    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Train on the rows in their order.

        The models are first fitted to a share `warmup` of the rows. Then, for each batch, they predict, the
        weights of the mixture are updated, and models with ``partial_fit`` are trained on the batch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        X, target = self._begin(X, y, n_rows=2)
        n_rows = len(target)
        first = self._n_warmup_rows(target, max(1, int(self.warmup * n_rows)))
        self._fit_first(rows_of(X, np.arange(first)), target[:first])
        for start in range(first, n_rows, self.batch_size):
            batch = np.arange(start, min(start + self.batch_size, n_rows))
            self._play_and_update(rows_of(X, batch), target[batch])
        if self.refit:
            self._refit(X, target)
        return self

    def _begin(self, X: Any, y: ArrayLike, *, n_rows: int) -> tuple[Any, np.ndarray]:
        check_parameters(self, CHECKS)
        pairs = self._checked_pairs()
        X = self._validate_X(X, reset=True, n_rows=n_rows)
        target = self._check_target(y, first=True)
        check_same_length(len(target), X.shape[0])
        rng = check_random_state(seed_from(self.random_state))
        self.estimators_ = [seeded_clone(learner, rng, keep_set=True) for _, learner in pairs]
        self.names_ = [name for name, _ in pairs]
        self.mixture_ = self._new_mixture()
        self.mixture_._model_names = self.names_  # used by its summary and by plots
        return X, target

    def _partial_fit(self, X: Any, y: ArrayLike) -> Self:
        if not hasattr(self, "mixture_"):
            X, target = self._begin(X, y, n_rows=1)
            self._fit_first(X, target)
            return self
        X = self._validate_X(X, reset=False)
        target = self._check_target(y, first=False)
        check_same_length(len(target), X.shape[0])
        # Published objects are never changed: copies of the models and a draft of the mixture are updated.
        self.estimators_ = [_copy_if_incremental(learner) for learner in self.estimators_]
        self.mixture_ = working_copy(self.mixture_)
        self._play_and_update(X, target)
        return self

    # --------------------------------------------------------------- the learners
    def _fit_first(self, X: TableLike, target: np.ndarray) -> None:
        """Fit the models to their first rows."""
        for learner in self.estimators_:
            self._fit_learner(learner, X, target, from_scratch=not hasattr(learner, "partial_fit"))

    def _play_and_update(self, X: TableLike, target: np.ndarray) -> None:
        self.mixture_.partial_fit(self._predict_forecasts(X), target)
        for learner in self.estimators_:
            if hasattr(learner, "partial_fit"):
                self._fit_learner(learner, X, target, from_scratch=False)

    def _refit(self, X: TableLike, target: np.ndarray) -> None:
        for learner in self.estimators_:
            if not hasattr(learner, "partial_fit"):
                self._fit_learner(learner, X, target, from_scratch=True)

    def _predict_forecasts(self, X: TableLike) -> np.ndarray:
        named = zip(self.names_, self.estimators_, strict=True)
        return np.stack([self._predict_with(learner, X, name) for name, learner in named], axis=1)

    def _predict_mixture(self, X: TableLike) -> np.ndarray:
        """Return the predictions of the mixture for new rows, with the current weights."""
        check_is_fitted(self, "mixture_")
        forecasts = self._predict_forecasts(self._validate_X(X, reset=False))
        if not self.mixture_.__sklearn_is_fitted__():  # only warm-up so far: equal weights
            return forecasts.mean(axis=1)
        return self.mixture_.predict(forecasts)

    @property
    @reads_fit_snapshot
    def final_weights_(self) -> np.ndarray:
        """Current weights of the models."""
        if not hasattr(self, "mixture_"):
            raise AttributeError(
                f"this {type(self).__name__} is not fitted yet; call fit or partial_fit"
            )
        n = len(self.estimators_)
        played = self.mixture_.__sklearn_is_fitted__()
        return self.mixture_.final_weights_ if played else np.full(n, 1 / n)

    def _n_warmup_rows(self, target: np.ndarray, requested: int) -> int:
        return requested

    def _new_mixture(self) -> Mixture:
        raise NotImplementedError

    def _check_target(self, y: ArrayLike, *, first: bool) -> np.ndarray:
        raise NotImplementedError

    def _fit_learner(
        self, learner: Estimator, X: TableLike, target: np.ndarray, *, from_scratch: bool
    ) -> None:
        raise NotImplementedError

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        raise NotImplementedError


def _copy_if_incremental(learner: Estimator) -> Any:
    """Return a copy of a model that has partial_fit, and any other model itself."""
    return deepcopy(learner) if hasattr(learner, "partial_fit") else learner


class OnlineMixtureRegressor(RegressorMixin, BaseOnlineMixture):
    """Online mixture of regressors, weighted by the loss of their predictions on the following rows.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Models with ``partial_fit`` are updated with every batch; the others are fitted to the warm-up rows
        only, and again at the end with `refit`.
    rule : str or rule, default="boa"
        Rule that updates the weights, as in `Mixture`.
    loss : {"square", "absolute"} or other losses of `Mixture`, default="square"
        Loss by which the models are weighted.
    gradient : bool, default=True
        Whether the rule receives linearised losses, as in `Mixture`.
    warmup : float in (0, 1], default=0.5
        Share of the rows of ``fit`` that the models are fitted to before the mixture starts. All rows of
        the first call of ``partial_fit`` are warm-up.
    batch_size : int, default=100
        Number of rows between two updates of the models in ``fit``. The weights change after each row.
    refit : bool, default=True
        Whether models without ``partial_fit`` are fitted again to all rows at the end of ``fit``.
    random_state : int, RandomState instance or None, default=None
        Random seed for rules that draw experts, and for learners whose random_state is None.

    Attributes
    ----------
    mixture_ : Mixture
        The mixture, with its regret, bound and losses.
    final_weights_ : array of shape (n_learners,)
        Current weight of each model.
    estimators_ : list
        The current models.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from bosquet.experts import OnlineMixtureRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X[:, 0] + np.sign(X[:, 1]) + rng.normal(scale=0.1, size=1000)
    >>> model = OnlineMixtureRegressor(
    ...     [("line", SGDRegressor(random_state=0)), ("tree", DecisionTreeRegressor(max_depth=4))]
    ... ).fit(X, y)
    >>> print(model.final_weights_.round(2), f"{model.score(X, y):.2f}")
    [0.12 0.88] 0.98
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        rule: str | ExpertRule = "boa",
        loss: Any = "square",
        gradient: bool = True,
        warmup: float = 0.5,
        batch_size: int = 100,
        refit: bool = True,
        random_state: RandomState = None,
    ):
        self.estimators = estimators
        self.rule = rule
        self.loss = loss
        self.gradient = gradient
        self.warmup = warmup
        self.batch_size = batch_size
        self.refit = refit
        self.random_state = random_state

    @publishes_fit_atomically
    def partial_fit(self, X: TableLike, y: ArrayLike) -> Self:
        """Predict the rows, update the weights with the losses, then train the models on the rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X, as the weighted mean over the current models.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._predict_mixture(X)

    def _new_mixture(self) -> Mixture:
        return Mixture(self.rule, self.loss, gradient=self.gradient, random_state=self.random_state)

    def _check_target(self, y: ArrayLike, *, first: bool) -> np.ndarray:
        target = check_finite_target(y, owner=type(self).__name__)
        if len(target) > 1:
            raise ValueError(f"y has {len(target)} targets; {type(self).__name__} accepts one")
        if np.asarray(y).ndim == 2:
            warn_of_column_vector()
        return target[0]

    def _fit_learner(
        self, learner: Any, X: TableLike, target: np.ndarray, *, from_scratch: bool
    ) -> None:
        (learner.fit if from_scratch else learner.partial_fit)(X, target)

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        return predicted_numbers(learner, X, name)


class OnlineMixtureClassifier(ClassifierMixin, BaseOnlineMixture):
    """Online mixture of classifiers: as `OnlineMixtureRegressor`, on probabilities.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Every estimator must have ``predict_proba``.
    rule : str or rule, default="boa"
        Rule that updates the weights, as in `Mixture`.
    loss : {"log", "square", "absolute", "zero-one"}, default="log"
        Loss by which the models are weighted.
    gradient : bool, default=True
        Whether the rule receives linearised losses, as in `Mixture`.
    warmup : float in (0, 1], default=0.5
        Share of the rows of ``fit`` that the models are fitted to before the mixture starts; the warm-up
        lasts until every class has occurred. All rows of the first call of ``partial_fit`` are warm-up.
    batch_size : int, default=100
        Number of rows between two updates of the models in ``fit``. The weights change after each row.
    refit : bool, default=True
        Whether models without ``partial_fit`` are fitted again to all rows at the end of ``fit``.
    random_state : int, RandomState instance or None, default=None
        Random seed for rules that draw experts, and for learners whose random_state is None.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    mixture_, final_weights_, estimators_
        As in `OnlineMixtureRegressor`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bosquet.experts import OnlineMixtureClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineMixtureClassifier(
    ...     [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=2, random_state=0))]
    ... ).fit(X, y)
    >>> print(f"{model.score(X, y):.2f}")
    0.94
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        rule: str | ExpertRule = "boa",
        loss: Any = "log",
        gradient: bool = True,
        warmup: float = 0.5,
        batch_size: int = 100,
        refit: bool = True,
        random_state: RandomState = None,
    ):
        self.estimators = estimators
        self.rule = rule
        self.loss = loss
        self.gradient = gradient
        self.warmup = warmup
        self.batch_size = batch_size
        self.refit = refit
        self.random_state = random_state

    @publishes_fit_atomically
    def partial_fit(self, X: TableLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Predict the rows, update the weights with the losses, then train the models on the rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : list of labels, optional
            All classes that may occur; required at the first call unless y contains them all.

        Returns
        -------
        self
        """
        if not hasattr(self, "mixture_"):
            self._declared_classes = None if classes is None else np.unique(np.asarray(classes))
        return self._partial_fit(X, y)

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._predict_mixture(X)

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the most probable class.

        Ties go to the first class in `classes_`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]

    def _new_mixture(self) -> Mixture:
        return Mixture(
            self.rule,
            self.loss,
            gradient=self.gradient,
            classes=max(len(self.classes_), 2),
            random_state=self.random_state,
        )

    def _check_target(self, y: ArrayLike, *, first: bool) -> np.ndarray:
        labels = check_labels(y, owner=type(self).__name__)
        if first:
            declared = self.__dict__.pop("_declared_classes", None)
            self.classes_ = unique_classes(labels) if declared is None else declared
        return class_numbers(labels, self.classes_)

    def _n_warmup_rows(self, target: np.ndarray, requested: int) -> int:
        """Return enough rows to contain every class: models predict only classes of their first rows."""
        first_rows = np.unique(target, return_index=True)[1]
        return max(requested, int(first_rows.max()) + 1)

    def _fit_learner(
        self, learner: Any, X: TableLike, target: np.ndarray, *, from_scratch: bool
    ) -> None:
        labels = self.classes_[target]
        if from_scratch:
            learner.fit(X, labels)
        else:
            learner.partial_fit(X, labels, classes=self.classes_)

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        probabilities = predicted_probabilities(learner, X, self.classes_, name)
        if probabilities.shape[1] == 1:  # a mixture has at least two classes
            return np.column_stack([probabilities, np.zeros(len(probabilities))])
        return probabilities
