"""Base class of the super learners: cross-validated predictions and the weights of the learners."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet._folds import fold_numbers
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
from bosquet._targets import check_same_length
from bosquet._text_table import text_table
from bosquet._weights import check_sample_weight
from bosquet.experts._learners import NamedLearners
from bosquet.experts.losses import loss_matrix
from bosquet.experts.oracles import find_oracle, read_problem
from bosquet.experts.summary import format_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import Estimator, TableLike


CHECKS: dict[str, Check] = {
    "combination": choice("convex", "best"),
    "verbose": integer(0),
}


class CVTable:
    """Cross-validated loss and weight of each learner; ``print`` shows it as a table.

    Attributes
    ----------
    names : list of str
        The learners, then "super learner", the combination. Its loss is slightly optimistic, because its
        weights were chosen on the same predictions.
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
        """Build the table from the losses per row: one column per learner, then the super learner.

        `share` is the normalised weight s_i of each row. The standard error of Σ s_i ℓ_i is the square
        root of Σ s_i² (ℓ_i - mean)².
        """
        mean = share @ losses
        n = len(losses)
        error = np.sqrt(share**2 @ (losses - mean) ** 2 * (n / max(n - 1, 1)))
        return cls(names, mean, error, weights)

    def __str__(self) -> str:
        rows = [["", "cv loss", "s.e.", "weight"]]
        for row in zip(self.names, self.loss, self.standard_error, self.weights, strict=True):
            rows.append([row[0], *("" if np.isnan(v) else format_value(v) for v in row[1:])])
        return "\n".join(text_table(rows, gap=" "))

    __repr__ = __str__


class BaseSuperLearner(SaveMixin, NamedLearners):
    """Base class: cross-validated predictions, weights, and learners fitted to all rows."""

    loss: Any
    combination: Any
    cv: Any
    n_jobs: Any
    verbose: Any
    random_state: Any

    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Choose the weights by cross-validation, then fit every learner to all rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional
            Passed to every learner, and used in the loss that the weights minimise. Rows of weight 0 are
            excluded.
        groups : array of shape (n_samples,), optional
            For a `cv` that keeps groups together, such as GroupKFold.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, groups)

    def _fit(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, groups: ArrayLike | None
    ) -> Self:
        check_parameters(self, CHECKS)
        pairs = self._checked_pairs()
        X = self._validate_X(X, reset=True, n_rows=2)
        labels, target = self._check_target(y)
        check_same_length(len(target), X.shape[0])
        weight = check_sample_weight(sample_weight, len(target), scale_matters=True)
        _check_sample_weight_support(pairs, weight)
        # Rows of weight 0 are not counted in the folds.
        if weight.size and not weight.all() and isinstance(self.cv, int):
            weighted_rows = np.flatnonzero(weight)
            X, weight = rows_of(X, weighted_rows), weight[weighted_rows]
            groups = None if groups is None else np.asarray(groups)[weighted_rows]
            labels, target = self._check_target(labels[weighted_rows])
        folds = self._folds(target, groups)
        rng = check_random_state(seed_from(self.random_state))
        calls = [
            (seeded_clone(learner, rng, keep_set=True), name, X, labels, weight, *fold, self)
            for fold in folds
            for name, learner in pairs
        ]
        predictions = in_parallel(_fit_and_predict, calls, n_jobs=self.n_jobs, verbose=self.verbose)
        self.cv_predictions_ = _collect_predictions(predictions, folds, len(pairs), len(target))
        self._choose_weights([name for name, _ in pairs], target, weight)
        fits = [
            (seeded_clone(learner, rng, keep_set=True), name, X, labels, weight)
            for name, learner in pairs
        ]
        self.estimators_ = in_parallel(_fit, fits, n_jobs=self.n_jobs, verbose=self.verbose)
        self.named_estimators_ = dict(zip((n for n, _ in pairs), self.estimators_, strict=True))
        return self

    def _folds(
        self, target: np.ndarray, groups: ArrayLike | None
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return (training rows, test rows) of each fold; every row is in one test set."""
        n_rows = len(target)
        if isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool):
            if self.cv < 2:
                raise ValueError(
                    f"cv={self.cv} is not valid: cv must be an integer >= 2 or a splitter"
                )
            classes = target if hasattr(self, "classes_") else None
            fold = fold_numbers(n_rows, min(int(self.cv), n_rows), self.random_state, classes)
            folds = [
                (np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)
            ]
        else:
            from sklearn.model_selection import check_cv

            splitter = check_cv(self.cv, target, classifier=hasattr(self, "classes_"))
            folds = list(splitter.split(np.zeros((n_rows, 1)), target, groups))
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
        if (times != 1).any():
            raise ValueError(
                "cv must put every row into exactly one test set, as KFold does; it does not for row"
                f" {int(np.flatnonzero(times != 1)[0])}"
            )
        return folds

    def _choose_weights(self, names: list[str], target: np.ndarray, weight: np.ndarray) -> None:
        classes = len(self.classes_) if hasattr(self, "classes_") else None
        predictions = self.cv_predictions_
        losses = loss_matrix(predictions, target.astype(float), self.loss, 0.5)
        share = weight / weight.sum() if weight.size else np.full(len(target), 1 / len(target))
        best = np.eye(len(names))[(share @ losses).argmin()]
        if self.combination == "best" or classes == 1:
            self.weights_ = best
        else:
            problem = read_problem(predictions, target, self.loss, 0.5, classes)
            if weight.size:
                problem = replace(problem, row_weight=weight)
            self.weights_ = find_oracle(problem, "convex").weights
        combined = np.tensordot(predictions, self.weights_, axes=(1, 0))[:, None]
        combined_losses = loss_matrix(combined, target.astype(float), self.loss, 0.5)
        self.cv_table_ = CVTable.of_rows(
            names, np.hstack([losses, combined_losses]), self.weights_, share
        )

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the predictions of each learner, (n_samples, n_learners[, n_classes])."""
        check_is_fitted(self, "estimators_")
        X = self._validate_X(X, reset=False)
        named = self.named_estimators_.items()
        return np.stack([self._predict_with(learner, X, name) for name, learner in named], axis=1)

    def save(self, path: str | os.PathLike[str], key: bytes | None = None) -> None:
        """Write the model to a file that ``bosquet.load`` reads; all learners must be estimators of Bosquet.

        `cv_predictions_` is not written. With a `key` the file is signed.
        """
        super().save(path, key)

    def _predict_combined(self, X: TableLike) -> np.ndarray:
        votes = self.votes(X)  # first, because it checks that the model is fitted
        return weighted_sum(self.weights_, np.moveaxis(votes, 1, 0))

    def _check_target(self, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """Return y as it is passed to the learners, and as numbers for the losses."""
        raise NotImplementedError

    def _predict_with(self, learner: Estimator, X: TableLike, name: str) -> np.ndarray:
        raise NotImplementedError


def _check_sample_weight_support(pairs: list[tuple[str, Estimator]], weight: np.ndarray) -> None:
    for name, learner in pairs if weight.size else []:
        if not has_fit_parameter(learner, "sample_weight"):
            raise ValueError(
                f"estimator {name!r} ({type(learner).__name__}) does not accept sample_weight; remove it from"
                " estimators, or fit without sample_weight"
            )


def _fit(learner: Estimator, name: str, X: TableLike, y: np.ndarray, weight: np.ndarray) -> Any:
    """Fit a learner; a note with its name is added to any error."""
    try:
        return learner.fit(X, y, sample_weight=weight) if weight.size else learner.fit(X, y)
    except Exception as error:
        error.add_note(
            f"(while fitting estimator {name!r}, {type(learner).__name__}, to {len(y)} rows)"
        )
        raise


def _fit_and_predict(
    learner: Estimator,
    name: str,
    X: TableLike,
    y: np.ndarray,
    weight: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    owner: Any,
) -> np.ndarray:
    _fit(learner, name, rows_of(X, train), y[train], weight[train] if weight.size else weight)
    return owner._predict_with(learner, rows_of(X, test), name)


def _collect_predictions(
    predictions: list[np.ndarray], folds: Any, n_learners: int, n_rows: int
) -> np.ndarray:
    """Return the predictions by row and learner from those by fold and learner."""
    result = np.empty((n_rows, n_learners, *predictions[0].shape[1:]))
    for f, (_, test) in enumerate(folds):
        for k in range(n_learners):
            result[test, k] = predictions[f * n_learners + k]
    return result
