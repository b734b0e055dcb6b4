"""Functions that read and check the fields of a state, the JSON metadata of a model file.

A file may come from any source. These functions return a value of the expected type, range and length, or
raise a ModelFileError that names the field, its value and the values accepted. Their use of memory is
proportional to the length of the text that they read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from itertools import chain
from typing import Any

import numpy as np

from bosquet._core import ModelFileError

# A fit gives no larger numbers, and squares and sums of numbers of this size are finite.
LARGEST_NUMBER = 1e100
LARGEST_COUNT = 2**53
_NUMBERS = {int, float}


def fits_64_bits(integer: int) -> bool:
    """Return whether an integer has at most 64 bits.

    The integers of Python are unlimited. It is easy to find thousands of large integers with the same hash,
    with which sets and dicts become slow.
    """
    return -(2**63) <= integer < 2**64


def read_field(state: Any, name: str) -> Any:
    """Return the value of a field; raise ModelFileError if it is missing."""
    if not isinstance(state, dict) or name not in state:
        raise ModelFileError(f"invalid model file: the metadata has no {name!r}")
    return state[name]


def invalid_field(name: str, value: Any, accepted: str) -> ModelFileError:
    """Return the error for a field with an invalid value."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return ModelFileError(f"invalid model file: {name!r} is {shown}; it must be {accepted}")


def check_no_lone_surrogates(state: Any) -> None:
    """Raise ModelFileError if some text contains an unpaired surrogate, such as JSON's "\\ud800".

    pandas, which regression models use for names and levels, cannot store such text.
    """
    try:
        json.dumps(state, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(
            "invalid model file: a text in the metadata contains an unpaired surrogate, which is not valid"
            " Unicode"
        ) from None


def read_object(state: Any, name: str) -> dict[str, Any]:
    """Read a JSON object."""
    value = read_field(state, name)
    if not isinstance(value, dict):
        raise invalid_field(name, value, "an object")
    return value


def read_list(state: Any, name: str, length: int | None = None) -> list[Any]:
    """Read a list, of `length` entries if this is given."""
    value = read_field(state, name)
    if not isinstance(value, list):
        raise invalid_field(name, value, "a list")
    if length is not None and len(value) != length:
        raise ModelFileError(
            f"invalid model file: {name!r} has {len(value)} entries; it must have {length}"
        )
    return value


def read_bool(state: Any, name: str) -> bool:
    """Read true or false."""
    value = read_field(state, name)
    if type(value) is not bool:
        raise invalid_field(name, value, "true or false")
    return value


def read_text(state: Any, name: str) -> str:
    """Read a string."""
    value = read_field(state, name)
    if not isinstance(value, str):
        raise invalid_field(name, value, "a string")
    return value


def read_texts(state: Any, name: str, length: int | None = None) -> list[str]:
    """Read a list of distinct strings."""
    values = read_list(state, name, length)
    if not set(map(type, values)) <= {str} or len(set(values)) != len(values):
        raise invalid_field(name, values, "a list of distinct strings")
    return values


def read_choice(state: Any, name: str, allowed: Collection[str]) -> str:
    """Read one of the allowed strings."""
    value = read_field(state, name)
    if not isinstance(value, str) or value not in allowed:
        raise invalid_field(name, value, f"one of {', '.join(map(repr, allowed))}")
    return value


def read_integer(state: Any, name: str, low: int, high: int = LARGEST_COUNT) -> int:
    """Read an integer in [low, high]."""
    value = read_field(state, name)
    if type(value) is not int or not low <= value <= high:
        raise invalid_field(name, value, f"an integer in [{low}, {high}]")
    return value


def read_integers(
    state: Any, name: str, low: int, high: int = LARGEST_COUNT, *, length: int | None = None
) -> list[int]:
    """Read a list of integers in [low, high]."""
    values = read_list(state, name, length)
    if not set(map(type, values)) <= {int}:
        raise invalid_field(name, values, "a list of integers")
    if values and not low <= min(values) <= max(values) <= high:
        raise invalid_field(name, values, f"a list of integers in [{low}, {high}]")
    return values


def read_number(
    state: Any, name: str, low: float = -LARGEST_NUMBER, high: float = LARGEST_NUMBER
) -> float:
    """Read a number in [low, high]."""
    value = read_field(state, name)
    if type(value) not in _NUMBERS or not low <= value <= high:
        raise invalid_field(name, value, f"a number in [{low:g}, {high:g}]")
    return float(value)


def read_numbers(
    state: Any,
    name: str,
    length: int | None = None,
    *,
    low: float = -LARGEST_NUMBER,
    high: float = LARGEST_NUMBER,
    allow_non_finite: bool = False,
) -> np.ndarray:
    """Read a list of numbers in [low, high].

    With `allow_non_finite`, null is read as NaN, and "inf" and "-inf" as the infinities.
    """
    values = read_list(state, name, length)
    numbers = _finite_numbers_or_none(values, low, high)
    if numbers is None and allow_non_finite:
        numbers = _non_finite_numbers_or_none(values, low, high)
    if numbers is None:
        raise invalid_field(name, values, f"a list of numbers in [{low:g}, {high:g}]")
    return numbers


def read_matrix(
    state: Any,
    name: str,
    shape: tuple[int, int],
    *,
    low: float = -LARGEST_NUMBER,
    high: float = LARGEST_NUMBER,
    allow_non_finite: bool = False,
) -> np.ndarray:
    """Read a matrix: a list of rows, each a list of numbers as in `read_numbers`."""
    rows = read_list(state, name, shape[0])
    if any(not isinstance(row, list) or len(row) != shape[1] for row in rows):
        raise invalid_field(name, rows, f"{shape[0]} lists of {shape[1]} numbers")
    flat = {name: list(chain.from_iterable(rows))}
    return read_numbers(flat, name, low=low, high=high, allow_non_finite=allow_non_finite).reshape(
        shape
    )


def to_json_numbers(values: Any) -> list[Any]:
    """Convert numbers, or rows of numbers, to JSON values, with null for NaN and "inf" for infinity."""
    array = np.asarray(values if hasattr(values, "__len__") else list(values), dtype=float)
    if np.isfinite(array).all():
        return array.tolist()
    return [
        to_json_numbers(value) if array.ndim > 1 else _to_json_number(float(value))
        for value in array
    ]


def has_value(state: Any, name: str) -> bool:
    """Return whether the value of a field is not null."""
    return read_field(state, name) is not None


def _finite_numbers_or_none(values: list[Any], low: float, high: float) -> np.ndarray | None:
    if not set(map(type, values)) <= _NUMBERS:
        return None
    try:
        numbers = np.array(values, dtype=float)
    except OverflowError:  # an integer that is too large for float64
        return None
    inside = (numbers >= low) & (numbers <= high)
    return numbers if inside.all() else None


def _non_finite_numbers_or_none(values: list[Any], low: float, high: float) -> np.ndarray | None:
    non_finite = {None: math.nan, "inf": math.inf, "-inf": -math.inf}
    kinds = set(map(type, values))
    if not kinds <= {int, float, str, type(None)}:
        return None
    if str in kinds and not {v for v in values if isinstance(v, str)} <= non_finite.keys():
        return None
    finite = [v for v in values if v is not None and not isinstance(v, str)]
    if _finite_numbers_or_none(finite, low, high) is None:
        return None
    return np.array(
        [non_finite[v] if v is None or isinstance(v, str) else v for v in values], float
    )


def _to_json_number(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
