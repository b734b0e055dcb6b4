"""Weak learners: three kinds behind one small interface.

A boosting loop asks a learner for a hypothesis under a distribution over the training rows, then for
what the hypothesis says of those rows. What it says is one of

    "signs"          -1 or +1, or anything between (a regressor's numbers are cut off there)
    "classes"        class numbers 0, 1, ..., n_classes - 1
    "probabilities"  (rows, n_classes)
    "numbers"        any number: a regressor's, or a classifier's mean of the signs, 2p - 1
    "labels"         (n_classes, rows) of -1 and +1: of each class, whether the row is of it

and the target given to `fit` is of the same kind (of signs, for "probabilities" of two classes).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.sparse import issparse

from bosquet import _core
from bosquet._sklearn import effective_threads, has_fit_parameter, rows_of
from bosquet._sparse import checked_sparse
from bosquet._warnings import warn_user
from bosquet.boosting._reweighting import Reweighting
from bosquet.boosting._votes import AS_SAID, AsVote, LearnerVote, TreeVote, Vote
from bosquet.boosting._weak_binned import BinnedTreeLearner, suits
from bosquet.boosting._weak_foreign import ForeignLearner
from bosquet.boosting._weak_native import StumpLearner, TreeLearner
from bosquet.data import TableEncoder, n_rows, take_rows


class WeakLearner(Protocol):
    """What a boosting loop knows of a learner."""

    def fit(self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0) -> Any:
        """A hypothesis, fitted under `weight`; where samples are drawn, `attempt` draws another."""

    def on_training_rows(self, hypothesis: Any) -> np.ndarray:
        """What it says of the rows that it was fitted on."""

    def on(self, hypothesis: Any, X: Any) -> np.ndarray:
        """What it says of new rows, in any container."""

    @property
    def attempts(self) -> int:
        """How many hypotheses to try before the learner counts as no better than chance."""

    @property
    def vc_dim(self) -> float | None:
        """An upper bound on the VC dimension of its hypotheses, None where none is known."""

    @property
    def finds_the_best(self) -> bool:
        """Whether no hypothesis of its kind errs less under the weights than the one that it returns.

        Only then does what it finds bound what any vote could do.
        """


def is_native(estimator: Any) -> bool:
    """Whether the core grows this learner: a stump, or a tree of Bosquet's without afterthoughts."""
    if estimator is None:
        return True
    from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor

    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    plain = estimator.pruning is None and estimator.ccp_alpha == 0
    of_classes = [getattr(estimator, name, None) for name in ("class_weight", "priors", "costs")]
    return plain and estimator.missing == "direction" and all(value is None for value in of_classes)


def open_table(
    estimator: Any, X: Any, *, categorical_features: Any = "from_dtype", owner: str
) -> tuple[TableEncoder, Any]:
    """What was learned of X, and X as the learner takes it: columns for the core, else as it is."""
    native = is_native(estimator)
    encoder, columns = TableEncoder.fit(
        X, categorical_features=categorical_features if native else "from_dtype", owner=owner
    )
    return encoder, columns if native else shaped(X)


def shaped(X: Any) -> Any:
    """X as it is if it has a shape, as an array otherwise; sparse ones so that rows can be taken."""
    if issparse(X):
        return checked_sparse(X)
    return X if hasattr(X, "shape") else np.asarray(X)


def some_rows(estimator: Any, table: Any, rows: np.ndarray) -> Any:
    """Some rows of what `open_table` gave."""
    return take_rows(table, rows) if is_native(estimator) else rows_of(table, rows)


def count_rows(estimator: Any, table: Any) -> int:
    return n_rows(table) if is_native(estimator) else table.shape[0]


def weak_learner(
    estimator: Any,
    X: Any,
    *,
    says: str,
    n_classes: int = 2,
    encoder: TableEncoder,
    n_jobs: int | None = None,
    seed: int = 0,
    reweight: str = "weights",
    strata: np.ndarray | None = None,
    labels: np.ndarray | None = None,
    split: str = "exact",
    max_bins: int = 255,
) -> WeakLearner:
    """The learner that `estimator` stands for, on the table X of `open_table`.

    Parameters
    ----------
    estimator : None (a native stump), a tree of Bosquet's, or any scikit-learn estimator
    says : what its hypotheses say, see above
    reweight : "weights" or "resample"
        Hand the weights on, or draw a bootstrap sample by them. Learners that take no
        `sample_weight` are given samples whatever is asked, with a notice.
    strata : class numbers, optional
        Cut the rows of every class down to as many as the smallest has, at random each round.
    labels : array, optional
        What a foreign classifier is to call the classes; of signs, -1 is labels[0] and +1 labels[1].
    split, max_bins : "exact" or "histogram", and the bins of the latter, for native learners
    """
    resample = reweight == "resample"
    native = is_native(estimator)
    if not native and not resample and not has_fit_parameter(estimator, "sample_weight"):
        warn_user(
            f"{type(estimator).__name__} takes no sample_weight: it is given samples drawn by the weights"
            " instead, as with reweight='resample'",
            UserWarning,
        )
        resample = True
    reweighting = Reweighting(seed, resample, strata)
    if says == "labels" and estimator is not None:
        one = weak_learner(
            estimator,
            X,
            says="signs",
            encoder=encoder,
            n_jobs=n_jobs,
            seed=seed,
            reweight="resample" if resample else "weights",
            strata=strata,
            split=split,
            max_bins=max_bins,
        )
        return EachLabel(one, n_classes)
    if not native:
        if labels is None:
            labels = np.arange(n_classes) if says == "classes" else np.array([-1, 1])
        return ForeignLearner(estimator, X, says=says, labels=labels, reweighting=reweighting)
    options: dict[str, Any] = {
        "says": says,
        "n_classes": n_classes,
        "reweighting": reweighting,
        "threads": effective_threads(n_jobs),
        "split": split,
        "max_bins": max_bins,
    }
    if estimator is None:
        return StumpLearner(X, encoder, **options)
    if split == "histogram" and suits(estimator, encoder, says, n_classes, reweighting):
        del options["split"]
        return BinnedTreeLearner(estimator, X, encoder, **options)
    return TreeLearner(estimator, X, encoder, **options)


class EachLabel:
    """A hypothesis a class, each fitted to tell its class from the others under that class's weights."""

    def __init__(self, learner: WeakLearner, n_classes: int):
        self.learner, self.n_classes = learner, n_classes

    @property
    def attempts(self) -> int:
        return self.learner.attempts

    @property
    def vc_dim(self) -> float | None:
        return self.learner.vc_dim

    @property
    def finds_the_best(self) -> bool:
        return self.learner.finds_the_best

    def fit(self, target: np.ndarray, weight: np.ndarray, round_: int, attempt: int = 0) -> Any:
        return [
            self.learner.fit(target[k], weight[k], round_, self.n_classes * attempt + k)
            for k in range(self.n_classes)
        ]

    def on_training_rows(self, hypothesis: Any) -> np.ndarray:
        return np.stack([self.learner.on_training_rows(one) for one in hypothesis])

    def on(self, hypothesis: Any, X: Any) -> np.ndarray:
        return np.stack([self.learner.on(one, X) for one in hypothesis])


def new_vote(
    learner: WeakLearner,
    encoder: TableEncoder,
    *,
    outputs: int = 1,
    as_vote: AsVote = AS_SAID,
    at_once: bool = False,
) -> Vote:
    """A vote without voters: trees of the core for native learners, a list of learners otherwise.

    `as_vote` turns what a hypothesis says into what it adds. With `at_once` a hypothesis adds to all
    outputs, otherwise there is one hypothesis an output.
    """
    inner = learner.learner if isinstance(learner, EachLabel) else learner
    if isinstance(inner, ForeignLearner):
        return LearnerVote(inner.speech, as_vote, outputs, at_once)
    ensemble = _core.Ensemble(
        encoder.n_features, outputs, [0.0] * outputs, encoder.categories, vector_leaves=at_once
    )
    return TreeVote(ensemble, as_vote)
