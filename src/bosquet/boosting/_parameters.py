"""Every parameter of gradient boosting, checked in one place with one kind of message."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np


def _number(
    low: float, high: float = math.inf, *, open_low: bool = False, none: bool = False
) -> Any:
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


def _integer(low: int, high: int | None = None, *, none: bool = False) -> Any:
    span = f"an integer >= {low}" if high is None else f"an integer in [{low}, {high}]"

    def ok(value: Any) -> bool:
        if value is None:
            return none
        if not isinstance(value, Integral) or isinstance(value, bool | np.bool_):
            return False
        return int(value) >= low and (high is None or int(value) <= high)

    return ok, span + (" or None" if none else "")


def _choice(*allowed: Any) -> Any:
    def ok(value: Any) -> bool:
        return any(value is a or (type(value) is type(a) and value == a) for a in allowed)

    return ok, "one of " + ", ".join(repr(a) for a in allowed)


def _max_features() -> Any:
    share, count = _number(0, 1, open_low=True)[0], _integer(1)[0]

    def ok(value: Any) -> bool:
        if value is None or value in ("sqrt", "log2"):
            return True
        return count(value) if isinstance(value, Integral) else share(value)

    return ok, "a share in (0, 1], a number of features >= 1, 'sqrt', 'log2' or None"


def _rounds() -> Any:
    count = _integer(1)[0]
    return (lambda value: value == "auto" if isinstance(value, str) else count(value)), (
        "an integer >= 1 or 'auto'"
    )


def _boolean() -> Any:
    return (lambda value: isinstance(value, bool | np.bool_)), "True or False"


CHECKS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "learning_rate": _number(0, open_low=True),
    "n_estimators": _rounds(),
    "max_leaf_nodes": _integer(2, 65535, none=True),
    "max_depth": _integer(1, none=True),
    "min_samples_leaf": _integer(1),
    "min_child_weight": _number(0),
    "l2_regularization": _number(0),
    "min_split_gain": _number(0),
    "max_delta_step": _number(0),
    "max_bins": _integer(2, 255),
    "subsample": _number(0, 1, open_low=True),
    "sampling": _choice("uniform", "gradient"),
    "max_features": _max_features(),
    "max_features_per_level": _max_features(),
    "max_features_per_tree": _max_features(),
    "growth": _choice("best", "depth"),
    "step": _choice("newton", "gradient"),
    "cat_smooth": _number(0),
    "cat_l2": _number(0),
    "max_cat_threshold": _integer(1),
    "min_samples_category": _integer(0),
    "early_stopping": _choice("auto", True, False),
    "validation_fraction": _number(0, 1, open_low=True),
    "n_iter_no_change": _integer(1),
    "refit": _boolean(),
    "tol": _number(0),
    "warm_start": _boolean(),
    "verbose": _integer(0),
    "alpha": _number(0, 1, open_low=True),
    "tweedie_power": _number(1, 2, open_low=True),
}


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    for name, value in estimator.get_params(deep=False).items():
        if name == "verbose" and isinstance(value, bool):
            continue
        if name not in CHECKS:
            continue
        ok, wanted = CHECKS[name]
        if not ok(value):
            raise ValueError(f"{name}={value!r} is out of range: {name} must be {wanted}")
    for name in ("validation_fraction", "alpha"):
        if getattr(estimator, name, 0.5) == 1:
            raise ValueError(f"{name}=1 is out of range: {name} must be below 1")
    if getattr(estimator, "tweedie_power", 1.5) == 2:
        raise ValueError("tweedie_power=2 is out of range: use loss='gamma' for a power of 2")


def feature_share(value: Any, n_features: int) -> float:
    """The share of features that a `max_features` value stands for."""
    if value is None:
        return 1.0
    if value == "sqrt":
        return max(1, math.isqrt(n_features)) / n_features
    if value == "log2":
        return max(1, int(math.log2(n_features))) / n_features
    if isinstance(value, Integral):
        if int(value) > n_features:
            raise ValueError(f"max_features={value} is more than the {n_features} features of X")
        return int(value) / n_features
    return float(value)


def monotone_directions(constraint: Any, n_features: int, names: list[str] | None) -> list[int]:
    """-1, 0 or +1 for each feature; an empty list where nothing is constrained."""
    if constraint is None:
        return []
    if isinstance(constraint, dict):
        directions = [0] * n_features
        for key, value in constraint.items():
            directions[_feature_number(key, n_features, names, "monotonic_cst")] = value
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


def interaction_groups(
    constraint: Any, n_features: int, names: list[str] | None
) -> list[list[int]]:
    """Sets of features that may meet on a path; an empty list where all may.

    As in scikit-learn, features that no set names form a set of their own.
    """
    if constraint is None:
        return []
    if isinstance(constraint, str):
        if constraint == "no_interactions":
            return [[f] for f in range(n_features)]
        if constraint == "pairwise":
            return [[a, b] for a in range(n_features) for b in range(a, n_features)]
        raise ValueError(
            f"interaction_cst={constraint!r} must be a list of sets of features, 'pairwise',"
            " 'no_interactions' or None"
        )
    groups = [
        sorted({_feature_number(key, n_features, names, "interaction_cst") for key in group})
        for group in constraint
    ]
    rest = sorted(set(range(n_features)) - {f for group in groups for f in group})
    return [group for group in [*groups, rest] if group]


def _feature_number(key: Any, n_features: int, names: list[str] | None, parameter: str) -> int:
    if isinstance(key, str):
        if names is None or key not in names:
            raise ValueError(f"{parameter} names the feature {key!r}, which X does not have")
        return names.index(key)
    if not isinstance(key, Integral) or not 0 <= int(key) < n_features:
        raise ValueError(f"{parameter} names the feature {key!r}, but X has {n_features} features")
    return int(key)
