"""The models whose files are stored, and their predictions.

They are those of the fuzzer's corpus: one for each estimator that can be saved, and each interesting option.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from bosquet._state.fields import to_json_numbers

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

from corpus import models
from rows import rows_for

__all__ = ["are_alike", "models", "predictions_of"]


def predictions_of(model: Any) -> dict[str, Any]:
    """Return the predictions of a model for suitable rows, as JSON values."""
    kind = type(model).__name__
    if kind == "Mixture":
        return {"final_weights_": _plain(model.final_weights_), "regret_": _plain(model.regret_)}
    X = rows_for(model)
    found = {"predict": _plain(model.predict(X))}
    if hasattr(model, "predict_proba") and _classifies(model):
        found["predict_proba"] = _plain(model.predict_proba(X))
    if kind == "ConformalModel":
        groups = model._calibration.groups.values
        groups = None if groups is None else np.resize(groups, len(X))
        predict_covered = (
            model.predict_set if hasattr(model, "classes_") else model.predict_interval
        )
        found["covered"] = _plain(predict_covered(X, 0.5, groups=groups))
    return found


def _classifies(model: Any) -> bool:
    return hasattr(getattr(model, "model", model), "classes_")


def _plain(values: Any) -> Any:
    """Return lists of numbers, booleans and text, with null for NaN."""
    if isinstance(values, list):
        return [_plain(some) for some in values]
    array = np.asarray(values)
    return to_json_numbers(array) if array.dtype.kind == "f" else array.tolist()


def are_alike(one: Any, other: Any) -> bool:
    """Return whether values are equal up to rounding: other libraries may change the last bits."""
    if isinstance(one, list):
        return (
            isinstance(other, list) and len(one) == len(other) and all(map(are_alike, one, other))
        )
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-12)
    return type(one) is type(other) and one == other
