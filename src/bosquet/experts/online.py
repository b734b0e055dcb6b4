"""Models that learn as rows arrive, weighed as they go: a mixture over scikit-learn estimators."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np

from bosquet._fitted import draft_of, fits_aside, reads_one_fit
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
    learn_classes,
    warn_of_column_vector,
)
from bosquet.experts._learners import NamedLearners, numbers_said, probabilities_said
from bosquet.experts.mixture import Mixture

CHECKS: dict[str, Check] = {
    "warmup": number(0, 1, open_low=True),
    "batch_size": integer(1),
    "refit": boolean(),
}


class BaseOnlineMixture(NamedLearners):
    """The loop: models predict a batch, the mixture is judged on it row by row, models learn it."""

    rule: Any
    loss: Any
    gradient: Any
    warmup: Any
    batch_size: Any
    refit: Any
    random_state: Any
    mixture_: Mixture

    @fits_aside
    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows in their order.

        The first share `warmup` of the rows teaches the models. Then, batch by batch, they predict,
        the mixture learns from how they did, and those with ``partial_fit`` learn the batch.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        X, target = self._begin(X, y, rows=2)
        rows = len(target)
        first = self._first_rows(target, max(1, int(self.warmup * rows)))
        self._teach(rows_of(X, np.arange(first)), target[:first])
        for start in range(first, rows, self.batch_size):
            batch = np.arange(start, min(start + self.batch_size, rows))
            self._play_and_teach(rows_of(X, batch), target[batch])
        if self.refit:
            self._fit_again(X, target)
        return self

    def _begin(self, X: Any, y: Any, *, rows: int) -> tuple[Any, np.ndarray]:
        check_parameters(self, CHECKS)
        pairs = self._checked_pairs()
        X = self._table(X, reset=True, rows=rows)
        target = self._check_target(y, first=True)
        check_same_length(len(target), X.shape[0])
        random = check_random_state(seed_from(self.random_state))
        self.estimators_ = [seeded_clone(learner, random, keep_set=True) for _, learner in pairs]
        self.names_ = [name for name, _ in pairs]
        self.mixture_ = self._new_mixture()
        self.mixture_._model_names = self.names_  # for what is printed and drawn
        return X, target

    def _partial_fit(self, X: Any, y: Any) -> Any:
        if not hasattr(self, "mixture_"):
            X, target = self._begin(X, y, rows=1)
            self._teach(X, target)
            return self
        X = self._table(X, reset=False)
        target = self._check_target(y, first=False)
        check_same_length(len(target), X.shape[0])
        # What was published stays as it is: models learn on copies, and the mixture on a draft.
        self.estimators_ = [_copy_to_go_on(learner) for learner in self.estimators_]
        self.mixture_ = draft_of(self.mixture_)
        self._play_and_teach(X, target)
        return self

    # --------------------------------------------------------------- the learners
    def _teach(self, X: Any, target: np.ndarray) -> None:
        """The first rows that the models see."""
        for learner in self.estimators_:
            self._learn(learner, X, target, anew=not hasattr(learner, "partial_fit"))

    def _play_and_teach(self, X: Any, target: np.ndarray) -> None:
        self.mixture_.partial_fit(self._forecasts(X), target)
        for learner in self.estimators_:
            if hasattr(learner, "partial_fit"):
                self._learn(learner, X, target, anew=False)

    def _fit_again(self, X: Any, target: np.ndarray) -> None:
        for learner in self.estimators_:
            if not hasattr(learner, "partial_fit"):
                self._learn(learner, X, target, anew=True)

    def _forecasts(self, X: Any) -> np.ndarray:
        named = zip(self.names_, self.estimators_, strict=True)
        return np.stack([self._say(learner, X, name) for name, learner in named], axis=1)

    def _present(self, X: Any) -> np.ndarray:
        """What the mixture says of new rows, with the weights as they are."""
        check_is_fitted(self, "mixture_")
        forecasts = self._forecasts(self._table(X, reset=False))
        if not self.mixture_.__sklearn_is_fitted__():  # no row was played: equal weights
            return forecasts.mean(axis=1)
        return self.mixture_.predict(forecasts)

    @property
    @reads_one_fit
    def weights_(self) -> np.ndarray:
        """Weights of the models now."""
        if not hasattr(self, "mixture_"):
            raise AttributeError("the mixture is not fitted yet")
        n = len(self.estimators_)
        played = self.mixture_.__sklearn_is_fitted__()
        return self.mixture_.final_weights_ if played else np.full(n, 1 / n)

    def _first_rows(self, target: np.ndarray, wanted: int) -> int:
        return wanted

    def _new_mixture(self) -> Mixture:
        raise NotImplementedError

    def _check_target(self, y: Any, *, first: bool) -> np.ndarray:
        raise NotImplementedError

    def _learn(self, learner: Any, X: Any, target: np.ndarray, *, anew: bool) -> None:
        raise NotImplementedError

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        raise NotImplementedError


def _copy_to_go_on(learner: Any) -> Any:
    """A model that can go on learning, and leaves the one it was copied from alone."""
    return deepcopy(learner) if hasattr(learner, "partial_fit") else learner


class OnlineMixtureRegressor(RegressorMixin, BaseOnlineMixture):
    """A mixture of regressors that learn online, weighed by how they predicted what came next.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Those with ``partial_fit`` go on learning; the others stay as the first rows taught them.
    rule : str or rule, default="boa"
    loss : {"square", "absolute"} or other losses of `Mixture`, default="square"
    gradient : bool, default=True
    warmup : float in (0, 1], default=0.5
        Share of the rows given to ``fit`` that the models learn from before they are judged. The
        first call of ``partial_fit`` is all warm-up.
    batch_size : int, default=100
        Rows between two updates of the models in ``fit``. The mixture learns after each row.
    refit : bool, default=True
        At the end of ``fit``, fit models without ``partial_fit`` once more, on all rows.
    random_state : int, RandomState instance or None, default=None
        For rules that draw, and for learners whose own random_state is None.

    Attributes
    ----------
    mixture_ : Mixture
        The game so far: its regret, bound, losses.
    weights_ : array of shape (n_learners,)
    estimators_ : list
        The models as they are now.

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
    >>> print(model.weights_.round(2), f"{model.score(X, y):.2f}")
    [0.12 0.88] 0.98
    """

    def __init__(
        self,
        estimators: Any,
        *,
        rule: Any = "boa",
        loss: Any = "square",
        gradient: bool = True,
        warmup: float = 0.5,
        batch_size: int = 100,
        refit: bool = True,
        random_state: Any = None,
    ):
        self.estimators = estimators
        self.rule = rule
        self.loss = loss
        self.gradient = gradient
        self.warmup = warmup
        self.batch_size = batch_size
        self.refit = refit
        self.random_state = random_state

    @fits_aside
    def partial_fit(self, X: Any, y: Any) -> Any:
        """Predict these rows, learn from how that went, then learn the rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)

        Returns
        -------
        self
        """
        return self._partial_fit(X, y)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The mixture of what the models say now."""
        return self._present(X)

    def _new_mixture(self) -> Mixture:
        return Mixture(self.rule, self.loss, gradient=self.gradient, random_state=self.random_state)

    def _check_target(self, y: Any, *, first: bool) -> np.ndarray:
        target = check_finite_target(y)
        if len(target) > 1:
            raise ValueError(f"y has {len(target)} targets; a mixture takes one")
        if np.asarray(y).ndim == 2:
            warn_of_column_vector()
        return target[0]

    def _learn(self, learner: Any, X: Any, target: np.ndarray, *, anew: bool) -> None:
        (learner.fit if anew else learner.partial_fit)(X, target)

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        return numbers_said(learner, X, name)


class OnlineMixtureClassifier(ClassifierMixin, BaseOnlineMixture):
    """A mixture of classifiers that learn online: the probabilities of `OnlineMixtureRegressor`.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Every one needs ``predict_proba``.
    rule : str or rule, default="boa"
    loss : {"log", "square", "absolute", "zero-one"}, default="log"
    gradient, warmup, batch_size, refit, random_state
        As in `OnlineMixtureRegressor`. The warm-up of ``fit`` lasts until every class was seen.

    Attributes
    ----------
    classes_ : array
    mixture_, weights_, estimators_
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
        estimators: Any,
        *,
        rule: Any = "boa",
        loss: Any = "log",
        gradient: bool = True,
        warmup: float = 0.5,
        batch_size: int = 100,
        refit: bool = True,
        random_state: Any = None,
    ):
        self.estimators = estimators
        self.rule = rule
        self.loss = loss
        self.gradient = gradient
        self.warmup = warmup
        self.batch_size = batch_size
        self.refit = refit
        self.random_state = random_state

    @fits_aside
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Predict these rows, learn from how that went, then learn the rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        classes : list of labels, optional
            All classes that may come; needed at the first call unless y has them all.

        Returns
        -------
        self
        """
        if not hasattr(self, "mixture_"):
            self._announced = None if classes is None else np.unique(np.asarray(classes))
        return self._partial_fit(X, y)

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the mixture, (n_samples, n_classes)."""
        return self._present(X)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest probability; of equal ones, the first in `classes_`."""
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

    def _check_target(self, y: Any, *, first: bool) -> np.ndarray:
        labels = check_labels(y)
        if first:
            announced = self.__dict__.pop("_announced", None)
            self.classes_ = learn_classes(labels) if announced is None else announced
        return class_numbers(labels, self.classes_)

    def _first_rows(self, target: np.ndarray, wanted: int) -> int:
        """Until every class was seen, or a model could not name it."""
        seen = np.unique(target, return_index=True)[1]
        return max(wanted, int(seen.max()) + 1)

    def _learn(self, learner: Any, X: Any, target: np.ndarray, *, anew: bool) -> None:
        labels = self.classes_[target]
        if anew:
            learner.fit(X, labels)
        else:
            learner.partial_fit(X, labels, classes=self.classes_)

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        said = probabilities_said(learner, X, self.classes_, name)
        if said.shape[1] == 1:  # one class: the mixture knows at least two
            return np.column_stack([said, np.zeros(len(said))])
        return said
