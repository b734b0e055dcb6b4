"""Raw predictions, a fast predictor and importances of a fitted model of gradient boosting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._fitted import reads_fit_snapshot
from bosquet._sklearn import check_is_fitted, effective_threads
from bosquet._state.tree_sums import share_among_sources
from bosquet.boosting._inputs import as_indexable
from bosquet.boosting.gradient._learners import LearnerTerms
from bosquet.boosting.gradient._offsets import check_offset
from bosquet.boosting.gradient._trees import TreeTerms
from bosquet.boosting.gradient.predictor import Predictor

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import RandomState, TableLike
    from bosquet.data import TableEncoder
    from bosquet.losses import CustomLoss, NativeLoss


class BoostedSum:
    """The methods of a fitted sum of trees or other learners."""

    _terms: TreeTerms | LearnerTerms
    _loss: NativeLoss | CustomLoss
    _encoder: TableEncoder
    n_features_in_: int
    n_jobs: int | None

    @property
    def n_iter_(self) -> int:
        """Number of rounds in the model; below `n_estimators` after early stopping."""
        check_is_fitted(self, "_terms")
        return self._terms.n_rounds

    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model, under the name of scikit-learn's GradientBoosting."""
        return self.n_iter_

    def _raw(
        self, X: TableLike, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> np.ndarray:
        """Return raw predictions (rows, outputs), with the offset."""
        check_is_fitted(self, "_terms")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        if isinstance(self._terms, LearnerTerms):
            raw = self._terms.predict_raw(as_indexable(X), 1)
        else:
            raw = self._terms.predict_raw(columns, effective_threads(self.n_jobs))
        added = check_offset(offset, exposure, self._loss, raw.shape[0])
        return raw if added is None else raw + added.T

    def _staged_raw(
        self, X: TableLike, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> Iterator[np.ndarray]:
        """Return raw predictions after each round, with the offset."""
        check_is_fitted(self, "_terms")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        threads = effective_threads(self.n_jobs)
        raw: Any = 0.0
        for round_ in range(self._terms.n_rounds):
            if isinstance(self._terms, LearnerTerms):
                raw = raw + self._terms.predict_raw(as_indexable(X), threads, round_, round_ + 1)
            else:
                if round_ == 0:
                    columns = self._terms.tree_columns(columns, threads)
                raw = raw + self._terms.raw_of_trees(columns, threads, round_, round_ + 1)
            if round_ == 0:
                added = check_offset(offset, exposure, self._loss, raw.shape[0])
                raw = raw if added is None else raw + added.T
            yield raw

    @reads_fit_snapshot
    def predictor(self) -> Predictor:
        """Return a fast prediction function without input checks, for one or several rows.

        Returns
        -------
        Predictor
            ``p(X)`` takes a float array of shape (n_features,) or (rows, n_features), in the
            order of the training columns and with categories as their codes, and returns
            probabilities (classifier) or predictions (regressor).
        """
        check_is_fitted(self, "_terms")
        if not isinstance(self._terms, TreeTerms):
            raise ValueError(
                "predictor() needs native trees, but this model was fitted with estimator=...; use predict"
            )
        return Predictor(self._terms, self._loss, self._encoder)

    # ---------------------------------------------------------------- importance
    @property
    @reads_fit_snapshot
    def feature_importances_(self) -> np.ndarray:
        """Share of the total gain of the splits on each feature; sums to 1."""
        return self.importance("gain")

    @reads_fit_snapshot
    def importance(
        self,
        kind: str = "gain",
        X: TableLike | None = None,
        y: ArrayLike | None = None,
        *,
        n_repeats: int = 5,
        scoring: str | Callable[..., float] | None = None,
        random_state: RandomState = None,
    ) -> np.ndarray:
        """Return the importance of each feature.

        Parameters
        ----------
        kind : "gain", "split" or "permutation"
            Share of the gain, share of the number of splits, or the mean decrease of the score on
            (X, y) when the feature's values are shuffled.
        X, y : rows for "permutation", preferably not those of the training set.
        n_repeats, scoring, random_state : as in ``sklearn.inspection.permutation_importance``.

        Returns
        -------
        array of shape (n_features,)
        """
        check_is_fitted(self, "_terms")
        if kind == "permutation":
            if X is None or y is None:
                raise ValueError(
                    "importance('permutation') needs X and y; pass rows with their targets"
                )
            from sklearn.inspection import permutation_importance

            return permutation_importance(
                self, X, y, n_repeats=n_repeats, scoring=scoring, random_state=random_state
            ).importances_mean
        if kind not in ("gain", "split"):
            raise ValueError(
                f"kind={kind!r} is not valid: kind must be 'gain', 'split' or 'permutation'"
            )
        if not isinstance(self._terms, TreeTerms):
            raise AttributeError(
                "a model with estimator=... has no native trees; use importance('permutation', X, y)"
            )
        sums = self._terms.ensemble.importance(kind)
        if self._terms.statistics is not None:
            sums = share_among_sources(sums, self._terms.statistics.sources, self.n_features_in_)
        total = sums.sum()
        return sums / total if total > 0 else sums
