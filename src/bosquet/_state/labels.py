"""Conversion of class and group labels to JSON values and back."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._state.fields import fits_64_bits, read_choice, read_list

# NumPy types that are written by name; text of any width is "str".
NUMERIC = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
TYPES = (*NUMERIC, "str", "object")
_SCALARS = {bool, int, float, str}
# A NumPy array of text uses the width of the longest text for all entries. If this takes more than
# _MAX_WIDTH_RATIO times the memory of the text itself, and more than _SMALL characters, the labels are stored
# as objects. So the memory for loading a file is bounded by its size.
_MAX_WIDTH_RATIO, _SMALL = 16, 4096


def labels_state(labels: Any) -> Any:
    """Return labels as JSON values; a list for the labels of several targets, None for None."""
    if labels is None:
        return None
    if isinstance(labels, list):
        return [labels_state(labels_of_target) for labels_of_target in labels]
    kind, values = labels.dtype.kind, labels.tolist()
    name = {"U": "str", "O": "object"}.get(kind, labels.dtype.name)
    if name not in TYPES:
        raise ValueError(
            f"labels of type {labels.dtype} cannot be written to a model file; labels must be text,"
            " booleans or numbers"
        )
    if kind == "O":
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        for value in values:
            if type(value) not in _SCALARS or (type(value) is int and not fits_64_bits(value)):
                raise ValueError(
                    f"the label {value!r} of type {type(value).__name__} cannot be written to a model file;"
                    " labels must be text, booleans, or numbers of at most 64 bits"
                )
    if kind == "U" and not _have_similar_lengths(values):
        name = "object"
    return {"type": name, "values": values}


def read_labels(state: Any) -> np.ndarray:
    """Read labels in any order."""
    name, values = read_choice(state, "type", TYPES), read_list(state, "values")
    kinds = set(map(type, values))
    if not kinds <= ({str} if name == "str" else _SCALARS - ({str} if name in NUMERIC else set())):
        raise ModelFileError(f"invalid model file: some labels are not of their type {name!r}")
    if not all(fits_64_bits(value) for value in values if isinstance(value, int)):
        raise ModelFileError("invalid model file: a label is an integer of more than 64 bits")
    if name == "str" and not _have_similar_lengths(values):
        raise ModelFileError(
            "invalid model file: the lengths of the labels differ too much for type 'str'; they must be of"
            " type 'object'"
        )
    labels = np.empty(len(values), dtype=_dtype_of_name(name, values))
    labels[:] = values
    return labels


def read_classes(state: Any) -> np.ndarray:
    """Read the classes of a target: at least one label, in ascending order."""
    classes = read_labels(state)
    values = classes.tolist()
    if any(isinstance(label, float) and not math.isfinite(label) for label in values):
        raise ModelFileError("invalid model file: a class label is NaN or infinite")
    if not values or not all(low < high for low, high in pairwise(values)):
        raise ModelFileError(
            "invalid model file: the classes must be in ascending order, and at least one"
        )
    return classes


def is_subset(labels: Any, classes: np.ndarray) -> bool:
    """Return whether all labels are among the classes, in linear time, unlike `np.isin` for objects."""
    return set(np.asarray(labels).tolist()) <= set(classes.tolist())


def _dtype_of_name(name: str, values: list[Any]) -> Any:
    return f"U{max(map(len, values), default=1) or 1}" if name == "str" else np.dtype(name)


def _have_similar_lengths(values: list[str]) -> bool:
    widest, total = max(map(len, values), default=0), sum(map(len, values))
    return len(values) * widest <= max(_SMALL, _MAX_WIDTH_RATIO * (total + len(values)))
