"""Target statistics as metadata of a model file."""

from __future__ import annotations

from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._state.fields import (
    invalid_field,
    read_integers,
    read_list,
    read_matrix,
    read_number,
    read_numbers,
)
from bosquet.boosting.gradient._target_statistics import LevelSums, TargetStatistics

if TYPE_CHECKING:
    from bosquet._types import State

# A file may have no more combinations of columns, each of which takes memory in proportion to the levels of
# its first column, and no more columns in a combination.
MAX_COMBINATIONS = 100
MAX_COMBINED = 16
# Sums of weights beyond this number do not fit single precision.
LARGEST_WEIGHT = 1e30


def statistics_state(statistics: TargetStatistics) -> State:
    """Return the statistics as JSON values.

    Sums without a fraction, such as counts, are written as integers.
    """
    return {
        "kept": list(statistics.kept_columns),
        "prior": statistics.prior.tolist(),
        "strength": statistics.strength,
        "groups": [
            {
                "columns": list(group.columns),
                "keys": group.keys.tolist(),
                "weight": _to_json_numbers(group.weight),
                "sums": [_to_json_numbers(sums) for sums in group.sums],
            }
            for group in statistics.groups
        ],
    }


def read_statistics(state: Any, categories: list[int], trees: Ensemble) -> TargetStatistics:
    """Read the statistics of a model whose encoded columns have these numbers of levels."""
    kept_columns = read_integers(state, "kept", 0, len(categories) - 1)
    if any(low >= high for low, high in pairwise(kept_columns)):
        raise invalid_field("kept", kept_columns, "a list of column numbers in ascending order")
    prior = read_numbers(state, "prior", low=0, high=1)
    if not prior.size:
        raise invalid_field("prior", [], "a list of at least one number")
    strength = read_number(state, "strength", 1e-30, LARGEST_WEIGHT)
    groups = read_list(state, "groups")
    n_columns = len(kept_columns) + len(groups) * (prior.size + 1)
    if n_columns != trees.n_features:
        raise ModelFileError(
            f"invalid model file: the trees have {trees.n_features} features, but 'target_statistics' has"
            f" {n_columns} columns"
        )
    n_categorical = sum(levels > 0 for levels in categories)
    if len(groups) > n_categorical + MAX_COMBINATIONS:
        raise ModelFileError(
            f"invalid model file: 'groups' has {len(groups)} entries; there may be {n_categorical} columns"
            f" and {MAX_COMBINATIONS} combinations"
        )
    read = [_read_group(group, categories, prior.size) for group in groups]
    if len({group.columns for group in read}) != len(read):
        raise ModelFileError("invalid model file: 'groups' has two entries with the same columns")
    of_trees = [categories[f] for f in kept_columns] + [0] * (n_columns - len(kept_columns))
    if of_trees != list(trees.categories):
        raise ModelFileError(
            "invalid model file: the numbers of categories of the trees and of 'target_statistics' differ"
        )
    return TargetStatistics(categories, kept_columns, read, prior, strength)


def _read_group(state: Any, categories: list[int], n_targets: int) -> LevelSums:
    columns = read_integers(state, "columns", 0, len(categories) - 1)
    ascending = all(low < high for low, high in pairwise(columns))
    all_categorical = all(categories[f] > 0 for f in columns)
    if not 1 <= len(columns) <= MAX_COMBINED or not ascending or not all_categorical:
        wanted = f"1 to {MAX_COMBINED} numbers of categorical columns in ascending order"
        raise invalid_field("columns", columns, wanted)
    n_keys = prod(categories[f] + 1 for f in columns)
    if n_keys > 2**63:
        raise invalid_field("columns", columns, "columns with at most 2**63 combinations of levels")
    keys = np.array(read_integers(state, "keys", 0, n_keys - 1), dtype=np.uint64)
    if (keys[1:] <= keys[:-1]).any():
        raise invalid_field("keys", state["keys"], "a list of integers in ascending order")
    weight = read_numbers(state, "weight", keys.size, low=0, high=LARGEST_WEIGHT)
    sums = read_matrix(state, "sums", (n_targets, keys.size), low=0, high=LARGEST_WEIGHT)
    # The targets are shares of classes or ranks in [0, 1].
    if (sums > weight * (1 + 1e-6)).any():
        raise invalid_field("sums", state["sums"], "at most the weights of the levels")
    return LevelSums(tuple(columns), keys, weight, sums)


def _to_json_numbers(values: np.ndarray) -> list[Any]:
    return (values.astype(np.int64) if (values % 1 == 0).all() else values).tolist()
