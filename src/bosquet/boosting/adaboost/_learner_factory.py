"""The weak learner for an estimator, the table that it reads, and an empty vote of its hypotheses."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet import _core
from bosquet._sklearn import effective_threads, has_fit_parameter, rows_of
from bosquet._warnings import warn_user
from bosquet.boosting._inputs import as_indexable
from bosquet.boosting.adaboost._estimator_learners import EstimatorLearner
from bosquet.boosting.adaboost._tree_learners import make_tree_learner
from bosquet.boosting.adaboost._weak_learners import (
    NativeLearnerOptions,
    OnePerClass,
    Reweighting,
    StumpLearner,
    WeakLearner,
)
from bosquet.boosting.adaboost.votes import IDENTITY, AsVote, LearnerVote, TreeVote, Vote
from bosquet.data import TableEncoder, count_rows, take_rows
from bosquet.trees import DecisionTreeClassifier, DecisionTreeRegressor


def is_native(estimator: Any) -> bool:
    """Whether the core fits this learner: a stump, or a tree of Bosquet without pruning or class weights."""
    if estimator is None:
        return True
    if type(estimator) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    plain_parameters = estimator.pruning is None and estimator.ccp_alpha == 0
    of_classes = [getattr(estimator, name, None) for name in ("class_weight", "priors", "costs")]
    return (
        plain_parameters
        and estimator.missing == "direction"
        and all(value is None for value in of_classes)
    )


def encode_table(
    estimator: Any, X: Any, *, categorical_features: Any = "from_dtype", owner: str
) -> tuple[TableEncoder, Any]:
    """Return the fitted encoder of X, and the learner's table: columns for the core, otherwise X itself."""
    native = is_native(estimator)
    encoder, columns = TableEncoder.fit_encode(
        X, categorical_features=categorical_features if native else "from_dtype", owner=owner
    )
    return encoder, columns if native else as_indexable(X)


def select_rows(estimator: Any, table: Any, rows: np.ndarray) -> Any:
    """Return selected rows of a table from `encode_table`."""
    return take_rows(table, rows) if is_native(estimator) else rows_of(table, rows)


def table_length(estimator: Any, table: Any) -> int:
    """Return the number of rows of a table from `encode_table`."""
    return count_rows(table) if is_native(estimator) else table.shape[0]


def make_weak_learner(
    estimator: Any,
    X: Any,
    *,
    output_kind: str,
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
    """Return the weak learner for `estimator`, on the table X from `encode_table`.

    Parameters
    ----------
    estimator : None (a native stump), a tree of Bosquet, or any scikit-learn estimator
    output_kind : the kind of outputs, see the module
    reweight : "weights" or "resample"
        Pass the weights, or draw a bootstrap sample with them. Estimators without `sample_weight`
        always get samples, with a warning.
    strata : class numbers, optional
        Undersample every class to the size of the smallest, at random in each round.
    labels : array, optional
        The classes as the estimator sees them; for signs, -1 is labels[0] and +1 is labels[1].
    split, max_bins : "exact" or "histogram", and the number of bins of the latter, for native learners
    """
    resample = reweight == "resample"
    native = is_native(estimator)
    if not native and not resample and not has_fit_parameter(estimator, "sample_weight"):
        warn_user(
            f"{type(estimator).__name__}.fit has no sample_weight; it is fitted to samples drawn with the"
            " weights, as with reweight='resample'",
            UserWarning,
        )
        resample = True
    reweighting = Reweighting(seed, resample, strata)
    if output_kind == "labels" and estimator is not None:
        binary_learner = make_weak_learner(
            estimator,
            X,
            output_kind="signs",
            encoder=encoder,
            n_jobs=n_jobs,
            seed=seed,
            reweight="resample" if resample else "weights",
            strata=strata,
            split=split,
            max_bins=max_bins,
        )
        return OnePerClass(binary_learner, n_classes)
    if not native:
        if labels is None:
            labels = np.arange(n_classes) if output_kind == "classes" else np.array([-1, 1])
        return EstimatorLearner(
            estimator, X, output_kind=output_kind, labels=labels, reweighting=reweighting
        )
    options = NativeLearnerOptions(
        output_kind, n_classes, reweighting, effective_threads(n_jobs), split, max_bins
    )
    if estimator is None:
        return StumpLearner(X, encoder, options)
    return make_tree_learner(estimator, X, encoder, options)


def make_vote(
    learner: WeakLearner,
    encoder: TableEncoder,
    *,
    outputs: int = 1,
    as_vote: AsVote = IDENTITY,
    at_once: bool = False,
) -> Vote:
    """Return an empty vote: of trees of the core for a native learner, otherwise of learners.

    `as_vote` turns the outputs of a hypothesis into what it adds. With `at_once` a hypothesis adds to all
    outputs, otherwise there is one hypothesis per output.
    """
    inner = learner.learner if isinstance(learner, OnePerClass) else learner
    adapter = getattr(inner, "adapter", None)  # of an EstimatorLearner
    if adapter is not None:
        return LearnerVote(adapter, as_vote, outputs, at_once)
    ensemble = _core.Ensemble(
        encoder.n_features, outputs, [0.0] * outputs, encoder.n_levels, vector_leaves=at_once
    )
    return TreeVote(ensemble, as_vote)
