"""Inspection of fitted forests: importances, leaves, votes, proximities, standard errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._fitted import reads_fit_snapshot
from bosquet._sklearn import check_is_fitted, effective_threads
from bosquet.data import TableEncoder
from bosquet.forests.importance import forest_importance
from bosquet.forests.proximity import proximities
from bosquet.forests.standard_errors import jackknife_standard_errors, tree_predictions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike


class ForestInspection:
    """Mixin with the methods of forests other than fitting and predicting."""

    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    _keys: list[int]
    _kept_rows: np.ndarray | None
    n_samples_fit_: int
    bootstrap: bool
    n_jobs: int | None
    classes_: Any

    def _bag_counts(self, tree: int) -> np.ndarray:
        raise NotImplementedError

    @reads_fit_snapshot
    def apply(self, X: TableLike) -> np.ndarray:
        """Return the leaf of each row in each tree.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_estimators_)
        """
        check_is_fitted(self, "_ensemble")
        return self._ensemble.apply(
            self._encoder.transform(X, owner=type(self).__name__), effective_threads(self.n_jobs)
        )

    # --------------------------------------------------------------- importance
    @property
    @reads_fit_snapshot
    def feature_importances_(self) -> np.ndarray:
        """Mean decrease of impurity, normalised to sum 1 within each tree."""
        return self.importance("impurity").mean

    @reads_fit_snapshot
    def importance(
        self,
        kind: str = "impurity",
        X: TableLike | None = None,
        y: ArrayLike | None = None,
        **options: Any,
    ) -> Any:
        """Return the importance of each feature.

        Parameters
        ----------
        kind : "impurity", "frequency" or "permutation", default="impurity"
            "impurity": mean decrease of impurity (Gini, entropy, squared error). "frequency": fraction of
            the splits that use the feature. "permutation": decrease of the score on the out-of-bag rows
            when the values of the feature are permuted; needs the training X and y.
        X, y : training data of the forest
            For kind="permutation" only.
        **options
            Options of `bosquet.forests.permutation_importance`.

        Returns
        -------
        ForestImportance
            With `.mean`, `.standard_error` (of the mean over the trees) and `.scaled` (the largest is 100).
        """
        check_is_fitted(self, "_ensemble")
        return forest_importance(self, kind, X, y, **options)

    # -------------------------------------------------------------- tree by tree
    @property
    @reads_fit_snapshot
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows that each tree drew, one entry per draw; computed again from the seed at each access."""
        check_is_fitted(self, "_ensemble")
        rows = np.arange(self.n_samples_fit_) if self._kept_rows is None else self._kept_rows
        return [np.repeat(rows, self._bag_counts(t)) for t in range(len(self._keys))]

    @reads_fit_snapshot
    def votes(self, X: TableLike) -> np.ndarray:
        """Return the prediction of each tree.

        Returns
        -------
        array of shape (n_samples, n_estimators_, ...)
            Classifier with voting="soft": probabilities, shape (n_samples, n_estimators_, n_classes). With
            voting="hard": classes, shape (n_samples, n_estimators_). Regressor: predictions, shape
            (n_samples, n_estimators_) or (n_samples, n_estimators_, n_outputs).
        """
        check_is_fitted(self, "_ensemble")
        if isinstance(getattr(self, "classes_", None), list):
            raise ValueError(
                f"votes needs a classifier with one target, but this one has {len(self.classes_)} targets;"
                " fit one forest per target"
            )
        predictions = np.moveaxis(
            tree_predictions(self, self._encoder.transform(X, owner=type(self).__name__)), 0, 1
        )
        if getattr(self, "voting", "soft") == "hard":
            return self.classes_[predictions.argmax(axis=2)]
        return predictions[:, :, 0] if predictions.shape[2] == 1 else predictions

    # ------------------------------------------ similarity of rows, standard errors
    @reads_fit_snapshot
    def proximities(self, X: TableLike, Y: TableLike | None = None) -> Any:
        """Return the fraction of trees in which two rows fall into the same leaf.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        Y : table of shape (n_samples_Y, n_features), default=None
            None: the rows of X are compared with each other.

        Returns
        -------
        SciPy sparse matrix of shape (n_samples, n_samples_Y)
            Only pairs of rows that share at least one leaf are stored.
        """
        first = self.apply(X)
        return proximities(first, first if Y is None else self.apply(Y))

    @reads_fit_snapshot
    def jackknife_standard_errors(self, X: TableLike) -> np.ndarray | list[np.ndarray]:
        """Standard error of each prediction, by the jackknife after the bootstrap.

        It estimates how much the prediction would vary over other training samples, not how far a new
        observation lies from the prediction. Let t̄ be the mean over B trees, s² their variance and
        t̄_(-i) the mean over the B_i trees that did not draw row i of n. The squared standard error is

        V = (n-1)/n Σ_i [ (t̄_(-i) - t̄)² - (1/B_i - 1/B) s² ],

        or 0 if this is negative. The second term is the expected noise due to the finite number of trees.
        The estimate needs many trees, about as many as rows; a warning is given if there are far too few.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,), or (n_samples, n_classes or n_outputs)

        References
        ----------
        Wager, Hastie and Efron, "Confidence intervals for random forests", JMLR 2014.
        """
        check_is_fitted(self, "_ensemble")
        if not self.bootstrap:
            raise ValueError(
                "jackknife_standard_errors needs bootstrap samples, but bootstrap=False; fit the forest with"
                " bootstrap=True"
            )
        return jackknife_standard_errors(
            self, self._encoder.transform(X, owner=type(self).__name__)
        )
