"""What the four forests share: fitting, voting, the out-of-bag record."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._bags import OutOfBag, has_settled
from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, remember_columns
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
from bosquet._progress import Bar
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    effective_threads,
    seed_from,
)
from bosquet._targets import check_sample_weight
from bosquet.data import TableEncoder, n_rows, take_rows
from bosquet.forests._questions import Questions
from bosquet.trees._growing import (
    Target,
    cart_fit,
    code_table,
    empty_ensemble,
    growing_options,
)

# n_estimators="auto" grows until the mean of the out-of-bag error over a window of trees is no further
# below that over the window before than this share of its standard error, and stops here at the latest.
AUTO_WINDOW, AUTO_CLOSE, MOST_TREES = 40, 0.1, 1000
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
    "merged_rows_",
    "oob_curve_",
    "oob_decision_function_",
    "oob_error_",
    "oob_prediction_",
    "oob_score_",
    "oob_tree_error_",
)


class BaseForest(Questions, Saved, Explained, BaseEstimator):
    """Trees grown on bags of rows, with some of the features drawn at each node."""

    _random_thresholds = False
    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    _hardened: _core.Ensemble | None  # the same trees with votes in place of shares
    _keys: list[int]  # by tree: what its bag and its draws follow from
    n_outputs_: int
    n_samples_fit_: int  # rows that trees are grown on: those of weight above 0

    # ------------------------------------------------------------------ fitting
    @fits_aside
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
        if self.warm_start and hasattr(self, "merged_rows_"):
            raise ValueError(
                "warm_start=True adds trees on the same rows, which a merged forest does not have"
            )
        for name in _OF_ONE_FIT:
            self.__dict__.pop(name, None)
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, CHECKS)
        self._check_criterion()
        continuing = self.warm_start and hasattr(self, "_ensemble")
        if continuing:
            encoder, columns = self._encoder, self._encoder.transform(X, owner=type(self).__name__)
        else:
            encoder, columns = TableEncoder.fit(
                X, categorical_features=self.categorical_features, owner=type(self).__name__
            )
        rows = n_rows(columns)
        target = self._check_target(y, rows, continuing)
        own_weight = check_sample_weight(sample_weight, rows)
        weight = self._check_weight(own_weight, target, y)
        self._check_bags()
        record = self._open_record(target, own_weight, weight)

        # A row of weight 0 must not matter, not even by being drawn.
        self._kept_rows = None
        if weight.size and (weight == 0).any():
            self._kept_rows = np.flatnonzero(weight)
            columns, target = take_rows(columns, self._kept_rows), target.take(self._kept_rows)
            weight, rows = weight[self._kept_rows], self._kept_rows.size
        if continuing and rows != self.n_samples_fit_:
            # Bags are drawn again from the seed and the number of rows whenever they are asked for.
            raise ValueError(
                f"warm_start=True adds trees on the same rows: here are {rows}, but the forest was fitted"
                f" to {self.n_samples_fit_}"
            )

        remember_columns(self, encoder)
        self.n_samples_fit_ = rows
        self._draws = self._bag_size(rows)
        if continuing:
            self._ensemble, self._keys = self._ensemble.copy(), list(self._keys)
        else:
            self._ensemble, self._keys = empty_ensemble(encoder, target), []
            self._seed = seed_from(self.random_state)
        self._grow(columns, target, weight, record)
        self._hardened = None
        if getattr(self, "voting", "soft") == "hard":
            self._hardened = self._harden()
        if record is not None:
            self._publish(record)
        if self.keep_rows:
            self._remember_rows(columns, target, weight)
        return self

    def _grow(
        self, columns: Any, target: Target, weight: np.ndarray, record: OutOfBag | None
    ) -> None:
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
        fit = cart_fit(table, target, weight, options, threads)
        automatic = self.n_estimators == "auto"
        wanted = MOST_TREES if automatic else self.n_estimators
        if wanted < len(self._keys):
            raise ValueError(
                f"n_estimators={wanted} is below the {len(self._keys)} trees that the forest has;"
                " with warm_start=True it can only grow"
            )
        if record is not None:
            self._replay(record, columns, 0)
        bar = Bar(wanted) if self.verbose else None
        try:
            while len(self._keys) < wanted:
                first = len(self._keys)
                keys = [self._key(t) for t in range(first, min(first + BATCH, wanted))]
                fit.grow(self._ensemble, keys, self._draws, self.bootstrap, self._balances_bags())
                self._keys.extend(keys)
                if record is not None:
                    self._replay(record, columns, first)
                if bar:
                    error = f"out-of-bag error {record.error:.5g}" if record is not None else ""
                    bar.show(len(self._keys), error)
                if (
                    automatic
                    and record is not None
                    and has_settled(record.curve, AUTO_WINDOW, AUTO_CLOSE * record.standard_error)
                ):
                    break
        finally:
            if bar:
                bar.close()

    # --------------------------------------------------------------- out of bag
    def _open_record(
        self, target: Target, own_weight: np.ndarray, weight: np.ndarray
    ) -> OutOfBag | None:
        """The out-of-bag record of all rows given, if it is wanted.

        Rows count by their own weight there: that of their class is for growing trees. Rows that no tree
        is grown on (their `weight` is 0) count for nothing.
        """
        if not self.oob_score and self.n_estimators != "auto":
            return None
        counted = own_weight if own_weight.size else np.ones(target.rows)
        if weight.size:
            counted = np.where(weight > 0, counted, 0.0)
        return OutOfBag(target.by_row, counted, self._oob_losses())

    def _replay(self, record: OutOfBag, columns: Any, first: int) -> None:
        """Show the record the trees from `first` on, each with the rows that it did not see."""
        threads = effective_threads(self.n_jobs)
        for t in range(first, len(self._keys)):
            rows = np.flatnonzero(self._bag_counts(t) == 0)
            votes = None
            if rows.size:
                raw = self._ensemble.predict_raw(take_rows(columns, rows), t, t + 1, threads)
                votes = self._votes(raw)
            record.add(rows if self._kept_rows is None else self._kept_rows[rows], votes)

    def _publish(self, record: OutOfBag) -> None:
        self.oob_curve_ = np.asarray(record.curve)
        self.oob_error_ = record.error
        self.oob_tree_error_ = record.learner_error
        self._publish_votes(record)
        record.warn_of_rows_in_every_bag()

    def _remember_rows(self, columns: Any, target: Target, weight: np.ndarray) -> None:
        self._row_leaves = self._ensemble.apply(columns, effective_threads(self.n_jobs))
        self._row_targets = target.values
        self._row_weights = weight

    def _training_rows(
        self, columns: Any, truth: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Those of the rows given to `fit` that the trees were grown on, and which they are."""
        kept = None
        if self._kept_rows is not None and len(truth) > self._kept_rows.max(initial=0):
            kept = self._kept_rows
            columns, truth = take_rows(columns, kept), truth[kept]
        if len(truth) != self.n_samples_fit_:
            raise ValueError(
                f"the forest was fitted to {self.n_samples_fit_} rows, but here are {len(truth)}"
            )
        return columns, truth, kept

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
        if hasattr(self, "merged_rows_"):
            raise ValueError(
                f"this forest was merged of {len(self.merged_rows_)} parts: its trees have bags of different"
                " tables, which it does not know"
            )
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
            self._encoder.transform(X, owner=type(self).__name__),
            0,
            trees,
            effective_threads(self.n_jobs),
        )
        raw /= trees
        return raw

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
