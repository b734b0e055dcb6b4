"""Checks of parameters, and their error message: the value that was given and the values accepted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from bosquet._types import Estimator, MonotoneConstraint


@dataclass(frozen=True, repr=False)
class NotStored:
    """Placeholder for a parameter that a model file cannot store, such as a function.

    A loaded model predicts without it. Fitting the model again raises an error that names the parameter,
    until the parameter is set.
    """

    kind: str  # name of the type of the original value

    def __repr__(self) -> str:
        return f"<{self.kind}, not stored in the model file>"


# Counts that are passed to the core have 32 bits there.
MAX_COUNT = 2**31 - 1


class Check(NamedTuple):
    """A check of a parameter: whether a value is accepted, and a description of the accepted values."""

    accepts: Callable[[object], bool]
    accepted: str


def number(
    low: float,
    high: float = math.inf,
    *,
    open_low: bool = False,
    open_high: bool = False,
    none: bool = False,
) -> Check:
    """Accept a real number in an interval, and None if `none`."""
    bracket = "(" if open_low else "["
    upper = "]" if math.isfinite(high) and not open_high else ")"
    accepted = f"a number in {bracket}{low:g}, {high:g}{upper}" + (" or None" if none else "")

    def accepts(value: object) -> bool:
        if value is None:
            return none
        if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
            return False
        value = float(value)
        below = value < high if open_high else value <= high
        return (value > low if open_low else value >= low) and below and value != math.inf

    return Check(accepts, accepted)


def integer(low: int, high: int | None = None, *, none: bool = False) -> Check:
    """Accept an integer in [low, high], and None if `none`."""
    span = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"

    def accepts(value: object) -> bool:
        if value is None:
            return none
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return Check(accepts, span + (" or None" if none else ""))


def choice(*allowed: object) -> Check:
    """Accept one of the given values."""

    def accepts(value: object) -> bool:
        # The type of a string may be np.str_, for example in a grid of parameters.
        comparable = [a for a in allowed if type(value) is type(a) or isinstance(value, str)]
        return any(value is a for a in allowed) or any(value == a for a in comparable)

    return Check(accepts, "one of " + ", ".join(repr(a) for a in allowed))


def boolean() -> Check:
    """Accept True or False."""
    return Check(lambda value: isinstance(value, bool | np.bool_), "True or False")


def count_or_fraction(low: int, what: str, *, none: bool = False) -> Check:
    """Accept an integer in [low, MAX_COUNT], or a float in (0, 1]: a fraction of `what`."""
    fraction, count = number(0, 1, open_low=True), integer(low, MAX_COUNT)

    def accepts(value: object) -> bool:
        if value is None:
            return none
        return (count if isinstance(value, Integral) else fraction).accepts(value)

    accepted = f"an integer in [{low}, {MAX_COUNT}], or a fraction of the {what} in (0, 1]"
    return Check(accepts, accepted + (" or None" if none else ""))


def number_of_features() -> Check:
    """Accept the values of `max_features`."""
    check = or_text(count_or_fraction(1, "features", none=True), "sqrt", "log2")
    return check._replace(
        accepted="a fraction in (0, 1], a number of features >= 1, 'sqrt', 'log2' or None"
    )


def folds() -> Check:
    """Accept the values of `cv`."""
    count = integer(2)
    return Check(
        lambda value: count.accepts(value) or is_splitter(value),
        "an integer >= 2, a splitter of scikit-learn or a list of (training rows, validation rows)",
    )


def is_splitter(value: object) -> bool:
    """Whether a value of `cv` defines the folds itself."""
    return isinstance(value, list | tuple) or (
        hasattr(value, "split") and not isinstance(value, str)
    )


def or_text(check: Check, *texts: str) -> Check:
    """Accept what `check` accepts, and the given texts."""
    return Check(
        lambda value: (isinstance(value, str) and value in texts) or check.accepts(value),
        " or ".join([check.accepted, *map(repr, texts)]),
    )


def or_auto(check: Check) -> Check:
    """Accept what `check` accepts, and "auto"."""
    return or_text(check, "auto")


def number_of_jobs() -> Check:
    """Accept the values of `n_jobs`."""
    inner = integer(-(2**31), 2**31 - 1, none=True)
    return Check(
        lambda value: inner.accepts(value) and value != 0, "an integer other than 0, or None"
    )


def callables() -> Check:
    """Accept a list of functions, or None."""

    def accepts(value: object) -> bool:
        return value is None or (isinstance(value, list | tuple) and all(map(callable, value)))

    return Check(accepts, "a list of functions, or None")


# Checks of parameters that mean the same in all estimators.
COMMON_CHECKS: dict[str, Check] = {"n_jobs": number_of_jobs(), "callbacks": callables()}


def check_parameters(estimator: Estimator, checks: Mapping[str, Check]) -> None:
    """Raise a ValueError that names the first parameter with an invalid value."""
    checks = {**COMMON_CHECKS, **checks}
    unknown = getattr(estimator, "_unknown_parameters", None)
    if unknown:
        raise ValueError(
            f"the model file was written by a newer version of Bosquet and sets {', '.join(unknown)}, which"
            " this version does not have. Fitting again would give a different model: upgrade Bosquet, or fit"
            " clone(model)"
        )
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, NotStored):
            raise ValueError(
                f"{name}={value!r}: the model was loaded from a file, which cannot store a {value.kind}; call"
                f" set_params({name}=...) before fitting again"
            )
        if name == "verbose" and isinstance(value, bool):
            continue
        if name in checks:
            check_value(name, value, checks[name])


def check_estimator(
    estimator: object,
    parameter: str = "estimator",
    *,
    name: str | None = None,
    none: bool = False,
) -> None:
    """Raise a TypeError unless the value of a parameter is an estimator, or None if `none`.

    `name` is the name of the estimator if the parameter is a list of named estimators.
    """
    if none and estimator is None:
        return
    if isinstance(estimator, type) or not all(
        hasattr(estimator, method) for method in ("fit", "predict", "get_params")
    ):
        problem = f"{parameter}={estimator!r} is"
        if name is not None:
            problem = f"{parameter} contains {estimator!r} under the name {name!r}, which is"
        raise TypeError(
            f"{problem} not an estimator; pass an instance (not a class) with fit, predict and get_params"
        )


def check_value(name: str, value: object, check: Check) -> None:
    """Raise a ValueError that names the argument and its value unless the value is accepted."""
    if not check.accepts(value):
        value = value.item() if isinstance(value, np.generic) else value
        raise ValueError(f"{name}={value!r} is not valid: {name} must be {check.accepted}")


def resolve_max_features(value: float | str | None, n_features: int) -> int:
    """Return the number of features for a value of `max_features`."""
    if value is None:
        return n_features
    if value == "sqrt":
        return max(1, math.isqrt(n_features))
    if value == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(value, Integral):
        if int(value) > n_features:
            raise ValueError(
                f"max_features={value} exceeds the number of features of X ({n_features}); pass a value <="
                " n_features or a fraction in (0, 1]"
            )
        return int(value)
    return max(1, int(value * n_features))


def monotone_directions(
    constraint: MonotoneConstraint, n_features: int, names: list[str] | None
) -> list[int]:
    """Return -1, 0 or +1 for each feature, or an empty list if no feature is constrained."""
    if constraint is None:
        return []
    if isinstance(constraint, dict):
        directions = [0] * n_features
        for key, value in constraint.items():
            directions[feature_index(key, n_features, names, "monotonic_cst")] = value
    else:
        directions = list(np.asarray(constraint).ravel())
        if len(directions) != n_features:
            raise ValueError(
                f"monotonic_cst has {len(directions)} entries, but X has {n_features} features; pass one"
                " entry per feature, or a dict of the constrained features"
            )
    for feature, value in enumerate(directions):
        if value not in (-1, 0, 1):
            where = f"feature {feature}" if names is None else f"column {names[feature]!r}"
            raise ValueError(f"monotonic_cst of {where} is {value!r}; it must be -1, 0 or 1")
    return [int(v) for v in directions] if any(directions) else []


def feature_index(key: object, n_features: int, names: list[str] | None, parameter: str) -> int:
    """Return the index of a feature that a parameter gives by index or by name."""
    if isinstance(key, str):
        if names is None or key not in names:
            raise ValueError(
                f"{parameter} contains the feature name {key!r}, but X has no column of this name; pass"
                " the name or the index of a column"
            )
        return names.index(key)
    if not isinstance(key, Integral) or not 0 <= int(key) < n_features:
        raise ValueError(
            f"{parameter} contains the feature {key!r}, but X has {n_features} features; pass an index in"
            f" [0, {n_features - 1}] or a column name"
        )
    return int(key)
