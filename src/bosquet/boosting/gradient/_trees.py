"""Boosted trees of the core: their sum, and the step that adds the trees of a round."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet.boosting._inputs import threads_for
from bosquet.boosting.gradient._rows import EncodedRows
from bosquet.boosting.gradient._target_statistics import TargetStatistics, TrainingStatistics
from bosquet.data import BatchedColumns
from bosquet.losses import CustomLoss, NativeLoss
from bosquet.trees.binning import bin_table, learn_bins
from bosquet.trees.copying import add_copy

if TYPE_CHECKING:
    from bosquet.data import Columns


class TreeTerms:
    """Trees of the core, over encoded columns; with several runs, the trees of all runs round by round.

    With `statistics`, the columns of the trees are computed from the encoded columns.
    """

    def __init__(
        self,
        ensemble: _core.Ensemble,
        runs: int = 1,
        statistics: TargetStatistics | None = None,
    ):
        self.ensemble = ensemble
        self.runs = runs
        self.statistics = statistics

    @property
    def trees_per_round(self) -> int:
        outputs = 1 if self.ensemble.vector_leaves else self.ensemble.n_outputs
        return outputs * self.runs

    @property
    def n_rounds(self) -> int:
        return self.ensemble.n_trees // self.trees_per_round

    def truncate(self, n_rounds: int) -> None:
        self.ensemble.truncate(n_rounds * self.trees_per_round)

    def copy(self) -> TreeTerms:
        return TreeTerms(self.ensemble.copy(), self.runs, self.statistics)

    def tree_columns(self, columns: Columns, threads: int = 1) -> Columns:
        """Return the columns of the trees, from encoded columns."""
        if self.statistics is None:
            return columns
        return self.statistics.tree_columns(columns, threads)

    def predict_raw(
        self,
        columns: Columns | BatchedColumns,
        threads: int,
        first: int = 0,
        last: int | None = None,
    ) -> np.ndarray:
        """Return raw predictions (rows, outputs) of rounds [first, last); the constants belong to round 0."""
        if isinstance(columns, BatchedColumns):
            return np.concatenate(
                [self.predict_raw(batch, threads, first, last) for batch in columns]
            )
        return self.raw_of_trees(self.tree_columns(columns, threads), threads, first, last)

    def raw_of_trees(
        self, columns: Columns, threads: int, first: int = 0, last: int | None = None
    ) -> np.ndarray:
        """Return the same from the columns of the trees."""
        each = self.trees_per_round
        last = self.n_rounds if last is None else last
        return self.ensemble.predict_raw(columns, first * each, last * each, threads)


def mean_of_runs(runs: Sequence[TreeTerms]) -> TreeTerms:
    """Return the mean of several runs with the same number of rounds, as one sum of trees.

    It holds the trees of all runs with their values divided by the number of runs, round by round: the
    first t rounds of the mean are the mean of the first t rounds.
    """
    ensembles = [run.ensemble for run in runs]
    first = ensembles[0]
    base = np.mean([ensemble.base for ensemble in ensembles], axis=0)
    mean = _core.Ensemble(
        first.n_features,
        first.n_outputs,
        base.tolist(),
        first.categories.tolist(),
        first.vector_leaves,
    )
    trees_per_round = runs[0].trees_per_round
    for round_ in range(runs[0].n_rounds):
        for ensemble in ensembles:
            for tree in range(round_ * trees_per_round, (round_ + 1) * trees_per_round):
                add_copy(mean, ensemble, tree, 1 / len(runs))
    return TreeTerms(mean, len(runs), runs[0].statistics)


class TreeStepper:
    """Adds the trees of a round: one of the core per output, or one for all outputs."""

    def __init__(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        terms: TreeTerms | None,
        *,
        categories: list[int],
        options: dict[str, Any],
        max_bins: int,
        threads: int,
        vector_leaves: bool = False,
        statistics: TrainingStatistics | None = None,
    ):
        start_time = time.perf_counter()
        threads = threads_for(train.n_rows, len(categories), threads)
        self.statistics, self.seed = statistics, options["seed"]
        columns = self._columns_of_version(train, 0)
        bins = learn_bins(
            columns,
            categories,
            train.weight,
            max_bins=max_bins,
            seed=self.seed,
            threads=threads,
        )
        self.bins = bins
        matrix = bin_table(columns, bins, threads)
        self.loss = loss
        self.core_loss = core_loss(loss)
        self.core_fit = _core.BoostingFit(
            matrix,
            bins,
            train.target,
            train.weight,
            self.core_loss,
            options,
            instruction_set(),
            threads,
        )
        del matrix, columns
        for version in range(1, statistics.versions if statistics else 1):
            table = bin_table(self._columns_of_version(train, version), bins, threads)
            self.core_fit.add_version(table)
        self.validation = validation
        if validation is not None:
            columns = validation.columns
            if isinstance(columns, BatchedColumns) and statistics is not None:
                columns = columns.map(statistics.target_statistics.tree_columns)
            elif statistics is not None:
                columns = statistics.target_statistics.tree_columns(columns, threads)
            validation_matrix = bin_table(columns, bins, threads)
            self.core_fit.set_validation(validation_matrix, validation.target, validation.weight)
        self.train = train
        self.newton = options["newton"]
        self.binning_seconds = time.perf_counter() - start_time
        self._final_timings: dict[str, float] | None = None
        self._start_fit(terms, threads, categories, vector_leaves)

    def _start_fit(
        self, terms: TreeTerms | None, threads: int, categories: list[int], vector_leaves: bool
    ) -> None:
        if terms is None:
            train = self.train
            base = self.loss.best_constants(train.target, train.weight, train.offset)
            ensemble = _core.Ensemble(
                len(categories),
                self.loss.outputs,
                [float(b) for b in base],
                categories,
                vector_leaves,
            )
            terms = TreeTerms(
                ensemble, statistics=self.statistics.target_statistics if self.statistics else None
            )
        self.terms = terms
        parts = [part for part in (self.train, self.validation) if part is not None]
        if terms.n_rounds == 0 and all(part.offset is None for part in parts):
            self.core_fit.start_from(terms.ensemble.base)
        else:
            validation_raw = None
            if self.validation is not None:
                validation_raw = self.validation.with_offset(
                    terms.predict_raw(self.validation.columns, threads).T
                )
            self.core_fit.start(
                self.train.with_offset(self._raw_of_training_rows(threads).T), validation_raw
            )
        if isinstance(self.loss, CustomLoss):
            self.loss.compare_derivatives(self.train.target, self.core_fit.raw())

    def _columns_of_version(self, train: EncodedRows, version: int) -> Columns | BatchedColumns:
        """Return the columns of the trees for the training rows, in one of the versions of the statistics."""
        if self.statistics is None:
            return train.columns
        return self.statistics.tree_columns(self.seed, version)

    def _raw_of_training_rows(self, threads: int) -> np.ndarray:
        """Return the raw predictions of the training rows that the rounds so far have seen."""
        if self.statistics is None:
            return self.terms.predict_raw(self.train.columns, threads)
        return self.terms.raw_of_trees(self.statistics.tree_columns(self.seed, 0), threads)

    def release(self) -> None:
        """Free the bins and the state of the fit; only the terms and the timings remain."""
        self._final_timings = self.timings()
        del self.core_fit, self.train, self.validation, self.statistics

    def step(self) -> None:
        loss = self.loss
        if isinstance(loss, NativeLoss):
            self.core_fit.round(self.terms.ensemble)
            return
        raw = self.core_fit.raw()
        gradient, hessian = loss.gradient_hessian(self.train.target, raw)
        pairs = np.stack([gradient, hessian], axis=2).astype(np.float32)
        if self.train.weight.size:
            pairs *= self.train.weight[None, :, None].astype(np.float32)
        if self.newton:
            self.core_fit.round(self.terms.ensemble, pairs)
            return

        def minimisers(leaf: np.ndarray, n_leaves: int, output: int) -> np.ndarray:
            return loss.leaf_minimisers(
                self.train.target, self.core_fit.raw(), self.train.weight, leaf, n_leaves, output
            )

        self.core_fit.round(self.terms.ensemble, pairs, minimisers)

    def train_loss(self) -> float:
        if isinstance(self.loss, NativeLoss):
            return self.core_fit.train_loss()
        return self.loss.mean_loss(self.train.target, self.core_fit.raw(), self.train.weight)

    def validation_loss(self) -> float | None:
        if self.validation is None:
            return None
        if isinstance(self.loss, NativeLoss):
            return self.core_fit.validation_loss()
        part = self.validation
        return self.loss.mean_loss(part.target, self.core_fit.raw(validation=True), part.weight)

    def timings(self) -> dict[str, float]:
        """Return seconds by phase; the phases of growing are summed over threads."""
        if self._final_timings is not None:
            return self._final_timings
        return {"bin": self.binning_seconds, **self.core_fit.timings()}


def core_loss(loss: NativeLoss | CustomLoss) -> _core.Loss:
    """Return the core's loss; for a custom loss the core only needs the number of outputs."""
    if isinstance(loss, NativeLoss):
        return loss.core
    return _core.Loss("squared_error", loss.outputs, loss.targets, [])
