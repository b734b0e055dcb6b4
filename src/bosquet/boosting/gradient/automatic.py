"""The values of parameters that are "auto": rules of the rows, the outputs and the task.

docs/defaults.md states what the rules were chosen on, and what they gained.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bosquet.boosting.gradient._base import BaseGradientBoosting

QUALITIES = ("fast", "default", "best")
ONE_OUTPUT_PER_TREE, MULTI_OUTPUT_TREE = "one_output_per_tree", "multi_output_tree"
# The parameters that accept "auto".
AUTOMATIC = (
    "learning_rate", "n_estimators", "n_runs", "max_leaf_nodes", "min_samples_leaf", "l2_regularization",
    "subsample", "max_features", "cat_smooth", "cat_l2", "min_samples_category", "early_stopping",
    "n_iter_no_change", "split_noise", "multi_strategy",
)  # fmt: skip
# A warm start may stop in another way than the fit that it continues.
_STOPPING = ("n_estimators", "early_stopping", "n_iter_no_change")

# Limits of the number of rows times outputs, by quality. Below the first, a validation set would be too
# small, and cross-validation is cheap. Below the second, several runs are cheap, and cheaper if the outputs
# share trees.
_SMALL_BELOW = {"default": 10_000, "best": 50_000}
_MEDIUM_BELOW = {"default": 150_000, "best": 500_000}
_SHARED_SMALL_BELOW = {"default": 10_000, "best": 10_000}
_SHARED_MEDIUM_BELOW = {"default": 500_000, "best": 1_500_000}
# Medium tables with shared trees and fewer rows are cross-validated too: with several classes, a validation
# set of fewer than a thousand rows gives a number of rounds that varies by a factor of two.
_SHARED_FOLDS_BELOW_ROWS = 10_000
# With more values (rows times columns), trees on random features are the only set of values for classes:
# the others search all columns of every node, and wide tables have many weak features.
_WIDE_VALUES = 500_000
# From this many rows on, the splits of small trees are certain enough without noise.
_MIN_ROWS_WITHOUT_NOISE = 1_000
# Fewer rows are too few for folds.
_MIN_ROWS_OF_FOLDS = 10
# Where cross-validation is not used, a validation set is split off from this many rows on.
_VALIDATION_SET_ROWS = 1_000
_ROUNDS_WITHOUT_STOPPING = 100

Values = dict[str, Any]

# quality="fast", and tables that are large.
_PLAIN: Values = {
    "learning_rate": 0.05, "n_runs": 1, "max_leaf_nodes": 31, "min_samples_leaf": 20,
    "l2_regularization": 1.0, "subsample": 1.0, "max_features": 0.5, "cat_smooth": 10.0,
    "cat_l2": 10.0, "min_samples_category": 30, "split_noise": 0.0,
}  # fmt: skip
_MEDIUM: Values = _PLAIN | {"n_runs": 3, "min_samples_leaf": 5}
# A tree for all classes changes the predictions of all classes: it needs more leaves and more rounds, and
# takes larger steps.
_SHARED_TREES: Values = {"learning_rate": 0.1}
_MORE_LEAVES: Values = {"max_leaf_nodes": 63}
# Medium tables with shared trees: cross-validation chooses the number of leaves. A set with noise is not
# among them: trees without noise gain more from the mean of runs than cross-validation of single runs shows.
_MEDIUM_SHARED: list[Values] = [
    _MEDIUM | {"n_runs": 8, "max_leaf_nodes": 63},
    _MEDIUM | {"n_runs": 8, "max_leaf_nodes": 31},
]
# Small tables overfit less as a mean of runs that draw a part of the rows.
_SMALL: Values = _PLAIN | {
    "n_runs": 5, "cat_smooth": 2.0, "cat_l2": 2.0, "min_samples_category": 5, "min_samples_leaf": 5,
}  # fmt: skip
# Cross-validation chooses one of these: large trees on few random features, for many weak features; small
# trees on all features, for smooth functions and for interactions of few features; or in between.
_SMALL_CLASSIFIERS: list[Values] = [
    {
        "max_features": "sqrt", "max_leaf_nodes": 31, "min_samples_leaf": 1, "l2_regularization": 5.0,
        "subsample": 0.5, "split_noise": 2.0,
    },
    {
        "max_features": None, "max_leaf_nodes": 4, "l2_regularization": 3.0, "subsample": 0.8,
        "split_noise": 5.0,
    },
    {
        "max_features": None, "max_leaf_nodes": 8, "l2_regularization": 3.0, "subsample": 0.8,
        "split_noise": 5.0,
    },
    {
        "max_features": 0.5, "max_leaf_nodes": 31, "l2_regularization": 3.0, "subsample": 0.8,
        "split_noise": 2.0,
    },
]  # fmt: skip
_SMALL_REGRESSORS: list[Values] = [
    {"max_features": None, "max_leaf_nodes": 6, "subsample": 0.5},
    {"max_features": 0.5, "max_leaf_nodes": 31, "subsample": 0.8},
    {"max_features": None, "max_leaf_nodes": 12, "min_samples_leaf": 2, "subsample": 0.7},
]
# quality="best": factors of the learning rate and of the number of runs.
_BEST_RATE_FACTOR, _BEST_RUNS_FACTOR = 0.6, 2


@dataclass(frozen=True)
class TrainingShape:
    """The arguments of the rules: rows with a positive weight, outputs, shares of the classes."""

    n_rows: int
    outputs: int
    class_shares: np.ndarray | None  # None: regression
    multi_strategy: str = ONE_OUTPUT_PER_TREE
    columns: int = 1

    @property
    def is_classification(self) -> bool:
        return self.class_shares is not None

    @property
    def has_shared_trees(self) -> bool:
        """Whether a round adds one tree for all outputs."""
        return self.multi_strategy == MULTI_OUTPUT_TREE

    @property
    def curvature(self) -> float:
        """The mean Hessian of the log loss at the class shares, relative to two equal classes."""
        if self.class_shares is None:
            return 1.0
        return 4 * float(np.mean(self.class_shares * (1 - self.class_shares)))

    @property
    def rows_times_outputs(self) -> int:
        """The size of a table: small, medium or large."""
        return self.n_rows * self.outputs


def is_auto(value: object) -> bool:
    """Whether a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def candidate_parameters(
    model: BaseGradientBoosting,
    shape: TrainingShape,
    has_eval_set: bool,
    earlier: Values | None = None,
) -> list[Values]:
    """Return the values of the parameters `AUTOMATIC`; several sets of them if cross-validation chooses one.

    A warm start continues trees with the values of the `earlier` fit.
    """
    user_values = _user_values(model)
    # A caller who sets the number of rounds expects as many trees.
    uses_fast_values = (
        model.estimator is not None or model.warm_start or "n_estimators" in user_values
    )
    quality = "fast" if uses_fast_values else model.quality
    strategy = user_values.pop("multi_strategy", _multi_strategy(uses_fast_values, shape))
    if shape.outputs > 1 and model.estimator is None:
        # A warm start cannot mix trees for one output and trees for all outputs.
        strategy = strategy if earlier is None else earlier["multi_strategy"]
        shape = replace(shape, multi_strategy=strategy)
    stopping = user_values.get("early_stopping")
    if stopping is None:
        # Cross-validation monitors the loss, and its models are not trained on all rows.
        allows_folds = model.scoring in (None, "loss") and model.refit
        stopping = True if has_eval_set else _early_stopping(quality, shape, allows_folds)
    rounds = _rounds(quality, shape, stopping)
    strategy_values = {"early_stopping": stopping, "multi_strategy": shape.multi_strategy}
    if earlier is not None:
        earlier_values = {name: value for name, value in earlier.items() if name not in _STOPPING}
        return [_sort_by_name({**rounds, **earlier_values, **strategy_values, **user_values})]
    candidates: list[Values] = []
    for tree_values in _parameter_sets(quality, shape, stopping):
        values = _sort_by_name({**rounds, **tree_values, **strategy_values, **user_values})
        if values not in candidates:
            candidates.append(values)
    return candidates


def values_with_validation_set(shape: TrainingShape) -> Values:
    """Return the values of the defaults if a validation set decides the number of rounds."""
    strategy = _multi_strategy(False, shape)
    shape = replace(shape, multi_strategy=strategy)
    values = _rounds("default", shape, True) | _parameter_sets("default", shape, True)[0]
    return values | {"multi_strategy": strategy}


def _sort_by_name(values: Values) -> Values:
    return {name: values[name] for name in sorted(values)}


def _user_values(model: BaseGradientBoosting) -> Values:
    """Return the parameters that are not "auto", as plain Python values."""
    values = {name: getattr(model, name) for name in sorted(AUTOMATIC)}
    plain = {name: v.item() if isinstance(v, np.generic) else v for name, v in values.items()}
    return {name: value for name, value in plain.items() if not is_auto(value)}


def _is_small(quality: str, shape: TrainingShape) -> bool:
    limits = _SHARED_SMALL_BELOW if shape.has_shared_trees else _SMALL_BELOW
    return quality != "fast" and shape.rows_times_outputs < limits[quality]


def _is_medium(quality: str, shape: TrainingShape) -> bool:
    limits = _SHARED_MEDIUM_BELOW if shape.has_shared_trees else _MEDIUM_BELOW
    return (
        quality != "fast"
        and not _is_small(quality, shape)
        and shape.rows_times_outputs < limits[quality]
    )


def _uses_folds(quality: str, shape: TrainingShape) -> bool:
    if _is_small(quality, shape):
        return shape.n_rows >= _MIN_ROWS_OF_FOLDS
    few_rows = shape.n_rows < _SHARED_FOLDS_BELOW_ROWS
    return shape.has_shared_trees and few_rows and _is_medium(quality, shape)


def _early_stopping(quality: str, shape: TrainingShape, allows_folds: bool) -> bool | str:
    if allows_folds and _uses_folds(quality, shape):
        return "cv"
    return shape.n_rows >= _VALIDATION_SET_ROWS


def _rounds(quality: str, shape: TrainingShape, stopping: bool | str) -> Values:
    """Return the largest number of rounds, and the number without improvement after which the rounds end."""
    if not stopping:
        return {"n_estimators": _ROUNDS_WITHOUT_STOPPING, "n_iter_no_change": 40}
    if quality == "best" or (
        stopping != "cv" and (_is_medium(quality, shape) or shape.has_shared_trees)
    ):
        return {"n_estimators": 3_000, "n_iter_no_change": 100}
    return {"n_estimators": 1_000, "n_iter_no_change": 40}


def _multi_strategy(uses_fast_values: bool, shape: TrainingShape) -> str:
    if uses_fast_values or not shape.is_classification or shape.outputs == 1:
        return ONE_OUTPUT_PER_TREE
    return MULTI_OUTPUT_TREE


def _parameter_sets(quality: str, shape: TrainingShape, stopping: bool | str) -> list[Values]:
    """Return the sets of values of the trees among which cross-validation chooses; one without it."""
    if _is_small(quality, shape) and stopping == "cv":
        sets = [_SMALL | values for values in _small_sets(shape)]
        # The penalty is compared with sums of Hessians, which are small if a class is rare.
        for values in sets:
            values["l2_regularization"] *= shape.curvature
    elif _is_medium(quality, shape) and shape.has_shared_trees:
        sets = _MEDIUM_SHARED if stopping == "cv" else [_MEDIUM | _MORE_LEAVES]
    elif _is_medium(quality, shape):
        sets = [dict(_MEDIUM)]
    else:
        sets = [_PLAIN | (_MORE_LEAVES if shape.has_shared_trees else {})]
    if shape.has_shared_trees:
        sets = [values | _SHARED_TREES for values in sets]
    if quality == "best":
        for values in sets:
            values["learning_rate"] *= _BEST_RATE_FACTOR
            values["n_runs"] *= _BEST_RUNS_FACTOR
    return sets


def _small_sets(shape: TrainingShape) -> list[Values]:
    if not shape.is_classification:
        return _SMALL_REGRESSORS
    if shape.n_rows * shape.columns > _WIDE_VALUES:
        return _SMALL_CLASSIFIERS[:1]
    if shape.n_rows < _MIN_ROWS_WITHOUT_NOISE:
        return _SMALL_CLASSIFIERS
    random_features, smallest_trees, small_trees, large_trees = _SMALL_CLASSIFIERS
    return [random_features, smallest_trees, small_trees | {"split_noise": 0.0}, large_trees]
