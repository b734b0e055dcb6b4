"""Calibrated and conformal models to files of parts, and back.

The wrapped models are parts of the file, each a model file of its own; maps, scores and groups are in
the description.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.combined_models import part_of
from bosquet.io.description import classes_from, classes_state, plain_parameters

WRAPPERS = ("CalibratedModel", "ConformalModel")
# Kinds of calibration; a name in a file is looked up here.
_KINDS_OF_NUMBERS = ("SplitIntervals", "PlusIntervals", "QuantileIntervals")
_KINDS_OF_CLASSES = ("SplitSets", "PlusSets")


def wrapped_parts(model: Any, write: Callable[[Any], bytes]) -> tuple[list[bytes], dict[str, Any]]:
    """The wrapped models of a fitted one as files, by `write`, and its description."""
    name = type(model).__name__
    describe = _describe_calibrated if name == "CalibratedModel" else _describe_conformal
    metadata: dict[str, Any] = {
        "estimator": name,
        "parameters": plain_parameters(model),
        "classes": classes_state(getattr(model, "classes_", None)),
    }
    metadata["parameters"].pop("model", None)
    models = describe(model, metadata)
    kind = "the wrapped model" if len(models) == 1 else "wrapped model"
    parts = [
        part_of(kind if len(models) == 1 else f"{kind} {number}", inner, write)
        for number, inner in enumerate(models)
    ]
    return parts, metadata


def _describe_calibrated(model: Any, metadata: dict[str, Any]) -> list[Any]:
    metadata["members"] = [
        {
            "floor": member.floor,
            "calibrators": [
                {"method": map_.method, "state": map_.to_state()} for map_ in member.calibrators
            ],
        }
        for member in model.members_
    ]
    return [member.model for member in model.members_]


def _describe_conformal(model: Any, metadata: dict[str, Any]) -> list[Any]:
    calibration = model._calibration
    metadata["kind"] = type(calibration).__name__
    metadata["seed"] = int(model._seed)
    metadata["groups"] = classes_state(calibration.groups.values)
    if metadata["kind"] == "QuantileIntervals":
        metadata["levels"] = calibration.levels.tolist()
        metadata["level_kind"] = model._levels.kind
        metadata["said"], metadata["truth"] = calibration.said.tolist(), calibration.y.tolist()
    elif metadata["kind"].endswith("Intervals"):
        metadata["residual"] = calibration.residual.tolist()
    else:
        metadata["score"] = calibration.score.tolist()
        metadata["numbers"] = calibration.numbers.tolist()
    if metadata["kind"].startswith("Plus"):
        held_out = calibration.held_out
        by_folds = hasattr(held_out, "fold")
        metadata["fold"] = held_out.fold.tolist() if by_folds else None
        metadata["rows"] = int(held_out.n_rows)
    return model.models_


# --------------------------------------------------------------------------------------- and back
def wrapped_from(parts: list[bytes], metadata: dict[str, Any], read: Callable[[bytes], Any]) -> Any:
    """The model that `wrapped_parts` described; wrapped ones by `read`."""
    models = [read(part) for part in parts]
    if not models:
        raise ModelFileError("there is no wrapped model")
    if len({model.n_features_in_ for model in models}) != 1:
        raise ModelFileError("the wrapped models were fitted to different columns")
    classes = None if metadata["classes"] is None else classes_from(metadata["classes"])
    for model in models:
        own: Any = getattr(model, "classes_", None)
        if (own is None) != (classes is None) or isinstance(own, list):
            raise ModelFileError(f"a {type(model).__name__} cannot be wrapped here")
        if classes is not None and not np.isin(own, classes).all():
            raise ModelFileError("a wrapped model knows a class that this one does not")
    if classes is not None and (classes.size < 2 or (classes[1:] <= classes[:-1]).any()):
        raise ModelFileError("the classes must be at least two, and ascend")
    build = _calibrated_from if metadata["estimator"] == "CalibratedModel" else _conformal_from
    return build(models, metadata, classes)


def _bare(cls: Any, models: list[Any], metadata: dict[str, Any], checks: Any) -> Any:
    from bosquet._sklearn import clone
    from bosquet.trust._wrapping import copy_input

    parameters = metadata["parameters"]
    if "model" in parameters:
        raise ModelFileError("the wrapped model is a part of the file, and no parameter")
    prefit = parameters.get("prefit") is True or parameters.get("cv") == "prefit"
    model = cls(models[0] if prefit else clone(models[0]))
    model.set_params(**parameters)
    check_parameters(model, checks)
    copy_input(model, models[0])
    return model


def _calibrated_from(
    models: list[Any], metadata: dict[str, Any], classes: np.ndarray | None
) -> Any:
    from bosquet.trust.calibrated import CHECKS, CalibratedMember, CalibratedModel
    from bosquet.trust.calibrators import CALIBRATORS
    from bosquet.trust.costs import check_costs

    if classes is None:
        raise ModelFileError("a calibrated model has classes")
    model = _bare(CalibratedModel, models, metadata, CHECKS)
    if model.costs is not None:
        check_costs(model.costs, classes.size)
    model.classes_ = classes
    model.members_ = []
    for inner, state in zip(models, metadata["members"], strict=True):
        maps = [CALIBRATORS[m["method"]].from_state(m["state"]) for m in state["calibrators"]]
        if len(maps) != (1 if classes.size == 2 else classes.size):
            raise ModelFileError("the calibrations do not fit the classes")
        floor = float(state["floor"])
        if not 0 < floor <= 0.5:
            raise ModelFileError("the smallest probability of a calibration is not valid")
        model.members_.append(CalibratedMember(inner, maps, floor))
    return model


def _conformal_from(models: list[Any], metadata: dict[str, Any], classes: np.ndarray | None) -> Any:
    from bosquet.trust._conformal_fit import CHECKS
    from bosquet.trust.conformal import ConformalModel

    model = _bare(ConformalModel, models, metadata, CHECKS)
    if metadata["kind"] not in (_KINDS_OF_NUMBERS if classes is None else _KINDS_OF_CLASSES):
        raise ModelFileError(f"a calibration of kind {metadata['kind']!r} does not fit the model")
    model._seed = metadata["seed"]
    if type(model._seed) is not int or not 0 <= model._seed < 2**32:
        raise ModelFileError("the seed is not valid")
    if classes is not None:
        model.classes_ = classes
    model.models_ = models
    held_out = _held_out_from(models, metadata, classes)
    groups = None if metadata["groups"] is None else classes_from(metadata["groups"])
    if metadata["kind"] == "QuantileIntervals":
        size = _set_quantiles(model, metadata, groups)
    else:
        size = _set_scores(model, metadata, held_out, groups)
    if (groups is not None and groups.size != size) or (held_out and held_out[0].rows.size != size):
        raise ModelFileError("the groups, bags or folds do not fit the calibration rows")
    model.n_calibration_ = size
    return model


def _held_out_from(
    models: list[Any], metadata: dict[str, Any], classes: np.ndarray | None
) -> list[Any]:
    """The models without each row, of the methods that have them."""
    from bosquet.trust._held_out import ByBags, ByFolds

    if not metadata["kind"].startswith("Plus"):
        return []
    fold, rows = metadata["fold"], _count(metadata["rows"])
    if fold is None:
        _check_bags(models[0], rows, len(metadata["residual" if classes is None else "score"]))
        return [ByBags(models[0], rows, classes)]
    folds = _whole(fold, len(models))
    if folds.size != rows:
        raise ModelFileError("the folds do not fit the rows")
    return [ByFolds(models, folds, classes)]


def _set_quantiles(model: Any, metadata: dict[str, Any], groups: np.ndarray | None) -> int:
    from bosquet.trust._intervals import QuantileIntervals
    from bosquet.trust._levels import QuantileModel, check_levels

    levels, kind = check_levels(metadata["levels"]), metadata["level_kind"]
    said, truth = _floats(metadata["said"], 2), _floats(metadata["truth"], 1)
    if said.shape != (truth.size, levels.size):
        raise ModelFileError("the quantiles do not fit their levels")
    if kind not in ("columns", "apart") or (kind == "apart" and len(model.models_) != levels.size):
        raise ModelFileError("the models do not fit the levels")
    model._levels = QuantileModel(model.models_, levels, kind)
    model._calibration = QuantileIntervals(levels, said, truth, groups)
    return truth.size


def _set_scores(
    model: Any, metadata: dict[str, Any], held_out: list[Any], groups: np.ndarray | None
) -> int:
    from bosquet.trust import _intervals, _sets

    if not hasattr(model, "classes_"):
        residual = _floats(metadata["residual"], 1)
        model._calibration = getattr(_intervals, metadata["kind"])(*held_out, residual, groups)
        return residual.size
    score = _floats(metadata["score"], 1)
    numbers = _whole(metadata["numbers"], model.classes_.size)
    if numbers.size != score.size:
        raise ModelFileError("the scores do not fit the calibration rows")
    model._calibration = getattr(_sets, metadata["kind"])(
        *held_out, score, numbers, model.classes_, bool(model.per_class), groups
    )
    return score.size


def _check_bags(model: Any, rows: int, calibration_rows: int) -> None:
    """Bags are drawn again on loading: a file must not ask for more of it than its model could."""
    sampler = getattr(model, "_sampler", None)
    own = getattr(model, "n_samples_fit_", None) if sampler is None else sampler.n_rows
    draws = getattr(model, "_draws", 0) if sampler is None else sum(g.size for g in sampler.groups)
    if rows != own or draws > rows or rows > 1000 * calibration_rows:
        raise ModelFileError("the bags do not fit the calibration rows")


def _count(state: Any) -> int:
    if type(state) is not int or not 1 <= state <= 2**32:
        raise ModelFileError("the number of rows is not valid")
    return state


def _whole(state: Any, below: int) -> np.ndarray:
    if not isinstance(state, list) or any(type(v) is not int or not 0 <= v < below for v in state):
        raise ModelFileError("a number of a fold or of a class does not exist")
    return np.asarray(state, dtype=np.intp)


def _floats(state: Any, dimensions: int) -> np.ndarray:
    array = np.asarray(state, dtype=float)
    if array.ndim != dimensions or not array.size or not np.isfinite(array).all():
        raise ModelFileError("the scores of the calibration rows are not valid")
    return array
