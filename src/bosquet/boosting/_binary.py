"""What BrownBoost and LPBoost share: two classes as signs, a vote of learners, asking it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._explained import Explained
from bosquet._fitted import Saved, fits_aside, reads_one_fit, remember_columns
from bosquet._parameters import Check, check_parameters, choice, integer
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
    check_sample_weight,
    class_numbers,
    learn_classes,
    only_class,
)
from bosquet.boosting._boosted_vote import check_learner
from bosquet.boosting._loop import LoopResult, run_rounds
from bosquet.boosting._voters import AsSequence, NativeVoter, StagedVotes, importances_of
from bosquet.boosting._votes import LearnerVote, TreeVote
from bosquet.boosting._weak import (
    WeakLearner,
    count_rows,
    is_native,
    new_vote,
    open_table,
    shaped,
    some_rows,
    weak_learner,
)
from bosquet.data import TableEncoder

# Of the parameters that all votes on two classes have.
CHECKS: dict[str, Check] = {
    "n_estimators": integer(1),
    "split": choice("exact", "histogram"),
    "max_bins": integer(2, 255),
    "verbose": integer(0),
}


@dataclass
class Rows:
    """Rows to learn from: truth as signs, shares of the weight, a learner on their table.

    `counting` are their numbers in X where rows of weight 0 were left out, None otherwise.
    """

    y: np.ndarray
    share: np.ndarray
    learner: WeakLearner
    is_native: bool
    counting: np.ndarray | None
    n_given: int

    def capacity(self, says_signs: bool) -> tuple[float | None, dict[str, str]]:
        """The VC dimension of the learner where bounds can be built on it, else why not."""
        if says_signs:
            return self.learner.vc_dim, {}
        return None, {"vc_dim": "the bounds built on it are for learners that say -1 or +1"}

    def spread(self, values: np.ndarray) -> np.ndarray:
        """One value a row of X, 0 for those left out."""
        if self.counting is None:
            return values
        every = np.zeros(self.n_given)
        every[self.counting] = values
        return every


class BinaryVote(AsSequence, StagedVotes, Saved, Explained, ClassifierMixin, BaseEstimator):
    """Fitting and asking a vote on two classes; the subclasses know how it comes about."""

    _checks: Mapping[str, Check]  # said by the subclasses
    _encoder: TableEncoder
    _vote: Any  # a TreeVote or a LearnerVote
    classes_: np.ndarray
    estimator_weights_: np.ndarray

    # ------------------------------------------------------------------ fitting
    @fits_aside
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the vote.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            NumPy array, pandas or polars frame, Arrow table, SciPy sparse matrix or nested lists; for
            a learner of another library, what that takes.
        y : array of shape (n_samples,)
            Labels of any type, of two classes.
        sample_weight : array of shape (n_samples,), optional

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> Any:
        raise NotImplementedError

    def _rows(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Everything checked, and a learner on the rows that weigh anything."""
        check_parameters(self, self._checks)
        template = self.estimator
        check_learner(template)
        encoder, table = open_table(
            template,
            X,
            categorical_features=self.categorical_features,
            owner=type(self).__name__,
        )
        rows = count_rows(template, table)
        labels = check_labels(y)
        check_same_length(labels.size, rows)
        self.classes_ = _two_classes(labels, type(self).__name__)
        signs = 2.0 * class_numbers(labels, self.classes_) - 1
        weight = check_sample_weight(sample_weight, rows)
        counting = None
        if weight.size and not weight.all():
            counting = np.flatnonzero(weight)
            table = some_rows(template, table, counting)
            signs, weight = signs[counting], weight[counting]
            if (signs == signs[0]).all():
                raise ValueError("the rows with a sample_weight above 0 are all of one class")
        learner = weak_learner(
            template,
            table,
            says="signs",
            encoder=encoder,
            n_jobs=self.n_jobs,
            seed=seed_from(self.random_state),
            labels=self.classes_,
            split=self.split,
            max_bins=self.max_bins,
        )
        share = weight / weight.sum() if weight.size else np.full(signs.size, 1 / signs.size)
        self.estimator_ = template
        self._vote = new_vote(learner, encoder)
        remember_columns(self, encoder)
        return Rows(signs, share, learner, is_native(template), counting, rows)

    def _run(self, stepper: Any) -> LoopResult:
        """The rounds, with the bar and the callbacks."""
        history = LoopResult()
        run_rounds(
            stepper,
            model=self,
            n_rounds=int(self.n_estimators),
            stopping=None,
            score=None,
            callbacks=self.callbacks,
            verbose=bool(self.verbose),
            history=history,
        )
        return history

    # --------------------------------------------------------------- predicting
    def _raw(self, X: Any, first: int = 0, last: int | None = None) -> np.ndarray:
        check_is_fitted(self, "_vote")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        data = columns if isinstance(self._vote, TreeVote) else shaped(X)
        return self._vote.raw(data, effective_threads(self.n_jobs), first, last)[:, 0]

    @reads_one_fit
    def decision_function(self, X: Any) -> np.ndarray:
        """The weighted vote f(x); above 0 it is for the second of `classes_`."""
        return self._raw(X)

    @reads_one_fit
    def predict(self, X: Any) -> np.ndarray:
        """The class that the vote is for."""
        f = self.decision_function(X)
        return self.classes_[(f > 0).astype(np.intp)]

    @reads_one_fit
    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """The vote of the first 1, 2, ... hypotheses, with the weights that they have in the end."""
        check_is_fitted(self, "_vote")
        columns = self._encoder.transform(X, owner=type(self).__name__)
        data = columns if isinstance(self._vote, TreeVote) else shaped(X)
        threads = effective_threads(self.n_jobs)
        f: Any = 0.0
        for t in range(self._vote.n_rounds):
            f = f + self._vote.raw(data, threads, t, t + 1)[:, 0]
            yield f

    @reads_one_fit
    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """The class that the first 1, 2, ... hypotheses are for."""
        for f in self.staged_decision_function(X):
            yield self.classes_[(f > 0).astype(np.intp)]

    # ------------------------------------------------------------------- asking
    @property
    @reads_one_fit
    def estimators_(self) -> list[Any]:
        """The hypotheses."""
        check_is_fitted(self, "_vote")
        if isinstance(self._vote, LearnerVote):
            return [voter.learner for voter in self._vote.voters]
        return [
            NativeVoter(self._vote.ensemble, t, scale, self._encoder, self.classes_)
            for t, scale in enumerate(self.estimator_weights_)
        ]

    @property
    @reads_one_fit
    def feature_importances_(self) -> np.ndarray:
        """Mean over the hypotheses, by their weights, of each one's share of gain by feature."""
        check_is_fitted(self, "_vote")
        return importances_of(self._vote, self.estimator_weights_, self.estimator_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_vote")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        learner = self.estimator
        if is_native(learner):
            tags.input_tags.allow_nan = tags.input_tags.sparse = True
            tags.input_tags.string = tags.input_tags.categorical = True
        else:
            for name in ("allow_nan", "sparse", "categorical", "string"):
                setattr(tags.input_tags, name, getattr(tags_of(learner).input_tags, name))
        return tags


def _two_classes(labels: np.ndarray, owner: str) -> np.ndarray:
    classes = learn_classes(labels)
    if classes.size == 1:
        raise ValueError(f"{only_class(classes)}: a classifier needs at least two classes")
    if classes.size > 2:
        raise ValueError(
            f"Only binary classification is supported: {owner} takes two classes, and y holds"
            f" {classes.size}; wrap it in sklearn.multiclass.OneVsRestClassifier"
        )
    return classes
