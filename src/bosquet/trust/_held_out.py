"""Answers about a row by models that have not seen another one: by folds, or by bags.

Jackknife+, CV+ and the jackknife+ after the bootstrap differ in nothing else: each calibration row i
has a model without it, μ₋ᵢ, which is asked about row i itself and about every new row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._lazy import cached_property
from bosquet._sklearn import check_random_state, in_parallel, rows_of
from bosquet.trust._bags import answers, rows_left_out
from bosquet.trust._wrapping import fit_clone, probabilities_by_class, single_output

Score = Callable[[np.ndarray], np.ndarray]


class ByFolds:
    """A model for each fold, fitted without it.

    Attributes
    ----------
    models : list of the fitted models.
    rows : the calibration rows: all.
    fold : the fold of each of them, whose model has not seen it.
    """

    def __init__(self, models: list[Any], fold: np.ndarray, classes: np.ndarray | None):
        self.models, self.fold, self.classes = models, fold, classes
        self.n_rows, self.rows = fold.size, np.arange(fold.size)

    def of_new_rows(self, X: Any) -> np.ndarray:
        """What every model says: (models, rows) or (models, rows, classes)."""
        return np.stack([_say(model, X, self.classes) for model in self.models])

    def without(self, said: np.ndarray, rows: Any, score: Score | None = None) -> np.ndarray:
        """From what the models say, what the model without each of these calibration rows says, scored."""
        return (said if score is None else score(said))[self.fold[rows]]

    def of_calibration_rows(self, X: Any) -> np.ndarray:
        """What the model without a row says of it."""
        result: Any = None
        for number, model in enumerate(self.models):
            rows = np.flatnonzero(self.fold == number)
            said = _say(model, rows_of(X, rows), self.classes)
            if result is None:
                result = np.empty((self.fold.size, *said.shape[1:]))
            result[rows] = said
        return result

    def together(self, X: Any) -> np.ndarray:
        """The mean of what all models say."""
        return self.of_new_rows(X).mean(axis=0)


class ByBags:
    """A forest or bagging: the learners that did not draw a row are a model without it.

    Attributes
    ----------
    models : list of the one fitted ensemble.
    rows : the calibration rows: those that some learner did not draw.
    share : the weight of each learner in the model without each row, (calibration rows, learners).
        Drawn when it is first asked for, since it is much larger than what it follows from.
    """

    def __init__(
        self, model: Any, n_rows: int, classes: np.ndarray | None, rows: np.ndarray | None = None
    ):
        self.models, self.classes, self.n_rows = [model], classes, n_rows
        self.rows = np.arange(n_rows) if rows is None else rows

    @classmethod
    def of_fitted(cls, model: Any, n_rows: int, classes: np.ndarray | None) -> ByBags:
        """With the calibration rows that follow from the bags."""
        without = rows_left_out(model, n_rows)
        made = cls(model, n_rows, classes, np.flatnonzero(without.any(axis=0)))
        made.share = _shares(without[:, made.rows])
        return made

    def check_rows(self) -> None:
        """Raise an error unless the calibration rows are those that follow from the bags."""
        self._left_out()

    def _left_out(self) -> np.ndarray:
        without = rows_left_out(self.models[0], self.n_rows)
        if not np.array_equal(np.flatnonzero(without.any(axis=0)), self.rows):
            raise ValueError(
                "the rows that the bags leave out are not those that the model was calibrated with: it was"
                " changed since it was fitted, or its file was"
            )
        return without[:, self.rows]

    @cached_property
    def share(self) -> np.ndarray:
        return _shares(self._left_out())

    def of_new_rows(self, X: Any) -> np.ndarray:
        return answers(self.models[0], X, self.classes)

    def without(self, said: np.ndarray, rows: Any, score: Score | None = None) -> np.ndarray:
        mean = np.tensordot(self.share[rows], said, axes=1)
        return mean if score is None else score(mean)

    def of_calibration_rows(self, X: Any) -> np.ndarray:
        said = self.of_new_rows(rows_of(X, self.rows))
        return np.einsum("ij,ji...->i...", self.share, said)

    def together(self, X: Any) -> np.ndarray:
        return _say(self.models[0], X, self.classes)


def _shares(without: np.ndarray) -> np.ndarray:
    return (without / without.sum(axis=0)).T


def _say(model: Any, X: Any, classes: np.ndarray | None) -> np.ndarray:
    if classes is None:
        return single_output(model, model.predict(X))
    return probabilities_by_class(model, X, classes)


def fit_by_folds(
    owner: Any, X: Any, y: np.ndarray, weight: np.ndarray, classes: np.ndarray | None
) -> ByFolds:
    """Fit a clone of the owner's model without each fold."""
    n = y.size
    folds = np.arange(n)[:, None] if owner.method == "jackknife+" else _folds(owner, X, y, classes)
    fold = np.full(n, -1)
    for number, rows in enumerate(folds):
        if (fold[rows] >= 0).any():
            raise ValueError(f"cv={owner.cv!r} holds out row {int(rows[fold[rows] >= 0][0])} twice")
        fold[rows] = number
    if (fold < 0).any():
        raise ValueError(
            f"cv={owner.cv!r} never holds out row {int(np.flatnonzero(fold < 0)[0])}: every row must be"
            " in one fold"
        )
    calls = [
        (owner.model, X, y, weight, np.flatnonzero(fold != number)) for number in range(len(folds))
    ]
    return ByFolds(in_parallel(fit_clone, calls, n_jobs=owner.n_jobs), fold, classes)


def _folds(owner: Any, X: Any, y: np.ndarray, classes: np.ndarray | None) -> list[np.ndarray]:
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    if not isinstance(owner.cv, int | np.integer):
        splitter = check_cv(owner.cv, y, classifier=classes is not None)
        return [test for _, test in splitter.split(X, y)]
    if not 2 <= owner.cv <= y.size:
        raise ValueError(f"cv={owner.cv} must be from 2 to the number of rows, {y.size}")
    kind = KFold if classes is None else StratifiedKFold
    if classes is not None:
        counts = np.bincount(np.searchsorted(classes, y))
        if counts.min() < owner.cv:
            few = classes.tolist()[int(counts.argmin())]
            raise ValueError(
                f"class {few!r} has {counts.min()} row(s), too few for cv={owner.cv}: every class needs one"
                " in each fold"
            )
    splitter = kind(owner.cv, shuffle=True, random_state=check_random_state(owner._seed))
    return [test for _, test in splitter.split(np.zeros((y.size, 1)), y)]
