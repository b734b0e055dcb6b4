"""Parameters of estimators as JSON holds them, and back, each with its value and its type.

Plain values are themselves. A value that JSON has no form for is an object with one key, which names its
type: ``{"tuple": [1, 2]}``, ``{"dict": [[0, 1.5], ["a", null]]}``, ``{"estimator": {...}}``. A parameter that
cannot be written, such as a function, leaves the mark ``{"not stored": "function"}``; see `NotStored`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from inspect import Parameter, signature
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import NotStored
from bosquet.io.fields import choice, fits, inner, listed, text, wholes
from bosquet.io.labels import labels_from, labels_state

MOST_IN_RANGE = 65_536
# About the machine, and not about the model: a file does not say how many threads its reader starts.
OF_THE_MACHINE = ("n_jobs", "memory")
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Unstorable(TypeError):
    """A value that a model file does not carry: it, or what it holds, is of this type."""

    def __init__(self, value: Any, why: str):
        super().__init__(why)
        self.kind = type(value).__name__


@dataclass
class Source:
    """Where parameters are read from: the version that wrote them, and the fitted models beside them."""

    is_newer: bool = False
    members: Sequence[Any] = ()
    unknown: list[str] = field(default_factory=list)  # parameters that this version does not have


# ----------------------------------------------------------------------------------------- writing
def parameters_state(estimator: Any, members: Sequence[Any] = ()) -> dict[str, Any]:
    """The parameters of an estimator; `members` are fitted models that the file holds as parts.

    An error of the estimator's own if they are not such as `fit` accepts: a reader would refuse them.
    """
    from bosquet.io.kinds import checked

    state: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    required, parts = _required(type(estimator)), {id(m): n for n, m in enumerate(members)}
    for name, value in estimator.get_params(deep=False).items():
        if name in OF_THE_MACHINE:
            continue
        try:
            state[name] = encoded(value, parts)
        except Unstorable as error:
            if name in required:
                raise ValueError(f"{name} cannot be written to a model file: {error}") from error
            state[name] = {"not stored": error.kind}
        else:
            if not isinstance(value, NotStored):
                stored[name] = value
    checked(type(estimator)(**stored))
    return state


def encoded(value: Any, parts: Mapping[int, int] = MappingProxyType({})) -> Any:
    """A value as JSON holds it; Unstorable for what a model file does not carry.

    `parts` are the numbers of the models that the file holds as parts, by their `id`.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if not fits(value):
            raise Unstorable(value, f"{value} has more than 64 bits")
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, NotStored):
        return {"not stored": value.kind}
    return _encoded_container(value, parts)


def _encoded_container(value: Any, parts: Mapping[int, int]) -> Any:
    def each(values: Any) -> list[Any]:
        return [encoded(one, parts) for one in values]

    if isinstance(value, list):
        return each(value)
    if isinstance(value, tuple):
        return {"tuple": each(value)}
    if isinstance(value, set | frozenset):
        tag = "set" if isinstance(value, set) else "frozenset"
        return {tag: sorted(map(_as_key, value), key=json.dumps)}
    if isinstance(value, range):
        if _is_long(value):
            raise Unstorable(value, f"{value} has more than {MOST_IN_RANGE:,} numbers")
        return {"range": each((value.start, value.stop, value.step))}
    if isinstance(value, dict):
        return {"dict": [[_as_key(key), encoded(one, parts)] for key, one in value.items()]}
    if hasattr(
        value, "__array__"
    ):  # NumPy's, or a column or table of a library that turns into one
        return _encoded_array(np.asarray(value))
    if id(value) in parts:
        return {"part": parts[id(value)]}
    return {"estimator": _encoded_estimator(value)}


def _as_key(key: Any) -> Any:
    """What a dict or a set is looked up by."""
    if isinstance(key, bool | int | float | str | np.generic | None):
        return encoded(key)
    raise Unstorable(key, f"{key!r} is neither a number nor text")


def _encoded_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind == "f":
        values = {"type": array.dtype.name, "values": [encoded(v) for v in array.ravel().tolist()]}
    else:
        try:
            values = labels_state(array.ravel())
        except ValueError as error:
            raise Unstorable(array, str(error)) from error
    return {"array": {"shape": list(array.shape), **values}}


def _encoded_estimator(estimator: Any) -> dict[str, Any]:
    from bosquet.io.kinds import class_of

    name = type(estimator).__name__
    if class_of(name) is not type(estimator):
        kind = f"{type(estimator).__module__}.{name}"
        raise Unstorable(estimator, f"a {kind} is not one of the types that a model file carries")
    return {"name": name, "parameters": parameters_state(estimator)}


# ----------------------------------------------------------------------------------------- reading
def estimator_from(
    cls: Any, state: dict[str, Any], source: Source
) -> tuple[Any, dict[str, NotStored]]:
    """An estimator with these parameters, checked as `fit` does, and those that were not stored."""
    from bosquet.io.kinds import checked

    known = _defaults(cls)
    parameters: dict[str, Any] = {}
    missing: dict[str, NotStored] = {}
    for name, value in state.items():
        if name not in known and source.is_newer:
            source.unknown.append(f"{cls.__name__}.{name}")
        elif name not in known or name in OF_THE_MACHINE:
            raise ModelFileError(f"{name!r} is not a parameter of {cls.__name__} in a model file")
        elif isinstance(value, dict) and "not stored" in value:
            missing[name] = NotStored(text(value, "not stored"))
        else:
            parameters[name] = decoded(value, source)
    for name in _required(cls):
        if name not in parameters:
            raise ModelFileError(f"the parameter {name!r} of {cls.__name__} is missing")
    return checked(cls(**parameters)), missing


def decoded(value: Any, source: Source) -> Any:
    """The value that `encoded` wrote."""
    if isinstance(value, dict):
        if len(value) != 1:
            raise ModelFileError("the value of a parameter is an object of several keys")
        ((tag, content),) = value.items()
        if tag not in _TAGS:
            raise ModelFileError(f"the value of a parameter is of the unknown kind {tag!r}")
        return _TAGS[tag](content, source)
    if isinstance(value, list):
        return [decoded(one, source) for one in value]
    if isinstance(value, int) and not fits(value):
        raise ModelFileError("the value of a parameter has more than 64 bits")
    return value


def _each(content: Any, source: Source) -> list[Any]:
    return [decoded(one, source) for one in listed({"value": content}, "value")]


def _keys(content: Any, source: Source) -> list[Any]:
    """What dicts and sets are looked up by, all different."""
    keys = _each(content, source)
    if any(not isinstance(key, bool | int | float | str | None) for key in keys):
        raise ModelFileError("a key of a parameter is neither a number nor text")
    if len(set(keys)) != len(keys):
        raise ModelFileError("a parameter has the same key twice")
    return keys


def _dict(content: Any, source: Source) -> dict[Any, Any]:
    pairs = listed({"dict": content}, "dict")
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise ModelFileError("a parameter that is a dict must be a list of pairs")
    keys = _keys([key for key, _ in pairs], source)
    return dict(zip(keys, _each([value for _, value in pairs], source), strict=True))


def _range(content: Any, source: Source) -> range:
    start, stop, step = wholes({"range": content}, "range", -(2**63), 2**63, length=3)
    found = range(start, stop, step)
    # Checks of a parameter turn it into an array, and the file does not hold the numbers.
    if _is_long(found):
        raise ModelFileError(
            f"a range among the parameters has more than {MOST_IN_RANGE:,} numbers"
        )
    return found


def _is_long(numbers: range) -> bool:
    return len(numbers[: MOST_IN_RANGE + 1]) > MOST_IN_RANGE  # the length of all may overflow


def _float(content: Any, source: Source) -> float:
    return _NOT_FINITE[choice({"float": content}, "float", _NOT_FINITE)]


def _array(content: Any, source: Source) -> np.ndarray:
    shape = wholes(content, "shape", 0)
    values = listed(content, "values")
    if len(shape) > 8 or math.prod(shape) != len(values):
        raise ModelFileError("an array among the parameters does not have its shape")
    if isinstance(content["type"], str) and content["type"].startswith("float"):
        values = [decoded(value, source) for value in values]
    return labels_from({"type": content["type"], "values": values}).reshape(shape)


def _part(content: Any, source: Source) -> Any:
    if type(content) is not int or not 0 <= content < len(source.members):
        raise ModelFileError("a parameter names a part that the model file does not have")
    return source.members[content]


def _estimator(content: Any, source: Source) -> Any:
    from bosquet.io.kinds import class_of

    name = text(content, "name")
    cls = class_of(name)
    if cls is None:
        raise ModelFileError(f"a parameter is a {name!r}, which this version does not know")
    estimator, missing = estimator_from(cls, inner(content, "parameters"), source)
    for parameter, mark in missing.items():
        setattr(estimator, parameter, mark)
    return estimator


_TAGS: dict[str, Callable[[Any, Source], Any]] = {
    "tuple": lambda content, source: tuple(_each(content, source)),
    "set": lambda content, source: set(_keys(content, source)),
    "frozenset": lambda content, source: frozenset(_keys(content, source)),
    "dict": _dict,
    "range": _range,
    "float": _float,
    "array": _array,
    "part": _part,
    "estimator": _estimator,
}


@cache
def _defaults(cls: Any) -> dict[str, Any]:
    """The parameters of a class with their defaults, `Parameter.empty` where there is none."""
    given = signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in given if p.name != "self"}


def _required(cls: Any) -> list[str]:
    """The parameters of a class that have no default."""
    return [name for name, default in _defaults(cls).items() if default is Parameter.empty]
