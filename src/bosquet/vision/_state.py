"""State of HaarBoostClassifier in model files: lists of numbers, without trees of the core."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.fields import (
    read_bool,
    read_field,
    read_integers,
    read_list,
    read_matrix,
    read_number,
    read_numbers,
    read_object,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind, check_no_trees, no_trees
from bosquet._state.labels import labels_state, read_classes
from bosquet.boosting.adaboost.fitting import RoundRecord
from bosquet.vision.features import HaarFeatures, check_window
from bosquet.vision.haar_boost import CHECKS
from bosquet.vision.haar_stumps import FittedVote
from bosquet.vision.integral import values_of_grey_images
from bosquet.vision.stacks import GreyScale

if TYPE_CHECKING:
    from bosquet._types import State


_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LARGEST = float(np.finfo(np.float32).max)
_MAX_FEATURES = 2**31 - 1


def _check(model: Any) -> None:
    check_parameters(model, CHECKS)
    if model.window is not None:
        check_window(model.window)


def _to_state(model: Any) -> tuple[Ensemble, State]:
    """Return the state of a fitted model, without its certificate, which needs the training images."""
    vote = model._vote
    return no_trees(), {
        "classes": labels_state(model.classes_),
        "window": list(model.window_),
        "grey": float(model._grey.factor),
        "normalise": bool(vote.normalise),
        "rectangles": vote.features.rectangles.tolist(),
        "weights": vote.features.weights.tolist(),
        "tilted": vote.features.tilted.tolist(),
        "numbers": vote.numbers.tolist(),
        "thresholds": vote.thresholds.tolist(),
        "leaves": vote.leaves.tolist(),
        "mean_image": model.mean_image_.tolist(),
        "rounds": {
            name: to_json_numbers([getattr(round_, name)[0] for round_ in model._round_records])
            for name in _ROUND_FIELDS
        },
        "train_score": to_json_numbers(model.train_score_),
    }


def _from_state(model: Any, trees: Ensemble, state: State) -> Any:
    check_no_trees(trees)
    model.classes_ = read_classes(read_field(state, "classes"))
    if model.classes_.size != 2:
        raise ModelFileError(
            f"invalid model file: the file has {model.classes_.size} class(es), but a HaarBoostClassifier"
            " has two"
        )
    model.window_ = check_window(read_integers(state, "window", 3, length=2))
    model.n_features_in_ = model.window_[0] * model.window_[1]
    grey = read_number(state, "grey")
    if grey not in (1.0, 255.0):
        raise ModelFileError(f"invalid model file: 'grey' is {state['grey']}; it must be 1 or 255")
    model._grey = GreyScale(grey)
    width, height = model.window_
    model.mean_image_ = read_matrix(state, "mean_image", (height, width), low=0, high=_LARGEST)
    model._vote = _vote_from(state, model.window_)
    rounds = model._vote.n_rounds
    model.train_score_ = read_numbers(state, "train_score", rounds, allow_non_finite=True)
    model._round_records = _rounds_from(read_object(state, "rounds"), model.train_score_)
    return model


def _vote_from(state: State, window: tuple[int, int]) -> Any:
    rectangles = read_list(state, "rectangles")
    rounds = len(rectangles)
    if rounds == 0:
        raise ModelFileError(
            "invalid model file: 'rectangles' is empty; a model has at least one round"
        )
    corners = [_rectangles_from(one) for one in rectangles]
    tilted = read_list(state, "tilted", rounds)
    if not set(map(type, tilted)) <= {bool}:
        raise ModelFileError("invalid model file: 'tilted' must contain only true and false")
    limits: Any = {"low": -_LARGEST, "high": _LARGEST}
    features = HaarFeatures(
        np.array(corners, dtype=np.int32),
        read_matrix(state, "weights", (rounds, 3), **limits).astype(np.float32),
        np.array(tilted, dtype=bool),
        window,
    )
    vote = FittedVote(
        features,
        np.array(read_integers(state, "numbers", 0, _MAX_FEATURES, length=rounds)),
        read_numbers(state, "thresholds", rounds, **limits).astype(np.float32),
        read_matrix(state, "leaves", (rounds, 2), **limits),
        read_bool(state, "normalise"),
    )
    # Checks every rectangle now, instead of at the first prediction.
    values_of_grey_images(
        np.zeros((1, window[1], window[0]), np.uint8), features, vote.normalise, 1
    )
    return vote


def _rectangles_from(state: State) -> np.ndarray:
    """Read three rectangles of four integers."""
    rectangles = read_matrix({"rectangles": state}, "rectangles", (3, 4), low=-(2**30), high=2**30)
    if (rectangles != np.floor(rectangles)).any():
        raise ModelFileError("invalid model file: 'rectangles' must contain integers")
    return rectangles


def _rounds_from(state: State, training_errors: np.ndarray) -> list[Any]:
    rounds = training_errors.size
    fields = {
        name: read_numbers(state, name, rounds, allow_non_finite=True) for name in _ROUND_FIELDS
    }
    return [
        RoundRecord(
            **{name: values[t : t + 1] for name, values in fields.items()},
            training_error=float(training_errors[t]),
        )
        for t in range(rounds)
    ]


KINDS = {"HaarBoostClassifier": ModelKind("bosquet.vision", _to_state, _from_state, _check)}
