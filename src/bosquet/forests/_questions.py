"""What can be asked of a fitted forest besides its predictions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._fitted import reads_one_fit
from bosquet._sklearn import check_is_fitted, effective_threads
from bosquet.data import TableEncoder


class Questions:
    """Importances, the trees' votes and bags, what rows share, standard errors."""

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

    @reads_one_fit
    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row in each tree, shape (n_samples, n_estimators)."""
        check_is_fitted(self, "_ensemble")
        return self._ensemble.apply(
            self._encoder.transform(X, owner=type(self).__name__), effective_threads(self.n_jobs)
        )

    # --------------------------------------------------------------- importance
    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Mean decrease of impurity, each tree's made to sum to 1; sums to 1."""
        return self.importance("impurity").mean

    @reads_one_fit
    def importance(
        self, kind: str = "impurity", X: Any = None, y: Any = None, **options: Any
    ) -> Any:
        """How much each feature matters.

        Parameters
        ----------
        kind : "impurity", "frequency" or "permutation"
            Mean decrease of impurity (Gini, entropy, squared error); share of the splits that use the
            feature; or what is lost on the out-of-bag rows when the feature's values are permuted among
            them, which needs the training X and y.
        X, y : the data the forest was fitted to, for kind="permutation".
        **options : see `bosquet.forests.importance.permutation_importance`.

        Returns
        -------
        Importance
            With `.mean`, `.std` (its standard error over trees) and `.scaled` (the largest is 100).
        """
        from bosquet.forests.importance import forest_importance

        check_is_fitted(self, "_ensemble")
        return forest_importance(self, kind, X, y, **options)

    # -------------------------------------------------------------- tree by tree
    @property
    @reads_one_fit
    def estimators_samples_(self) -> list[np.ndarray]:
        """The rows each tree drew, one entry a draw; drawn anew from the seed when asked for."""
        check_is_fitted(self, "_ensemble")
        rows = np.arange(self.n_samples_fit_) if self._kept_rows is None else self._kept_rows
        return [np.repeat(rows, self._bag_counts(t)) for t in range(len(self._keys))]

    @reads_one_fit
    def votes(self, X: Any) -> np.ndarray:
        """What each tree says.

        Returns
        -------
        array of shape (n_samples, n_estimators_, n_classes) of probabilities with voting="soft",
        (n_samples, n_estimators_) of classes with voting="hard"; of a regressor
        (n_samples, n_estimators_), or (n_samples, n_estimators_, n_outputs)
        """
        from bosquet.forests.intervals import tree_answers

        check_is_fitted(self, "_ensemble")
        if isinstance(getattr(self, "classes_", None), list):
            raise ValueError("votes takes a forest of one target, or of numbers")
        said = np.moveaxis(
            tree_answers(self, self._encoder.transform(X, owner=type(self).__name__)), 0, 1
        )
        if getattr(self, "voting", "soft") == "hard":
            return self.classes_[said.argmax(axis=2)]
        return said[:, :, 0] if said.shape[2] == 1 else said

    # ------------------------------------------------------------ what rows share
    @reads_one_fit
    def proximities(self, X: Any, Y: Any = None) -> Any:
        """Share of trees in which two rows fall into the same leaf; a SciPy sparse matrix.

        Only pairs that meet somewhere are stored. `.toarray()` gives all n × n numbers.
        """
        from bosquet.forests.proximity import proximities

        first = self.apply(X)
        return proximities(first, first if Y is None else self.apply(Y))

    @reads_one_fit
    def jackknife_standard_errors(self, X: Any) -> np.ndarray:
        """Standard error of each prediction by the jackknife after bootstrap.

        How much the forest would change with another sample of training rows; not how far a new
        observation lies from the prediction. With t̄ the mean over B trees, s² their variance and
        t̄_(-i) the mean over the B_i trees that did not see row i of n,

        V = (n-1)/n Σ_i [ (t̄_(-i) - t̄)² - (1/B_i - 1/B) s² ]

        is the squared standard error, or 0 if it is below that. The second term is what the luck of
        finitely many trees adds on average. It takes many trees, about as many as rows; a warning tells
        when they are far too few.

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
        from bosquet.forests.intervals import jackknife_standard_errors

        check_is_fitted(self, "_ensemble")
        if not self.bootstrap:
            raise ValueError("the jackknife after bootstrap needs bootstrap=True")
        return jackknife_standard_errors(
            self, self._encoder.transform(X, owner=type(self).__name__)
        )
