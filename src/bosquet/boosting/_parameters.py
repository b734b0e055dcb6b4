"""Every parameter of gradient boosting, checked in one place with one kind of message."""

from __future__ import annotations

from typing import Any

from bosquet._parameters import (
    Check,
    boolean,
    choice,
    feature_number,
    integer,
    monotone_directions,
    number,
    number_of_features,
    or_auto,
)
from bosquet._parameters import check_parameters as check_against
from bosquet._parameters import feature_count as count_features

__all__ = ["check_parameters", "feature_share", "interaction_groups", "monotone_directions"]


CHECKS: dict[str, Check] = {
    "learning_rate": number(0, open_low=True),
    "n_estimators": or_auto(integer(1)),
    "n_runs": integer(1),
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
    "max_features": number_of_features(),
    "max_features_per_level": number_of_features(),
    "max_features_per_tree": number_of_features(),
    "growth": choice("best", "depth"),
    "step": choice("newton", "gradient"),
    "cat_smooth": number(0),
    "cat_l2": number(0),
    "max_cat_threshold": integer(1),
    "min_samples_category": integer(0),
    "early_stopping": choice("auto", True, False),
    "validation_fraction": number(0, 1, open_low=True, open_high=True),
    "n_iter_no_change": integer(1),
    "refit": boolean(),
    "tol": number(0),
    "warm_start": boolean(),
    "verbose": integer(0),
    "alpha": number(0, 1, open_low=True, open_high=True),
    "tweedie_power": number(1, 2, open_low=True),
}


def check_parameters(estimator: Any) -> None:
    """Raise a ValueError that names the first parameter out of its range."""
    check_against(estimator, CHECKS)
    if getattr(estimator, "tweedie_power", 1.5) == 2:
        raise ValueError("tweedie_power=2 is out of range: use loss='gamma' for a power of 2")
    if estimator.n_runs > 1:
        _check_runs(estimator)


def check_continuing(estimator: Any) -> None:
    """Refuse a warm start that has nothing to add, or that cannot go on."""
    terms, asked = estimator._terms, estimator.n_estimators
    if asked != "auto" and asked < terms.n_rounds:
        raise ValueError(
            f"n_estimators={asked} is below the {terms.n_rounds} rounds that the model has; with"
            " warm_start=True it can only grow"
        )
    if getattr(terms, "runs", 1) > 1:
        raise ValueError(
            f"the model is the mean of {terms.runs} runs, which warm_start=True cannot go on with; fit it"
            " anew"
        )


def _check_runs(estimator: Any) -> None:
    """Refuse runs that cannot be averaged."""
    several = f"n_runs={estimator.n_runs}"
    if estimator.estimator is not None:
        raise ValueError(
            f"{several} averages native trees; put a model with estimator=... into a BaggingRegressor or a"
            " BaggingClassifier with bootstrap=False"
        )
    if estimator.warm_start:
        raise ValueError(
            f"{several} cannot go on with what was fitted: set warm_start=False, or n_runs=1"
        )


def feature_share(value: Any, n_features: int) -> float:
    """The share of features that a `max_features` value stands for."""
    if isinstance(value, float):
        return value
    return count_features(value, n_features) / n_features


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
        sorted({feature_number(key, n_features, names, "interaction_cst") for key in group})
        for group in constraint
    ]
    rest = sorted(set(range(n_features)) - {f for group in groups for f in group})
    return [group for group in [*groups, rest] if group]
