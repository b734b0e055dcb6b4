"""Kinds of parameters, and the one message for a value out of its range."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

# Whether a value is of the kind, and the words for what it must be.
Kind = tuple[Callable[[Any], bool], str]


def number(
    low: float, high: float = math.inf, *, open_low: bool = False, none: bool = False
) -> Kind:
    bracket = "(" if open_low else "["
    upper = "]" if math.isfinite(high) else ")"
    wanted = f"a number in {bracket}{low:g}, {high:g}{upper}" + (" or None" if none else "")

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return False
        value = float(value)
        return (value > low if open_low else value >= low) and value <= high and value != math.inf

    return ok, wanted


def integer(low: int, high: int | None = None, *, none: bool = False) -> Kind:
    span = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return ok, span + (" or None" if none else "")


def integer_or_auto(low: int) -> Kind:
    count = integer(low)[0]
    return (lambda value: value == "auto" if isinstance(value, str) else count(value)), (
        f"an integer >= {low} or 'auto'"
    )


def choice(*allowed: Any) -> Kind:
    def ok(value: Any) -> bool:
        return any(value is a or (type(value) is type(a) and value == a) for a in allowed)

    return ok, "one of " + ", ".join(repr(a) for a in allowed)


def boolean() -> Kind:
    return (lambda value: isinstance(value, bool | np.bool_)), "True or False"


def share_or_count(of: str, *, words: tuple[str, ...] = (), none: bool = False) -> Kind:
    """A share in (0, 1], a number >= 1, or one of the words."""
    share, count = number(0, 1, open_low=True)[0], integer(1)[0]

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if isinstance(value, str):
            return value in words
        return count(value) if isinstance(value, Integral) else share(value)

    others = [*(repr(word) for word in words), *(["None"] if none else [])]
    wanted = ["a share in (0, 1]", f"a number of {of} >= 1", *others]
    return ok, ", ".join(wanted[:-1]) + " or " + wanted[-1]


def check_kinds(estimator: Any, kinds: Mapping[str, Kind]) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    for name, value in estimator.get_params(deep=False).items():
        if name not in kinds or (name == "verbose" and isinstance(value, bool)):
            continue
        ok, wanted = kinds[name]
        if not ok(value):
            raise ValueError(f"{name}={value!r} is out of range: {name} must be {wanted}")
