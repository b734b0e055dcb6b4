"""Votes of stumps on Haar features to the description of a model file, and back: no trees, only lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.fields import field, flag, gapless, inner, listed, number, numbers, table, wholes
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_state
from bosquet.io.mixture_models import check_no_trees, no_trees

_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")
_LARGEST = float(np.finfo(np.float32).max)
_MOST_FEATURES = 2**31 - 1


def _check(model: Any) -> None:
    from bosquet.vision.features import check_window
    from bosquet.vision.haar_boost import CHECKS

    check_parameters(model, CHECKS)
    if model.window is not None:
        check_window(model.window)


def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    """Its certificate is about training images, and stays behind."""
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
            name: gapless([getattr(kept, name)[0] for kept in model._kept])
            for name in _ROUND_FIELDS
        },
        "train_score": gapless(model.train_score_),
    }


def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    from bosquet.vision.features import check_window
    from bosquet.vision.stacks import GreyScale

    check_no_trees(trees)
    model.classes_ = classes_from(field(state, "classes"))
    if model.classes_.size != 2:
        raise ModelFileError(f"a HaarBoostClassifier has two classes, not {model.classes_.size}")
    model.window_ = check_window(wholes(state, "window", 3, length=2))
    model.n_features_in_ = model.window_[0] * model.window_[1]
    if number(state, "grey") not in (1.0, 255.0):
        raise ModelFileError("the scale of the grey levels is neither 1 nor 255")
    model._grey = GreyScale(float(state["grey"]))
    width, height = model.window_
    model.mean_image_ = table(state, "mean_image", (height, width), low=0, high=_LARGEST)
    model._vote = _vote_from(state, model.window_)
    rounds = model._vote.n_rounds
    model.train_score_ = numbers(state, "train_score", rounds, gaps=True)
    model._kept = _rounds_from(inner(state, "rounds"), model.train_score_)
    return model


def _vote_from(state: dict[str, Any], window: tuple[int, int]) -> Any:
    from bosquet.vision.features import HaarFeatures
    from bosquet.vision.haar_stumps import SettledVote
    from bosquet.vision.integral import native_values

    rectangles = listed(state, "rectangles")
    rounds = len(rectangles)
    if rounds == 0:
        raise ModelFileError("a vote has at least one round")
    corners = [_rectangles_from(one) for one in rectangles]
    tilted = listed(state, "tilted", rounds)
    if not set(map(type, tilted)) <= {bool}:
        raise ModelFileError("whether features are tilted is not told")
    limits: Any = {"low": -_LARGEST, "high": _LARGEST}
    features = HaarFeatures(
        np.array(corners, dtype=np.int32),
        table(state, "weights", (rounds, 3), **limits).astype(np.float32),
        np.array(tilted, dtype=bool),
        window,
    )
    vote = SettledVote(
        features,
        np.array(wholes(state, "numbers", 0, _MOST_FEATURES, length=rounds)),
        numbers(state, "thresholds", rounds, **limits).astype(np.float32),
        table(state, "leaves", (rounds, 2), **limits),
        flag(state, "normalise"),
    )
    # Looks at every rectangle before the first window is asked about.
    native_values(np.zeros((1, window[1], window[0]), np.uint8), features, vote.normalise, 1)
    return vote


def _rectangles_from(state: Any) -> np.ndarray:
    """Three rectangles of four whole numbers."""
    found = table({"rectangles": state}, "rectangles", (3, 4), low=-(2**30), high=2**30)
    if (found != np.floor(found)).any():
        raise ModelFileError("the rectangles of the features are not whole numbers")
    return found


def _rounds_from(state: dict[str, Any], training_errors: np.ndarray) -> list[Any]:
    from bosquet.boosting._vote_stepper import Kept

    rounds = training_errors.size
    fields = {name: numbers(state, name, rounds, gaps=True) for name in _ROUND_FIELDS}
    return [
        Kept(
            **{name: values[t : t + 1] for name, values in fields.items()},
            training_error=float(training_errors[t]),
        )
        for t in range(rounds)
    ]


KINDS = {"HaarBoostClassifier": Kind("bosquet.vision", _describe, _build, _check)}
