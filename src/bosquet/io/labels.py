"""Labels of classes and of groups as JSON holds them, and back."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet.io.fields import choice, fits, listed

# Types of NumPy that are written by name; text is "str" whatever its width.
NUMERIC = (
    "bool",
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *(f"float{bits}" for bits in (16, 32, 64)),
)
TYPES = (*NUMERIC, "str", "object")
_SCALARS = {bool, int, float, str}
# NumPy holds text in cells as wide as the longest. With cells as much wider than the text on average, or
# more, labels are held as objects, so that no file asks for much more memory than it has bytes.
_WIDEST, _SMALL = 16, 4096


def labels_state(labels: Any) -> Any:
    """The labels of a target, or None; of several targets a list."""
    if labels is None:
        return None
    if isinstance(labels, list):
        return [labels_state(some) for some in labels]
    kind, values = labels.dtype.kind, labels.tolist()
    name = {"U": "str", "O": "object"}.get(kind, labels.dtype.name)
    if name not in TYPES:
        raise ValueError(f"labels of type {labels.dtype} cannot be written to a model file")
    if kind == "O":
        values = [value.item() if isinstance(value, np.generic) else value for value in values]
        for value in values:
            if type(value) not in _SCALARS or (type(value) is int and not fits(value)):
                raise ValueError(
                    f"the label {value!r} ({type(value).__name__}) cannot be written to a model file:"
                    " labels must be text, booleans, or numbers of at most 64 bits"
                )
    if kind == "U" and not _even(values):
        name = "object"
    return {"type": name, "values": values}


def labels_from(state: Any) -> np.ndarray:
    """Labels in any order."""
    name, values = choice(state, "type", TYPES), listed(state, "values")
    kinds = set(map(type, values))
    if not kinds <= ({str} if name == "str" else _SCALARS - ({str} if name in NUMERIC else set())):
        raise ModelFileError(f"the labels are not all of the type {name}")
    if not all(fits(value) for value in values if isinstance(value, int)):
        raise ModelFileError("a label is a whole number of more than 64 bits")
    if name == "str" and not _even(values):
        raise ModelFileError("the labels differ too much in length for an array of text")
    labels = np.empty(len(values), dtype=_dtype(name, values))
    labels[:] = values
    return labels


def classes_from(state: Any) -> np.ndarray:
    """Labels that ascend."""
    classes = labels_from(state)
    known = classes.tolist()
    if any(isinstance(label, float) and not math.isfinite(label) for label in known):
        raise ModelFileError("a class is a number that is not finite")
    if not known or not all(low < high for low, high in pairwise(known)):
        raise ModelFileError("the classes must ascend, and there must be one at least")
    return classes


def members_of(some: Any, classes: np.ndarray) -> bool:
    """Whether all of some labels are among the classes; unlike `np.isin` never slow."""
    return set(np.asarray(some).tolist()) <= set(classes.tolist())


def _dtype(name: str, values: list[Any]) -> Any:
    return f"U{max(map(len, values), default=1) or 1}" if name == "str" else np.dtype(name)


def _even(values: list[str]) -> bool:
    widest, total = max(map(len, values), default=0), sum(map(len, values))
    return len(values) * widest <= max(_SMALL, _WIDEST * (total + len(values)))
