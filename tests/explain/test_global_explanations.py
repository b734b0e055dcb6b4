"""Surrogate trees, shape functions, counterfactuals."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression

from bosquet import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.explain import counterfactual, shape_functions, surrogate_tree


def mixed_table(rows=400, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(rows, 3)), columns=list("abc"))
    X = X.mask(random.random(X.shape) < 0.1)
    X["kind"] = pd.Categorical(random.choice(["u", "v", "w"], size=rows))
    y = X.a.fillna(0) * X.b.fillna(0) + X.c.fillna(1) ** 2 + (X.kind == "u")
    return X, y.to_numpy()


@pytest.mark.parametrize("centred", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_shape_functions_add_up_to_the_model(centred, depth):
    X, y = mixed_table()
    model = GradientBoostingRegressor(
        n_estimators=40, max_depth=depth, max_leaf_nodes=None, random_state=0
    ).fit(X, y)
    shapes = shape_functions(model, X if centred else None)
    np.testing.assert_allclose(shapes.predict(X)[:, 0], model.predict(X), atol=1e-9)
    assert bool(shapes.pairs) == (depth == 2)
    new, _ = mixed_table(seed=1)
    np.testing.assert_allclose(shapes.predict(new)[:, 0], model.predict(new), atol=1e-9)


def test_centred_functions_have_mean_zero_over_the_rows():
    X, y = mixed_table()
    model = GradientBoostingRegressor(n_estimators=30, max_depth=2, random_state=0).fit(X, y)
    shapes = shape_functions(model, X)
    cell = shapes._cell_indices(model._encoder.transform(X))
    assert shapes.intercept[0] == pytest.approx(model.predict(X).mean())
    for f, values in shapes.single.items():
        assert values[cell[f], 0].mean() == pytest.approx(0, abs=1e-9)
    for (f, g), values in shapes.pairs.items():
        of_rows = values[cell[f], cell[g], 0]
        for cells in (cell[f], cell[g]):
            means = [of_rows[cells == k].mean() for k in np.unique(cells)]
            np.testing.assert_allclose(means, 0, atol=1e-6)


def test_shape_functions_add_up_to_predictions_of_classes_and_of_forests():
    X, y = load_iris(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=20, max_leaf_nodes=2).fit(X, y)
    shapes = shape_functions(model, X)
    np.testing.assert_allclose(shapes.predict(X), model.decision_function(X), atol=1e-9)
    forest = RandomForestRegressor(n_estimators=10, max_depth=2, random_state=0).fit(
        X[:, :2], X[:, 2]
    )
    np.testing.assert_allclose(
        shape_functions(forest).predict(X[:, :2])[:, 0], forest.predict(X[:, :2]), atol=1e-9
    )


def test_trees_of_three_features_have_no_shape_functions():
    X, y = mixed_table()
    model = GradientBoostingRegressor(n_estimators=3, random_state=0, max_features=None).fit(X, y)
    with pytest.raises(ValueError, match="max_depth=2"):
        shape_functions(model)


def test_a_surrogate_has_a_fidelity():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(n_estimators=30, random_state=0).fit(X, y)
    found = surrogate_tree(forest, X, y, max_leaf_nodes=5)
    assert 0.85 < found.fidelity <= 1
    assert found.tree.get_n_leaves() <= 5
    assert 0.8 < found.accuracy <= 1
    assert found.model_accuracy > 0.9
    assert "fidelity" in str(found)
    numbers = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, X["mean radius"])
    good, poor = (surrogate_tree(numbers, X, max_leaf_nodes=k).fidelity for k in (30, 2))
    assert poor < good
    assert good > 0.9


def test_a_surrogate_imitates_other_models_and_a_constant():
    X, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=500).fit(X, y)
    assert surrogate_tree(model, X).fidelity > 0.8
    constant = RandomForestRegressor(n_estimators=2).fit(X, np.zeros(150))
    assert surrogate_tree(constant, X).tree.get_n_leaves() == 1
    with pytest.raises(ValueError, match="validation_fraction"):
        surrogate_tree(model, X, validation_fraction=1.5)


def test_a_counterfactual_changes_the_prediction_within_the_range_of_the_data():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    model = GradientBoostingClassifier(n_estimators=30, random_state=0).fit(X, y)
    for row in (0, 100, 300):
        found = counterfactual(model, row, X)
        assert model.predict(found.row)[0] == found.after != found.before
        assert 1 <= len(found.changes) <= 3
        for name, (before, after) in found.changes.items():
            assert X[name].iloc[row] == before
            assert X[name].min() <= after <= X[name].max()
        others = X.columns.difference(list(found.changes))
        assert (found.row[others].iloc[0] == X[others].iloc[row]).all()


def test_the_smallest_change_of_one_feature_is_found():
    X = np.column_stack([np.linspace(0, 1, 101), np.linspace(5, 6, 101)[::-1]])
    model = RandomForestClassifier(
        n_estimators=5, bootstrap=False, max_features=None, random_state=0
    )
    model.fit(X[:, :1], X[:, 0] > 0.505)
    wide = RandomForestClassifier(
        n_estimators=5, bootstrap=False, random_state=0, max_features=None
    )
    wide.fit(np.column_stack([X[:, 0], np.zeros(101)]), X[:, 0] > 0.505)
    found = counterfactual(wide, np.array([0.3, 0.0]), np.column_stack([X[:, 0], np.zeros(101)]))
    assert list(found.changes) == ["x0"]
    before, after = found.changes["x0"]
    assert before == 0.3
    assert 0.5 < after < 0.512
    assert found.distance == pytest.approx((after - 0.3) / 0.9, rel=1e-6)


@pytest.mark.parametrize("frame", ["pandas", "polars"])
def test_levels_may_change_and_fixed_features_may_not(frame):
    X, _ = mixed_table()
    X = X.fillna({"a": 0, "b": 0, "c": 0})
    y = np.where((X.kind == "u") & (X.a < 2), "no", "yes")
    if frame == "polars":
        X = pl.from_pandas(X)
    model = GradientBoostingClassifier(n_estimators=40, min_samples_leaf=5, random_state=0).fit(
        X, y
    )
    row = int(np.flatnonzero(np.asarray(model.predict(X)) == "no")[0])
    found = counterfactual(model, row, X)
    assert list(found.changes) == ["kind"]
    assert found.changes["kind"][0] == "u"
    fixed = counterfactual(model, row, X, features=["b"], max_changes=1)
    assert fixed is None or list(fixed.changes) == ["b"]


def test_the_prediction_of_a_regressor_is_moved_into_an_interval():
    X, y = mixed_table()
    X = X.drop(columns="kind").fillna(0)
    model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    found = counterfactual(model, 0, X, wanted=(2.0, 5.0))
    assert 2 <= found.after <= 5
    with pytest.raises(ValueError, match="wanted"):
        counterfactual(model, 0, X)
    for wrong in (3.0, (5.0, 2.0)):
        with pytest.raises(ValueError, match=r"a pair \(low, high\)"):
            counterfactual(model, 0, X, wanted=wrong)


def test_invalid_counterfactual_arguments_raise():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="not one of the classes"):
        counterfactual(model, 0, X, wanted=7)
    with pytest.raises(ValueError, match="already"):
        counterfactual(model, 0, X, wanted=0)
    with pytest.raises(ValueError, match="row=150 is not valid: row must be an integer in"):
        counterfactual(model, 150, X)
    for wrong in (X[0, :3], X[0, :3].tolist(), X[:2], 5.1):
        with pytest.raises(ValueError, match="it must be one row of 4 features"):
            counterfactual(model, wrong, X)


def test_a_row_may_be_a_list():
    X, y = load_iris(return_X_y=True)
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    by_list = counterfactual(model, X[60].tolist(), X, wanted=2)
    assert by_list.changes == counterfactual(model, 60, X, wanted=2).changes


def test_a_pandas_series_is_accepted_as_a_row():
    from sklearn.datasets import load_diabetes

    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(X, y)
    by_series = counterfactual(model, X.iloc[0], X, wanted=(50, 130))
    by_number = counterfactual(model, 0, X, wanted=(50, 130))
    assert by_series.changes == by_number.changes
