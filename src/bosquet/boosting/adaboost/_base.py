"""Base class of AdaBoost, AnyBoost, BrownBoost and LPBoost: rows, predictions and weak learners."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bosquet._explain_mixin import ExplainMixin
from bosquet._fitted import (
    SaveMixin,
    publishes_fit_atomically,
    reads_fit_snapshot,
    set_feature_attributes,
)
from bosquet._parameters import Check, check_estimator, check_parameters, choice, integer
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    check_is_fitted,
    effective_threads,
    seed_from,
    tags_of,
)
from bosquet._targets import (
    check_labels,
    check_same_length,
    class_numbers,
    single_class_message,
    unique_classes,
)
from bosquet._weights import check_sample_weight
from bosquet.boosting._inputs import as_indexable
from bosquet.boosting.adaboost._learner_factory import (
    encode_table,
    is_native,
    make_vote,
    make_weak_learner,
    select_rows,
    table_length,
)
from bosquet.boosting.adaboost._voters import LearnerSequenceMixin, NativeVoter, importances_of
from bosquet.boosting.adaboost._weak_learners import WeakLearner
from bosquet.boosting.adaboost.votes import LearnerVote, TreeVote
from bosquet.boosting.rounds import EarlyStopping, LossHistory, Stepper, run_rounds
from bosquet.data import TableEncoder

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._sklearn import Tags
    from bosquet._types import Estimator, TableLike


# Checks of the parameters that all votes have.
CHECKS: dict[str, Check] = {
    "n_estimators": integer(1),
    "split": choice("exact", "histogram"),
    "max_bins": integer(2, 255),
    "verbose": integer(0),
}


@dataclass
class SignedRows:
    """The rows of a fit to two classes: signs, weights that sum to 1, and a weak learner on their table.

    `weighted_rows` are the numbers of these rows in X if rows of weight 0 were dropped, None otherwise.
    """

    y: np.ndarray
    distribution: np.ndarray
    learner: WeakLearner
    is_native: bool
    weighted_rows: np.ndarray | None
    n_rows_passed: int

    def vc_dim(self, has_signs: bool) -> tuple[float | None, dict[str, str]]:
        """Return the VC dimension of the weak learner for a certificate, or the reason why there is none."""
        if has_signs:
            return self.learner.vc_dim, {}
        return None, {"vc_dim": "bounds with it hold for learners that predict -1 or +1"}

    def to_all_rows(self, values: np.ndarray) -> np.ndarray:
        """Return one value for each row of X, 0 for the dropped ones."""
        if self.weighted_rows is None:
            return values
        all_values = np.zeros(self.n_rows_passed)
        all_values[self.weighted_rows] = values
        return all_values


class VoteClassifier(LearnerSequenceMixin, SaveMixin, ExplainMixin, ClassifierMixin, BaseEstimator):
    """Base class of classifiers that are a weighted vote; the subclasses fit it.

    A subclass has `_fit`, and `_decoder`, which turns the sums of the vote into classes.
    """

    _checks: Mapping[str, Check]
    _decoder: Any
    _encoder: TableEncoder
    _vote: Any  # a TreeVote or a LearnerVote
    classes_: np.ndarray
    estimator_weights_: Any

    # ------------------------------------------------------------------ fitting
    @publishes_fit_atomically
    def fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the vote.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            For native weak learners a NumPy array, pandas or polars frame, Arrow table, SciPy sparse
            matrix or nested lists; NaN, null and pd.NA are missing values. Other weak learners are given
            X unchanged.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows before the first round; rows of weight 0 are dropped.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Self:
        raise NotImplementedError

    def _encode_input(self, X: TableLike) -> tuple[TableEncoder, Any]:
        """Return the fitted encoder of X, and X as a table for the learner."""
        return encode_table(
            self.estimator,
            X,
            categorical_features=self.categorical_features,
            owner=type(self).__name__,
        )

    def _signed_rows(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> SignedRows:
        """Check everything, and prepare rows of two classes, a learner and an empty vote."""
        check_parameters(self, self._checks)
        check_estimator(self.estimator, none=True)
        encoder, table = self._encode_input(X)
        labels = labels_of(self, table, y)
        self.classes_ = _check_two_classes(labels, type(self).__name__)
        n_given = labels.size
        table, labels, weight, weighted_rows = drop_zero_weight_rows(
            self.estimator, table, labels, sample_weight
        )
        signs = 2.0 * class_numbers(labels, self.classes_) - 1
        if weighted_rows is not None and (signs == signs[0]).all():
            raise ValueError(
                "all rows with a sample_weight above 0 have the same class; give rows of another class a"
                " positive weight"
            )
        learner = make_weak_learner(
            self.estimator,
            table,
            output_kind="signs",
            encoder=encoder,
            n_jobs=self.n_jobs,
            seed=seed_from(self.random_state),
            labels=self.classes_,
            split=self.split,
            max_bins=self.max_bins,
        )
        distribution = weight / weight.sum() if weight.size else np.full(signs.size, 1 / signs.size)
        self.estimator_ = self.estimator
        self._vote = make_vote(learner, encoder)
        set_feature_attributes(self, encoder)
        return SignedRows(
            signs, distribution, learner, is_native(self.estimator), weighted_rows, n_given
        )

    def _run(
        self, stepper: Stepper, history: LossHistory, stopping: EarlyStopping | None = None
    ) -> None:
        """Run the rounds, with progress bar and callbacks."""
        run_rounds(
            stepper,
            model=self,
            n_rounds=int(self.n_estimators),
            stopping=stopping,
            score=None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=history,
        )

    # --------------------------------------------------------------- predicting
    def _encode_table(self, X: TableLike) -> Any:
        columns = self._encoder.transform(X, owner=type(self).__name__)
        return columns if isinstance(self._vote, TreeVote) else as_indexable(X)

    @reads_fit_snapshot
    def decision_function(self, X: TableLike) -> np.ndarray:
        """Compute the vote f(x) of each row of X.

        For two classes a value above 0 is a vote for the second of `classes_`.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        check_is_fitted(self, "_vote")
        return self._decoder.scores(
            self._vote.predict_raw(self._encode_table(X), effective_threads(self.n_jobs))
        )

    @reads_fit_snapshot
    def predict(self, X: TableLike) -> np.ndarray:
        """Predict the class of each row of X: the class that wins the vote.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        decision = self.decision_function(X)
        return self.classes_[self._decoder.class_indices(decision)]

    @reads_fit_snapshot
    def staged_decision_function(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the vote of the first 1, 2, ... weak learners, with their final weights.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,) for two classes, (n_samples, n_classes) for more
        """
        check_is_fitted(self, "_vote")
        table, threads = self._encode_table(X), effective_threads(self.n_jobs)
        raw: Any = 0.0
        for t in range(self._vote.n_rounds):
            raw = raw + self._vote.predict_raw(table, threads, t, t + 1)
            yield self._decoder.scores(raw)

    @reads_fit_snapshot
    def staged_predict(self, X: TableLike) -> Iterator[np.ndarray]:
        """Yield the class of each row of X, as predicted by the first 1, 2, ... weak learners.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)

        Yields
        ------
        array of shape (n_samples,)
        """
        for decision in self.staged_decision_function(X):
            yield self.classes_[self._decoder.class_indices(decision)]

    def staged_score(
        self, X: TableLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Iterator[float]:
        """Yield the accuracy of the first 1, 2, ... weak learners.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
        y : array of shape (n_samples,)
        sample_weight : array of shape (n_samples,), optional

        Yields
        ------
        float
        """
        labels = check_labels(y, owner=type(self).__name__)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        for predicted in self.staged_predict(X):
            check_same_length(labels.size, predicted.size)
            yield float(np.average(predicted == labels, weights=weights))

    # ------------------------------------------------------------- the learners
    @property
    @reads_fit_snapshot
    def estimators_(self) -> Any:
        """The weak learners: a list, or an array (rounds, columns) if a round has several."""
        check_is_fitted(self, "_vote")
        if isinstance(self._vote, LearnerVote):
            voters: list[Any] = [voter.learner for voter in self._vote.voters]
            voters_per_round = self._vote.voters_per_round
        else:
            voters_per_round = self._vote.trees_per_round
            voters = [
                NativeVoter(self._vote.ensemble, t, scale, self._encoder, self._voted_classes())
                for t, scale in enumerate(self._vote_scales(voters_per_round))
            ]
        if voters_per_round == 1:
            return voters
        table = np.empty((len(voters) // voters_per_round, voters_per_round), dtype=object)
        table[:] = np.array([*voters, None], dtype=object)[:-1].reshape(-1, voters_per_round)
        return table

    def _voted_classes(self) -> np.ndarray:
        """Return the classes between which a single learner decides."""
        return self.classes_

    def _vote_scales(self, learners_per_round: int) -> np.ndarray:
        """Return the factor of each learner, if a round has `learners_per_round` of them."""
        return self.estimator_weights_

    @property
    @reads_fit_snapshot
    def feature_importances_(self) -> np.ndarray:
        """Mean over the weak learners, weighted by their votes, of the share of the gain by feature."""
        check_is_fitted(self, "_vote")
        trees_per_round = getattr(self._vote, "trees_per_round", 1)
        return importances_of(self._vote, self._vote_scales(trees_per_round), self.estimator_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        learner = self.estimator
        if is_native(learner):
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
            tags.input_tags.string = tags.input_tags.categorical = True
        else:
            for name in ("allow_nan", "sparse", "categorical", "string"):
                setattr(tags.input_tags, name, getattr(tags_of(learner).input_tags, name))
        return tags


def labels_of(model: Any, table: Any, y: ArrayLike) -> np.ndarray:
    """Return the labels y; raise an error unless there is one for each row of the table."""
    labels = check_labels(y, owner=type(model).__name__)
    check_same_length(labels.size, table_length(model.estimator, table))
    return labels


def drop_zero_weight_rows(
    estimator: Estimator, table: Any, target: np.ndarray, sample_weight: ArrayLike | None
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return table, target and weights (empty: all 1) without the rows of weight 0, and which rows these are.

    The last is None if no row was dropped.
    """
    weight = check_sample_weight(sample_weight, target.size)
    if not weight.size or weight.all():
        return table, target, weight, None
    weighted_rows = np.flatnonzero(weight)
    table = select_rows(estimator, table, weighted_rows)
    return table, target[weighted_rows], weight[weighted_rows], weighted_rows


def _check_two_classes(labels: np.ndarray, owner: str) -> np.ndarray:
    classes = unique_classes(labels)
    if classes.size == 1:
        raise ValueError(
            f"{single_class_message(classes)}: a classifier needs at least two classes; pass rows of another"
            " class too"
        )
    if classes.size > 2:
        raise ValueError(
            f"Only binary classification is supported: {owner} takes two classes, and y has"
            f" {classes.size}; wrap it in sklearn.multiclass.OneVsRestClassifier"
        )
    return classes
