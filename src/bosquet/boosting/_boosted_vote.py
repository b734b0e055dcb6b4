"""What the estimators that boost by reweighting share: fitting a vote, asking it, saving it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit, remember_columns
from bosquet._parameters import Check, boolean, check_parameters, choice, integer, number
from bosquet._sklearn import (
    BaseEstimator,
    ClassifierMixin,
    accepts_missing,
    check_is_fitted,
    effective_threads,
    seed_from,
    tags_of,
)
from bosquet._targets import (
    check_labels,
    check_same_length,
    check_sample_weight,
    class_numbers,
    learn_classes,
    only_class,
)
from bosquet.boosting._assembly import Assembly
from bosquet.boosting._certifying import certify
from bosquet.boosting._decisions import Decision
from bosquet.boosting._endings import (
    Ending,
    all_rounds,
    by_callback,
    by_validation_set,
    of_all,
    warn_of,
)
from bosquet.boosting._loop import LoopResult, run_rounds
from bosquet.boosting._targets import split_rows
from bosquet.boosting._vote_stepper import Kept, Labelled, VoteStepper
from bosquet.boosting._voters import AsSequence, NativeVoter, StagedVotes, importances_of
from bosquet.boosting._votes import LearnerVote, TreeVote, Vote
from bosquet.boosting._watching import Course, course_of, mark_of
from bosquet.boosting._weak import count_rows, is_native, open_table, shaped, some_rows
from bosquet.data import TableEncoder
from bosquet.losses import MarginLoss

CHECKS: dict[str, Check] = {
    "n_estimators": integer(1),
    "learning_rate": number(0, open_low=True),
    "reweight": choice("weights", "resample"),
    "sampling": choice(None, "under"),
    "split": choice("exact", "histogram"),
    "max_bins": integer(2, 255),
    "early_stopping": boolean(),
    "validation_fraction": number(0, 0.9, open_low=True),
    "n_iter_no_change": integer(1),
    "warm_start": boolean(),
    "verbose": integer(0),
}


class BoostedVote(AsSequence, StagedVotes, Saved, Explained, ClassifierMixin, BaseEstimator):
    """Fitting, predicting and saving; the subclasses know the variant."""

    _vote: Vote
    _decision: Decision
    _encoder: TableEncoder
    _kept: list[Kept]  # of each round
    classes_: np.ndarray

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the vote.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            For native learners a NumPy array, pandas or polars frame, Arrow table, SciPy sparse
            matrix or nested lists; NaN, null and pd.NA are missing values. Other learners are given
            X as it is.
        y : array of shape (n_samples,)
            Labels of any type.
        sample_weight : array of shape (n_samples,), optional
            The distribution that boosting starts from; a row of weight 0 does not count.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        check_parameters(self, self._checks())
        estimator = self.estimator
        check_learner(estimator)
        continuing = self.warm_start and hasattr(self, "_vote")
        if continuing and self.n_estimators < self._vote.n_rounds:
            raise ValueError(
                f"n_estimators={self.n_estimators} is below the {self._vote.n_rounds} rounds that the"
                " model has; with warm_start=True it can only grow"
            )
        if continuing:
            encoder, table = self._encoder, self._table(X)
        else:
            encoder, table = open_table(
                estimator,
                X,
                categorical_features=self.categorical_features,
                owner=type(self).__name__,
            )
        table, numbers, weight = self._rows(estimator, table, y, sample_weight, continuing)
        if not continuing:
            self._start(estimator, encoder)
        train, validation, mark = self._parts(estimator, table, numbers, weight)
        watch = self.__dict__.pop("_watch", None)
        course = course_of(self, self._vote if continuing else None, watch, mark, tol=0.0)
        if (
            course.resumed is not None
        ):  # with all rounds that were tried, not only with those of the model
            self._vote, self._kept = course.start, list(course.resumed.kept)
        assembly = Assembly(self, estimator, train, continuing)
        stepper = assembly.stepper(validation)
        self._vote, self._decision = stepper.terms, stepper.decision
        self._run(stepper, course)
        return self

    def _rows(
        self, estimator: Any, table: Any, y: Any, sample_weight: Any, continuing: bool
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """The rows that count, their class numbers and their weights."""
        labels = check_labels(y)
        rows = count_rows(estimator, table)
        check_same_length(labels.size, rows)
        weight = check_sample_weight(sample_weight, rows)
        if weight.size and not weight.all():
            counting = np.flatnonzero(weight)
            table = some_rows(estimator, table, counting)
            labels, weight = labels[counting], weight[counting]
        classes = self.classes_ if continuing else learn_classes(labels)
        if classes.size < 2:
            raise ValueError(f"{only_class(classes)}: a classifier needs at least two classes")
        self.classes_, self.n_classes_ = classes, classes.size
        if not weight.size:
            weight = np.ones(labels.size)
        return table, class_numbers(labels, classes), weight

    def _start(self, estimator: Any, encoder: TableEncoder) -> None:
        """Forget an earlier fit."""
        for name in ("_vote", "certificate_", "feature_names_in_", "validation_score_"):
            self.__dict__.pop(name, None)
        self._seed = seed_from(self.random_state)
        self.estimator_ = estimator
        self._kept, self._is_finished = [], False
        remember_columns(self, encoder)

    def _parts(
        self, estimator: Any, table: Any, numbers: np.ndarray, weight: np.ndarray
    ) -> tuple[Labelled, Labelled | None, int | None]:
        """The training set and, with early stopping, the validation set and its mark."""

        def part(rows: np.ndarray) -> Labelled:
            share = weight[rows] / weight[rows].sum()
            return Labelled(some_rows(estimator, table, rows), numbers[rows], share)

        if not self.early_stopping:
            return Labelled(table, numbers, weight / weight.sum()), None, None
        kept, held = split_rows(numbers.size, self.validation_fraction, self._seed, numbers)
        return part(kept), part(held), mark_of(held, numbers[held], weight[held])

    # ----------------------------------------------------------- running the loops
    def _run(self, stepper: VoteStepper, course: Course) -> None:
        history, stopping = course.history, course.stopping
        self._kept = list(self._kept)
        stepper.kept = self._kept
        run_rounds(
            stepper,
            model=self,
            n_rounds=self.n_estimators,
            stopping=stopping,
            score=None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=history,
        )
        was_finished = self._is_finished
        ending = self._ending(stepper, history)
        scores = stepper.scores()
        best = history.best_round
        self._unlearned = course.mark
        if self.warm_start:
            self._watch = course.watched(self._vote.copy(), kept=list(self._kept))
        if best is not None and best < self._vote.n_rounds:
            self._vote.truncate(best)
            del self._kept[best:]
            scores = self._vote.raw(stepper.train.table, stepper.threads)
        self.certificate_ = certify(self, stepper, scores)
        self._is_finished = stepper.is_finished
        if not was_finished:  # else nothing was done, and what was told before is still true
            self.stopped_because_ = ending.reason
            warn_of(ending, len(self._kept), self.n_estimators)
        self.train_score_ = np.asarray(history.train_loss)
        if history.validation_loss:
            self.validation_score_ = np.asarray(history.validation_loss)

    def _ending(self, stepper: VoteStepper, history: LoopResult) -> Ending:
        if stepper.is_finished:
            return of_all(stepper.endings)
        if history.stopped_by == "callback":
            return by_callback(stepper.terms.n_rounds)
        if history.stopped_by is not None:
            return by_validation_set(self.n_iter_no_change, history.best_round)
        return all_rounds(stepper.terms.n_rounds)

    # --------------------------------------------------------------- the learner
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        estimator = self.estimator
        native = is_native(estimator)
        tags.input_tags.allow_nan = native or accepts_missing(estimator)
        tags.input_tags.sparse = native or bool(tags_of(estimator).input_tags.sparse)
        tags.input_tags.categorical = native
        tags.input_tags.string = native
        return tags

    # --------------------------------------------------------------- predicting
    def _table(self, X: Any) -> Any:
        columns = self._encoder.transform(X, owner=type(self).__name__)
        return columns if isinstance(self._vote, TreeVote) else shaped(X)

    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """The vote f(x): (n_samples,) for two classes, (n_samples, n_classes) for more."""
        check_is_fitted(self, "_vote")
        return self._decision.decision(
            self._vote.raw(self._table(X), effective_threads(self.n_jobs))
        )

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class that wins the vote."""
        decision = self.decision_function(X)
        return self.classes_[self._decision.numbers(decision)]

    @reads_one_fit
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of `classes_`."""
        decision = self.decision_function(X)
        return self._decision.probabilities(decision)

    @reads_one_fit
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @reads_one_fit
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The vote after each round."""
        check_is_fitted(self, "_vote")
        table, threads = self._table(X), effective_threads(self.n_jobs)
        raw: Any = 0.0
        for t in range(self._vote.n_rounds):
            raw = raw + self._vote.raw(table, threads, t, t + 1)
            yield self._decision.decision(raw)

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The winning class after each round."""
        for decision in self.staged_decision_function(X):
            yield self.classes_[self._decision.numbers(decision)]

    @reads_one_fit
    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Probabilities after each round."""
        for decision in self.staged_decision_function(X):
            yield self._decision.probabilities(decision)

    # ------------------------------------------------------------ what was learned
    @property
    def n_estimators_(self) -> int:
        """Number of rounds in the model; below `n_estimators` where boosting came to an end."""
        check_is_fitted(self, "_vote")
        return self._vote.n_rounds

    @property
    @reads_one_fit
    def estimators_(self) -> Any:
        """The voters: a list, or an array (rounds, columns) where a round has several."""
        check_is_fitted(self, "_vote")
        if isinstance(self._vote, LearnerVote):
            voters: list[Any] = [voter.learner for voter in self._vote.voters]
            each = self._vote.voters_a_round
        else:
            each = self._vote.trees_a_round
            voters = [
                NativeVoter(self._vote.ensemble, t, scale, self._encoder, self._voted_classes())
                for t, scale in enumerate(self._scales(each))
            ]
        if each == 1:
            return voters
        table = np.empty((len(voters) // each, each), dtype=object)
        table[:] = np.array([*voters, None], dtype=object)[:-1].reshape(-1, each)
        return table

    def _voted_classes(self) -> np.ndarray:
        """What the voters' own signs or numbers stand for: the classes, or a code's -1 and +1."""
        single = self.n_classes_ == 2 or getattr(self._vote, "trees_a_round", 1) == 1
        return self.classes_ if single else np.array([-1, 1])

    def _scales(self, each: int) -> np.ndarray:
        scales = np.array([kept.scale for kept in self._kept])
        return np.broadcast_to(scales, (len(self._kept), max(each, scales.shape[1]))).ravel()

    def _by_round(self, name: str, factor: float = 1.0) -> np.ndarray:
        check_is_fitted(self, "_vote")
        values = factor * np.array([getattr(kept, name) for kept in self._kept])
        return values[:, 0] if values.shape[1] == 1 else values

    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Mean over the voters, by their weights, of each one's share of gain by feature."""
        check_is_fitted(self, "_vote")
        each = getattr(self._vote, "trees_a_round", 1)
        return importances_of(self._vote, self._scales(each), self.estimator_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    # --------------------------------------------------------- for the subclasses
    def _checks(self) -> dict[str, Check]:
        return CHECKS

    def _scheme(self) -> str:
        """How several classes are told: "samme", "mh" or the name of a code."""
        raise NotImplementedError

    def _variant(self, y: np.ndarray, share: np.ndarray, rows: int) -> Any:
        """The variant for signs y; `rows` are those of the whole fit."""
        raise NotImplementedError

    def _variant_of_many(self, scheme: str, numbers: np.ndarray, share: np.ndarray) -> Any:
        raise NotImplementedError

    def _runs_natively(self, learner: Any) -> bool:
        """Whether the core has this loop as a whole."""
        return False

    def _margin_loss(self) -> MarginLoss:
        """The loss that sums are turned into probabilities and decoded by."""
        raise NotImplementedError


def check_learner(estimator: Any) -> None:
    """Raise a TypeError unless `estimator` is None or can be cloned, fitted and asked."""
    if estimator is None:
        return
    if isinstance(estimator, type) or not all(
        hasattr(estimator, method) for method in ("fit", "predict", "get_params")
    ):
        raise TypeError(
            f"estimator={estimator!r} must be an estimator with fit and predict: an object, not its class"
        )
