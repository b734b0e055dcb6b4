"""Growing of trees by the core, for single trees, forests and boosting."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._parameters import monotone_directions, resolve_max_features
from bosquet._weights import NO_WEIGHT
from bosquet.data import BatchedColumns, TableEncoder
from bosquet.data.table import column_label
from bosquet.trees.binning import code_bins, learn_bins

if TYPE_CHECKING:
    from bosquet._types import MonotoneConstraint
    from bosquet.data import Columns

# Distance between the keys of two trees. It is large, so that consecutive seeds share no tree, and odd, so
# that the keys run through all 2^64 values before one is repeated.
_KEY_STEP = 0x9E3779B97F4A7C15


@dataclass
class TreeTarget:
    """The target of a tree.

    `values` holds class numbers (rows,), the columns of the classes of several targets (targets, rows), or
    numeric targets (outputs, rows). `class_counts` are the numbers of classes of several targets.
    """

    values: np.ndarray
    outputs: int
    is_classes: bool
    class_counts: tuple[int, ...] = ()

    @classmethod
    def of_classes(cls, numbers: np.ndarray, n_classes: int) -> TreeTarget:
        return cls(np.ascontiguousarray(numbers, dtype=np.uint32), n_classes, True)

    @classmethod
    def of_several_classes(cls, columns: np.ndarray, counts: tuple[int, ...]) -> TreeTarget:
        return cls(np.ascontiguousarray(columns, dtype=np.uint32), sum(counts), True, counts)

    @classmethod
    def of_numbers(cls, numbers: np.ndarray) -> TreeTarget:
        return cls(np.ascontiguousarray(numbers, dtype=float), numbers.shape[0], False)

    def take(self, rows: np.ndarray) -> TreeTarget:
        """Return the target of some rows."""
        return replace(self, values=np.ascontiguousarray(self.values[..., rows]))

    @property
    def n_rows(self) -> int:
        return self.values.shape[-1]

    @property
    def by_row(self) -> np.ndarray:
        """`values` with the rows first: (rows,), (rows, targets) or (rows, outputs)."""
        return self.values.T

    @property
    def stored_outputs(self) -> int:
        """Number of values in a leaf; for two classes only the share of the second is stored."""
        two_classes = self.is_classes and self.outputs == 2 and not self.class_counts
        return 1 if two_classes else self.outputs


def code_table(
    columns: Columns | BatchedColumns,
    encoder: TableEncoder,
    *,
    exact: bool,
    threads: int,
    weight: np.ndarray = NO_WEIGHT,
    max_bins: int = 255,
    seed: int = 0,
) -> _core.CodedTable:
    """Return the table as integer codes: one code per distinct value (exact) or per bin."""
    if exact:
        assert not isinstance(columns, BatchedColumns)
        return _core.code_values(columns, encoder.n_levels, threads)
    bins = learn_bins(
        columns, encoder.n_levels, weight, max_bins=max_bins, seed=seed, threads=threads
    )
    return code_bins(columns, bins, threads)


def directions_of(constraint: MonotoneConstraint, encoder: TableEncoder) -> list[int]:
    """Return -1, 0 or +1 for each feature, or an empty list; raise a ValueError for a category."""
    directions = monotone_directions(constraint, encoder.n_features, encoder.feature_names)
    for feature, direction in enumerate(directions):
        if direction and encoder.n_levels[feature]:
            raise ValueError(
                f"monotonic_cst constrains {column_label(feature, encoder.feature_names)}, which is"
                " categorical and has no order; set its direction to 0"
            )
    return directions


def growing_options(estimator: Any, encoder: TableEncoder, total_weight: float) -> dict[str, Any]:
    """Return the options of the core for the parameters of an estimator."""
    n = encoder.n_features
    monotone = directions_of(estimator.monotonic_cst, encoder)
    if monotone:
        _check_monotone_support(estimator)
    rows = estimator.n_samples_fit_
    return {
        "criterion": {"log_loss": "entropy"}.get(estimator.criterion, estimator.criterion),
        "min_samples_split": _row_count(estimator.min_samples_split, rows, 2),
        "min_samples_leaf": _row_count(estimator.min_samples_leaf, rows, 1),
        "min_weight_leaf": float(estimator.min_weight_fraction_leaf) * total_weight,
        "max_depth": estimator.max_depth or 0,
        "max_leaf_nodes": _leaf_limit(estimator),
        "min_impurity_decrease": float(estimator.min_impurity_decrease),
        "features_per_node": resolve_max_features(estimator.max_features, n),
        "monotone": monotone,
    }


def _check_monotone_support(estimator: Any) -> None:
    """Raise a ValueError for parameters with which predictions could violate monotonic constraints.

    The core bounds the means of nodes, so medians and smoothed shares are not bounded. A surrogate on a
    constrained feature could send rows to the wrong side of a split.
    """
    for name, value in (("criterion", "absolute_error"), ("missing", "surrogate")):
        if getattr(estimator, name, None) == value:
            raise ValueError(
                f"monotonic_cst is not supported with {name}={value!r};"
                f" set monotonic_cst=None or change {name}"
            )
    if getattr(estimator, "smoothing", 0) > 0:
        raise ValueError(
            f"monotonic_cst is not supported with smoothing={estimator.smoothing}; set smoothing=0"
        )


def _row_count(value: float, n_rows: int, minimum: int) -> int:
    """Return a number of rows that is given as a count or as a fraction."""
    if isinstance(value, float | np.floating):
        return max(minimum, int(np.ceil(value * n_rows)))
    return int(value)


def _leaf_limit(estimator: Any) -> int:
    """Return the maximum number of leaves; 0: no limit."""
    limits = [estimator.max_leaf_nodes] if estimator.max_leaf_nodes else []
    max_nodes = getattr(estimator, "max_nodes", None)
    if max_nodes:
        limits.append((max_nodes + 1) // 2)  # a tree with k leaves has 2k - 1 nodes
    return min(limits, default=0)


def cart_fit(
    table: _core.CodedTable,
    target: TreeTarget,
    weight: np.ndarray,
    options: dict[str, Any],
    threads: int,
) -> _core.CartFit:
    """Return the object of the core that grows trees."""
    counts = list(target.class_counts)
    if options["monotone"] and target.stored_outputs > 1:
        one_target = target.is_classes and not counts
        what = "more than two classes" if one_target else "several targets"
        raise ValueError(f"monotonic_cst is not supported for {what}; set monotonic_cst=None")
    return _core.CartFit(table, target.values, target.outputs, weight, options, threads, counts)


def tree_key(seed: int, number: int) -> int:
    """Return the key of the random draws of a tree of an ensemble."""
    return (seed + (number + 1) * _KEY_STEP) % 2**64


def empty_ensemble(encoder: TableEncoder, target: TreeTarget) -> _core.Ensemble:
    """Return an ensemble of the core for this target, without trees."""
    outputs = target.stored_outputs
    return _core.Ensemble(
        encoder.n_features,
        outputs,
        [0.0] * outputs,
        encoder.n_levels,
        vector_leaves=outputs > 1,
    )


def class_shares(values: np.ndarray) -> np.ndarray:
    """Return class shares (rows, classes) from stored leaf values."""
    if values.shape[1] > 1:
        return values
    return np.column_stack([1 - values[:, 0], values[:, 0]])
