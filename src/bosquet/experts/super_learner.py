"""Super learners: the convex combination of estimators with the smallest cross-validated loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._fitted import reads_fit_snapshot
from bosquet._parameters import check_parameters, choice
from bosquet._sklearn import (
    ClassifierMixin,
    RegressorMixin,
)
from bosquet._targets import (
    check_finite_target,
    check_labels,
    class_numbers,
    unique_classes,
    warn_of_column_vector,
)
from bosquet.experts._learners import predicted_numbers, predicted_probabilities
from bosquet.experts._stacking import BaseSuperLearner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, NamedEstimators, RandomState, Splitter, TableLike


class SuperLearnerRegressor(RegressorMixin, BaseSuperLearner):
    r"""Cross-validated stacking of regressors with convex weights.

    Every estimator predicts each row from a fit to the other folds. The weights minimise the loss of the
    combination of these predictions,

    .. math:: w = \arg\min_{w \ge 0,\, \sum_k w_k = 1} \sum_i
              \ell\Bigl(\sum_k w_k\, \hat f_k^{(-i)}(x_i),\, y_i\Bigr),

    and then the estimators are fitted to all rows. As the number of rows grows, the loss of the super
    learner converges to that of the best combination. The estimators may be one method with different
    hyper-parameters; the combination then replaces the choice among them. The weights are chosen on the
    cross-validated predictions, so the losses in `cv_table_` are optimistic. For an unbiased estimate use
    ``cross_val_score``, which repeats the choice in every fold.

    Guide: the page "Stacking and online aggregation of experts, with regret bounds" of the documentation

    Parameters
    ----------
    estimators : list of (name, estimator)
        The regressors to combine, with distinct names.
    loss : {"square", "absolute"}, default="square"
        Loss that the weights minimise, and that `cv_table_` reports.
    combination : {"convex", "best"}, default="convex"
        "best" gives all weight to the estimator with the smallest cross-validated loss (the discrete super
        learner).
    cv : int or cross-validation splitter, default=5
        Number of folds of shuffled rows, or a splitter.
    n_jobs : int or None, default=None
        Number of fits that run in parallel by joblib. None: 1, unless set by ``joblib.parallel_config``; -1:
        all processors.
    verbose : int, default=0
        Verbosity of joblib.
    random_state : int, RandomState instance or None, default=None
        Random seed for shuffling the rows, and for estimators whose random_state is None.

    Attributes
    ----------
    weights_ : array of shape (n_estimators,)
        Weight of each estimator in the combination.
    cv_table_ : CVTable
        Cross-validated loss of each estimator, its standard error and its weight.
    cv_predictions_ : array of shape (n_samples, n_estimators)
        Predictions for each row by estimators that were not fitted to it.
    estimators_, named_estimators_
        The estimators fitted to all rows, as a list and as a dict.

    See Also
    --------
    VotingRegressor : A vote with given weights.
    Mixture : Weights that change with time, on a stream.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from bosquet import SuperLearnerRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> estimators = [("ridge", RidgeCV())]
    >>> estimators += [(f"{k} near", KNeighborsRegressor(k)) for k in (5, 20, 80)]
    >>> model = SuperLearnerRegressor(estimators, random_state=0).fit(X, y)
    >>> print(model.cv_table_)
                  cv loss s.e. weight
    ridge            3041  182  0.763
    5 near           3498  229  0.164
    20 near          3269  200 0.0734
    80 near          3522  195      0
    super learner    3011  182

    References
    ----------
    Van der Laan, Polley and Hubbard, Super learner, 2007. Breiman, Stacked regressions, 1996.
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        loss: str = "square",
        combination: str = "convex",
        cv: int | Splitter = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ):
        self.estimators = estimators
        self.loss = loss
        self.combination = combination
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_target(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        check_parameters(self, {"loss": choice("square", "absolute")})
        target = check_finite_target(y, owner=type(self).__name__)
        if len(target) > 1:
            raise ValueError(f"y has {len(target)} targets; SuperLearnerRegressor accepts one")
        if np.asarray(y).ndim == 2:
            warn_of_column_vector()
        return target[0], target[0]

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        return predicted_numbers(learner, X, name)

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the target of each row of X, as the weighted mean over the estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._predict_combined(X)


class SuperLearnerClassifier(ClassifierMixin, BaseSuperLearner):
    """Cross-validated stacking of classifiers: the best convex combination of their probabilities.

    Every estimator predicts the probabilities of each row from a fit to the other folds. The weights
    minimise the loss of the weighted mean of these probabilities, and then the estimators are fitted to all
    rows. The losses in `cv_table_` are optimistic, because the weights are chosen on the same predictions.
    For an unbiased estimate use ``cross_val_score``, which repeats the choice in every fold.

    Guide: the page "Stacking and online aggregation of experts, with regret bounds" of the documentation

    Parameters
    ----------
    estimators : list of (name, estimator)
        The classifiers to combine, with distinct names. Each must have ``predict_proba``.
    loss : {"log", "square"}, default="log"
        Loss that the weights minimise, and that `cv_table_` reports: log loss, or the Brier score (sum of
        squared errors of the probabilities).
    combination : {"convex", "best"}, default="convex"
        "best" gives all weight to the estimator with the smallest cross-validated loss (the discrete super
        learner).
    cv : int or cross-validation splitter, default=5
        Number of folds of shuffled rows, stratified by class, or a splitter.
    n_jobs : int or None, default=None
        Number of fits that run in parallel by joblib. None: 1, unless set by ``joblib.parallel_config``; -1:
        all processors.
    verbose : int, default=0
        Verbosity of joblib.
    random_state : int, RandomState instance or None, default=None
        Random seed for shuffling the rows, and for estimators whose random_state is None.

    Attributes
    ----------
    classes_ : array
        The classes, sorted.
    weights_ : array of shape (n_estimators,)
        Weight of each estimator in the combination.
    cv_table_ : CVTable
        Cross-validated loss of each estimator, its standard error and its weight.
    cv_predictions_ : array of shape (n_samples, n_estimators, n_classes)
        Probabilities for each row by estimators that were not fitted to it.
    estimators_, named_estimators_
        The estimators fitted to all rows, as a list and as a dict.

    See Also
    --------
    VotingClassifier : A vote with given weights.
    Mixture : Weights that change with time, on a stream.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from bosquet import SuperLearnerClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SuperLearnerClassifier(
    ...     [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))],
    ...     random_state=0,
    ... ).fit(X, y)
    >>> print(model.cv_table_)
                  cv loss   s.e. weight
    bayes           0.139 0.0526  0.818
    tree             1.25   0.53  0.182
    super learner   0.124 0.0442

    References
    ----------
    Van der Laan, Polley and Hubbard, Super learner, 2007.
    """

    def __init__(
        self,
        estimators: NamedEstimators,
        *,
        loss: str = "log",
        combination: str = "convex",
        cv: int | Splitter = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: RandomState = None,
    ):
        self.estimators = estimators
        self.loss = loss
        self.combination = combination
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_target(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        check_parameters(self, {"loss": choice("log", "square")})
        for name, learner in self._named_pairs():
            if not hasattr(learner, "predict_proba"):
                raise ValueError(
                    f"estimator {name!r} ({type(learner).__name__}) has no predict_proba, which is needed to"
                    " combine probabilities; use a classifier with predict_proba"
                )
        labels = check_labels(y, owner=type(self).__name__)
        self.classes_ = unique_classes(labels)
        return labels, class_numbers(labels, self.classes_)

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        return predicted_probabilities(learner, X, self.classes_, name)

    @reads_fit_snapshot
    def predict_proba(self, X: TableLike) -> np.ndarray:
        """Predict the probability of each class, as the weighted mean over the estimators.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            The columns are in the order of `classes_`.
        """
        return self._predict_combined(X)

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
