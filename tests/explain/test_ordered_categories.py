"""Explanations of tables with ordered categories, and with columns without any value."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import bosquet
from bosquet import explain

SIZES = ["S", "M", "L", "XL"]


@pytest.fixture(scope="module")
def values():
    random = np.random.default_rng(0)
    size, number = random.integers(0, 4, 300), random.normal(size=300)
    colour = random.choice(["red", "green", "blue"], 300)
    sizes = [None if row == 5 else SIZES[code] for row, code in enumerate(size)]
    return sizes, number, colour, size + number + 2 * (colour == "green")


def pandas_table(sizes, number, colour):
    return pd.DataFrame(
        {
            "size": pd.Categorical(sizes, categories=SIZES, ordered=True),
            "number": number,
            "colour": pd.Categorical(colour),
            "empty": pd.Series([None] * len(number), dtype="object"),
        }
    )


def polars_table(sizes, number, colour):
    return pl.DataFrame(
        {
            "size": pl.Series(sizes, dtype=pl.Enum(SIZES)),
            "number": number,
            "colour": pl.Series(colour, dtype=pl.Categorical),
            "empty": pl.Series([None] * len(number), dtype=pl.Float64),
        }
    )


@pytest.mark.parametrize("table", [pandas_table, polars_table])
@pytest.mark.parametrize(
    "model",
    [
        bosquet.GradientBoostingRegressor(n_estimators=10, random_state=0),
        bosquet.RandomForestRegressor(n_estimators=5, random_state=0),
        bosquet.DecisionTreeRegressor(max_depth=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_explanations_are_additive_and_their_data_holds_the_levels(model, table, values):
    *columns, y = values
    X = table(*columns)
    model = bosquet._sklearn.clone(model).fit(X, y)
    found = model.explain(X)
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, model.predict(X))
    assert list(found.data[:10, 0]) == columns[0][:10]
    assert list(found.data[:10, 2]) == list(columns[2][:10])
    assert all(value is None or np.isnan(value) for value in found.data[:, 3])
    for more in ({"interactions": True}, {"background": X[:20]}):
        assert np.isfinite(model.explain(X[:5], **more).values).all()


@pytest.mark.parametrize("table", [pandas_table, polars_table])
def test_shape_functions_of_ordered_categories_add_up(table, values):
    *columns, y = values
    X = table(*columns)
    model = bosquet.GradientBoostingRegressor(n_estimators=10, max_depth=2).fit(X, y)
    shapes = explain.shape_functions(model, X)
    np.testing.assert_allclose(shapes.predict(X)[:, 0], model.predict(X))


def test_a_missing_ordered_category_raises_in_a_tree_with_surrogates(values):
    *columns, y = values
    X = pandas_table(*columns)
    model = bosquet.DecisionTreeRegressor(max_depth=3, missing="surrogate").fit(X, y)
    with pytest.raises(ValueError, match="follow surrogate splits"):
        model.explain(X.iloc[:10, :])


@pytest.mark.parametrize("table", [pandas_table, polars_table])
def test_partial_dependence_keeps_the_order_of_the_levels(table, values):
    *columns, y = values
    X = table(*columns)
    model = bosquet.GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    found = explain.partial_dependence(model, X, "size")
    assert list(found.grid[0]) == SIZES
    assert (np.diff(found.average) > 0).all()
