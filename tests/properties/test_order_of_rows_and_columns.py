"""The order of rows and columns does not change the model, except for the last digits and ties.

The order of rows does not change the bits of gradient boosting at all: its sums are sums of integers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_models import (
    Estimators,
    adaboost,
    boosted_classes,
    boosted_numbers,
    classification_tree,
    complete_tables,
    fitted,
    forest,
    outputs,
    regression_tree,
)
from drawn_tables import Table, Weights, columns_of, on_drawn_examples, rows_of, tables, weights
from hypothesis import assume
from hypothesis import strategies as st
from same_trees import same_but_for_ties

import bosquet
from bosquet import glm

# Random draws of rows depend on row numbers, draws of features on column numbers.
NO_DRAWS = {"subsample": st.just(1.0), "max_leaf_nodes": st.none()}
ALL_FEATURES = {"max_features": st.none()}
SEQUENTIAL: dict[str, tuple[Any, dict[str, Any], str]] = {
    "gradient boosting, numbers": (boosted_numbers, {}, "numbers"),
    "gradient boosting, counts": (boosted_numbers, {"losses": ("poisson", "gamma")}, "counts"),
    "gradient boosting, two classes": (boosted_classes, {}, "two"),
    "gradient boosting, three classes": (boosted_classes, {"losses": ("log_loss",)}, "three"),
}
# Above 200,000 rows the bins come from a sample of the rows; these tables are smaller.


def boosted(name: str, **fixed: Any) -> tuple[Estimators, str]:
    make, options, target = SEQUENTIAL[name]
    return make(**options, **NO_DRAWS, **fixed), target


def assert_close_unless_tied(model: Any, other: Any, X: Any, X_other: Any, places: Any) -> None:
    """Check that splits are equal up to a tie, and without a tie predictions up to rounding."""
    if same_but_for_ties(model, other, places):
        mine, theirs = outputs(model, X), outputs(other, X_other)
        for method, values in mine.items():
            if values.dtype.kind == "f":
                scale = max(1.0, np.abs(values).max())
                np.testing.assert_allclose(theirs[method], values, rtol=1e-5, atol=1e-5 * scale)


# ------------------------------------------------------------------------------------------- rows
@pytest.mark.parametrize("name", SEQUENTIAL)
@on_drawn_examples(20, data=st.data(), table=tables(), weight=weights())
def test_the_bits_of_boosting_do_not_depend_on_the_order_of_the_rows(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    members, target = boosted(name)
    model, y, w = data.draw(members), table.target(target), weight.of(table.rows)
    order = np.random.default_rng(table.seed).permutation(table.rows)
    plain = fitted(model, table.X, y, w)
    shuffled = fitted(model, rows_of(table.X, order), y[order], w[order])
    mine, theirs = outputs(plain, table.X), outputs(shuffled, table.X)
    for method, values in mine.items():
        np.testing.assert_array_equal(theirs[method], values)


TREES: dict[str, tuple[Any, str]] = {
    "tree, numbers": (regression_tree, "numbers"),
    "tree, classes": (classification_tree, "three"),
    "random forest, numbers": (
        lambda **o: forest(bosquet.RandomForestRegressor, bootstrap=st.just(False), **o), "numbers"),
    "extra trees, numbers": (
        lambda **o: forest(bosquet.ExtraTreesRegressor, bootstrap=st.just(False), **o), "numbers"),
    "extra trees, classes": (
        lambda **o: forest(bosquet.ExtraTreesClassifier, bootstrap=st.just(False), **o), "three"),
}  # fmt: skip


@pytest.mark.parametrize("name", TREES)
@on_drawn_examples(20, data=st.data(), table=tables(), weight=weights("whole"))
def test_trees_have_the_same_bits_for_any_order_of_the_rows(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    """Targets are multiples of 1/8 and weights are whole: sums are exact."""
    make, target = TREES[name]
    model, y, w = data.draw(make()), table.target(target), weight.of(table.rows)
    assume(len(np.unique(y[w > 0])) == len(np.unique(y)))
    order = np.random.default_rng(table.seed).permutation(table.rows)
    plain = fitted(model, table.X, y, w)
    shuffled = fitted(model, rows_of(table.X, order), y[order], w[order])
    mine, theirs = outputs(plain, table.X), outputs(shuffled, table.X)
    for method, values in mine.items():
        np.testing.assert_array_equal(theirs[method], values, method)


@on_drawn_examples(
    25, model=adaboost(estimator=st.none()), table=tables(), weight=weights("ones", "whole")
)
def test_adaboost_does_not_depend_on_the_order_of_the_rows(
    model: Any, table: Table, weight: Weights
) -> None:
    y, w = table.labels(), weight.of(table.rows)
    assume(len(np.unique(y[w > 0])) == 2)
    order = np.random.default_rng(table.seed).permutation(table.rows)
    plain = fitted(model, table.X, y, w)
    shuffled = fitted(model, rows_of(table.X, order), y[order], w[order])
    assert_close_unless_tied(plain, shuffled, table.X, table.X, None)


# ---------------------------------------------------------------------------------------- columns
@pytest.mark.parametrize("name", SEQUENTIAL)
@on_drawn_examples(20, data=st.data(), table=tables(columns=(2, 5)), weight=weights())
def test_boosting_does_not_depend_on_the_order_of_the_columns(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    members, target = boosted(name, **ALL_FEATURES)
    model, y, w = data.draw(members), table.target(target), weight.of(table.rows)
    places = np.random.default_rng(table.seed).permutation(len(table.columns))
    plain, moved = (fitted(model, X, y, w) for X in (table.X, columns_of(table.X, places)))
    assert_close_unless_tied(plain, moved, table.X, columns_of(table.X, places), places)


@pytest.mark.parametrize("name", ["tree, numbers", "tree, classes"])
@on_drawn_examples(
    20, data=st.data(), table=tables(columns=(2, 5)), weight=weights("ones", "whole")
)
def test_trees_do_not_depend_on_the_order_of_the_columns(
    name: str, data: Any, table: Table, weight: Weights
) -> None:
    """Surrogate splits are excluded: the first column is chosen among equally good ones."""
    make, target = TREES[name]
    limits = {"max_leaf_nodes": st.none(), "missing": st.just("direction")}
    model = data.draw(make(**ALL_FEATURES, **limits, ccp_alpha=st.just(0.0)))
    y, w = table.target(target), weight.of(table.rows)
    assume(len(np.unique(y[w > 0])) == len(np.unique(y)))
    places = np.random.default_rng(table.seed).permutation(len(table.columns))
    plain, moved = (fitted(model, X, y, w) for X in (table.X, columns_of(table.X, places)))
    if same_but_for_ties(plain, moved, places):
        X = columns_of(table.X, places)
        np.testing.assert_array_equal(moved.predict(X), plain.predict(table.X))


@on_drawn_examples(25, model=adaboost(estimator=st.none()), table=tables(columns=(2, 5)))
def test_adaboost_does_not_depend_on_the_order_of_the_columns(model: Any, table: Table) -> None:
    places = np.random.default_rng(table.seed).permutation(len(table.columns))
    y = table.labels()
    plain, moved = (fitted(model, X, y) for X in (table.X, columns_of(table.X, places)))
    assert_close_unless_tied(plain, moved, table.X, columns_of(table.X, places), places)


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (glm.BinomialRegression(), "two"),
        (glm.MultinomialRegression(), "three"),
        (glm.PoissonRegression(), "counts"),
        (glm.LinearModel(), "numbers"),
    ],
    ids=["binomial", "multinomial", "Poisson", "linear"],
)
@on_drawn_examples(8, table=complete_tables((60, 120)))
def test_regressions_depend_on_neither_order(model: Any, target: str, table: Table) -> None:
    random = np.random.default_rng(table.seed)
    rows, places = random.permutation(table.rows), random.permutation(len(table.columns))
    y, X = table.target(target), columns_of(table.X, places)
    plain, moved = fitted(model, table.X, y), fitted(model, rows_of(X, rows), y[rows])
    assume(np.abs(np.asarray(plain.params_)).max() < 20)  # beyond, the classes are separated
    mine, theirs = outputs(plain, table.X), outputs(moved, X)
    for method, values in mine.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(theirs[method], values, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", ["boa", "ml-poly", "ml-prod", "ewa", "ftrl", "squint", "ogd"])
@on_drawn_examples(8, table=complete_tables((10, 60), (2, 5)))
def test_experts_in_another_order_have_the_same_weights(rule: str, table: Table) -> None:
    places = np.random.default_rng(table.seed).permutation(len(table.columns))
    model, forecasts = bosquet.Mixture(rule, loss_range=20.0), np.asarray(table.X, dtype=float)
    plain, moved = (fitted(model, F, table.numbers) for F in (forecasts, forecasts[:, places]))
    np.testing.assert_allclose(
        moved.weight_history_, plain.weight_history_[:, places], rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(moved.predictions_, plain.predictions_, rtol=1e-7, atol=1e-7)
