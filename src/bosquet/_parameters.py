"""Checks of parameters, with one kind of message: what was given, and what it must be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np


@dataclass(frozen=True, repr=False)
class NotStored:
    """What stands for a parameter that a model file could not hold, such as a function.

    A model that was loaded predicts without it. Fitting it again raises an error that names the parameter,
    until it is set.
    """

    kind: str  # the type that it was of

    def __repr__(self) -> str:
        return f"<{self.kind}, not stored in the model file>"


# (is it all right?, what it must be)
Check = tuple[Callable[[Any], bool], str]


def number(
    low: float,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    none: bool = False,
) -> Check:
    bracket = "(" if open_low else "["
    upper = "]" if math.isfinite(high) and not open_high else ")"
    wanted = f"a number in {bracket}{low:g}, {high:g}{upper}" + (" or None" if none else "")

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return False
        value = float(value)
        below = value < high if open_high else value <= high
        return (value > low if open_low else value >= low) and below and value != math.inf

    return ok, wanted


def integer(low: int, high: int | None = None, *, none: bool = False) -> Check:
    span = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return ok, span + (" or None" if none else "")


def choice(*allowed: Any) -> Check:
    def ok(value: Any) -> bool:
        return any(value is a or (type(value) is type(a) and value == a) for a in allowed)

    return ok, "one of " + ", ".join(repr(a) for a in allowed)


def boolean() -> Check:
    return (lambda value: isinstance(value, bool | np.bool_)), "True or False"


def count_or_share(low: int, what: str, *, none: bool = False) -> Check:
    """An integer from `low` on, or a float in (0, 1]: a share of `what`."""
    share, count = number(0, 1, open_low=True)[0], integer(low)[0]

    def ok(value: Any) -> bool:
        if value is None:
            return none
        return count(value) if isinstance(value, Integral) else share(value)

    return ok, f"an integer >= {low}, or a share of the {what} in (0, 1]" + (
        " or None" if none else ""
    )


def number_of_features() -> Check:
    inner = count_or_share(1, "features", none=True)[0]
    return (
        (lambda value: value in ("sqrt", "log2") if isinstance(value, str) else inner(value)),
        "a share in (0, 1], a number of features >= 1, 'sqrt', 'log2' or None",
    )


def or_auto(check: Check) -> Check:
    """The same, or "auto"."""
    ok, wanted = check
    return (
        (lambda value: value == "auto" if isinstance(value, str) else ok(value)),
        f"{wanted} or 'auto'",
    )


def number_of_jobs() -> Check:
    inner = integer(-(2**31), 2**31 - 1, none=True)[0]
    return (lambda value: inner(value) and value != 0), "an integer other than 0, or None"


def callables() -> Check:
    def ok(value: Any) -> bool:
        return value is None or (isinstance(value, list | tuple) and all(map(callable, value)))

    return ok, "a list of functions, or None"


# Parameters that mean the same wherever they occur.
EVERYWHERE: dict[str, Check] = {"n_jobs": number_of_jobs(), "callbacks": callables()}


def check_parameters(estimator: Any, checks: Mapping[str, Check]) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    checks = {**EVERYWHERE, **checks}
    unknown = getattr(estimator, "_unknown_parameters", None)
    if unknown:
        raise ValueError(
            f"the model was written by a newer version of Bosquet with {', '.join(unknown)}, which this"
            " version does not have: fitting it again would not give the same model; upgrade, or fit a"
            " clone(model)"
        )
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, NotStored):
            raise ValueError(
                f"{name}={value!r}: the model was loaded from a file, which cannot hold a {value.kind}; set"
                f" it with set_params({name}=...) before fitting again"
            )
        if name == "verbose" and isinstance(value, bool):
            continue
        if name in checks:
            check_value(name, value, checks[name])


def check_value(name: str, value: Any, check: Check) -> None:
    """Raise a ValueError that names the argument unless its value is all right."""
    ok, wanted = check
    if not ok(value):
        raise ValueError(f"{name}={value!r} is out of range: {name} must be {wanted}")


def feature_count(value: Any, n_features: int) -> int:
    """The number of features that a `max_features` value stands for."""
    if value is None:
        return n_features
    if value == "sqrt":
        return max(1, math.isqrt(n_features))
    if value == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(value, Integral):
        if int(value) > n_features:
            raise ValueError(f"max_features={value} is more than the {n_features} features of X")
        return int(value)
    return max(1, int(value * n_features))


def monotone_directions(constraint: Any, n_features: int, names: list[str] | None) -> list[int]:
    """-1, 0 or +1 for each feature; an empty list where nothing is constrained."""
    if constraint is None:
        return []
    if isinstance(constraint, dict):
        directions = [0] * n_features
        for key, value in constraint.items():
            directions[feature_number(key, n_features, names, "monotonic_cst")] = value
    else:
        directions = list(np.asarray(constraint).ravel())
        if len(directions) != n_features:
            raise ValueError(
                f"monotonic_cst has {len(directions)} entries, but X has {n_features} features"
            )
    for feature, value in enumerate(directions):
        if value not in (-1, 0, 1):
            raise ValueError(
                f"monotonic_cst of feature {feature} is {value!r}; it must be -1, 0 or 1"
            )
    return [int(v) for v in directions] if any(directions) else []


def feature_number(key: Any, n_features: int, names: list[str] | None, parameter: str) -> int:
    """The place of a feature that a parameter names by place or by name."""
    if isinstance(key, str):
        if names is None or key not in names:
            raise ValueError(f"{parameter} names the feature {key!r}, which X does not have")
        return names.index(key)
    if not isinstance(key, Integral) or not 0 <= int(key) < n_features:
        raise ValueError(f"{parameter} names the feature {key!r}, but X has {n_features} features")
    return int(key)
