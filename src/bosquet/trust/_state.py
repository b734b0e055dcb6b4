"""State of calibrated and conformal models in model files.

The wrapped models are members of the file, each a model file of its own. Calibrators, scores and groups are
in the metadata.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.fields import (
    has_value,
    read_bool,
    read_choice,
    read_field,
    read_integer,
    read_integers,
    read_list,
    read_matrix,
    read_number,
    read_numbers,
    read_object,
)
from bosquet._state.kinds import ModelKind, kind_of
from bosquet._state.labels import labels_state, read_classes, read_labels
from bosquet._state.members import check_member, check_names, check_same_class, n_outputs
from bosquet.trust import _intervals, _sets
from bosquet.trust._conformal_fit import CHECKS as CONFORMAL_CHECKS
from bosquet.trust._conformal_fit import is_classifier
from bosquet.trust._held_out import FoldModels, OutOfBagModels
from bosquet.trust._intervals import QuantileIntervals
from bosquet.trust._quantile_models import QuantileModel, check_levels
from bosquet.trust._wrapping import check_model, copy_feature_attributes
from bosquet.trust.calibrated import CHECKS as CALIBRATED_CHECKS
from bosquet.trust.calibrated import CalibratedMember
from bosquet.trust.calibrators import CALIBRATORS
from bosquet.trust.costs import check_costs

if TYPE_CHECKING:
    from bosquet._types import State


# Names of the calibration classes of each method, for regressors and for classifiers.
_CALIBRATIONS = {
    "split": ("SplitIntervals", "SplitSets"),
    "cqr": ("QuantileIntervals",),
    "cv+": ("PlusIntervals", "PlusSets"),
    "jackknife+": ("PlusIntervals", "PlusSets"),
    "oob": ("PlusIntervals", "PlusSets"),
}
_MAX_ROWS = 2**32
# While loading, the bags are drawn again and compared with the calibration rows if that needs at most this
# many draws; larger models are compared at the first prediction of an interval.
_MAX_DRAWS = 1 << 20

Members = list[tuple[str, Any]]


def _named_members(models: list[Any]) -> Members:
    if len(models) == 1:
        return [("the wrapped model", models[0])]
    return [(f"wrapped model {number}", model) for number, model in enumerate(models)]


def _set_feature_attributes(model: Any, members: list[Any]) -> None:
    """Copy the feature attributes of the wrapped models."""
    if not members:
        raise ModelFileError("invalid model file: the file has no wrapped model")
    check_same_class(members, model.model)
    copy_feature_attributes(model, members[0])
    if not isinstance(getattr(model, "n_features_in_", None), int):
        raise ModelFileError("invalid model file: the wrapped model has no n_features_in_")


def _read_at_least_two_classes(state: State) -> np.ndarray:
    classes = read_classes(read_field(state, "classes"))
    if classes.size < 2:
        raise ModelFileError(
            f"invalid model file: the file has {classes.size} class(es); at least two are needed"
        )
    return classes


# -------------------------------------------------------------------------------------- calibrated
def _check_calibrated(model: Any) -> None:
    check_parameters(model, CALIBRATED_CHECKS)
    check_model(model.model, isinstance(model.cv, str) and model.cv == "prefit")


def _calibrated_to_state(model: Any) -> tuple[Members, dict[str, Any]]:
    return _named_members([member.model for member in model.members_]), {
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


def _calibrated_from_state(model: Any, members: list[Any], state: State) -> Any:
    model.classes_ = classes = _read_at_least_two_classes(state)
    if model.costs is not None:
        check_costs(model.costs, classes.size)
    _set_feature_attributes(model, members)
    model.members_ = []
    for member, entry in zip(members, read_list(state, "members", len(members)), strict=True):
        check_member(member, classes, model.n_features_in_)
        check_names(member, getattr(model, "feature_names_in_", None))
        calibrators = [_read_calibrator(one) for one in read_list(entry, "calibrators")]
        expected = 1 if classes.size == 2 else classes.size
        if len(calibrators) != expected:
            raise ModelFileError(
                f"invalid model file: a member has {len(calibrators)} calibrator(s), but {classes.size}"
                f" classes need {expected}"
            )
        floor = read_number(entry, "floor", 1e-15, 0.5) if has_value(entry, "floor") else None
        if (floor is not None) != hasattr(member, "predict_proba"):
            raise ModelFileError(
                "invalid model file: a member must have a floor if the wrapped model has predict_proba, and"
                " none otherwise"
            )
        if floor is None and (classes.size > 2 or not hasattr(member, "decision_function")):
            raise ModelFileError(
                "invalid model file: a wrapped model without predict_proba needs a decision_function and"
                " two classes"
            )
        model.members_.append(CalibratedMember(member, calibrators, floor))
    return model


def _read_calibrator(state: State) -> Any:
    return CALIBRATORS[read_choice(state, "method", CALIBRATORS)].from_state(
        read_object(state, "state")
    )


# --------------------------------------------------------------------------------------- conformal
def _check_conformal(model: Any) -> None:
    check_parameters(model, CONFORMAL_CHECKS)
    model._check_model()


def _conformal_to_state(model: Any) -> tuple[Members, dict[str, Any]]:
    calibration = model._calibration
    kind = type(calibration).__name__
    state: dict[str, Any] = {
        "classes": labels_state(getattr(model, "classes_", None)),
        "kind": kind,
        "seed": int(model._seed),
        "groups": labels_state(calibration.groups.values),
    }
    if kind == "QuantileIntervals":
        state["levels"] = calibration.levels.tolist()
        state["level_kind"] = model._quantile_model.kind
        state["predictions"] = calibration.predictions.tolist()
        state["targets"] = calibration.y.tolist()
    elif kind.endswith("Intervals"):
        state["residual"] = calibration.residual.tolist()
    else:
        state["score"] = calibration.score.tolist()
        state["class_numbers"] = calibration.numbers.tolist()
        state["per_class"] = bool(calibration.per_class)
    if kind.startswith("Plus"):
        state["held_out"] = _held_out_state(calibration.held_out)
    return _named_members(model.models_), state


def _held_out_state(held_out: Any) -> State:
    if hasattr(held_out, "fold"):
        return {"fold": held_out.fold.tolist()}
    every = held_out.rows.size == held_out.n_rows
    return {
        "n_rows": int(held_out.n_rows),
        "rows": None if every else held_out.rows.tolist(),
    }


def _conformal_from_state(model: Any, members: list[Any], state: State) -> Any:
    kind, classes = read_choice(state, "kind", _CALIBRATIONS[model.method]), None
    if kind.endswith("Sets"):
        model.classes_ = classes = _read_at_least_two_classes(state)
    if is_classifier(model.model) != (classes is not None):
        raise ModelFileError(
            f"invalid model file: a calibration of kind {kind!r} is not possible for a"
            f" {type(model.model).__name__}"
        )
    _set_feature_attributes(model, members)
    for member in members:
        check_member(member, classes, model.n_features_in_, probabilities=classes is not None)
        check_names(member, getattr(model, "feature_names_in_", None))
    model.models_, model._seed = members, read_integer(state, "seed", 0, 2**32 - 1)
    groups = read_labels(state["groups"]) if has_value(state, "groups") else None
    if kind == "QuantileIntervals":
        size = _set_quantiles(model, state, groups)
    else:
        _check_n_outputs(members, 1)
        size = _set_scores(model, kind, state, groups)
    if groups is not None and groups.size != size:
        raise ModelFileError(
            f"invalid model file: the file has {groups.size} groups for {size} calibration rows"
        )
    model.n_calibration_ = size
    return model


def _check_n_outputs(members: list[Any], expected: int) -> None:
    if any(not hasattr(m, "classes_") and n_outputs(m) != expected for m in members):
        raise ModelFileError(
            f"invalid model file: a wrapped model does not predict {expected} number(s) per row"
        )


def _set_quantiles(model: Any, state: State, groups: np.ndarray | None) -> int:
    levels = check_levels(read_numbers(state, "levels"))
    kind = read_choice(state, "level_kind", ("columns", "model_per_level"))
    targets = read_numbers(state, "targets")
    predictions = read_matrix(state, "predictions", (targets.size, levels.size))
    if targets.size == 0:
        raise ModelFileError("invalid model file: the file has no calibration rows")
    expected = 1 if kind == "columns" else levels.size
    if len(model.models_) != expected:
        raise ModelFileError(
            f"invalid model file: the file has {len(model.models_)} wrapped model(s), but {levels.size}"
            f" levels need {expected}"
        )
    _check_n_outputs(model.models_, levels.size if kind == "columns" else 1)
    model._quantile_model = QuantileModel(model.models_, levels, kind)
    model._calibration = QuantileIntervals(levels, predictions, targets, groups)
    return targets.size


def _set_scores(model: Any, kind: str, state: State, groups: np.ndarray | None) -> int:
    is_regression = kind.endswith("Intervals")
    scores = read_numbers(state, "residual" if is_regression else "score")
    held_out = []
    if kind.startswith("Plus"):
        classes = getattr(model, "classes_", None)
        held_out = [_held_out_from(model, read_object(state, "held_out"), classes, scores.size)]
    elif len(model.models_) != 1:
        raise ModelFileError(
            f"invalid model file: the file has {len(model.models_)} wrapped models, expected one for a"
            " calibration set"
        )
    if scores.size == 0:
        raise ModelFileError("invalid model file: the file has no calibration rows")
    if is_regression:
        model._calibration = getattr(_intervals, kind)(*held_out, scores, groups)
        return scores.size
    labels = np.array(
        read_integers(state, "class_numbers", 0, model.classes_.size - 1, length=scores.size)
    )
    model._calibration = getattr(_sets, kind)(
        *held_out, scores, labels, model.classes_, read_bool(state, "per_class"), groups
    )
    return scores.size


def _held_out_from(model: Any, state: State, classes: Any, size: int) -> Any:
    """Build the held-out models of a calibration with `size` calibration rows."""
    members = model.models_
    if "fold" in state:
        fold = np.array(
            read_integers(state, "fold", 0, len(members) - 1, length=size), dtype=np.intp
        )
        return FoldModels(members, fold, classes)
    rows = read_integer(state, "n_rows", 1, _MAX_ROWS)
    calibration_rows = None
    if has_value(state, "rows"):
        calibration_rows = np.array(
            read_integers(state, "rows", 0, rows - 1, length=size), dtype=np.intp
        )
        if (np.diff(calibration_rows) <= 0).any():
            raise ModelFileError(
                "invalid model file: the calibration rows are not in ascending order"
            )
    elif rows != size:
        raise ModelFileError(
            f"invalid model file: the file has {size} calibration scores for {rows} rows, but not the list"
            " of calibration rows"
        )
    _check_bags(members, rows)
    held_out = OutOfBagModels(members[0], rows, classes, calibration_rows)
    if rows * members[0].n_estimators_ <= _MAX_DRAWS:
        held_out.check_rows()
    return held_out


def _check_bags(members: list[Any], n_rows: int) -> None:
    """Raise ModelFileError unless the wrapped model draws bags of this number of rows."""
    kind = kind_of(members[0])
    if len(members) != 1 or kind is None or kind.bagged_rows(members[0]) != n_rows:
        raise ModelFileError(
            f"invalid model file: the wrapped model does not draw bags of {n_rows} rows"
        )


KINDS = {
    "CalibratedModel": ModelKind(
        "bosquet.trust",
        _calibrated_to_state,
        _calibrated_from_state,
        _check_calibrated,
        members=lambda model: [(member.model, None) for member in model.members_],
        has_members=True,
    ),
    "ConformalModel": ModelKind(
        "bosquet.trust",
        _conformal_to_state,
        _conformal_from_state,
        _check_conformal,
        members=lambda model: [(member, None) for member in model.models_],
        has_members=True,
    ),
}
