"""Monotone constraints hold at every value of the constrained columns, for any values of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from drawn_models import (
    COUNT_LOSSES,
    REGRESSION_LOSSES,
    Estimators,
    boosted_classes,
    boosted_numbers,
    classification_tree,
    fitted,
    forest,
    regression_tree,
)
from drawn_tables import Column, Table, Weights, on_drawn_examples, tables, weights
from hypothesis import strategies as st
from sklearn.base import clone

import bosquet

# Unsupported combinations raise an error; see the last test.
KEPT = {"missing": st.just("direction")}
BY_MEANS = {**KEPT, "criterion": st.just("squared_error")}
CASES: dict[str, tuple[Estimators, str]] = {
    "gradient boosting, numbers": (
        boosted_numbers(REGRESSION_LOSSES, n_runs=st.sampled_from([1, 2])),
        "numbers",
    ),
    "gradient boosting, counts": (boosted_numbers(COUNT_LOSSES), "counts"),
    "gradient boosting, classes": (boosted_classes(), "two"),
    "tree, numbers": (regression_tree(**BY_MEANS), "numbers"),
    "tree, classes": (classification_tree(**KEPT), "two"),
    "random forest, numbers": (forest(bosquet.RandomForestRegressor), "numbers"),
    "random forest, classes": (forest(bosquet.RandomForestClassifier), "two"),
    "extra trees, numbers": (forest(bosquet.ExtraTreesRegressor), "numbers"),
}


def dense_grid(values: np.ndarray) -> np.ndarray:
    """Return all training values, numbers between and beyond them, or all levels of ordered categories."""
    seen = np.unique(values[~np.isnan(values)])
    if seen.size == 0:
        return np.array([0.0, 1.0])
    return np.unique(
        np.concatenate([seen, (seen[1:] + seen[:-1]) / 2, seen[[0]] - 1, seen[[-1]] + 1])
    )


def score(model: Any, X: Any) -> np.ndarray:
    """Return the monotone prediction: for two classes the score of the second."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


def slices(table: Table, column: int, random: np.random.Generator) -> tuple[np.ndarray, int]:
    """Return rows that differ in one column only: each base row with each value of the grid."""
    cells = table.cells
    if table.columns[column].kind == "ordered":
        grid = np.arange(5.0)
    else:
        grid = dense_grid(cells[:, column])
        grid = np.unique(grid.astype(table.dtype(column)).astype(np.float64))
    base = cells[random.integers(0, table.rows, size=6)]
    for other in range(
        cells.shape[1]
    ):  # combinations that are not in the training rows, with missing values
        base[:3, other] = random.permutation(cells[:, other])[:3]
        if table.may_be_missing(other):
            base[random.random(6) < 0.3, other] = np.nan
    rows = np.repeat(base, grid.size, axis=0)
    rows[:, column] = np.tile(grid, len(base))
    return rows, grid.size


@pytest.mark.parametrize("name", CASES)
@on_drawn_examples(40, data=st.data(), table=tables((12, 120), (1, 4)), weight=weights())
def test_predictions_follow_the_direction_of_each_constraint(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    members, target = CASES[name]
    model = data.draw(members)
    free = [column.kind == "category" for column in table.columns]
    directions = [0 if f else data.draw(st.sampled_from([-1, 0, 1, 1])) for f in free]
    model.set_params(monotonic_cst=directions)
    model = fitted(model, table.X, table.target(target), weight.or_none(table.rows))
    random = np.random.default_rng(table.seed)
    for column, direction in enumerate(directions):
        if direction:
            rows, length = slices(table, column, random)
            scores = score(model, table.filled(rows)).reshape(-1, length)
            steps = direction * np.diff(scores, axis=1)
            assert (steps >= 0).all(), f"column {column}: a step of {steps.min()}"


@pytest.mark.parametrize(
    ("model", "target", "message"),
    [
        (bosquet.DecisionTreeRegressor(criterion="absolute_error"), "numbers", "absolute_error"),
        (bosquet.RandomForestRegressor(criterion="absolute_error"), "numbers", "absolute_error"),
        (bosquet.DecisionTreeRegressor(missing="surrogate"), "numbers", "surrogate"),
        (bosquet.DecisionTreeClassifier(smoothing=1.0), "two", "smoothing"),
        (bosquet.DecisionTreeClassifier(), "three", "more than two classes"),
        (bosquet.RandomForestClassifier(), "three", "more than two classes"),
        (bosquet.GradientBoostingClassifier(), "three", "more than two classes"),
        (bosquet.DecisionTreeRegressor(), "targets", "several targets"),
        (bosquet.ExtraTreesRegressor(), "targets", "several targets"),
    ],
)
def test_unsupported_monotonic_constraints_raise(model: Any, target: str, message: str) -> None:
    table = Table(30, (Column("smooth"), Column("smooth")))
    y = np.column_stack([table.numbers] * 2) if target == "targets" else table.target(target)
    model = clone(model).set_params(monotonic_cst=[0, 1])
    with pytest.raises(ValueError, match=f"monotonic_cst is not supported.*{message}"):
        model.fit(table.X, y)
    model.set_params(monotonic_cst=[0, 0]).fit(table.X, y)


@pytest.mark.parametrize(
    "model", [bosquet.DecisionTreeRegressor(), bosquet.GradientBoostingRegressor()]
)
def test_a_constraint_on_a_category_is_rejected_by_its_name(model: Any) -> None:
    frame = pd.DataFrame({"size": np.arange(30.0), "colour": ["red", "blue", "green"] * 10})
    frame["colour"] = frame["colour"].astype("category")
    y = np.arange(30.0)
    model = clone(model).set_params(monotonic_cst={"colour": 1})
    with pytest.raises(
        ValueError, match="constrains column 'colour', which is categorical and has no"
    ):
        model.fit(frame, y)
    model.set_params(monotonic_cst={"size": 2})
    with pytest.raises(
        ValueError, match="monotonic_cst of column 'size' is 2; it must be -1, 0 or 1"
    ):
        model.fit(frame, y)
