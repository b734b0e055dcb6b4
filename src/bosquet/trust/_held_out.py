"""Predictions by models that were not fitted to a given row: one model per fold, or out-of-bag members.

Jackknife+, CV+ and the jackknife+ after the bootstrap differ only in how they obtain μ₋ᵢ, the model fitted
without calibration row i. It predicts row i itself and every new row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._lazy import cached_property
from bosquet._sklearn import check_random_state, in_parallel, rows_of
from bosquet.trust._bags import member_predictions, out_of_bag_mask
from bosquet.trust._wrapping import check_single_output, fit_clone, probabilities_by_class

if TYPE_CHECKING:
    from bosquet._types import Estimator, TableLike


Score = Callable[[np.ndarray], np.ndarray]


class FoldModels:
    """One model per fold, fitted without the rows of that fold.

    Attributes
    ----------
    models : list of the fitted models.
    rows : the calibration rows, here all rows.
    fold : the fold of each row, that is the number of the model that was not fitted to it.
    """

    def __init__(self, models: list[Any], fold: np.ndarray, classes: np.ndarray | None):
        self.models, self.fold, self.classes = models, fold, classes
        self.n_rows, self.rows = fold.size, np.arange(fold.size)

    def predict_all(self, X: TableLike) -> np.ndarray:
        """Return predictions of every model, (models, rows) or (models, rows, classes)."""
        return np.stack([_predict_outputs(model, X, self.classes) for model in self.models])

    def leave_out(
        self, predictions: np.ndarray, rows: Any, score: Score | None = None
    ) -> np.ndarray:
        """Return predictions, or their scores, of the models fitted without each of the calibration `rows`.

        `predictions` come from `predict_all`.
        """
        return (predictions if score is None else score(predictions))[self.fold[rows]]

    def predict_calibration_rows(self, X: TableLike) -> np.ndarray:
        """Return the prediction for each calibration row by the model that was fitted without it."""
        result: Any = None
        for i, model in enumerate(self.models):
            rows = np.flatnonzero(self.fold == i)
            predictions = _predict_outputs(model, rows_of(X, rows), self.classes)
            if result is None:
                result = np.empty((self.fold.size, *predictions.shape[1:]))
            result[rows] = predictions
        return result

    def predict_mean(self, X: TableLike) -> np.ndarray:
        """Return the mean prediction of all models."""
        return self.predict_all(X).mean(axis=0)


class OutOfBagModels:
    """A forest or bagging model: the members that did not draw a row form the model without it.

    Attributes
    ----------
    models : list of the one fitted ensemble.
    rows : the calibration rows: those that at least one member did not draw.
    member_weights : the weight of each member in the model without each row, (calibration rows, members).
        Computed on first use, because it is much larger than the samples it is computed from.
    """

    def __init__(
        self,
        model: Estimator,
        n_rows: int,
        classes: np.ndarray | None,
        rows: np.ndarray | None = None,
    ):
        self.models, self.classes, self.n_rows = [model], classes, n_rows
        self.rows = np.arange(n_rows) if rows is None else rows

    @classmethod
    def from_fitted(
        cls, model: Estimator, n_rows: int, classes: np.ndarray | None
    ) -> OutOfBagModels:
        """Take the calibration rows from the out-of-bag rows of a fitted ensemble."""
        left_out = out_of_bag_mask(model, n_rows)
        made = cls(model, n_rows, classes, np.flatnonzero(left_out.any(axis=0)))
        made.member_weights = _equal_weights(left_out[:, made.rows])
        return made

    def check_rows(self) -> None:
        """Raise ValueError unless the calibration rows are the out-of-bag rows of the ensemble."""
        self._calibration_mask()

    def _calibration_mask(self) -> np.ndarray:
        left_out = out_of_bag_mask(self.models[0], self.n_rows)
        if not np.array_equal(np.flatnonzero(left_out.any(axis=0)), self.rows):
            raise ValueError(
                "the out-of-bag rows of the wrapped model are not the calibration rows; the model or its"
                " file was changed after fit, so fit the ConformalModel again"
            )
        return left_out[:, self.rows]

    @cached_property
    def member_weights(self) -> np.ndarray:
        return _equal_weights(self._calibration_mask())

    def predict_all(self, X: TableLike) -> np.ndarray:
        return member_predictions(self.models[0], X, self.classes)

    def leave_out(
        self, predictions: np.ndarray, rows: Any, score: Score | None = None
    ) -> np.ndarray:
        mean = np.tensordot(self.member_weights[rows], predictions, axes=1)
        return mean if score is None else score(mean)

    def predict_calibration_rows(self, X: TableLike) -> np.ndarray:
        predictions = self.predict_all(rows_of(X, self.rows))
        return np.einsum("ij,ji...->i...", self.member_weights, predictions)

    def predict_mean(self, X: TableLike) -> np.ndarray:
        return _predict_outputs(self.models[0], X, self.classes)


def _equal_weights(left_out: np.ndarray) -> np.ndarray:
    """Return equal weights, of sum 1, for the members that left out each row."""
    return (left_out / left_out.sum(axis=0)).T


def _predict_outputs(model: Estimator, X: TableLike, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return check_single_output(model, model.predict(X))
    return probabilities_by_class(model, X, classes)


def fit_by_folds(
    owner: Any, X: TableLike, y: np.ndarray, weight: np.ndarray, classes: np.ndarray | None
) -> FoldModels:
    """Fit one clone of the owner's model per fold, without the rows of that fold."""
    n = y.size
    folds = np.arange(n)[:, None] if owner.method == "jackknife+" else _folds(owner, X, y, classes)
    fold = np.full(n, -1)
    for i, rows in enumerate(folds):
        if (fold[rows] >= 0).any():
            raise ValueError(
                f"cv={owner.cv!r} puts row {int(rows[fold[rows] >= 0][0])} in two test folds; every row must"
                " be in exactly one"
            )
        fold[rows] = i
    if (fold < 0).any():
        raise ValueError(
            f"cv={owner.cv!r} puts row {int(np.flatnonzero(fold < 0)[0])} in no test fold; every row must"
            " be in exactly one"
        )
    calls = [(owner.model, X, y, weight, np.flatnonzero(fold != i)) for i in range(len(folds))]
    return FoldModels(in_parallel(fit_clone, calls, n_jobs=owner.n_jobs), fold, classes)


def _folds(owner: Any, X: TableLike, y: np.ndarray, classes: np.ndarray | None) -> list[np.ndarray]:
    """Return the test rows of each fold."""
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    if not isinstance(owner.cv, int | np.integer):
        splitter = check_cv(owner.cv, y, classifier=classes is not None)
        return [test for _, test in splitter.split(X, y)]
    if not 2 <= owner.cv <= y.size:
        raise ValueError(
            f"cv={owner.cv} is not valid: cv must be an integer in [2, {y.size}], at most the number of"
            " rows, or a splitter of scikit-learn"
        )
    kind = KFold if classes is None else StratifiedKFold
    if classes is not None:
        counts = np.bincount(np.searchsorted(classes, y))
        if counts.min() < owner.cv:
            rarest = classes.tolist()[int(counts.argmin())]
            raise ValueError(
                f"class {rarest!r} has {counts.min()} row(s), too few for cv={owner.cv}; every fold needs a"
                " row of each class, so use fewer folds or more rows"
            )
    splitter = kind(owner.cv, shuffle=True, random_state=check_random_state(owner._seed))
    return [test for _, test in splitter.split(np.zeros((y.size, 1)), y)]
