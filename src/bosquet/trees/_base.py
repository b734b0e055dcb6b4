"""Base class of decision trees: growing, pruning, predicting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from bosquet import _core
from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import (
    SaveMixin,
    publishes_fit_atomically,
    reads_fit_snapshot,
    set_feature_attributes,
)
from bosquet._parameters import (
    MAX_COUNT,
    Check,
    check_parameters,
    choice,
    count_or_fraction,
    integer,
    number,
    number_of_features,
)
from bosquet._sklearn import BaseEstimator, check_is_fitted, effective_threads, seed_from
from bosquet._weights import check_sample_weight
from bosquet.data import TableEncoder, count_rows, take_rows
from bosquet.trees._exports import TreeExportMixin
from bosquet.trees._pruned_fit import choose_by_cross_validation, choose_by_validation
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.growing import (
    TreeTarget,
    cart_fit,
    class_shares,
    code_table,
    empty_ensemble,
    growing_options,
)
from bosquet.trees.node_splits import NodeSplits
from bosquet.trees.pruning import prune_by_ccp_alpha, weakest_link_path
from bosquet.trees.traversal import leaves_by_surrogates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from scipy.sparse import csr_matrix

    from bosquet._sklearn import Tags
    from bosquet._types import TableLike
    from bosquet.data import Columns


CHECKS = {
    "max_depth": integer(1, MAX_COUNT, none=True),
    "min_samples_split": count_or_fraction(2, "rows"),
    "min_samples_leaf": count_or_fraction(1, "rows"),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": number_of_features(),
    "max_leaf_nodes": integer(2, MAX_COUNT, none=True),
    "max_nodes": integer(1, MAX_COUNT, none=True),
    "min_impurity_decrease": number(0),
    "ccp_alpha": number(0),
    "pruning": choice(None, "cv", "validation"),
    "pruning_rule": choice("min", "1se"),
    "smoothing": number(0),
    "validation_fraction": number(0, 0.9, open_low=True),
    "missing": choice("direction", "surrogate"),
    "max_surrogates": integer(1, MAX_COUNT),
    "max_competitors": integer(0, MAX_COUNT),
}


class BaseTree(SaveMixin, ExplainMixin, TreeExportMixin, BaseEstimator):
    """Grows, prunes and predicts; the subclasses check the targets."""

    _checks: ClassVar[dict[str, Check]]  # `CHECKS` and the criteria of the class
    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    tree_: TreeArrays

    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree, and prune it if `ccp_alpha` or `pruning` is set.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values; entries that a sparse matrix does not store are 0, not
            missing.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or numbers for regression; one column per target.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows, at least 0. None: equal weights.

        Returns
        -------
        self
        """
        for name in ("pruning_table_", "pruning_path_"):  # set by some fits only
            self.__dict__.pop(name, None)
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, self._checks)
        if self.pruning is not None and self.ccp_alpha > 0:
            raise ValueError(
                f"pruning={self.pruning!r} selects the penalty, but ccp_alpha={self.ccp_alpha} is set; use"
                " ccp_alpha=0 or pruning=None"
            )
        encoder, columns = TableEncoder.fit_encode(
            X, categorical_features=self.categorical_features, owner=type(self).__name__
        )
        n_rows = count_rows(columns)
        target = self._check_target(y, n_rows)
        smooths = getattr(self, "smoothing", 0) > 0
        own_weight = check_sample_weight(sample_weight, n_rows, scale_matters=smooths)
        weight = self._check_weight(own_weight, target, y)
        set_feature_attributes(self, encoder)
        self.n_samples_fit_ = n_rows
        self.max_features_ = growing_options(self, encoder, 1.0)["features_per_node"]

        grower = TreeGrower(self, columns, encoder, target)
        if self.pruning == "cv":
            tree = choose_by_cross_validation(self, grower, weight)
        elif self.pruning == "validation":
            tree = choose_by_validation(self, grower, weight)
        else:
            tree = prune_by_ccp_alpha(grower.grow(weight), self.ccp_alpha)
        self._store_tree(tree, target)
        return self

    def _store_tree(self, tree: TreeArrays, target: TreeTarget) -> None:
        """Set `tree_` and the ensemble of the core that predicts."""
        self.tree_ = self._final_values(tree)
        self._ensemble = empty_ensemble(self._encoder, target)
        value = self.tree_.value
        stored = value[:, 1:2] if target.is_classes and target.stored_outputs == 1 else value
        _core.add_tree(
            self._ensemble,
            self.tree_.feature,
            self.tree_.threshold,
            self.tree_.left,
            self.tree_.missing_left,
            self.tree_.left_categories,
            np.ascontiguousarray(stored),
            self.tree_.gain,
            self.tree_.weight,
        )

    def _final_values(self, tree: TreeArrays) -> TreeArrays:
        """Return the tree with the values that it predicts: adjusted for priors, and smoothed."""
        return tree

    def _smooth(self, tree: TreeArrays) -> TreeArrays:
        """Return the tree with smoothed class shares."""
        return tree

    def cost_complexity_pruning_path(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """Return the penalties at which the full tree is pruned, and the impurities of the subtrees.

        Returns
        -------
        Bunch
            With `ccp_alphas` and `impurities` as in scikit-learn, `gammas` (ccp_alpha times the total weight
            of the rows) and `leaves` (number of leaves of each subtree).
        """
        full = type(self)(**{**self.get_params(deep=False), "ccp_alpha": 0.0, "pruning": None})
        path = weakest_link_path(full.fit(X, y, sample_weight).tree_)
        return Bunch(
            ccp_alphas=path.ccp_alphas,
            impurities=path.costs / path.root_weight,
            gammas=path.gammas,
            leaves=path.leaves,
        )

    # --------------------------------------------------------------- predicting
    @reads_fit_snapshot
    def apply(self, X: TableLike) -> np.ndarray:
        """Return the number of the leaf that each row falls into.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self, "tree_")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        if self.tree_.surrogates.n_splits:
            return leaves_by_surrogates(self.tree_, columns, self._encoder.n_levels)
        return self._ensemble.apply(columns, effective_threads(None))[:, 0]

    def _predict_values(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "tree_")
        if self.tree_.surrogates.n_splits:
            return self.tree_.value[self.apply(X)]
        columns = self._encoder.transform(X, owner=type(self).__name__)
        raw = self._ensemble.predict_raw(columns, 0, 1, effective_threads(None))
        return class_shares(raw) if hasattr(self, "classes_") else raw

    @reads_fit_snapshot
    def decision_path(self, X: TableLike) -> csr_matrix:
        """Return the nodes on the path of each row as a sparse matrix of ones, (n_samples, n_nodes)."""
        at = self.apply(X)
        rows = np.arange(at.size)
        parents, visited = self.tree_.parents, []
        while rows.size:
            visited.append((rows, at))
            at = parents[at]
            rows, at = rows[at >= 0], at[at >= 0]
        row_indices = np.concatenate([r for r, _ in visited])
        node_indices = np.concatenate([n for _, n in visited])
        shape = (row_indices[: len(visited[0][0])].size, self.tree_.n_nodes)
        return sparse.csr_matrix(
            (np.ones(row_indices.size, dtype=int), (row_indices, node_indices)), shape
        )

    def get_depth(self) -> int:
        """Return the depth of the tree: the number of splits on the longest path."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    @reads_fit_snapshot
    def feature_importances_(self) -> np.ndarray:
        """Decrease of impurity by the splits on each feature, normalised to sum 1."""
        check_is_fitted(self, "tree_")
        inner = ~self.tree_.is_leaf
        sums = np.bincount(
            self.tree_.feature[inner], self.tree_.gain[inner], minlength=self.n_features_in_
        )
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class TreeGrower:
    """Grows trees on one table with different weights: the full tree, and the trees of folds."""

    def __init__(
        self, estimator: BaseTree, columns: Columns, encoder: TableEncoder, target: TreeTarget
    ):
        self.estimator, self.columns = estimator, columns
        self.encoder, self.target = encoder, target
        self.threads = effective_threads(None)
        self.seed = seed_from(estimator.random_state)
        self.table = code_table(columns, encoder, exact=True, threads=self.threads)

    def grow(self, weight: np.ndarray) -> TreeArrays:
        """Return the full tree of the rows with a weight above 0; an empty `weight` means weights of 1."""
        est = self.estimator
        total_weight = float(weight.sum()) if weight.size else float(self.target.n_rows)
        options = growing_options(est, self.encoder, total_weight)
        options["competitors"] = est.max_competitors
        options["surrogates"] = est.max_surrogates if est.missing == "surrogate" else 0
        fit = cart_fit(self.table, self.target, weight, options, self.threads)
        grown = fit.grow_one(self.seed)
        ensemble = empty_ensemble(self.encoder, self.target)
        grown.add_to(ensemble)
        details = grown.details()
        value = details["value"]
        if self.target.is_classes:
            value = class_shares(value)
        return TreeArrays.from_core(
            ensemble.tree_arrays(0),
            value=value,
            n_rows=details["n_rows"],
            weight=details["weight"],
            impurity=details["impurity"],
            competitors=NodeSplits(*details["competitors"]),
            surrogates=NodeSplits(*details["surrogates"]),
        )

    def leaves(self, tree: TreeArrays, rows: np.ndarray) -> np.ndarray:
        """Return the leaf of each of the given rows."""
        columns = take_rows(self.columns, rows)
        return leaves_by_surrogates(tree, columns, self.encoder.n_levels)
