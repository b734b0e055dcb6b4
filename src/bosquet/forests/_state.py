"""Forests as states of model files, and as trees of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.fields import has_value, read_integer, read_integers, read_object
from bosquet._state.kinds import ModelKind
from bosquet._state.out_of_bag import out_of_bag_state, set_out_of_bag
from bosquet._state.tree_sums import TreeSum
from bosquet.trees.shared_state import common_state, mean_of_trees, set_common_state

if TYPE_CHECKING:
    from bosquet._types import State
    from bosquet.forests._base import BaseForest


_OOB_NUMBERS = ("oob_error_", "oob_tree_error_", "oob_score_")
_MAX_ROWS = 2**32


def _check(model: BaseForest) -> None:
    check_parameters(model, model._checks)
    model._check_bags()


def _to_state(model: BaseForest) -> tuple[Ensemble, State]:
    if hasattr(model, "_row_leaves"):
        raise ValueError(
            "a forest with keep_rows=True contains training rows, which a model file cannot store;"
            " use pickle or joblib"
        )
    kept_rows = model._kept_rows
    return model._ensemble, common_state(model) | {
        "keys": list(model._keys),
        "seed": int(model._seed),
        "draws": int(model._draws),
        "merged_rows": [int(rows) for rows in getattr(model, "merged_rows_", [])],
        "kept_rows": None if kept_rows is None else kept_rows.tolist(),
        "out_of_bag": out_of_bag_state(model, _OOB_NUMBERS),
    }


def _from_state(model: BaseForest, trees: Ensemble, state: State) -> BaseForest:
    set_common_state(model, trees, state)
    if trees.n_trees == 0:
        raise ModelFileError("invalid model file: the forest has no trees")
    rows = model.n_samples_fit_ = read_integer(state, "rows", 1, _MAX_ROWS)
    model._keys = read_integers(state, "keys", 0, 2**64 - 1, length=trees.n_trees)
    model._seed = read_integer(state, "seed", 0, 2**32 - 1)
    # A bootstrap sample has at most as many rows as the training data.
    model._draws = read_integer(state, "draws", 1, rows)
    merged = read_integers(state, "merged_rows", 1, rows)
    if merged:
        model.merged_rows_ = merged
        if sum(merged) != rows:
            raise ModelFileError(
                f"invalid model file: 'merged_rows' sums to {sum(merged)}; it must sum to 'rows', {rows}"
            )
    model._kept_rows = None
    if has_value(state, "kept_rows"):
        model._kept_rows = np.array(
            read_integers(state, "kept_rows", 0, length=rows), dtype=np.int64
        )
        if (np.diff(model._kept_rows) <= 0).any():
            raise ModelFileError("invalid model file: 'kept_rows' must be in ascending order")
    model._hard_vote_ensemble = None
    if getattr(model, "voting", "soft") == "hard":
        model._hard_vote_ensemble = model._with_hard_votes()
    set_out_of_bag(model, read_object(state, "out_of_bag"), _OOB_NUMBERS)
    return model


def _trees(model: BaseForest) -> TreeSum:
    if getattr(model, "voting", "soft") == "hard":
        return mean_of_trees(model, model._hard_vote_ensemble or model._with_hard_votes())
    return mean_of_trees(model, model._ensemble)


def _bagged_rows(model: BaseForest) -> int | None:
    """Return the number of training rows; None for a merged forest, whose bags belong to several tables."""
    return None if hasattr(model, "merged_rows_") else int(model.n_samples_fit_)


KINDS = {
    name: ModelKind(
        "bosquet.forests",
        _to_state,
        _from_state,
        _check,
        bagged_rows=_bagged_rows,
        trees=_trees,
    )
    for name in (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    )
}
