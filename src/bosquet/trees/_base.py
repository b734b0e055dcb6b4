"""What trees for classes and for numbers share: growing, pruning, predicting."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit, remember_columns
from bosquet._parameters import (
    check_parameters,
    choice,
    count_or_share,
    integer,
    number,
    number_of_features,
)
from bosquet._sklearn import BaseEstimator, check_is_fitted, effective_threads, seed_from
from bosquet._targets import check_sample_weight
from bosquet.data import TableEncoder, n_rows, take_rows
from bosquet.trees._growing import (
    Target,
    cart_fit,
    class_shares,
    code_table,
    empty_ensemble,
    growing_options,
)
from bosquet.trees._pruned_fit import choose_by_cross_validation, choose_by_validation
from bosquet.trees._readable import ReadableTree
from bosquet.trees.arrays import TreeArrays
from bosquet.trees.node_splits import NodeSplits
from bosquet.trees.pruning import prune_by_ccp_alpha, weakest_link_path
from bosquet.trees.walking import leaves_by_surrogates

CHECKS = {
    "max_depth": integer(1, none=True),
    "min_samples_split": count_or_share(2, "rows"),
    "min_samples_leaf": count_or_share(1, "rows"),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": number_of_features(),
    "max_leaf_nodes": integer(2, none=True),
    "max_nodes": integer(1, none=True),
    "min_impurity_decrease": number(0),
    "ccp_alpha": number(0),
    "pruning": choice(None, "cv", "validation"),
    "pruning_rule": choice("min", "1se"),
    "smoothing": number(0),
    "validation_fraction": number(0, 0.9, open_low=True),
    "missing": choice("direction", "surrogate"),
    "max_surrogates": integer(1),
    "max_competitors": integer(0),
}


class BaseTree(Saved, Explained, ReadableTree, BaseEstimator):
    """Growing, pruning and predicting; the subclasses know what a target is."""

    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    tree_: TreeArrays

    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the tree, and prune it if asked to.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values.
        y : array of shape (n_samples,), or (n_samples, n_outputs) of numbers
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        for name in ("pruning_table_", "pruning_path_"):  # an earlier fit's are not this one's
            self.__dict__.pop(name, None)
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, CHECKS)
        self._check_criterion()
        if self.pruning is not None and self.ccp_alpha > 0:
            raise ValueError(
                f"pruning={self.pruning!r} chooses the penalty itself; leave ccp_alpha at 0"
            )
        encoder, columns = TableEncoder.fit(
            X, categorical_features=self.categorical_features, owner=type(self).__name__
        )
        rows = n_rows(columns)
        target = self._check_target(y, rows)
        smooths = getattr(self, "smoothing", 0) > 0
        given = check_sample_weight(sample_weight, rows, scale_matters=smooths)
        weight = self._check_weight(given, target, y)
        remember_columns(self, encoder)
        self.n_samples_fit_ = rows
        self.max_features_ = growing_options(self, encoder, 1.0)["features_per_node"]

        growth = Growth(self, columns, encoder, target)
        if self.pruning == "cv":
            tree = choose_by_cross_validation(self, growth, weight)
        elif self.pruning == "validation":
            tree = choose_by_validation(self, growth, weight)
        else:
            tree = prune_by_ccp_alpha(growth.tree(weight), self.ccp_alpha)
        self._keep(tree, target)
        return self

    def _keep(self, tree: TreeArrays, target: Target) -> None:
        self.tree_ = self._settled(tree)
        self._ensemble = empty_ensemble(self._encoder, target)
        value = self.tree_.value
        stored = value[:, 1:2] if target.is_classes and target.stored_outputs == 1 else value
        _core.add_tree(
            self._ensemble,
            self.tree_.feature,
            np.nan_to_num(self.tree_.threshold, nan=0.0, posinf=np.inf),
            self.tree_.left,
            self.tree_.missing_left,
            self.tree_.left_categories,
            np.ascontiguousarray(stored),
            self.tree_.gain,
            self.tree_.weight,
        )

    def _settled(self, tree: TreeArrays) -> TreeArrays:
        return tree

    def _smoothed(self, tree: TreeArrays) -> TreeArrays:
        return tree

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """The penalties at which the full tree loses leaves, and the impurity of what is left.

        Returns
        -------
        Bunch
            With `ccp_alphas` and `impurities` as scikit-learn has them, `gammas` (the same penalties in
            counts: ccp_alpha times the weight of the rows) and `leaves`.
        """
        from sklearn.utils import Bunch

        full = type(self)(**{**self.get_params(deep=False), "ccp_alpha": 0.0, "pruning": None})
        path = weakest_link_path(full.fit(X, y, sample_weight).tree_)
        return Bunch(
            ccp_alphas=path.ccp_alphas,
            impurities=path.costs / path.root_weight,
            gammas=path.gammas,
            leaves=path.leaves,
        )

    # --------------------------------------------------------------- predicting
    @reads_one_fit
    def apply(self, X: Any) -> np.ndarray:
        """The number of the leaf that each row reaches."""
        check_is_fitted(self, "tree_")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        if self.tree_.surrogates.n_splits:
            return leaves_by_surrogates(self.tree_, columns, self._encoder.categories)
        return self._ensemble.apply(columns, effective_threads(None))[:, 0]

    def _values(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "tree_")
        if self.tree_.surrogates.n_splits:
            return self.tree_.value[self.apply(X)]
        columns = self._encoder.transform(X, owner=type(self).__name__)
        raw = self._ensemble.predict_raw(columns, 0, 1, effective_threads(None))
        return class_shares(raw) if hasattr(self, "classes_") else raw

    @reads_one_fit
    def decision_path(self, X: Any) -> Any:
        """Nodes that each row passes, as a sparse matrix (n_samples, n_nodes) of ones."""
        from scipy import sparse

        at = self.apply(X)
        rows = np.arange(at.size)
        parents, visited = self.tree_.parents, []
        while rows.size:
            visited.append((rows, at))
            at = parents[at]
            rows, at = rows[at >= 0], at[at >= 0]
        every_row = np.concatenate([r for r, _ in visited])
        every_node = np.concatenate([n for _, n in visited])
        shape = (every_row[: len(visited[0][0])].size, self.tree_.n_nodes)
        return sparse.csr_matrix(
            (np.ones(every_row.size, dtype=int), (every_row, every_node)), shape
        )

    def get_depth(self) -> int:
        """Number of splits on the longest way down."""
        check_is_fitted(self, "tree_")
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self, "tree_")
        return self.tree_.n_leaves

    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Share of the total decrease of impurity that each feature's splits brought."""
        check_is_fitted(self, "tree_")
        inner = ~self.tree_.is_leaf
        sums = np.bincount(
            self.tree_.feature[inner], self.tree_.gain[inner], minlength=self.n_features_in_
        )
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


class Growth:
    """Trees on one table and target with different weights: the full one, and those of folds."""

    def __init__(self, estimator: Any, columns: Any, encoder: TableEncoder, target: Target):
        self.estimator, self.columns = estimator, columns
        self.encoder, self.target = encoder, target
        self.threads = effective_threads(None)
        self.seed = seed_from(estimator.random_state)
        self.table = code_table(columns, encoder, exact=True, threads=self.threads)

    def tree(self, weight: np.ndarray) -> TreeArrays:
        """The full tree on the rows whose weight is above 0 (all weigh 1 if `weight` is empty)."""
        est = self.estimator
        whole = float(weight.sum()) if weight.size else float(self.target.rows)
        options = growing_options(est, self.encoder, whole)
        options["competitors"] = est.max_competitors
        options["surrogates"] = est.max_surrogates if est.missing == "surrogate" else 0
        fit = cart_fit(self.table, self.target, weight, options, self.threads)
        grown = fit.grow_one(self.seed)
        ensemble = empty_ensemble(self.encoder, self.target)
        grown.add_to(ensemble)
        rules, details = ensemble.tree_arrays(0), grown.details()
        value = details["value"]
        if self.target.is_classes:
            value = class_shares(value)
        return TreeArrays(
            feature=rules["feature"],
            threshold=rules["threshold"],
            left=rules["left"],
            right=rules["right"],
            missing_left=rules["missing_left"],
            left_categories=rules["left_categories"],
            value=value,
            n_rows=details["n_rows"],
            weight=details["weight"],
            impurity=details["impurity"],
            gain=rules["gain"],
            competitors=NodeSplits(*details["competitors"]),
            surrogates=NodeSplits(*details["surrogates"]),
        )

    def leaves(self, tree: TreeArrays, rows: np.ndarray) -> np.ndarray:
        """The leaf of some of the rows."""
        columns = take_rows(self.columns, rows)
        return leaves_by_surrogates(tree, columns, self.encoder.categories)
