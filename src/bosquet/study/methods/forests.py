"""Bagged trees, random forests and extremely randomised trees, tuned by out-of-bag predictions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

from bosquet.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.record import Task

TREES = 100
ALL: frozenset[Task] = frozenset({"binary", "multiclass", "regression"})


def _make_forest(
    is_classification: bool,
    features: int | None,
    min_samples_leaf: int,
    leaves: int | None,
    trees: int,
    seed: int,
) -> Any:
    kind: Any = RandomForestClassifier if is_classification else RandomForestRegressor
    return kind(
        trees,
        max_features=features,
        min_samples_leaf=min_samples_leaf,
        max_leaf_nodes=leaves,
        oob_score=True,
        random_state=seed,
    )


def _make_extra_trees(
    is_classification: bool, features: int, min_samples_leaf: int, trees: int, seed: int
) -> Any:
    kind: Any = ExtraTreesClassifier if is_classification else ExtraTreesRegressor
    return kind(
        trees,
        max_features=features,
        min_samples_leaf=min_samples_leaf,
        split="histogram",
        random_state=seed,
    )


def _bagging_candidates(shape: TableShape) -> Sequence[Candidate]:
    """Return bagged trees of several sizes, in which every node may use all columns."""
    is_classification = shape.task != "regression"
    sizes = [d for d in (8, 32, 128, 512) if d <= shape.n_rows / 4]
    candidates = [
        Candidate(
            complexity=d,
            label=f"{d} leaves",
            setting={"n_estimators": TREES, "max_leaf_nodes": d},
            make=partial(_make_forest, is_classification, None, 1, d, TREES),
        )
        for d in sizes
    ]
    full = max(shape.n_rows, 2)
    setting_of_full_trees = {"n_estimators": TREES, "max_leaf_nodes": None}
    make = partial(_make_forest, is_classification, None, 1, None, TREES)
    return [*candidates, Candidate(full, "full trees", setting_of_full_trees, make)]


def columns_drawn(columns: int, is_classification: bool) -> list[int]:
    """Return numbers of columns to draw per node: √p (classes) or p/3 (numbers), half of it and twice it."""
    usual = math.sqrt(columns) if is_classification else columns / 3
    numbers = {max(1, round(usual / 2)), max(1, round(usual)), min(columns, round(2 * usual) or 1)}
    return sorted(numbers)


def forest_label(columns_per_node: int, columns: int, min_samples_leaf: int) -> str:
    """Return the label of a candidate: the columns drawn per node and the minimum number of rows per leaf."""
    of = "1 column" if columns == 1 else f"{columns} columns"
    rows = "1 row" if min_samples_leaf == 1 else f"{min_samples_leaf} rows"
    return f"{columns_per_node} of {of}, at least {rows} per leaf"


def _forest_candidates(shape: TableShape) -> Sequence[Candidate]:
    is_classification = shape.task != "regression"
    leaves = (10, 3, 1) if shape.n_rows >= 1000 else (5, 1)
    return [
        Candidate(
            complexity=q,
            label=forest_label(q, shape.n_numbers + shape.n_categories, min_samples_leaf),
            setting={
                "n_estimators": TREES,
                "max_features": q,
                "min_samples_leaf": min_samples_leaf,
            },
            make=partial(_make_forest, is_classification, q, min_samples_leaf, None, TREES),
        )
        for q in columns_drawn(shape.n_numbers + shape.n_categories, is_classification)
        for min_samples_leaf in leaves
    ]


def _extra_trees_candidates(shape: TableShape) -> Sequence[Candidate]:
    is_classification = shape.task != "regression"
    columns = shape.n_numbers + shape.n_categories
    usual = max(1, round(math.sqrt(columns)))
    return [
        Candidate(
            complexity=q,
            label=forest_label(q, columns, min_samples_leaf),
            setting={
                "n_estimators": TREES,
                "max_features": q,
                "min_samples_leaf": min_samples_leaf,
            },
            make=partial(_make_extra_trees, is_classification, q, min_samples_leaf, TREES),
        )
        for q in sorted({usual, max(1, columns // 2), columns})
        for min_samples_leaf in ((5,) if shape.n_rows >= 1000 else (5, 1))
    ]


def _details(fitted: Any) -> dict[str, Any]:
    details: dict[str, Any] = {"trees": int(fitted.n_estimators_)}
    if hasattr(fitted, "oob_error_"):
        details["out-of-bag error"] = float(fitted.oob_error_)
        details["out-of-bag error of one tree"] = float(fitted.oob_tree_error_)
    return details


METHODS = [
    Method(
        name="bagging",
        title="Bagged trees",
        tasks=ALL,
        parameter="leaves per tree",
        log_axis=True,
        candidates=_bagging_candidates,
        properties={
            "readable": ("no", "a hundred trees"),
            "score_or_interval": ("yes", "votes, out-of-bag error, jackknife standard errors"),
            "consistent": ("partly", "if its trees are, or if bags are small compared with n"),
            "minimax": ("no", "not known for CART"),
            "non_asymptotic": ("partly", "squared error at most the mean error of its trees"),
            "parameter_free": ("partly", "only the size of the trees"),
            "online": ("no", "bags are drawn from all rows"),
        },
        scheme="oob",
        rows_affordable=FitCost(
            0.03,
            rows_exponent=1.1,
            columns_exponent=0.9,
            classes_exponent=0.3,
            fixed=0.02,
            encoded=False,
        ),
        details=_details,
    ),
    Method(
        name="random-forest",
        title="Random forest",
        tasks=ALL,
        parameter="columns drawn per node",
        log_axis=False,
        candidates=_forest_candidates,
        properties={
            "readable": ("no", "a hundred trees; importances help"),
            "score_or_interval": ("yes", "votes, quantiles, jackknife standard errors"),
            "consistent": ("partly", "proved for subsampled trees and additive targets"),
            "minimax": ("no", "proved for purely random trees only"),
            "non_asymptotic": ("partly", "error at most ρ(1 - s²)/s² (Breiman)"),
            "parameter_free": ("partly", "the defaults usually work"),
            "online": ("no", "bags are drawn from all rows"),
        },
        scheme="oob",
        rows_affordable=FitCost(
            0.015,
            rows_exponent=1.1,
            columns_exponent=0.5,
            classes_exponent=0.3,
            fixed=0.01,
            encoded=False,
        ),
        details=_details,
    ),
    Method(
        name="extra-trees",
        title="Extremely randomised trees",
        tasks=ALL,
        parameter="columns drawn per node",
        log_axis=False,
        candidates=_extra_trees_candidates,
        properties={
            "readable": ("no", "a hundred trees"),
            "score_or_interval": ("yes", "votes; jackknife standard errors with bootstrap samples"),
            "consistent": ("partly", "proved if splits ignore the target"),
            "minimax": ("no", "proved for purely random trees only"),
            "non_asymptotic": ("partly", "error at most ρ(1 - s²)/s² (Breiman)"),
            "parameter_free": ("partly", "the defaults usually work"),
            "online": ("no", "trees are grown on all rows"),
        },
        rows_affordable=FitCost(
            0.025,
            rows_exponent=1.1,
            columns_exponent=0.5,
            classes_exponent=0.3,
            fixed=0.02,
            encoded=False,
        ),
        details=_details,
    ),
]
