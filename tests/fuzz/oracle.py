"""Checks of a model file: it is rejected, or its model can predict, be explained and be saved."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from limits import MEGABYTE, Meter
from methods import MAX_STEPS, call_methods
from rows import all_members_of, draws_from_many_columns, expect, rows_for

from bosquet.io import ModelFileError, model_bytes, model_from_bytes

# docs/reliability.md promises 160 bytes per byte of the file on top of a constant of 64 MB, which also
# covers what a process allocates once.
BYTES_PER_BYTE, CONSTANT_BYTES = 160, 16 * MEGABYTE
LOAD = {"seconds": 1.0, "virtual": 256 * MEGABYTE}
USE = {"memory": 64 * MEGABYTE, "seconds": 5.0, "virtual": 1024 * MEGABYTE}
# Sums of probabilities may differ from 1 by this much.
TOLERANCE = 1e-9


def check_file(data: bytes, rng: Random, meter: Meter, phase: Callable[[str], None]) -> str:
    """Return "rejected" or "loaded", or raise an error; `phase` is called with the name of the next step."""
    meter.start()
    phase("load")
    limits = {"memory": CONSTANT_BYTES + BYTES_PER_BYTE * len(data), **LOAD}
    try:
        model = model_from_bytes(data)
    except ModelFileError:
        meter.check("loading", **limits)
        return "rejected"
    meter.check("loading", **limits)
    if any(map(draws_from_many_columns, all_members_of(model))):
        return "loaded"
    meter.start()
    phase("use")
    predictions = predictions_of(model)
    phase("save")
    again = model_bytes(model)
    phase("load again")
    other = model_from_bytes(again)
    expect(model_bytes(other) == again, "saved twice, the bytes differ")
    phase("use again")
    for name, values in predictions_of(other).items():
        expect(
            same(values, predictions[name]),
            f"{name} of the model that was saved and loaded differs",
        )
    call_methods(model, data, rng, phase)
    meter.check("using the model", **USE)
    return "loaded"


def same(one: Any, other: Any) -> bool:
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if one.dtype.kind == "f":
        return np.array_equal(one, other, equal_nan=True)
    return np.array_equal(one, other)


# ------------------------------------------------------------------------------------- predictions
def predictions_of(model: Any) -> dict[str, Any]:
    """Check and return the predictions of a model for suitable rows."""
    if type(model).__name__ == "Mixture":
        return mixture_predictions(model)
    X = rows_for(model)
    if hasattr(model, "_design"):
        return regression_predictions(model, X)
    found = table_predictions(model, X)
    if type(model).__name__ == "ConformalModel":
        found |= conformal_predictions(model, X)
    return found


def table_predictions(model: Any, X: Any) -> dict[str, Any]:
    rows = len(X)
    found = {"predict": model.predict(X)}
    classes = getattr(model, "classes_", None) if _classifies(model) else None
    check_predictions(found["predict"], rows, classes)
    if classes is None:
        return found
    if hasattr(model, "predict_proba"):
        found["predict_proba"] = model.predict_proba(X)
        check_probabilities(found["predict_proba"], rows, classes)
    if hasattr(model, "decision_function"):
        found["decision_function"] = model.decision_function(X)
        check_finite(found["decision_function"], rows, "decision_function")
    return found


def _classifies(model: Any) -> bool:
    return hasattr(model, "predict_proba") or hasattr(model, "classes_")


def check_predictions(predictions: Any, rows: int, classes: Any) -> None:
    expect(
        isinstance(predictions, np.ndarray) and len(predictions) == rows,
        "predict: one row for each",
    )
    if isinstance(classes, list):
        expect(predictions.shape == (rows, len(classes)), "predict: a column for each target")
        for column, some in zip(predictions.T, classes, strict=True):
            expect(np.isin(column.astype(some.dtype), some).all(), "predict: an unknown class")
    elif classes is not None:
        expect(predictions.shape == (rows,), "predict: one class for each row")
        expect(np.isin(predictions, classes).all(), "predict: an unknown class")
    else:
        check_finite(predictions, rows, "predict")


def check_finite(values: Any, rows: int, what: str) -> None:
    expect(isinstance(values, np.ndarray) and len(values) == rows, f"{what}: one row for each")
    expect(values.dtype.kind == "f", f"{what}: not floats")
    expect(np.isfinite(values).all(), f"{what}: not finite")


def check_probabilities(probabilities: Any, rows: int, classes: Any) -> None:
    if isinstance(classes, list):
        expect(len(probabilities) == len(classes), "predict_proba: as many arrays as targets")
        for some, own in zip(probabilities, classes, strict=True):
            check_probabilities(some, rows, own)
        return
    expect(probabilities.shape == (rows, len(classes)), "predict_proba: shape")
    expect(np.isfinite(probabilities).all(), "predict_proba: not finite")
    expect(
        (probabilities >= 0).all() and (probabilities <= 1).all(),
        "predict_proba: outside of [0, 1]",
    )
    expect((abs(probabilities.sum(axis=1) - 1) <= TOLERANCE).all(), "predict_proba: sum is not 1")


def regression_predictions(model: Any, X: Any) -> dict[str, Any]:
    """A formula may give NaN for some rows, for example a logarithm; the error must name it."""
    try:
        if hasattr(model, "classes_"):
            found = table_predictions(model, X)
        else:
            found = {"predict": model.predict(X)}
            expect(not np.isnan(found["predict"]).any(), "predict: not a number")
        band = model.confidence_band(X)
    except ValueError as error:
        if "Input X contains" not in str(error) and "negative integer powers" not in str(error):
            raise
        found, band = {}, {}
    for one in band.values() if isinstance(band, dict) else [band]:
        expect(len(one) == len(X), "confidence_band: one row for each")
    str(model.summary())
    model.test(model.terms_[-1], "wald")
    return found


def conformal_predictions(model: Any, X: Any) -> dict[str, Any]:
    groups = model._calibration.groups.values
    groups = None if groups is None else np.resize(groups, len(X))
    if hasattr(model, "classes_"):
        try:
            sets = model.predict_set(X, 0.5, groups=groups)
        except ValueError as error:  # such as a class without calibration rows in a group
            if "calibration rows, but there" not in str(error):
                raise
            return {}
        expect(sets.shape == (len(X), model.classes_.size), "predict_set: shape")
        return {"predict_set": sets}
    interval = model.predict_interval(X, 0.5, groups=groups)
    expect(interval.shape == (len(X), 2), "predict_interval: shape")
    expect(not np.isnan(interval).any(), "predict_interval: not a number")
    expect((interval[:, 0] <= interval[:, 1]).all(), "predict_interval: upper below lower")
    return {"predict_interval": interval}


def mixture_predictions(model: Any) -> dict[str, Any]:
    weights = model.final_weights_
    expect(np.isfinite(weights).all(), "final_weights_: not finite")
    if model.block > MAX_STEPS:  # it needs the training rows, which the model does not store
        return {"final_weights_": weights}
    shape = model._step_shape if model.block == 1 else (model.block, *model._step_shape)
    # Class probabilities sum to 1 along the last axis.
    forecasts = np.full(shape, 1 / shape[-1] if model.classes is not None else 0.25)
    predictions = np.atleast_1d(model.predict(forecasts))
    expect(np.isfinite(predictions).all(), "predict: not finite")
    return {"final_weights_": weights, "predict": predictions}
