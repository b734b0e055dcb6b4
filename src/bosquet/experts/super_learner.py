"""The super learner: the convex combination of learners that is best in cross-validation."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet._fitted import Saved, unchanged_on_failure
from bosquet._parameters import Check, check_parameters, choice, integer
from bosquet._sklearn import (
    ClassifierMixin,
    RegressorMixin,
    check_is_fitted,
    check_random_state,
    clone,
    has_fit_parameter,
    in_parallel,
    rows_of,
)
from bosquet._targets import (
    check_finite_target,
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
    learn_classes,
    warn_of_column_vector,
)
from bosquet.experts._learners import NamedLearners, numbers_said, probabilities_said
from bosquet.experts._summary import columns_of_text, digits
from bosquet.experts.losses import loss_matrix
from bosquet.experts.oracles import find, read_problem

CHECKS: dict[str, Check] = {
    "combination": choice("convex", "best"),
    "verbose": integer(0),
}


class CVTable:
    """Cross-validated loss of each learner and its weight; ``print`` shows it.

    Attributes
    ----------
    names : list of str
        The learners, then "super learner": the combination on the predictions it was chosen on,
        which flatters it a little.
    loss, standard_error : arrays
        Mean loss over the rows, and its standard error.
    weights : array
        NaN for the super learner itself.
    """

    def __init__(
        self, names: list[str], loss: np.ndarray, standard_error: np.ndarray, weights: np.ndarray
    ):
        self.names = [*names, "super learner"]
        self.loss, self.standard_error = loss, standard_error
        self.weights = np.append(weights, np.nan)

    @classmethod
    def of_rows(
        cls, names: list[str], losses: np.ndarray, weights: np.ndarray, share: np.ndarray
    ) -> CVTable:
        """From the losses of every row, a column a learner and one for the super learner.

        `share` is that of each row; the standard error of Σ s_i ℓ_i is the root of Σ s_i² (ℓ_i - mean)².
        """
        mean = share @ losses
        n = len(losses)
        error = np.sqrt(share**2 @ (losses - mean) ** 2 * (n / max(n - 1, 1)))
        return cls(names, mean, error, weights)

    def __str__(self) -> str:
        rows = [["", "cv loss", "s.e.", "weight"]]
        for row in zip(self.names, self.loss, self.standard_error, self.weights, strict=True):
            rows.append([row[0], *("" if np.isnan(v) else digits(v) for v in row[1:])])
        return "\n".join(columns_of_text(rows))

    __repr__ = __str__


class BaseSuperLearner(Saved, NamedLearners):
    """Folds, predictions on rows not seen, weights, and learners fitted on all rows."""

    loss: Any
    combination: Any
    cv: Any
    n_jobs: Any
    verbose: Any
    random_state: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Choose the weights in cross-validation, then fit every learner on all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            For every learner, and for the loss that the combination is chosen by; rows of weight 0 are
            left out.
        groups : array of shape (n_samples,), optional
            For a `cv` that keeps groups together, such as GroupKFold.

        Returns
        -------
        self
        """
        with unchanged_on_failure(self):
            return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        check_parameters(self, CHECKS)
        pairs = self._checked_pairs()
        X = self._table(X, reset=True, rows=2)
        given, target = self._check_target(y)
        check_same_length(len(target), X.shape[0])
        weight = check_sample_weight(sample_weight, len(target))
        _check_weights_are_taken(pairs, weight)
        if (
            weight.size and not weight.all() and isinstance(self.cv, int)
        ):  # no row to be put in a fold
            kept = np.flatnonzero(weight)
            X, weight = rows_of(X, kept), weight[kept]
            groups = None if groups is None else np.asarray(groups)[kept]
            given, target = self._check_target(given[kept])
        folds = self._folds(target, groups)
        calls = [
            (clone(learner), name, X, given, weight, *fold, self)
            for fold in folds
            for name, learner in pairs
        ]
        said = in_parallel(_fit_and_say, calls, n_jobs=self.n_jobs, verbose=self.verbose)
        self.cv_predictions_ = _gather(said, folds, len(pairs), len(target))
        self._weigh([name for name, _ in pairs], target, weight)
        fits = [(clone(learner), name, X, given, weight) for name, learner in pairs]
        self.estimators_ = in_parallel(_fit, fits, n_jobs=self.n_jobs, verbose=self.verbose)
        self.named_estimators_ = dict(zip((n for n, _ in pairs), self.estimators_, strict=True))
        return self

    def _folds(self, target: np.ndarray, groups: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        """(rows to learn from, rows to predict), every row predicted once."""
        rows = len(target)
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            if self.cv < 2:
                raise ValueError(f"cv={self.cv} is out of range: there must be at least 2 folds")
            number = self._fold_numbers(target, min(int(self.cv), rows))
            folds = [
                (np.flatnonzero(number != k), np.flatnonzero(number == k))
                for k in np.unique(number)
            ]
        else:
            from sklearn.model_selection import check_cv

            splitter = check_cv(self.cv, target, classifier=hasattr(self, "classes_"))
            folds = list(splitter.split(np.zeros((rows, 1)), target, groups))
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=rows)
        if (times != 1).any():
            raise ValueError("cv must predict every row exactly once, as k-fold splitters do")
        return folds

    def _fold_numbers(self, target: np.ndarray, folds: int) -> np.ndarray:
        """Folds of nearly equal size, the classes spread over them."""
        order = check_random_state(self.random_state).permutation(len(target))
        if hasattr(self, "classes_"):
            order = order[np.argsort(target[order], kind="stable")]
        number = np.empty(len(target), dtype=np.intp)
        number[order] = np.arange(len(target)) % folds
        return number

    def _weigh(self, names: list[str], target: np.ndarray, weight: np.ndarray) -> None:
        classes = len(self.classes_) if hasattr(self, "classes_") else None
        said = self.cv_predictions_
        losses = loss_matrix(said, target.astype(float), self.loss, 0.5)
        share = weight / weight.sum() if weight.size else np.full(len(target), 1 / len(target))
        best = np.eye(len(names))[(share @ losses).argmin()]
        if self.combination == "best" or classes == 1:
            self.weights_ = best
        else:
            problem = read_problem(said, target, self.loss, 0.5, classes)
            if weight.size:
                problem = replace(problem, row_weight=weight)
            self.weights_ = find(problem, "convex").weights
        combined = np.tensordot(said, self.weights_, axes=(1, 0))[:, None]
        own = loss_matrix(combined, target.astype(float), self.loss, 0.5)
        self.cv_table_ = CVTable.of_rows(names, np.hstack([losses, own]), self.weights_, share)

    def votes(self, X: Any) -> np.ndarray:
        """What each learner says: (n_samples, n_learners), or with a column a class."""
        check_is_fitted(self, "estimators_")
        X = self._table(X, reset=False)
        named = self.named_estimators_.items()
        return np.stack([self._say(learner, X, name) for name, learner in named], axis=1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that ``bosquet.load`` reads; every learner has to be Bosquet's own.

        The predictions of the folds are not written.
        """
        super().save(path)

    def _combined(self, X: Any) -> np.ndarray:
        return np.tensordot(self.votes(X), self.weights_, axes=(1, 0))

    def _check_target(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        """y as learners are given it, and as losses are computed of."""
        raise NotImplementedError

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        raise NotImplementedError


def _check_weights_are_taken(pairs: list[tuple[str, Any]], weight: np.ndarray) -> None:
    for name, learner in pairs if weight.size else []:
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(
                f"the learner {name!r} ({type(learner).__name__}) takes no sample_weight; leave the weights"
                " or the learner out"
            )


def _fit(learner: Any, name: str, X: Any, y: np.ndarray, weight: np.ndarray) -> Any:
    """The learner, fitted; an error of its own is told with its name."""
    try:
        return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)
    except Exception as error:
        error.add_note(f"(the learner {name!r}, {type(learner).__name__}, on {len(y)} rows)")
        raise


def _fit_and_say(
    learner: Any,
    name: str,
    X: Any,
    y: np.ndarray,
    weight: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    owner: Any,
) -> np.ndarray:
    _fit(learner, name, rows_of(X, train), y[train], weight[train] if weight.size else weight)
    return owner._say(learner, rows_of(X, test), name)


def _gather(said: list[np.ndarray], folds: Any, n_learners: int, n_rows: int) -> np.ndarray:
    """(rows, learners) or (rows, learners, classes) from the answers, fold by fold."""
    result = np.empty((n_rows, n_learners, *said[0].shape[1:]))
    for f, (_, test) in enumerate(folds):
        for k in range(n_learners):
            result[test, k] = said[f * n_learners + k]
    return result


class SuperLearnerRegressor(RegressorMixin, BaseSuperLearner):
    r"""Cross-validated stacking of regressors with weights that are shares.

    Every learner predicts each row from a fit on the other folds. The weights minimise the loss of
    the combination of these predictions,

    .. math:: w = \arg\min_{w \ge 0,\, \sum_k w_k = 1} \sum_i
              \ell\Bigl(\sum_k w_k\, \hat f_k^{(-i)}(x_i),\, y_i\Bigr),

    and the learners are fitted once more, on all rows. As rows grow, it does as well as the best
    combination that an oracle would choose. The learners may be one method with different
    hyper-parameters: the combination takes the place of choosing among them. What was said of the
    rows was then used to choose, so that `cv_table_` flatters the winner; judge the super learner by
    ``cross_val_score``, which repeats the choice in every fold.

    Parameters
    ----------
    estimators : list of (name, estimator)
    loss : {"square", "absolute"}, default="square"
    combination : {"convex", "best"}, default="convex"
        "best" gives all weight to the learner with the least cross-validated loss (the discrete super
        learner).
    cv : int or cross-validation splitter, default=5
        An int shuffles the rows.
    n_jobs : int or None, default=None
        Fits at a time, by joblib.
    verbose : int, default=0
    random_state : int, RandomState instance or None, default=None
        For the shuffle.

    Attributes
    ----------
    weights_ : array of shape (n_learners,)
    cv_table_ : CVTable
        Cross-validated loss of each learner, its standard error, its weight.
    cv_predictions_ : array of shape (n_samples, n_learners)
        What was said of each row by fits that did not see it.
    estimators_, named_estimators_
        Fitted on all rows.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import RidgeCV
    >>> from sklearn.neighbors import KNeighborsRegressor
    >>> from bosquet import SuperLearnerRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> learners = [("ridge", RidgeCV())]
    >>> learners += [(f"{k} near", KNeighborsRegressor(k)) for k in (5, 20, 80)]
    >>> model = SuperLearnerRegressor(learners, random_state=0).fit(X, y)
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
        estimators: Any,
        *,
        loss: str = "square",
        combination: str = "convex",
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimators = estimators
        self.loss = loss
        self.combination = combination
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_target(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        check_parameters(self, {"loss": choice("square", "absolute")})
        target = check_finite_target(y)
        if len(target) > 1:
            raise ValueError(f"y has {len(target)} targets; a super learner takes one")
        if np.asarray(y).ndim == 2:
            warn_of_column_vector()
        return target[0], target[0]

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        return numbers_said(learner, X, name)

    def predict(self, X: Any) -> np.ndarray:
        """The weighted mean of the learners."""
        return self._combined(X)


class SuperLearnerClassifier(ClassifierMixin, BaseSuperLearner):
    """Cross-validated stacking of classifiers: the best mixture of their probabilities.

    As `SuperLearnerRegressor`, on probabilities.

    Parameters
    ----------
    estimators : list of (name, estimator)
        Every one needs ``predict_proba``.
    loss : {"log", "square"}, default="log"
        The logarithm of the probability of the true class, or Brier's squared error.
    combination, cv, n_jobs, verbose, random_state
        As in `SuperLearnerRegressor`; the folds of an int cv share out the classes evenly.

    Attributes
    ----------
    classes_ : array
    weights_, cv_table_, cv_predictions_, estimators_, named_estimators_
        As in `SuperLearnerRegressor`; predictions have a column a class.

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
        estimators: Any,
        *,
        loss: str = "log",
        combination: str = "convex",
        cv: Any = 5,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
    ):
        self.estimators = estimators
        self.loss = loss
        self.combination = combination
        self.cv = cv
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_target(self, y: Any) -> tuple[np.ndarray, np.ndarray]:
        check_parameters(self, {"loss": choice("log", "square")})
        for name, learner in self._pairs():
            if not hasattr(learner, "predict_proba"):
                raise ValueError(
                    f"the learner {name!r} ({type(learner).__name__}) has no predict_proba, which a"
                    " mixture of probabilities needs"
                )
        labels = check_labels(y)
        self.classes_ = learn_classes(labels)
        return labels, class_numbers(labels, self.classes_)

    def _say(self, learner: Any, X: Any, name: str) -> np.ndarray:
        return probabilities_said(learner, X, self.classes_, name)

    def predict_proba(self, X: Any) -> np.ndarray:
        """The weighted mean of the learners' probabilities, (n_samples, n_classes)."""
        return self._combined(X)

    def predict(self, X: Any) -> np.ndarray:
        """The class with the largest probability; of equal ones, the first in `classes_`."""
        largest = self.predict_proba(X).argmax(axis=1)
        return self.classes_[largest]
