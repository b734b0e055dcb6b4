"""What the four forests share: fitting, voting, the out-of-bag record."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._parameters import (
    boolean,
    check_parameters,
    choice,
    count_or_share,
    integer,
    number,
    number_of_features,
    or_auto,
)
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    effective_threads,
    seed_from,
)
from bosquet._targets import check_sample_weight
from bosquet.data import TableEncoder, n_rows, take_rows
from bosquet.forests.oob import OutOfBag, has_settled
from bosquet.trees._growing import Target, code_table, empty_ensemble, growing_options

# n_estimators="auto" stops here at the latest.
MOST_TREES = 1000
# Trees grown between two looks at Ctrl-C, the progress bar and the out-of-bag error.
BATCH = 20
# Keys of the trees of a seed lie this far apart, so that seeds next to each other share no tree.
KEY_STEP = 0x9E3779B97F4A7C15

CHECKS = {
    "n_estimators": or_auto(integer(1)),
    "max_depth": integer(1, none=True),
    "min_samples_split": count_or_share(2, "rows"),
    "min_samples_leaf": count_or_share(1, "rows"),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": number_of_features(),
    "max_leaf_nodes": integer(2, none=True),
    "min_impurity_decrease": number(0),
    "bootstrap": boolean(),
    "oob_score": boolean(),
    "max_samples": count_or_share(1, "rows", none=True),
    "split": choice("histogram", "exact"),
    "max_bins": integer(2, 255),
    "voting": choice("soft", "hard"),
    "keep_rows": boolean(),
    "warm_start": boolean(),
    "verbose": integer(0),
}

# What a fit may leave or not: an earlier fit's must not be taken for this one's.
_OF_ONE_FIT = (
    "_row_leaves",
    "_row_targets",
    "_row_weights",
    "oob_curve_",
    "oob_decision_function_",
    "oob_error_",
    "oob_prediction_",
    "oob_score_",
    "oob_tree_error_",
)


class BaseForest(BaseEstimator):
    """Trees grown on bags of rows, with some of the features drawn at each node."""

    _random_thresholds = False
    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    _hardened: _core.Ensemble | None  # the same trees with votes in place of shares
    _keys: list[int]  # by tree: what its bag and its draws follow from
    n_outputs_: int

    # ------------------------------------------------------------------ fitting
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values.
        y : array of shape (n_samples,), or (n_samples, n_outputs)
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        for name in _OF_ONE_FIT:
            self.__dict__.pop(name, None)
        try:
            return self._fit(X, y, sample_weight)
        except BaseException:
            # An error or an interrupt leaves the forest as it was, never half grown.
            self.__dict__ = before
            raise

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, CHECKS)
        self._check_criterion()
        continuing = self.warm_start and hasattr(self, "_ensemble")
        if continuing:
            encoder, columns = self._encoder, self._encoder.transform(X)
        else:
            encoder, columns = TableEncoder.fit(
                X, categorical_features=self.categorical_features, owner=type(self).__name__
            )
        rows = n_rows(columns)
        target = self._check_target(y, rows, continuing)
        weight = self._check_weight(check_sample_weight(sample_weight, rows), target)
        self._check_bags()

        # A row of weight 0 must not matter, not even by being drawn.
        self._kept_rows = None
        if weight.size and (weight == 0).any():
            self._kept_rows = np.flatnonzero(weight)
            columns, target = take_rows(columns, self._kept_rows), target.take(self._kept_rows)
            weight, rows = weight[self._kept_rows], self._kept_rows.size

        self._encoder, self.n_features_in_ = encoder, encoder.n_features
        if encoder.feature_names is not None:
            self.feature_names_in_ = np.asarray(encoder.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.n_samples_fit_ = rows
        self._draws = self._bag_size(rows)
        if continuing:
            self._ensemble, self._keys = self._ensemble.copy(), list(self._keys)
        else:
            self._ensemble, self._keys = empty_ensemble(encoder, target), []
            self._seed = seed_from(self.random_state)
        self._grow(columns, target, weight)
        self._hardened = None
        if getattr(self, "voting", "soft") == "hard":
            self._hardened = _core.hardened(self._ensemble)
        return self

    def _grow(self, columns: Any, target: Target, weight: np.ndarray) -> None:
        threads = effective_threads(self.n_jobs)
        table = code_table(
            columns,
            self._encoder,
            exact=self.split == "exact",
            threads=threads,
            max_bins=self.max_bins,
            seed=self._seed,
        )
        weight_of_all = float(weight.sum()) if weight.size else float(target.rows)
        options = growing_options(self, self._encoder, weight_of_all)
        options["random_thresholds"] = self._random_thresholds
        fit = _core.CartFit(table, target.values, target.outputs, weight, options, threads)
        automatic = self.n_estimators == "auto"
        wanted = MOST_TREES if automatic else self.n_estimators
        if wanted < len(self._keys):
            raise ValueError(
                f"n_estimators={wanted} is below the {len(self._keys)} trees that the forest has;"
                " with warm_start=True it can only grow"
            )
        record = None
        if self.oob_score or automatic:
            record = OutOfBag(self._oob_kind(), target, rows=target.rows)
            self._replay(record, columns, 0)
        bar = self._progress_bar(wanted)
        try:
            while len(self._keys) < wanted:
                first = len(self._keys)
                keys = [self._key(t) for t in range(first, min(first + BATCH, wanted))]
                fit.grow(self._ensemble, keys, self._draws, self.bootstrap, self._balances_bags())
                self._keys.extend(keys)
                if record is not None:
                    self._replay(record, columns, first)
                if bar:
                    bar.update(len(self._keys))
                if automatic and record is not None and has_settled(record.curve, target.rows):
                    break
        finally:
            if bar:
                bar.close()
        if record is not None:
            record.report(self)
        if self.keep_rows:
            self._remember_rows(columns, target, weight)

    def _replay(self, record: OutOfBag, columns: Any, first: int) -> None:
        """Show the record the trees from `first` on, each with the rows that it did not see."""
        threads = effective_threads(self.n_jobs)
        for t in range(first, len(self._keys)):
            record.add(self._ensemble, t, columns, self._bag_counts(t) == 0, threads)

    def _remember_rows(self, columns: Any, target: Target, weight: np.ndarray) -> None:
        self._row_leaves = self._ensemble.apply(columns, effective_threads(self.n_jobs))
        self._row_targets = target.values
        self._row_weights = weight

    def _training_rows(self, columns: Any, truth: np.ndarray) -> tuple[Any, np.ndarray]:
        """Those of the rows given to `fit` that the trees were grown on."""
        if self._kept_rows is not None and len(truth) > self._kept_rows.max(initial=0):
            columns, truth = take_rows(columns, self._kept_rows), truth[self._kept_rows]
        if len(truth) != self.n_samples_fit_:
            raise ValueError(
                f"the forest was fitted to {self.n_samples_fit_} rows, but here are {len(truth)}"
            )
        return columns, truth

    def _key(self, tree: int) -> int:
        return (self._seed + (tree + 1) * KEY_STEP) % 2**64

    def _bag_size(self, rows: int) -> int:
        if self.max_samples is None or not self.bootstrap:
            return rows
        if isinstance(self.max_samples, float | np.floating):
            return max(1, round(self.max_samples * rows))
        if self.max_samples > rows:
            raise ValueError(f"max_samples={self.max_samples} is more than the {rows} rows of X")
        return int(self.max_samples)

    def _bag_counts(self, tree: int) -> np.ndarray:
        """How often each training row is in the bag of a tree."""
        return _core.bag_counts(self.n_samples_fit_, self._draws, self.bootstrap, self._keys[tree])

    def _check_bags(self) -> None:
        if self.bootstrap:
            return
        if self.oob_score:
            raise ValueError(
                "oob_score=True needs bootstrap=True: without it every tree sees every row"
            )
        if self.n_estimators == "auto":
            raise ValueError(
                "n_estimators='auto' watches the out-of-bag error, and so needs bootstrap=True"
            )
        if self.max_samples is not None:
            raise ValueError("max_samples needs bootstrap=True")

    def _balances_bags(self) -> bool:
        return False

    def _progress_bar(self, wanted: int) -> Any:
        if not self.verbose:
            return None
        from bosquet.forests._progress import TreeBar

        return TreeBar(wanted)

    # --------------------------------------------------------------- predicting
    @property
    def n_estimators_(self) -> int:
        """Number of trees."""
        check_is_fitted(self, "_ensemble")
        return self._ensemble.n_trees

    def __len__(self) -> int:
        return self.n_estimators_

    def _mean(self, X: Any, ensemble: Any = None) -> np.ndarray:
        """The mean over trees of what leaves hold: (rows, stored outputs)."""
        check_is_fitted(self, "_ensemble")
        ensemble = ensemble or self._ensemble
        trees = ensemble.n_trees
        raw = ensemble.predict_raw(
            self._encoder.transform(X), 0, trees, effective_threads(self.n_jobs)
        )
        raw /= trees
        return raw

    def apply(self, X: Any) -> np.ndarray:
        """The leaf of each row in each tree, shape (n_samples, n_estimators)."""
        check_is_fitted(self, "_ensemble")
        return self._ensemble.apply(self._encoder.transform(X), effective_threads(self.n_jobs))

    # --------------------------------------------------------------- importance
    @property
    def feature_importances_(self) -> np.ndarray:
        """Mean decrease of impurity, each tree's made to sum to 1; sums to 1."""
        return self.importance("impurity").mean

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

    # ------------------------------------------------------------ what rows share
    def proximities(self, X: Any, Y: Any = None) -> Any:
        """Share of trees in which two rows fall into the same leaf; a SciPy sparse matrix.

        Only pairs that meet somewhere are stored. `.toarray()` gives all n × n numbers.
        """
        from bosquet.forests.proximity import proximities

        first = self.apply(X)
        return proximities(first, first if Y is None else self.apply(Y))

    def jackknife_standard_errors(self, X: Any) -> np.ndarray:
        """Standard error of each prediction by the jackknife after bootstrap.

        How much the forest would change with another sample of training rows; not how far a new
        observation lies from the prediction.

        References
        ----------
        Wager, Hastie and Efron, "Confidence intervals for random forests", JMLR 2014: the estimate, and the
        correction for a finite number of trees that is applied here.
        """
        from bosquet.forests.intervals import jackknife_standard_errors

        check_is_fitted(self, "_ensemble")
        if not self.bootstrap:
            raise ValueError("the jackknife after bootstrap needs bootstrap=True")
        return jackknife_standard_errors(self, self._encoder.transform(X))

    # ---------------------------------------------------------------- keeping
    def save(self, path: Any) -> None:
        """Write the forest to a file that `bosquet.load` reads."""
        from bosquet.io import save_model

        save_model(self, path)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
