"""Base class of the gradient boosting classifier and regressor: fitting."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet import _core
from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import (
    SaveMixin,
    set_feature_attributes,
)
from bosquet._parameters import is_splitter
from bosquet._sklearn import (
    BaseEstimator,
    accepts_missing,
    effective_threads,
    rows_of,
    seed_from,
    tags_of,
)
from bosquet._weights import check_sample_weight
from bosquet.batches.training import TrainingBatches, TrainingInput, training_input
from bosquet.boosting._inputs import MAX_LEAVES, as_indexable
from bosquet.boosting.gradient._boosted_sum import BoostedSum
from bosquet.boosting.gradient._checkpoint import (
    FinishedStepper,
    FitCheckpoint,
    check_checkpoint,
    identity_of_fit,
)
from bosquet.boosting.gradient._folds import (
    FoldsStepper,
    boost_side_by_side,
    fold_rows,
    given_folds,
    rounds_on_all_rows,
)
from bosquet.boosting.gradient._learners import LearnerStepper, LearnerTerms
from bosquet.boosting.gradient._offsets import WithOffset, check_offset
from bosquet.boosting.gradient._parameters import (
    check_continuing,
    check_folds,
    check_parameters,
    derive_constraints,
    feature_share,
    interaction_groups,
)
from bosquet.boosting.gradient._rows import EncodedRows, FitRows, rows_of_eval_set, scale_weight
from bosquet.boosting.gradient._target_statistics import TrainingStatistics
from bosquet.boosting.gradient._trees import TreeStepper, TreeTerms, mean_of_runs
from bosquet.boosting.gradient.automatic import (
    MULTI_OUTPUT_TREE,
    TrainingShape,
    candidate_parameters,
)
from bosquet.boosting.gradient.distributed import DistributedColumns
from bosquet.boosting.rounds import (
    Callback,
    EarlyStopping,
    FitStart,
    LossHistory,
    fingerprint,
    run_rounds,
    split_rows,
    start_of_fit,
)
from bosquet.data import UNSEEN, BatchedColumns, TableEncoder, count_rows, take_rows
from bosquet.trees.growing import directions_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Batches, EvalSet, TableLike
    from bosquet.data import Columns
    from bosquet.losses import CustomLoss, NativeLoss


GradientTerms = TreeTerms | LearnerTerms
GradientStepper = TreeStepper | LearnerStepper

# Below this number of rows, several runs are boosted side by side, each in one thread.
ROWS_OF_PARALLEL_RUNS = 20_000
# With more levels in some column, categorical_encoding="auto" uses target statistics.
AUTO_TARGET_LEVELS = 255


class BaseGradientBoosting(BoostedSum, SaveMixin, ExplainMixin, BaseEstimator):
    """Fitting; the subclasses encode the target and choose the loss."""

    _seed: int
    parameters_: dict[str, Any]
    train_score_: np.ndarray
    validation_loss_: np.ndarray
    validation_score_: np.ndarray
    _checkpoint: FitCheckpoint | None  # only during a fit
    _validation_fingerprint: int | None  # of the validation set that the model was not trained on

    # ------------------------------------------------------------------ fitting
    def _fit(
        self,
        X: TableLike | Batches,
        y: ArrayLike | None,
        sample_weight: ArrayLike | str | None,
        eval_set: EvalSet,
        *,
        target: str | list[str] | None,
        memory_limit: float | str | None,
        checkpoint: str | os.PathLike[str] | None,
        **offsets: ArrayLike | str | None,
    ) -> Self:
        check_parameters(self)
        if checkpoint is not None:
            check_checkpoint(self)
        by_row = {"sample_weight": sample_weight, **offsets}
        with training_input(
            X, y, target=target, memory_limit=memory_limit, verbose=bool(self.verbose), **by_row
        ) as given:
            return self._fit_to(given, eval_set, checkpoint)

    def _fit_to(
        self,
        given: TrainingInput,
        eval_set: EvalSet,
        folder: str | os.PathLike[str] | None,
    ) -> Self:
        continuing = self.warm_start and hasattr(self, "_terms")
        if continuing:
            check_continuing(self)
        if isinstance(given.X, TrainingBatches):
            self._check_batches(eval_set)
        encoder, columns = self._encode_training(given.X, continuing)
        target, n_samples = self._check_target(given.y, columns, continuing)
        loss = self._loss if continuing else self._make_loss(target)
        weight = self._check_weight(given.sample_weight, target, n_samples)
        shape = TrainingShape(
            int(np.count_nonzero(weight)) if weight.size else n_samples,
            loss.outputs,
            self._class_shares(target, weight),
            columns=encoder.n_features,
        )
        if self.estimator is None:
            _core.check_boosted_rows(shape.n_rows)
        earlier = getattr(self, "parameters_", None) if continuing else None
        candidates = candidate_parameters(self, shape, eval_set is not None, earlier)
        self.parameters_ = candidates[0]
        scaled = scale_weight(self, weight, encoder)
        loss.check_targets(target)
        offset = check_offset(given.offset, given.exposure, loss, n_samples)
        all_rows = EncodedRows(columns, target, scaled.weight, scaled.factor, offset)
        has_offset = given.offset is not None or given.exposure is not None

        # A warm start keeps the seed: the same random draws as in one longer fit, the same validation set.
        known = continuing and hasattr(self, "_seed")
        self._checkpoint = None
        if folder is not None:
            self._checkpoint = FitCheckpoint(folder, identity_of_fit(self, all_rows, encoder))
            self._seed = self._checkpoint.start(self.random_state)
        elif not known:
            self._seed = seed_from(self.random_state)
        fit_rows = self._split_fit_rows(all_rows, eval_set, encoder, loss, self._seed, has_offset)
        self._loss = loss
        set_feature_attributes(self, encoder)
        if self.parameters_["early_stopping"] == "cv":
            check_folds(self, eval_set)
            self._fit_by_folds(fit_rows, n_samples, encoder, candidates)
        else:
            score = (
                self._make_scorer(given.X, given.y, eval_set, fit_rows)
                if self._stops_early()
                else None
            )
            self._fit_by_validation_set(fit_rows, continuing, score)
        del self._checkpoint
        return self

    def _fit_by_validation_set(
        self,
        fit_rows: FitRows,
        continuing: bool,
        score: Callable[[], float] | None,
    ) -> None:
        """Boost until the validation set stops the rounds, or for a given number of rounds."""
        previous = self._terms if continuing else None
        start = start_of_fit(
            self,
            previous,
            self.__dict__.pop("_stopping_state", None),
            self._compute_validation_fingerprint(fit_rows),
            patience=self.parameters_["n_iter_no_change"],
            tol=self.tol,
            scoring=None if self.scoring == "loss" else self.scoring,
            is_split_off=fit_rows.validation_rows is not None,
        )
        stepper = self._run(
            "first run",
            fit_rows.train,
            fit_rows.validation,
            self._seed,
            start.terms,
            self.parameters_["n_estimators"],
            history=start.history,
            stopping=start.stopping,
            score=score,
            callbacks=self.callbacks or (),
        )
        self._finish(stepper, start, fit_rows, previous)
        self._store_losses(start.history)

    def _fit_by_folds(
        self,
        fit_rows: FitRows,
        n_samples: int,
        encoder: TableEncoder,
        candidates: list[dict[str, Any]],
    ) -> None:
        """Choose parameters and the number of rounds by cross-validation, then fit to all rows."""
        rows = fit_rows.all_rows
        strata = self._strata(rows.target)
        if is_splitter(self.cv):
            y = rows.target[0] if strata is None else strata
            folds = given_folds(self.cv, y, n_samples, fit_rows.weighted_rows)
        else:
            folds = fold_rows(rows.n_rows, self.cv, self._seed, strata)
        row_pairs = [
            (self._take_rows(rows, train), self._take_rows(rows, held_out))
            for train, held_out in folds
        ]
        best, best_loss = None, np.inf
        for candidate in candidates:
            self.parameters_ = candidate
            history = self._cross_validate(row_pairs, encoder)
            loss = min(history.validation_loss)
            if best is None or loss < best_loss:
                best, best_loss = (candidate, history), loss
            if history.stopped_by == "callback":
                break
        assert best is not None
        self.parameters_, history = best
        n_rounds = rounds_on_all_rows(history.best_round or 1, folds, rows.n_rows)
        n_rounds = min(n_rounds, self.parameters_["n_estimators"])
        stepper = self._run("first run", rows, None, self._seed, None, n_rounds)
        self._validation_fingerprint = None
        self._terms = self._mean_with_other_runs(stepper.terms, rows)
        self.timings_ = stepper.timings()
        self._store_losses(history)

    def _cross_validate(
        self, folds: list[tuple[EncodedRows, EncodedRows]], encoder: TableEncoder
    ) -> LossHistory:
        """Return the mean losses of the folds (training and validation rows), until they no longer fall."""
        steppers = [
            self._make_stepper(train, validation, self._loss, encoder, self._seed, None, threads=1)
            for train, validation in folds
        ]
        weights = [
            validation.weight.sum() if validation.weight.size else validation.n_rows
            for _, validation in folds
        ]
        history = LossHistory()
        self._terms = steppers[0].terms  # a callback may save the model
        self._store_losses(history)
        run_rounds(
            FoldsStepper(steppers, weights, effective_threads(self.n_jobs)),
            model=self,
            n_rounds=self.parameters_["n_estimators"],
            stopping=EarlyStopping(self.parameters_["n_iter_no_change"], self.tol),
            score=None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=history,
        )
        return history

    def _mean_with_other_runs(self, terms: GradientTerms, rows: EncodedRows) -> GradientTerms:
        """Return the mean of this run and of the other `n_runs` - 1, which have other seeds."""
        seeds = seeds_of_runs(self._seed, self.parameters_["n_runs"])[1:]
        if not seeds:
            return terms
        threads = effective_threads(self.n_jobs)
        if rows.n_rows < ROWS_OF_PARALLEL_RUNS:
            others = [
                self._make_stepper(rows, None, self._loss, self._encoder, seed, None, threads=1)
                for seed in seeds
            ]
            boost_side_by_side(others, terms.n_rounds, threads)
            runs = [terms, *(other.terms for other in others)]
        else:  # one after the other, each with all threads: the bins of one run are in memory at a time
            runs = [terms]
            for number, seed in enumerate(seeds, start=2):
                run = self._run(f"run {number}", rows, None, seed, None, terms.n_rounds)
                runs.append(run.terms)
        # Only trees have several runs (`check_parameters`).
        return mean_of_runs([run for run in runs if isinstance(run, TreeTerms)])

    def _compute_validation_fingerprint(self, fit_rows: FitRows) -> int | None:
        """Return the fingerprint of the validation set that early stopping uses.

        The result is None without early stopping.
        """
        if fit_rows.validation is None or not self._stops_early():
            return None
        validation = fit_rows.validation
        return fingerprint(
            fit_rows.validation_rows, validation.target, validation.weight, validation.offset
        )

    def _finish(
        self,
        stepper: GradientStepper | FinishedStepper,
        start: FitStart[GradientTerms],
        fit_rows: FitRows,
        previous: GradientTerms | None,
    ) -> None:
        """Return the model: truncated to the best round, or fitted again to all rows.

        With several runs, it is their mean.
        """
        rows, best = fit_rows.train, start.history.best_round
        terms = terms_with_stopping = stepper.terms
        refits = best is not None and self.refit and fit_rows.validation_rows is not None
        stepper.release()
        if best is not None and refits:
            refitted = start.terms if start.resumed is None else start.resumed.refitted
            rows = fit_rows.all_rows
            stepper = self._run("run on all rows", rows, None, self._seed, refitted, best)
            terms = stepper.terms
            stepper.release()
        elif best is not None:
            terms = terms_with_stopping.copy() if self.warm_start else terms_with_stopping
            terms.truncate(best)
        elif (
            start.resumed is not None
            and previous is not None
            and terms_with_stopping.n_rounds == start.resumed.terms.n_rounds
        ):
            terms = previous  # no round was added that another metric could choose
        self._validation_fingerprint = None if refits else start.fingerprint
        if self.warm_start:
            self._stopping_state = start.state_after(terms_with_stopping, terms if refits else None)
        self._terms = self._mean_with_other_runs(terms, rows)
        self.timings_ = stepper.timings()

    def _store_losses(self, history: LossHistory) -> None:
        self.train_score_ = np.array(history.train_loss)
        self.validation_loss_ = np.array(history.validation_loss)
        self.validation_score_ = np.array(history.validation_score)

    def _run(
        self,
        name: str,
        train: EncodedRows,
        validation: EncodedRows | None,
        seed: int,
        start: GradientTerms | None,
        n_rounds: int,
        *,
        history: LossHistory | None = None,
        stopping: EarlyStopping | None = None,
        score: Callable[[], float] | None = None,
        callbacks: Iterable[Callback] | None = None,
    ) -> GradientStepper | FinishedStepper:
        """Return a stepper after these rounds, which go on from those of the checkpoint.

        `name` is that of the run in the checkpoint. With callbacks, which may save the model, the model has
        the terms and the losses during the run.
        """
        history = LossHistory() if history is None else history
        checkpoint = self._checkpoint
        stored = None if checkpoint is None else checkpoint.run(name)
        if stored is not None and stored.trees is not None:
            start = TreeTerms(stored.trees)
            stored.restore(history, stopping, has_score=score is not None)
            if stored.is_finished and self._encoder.unseen_code != UNSEEN:
                return FinishedStepper(start)
        stepper = self._make_stepper(train, validation, self._loss, self._encoder, seed, start)
        if callbacks is not None:
            self._terms = stepper.terms
            self._store_losses(history)

        def run(callbacks: Iterable[Callback] | None) -> None:
            run_rounds(
                stepper,
                model=self,
                n_rounds=n_rounds,
                stopping=stopping,
                score=score,
                callbacks=callbacks,
                verbose=bool(self.verbose),
                history=history,
            )

        if checkpoint is None:
            run(callbacks)
        else:
            with checkpoint.recording(name, stepper, validation, history) as record:
                run([*(callbacks or ()), record])
        return stepper

    def _encode_training(self, X: Any, continuing: bool) -> tuple[TableEncoder, Any]:
        owner, native = type(self).__name__, self.estimator is None
        if isinstance(X, TrainingBatches):
            encoder = self._encoder if continuing else self._fit_encoder(X)
            return encoder, X.encoded(encoder, owner)
        if continuing:
            encoder, columns = self._encoder, self._encoder.transform(X, owner=owner)
        elif native and self.categorical_encoding != "levels":
            encoder, columns = self._encode_all_levels(X)
        else:
            categorical = self.categorical_features if native else "from_dtype"
            encoder, columns = TableEncoder.fit_encode(
                X, categorical_features=categorical, owner=owner
            )
        # A learner of another kind is given X unchanged; only its shape and names are stored.
        return encoder, columns if native else as_indexable(X)

    def _fit_encoder(self, X: TrainingBatches) -> TableEncoder:
        """Return an encoder for a table read in batches, for the same encoding as of the whole table."""
        options = {"categorical_features": self.categorical_features, "owner": type(self).__name__}
        if self.categorical_encoding == "levels":
            return X.fit_encoder(**options)
        encoder = X.fit_encoder(max_categories=None, **options)
        self._mark_unseen_levels(encoder)
        return encoder

    def _check_batches(self, eval_set: EvalSet) -> None:
        """Raise a ValueError for parameters that need the whole table in memory."""
        if self.estimator is not None:
            raise ValueError(
                "estimator= needs the whole table in memory, but X is read in batches; set estimator=None or"
                " pass a table in memory"
            )
        if self.scoring not in (None, "loss") and eval_set is None:
            raise ValueError(
                f"scoring={self.scoring!r} needs the validation set in memory, but X is read in batches; pass"
                " eval_set or set scoring=None"
            )

    def _encode_all_levels(self, X: Any) -> tuple[TableEncoder, Any]:
        """Return an encoder for target statistics, or the ordinary one if they are not used."""
        owner, categorical = type(self).__name__, self.categorical_features
        encoder, columns = TableEncoder.fit_encode(
            X, categorical_features=categorical, max_categories=None, owner=owner
        )
        self._mark_unseen_levels(encoder)
        return encoder, columns

    def _mark_unseen_levels(self, encoder: TableEncoder) -> None:
        """Let the encoder distinguish unseen levels from missing values if target statistics are used."""
        levels = max(encoder.n_levels)
        if levels > 0 and (self.categorical_encoding == "target" or levels > AUTO_TARGET_LEVELS):
            encoder.unseen_code = UNSEEN

    def _row_count(self, columns: Any) -> int:
        return count_rows(columns) if self.estimator is None else columns.shape[0]

    def _check_weight(
        self, sample_weight: ArrayLike | None, target: np.ndarray, n_rows: int
    ) -> np.ndarray:
        return check_sample_weight(sample_weight, n_rows, keep_scale=True)

    def _class_shares(self, target: np.ndarray, weight: np.ndarray) -> np.ndarray | None:
        """Return the share of each class in the weight of all rows; None without classes."""
        numbers = self._strata(target)
        if numbers is None:
            return None
        counts = np.bincount(numbers, weights=weight if weight.size else None)
        return counts / counts.sum()

    def _stops_early(self) -> bool:
        """Whether the loss on a validation set decides the number of rounds."""
        return self.parameters_["early_stopping"] is True

    def _split_fit_rows(
        self,
        encoded_rows: EncodedRows,
        eval_set: EvalSet,
        encoder: TableEncoder,
        loss: NativeLoss | CustomLoss,
        seed: int,
        has_offset: bool,
    ) -> FitRows:
        native, weight = self.estimator is None, encoded_rows.weight
        # A row of weight 0 has no effect, not even on min_samples_leaf.
        weighted_rows = np.flatnonzero(weight) if weight.size and (weight == 0).any() else None
        all_rows = (
            encoded_rows if weighted_rows is None else self._take_rows(encoded_rows, weighted_rows)
        )
        if eval_set is not None:
            validation = rows_of_eval_set(
                eval_set,
                encoder if native else None,
                self._encode_target,
                loss,
                type(self).__name__,
                has_offset,
            )
            return FitRows(all_rows, all_rows, validation, None, weighted_rows)
        if not self._stops_early():
            return FitRows(all_rows, all_rows, None, None, weighted_rows)
        train, validation_rows = split_rows(
            all_rows.n_rows, self.validation_fraction, seed, self._strata(all_rows.target)
        )
        if weighted_rows is not None:
            train, validation_rows = weighted_rows[train], weighted_rows[validation_rows]
        return FitRows(
            all_rows,
            self._take_rows(encoded_rows, train),
            self._take_rows(encoded_rows, validation_rows),
            validation_rows,
            weighted_rows,
        )

    def _take_rows(self, part: EncodedRows, row_numbers: np.ndarray) -> EncodedRows:
        """Return the rows of a part that have these numbers."""
        take = take_rows if self.estimator is None else rows_of
        weight = part.weight[row_numbers] if part.weight.size else part.weight
        target = np.ascontiguousarray(part.target[:, row_numbers])
        offset = None if part.offset is None else np.ascontiguousarray(part.offset[:, row_numbers])
        return EncodedRows(
            take(part.columns, row_numbers), target, weight, part.weight_factor, offset
        )

    def _make_stepper(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        encoder: TableEncoder,
        seed: int,
        start: GradientTerms | None,
        threads: int | None = None,
    ) -> GradientStepper:
        # A copy, so that a fit that fails does not change the fitted model.
        terms = start.copy() if start is not None else None
        if self.estimator is not None:
            assert not isinstance(terms, TreeTerms)
            return LearnerStepper(
                train,
                validation,
                loss,
                terms,
                estimator=self.estimator,
                learning_rate=self.parameters_["learning_rate"],
                subsample=self.parameters_["subsample"],
                seed=seed + (terms.n_rounds if terms else 0),
            )
        assert not isinstance(terms, LearnerTerms)
        if isinstance(train.columns, DistributedColumns):
            return self._make_distributed_stepper(train, validation, loss, encoder, seed, terms)
        threads = threads or effective_threads(self.n_jobs)
        statistics = self._training_statistics(train, encoder, terms, threads)
        if terms is not None and statistics is not None and terms.statistics is None:
            terms.statistics = statistics.target_statistics  # the terms are those of a checkpoint
        options = self._core_options(encoder, loss, seed, train.weight_factor)
        if statistics is not None:
            derive_constraints(options, statistics.target_statistics.sources)
        return TreeStepper(
            train,
            validation,
            loss,
            terms,
            categories=(
                statistics.target_statistics.tree_categories if statistics else encoder.n_levels
            ),
            options={**options, "first_round": terms.n_rounds if terms else 0},
            max_bins=self.max_bins,
            threads=threads,
            vector_leaves=self.parameters_["multi_strategy"] == MULTI_OUTPUT_TREE,
            statistics=statistics,
        )

    def _make_distributed_stepper(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        encoder: TableEncoder,
        seed: int,
        terms: TreeTerms | None,
    ) -> TreeStepper:
        if encoder.unseen_code == UNSEEN:
            raise ValueError(
                f"categorical_encoding={self.categorical_encoding!r} needs the table in memory, because it"
                f" uses target statistics (with 'auto' if a column has more than {AUTO_TARGET_LEVELS}"
                " categories); set categorical_encoding='levels'"
            )
        options = self._core_options(encoder, loss, seed, train.weight_factor)
        stepper: TreeStepper = train.columns.tree_stepper(
            train,
            validation,
            loss,
            terms,
            categories=encoder.n_levels,
            options={**options, "first_round": terms.n_rounds if terms else 0},
            max_bins=self.max_bins,
            vector_leaves=self.parameters_["multi_strategy"] == MULTI_OUTPUT_TREE,
        )
        return stepper

    def _training_statistics(
        self, train: EncodedRows, encoder: TableEncoder, terms: TreeTerms | None, threads: int
    ) -> TrainingStatistics | None:
        """Return the target statistics of the training rows; None if the trees split on levels only."""
        earlier_statistics = terms.statistics if terms else None
        if encoder.unseen_code != UNSEEN:
            return None
        if isinstance(train.columns, BatchedColumns):
            # The derived columns of all rows are needed at once.
            in_memory = train.columns.gather(np.arange(train.n_rows))
            train = replace(train, columns=in_memory)
        # The seed is that of the fit, so that the trees of all runs have the same columns.
        statistics = TrainingStatistics(
            train,
            self._statistic_targets(train.target),
            encoder.n_levels,
            seed=self._seed,
            threads=threads,
            groups=[group.columns for group in earlier_statistics.groups]
            if earlier_statistics
            else None,
        )
        if earlier_statistics is not None and not earlier_statistics.same_tables(
            statistics.target_statistics
        ):
            raise ValueError(
                "warm_start=True needs the rows of the first fit if categorical_encoding='target' was"
                " used, because the trees split on statistics of these rows; pass the same rows, or fit"
                " with warm_start=False"
            )
        return statistics

    def _core_options(
        self, encoder: TableEncoder, loss: NativeLoss | CustomLoss, seed: int, weight_factor: float
    ) -> dict[str, Any]:
        """Return the core's options; `weight_factor` is the factor that scaled the weights."""
        parameters = self.parameters_
        n, names = encoder.n_features, encoder.feature_names
        monotone = directions_of(self.monotonic_cst, encoder)
        if monotone and loss.outputs > 1 and getattr(loss, "name", "") == "log_loss":
            raise ValueError(
                "monotonic_cst is not supported for more than two classes; set monotonic_cst=None"
            )
        if monotone and parameters["multi_strategy"] == MULTI_OUTPUT_TREE:
            raise ValueError(
                "monotonic_cst needs one tree per output; set multi_strategy='one_output_per_tree'"
            )
        return {
            "depth_wise": self.growth == "depth",
            "max_leaf_nodes": parameters["max_leaf_nodes"] or MAX_LEAVES,
            "max_depth": self.max_depth or 0,
            "min_samples_leaf": parameters["min_samples_leaf"],
            "min_child_weight": weight_factor * self.min_child_weight,
            "l2_regularization": weight_factor * parameters["l2_regularization"],
            "min_split_gain": weight_factor * self.min_split_gain,
            "max_delta_step": float(self.max_delta_step),
            "split_noise": float(parameters["split_noise"]),
            "category_smoothing": float(parameters["cat_smooth"]),
            "category_l2": weight_factor * parameters["cat_l2"],
            "max_category_threshold": self.max_cat_threshold,
            "min_samples_category": parameters["min_samples_category"],
            "features_by_tree": feature_share(self.max_features_per_tree, n),
            "features_by_level": feature_share(self.max_features_per_level, n),
            "features_by_node": feature_share(parameters["max_features"], n),
            "monotone": monotone,
            "interactions": interaction_groups(self.interaction_cst, n, names),
            "learning_rate": float(parameters["learning_rate"]),
            "subsample": float(parameters["subsample"]),
            "gradient_sampling": self.sampling == "gradient",
            "newton": self.step == "newton" and loss.uses_newton_steps,
            "seed": seed,
        }

    def _make_scorer(self, X: TableLike, y: ArrayLike, eval_set: EvalSet, fit_rows: FitRows) -> Any:
        """Return a function that returns the score on the validation set; None to monitor the loss."""
        if self.scoring in (None, "loss"):
            return None
        from sklearn.metrics import check_scoring

        scorer = check_scoring(self, self.scoring)
        if eval_set is not None:
            validation_X, validation_y = eval_set[0], eval_set[1]
        else:
            rows = fit_rows.validation_rows
            assert rows is not None
            validation_X, validation_y = rows_of(X, rows), rows_of(np.asarray(y), rows)
        assert fit_rows.validation is not None
        offset = fit_rows.validation.offset
        model = self if offset is None else WithOffset(self, offset)
        return lambda: float(scorer(model, validation_X, validation_y))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_terms")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.estimator is None or accepts_missing(self.estimator)
        tags.input_tags.sparse = True
        learner = None if self.estimator is None else tags_of(self.estimator).input_tags
        tags.input_tags.string = learner is None or learner.string
        tags.input_tags.categorical = learner is None or learner.categorical
        return tags

    # --------------------------------------------------------- for the subclasses
    def _make_loss(self, target: np.ndarray) -> NativeLoss | CustomLoss:
        raise NotImplementedError

    def _check_target(
        self, y: ArrayLike, columns: Columns, continuing: bool
    ) -> tuple[np.ndarray, int]:
        raise NotImplementedError

    def _encode_target(self, y: ArrayLike) -> np.ndarray:
        raise NotImplementedError

    def _statistic_targets(self, target: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def _strata(self, target: np.ndarray) -> np.ndarray | None:
        return None


def seeds_of_runs(seed: int, runs: int) -> list[int]:
    """Return a seed for each run; the first is the fit's own."""
    others = np.random.SeedSequence(seed).generate_state(runs - 1)
    return [seed, *(int(other) for other in others)]
