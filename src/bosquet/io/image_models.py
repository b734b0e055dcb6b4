"""Votes of stumps on Haar features to the description of a model file, and back: no trees, only lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.description import (
    classes_from,
    classes_state,
    number_from,
    number_or_none,
    plain_parameters,
)

NAMES = ("HaarBoostClassifier",)
_ROUND_FIELDS = ("scale", "size", "alpha", "error", "normaliser")


def image_metadata(model: Any) -> dict[str, Any]:
    """The description of a fitted vote. Its certificate is about training images, and stays behind."""
    vote = model._vote
    return {
        "estimator": type(model).__name__,
        "parameters": plain_parameters(model),
        "classes": classes_state(model.classes_),
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
            name: [number_or_none(getattr(kept, name)[0]) for kept in model._kept]
            for name in _ROUND_FIELDS
        },
        "train_score": model.train_score_.tolist(),
    }


def image_from(ensemble: Any, metadata: dict[str, Any]) -> Any:
    """The estimator that `image_metadata` described."""
    from bosquet.vision.features import check_window
    from bosquet.vision.haar_boost import CHECKS, HaarBoostClassifier
    from bosquet.vision.stacks import GreyScale

    if ensemble.n_trees != 0:
        raise ModelFileError("a vote of stumps on images holds no trees")
    model: Any = HaarBoostClassifier()
    model.set_params(**metadata["parameters"])
    check_parameters(model, CHECKS)
    if model.window is not None:
        model.window = check_window(model.window)
    threads = model.n_jobs
    if threads is not None and not (isinstance(threads, int) and abs(threads) < 2**15):
        raise ModelFileError(f"n_jobs={threads!r} is not a number of threads")
    model.classes_ = classes_from(metadata["classes"])
    if model.classes_.size != 2:
        raise ModelFileError(f"a HaarBoostClassifier has two classes, not {model.classes_.size}")
    model.window_ = check_window(metadata["window"])
    model.n_features_in_ = model.window_[0] * model.window_[1]
    if metadata["grey"] not in (1.0, 255.0):
        raise ModelFileError("the scale of the grey levels is neither 1 nor 255")
    model._grey = GreyScale(float(metadata["grey"]))
    model._vote = _vote_from(metadata, model.window_)
    rounds = model._vote.n_rounds
    model.mean_image_ = _floats(metadata["mean_image"], model.window_[::-1], "the mean image")
    model.train_score_ = _floats(metadata["train_score"], (rounds,), "the training errors")
    model._kept = _rounds_from(metadata["rounds"], model.train_score_)
    return model


def _vote_from(metadata: dict[str, Any], window: tuple[int, int]) -> Any:
    from bosquet.vision.features import HaarFeatures
    from bosquet.vision.haar_stumps import SettledVote
    from bosquet.vision.integral import native_values

    rectangles = np.asarray(metadata["rectangles"])
    numbers, tilted = np.asarray(metadata["numbers"]), np.asarray(metadata["tilted"])
    rounds = len(rectangles)
    if rounds == 0 or rectangles.dtype.kind != "i" or np.abs(rectangles).max() > 2**30:
        raise ModelFileError("the rectangles of the features are not whole numbers")
    if numbers.dtype.kind != "i" or numbers.shape != (rounds,) or (numbers < 0).any():
        raise ModelFileError("the numbers of the features are not valid")
    if tilted.dtype != bool or not isinstance(metadata["normalise"], bool):
        raise ModelFileError("whether features are tilted, or normalised, is not told")
    weights = _floats(metadata["weights"], (rounds, 3), "the weights of the rectangles")
    thresholds = _floats(metadata["thresholds"], (rounds,), "the thresholds")
    features = HaarFeatures(rectangles.astype(np.int32), weights.astype(np.float32), tilted, window)
    vote = SettledVote(
        features,
        numbers,
        thresholds.astype(np.float32),
        _floats(metadata["leaves"], (rounds, 2), "the leaves"),
        metadata["normalise"],
    )
    # Looks at every rectangle before the first window is asked about.
    native_values(np.zeros((1, window[1], window[0]), np.uint8), features, vote.normalise, 1)
    return vote


def _rounds_from(state: dict[str, Any], training_errors: np.ndarray) -> list[Any]:
    from bosquet.boosting._vote_stepper import Kept

    fields = {name: [number_from(value) for value in state[name]] for name in _ROUND_FIELDS}
    if any(len(values) != training_errors.size for values in fields.values()):
        raise ModelFileError("the rounds of the description do not fit the vote")
    return [
        Kept(
            **{name: np.array([values[t]]) for name, values in fields.items()},
            training_error=float(training_errors[t]),
        )
        for t in range(training_errors.size)
    ]


def _floats(values: Any, shape: tuple[int, ...], what: str) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.shape != shape or not (np.abs(array) <= np.finfo(np.float32).max).all():
        raise ModelFileError(f"{what} are not finite numbers of shape {shape}")
    return array
