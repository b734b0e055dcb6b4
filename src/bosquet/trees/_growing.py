"""From checked data to the core's trees: what single trees and forests have in common."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._parameters import feature_count, monotone_directions
from bosquet._targets import NO_WEIGHT
from bosquet.data import TableEncoder

# How many rows bin edges are taken from; beyond that quantiles hardly move.
EDGE_ROWS = 200_000


@dataclass
class Target:
    """What trees are grown to tell: class numbers, or numbers (outputs, rows).

    Classes of several targets are places (targets, rows) among the classes of all, of which each target
    has `class_counts`.
    """

    values: np.ndarray
    outputs: int
    is_classes: bool
    class_counts: tuple[int, ...] = ()

    @classmethod
    def of_classes(cls, numbers: np.ndarray, n_classes: int) -> Target:
        return cls(np.ascontiguousarray(numbers, dtype=np.uint32), n_classes, True)

    @classmethod
    def of_several_classes(cls, places: np.ndarray, counts: tuple[int, ...]) -> Target:
        return cls(np.ascontiguousarray(places, dtype=np.uint32), sum(counts), True, counts)

    @classmethod
    def of_numbers(cls, numbers: np.ndarray) -> Target:
        return cls(np.ascontiguousarray(numbers, dtype=float), numbers.shape[0], False)

    def take(self, rows: np.ndarray) -> Target:
        return replace(self, values=np.ascontiguousarray(self.values[..., rows]))

    @property
    def rows(self) -> int:
        return self.values.shape[-1]

    @property
    def by_row(self) -> np.ndarray:
        """Class numbers (rows,), or places (rows, targets), or numbers (rows, outputs)."""
        return self.values.T

    @property
    def stored_outputs(self) -> int:
        """Numbers that a leaf holds: of two classes the share of the second says all."""
        two_classes = self.is_classes and self.outputs == 2 and not self.class_counts
        return 1 if two_classes else self.outputs


def code_table(
    columns: Any,
    encoder: TableEncoder,
    *,
    exact: bool,
    threads: int,
    weight: np.ndarray = NO_WEIGHT,
    max_bins: int = 255,
    seed: int = 0,
) -> _core.CodedTable:
    """The table as codes: one a distinct value (exact), or one a bin."""
    if exact:
        return _core.code_values(columns, encoder.categories, threads)
    bins = _core.learn_bins(columns, encoder.categories, weight, max_bins, EDGE_ROWS, seed, threads)
    return _core.code_bins(columns, bins, os.environ.get("BOSQUET_ISA", "auto"), threads)


def growing_options(estimator: Any, encoder: TableEncoder, weight_of_all: float) -> dict[str, Any]:
    """The core's options, from parameters of scikit-learn's names."""
    n = encoder.n_features
    monotone = monotone_directions(estimator.monotonic_cst, n, encoder.feature_names)
    for feature, direction in enumerate(monotone):
        if direction and encoder.categories[feature]:
            raise ValueError(f"monotonic_cst: feature {feature} is categorical and has no order")
    if monotone:
        _check_keeps_constraints(estimator)
    rows = estimator.n_samples_fit_
    return {
        "criterion": {"log_loss": "entropy"}.get(estimator.criterion, estimator.criterion),
        "min_samples_split": _count(estimator.min_samples_split, rows, 2),
        "min_samples_leaf": _count(estimator.min_samples_leaf, rows, 1),
        "min_weight_leaf": float(estimator.min_weight_fraction_leaf) * weight_of_all,
        "max_depth": estimator.max_depth or 0,
        "max_leaf_nodes": _most_leaves(estimator),
        "min_impurity_decrease": float(estimator.min_impurity_decrease),
        "features_per_node": feature_count(estimator.max_features, n),
        "monotone": monotone,
    }


def _check_keeps_constraints(estimator: Any) -> None:
    """Raise a ValueError for parameters under which predictions would break monotone constraints.

    The core compares and bounds the means of nodes: not medians, not what smoothing makes of shares. A
    surrogate on a constrained feature sends rows to either side of a split on another one.
    """
    for name, value in (("criterion", "absolute_error"), ("missing", "surrogate")):
        if getattr(estimator, name, None) == value:
            raise ValueError(f"monotonic_cst is not supported with {name}={value!r}")
    if getattr(estimator, "smoothing", 0) > 0:
        raise ValueError("monotonic_cst is not supported with smoothing; set smoothing=0")


def _count(value: Any, rows: int, least: int) -> int:
    """A number of rows, given as such or as a share."""
    if isinstance(value, float | np.floating):
        return max(least, int(np.ceil(value * rows)))
    return int(value)


def _most_leaves(estimator: Any) -> int:
    limits = [estimator.max_leaf_nodes] if estimator.max_leaf_nodes else []
    most_nodes = getattr(estimator, "max_nodes", None)
    if most_nodes:
        limits.append((most_nodes + 1) // 2)  # a tree of k leaves has 2k - 1 nodes
    return min(limits, default=0)


def cart_fit(
    table: _core.CodedTable,
    target: Target,
    weight: np.ndarray,
    options: dict[str, Any],
    threads: int,
) -> _core.CartFit:
    """What grows the trees."""
    counts = list(target.class_counts)
    if options["monotone"] and target.stored_outputs > 1:
        one_target = target.is_classes and not counts
        what = "more than two classes" if one_target else "several targets"
        raise ValueError(f"monotonic_cst is not supported for {what}")
    return _core.CartFit(table, target.values, target.outputs, weight, options, threads, counts)


def empty_ensemble(encoder: TableEncoder, target: Target) -> _core.Ensemble:
    """An ensemble without trees for this target."""
    outputs = target.stored_outputs
    return _core.Ensemble(
        encoder.n_features,
        outputs,
        [0.0] * outputs,
        encoder.categories,
        vector_leaves=outputs > 1,
    )


def class_shares(values: np.ndarray) -> np.ndarray:
    """Class shares (rows, classes) from what leaves hold."""
    if values.shape[1] > 1:
        return values
    return np.column_stack([1 - values[:, 0], values[:, 0]])
