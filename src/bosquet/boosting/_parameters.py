"""Every parameter of gradient boosting, checked in one place with one kind of message."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

import numpy as np

from bosquet._parameters import (
    Kind,
    boolean,
    check_kinds,
    choice,
    integer,
    integer_or_auto,
    number,
    share_or_count,
)

_MAX_FEATURES = share_or_count("features", words=("sqrt", "log2"), none=True)

CHECKS: dict[str, Kind] = {
    "learning_rate": number(0, open_low=True),
    "n_estimators": integer_or_auto(1),
    "max_leaf_nodes": integer(2, 65535, none=True),
    "max_depth": integer(1, none=True),
    "min_samples_leaf": integer(1),
    "min_child_weight": number(0),
    "l2_regularization": number(0),
    "min_split_gain": number(0),
    "max_delta_step": number(0),
    "max_bins": integer(2, 255),
    "subsample": number(0, 1, open_low=True),
    "sampling": choice("uniform", "gradient"),
    "max_features": _MAX_FEATURES,
    "max_features_per_level": _MAX_FEATURES,
    "max_features_per_tree": _MAX_FEATURES,
    "growth": choice("best", "depth"),
    "step": choice("newton", "gradient"),
    "cat_smooth": number(0),
    "cat_l2": number(0),
    "max_cat_threshold": integer(1),
    "min_samples_category": integer(0),
    "early_stopping": choice("auto", True, False),
    "validation_fraction": number(0, 1, open_low=True),
    "n_iter_no_change": integer(1),
    "refit": boolean(),
    "tol": number(0),
    "warm_start": boolean(),
    "verbose": integer(0),
    "alpha": number(0, 1, open_low=True),
    "tweedie_power": number(1, 2, open_low=True),
}


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    check_kinds(estimator, CHECKS)
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
