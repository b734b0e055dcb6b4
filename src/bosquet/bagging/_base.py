"""Base class of the bagging estimators: fits base estimators to bags of rows and averages their votes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._bags import Bags, OutOfBagRecord, has_settled, jackknife_variance
from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import SaveMixin, publishes_fit_atomically, reads_fit_snapshot
from bosquet._parameters import (
    Check,
    boolean,
    check_estimator,
    check_parameters,
    choice,
    count_or_fraction,
    integer,
    number_of_features,
    or_auto,
    resolve_max_features,
)
from bosquet._sklearn import (
    BaseEstimator,
    check_is_fitted,
    has_fit_parameter,
    in_parallel,
    seed_from,
    tags_of,
)
from bosquet._targets import check_same_length
from bosquet._weights import check_sample_weight
from bosquet.bagging._learners import (
    BagFitter,
    VoteFunction,
    default_estimator,
    select_columns,
)
from bosquet.bagging._sampling import Sampler, plain_sampler
from bosquet.bagging._tables import copy_input_tags, validate_table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, TableLike


# n_estimators="auto" fits learners in batches until the out-of-bag error has settled: the mean over a
# window of learners is at most AUTO_TOLERANCE standard errors below the mean over the window before.
AUTO_BATCH, AUTO_WINDOW, AUTO_TOLERANCE, AUTO_MAX_ESTIMATORS = 10, 20, 0.1, 500
# Each fitted learner carries its out-of-bag votes until they are counted; a batch limits their memory.
OOB_BATCH = 64
# Votes are summed in blocks of fixed size, so that the result has the same bits for any n_jobs.
SUM_BATCH = 16

CHECKS: dict[str, Check] = {
    "n_estimators": or_auto(integer(1)),
    "max_samples": count_or_fraction(1, "rows"),
    "max_features": number_of_features(),
    "bootstrap": boolean(),
    "bootstrap_features": boolean(),
    "voting": choice("soft", "hard"),
    "balanced": boolean(),
    "oob_score": boolean(),
    "warm_start": boolean(),
    "verbose": integer(0),
}


class BaseBagging(SaveMixin, ExplainMixin, BaseEstimator):
    """Fit base estimators to bags of rows; compute out-of-bag errors."""

    _classifier: bool  # set by the subclasses
    _sampler: Sampler
    _votes_of: VoteFunction

    # ------------------------------------------------------------------ fitting
    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit one base estimator to each bag.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            pandas and polars frames are passed to the base estimators as frames, other tables as arrays.
        y : array of shape (n_samples,), for regression also (n_samples, n_targets)
        sample_weight : array of shape (n_samples,), optional
            If the base estimator accepts weights, each row gets its weight times the number of times that
            it was drawn. Otherwise rows are drawn with probabilities proportional to their weights.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        check_parameters(self, CHECKS)
        template = self._chosen_estimator()
        check_estimator(template, "estimator")
        continuing = self.warm_start and hasattr(self, "estimators_")
        X = validate_table(
            self, X, [template], reset=not continuing, keep_frame=not self.bootstrap_features
        )
        n_rows = X.shape[0]
        learner_y, target = self._check_target(y, continuing)
        check_same_length(len(target), n_rows)
        weight = check_sample_weight(sample_weight, n_rows, scale_matters=True)
        if not continuing:
            self._start(target, weight, template)
        elif n_rows != self._sampler.n_rows:
            raise ValueError(
                f"X has {n_rows} rows, but the model was fitted to {self._sampler.n_rows};"
                " warm_start=True adds learners for the same rows"
            )
        needs_oob = self.oob_score or self.n_estimators == "auto"
        self._check_rows_are_left_out(needs_oob)
        fitter = BagFitter(
            template,
            self._sampler,
            self.n_features_in_,
            resolve_max_features(self.max_features, self.n_features_in_),
            bool(self.bootstrap_features),
            self._votes_of,
            needs_oob,
        )
        record = self._new_oob_record(fitter, X, target, weight) if needs_oob else None
        self._add_learners(fitter, record, X, learner_y, weight)
        self._set_oob_attributes(record)
        return self

    def _start(self, target: np.ndarray, weight: np.ndarray, template: Estimator) -> None:
        """Delete the attributes of an earlier fit, and define how bags are drawn."""
        for name in [name for name in self.__dict__ if name.startswith(("oob_", "_oob_record"))]:
            if name != "oob_score":
                del self.__dict__[name]
        by_weight = bool(weight.size) and not has_fit_parameter(template, "sample_weight")
        if by_weight and not self.bootstrap:
            raise ValueError(
                f"{type(template).__name__}.fit has no parameter sample_weight, and bootstrap=False does not"
                " draw rows by weight; set bootstrap=True or do not pass sample_weight"
            )
        self.estimator_ = template
        self._sampler = self._make_sampler(seed_from(self.random_state), target, weight, by_weight)
        self.estimators_: list[Any] = []
        self._features: list[np.ndarray | None] = []

    def _make_sampler(
        self, seed: int, target: np.ndarray, weight: np.ndarray, by_weight: bool
    ) -> Sampler:
        return plain_sampler(
            seed,
            len(target),
            weight,
            by_weight=by_weight,
            max_samples=self.max_samples,
            replace=bool(self.bootstrap),
        )

    def _check_rows_are_left_out(self, needs_oob: bool) -> None:
        if self.n_estimators == "auto" and not self.bootstrap:
            raise ValueError(
                "n_estimators='auto' needs the out-of-bag error, but bootstrap=False; set bootstrap=True"
            )
        if needs_oob and not self._sampler.leaves_rows_out:
            raise ValueError(
                "oob_score=True needs out-of-bag rows, but bootstrap=False with"
                f" max_samples={self.max_samples!r} draws all rows; set bootstrap=True or lower max_samples"
            )

    def _new_oob_record(
        self, fitter: BagFitter, X: TableLike, target: np.ndarray, weight: np.ndarray
    ) -> OutOfBagRecord:
        """Return the out-of-bag record of the learners that are already fitted."""
        # A copy, so that a fit that fails does not change the record of the fitted model.
        record = deepcopy(getattr(self, "_oob_record", None))
        record = record or OutOfBagRecord(target, weight, self._votes_of.losses)
        missing = range(record.n_learners, len(self.estimators_))
        calls = [(t, self.estimators_[t], self._features[t], X) for t in missing]
        votes = in_parallel(fitter.oob_votes, calls, n_jobs=self.n_jobs, verbose=self.verbose)
        for t, learner_votes in zip(missing, votes, strict=True):
            record.add(self._sampler.left_out(t), learner_votes)
        return record

    def _add_learners(
        self,
        fitter: BagFitter,
        record: OutOfBagRecord | None,
        X: TableLike,
        y: np.ndarray,
        weight: np.ndarray,
    ) -> None:
        n_fitted = len(self.estimators_)
        if self.n_estimators != "auto" and self.n_estimators < n_fitted:
            raise ValueError(
                f"n_estimators={self.n_estimators} is smaller than the number of fitted learners"
                f" ({n_fitted}); with warm_start=True, pass a value >= {n_fitted}"
            )
        # A copy, so that a fit that fails does not change the fitted model.
        self.estimators_, self._features = list(self.estimators_), list(self._features)
        while batch := self._next_batch(record):
            numbers = range(len(self.estimators_), len(self.estimators_) + batch)
            calls = [(t, X, y, weight) for t in numbers]
            results = in_parallel(fitter.fit, calls, n_jobs=self.n_jobs, verbose=self.verbose)
            for t, fitted in zip(numbers, results, strict=True):
                self.estimators_.append(fitted.learner)
                self._features.append(fitted.features)
                if record is not None:
                    record.add(self._sampler.left_out(t), fitted.oob_votes)

    def _next_batch(self, record: OutOfBagRecord | None) -> int:
        """Return how many learners to fit next; 0 if there are enough."""
        n_fitted = len(self.estimators_)
        if self.n_estimators != "auto":
            missing = int(self.n_estimators) - n_fitted
            return missing if record is None else min(missing, OOB_BATCH)
        if record is None:
            return 0
        if record.curve and has_settled(
            record.curve, AUTO_WINDOW, AUTO_TOLERANCE * record.standard_error
        ):
            return 0
        return min(AUTO_BATCH, max(0, AUTO_MAX_ESTIMATORS - n_fitted))

    def _set_oob_attributes(self, record: OutOfBagRecord | None) -> None:
        if record is None:
            return
        self.oob_error_ = record.error
        self.oob_learner_error_ = record.learner_error
        self.oob_curve_ = np.asarray(record.curve)
        self._set_oob_predictions(record)
        record.warn_of_rows_in_every_bag()
        if self.warm_start:
            self._oob_record = record

    # --------------------------------------------------------------- the learner
    def _chosen_estimator(self) -> Any:
        return default_estimator(self._classifier) if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        learner = self._chosen_estimator()
        copy_input_tags(tags, [learner])
        if not self._classifier:
            tags.target_tags.multi_output = tags_of(learner).target_tags.multi_output
        return tags

    # --------------------------------------------------------------- predicting
    @property
    def n_estimators_(self) -> int:
        """Number of base estimators in the model."""
        check_is_fitted(self, "estimators_")
        return len(self.estimators_)

    @property
    @reads_fit_snapshot
    def estimators_samples_(self) -> list[np.ndarray]:
        """Rows that each base estimator drew, one entry per draw; drawn again at each access."""
        check_is_fitted(self, "estimators_")
        return [self._sampler.rows(t) for t in range(len(self.estimators_))]

    @property
    @reads_fit_snapshot
    def estimators_features_(self) -> list[np.ndarray]:
        """Columns that each base estimator was fitted to."""
        check_is_fitted(self, "estimators_")
        all_features = np.arange(self.n_features_in_)
        return [all_features if drawn is None else drawn for drawn in self._features]

    def _validated_table(self, X: TableLike) -> Any:
        check_is_fitted(self, "estimators_")
        return validate_table(
            self, X, [self.estimator_], reset=False, keep_frame=not self.bootstrap_features
        )

    def _learner_votes(
        self, number: int, X: TableLike, votes_of: VoteFunction | None = None
    ) -> np.ndarray:
        votes_of = votes_of or self._votes_of
        return votes_of(self.estimators_[number], select_columns(X, self._features[number]))

    def _sum_of_votes(self, first: int, last: int, X: TableLike) -> np.ndarray:
        total = self._learner_votes(first, X).copy()
        for number in range(first + 1, last):
            total += self._learner_votes(number, X)
        return total

    def _mean_votes(self, X: TableLike) -> np.ndarray:
        """Return the mean of the learners' votes, shape (rows, columns)."""
        X = self._validated_table(X)
        n = len(self.estimators_)
        calls = [(first, min(first + SUM_BATCH, n), X) for first in range(0, n, SUM_BATCH)]
        sums = in_parallel(self._sum_of_votes, calls, n_jobs=self.n_jobs, threads=True)
        return sum(sums[1:], sums[0]) / n

    def _staged_mean_votes(self, X: TableLike) -> Iterator[np.ndarray]:
        X = self._validated_table(X)
        total: Any = 0.0
        for number in range(len(self.estimators_)):
            total = total + self._learner_votes(number, X)
            yield total / (number + 1)

    def _all_votes(self, X: TableLike) -> np.ndarray:
        """Return the votes of each learner, shape (learners, rows, columns)."""
        X = self._validated_table(X)
        calls = [(number, X) for number in range(len(self.estimators_))]
        return np.stack(in_parallel(self._learner_votes, calls, n_jobs=self.n_jobs, threads=True))

    def _jackknife(self, X: TableLike) -> np.ndarray:
        check_is_fitted(self, "estimators_")
        if not self._sampler.replace:
            raise ValueError(
                "jackknife_standard_errors needs bootstrap samples, but bootstrap=False; fit the model with"
                " bootstrap=True"
            )
        votes = self._all_votes(X)
        bags = Bags(self._sampler.counts, self._sampler.leave_one_out_factors())
        variance = jackknife_variance(bags, votes.reshape(len(votes), -1))
        return np.sqrt(variance).reshape(votes.shape[1:])

    # ------------------------------------------------- implemented by subclasses
    def _check_target(self, y: ArrayLike, continuing: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return y as passed to the learners, and y as compared with the votes."""
        raise NotImplementedError

    def _set_oob_predictions(self, record: OutOfBagRecord) -> None:
        raise NotImplementedError
