"""Base class of the four forests: fitting, averaging over trees, out-of-bag errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from bosquet import _core
from bosquet._bags import OutOfBagRecord, has_settled
from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import SaveMixin, publishes_fit_atomically, set_feature_attributes
from bosquet._parameters import (
    MAX_COUNT,
    Check,
    boolean,
    check_parameters,
    choice,
    count_or_fraction,
    integer,
    number,
    number_of_features,
    or_auto,
)
from bosquet._progress import ProgressBar
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    effective_threads,
    seed_from,
)
from bosquet._weights import check_sample_weight
from bosquet.batches.training import TrainingBatches, training_input, with_batch_docs
from bosquet.data import BatchedColumns, TableEncoder, count_rows, take_rows
from bosquet.forests._inspection import ForestInspection
from bosquet.forests.distributed import DistributedForestColumns
from bosquet.trees.growing import (
    TreeTarget,
    cart_fit,
    code_table,
    empty_ensemble,
    growing_options,
    tree_key,
)

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Batches, TableLike
    from bosquet.data import Columns


# n_estimators="auto" grows trees until the out-of-bag error has settled: the mean over a window of trees
# is at most AUTO_TOLERANCE standard errors below the mean over the window before.
AUTO_WINDOW, AUTO_TOLERANCE, MAX_TREES = 40, 0.1, 1000
# Number of trees between two checks for Ctrl-C and updates of progress bar and out-of-bag error.
BATCH = 20

CHECKS = {
    "n_estimators": or_auto(integer(1)),
    "max_depth": integer(1, MAX_COUNT, none=True),
    "min_samples_split": count_or_fraction(2, "rows"),
    "min_samples_leaf": count_or_fraction(1, "rows"),
    "min_weight_fraction_leaf": number(0, 0.5),
    "max_features": number_of_features(),
    "max_leaf_nodes": integer(2, MAX_COUNT, none=True),
    "min_impurity_decrease": number(0),
    "bootstrap": boolean(),
    "oob_score": boolean(),
    "max_samples": count_or_fraction(1, "rows", none=True),
    "split": choice("histogram", "exact"),
    "max_bins": integer(2, 255),
    "voting": choice("soft", "hard"),
    "keep_rows": boolean(),
    "warm_start": boolean(),
    "verbose": integer(0),
}

# Attributes that only some fits set; `fit` deletes those of an earlier fit.
_FIT_ATTRIBUTES = (
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


class BaseForest(ForestInspection, SaveMixin, ExplainMixin, BaseEstimator):
    """An ensemble of trees grown on bags of rows, with features drawn at random at each node."""

    _random_thresholds = False
    _checks: ClassVar[dict[str, Check]]  # `CHECKS` and the criteria of the class
    _encoder: TableEncoder
    _ensemble: _core.Ensemble
    _hard_vote_ensemble: _core.Ensemble | None  # the same trees with hard votes in the leaves
    _keys: list[int]  # random seed of each tree, for its bag and its draws of features
    n_outputs_: int
    n_samples_fit_: int  # number of rows with a weight above 0, which the trees are grown on

    # ------------------------------------------------------------------ fitting
    @with_batch_docs
    @publishes_fit_atomically
    def fit(
        self,
        X: TableLike | Batches,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | str | None = None,
        *,
        target: str | list[str] | None = None,
        memory_limit: float | str | None = None,
    ) -> Self:
        """Grow the forest.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or table in batches
            {X}
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, or numbers for regression; one column per target. None with `target`.
        sample_weight : array of shape (n_samples,) or name of a column, optional
            Weights of the rows, at least 0. Rows of weight 0 are in no bag. None: equal weights.
        {targets}
        {memory_limit}

        Returns
        -------
        self
        """
        if self.warm_start and hasattr(self, "merged_rows_"):
            raise ValueError(
                "warm_start=True is not supported for a merged forest, because its trees were grown on"
                " different tables; set warm_start=False or fit the parts"
            )
        for name in _FIT_ATTRIBUTES:
            self.__dict__.pop(name, None)
        check_parameters(self, self._checks)
        with training_input(
            X,
            y,
            target=target,
            memory_limit=memory_limit,
            verbose=bool(self.verbose),
            sample_weight=sample_weight,
        ) as given:
            return self._fit(given.X, given.y, given.sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        continuing = self.warm_start and hasattr(self, "_ensemble")
        encoder, columns = self._encode_training(X, continuing)
        n_rows = count_rows(columns)
        target = self._check_target(y, n_rows, continuing)
        own_weight = check_sample_weight(sample_weight, n_rows)
        weight = self._check_weight(own_weight, target, y)
        self._check_bags()
        record = self._new_oob_record(target, own_weight, weight)

        # Rows of weight 0 are removed, so that they cannot affect the bags either.
        self._kept_rows = None
        if weight.size and (weight == 0).any():
            self._kept_rows = np.flatnonzero(weight)
            columns, target = take_rows(columns, self._kept_rows), target.take(self._kept_rows)
            weight, n_rows = weight[self._kept_rows], self._kept_rows.size
        if continuing and n_rows != self.n_samples_fit_:
            # Bags are not stored but drawn again from the seed and the number of rows.
            raise ValueError(
                f"X has {n_rows} rows of weight > 0, but the forest was fitted to {self.n_samples_fit_};"
                " warm_start=True adds trees for the same rows"
            )

        set_feature_attributes(self, encoder)
        self.n_samples_fit_ = n_rows
        self._draws = self._bag_size(n_rows)
        if continuing:
            self._ensemble, self._keys = self._ensemble.copy(), list(self._keys)
        else:
            self._ensemble, self._keys = empty_ensemble(encoder, target), []
            self._seed = seed_from(self.random_state)
        self._grow(columns, target, weight, record)
        self._hard_vote_ensemble = None
        if getattr(self, "voting", "soft") == "hard":
            self._hard_vote_ensemble = self._with_hard_votes()
        if record is not None:
            self._set_oob_attributes(record)
        if self.keep_rows and not isinstance(columns, BatchedColumns):
            self._store_training_rows(columns, target, weight)
        return self

    def _encode_training(
        self, X: Any, continuing: bool
    ) -> tuple[TableEncoder, Columns | BatchedColumns]:
        owner, categorical = type(self).__name__, self.categorical_features
        if isinstance(X, TrainingBatches):
            self._check_batches()
            if continuing:
                return self._encoder, X.encoded(self._encoder, owner)
            encoder = X.fit_encoder(categorical_features=categorical, owner=owner)
            return encoder, X.encoded(encoder, owner)
        if continuing:
            return self._encoder, self._encoder.transform(X, owner=owner)
        return TableEncoder.fit_encode(X, categorical_features=categorical, owner=owner)

    def _check_batches(self) -> None:
        """Raise a ValueError for parameters that need the values of all columns in memory."""
        needs = {
            "split='exact'": (self.split == "exact", "set split='histogram'"),
            "oob_score=True": (self.oob_score, "set oob_score=False"),
            "n_estimators='auto'": (self.n_estimators == "auto", "set n_estimators to a number"),
            "keep_rows=True": (self.keep_rows, "set keep_rows=False"),
        }
        for parameter, (is_set, advice) in needs.items():
            if is_set:
                raise ValueError(
                    f"{parameter} needs the whole table in memory, but X is read in batches; {advice}, or"
                    " pass a table in memory"
                )

    def _grow(
        self,
        columns: Columns | BatchedColumns,
        target: TreeTarget,
        weight: np.ndarray,
        record: OutOfBagRecord | None,
    ) -> None:
        fit, batch = self._forest_fit(columns, target, weight)
        automatic = self.n_estimators == "auto"
        n_trees = MAX_TREES if automatic else self.n_estimators
        if n_trees < len(self._keys):
            raise ValueError(
                f"n_estimators={n_trees} is smaller than the number of fitted trees ({len(self._keys)});"
                f" with warm_start=True, pass a value >= {len(self._keys)}"
            )
        if record is not None:
            self._add_oob_votes(record, columns, 0)
        bar = ProgressBar(n_trees) if self.verbose else None
        try:
            while len(self._keys) < n_trees:
                first = len(self._keys)
                keys = [self._key_of_tree(t) for t in range(first, min(first + batch, n_trees))]
                fit.grow(self._ensemble, keys, self._draws, self.bootstrap, self._balances_bags())
                self._keys.extend(keys)
                if record is not None:
                    self._add_oob_votes(record, columns, first)
                if bar:
                    error = f"out-of-bag error {record.error:.5g}" if record is not None else ""
                    bar.show(len(self._keys), error)
                if (
                    automatic
                    and record is not None
                    and has_settled(
                        record.curve, AUTO_WINDOW, AUTO_TOLERANCE * record.standard_error
                    )
                ):
                    break
        finally:
            if bar:
                bar.close()
            if isinstance(columns, DistributedForestColumns):
                fit.close()

    def _forest_fit(
        self, columns: Columns | BatchedColumns, target: TreeTarget, weight: np.ndarray
    ) -> tuple[Any, int]:
        """Return the object that grows trees, and how many it grows at a time."""
        total_weight = float(weight.sum()) if weight.size else float(target.n_rows)
        options = growing_options(self, self._encoder, total_weight)
        options["random_thresholds"] = self._random_thresholds
        if isinstance(columns, DistributedForestColumns):
            fit = columns.forest_fit(
                self._encoder, target, weight, options, max_bins=self.max_bins, seed=self._seed
            )
            return fit, BATCH * columns.n_processes
        threads = effective_threads(self.n_jobs)
        table = code_table(
            columns,
            self._encoder,
            exact=self.split == "exact",
            threads=threads,
            max_bins=self.max_bins,
            seed=self._seed,
        )
        return cart_fit(table, target, weight, options, threads), BATCH

    # --------------------------------------------------------------- out of bag
    def _new_oob_record(
        self, target: TreeTarget, own_weight: np.ndarray, weight: np.ndarray
    ) -> OutOfBagRecord | None:
        """Return an empty out-of-bag record of all rows; None if it is not needed.

        The errors weight rows by `own_weight`, their sample_weight without class weights, which are for
        growing trees only. Rows that no tree is grown on (`weight` 0) do not enter the errors.
        """
        if not self.oob_score and self.n_estimators != "auto":
            return None
        error_weight = own_weight if own_weight.size else np.ones(target.n_rows)
        if weight.size:
            error_weight = np.where(weight > 0, error_weight, 0.0)
        return OutOfBagRecord(target.by_row, error_weight, self._oob_losses())

    def _add_oob_votes(
        self, record: OutOfBagRecord, columns: Columns | BatchedColumns, first: int
    ) -> None:
        """Add the out-of-bag votes of the trees from number `first` on to the record."""
        assert not isinstance(columns, BatchedColumns)  # see `_check_batches`
        threads = effective_threads(self.n_jobs)
        for t in range(first, len(self._keys)):
            rows = np.flatnonzero(self._bag_counts(t) == 0)
            votes = None
            if rows.size:
                raw = self._ensemble.predict_raw(take_rows(columns, rows), t, t + 1, threads)
                votes = self._votes_from_raw(raw)
            record.add(rows if self._kept_rows is None else self._kept_rows[rows], votes)

    def _set_oob_attributes(self, record: OutOfBagRecord) -> None:
        self.oob_curve_ = np.asarray(record.curve)
        self.oob_error_ = record.error
        self.oob_tree_error_ = record.learner_error
        self._set_oob_predictions(record)
        record.warn_of_rows_in_every_bag()

    def _store_training_rows(
        self, columns: Columns, target: TreeTarget, weight: np.ndarray
    ) -> None:
        self._row_leaves = self._ensemble.apply(columns, effective_threads(self.n_jobs))
        self._row_targets = target.values
        self._row_weights = weight

    def _training_rows(
        self, columns: Columns, truth: np.ndarray
    ) -> tuple[Any, np.ndarray, np.ndarray | None]:
        """Select the rows of the training data that the trees were grown on.

        Returns the columns and the targets of these rows, and their numbers (None: all rows).
        """
        kept_rows = None
        if self._kept_rows is not None and len(truth) > self._kept_rows.max(initial=0):
            kept_rows = self._kept_rows
            columns, truth = take_rows(columns, kept_rows), truth[kept_rows]
        if len(truth) != self.n_samples_fit_:
            raise ValueError(
                f"X has {len(truth)} rows, but the forest was fitted to {self.n_samples_fit_};"
                " pass the training data"
            )
        return columns, truth, kept_rows

    def _key_of_tree(self, tree: int) -> int:
        return tree_key(self._seed, tree)

    def _bag_size(self, n_rows: int) -> int:
        if self.max_samples is None or not self.bootstrap:
            return n_rows
        if isinstance(self.max_samples, float | np.floating):
            return max(1, round(self.max_samples * n_rows))
        if self.max_samples > n_rows:
            raise ValueError(
                f"max_samples={self.max_samples} exceeds the number of rows ({n_rows});"
                f" pass a value <= {n_rows} or a fraction in (0, 1]"
            )
        return int(self.max_samples)

    def _bag_counts(self, tree: int) -> np.ndarray:
        """Return how often each training row is in the bag of a tree."""
        if hasattr(self, "merged_rows_"):
            raise ValueError(
                f"this forest was merged from {len(self.merged_rows_)} parts, whose bags belong to different"
                " tables; use the forests of the parts for results that need the bags"
            )
        return _core.bag_counts(self.n_samples_fit_, self._draws, self.bootstrap, self._keys[tree])

    def _check_bags(self) -> None:
        if self.bootstrap:
            return
        if self.oob_score:
            raise ValueError(
                "oob_score=True needs out-of-bag rows, but bootstrap=False grows every tree on all rows;"
                " set bootstrap=True"
            )
        if self.n_estimators == "auto":
            raise ValueError(
                "n_estimators='auto' needs the out-of-bag error, but bootstrap=False; set bootstrap=True"
            )
        if self.max_samples is not None:
            raise ValueError(
                f"max_samples={self.max_samples!r} needs bootstrap samples, but bootstrap=False; set"
                " bootstrap=True or max_samples=None"
            )

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

    def _mean_of_trees(self, X: TableLike, ensemble: Any = None) -> np.ndarray:
        """Return the mean over the trees of the leaf values, shape (rows, stored outputs)."""
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
