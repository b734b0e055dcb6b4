"""Parameters and class labels as JSON holds them, and back."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from bosquet._core import ModelFileError


def plain_parameters(estimator: Any) -> dict[str, Any]:
    """The parameters that JSON can hold; those that hold code or state stay behind."""
    result = {}
    for name, value in estimator.get_params(deep=False).items():
        try:
            result[name] = _plain(value)
        except TypeError:
            continue
    return result


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, list | tuple | set | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _plain(item) for key, item in value.items()}
    raise TypeError(f"{value!r} cannot be written to a model file")


def number_or_none(value: Any) -> float | None:
    """A number for JSON, which has no NaN."""
    return float(value) if np.isfinite(value) else None


def number_from(state: float | None) -> float:
    return float("nan") if state is None else float(state)


def classes_state(classes: Any) -> Any:
    """The classes of a target; of several targets a list."""
    if classes is None:
        return None
    if isinstance(classes, list):
        return [classes_state(some) for some in classes]
    kind = classes.dtype.kind
    if kind not in "biufUO":
        raise ValueError(f"classes of type {classes.dtype} cannot be written to a model file")
    return {
        "dtype": "object" if kind == "O" else classes.dtype.str.lstrip("<=|>"),
        "values": _plain(classes),
    }


def classes_from(state: dict[str, Any]) -> np.ndarray:
    dtype = np.dtype(state["dtype"])
    values = state["values"]
    if dtype.kind not in "biufUO" or not isinstance(values, list) or dtype.itemsize > 1 << 20:
        raise ModelFileError("the classes are not valid")
    classes = np.empty(len(values), dtype=dtype)
    classes[:] = values
    return classes
