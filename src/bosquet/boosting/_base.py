"""What the gradient boosting classifier and regressor share: fitting, predicting, saving."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit, remember_columns
from bosquet._sklearn import (
    BaseEstimator,
    accepts_missing,
    check_is_fitted,
    effective_threads,
    rows_of,
    seed_from,
)
from bosquet._targets import check_sample_weight
from bosquet.boosting._additive import LearnerTerms, TreeTerms, mean_of_runs
from bosquet.boosting._general import LearnerStepper
from bosquet.boosting._loop import LoopResult, run_rounds
from bosquet.boosting._native import Part, TreeStepper
from bosquet.boosting._parameters import (
    check_continuing,
    check_parameters,
    feature_share,
    interaction_groups,
    monotone_directions,
)
from bosquet.boosting._targets import split_rows, validation_part
from bosquet.boosting._watching import Course, course_of, mark_of
from bosquet.boosting._weak import shaped
from bosquet.boosting._weight_scale import scaled_weight
from bosquet.boosting.predictor import Predictor
from bosquet.data import TableEncoder, n_rows, take_rows

# Fits of at least this many rows set some aside and stop early unless told otherwise.
AUTO_EARLY_STOPPING_ROWS = 1_000
# What n_estimators="auto" stands for: a limit hardly ever met where early stopping finds the number,
# and the customary number where it does not.
AUTO_ROUNDS_STOPPING, AUTO_ROUNDS = 1_000, 100


@dataclass
class Parts:
    """The rows of a fit: all, those learned from, those judged by, and which of X the latter are."""

    everything: Part
    train: Part
    validation: Part | None
    held_rows: np.ndarray | None


class BaseGradientBoosting(Saved, Explained, BaseEstimator):
    """Fitting, predicting and saving; the subclasses know what a target is."""

    _terms: Any  # what the model is a sum of
    _loss_terms: Any  # the loss object, for this number of outputs
    _encoder: TableEncoder
    _seed: int
    train_score_: np.ndarray
    validation_loss_: np.ndarray
    validation_score_: np.ndarray

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None, eval_set: Any = None) -> Any:
        """Fit the model.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists.
            NaN, null and pd.NA are missing values.
        y : array of shape (n_samples,), or (n_samples, n_targets) for several targets
        sample_weight : array of shape (n_samples,), optional
            A weight of 2 is the row twice. `l2_regularization`, `min_child_weight`, `min_split_gain`
            and `cat_l2` are compared with sums of weights, so that weights of 1/n make them
            n times as strong; pass ``sample_weight / np.mean(sample_weight)`` if only the ratios mean
            something. There is a warning if the mean is below 0.1 or above 100 and it matters.
        eval_set : (X, y) or (X, y, sample_weight), optional
            Rows to follow the loss on, and to stop early by, instead of a part of X.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, eval_set)

    def _fit(self, X: Any, y: Any, sample_weight: Any, eval_set: Any) -> Any:
        check_parameters(self)
        continuing = self.warm_start and hasattr(self, "_terms")
        if continuing:
            check_continuing(self)
        encoder, columns = self._encode_training(X, continuing)
        target, n_samples = self._check_target(y, columns, continuing)
        weights = scaled_weight(self, self._check_weight(sample_weight, target, n_samples), encoder)
        loss = self._loss_terms if continuing else self._make_loss(target)
        loss.check_targets(target)

        # A warm start draws as the same fit would have gone on to, and splits off the same validation set.
        known = continuing and hasattr(self, "_seed")
        self._seed = self._seed if known else seed_from(self.random_state)
        parts = self._parts(columns, target, weights, eval_set, encoder, loss, self._seed)
        self._loss_terms = loss
        remember_columns(self, encoder)

        course = course_of(
            self,
            self._terms if continuing else None,
            self.__dict__.pop("_watch", None),
            self._mark(parts, n_samples, eval_set),
            tol=self.tol,
            scoring=None if self.scoring == "loss" else self.scoring,
            split=parts.held_rows is not None,
        )
        stepper = self._make_stepper(
            parts.train, parts.validation, loss, encoder, self._seed, course.start
        )
        previous = self._terms if continuing else None
        self._terms = stepper.terms
        self._keep_scores(course.history)  # a callback may save the model
        run_rounds(
            stepper,
            model=self,
            n_rounds=self._rounds(course.stopping is not None),
            stopping=course.stopping,
            score=self._scorer(X, y, eval_set, parts.held_rows) if course.stopping else None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=course.history,
        )
        self._settle(stepper, course, parts, previous)
        self._keep_scores(course.history)
        return self

    def _mark(self, parts: Parts, n_samples: int, eval_set: Any) -> int | None:
        """Which validation set early stopping looks at; None without early stopping."""
        if parts.validation is None or not self._stops_early(n_samples, eval_set):
            return None
        return mark_of(parts.held_rows, parts.validation.target, parts.validation.weight)

    def _settle(self, stepper: Any, course: Course, parts: Parts, previous: Any) -> None:
        """Make the model of the rounds that were tried: cut back to the best, or fitted again on all rows."""
        rows, watched, best = parts.train, stepper.terms, course.history.best_round
        refits = best is not None and self.refit and parts.held_rows is not None
        if best is not None and refits:
            begun = course.start if course.resumed is None else course.resumed.refitted
            rows = parts.everything
            stepper = self._boosted(rows, begun, best)
        elif best is not None:
            stepper.terms = watched.copy() if self.warm_start else watched
            stepper.terms.truncate(best)
        elif course.resumed is not None and watched.n_rounds == course.start.n_rounds:
            stepper.terms = previous  # no round was added that another metric could choose
        self._unlearned = None if refits else course.mark
        if self.warm_start:
            self._watch = course.watched(watched, stepper.terms if refits else None)
        runs = [stepper.terms]
        for other in seeds_of_runs(self._seed, self.n_runs)[1:]:
            runs.append(self._boosted(rows, None, runs[0].n_rounds, other).terms)
        self._terms = mean_of_runs(runs) if self.n_runs > 1 else runs[0]
        self.timings_ = stepper.timings()

    def _keep_scores(self, history: LoopResult) -> None:
        self.train_score_ = np.array(history.train_loss)
        self.validation_loss_ = np.array(history.validation_loss)
        self.validation_score_ = np.array(history.validation_score)

    def _boosted(self, rows: Part, start: Any, n_rounds: int, seed: int | None = None) -> Any:
        """So many rounds on these rows, without a validation set."""
        seed = self._seed if seed is None else seed
        stepper = self._make_stepper(rows, None, self._loss_terms, self._encoder, seed, start)
        run_rounds(
            stepper,
            model=self,
            n_rounds=n_rounds,
            stopping=None,
            score=None,
            callbacks=None,
            verbose=bool(self.verbose),
            history=LoopResult(),
        )
        return stepper

    def _encode_training(self, X: Any, continuing: bool) -> tuple[TableEncoder, Any]:
        if continuing:
            return self._encoder, self._encoder.transform(X, owner=type(self).__name__)
        if self.estimator is not None:
            # The learner sees X as it is; only its shape and names are looked at here.
            encoder, _ = TableEncoder.fit(
                X, categorical_features="from_dtype", owner=type(self).__name__
            )
            return encoder, shaped(X)
        return TableEncoder.fit(
            X, categorical_features=self.categorical_features, owner=type(self).__name__
        )

    def _row_count(self, columns: Any) -> int:
        return n_rows(columns) if self.estimator is None else columns.shape[0]

    def _check_weight(self, sample_weight: Any, target: np.ndarray, n_rows: int) -> np.ndarray:
        return check_sample_weight(sample_weight, n_rows, keep_scale=True)

    def _stops_early(self, rows: int, eval_set: Any) -> bool:
        if self.early_stopping == "auto":
            return eval_set is not None or rows >= AUTO_EARLY_STOPPING_ROWS
        return bool(self.early_stopping)

    def _rounds(self, stopping: bool) -> int:
        if self.n_estimators != "auto":
            return int(self.n_estimators)
        return AUTO_ROUNDS_STOPPING if stopping else AUTO_ROUNDS

    def _parts(
        self,
        columns: Any,
        target: np.ndarray,
        weights: tuple[np.ndarray, float],
        eval_set: Any,
        encoder: TableEncoder,
        loss: Any,
        seed: int,
    ) -> Parts:
        native = self.estimator is None
        weight, unit = weights

        def part(rows: np.ndarray) -> Part:
            some = take_rows(columns, rows) if native else rows_of(columns, rows)
            own = weight[rows] if weight.size else weight
            return Part(some, np.ascontiguousarray(target[:, rows]), own, unit)

        # A row of weight 0 must not matter, not even to min_samples_leaf.
        counting = np.flatnonzero(weight) if weight.size and (weight == 0).any() else None
        everything = Part(columns, target, weight, unit) if counting is None else part(counting)
        if eval_set is not None:
            validation = validation_part(
                eval_set,
                encoder if native else None,
                self._encode_target,
                loss,
                type(self).__name__,
            )
            return Parts(everything, everything, validation, None)
        if not self._stops_early(everything.rows, None):
            return Parts(everything, everything, None, None)
        kept, held = split_rows(
            everything.rows, self.validation_fraction, seed, self._strata(everything.target)
        )
        if counting is not None:
            kept, held = counting[kept], counting[held]
        return Parts(everything, part(kept), part(held), held)

    def _make_stepper(
        self,
        train: Part,
        validation: Part | None,
        loss: Any,
        encoder: TableEncoder,
        seed: int,
        start: Any,
    ) -> Any:
        # A copy, so that a fit that fails leaves the fitted model alone.
        terms = start.copy() if start is not None else None
        if self.estimator is not None:
            return LearnerStepper(
                train,
                validation,
                loss,
                terms,
                estimator=self.estimator,
                learning_rate=self.learning_rate,
                subsample=self.subsample,
                seed=seed + (terms.n_rounds if terms else 0),
            )
        return TreeStepper(
            train,
            validation,
            loss,
            terms,
            categories=encoder.categories,
            options={
                **self._options(encoder, loss, seed, train.unit),
                "first_round": terms.n_rounds if terms else 0,
            },
            max_bins=self.max_bins,
            threads=effective_threads(self.n_jobs),
        )

    def _options(self, encoder: TableEncoder, loss: Any, seed: int, unit: float) -> dict[str, Any]:
        """The core's options, from the parameters; `unit` is what a weight of 1 has become."""
        n, names = encoder.n_features, encoder.feature_names
        monotone = monotone_directions(self.monotonic_cst, n, names)
        for feature, direction in enumerate(monotone):
            if direction and encoder.categories[feature]:
                raise ValueError(
                    f"monotonic_cst: feature {feature} is categorical and has no order"
                )
        if monotone and loss.outputs > 1 and getattr(loss, "name", "") == "log_loss":
            raise ValueError("monotonic_cst is not supported for more than two classes")
        return {
            "depth_wise": self.growth == "depth",
            "max_leaf_nodes": self.max_leaf_nodes or 65_535,
            "max_depth": self.max_depth or 0,
            "min_samples_leaf": self.min_samples_leaf,
            "min_child_weight": unit * self.min_child_weight,
            "l2_regularization": unit * self.l2_regularization,
            "min_split_gain": unit * self.min_split_gain,
            "max_delta_step": float(self.max_delta_step),
            "category_smoothing": float(self.cat_smooth),
            "category_l2": unit * self.cat_l2,
            "max_category_threshold": self.max_cat_threshold,
            "min_samples_category": self.min_samples_category,
            "features_by_tree": feature_share(self.max_features_per_tree, n),
            "features_by_level": feature_share(self.max_features_per_level, n),
            "features_by_node": feature_share(self.max_features, n),
            "monotone": monotone,
            "interactions": interaction_groups(self.interaction_cst, n, names),
            "learning_rate": float(self.learning_rate),
            "subsample": float(self.subsample),
            "gradient_sampling": self.sampling == "gradient",
            "newton": self.step == "newton" and loss.curved,
            "seed": seed,
        }

    def _scorer(self, X: Any, y: Any, eval_set: Any, validation_rows: np.ndarray | None) -> Any:
        """A function that returns the score on the validation set; None to look at the loss."""
        if self.scoring in (None, "loss"):
            return None
        from sklearn.metrics import check_scoring

        scorer = check_scoring(self, self.scoring)
        if eval_set is not None:
            held_X, held_y = eval_set[0], eval_set[1]
        else:
            held_X, held_y = rows_of(X, validation_rows), rows_of(np.asarray(y), validation_rows)
        return lambda: float(scorer(self, held_X, held_y))

    # --------------------------------------------------------------- predicting
    @property
    def n_iter_(self) -> int:
        """Number of rounds in the model; below `n_estimators` after early stopping."""
        check_is_fitted(self, "_terms")
        return self._terms.n_rounds

    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model, by the name GradientBoosting has in scikit-learn."""
        return self.n_iter_

    def _raw(self, X: Any, first: int = 0, last: int | None = None) -> np.ndarray:
        check_is_fitted(self, "_terms")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        if isinstance(self._terms, LearnerTerms):
            return self._terms.raw(shaped(X), 1, first, last)
        return self._terms.raw(columns, effective_threads(self.n_jobs), first, last)

    def _staged_raw(self, X: Any) -> Iterator[np.ndarray]:
        check_is_fitted(self, "_terms")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        data = shaped(X) if isinstance(self._terms, LearnerTerms) else columns
        threads = effective_threads(self.n_jobs)
        raw: Any = 0.0
        for round_ in range(self._terms.n_rounds):
            raw = raw + self._terms.raw(data, threads, round_, round_ + 1)
            yield raw

    @reads_one_fit
    def predictor(self) -> Predictor:
        """A light callable for services: array in, array out, nothing checked twice.

        Returns
        -------
        Predictor
            ``p(X)`` takes a float array of shape (n_features,) or (rows, n_features), in the
            order of the training columns and with categories as their codes, and returns
            probabilities (classifier) or predictions (regressor).
        """
        check_is_fitted(self, "_terms")
        if not isinstance(self._terms, TreeTerms):
            raise ValueError("predictor() serves native trees; this model has estimator=...")
        return Predictor(self._terms, self._loss_terms, self._encoder)

    # ---------------------------------------------------------------- importance
    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Share of the total gain that each feature's splits brought; sums to 1."""
        return self.importance("gain")

    @reads_one_fit
    def importance(
        self,
        kind: str = "gain",
        X: Any = None,
        y: Any = None,
        *,
        n_repeats: int = 5,
        scoring: Any = None,
        random_state: Any = None,
    ) -> np.ndarray:
        """How much each feature matters to the model.

        Parameters
        ----------
        kind : "gain", "split" or "permutation"
            Share of the gain, share of the number of splits, or the mean fall of the score on
            (X, y) when the feature's values are shuffled.
        X, y : the rows to shuffle on, for "permutation"; better rows that were not fitted on.
        n_repeats, scoring, random_state : as in ``sklearn.inspection.permutation_importance``.

        Returns
        -------
        array of shape (n_features,)
        """
        check_is_fitted(self, "_terms")
        if kind == "permutation":
            if X is None or y is None:
                raise ValueError("importance('permutation') needs X and y to shuffle on")
            from sklearn.inspection import permutation_importance

            return permutation_importance(
                self, X, y, n_repeats=n_repeats, scoring=scoring, random_state=random_state
            ).importances_mean
        if kind not in ("gain", "split"):
            raise ValueError(f"kind={kind!r} must be 'gain', 'split' or 'permutation'")
        if not isinstance(self._terms, TreeTerms):
            raise AttributeError(
                "a model with estimator=... has no splits to count; use 'permutation'"
            )
        sums = self._terms.ensemble.importance(kind)
        total = sums.sum()
        return sums / total if total > 0 else sums

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_terms")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.estimator is None or accepts_missing(self.estimator)
        tags.input_tags.sparse = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    # --------------------------------------------------------- for the subclasses
    def _make_loss(self, target: np.ndarray) -> Any:
        raise NotImplementedError

    def _check_target(self, y: Any, columns: Any, continuing: bool) -> tuple[np.ndarray, int]:
        raise NotImplementedError

    def _encode_target(self, y: Any) -> np.ndarray:
        raise NotImplementedError

    def _strata(self, target: np.ndarray) -> np.ndarray | None:
        return None


def seeds_of_runs(seed: int, runs: int) -> list[int]:
    """A seed for each run; the first is the fit's own."""
    others = np.random.SeedSequence(seed).generate_state(runs - 1)
    return [seed, *(int(other) for other in others)]
