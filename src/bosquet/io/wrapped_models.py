"""Calibrated and conformal models to files of parts, and back.

The wrapped models are parts of the file, each a model file of its own; maps, scores and groups are in
the description.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.fields import (
    choice,
    field,
    flag,
    inner,
    listed,
    number,
    numbers,
    optional,
    table,
    whole,
    wholes,
)
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_from, labels_state
from bosquet.io.members import check_member, check_names, numbers_said

# The calibrations of each method, of numbers and of classes.
_CALIBRATIONS = {
    "split": ("SplitIntervals", "SplitSets"),
    "cqr": ("QuantileIntervals",),
    "cv+": ("PlusIntervals", "PlusSets"),
    "jackknife+": ("PlusIntervals", "PlusSets"),
    "oob": ("PlusIntervals", "PlusSets"),
}
_MOST_ROWS = 2**32
# Draws that are made while loading, to compare the bags with the calibration rows; larger models are compared
# when they are first asked for an interval.
_MOST_DRAWS = 1 << 20

Members = list[tuple[str, Any]]


def _named(models: list[Any]) -> Members:
    if len(models) == 1:
        return [("the wrapped model", models[0])]
    return [(f"wrapped model {number}", model) for number, model in enumerate(models)]


def _put_input(model: Any, members: list[Any]) -> None:
    from bosquet.trust._wrapping import copy_input

    if not members:
        raise ModelFileError("there is no wrapped model")
    copy_input(model, members[0])
    if not isinstance(getattr(model, "n_features_in_", None), int):
        raise ModelFileError("the wrapped model was not fitted to a table")


def _classes_of(state: dict[str, Any]) -> np.ndarray:
    classes = classes_from(field(state, "classes"))
    if classes.size < 2:
        raise ModelFileError("there must be two classes at least")
    return classes


# -------------------------------------------------------------------------------------- calibrated
def _check_calibrated(model: Any) -> None:
    from bosquet.trust._wrapping import check_model
    from bosquet.trust.calibrated import CHECKS

    check_parameters(model, CHECKS)
    check_model(model.model, isinstance(model.cv, str) and model.cv == "prefit")


def _describe_calibrated(model: Any) -> tuple[Members, dict[str, Any]]:
    return _named([member.model for member in model.members_]), {
        "classes": labels_state(model.classes_),
        "members": [
            {
                "floor": member.floor,
                "calibrators": [
                    {"method": map_.method, "state": map_.to_state()} for map_ in member.calibrators
                ],
            }
            for member in model.members_
        ],
    }


def _build_calibrated(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from bosquet.trust.calibrated import CalibratedMember
    from bosquet.trust.costs import check_costs

    model.classes_ = classes = _classes_of(state)
    if model.costs is not None:
        check_costs(model.costs, classes.size)
    _put_input(model, members)
    model.members_ = []
    for member, told in zip(members, listed(state, "members", len(members)), strict=True):
        check_member(member, classes, model.n_features_in_)
        check_names(member, getattr(model, "feature_names_in_", None))
        maps = [_map_from(one) for one in listed(told, "calibrators")]
        if len(maps) != (1 if classes.size == 2 else classes.size):
            raise ModelFileError("the calibrations do not fit the classes")
        floor = number(told, "floor", 1e-15, 0.5) if optional(told, "floor") else None
        if (floor is not None) != hasattr(member, "predict_proba"):
            raise ModelFileError("the smallest probability of a calibration does not fit the model")
        if floor is None and (classes.size > 2 or not hasattr(member, "decision_function")):
            raise ModelFileError("a wrapped model has no scores to calibrate")
        model.members_.append(CalibratedMember(member, maps, floor))
    return model


def _map_from(state: Any) -> Any:
    from bosquet.trust.calibrators import CALIBRATORS

    return CALIBRATORS[choice(state, "method", CALIBRATORS)].from_state(inner(state, "state"))


# --------------------------------------------------------------------------------------- conformal
def _check_conformal(model: Any) -> None:
    from bosquet.trust._conformal_fit import CHECKS

    check_parameters(model, CHECKS)
    model._check_model()


def _describe_conformal(model: Any) -> tuple[Members, dict[str, Any]]:
    calibration = model._calibration
    kind = type(calibration).__name__
    description: dict[str, Any] = {
        "classes": labels_state(getattr(model, "classes_", None)),
        "kind": kind,
        "seed": int(model._seed),
        "groups": labels_state(calibration.groups.values),
    }
    if kind == "QuantileIntervals":
        description["levels"] = calibration.levels.tolist()
        description["level_kind"] = model._levels.kind
        description["said"] = calibration.said.tolist()
        description["truth"] = calibration.y.tolist()
    elif kind.endswith("Intervals"):
        description["residual"] = calibration.residual.tolist()
    else:
        description["score"] = calibration.score.tolist()
        description["numbers"] = calibration.numbers.tolist()
        description["per_class"] = bool(calibration.per_class)
    if kind.startswith("Plus"):
        description["held_out"] = _held_out_state(calibration.held_out)
    return _named(model.models_), description


def _held_out_state(held_out: Any) -> dict[str, Any]:
    if hasattr(held_out, "fold"):
        return {"fold": held_out.fold.tolist()}
    every = held_out.rows.size == held_out.n_rows
    return {
        "n_rows": int(held_out.n_rows),
        "rows": None if every else held_out.rows.tolist(),
    }


def _build_conformal(model: Any, members: list[Any], state: dict[str, Any]) -> Any:
    from bosquet.trust._conformal_fit import is_classifier

    kind, classes = choice(state, "kind", _CALIBRATIONS[model.method]), None
    if kind.endswith("Sets"):
        model.classes_ = classes = _classes_of(state)
    if is_classifier(model.model) != (classes is not None):
        raise ModelFileError(f"a calibration of kind {kind!r} does not fit the wrapped model")
    _put_input(model, members)
    for member in members:
        check_member(member, classes, model.n_features_in_, probabilities=classes is not None)
        check_names(member, getattr(model, "feature_names_in_", None))
    model.models_, model._seed = members, whole(state, "seed", 0, 2**32 - 1)
    groups = labels_from(state["groups"]) if optional(state, "groups") else None
    if kind == "QuantileIntervals":
        size = _put_quantiles(model, state, groups)
    else:
        _check_numbers(members, 1)
        size = _put_scores(model, kind, state, groups)
    if groups is not None and groups.size != size:
        raise ModelFileError("the groups do not fit the calibration rows")
    model.n_calibration_ = size
    return model


def _check_numbers(members: list[Any], wanted: int) -> None:
    if any(not hasattr(m, "classes_") and numbers_said(m) != wanted for m in members):
        raise ModelFileError(f"a wrapped model does not predict {wanted} number(s) for a row")


def _put_quantiles(model: Any, state: dict[str, Any], groups: np.ndarray | None) -> int:
    from bosquet.trust._intervals import QuantileIntervals
    from bosquet.trust._levels import QuantileModel, check_levels

    levels = check_levels(numbers(state, "levels"))
    kind = choice(state, "level_kind", ("columns", "apart"))
    truth = numbers(state, "truth")
    said = table(state, "said", (truth.size, levels.size))
    if truth.size == 0 or len(model.models_) != (1 if kind == "columns" else levels.size):
        raise ModelFileError("the models do not fit the levels, or there are no calibration rows")
    _check_numbers(model.models_, levels.size if kind == "columns" else 1)
    model._levels = QuantileModel(model.models_, levels, kind)
    model._calibration = QuantileIntervals(levels, said, truth, groups)
    return truth.size


def _put_scores(model: Any, kind: str, state: dict[str, Any], groups: np.ndarray | None) -> int:
    from bosquet.trust import _intervals, _sets

    of_numbers = kind.endswith("Intervals")
    scores = numbers(state, "residual" if of_numbers else "score")
    held_out = []
    if kind.startswith("Plus"):
        classes = getattr(model, "classes_", None)
        held_out = [_held_out_from(model, inner(state, "held_out"), classes, scores.size)]
    elif len(model.models_) != 1:
        raise ModelFileError(
            f"a calibration set calibrates one model, and the file holds {len(model.models_)}"
        )
    if scores.size == 0:
        raise ModelFileError("there are no calibration rows")
    if of_numbers:
        model._calibration = getattr(_intervals, kind)(*held_out, scores, groups)
        return scores.size
    places = np.array(wholes(state, "numbers", 0, model.classes_.size - 1, length=scores.size))
    model._calibration = getattr(_sets, kind)(
        *held_out, scores, places, model.classes_, flag(state, "per_class"), groups
    )
    return scores.size


def _held_out_from(model: Any, state: dict[str, Any], classes: Any, size: int) -> Any:
    """The models without each of the calibration rows, of which there are `size`."""
    from bosquet.trust._held_out import ByBags, ByFolds

    members = model.models_
    if "fold" in state:
        fold = np.array(wholes(state, "fold", 0, len(members) - 1, length=size), dtype=np.intp)
        return ByFolds(members, fold, classes)
    rows = whole(state, "n_rows", 1, _MOST_ROWS)
    kept = None
    if optional(state, "rows"):
        kept = np.array(wholes(state, "rows", 0, rows - 1, length=size), dtype=np.intp)
        if (np.diff(kept) <= 0).any():
            raise ModelFileError("the calibration rows do not ascend")
    elif rows != size:
        raise ModelFileError("the calibration rows are not all rows, and not named")
    _check_bags(members, rows)
    held_out = ByBags(members[0], rows, classes, kept)
    if rows * members[0].n_estimators_ <= _MOST_DRAWS:
        held_out.check_rows()
    return held_out


def _check_bags(members: list[Any], rows: int) -> None:
    """The wrapped model is one that draws bags of these rows."""
    model = members[0]
    sampler = getattr(model, "_sampler", None)
    own = getattr(model, "n_samples_fit_", None) if sampler is None else sampler.n_rows
    drawn = hasattr(type(model), "estimators_samples_") and not hasattr(model, "merged_rows_")
    if len(members) != 1 or not drawn or own != rows:
        raise ModelFileError("the bags of the wrapped model do not fit the calibration rows")


KINDS = {
    "CalibratedModel": Kind(
        "bosquet.trust", _describe_calibrated, _build_calibrated, _check_calibrated, of_parts=True
    ),
    "ConformalModel": Kind(
        "bosquet.trust", _describe_conformal, _build_conformal, _check_conformal, of_parts=True
    ),
}
