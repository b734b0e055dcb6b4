"""Fields of a description, each checked as it is read.

A description comes from a file of any origin. What is read by these functions has the type, the range and
the length that its reader relies on; anything else is refused by the name of the field. The memory that they
take is in proportion to the text that they read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection
from itertools import chain
from typing import Any

import numpy as np

from bosquet._core import ModelFileError

# Sizes beyond this do not come of a fit, and squares and sums of such numbers are finite.
LARGEST_NUMBER = 1e100
LARGEST_COUNT = 2**53
_NUMBERS = {int, float}


def fits(whole_number: int) -> bool:
    """Whether a whole number has at most 64 bits.

    Python's own have no limit, and it is easy to find a thousand large ones with the same hash, which make
    sets and dicts of them slow.
    """
    return -(2**63) <= whole_number < 2**64


def field(state: Any, name: str) -> Any:
    """What a description holds under a name."""
    if not isinstance(state, dict) or name not in state:
        raise ModelFileError(f"the model's description has no {name!r}")
    return state[name]


def refuse(name: str, value: Any, wanted: str) -> ModelFileError:
    """The error of a field that is not as it must be."""
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}..."
    return ModelFileError(f"{name!r} of the model's description is {shown}: it must be {wanted}")


def refuse_lone_surrogates(state: Any) -> None:
    """Raise unless all text is valid Unicode: halves of surrogate pairs, as in JSON's "\\ud800", are not.

    pandas, in which regression models keep names and levels, cannot hold them.
    """
    try:
        json.dumps(state, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        raise ModelFileError(
            "a text of the model's description has half of a surrogate pair, which is no character"
        ) from None


def inner(state: Any, name: str) -> dict[str, Any]:
    """A description inside the description."""
    value = field(state, name)
    if not isinstance(value, dict):
        raise refuse(name, value, "an object")
    return value


def listed(state: Any, name: str, length: int | None = None) -> list[Any]:
    """A list, of `length` entries if that is given."""
    value = field(state, name)
    if not isinstance(value, list):
        raise refuse(name, value, "a list")
    if length is not None and len(value) != length:
        raise ModelFileError(
            f"{name!r} of the model's description has {len(value)} entries: it must have {length}"
        )
    return value


def flag(state: Any, name: str) -> bool:
    value = field(state, name)
    if type(value) is not bool:
        raise refuse(name, value, "true or false")
    return value


def text(state: Any, name: str) -> str:
    value = field(state, name)
    if not isinstance(value, str):
        raise refuse(name, value, "text")
    return value


def texts(state: Any, name: str, length: int | None = None) -> list[str]:
    """Different texts."""
    values = listed(state, name, length)
    if not set(map(type, values)) <= {str} or len(set(values)) != len(values):
        raise refuse(name, values, "a list of different texts")
    return values


def choice(state: Any, name: str, allowed: Collection[str]) -> str:
    value = field(state, name)
    if not isinstance(value, str) or value not in allowed:
        raise refuse(name, value, f"one of {', '.join(map(repr, allowed))}")
    return value


def whole(state: Any, name: str, low: int, high: int = LARGEST_COUNT) -> int:
    """A whole number in [low, high]."""
    value = field(state, name)
    if type(value) is not int or not low <= value <= high:
        raise refuse(name, value, f"a whole number from {low} to {high}")
    return value


def wholes(
    state: Any, name: str, low: int, high: int = LARGEST_COUNT, *, length: int | None = None
) -> list[int]:
    """Whole numbers in [low, high]."""
    values = listed(state, name, length)
    if not set(map(type, values)) <= {int}:
        raise refuse(name, values, "a list of whole numbers")
    if values and not low <= min(values) <= max(values) <= high:
        raise refuse(name, values, f"whole numbers from {low} to {high}")
    return values


def number(
    state: Any, name: str, low: float = -LARGEST_NUMBER, high: float = LARGEST_NUMBER
) -> float:
    """A number in [low, high]."""
    value = field(state, name)
    if type(value) not in _NUMBERS or not low <= value <= high:
        raise refuse(name, value, f"a number from {low:g} to {high:g}")
    return float(value)


def numbers(
    state: Any,
    name: str,
    length: int | None = None,
    *,
    low: float = -LARGEST_NUMBER,
    high: float = LARGEST_NUMBER,
    gaps: bool = False,
) -> np.ndarray:
    """Numbers in [low, high]; with `gaps` null stands for NaN, "inf" and "-inf" for the infinities."""
    values = listed(state, name, length)
    found = _finite(values, low, high)
    if found is None and gaps:
        found = _with_gaps(values, low, high)
    if found is None:
        raise refuse(name, values, f"a list of numbers from {low:g} to {high:g}")
    return found


def table(
    state: Any,
    name: str,
    shape: tuple[int, int],
    *,
    low: float = -LARGEST_NUMBER,
    high: float = LARGEST_NUMBER,
    gaps: bool = False,
) -> np.ndarray:
    """Lines of numbers; `gaps` as in `numbers`."""
    lines = listed(state, name, shape[0])
    if any(not isinstance(line, list) or len(line) != shape[1] for line in lines):
        raise refuse(name, lines, f"{shape[0]} lists of {shape[1]} numbers")
    every = {name: list(chain.from_iterable(lines))}
    return numbers(every, name, low=low, high=high, gaps=gaps).reshape(shape)


def gapless(values: Any) -> list[Any]:
    """Floats, or lines of them, as JSON holds them: what `numbers` and `table` read with `gaps`."""
    array = np.asarray(values if hasattr(values, "__len__") else list(values), dtype=float)
    if np.isfinite(array).all():
        return array.tolist()
    return [gapless(value) if array.ndim > 1 else _plain(float(value)) for value in array]


def optional(state: Any, name: str) -> bool:
    """Whether a field holds anything but null."""
    return field(state, name) is not None


def _finite(values: list[Any], low: float, high: float) -> np.ndarray | None:
    if not set(map(type, values)) <= _NUMBERS:
        return None
    try:
        found = np.array(values, dtype=float)
    except OverflowError:  # a whole number beyond all doubles
        return None
    inside = (found >= low) & (found <= high)
    return found if inside.all() else None


def _with_gaps(values: list[Any], low: float, high: float) -> np.ndarray | None:
    known = {None: math.nan, "inf": math.inf, "-inf": -math.inf}
    kinds = set(map(type, values))
    if not kinds <= {int, float, str, type(None)}:
        return None
    if str in kinds and not {v for v in values if isinstance(v, str)} <= known.keys():
        return None
    given = [v for v in values if v is not None and not isinstance(v, str)]
    if _finite(given, low, high) is None:
        return None
    return np.array([known[v] if v is None or isinstance(v, str) else v for v in values], float)


def _plain(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else str(value)
