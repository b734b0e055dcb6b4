"""Cross-fitting learners and weighing them: what the super learners of classes and numbers share."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet._fitted import Saved, fits_aside, reads_one_fit
from bosquet._parameters import Check, check_parameters, choice, integer
from bosquet._sklearn import (
    check_is_fitted,
    check_random_state,
    has_fit_parameter,
    in_parallel,
    rows_of,
    seed_from,
    seeded_clone,
)
from bosquet._sums import weighted_sum
from bosquet._targets import (
    check_same_length,
    check_sample_weight,
)
from bosquet._text_table import text_table
from bosquet.experts._learners import NamedLearners
from bosquet.experts._summary import digits
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
        return "\n".join(text_table(rows, gap=" "))

    __repr__ = __str__


class BaseSuperLearner(Saved, NamedLearners):
    """Folds, predictions on rows not seen, weights, and learners fitted on all rows."""

    loss: Any
    combination: Any
    cv: Any
    n_jobs: Any
    verbose: Any
    random_state: Any

    @fits_aside
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
        return self._fit(X, y, sample_weight, groups)

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Any:
        check_parameters(self, CHECKS)
        pairs = self._checked_pairs()
        X = self._table(X, reset=True, rows=2)
        given, target = self._check_target(y)
        check_same_length(len(target), X.shape[0])
        weight = check_sample_weight(sample_weight, len(target), scale_matters=True)
        _check_weights_are_taken(pairs, weight)
        if (
            weight.size and not weight.all() and isinstance(self.cv, int)
        ):  # no row to be put in a fold
            kept = np.flatnonzero(weight)
            X, weight = rows_of(X, kept), weight[kept]
            groups = None if groups is None else np.asarray(groups)[kept]
            given, target = self._check_target(given[kept])
        folds = self._folds(target, groups)
        random = check_random_state(seed_from(self.random_state))
        calls = [
            (seeded_clone(learner, random, keep_set=True), name, X, given, weight, *fold, self)
            for fold in folds
            for name, learner in pairs
        ]
        said = in_parallel(_fit_and_say, calls, n_jobs=self.n_jobs, verbose=self.verbose)
        self.cv_predictions_ = _gather(said, folds, len(pairs), len(target))
        self._weigh([name for name, _ in pairs], target, weight)
        fits = [
            (seeded_clone(learner, random, keep_set=True), name, X, given, weight)
            for name, learner in pairs
        ]
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

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each learner says: (n_samples, n_learners), or with a column a class."""
        check_is_fitted(self, "estimators_")
        X = self._table(X, reset=False)
        named = self.named_estimators_.items()
        return np.stack([self._say(learner, X, name) for name, learner in named], axis=1)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the model to a file that ``bosquet.load`` reads; every learner has to be Bosquet's own.

        The predictions of the folds are not written. With a `key` the file is signed.
        """
        super().save(path, key)

    def _combined(self, X: Any) -> np.ndarray:
        votes = self.votes(X)  # first of all, for it checks that the model is fitted
        return weighted_sum(self.weights_, np.moveaxis(votes, 1, 0))

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
