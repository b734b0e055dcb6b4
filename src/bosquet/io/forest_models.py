"""Forests to the description of a model file, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.fields import gapless, inner, numbers, optional, whole, wholes
from bosquet.io.kinds import Kind
from bosquet.io.tree_models import common_state, put_common

_OOB_NUMBERS = ("oob_error_", "oob_tree_error_", "oob_score_")
_MOST_ROWS = 2**32


def _check(model: Any) -> None:
    from bosquet.forests._base import CHECKS

    check_parameters(model, CHECKS)
    model._check_criterion()
    model._check_bags()


def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    if hasattr(model, "_row_leaves"):
        raise ValueError(
            "a forest with keep_rows=True holds training rows, which a model file does not carry;"
            " use pickle or joblib"
        )
    kept = model._kept_rows
    return model._ensemble, common_state(model) | {
        "keys": list(model._keys),
        "seed": int(model._seed),
        "draws": int(model._draws),
        "merged_rows": [int(rows) for rows in getattr(model, "merged_rows_", [])],
        "kept_rows": None if kept is None else kept.tolist(),
        "out_of_bag": out_of_bag_state(model, _OOB_NUMBERS),
    }


def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    put_common(model, trees, state)
    if trees.n_trees == 0:
        raise ModelFileError("a forest has at least one tree")
    rows = model.n_samples_fit_ = whole(state, "rows", 1, _MOST_ROWS)
    model._keys = wholes(state, "keys", 0, 2**64 - 1, length=trees.n_trees)
    model._seed = whole(state, "seed", 0, 2**32 - 1)
    model._draws = whole(
        state, "draws", 1, rows
    )  # a bag is no larger than the table it is drawn from
    merged = wholes(state, "merged_rows", 1, rows)
    if merged:
        model.merged_rows_ = merged
        if sum(merged) != rows:
            raise ModelFileError("the rows of the merged parts are not those of the forest")
    model._kept_rows = None
    if optional(state, "kept_rows"):
        model._kept_rows = np.array(wholes(state, "kept_rows", 0, length=rows), dtype=np.int64)
        if (np.diff(model._kept_rows) <= 0).any():
            raise ModelFileError("the rows that the forest was grown on do not ascend")
    model._hardened = None
    if getattr(model, "voting", "soft") == "hard":
        model._hardened = model._harden()
    put_out_of_bag(model, inner(state, "out_of_bag"), _OOB_NUMBERS)
    return model


def out_of_bag_state(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """The out-of-bag errors that a model has, and their course."""
    found = {name: gapless([getattr(model, name)]) for name in names if hasattr(model, name)}
    if hasattr(model, "oob_curve_"):
        found["oob_curve_"] = gapless(model.oob_curve_)
    return found


def put_out_of_bag(model: Any, state: dict[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        if name in state:
            setattr(model, name, float(numbers(state, name, 1, gaps=True)[0]))
    if "oob_curve_" in state:
        model.oob_curve_ = numbers(state, "oob_curve_", gaps=True)


KINDS = {
    name: Kind("bosquet.forests", _describe, _build, _check)
    for name in (
        "ExtraTreesClassifier",
        "ExtraTreesRegressor",
        "RandomForestClassifier",
        "RandomForestRegressor",
    )
}
