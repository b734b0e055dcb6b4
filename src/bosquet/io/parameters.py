"""Conversion of the parameters of estimators to JSON values and back, with their exact values and types.

Values of the types of JSON are written as they are. Any other value is an object with one key, the name of
its type: ``{"tuple": [1, 2]}``, ``{"dict": [[0, 1.5], ["a", null]]}``, ``{"estimator": {...}}``. A parameter
that cannot be written, such as a function, is replaced by ``{"not stored": "function"}``; see `NotStored`.
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
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._parameters import NotStored
from bosquet._state.fields import (
    fits_64_bits,
    read_choice,
    read_integers,
    read_list,
    read_object,
    read_text,
)
from bosquet._state.kinds import class_by_name, with_checked_parameters
from bosquet._state.labels import labels_state, read_labels
from bosquet._suggestions import with_article

if TYPE_CHECKING:
    from bosquet._types import Estimator


MAX_RANGE_LENGTH = 65_536
# These parameters depend on the machine and not on the model, and are not written.
MACHINE_PARAMETERS = ("n_jobs", "memory")
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Unstorable(TypeError):
    """Error for a value that a model file cannot store; `kind` is the name of its type."""

    def __init__(self, value: object, reason: str):
        super().__init__(reason)
        self.kind = type(value).__name__


@dataclass
class ReadContext:
    """The file that parameters are read from: whether its version is newer, and its member models."""

    is_newer: bool = False
    members: Sequence[object] = ()
    unknown: list[str] = field(default_factory=list)  # parameters that this version does not have


# ----------------------------------------------------------------------------------------- writing
def parameters_state(estimator: Estimator, members: Sequence[object] = ()) -> dict[str, Any]:
    """Return the parameters of an estimator as JSON values; `members` are the member models in the file.

    Raises the error of `fit` for invalid parameters, because a reader would reject them.
    """
    state: dict[str, Any] = {}
    stored: dict[str, Any] = {}
    required, member_index = (
        _required_parameters(type(estimator)),
        {id(m): n for n, m in enumerate(members)},
    )
    for name, value in estimator.get_params(deep=False).items():
        if name in MACHINE_PARAMETERS:
            continue
        try:
            state[name] = encode_value(value, member_index)
        except Unstorable as error:
            if name in required:
                raise ValueError(
                    f"{name} cannot be written to a model file: {error}; use pickle or joblib"
                ) from error
            state[name] = {"not stored": error.kind}
        else:
            if not isinstance(value, NotStored):
                stored[name] = value
    with_checked_parameters(type(estimator)(**stored))
    return state


def encode_value(value: object, member_index: Mapping[int, int] = MappingProxyType({})) -> Any:
    """Convert a value to JSON values; raise Unstorable if a model file cannot store it.

    `member_index` are the indices of the member models in the file, by their `id`.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        if not fits_64_bits(value):
            raise Unstorable(value, f"{value} has more than 64 bits")
        return int(value)
    if isinstance(value, Real):
        number = float(value)
        return number if math.isfinite(number) else {"float": str(number)}
    if isinstance(value, NotStored):
        return {"not stored": value.kind}
    return _encode_container(value, member_index)


def _encode_container(value: Any, member_index: Mapping[int, int]) -> Any:
    def encode_each(values: Any) -> list[Any]:
        return [encode_value(element, member_index) for element in values]

    if isinstance(value, list):
        return encode_each(value)
    if isinstance(value, tuple):
        return {"tuple": encode_each(value)}
    if isinstance(value, set | frozenset):
        tag = "set" if isinstance(value, set) else "frozenset"
        return {tag: sorted(map(_encode_key, value), key=json.dumps)}
    if isinstance(value, range):
        if _is_long(value):
            raise Unstorable(value, f"{value} has more than {MAX_RANGE_LENGTH:,} elements")
        return {"range": encode_each((value.start, value.stop, value.step))}
    if isinstance(value, dict):
        return {
            "dict": [
                [_encode_key(key), encode_value(element, member_index)]
                for key, element in value.items()
            ]
        }
    if hasattr(value, "__array__"):  # an array, or a column or table that converts to one
        return _encode_array(np.asarray(value))
    if id(value) in member_index:
        return {"part": member_index[id(value)]}
    return {"estimator": _encode_estimator(value)}


def _encode_key(key: Any) -> Any:
    """Convert a key of a dict, or an element of a set."""
    if isinstance(key, bool | int | float | str | np.generic | None):
        return encode_value(key)
    raise Unstorable(key, f"the key {key!r} is neither a number nor text")


def _encode_array(array: np.ndarray) -> dict[str, Any]:
    if array.dtype.kind == "f":
        values = {
            "type": array.dtype.name,
            "values": [encode_value(v) for v in array.ravel().tolist()],
        }
    else:
        try:
            values = labels_state(array.ravel())
        except ValueError as error:
            raise Unstorable(array, str(error)) from error
    return {"array": {"shape": list(array.shape), **values}}


def _encode_estimator(estimator: Any) -> dict[str, Any]:
    name = type(estimator).__name__
    if class_by_name(name) is not type(estimator):
        kind = f"{type(estimator).__module__}.{name}"
        raise Unstorable(
            estimator, f"{with_article(kind)} is not a type that a model file supports"
        )
    return {"name": name, "parameters": parameters_state(estimator)}


# ----------------------------------------------------------------------------------------- reading
def build_estimator(
    cls: Any, state: dict[str, Any], context: ReadContext
) -> tuple[Any, dict[str, NotStored]]:
    """Return an estimator with these parameters, checked as by `fit`, and those that were not stored."""
    defaults = _parameter_defaults(cls)
    parameters: dict[str, Any] = {}
    missing: dict[str, NotStored] = {}
    for name, value in state.items():
        if name not in defaults and context.is_newer:
            context.unknown.append(f"{cls.__name__}.{name}")
        elif name not in defaults or name in MACHINE_PARAMETERS:
            raise ModelFileError(
                f"invalid model file: 'parameters' contains {name!r}, which is not a parameter of"
                f" {cls.__name__} that a file may set"
            )
        elif isinstance(value, dict) and "not stored" in value:
            missing[name] = NotStored(read_text(value, "not stored"))
        else:
            parameters[name] = decode_value(value, context)
    for name in _required_parameters(cls):
        if name not in parameters:
            raise ModelFileError(
                f"invalid model file: the required parameter {name!r} of {cls.__name__} is missing"
            )
    return with_checked_parameters(cls(**parameters)), missing


def decode_value(value: object, context: ReadContext) -> Any:
    """Return the value that was converted by `encode_value`."""
    if isinstance(value, dict):
        if len(value) != 1:
            raise ModelFileError(
                f"invalid model file: the value of a parameter is an object with {len(value)} keys; it must"
                " have one"
            )
        ((tag, content),) = value.items()
        if tag not in _TAGS:
            raise ModelFileError(
                f"invalid model file: the value of a parameter has the unknown type {tag!r}; it must be one"
                f" of {', '.join(map(repr, _TAGS))}"
            )
        return _TAGS[tag](content, context)
    if isinstance(value, list):
        return [decode_value(element, context) for element in value]
    if isinstance(value, int) and not fits_64_bits(value):
        raise ModelFileError(
            "invalid model file: the value of a parameter is an integer of more than 64 bits"
        )
    return value


def _decode_elements(content: Any, context: ReadContext) -> list[Any]:
    return [decode_value(one, context) for one in read_list({"value": content}, "value")]


def _decode_distinct_keys(content: Any, context: ReadContext) -> list[Any]:
    """Return the distinct keys of a dict or elements of a set."""
    keys = _decode_elements(content, context)
    if any(not isinstance(key, bool | int | float | str | None) for key in keys):
        raise ModelFileError(
            "invalid model file: a key of a dict or set among the parameters is neither a number nor text"
        )
    if len(set(keys)) != len(keys):
        raise ModelFileError(
            "invalid model file: a dict or set among the parameters has a duplicate key"
        )
    return keys


def _decode_dict(content: Any, context: ReadContext) -> dict[Any, Any]:
    pairs = read_list({"dict": content}, "dict")
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in pairs):
        raise ModelFileError(
            "invalid model file: a dict among the parameters must be a list of [key, value] pairs"
        )
    keys = _decode_distinct_keys([key for key, _ in pairs], context)
    return dict(zip(keys, _decode_elements([value for _, value in pairs], context), strict=True))


def _decode_range(content: Any, context: ReadContext) -> range:
    start, stop, step = read_integers({"range": content}, "range", -(2**63), 2**63, length=3)
    values = range(start, stop, step)
    # Checks convert a range to an array, whose size is not bounded by the size of the file.
    if _is_long(values):
        raise ModelFileError(
            f"invalid model file: a range among the parameters has more than {MAX_RANGE_LENGTH:,} elements"
        )
    return values


def _is_long(numbers: range) -> bool:
    # len() of the whole range may overflow.
    return len(numbers[: MAX_RANGE_LENGTH + 1]) > MAX_RANGE_LENGTH


def _decode_float(content: Any, context: ReadContext) -> float:
    return _NOT_FINITE[read_choice({"float": content}, "float", _NOT_FINITE)]


def _decode_array(content: Any, context: ReadContext) -> np.ndarray:
    shape = read_integers(content, "shape", 0)
    values = read_list(content, "values")
    if len(shape) > 8 or math.prod(shape) != len(values):
        raise ModelFileError(
            f"invalid model file: an array among the parameters has shape {shape[:9]}, but {len(values)}"
            " values; the shape must match the values and have at most 8 dimensions"
        )
    if isinstance(content["type"], str) and content["type"].startswith("float"):
        values = [decode_value(value, context) for value in values]
    return read_labels({"type": content["type"], "values": values}).reshape(shape)


def _decode_member(content: Any, context: ReadContext) -> Any:
    if type(content) is not int or not 0 <= content < len(context.members):
        raise ModelFileError(
            f"invalid model file: a parameter refers to the member {content!r}, but the file has"
            f" {len(context.members)} members"
        )
    return context.members[content]


def _decode_estimator(content: Any, context: ReadContext) -> Any:
    name = read_text(content, "name")
    cls = class_by_name(name)
    if cls is None:
        raise ModelFileError(
            f"invalid model file: a parameter is an estimator of the unknown class {name!r}"
        )
    estimator, missing = build_estimator(cls, read_object(content, "parameters"), context)
    for parameter, mark in missing.items():
        setattr(estimator, parameter, mark)
    return estimator


_TAGS: dict[str, Callable[[Any, ReadContext], Any]] = {
    "tuple": lambda content, context: tuple(_decode_elements(content, context)),
    "set": lambda content, context: set(_decode_distinct_keys(content, context)),
    "frozenset": lambda content, context: frozenset(_decode_distinct_keys(content, context)),
    "dict": _decode_dict,
    "range": _decode_range,
    "float": _decode_float,
    "array": _decode_array,
    "part": _decode_member,
    "estimator": _decode_estimator,
}


@cache
def _parameter_defaults(cls: Any) -> dict[str, Any]:
    """Return the parameters of a class with their defaults, `Parameter.empty` for those without."""
    parameters = signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "self"}


def _required_parameters(cls: Any) -> list[str]:
    """Return the parameters of a class that have no default."""
    return [
        name for name, default in _parameter_defaults(cls).items() if default is Parameter.empty
    ]
