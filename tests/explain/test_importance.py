"""Importance by five measures on one scale."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression

from bosquet import (
    DecisionTreeRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from bosquet.explain import importance
from bosquet.explain.importance import KINDS


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(300, 4)), columns=["strong", "weak", "copy", "noise"])
    X["copy"] = X.strong + 0.01 * random.normal(size=300)
    y = 3 * X.strong + X.weak + 0.1 * random.normal(size=300)
    return X, y.to_numpy()


@pytest.fixture(scope="module")
def model(data):
    return GradientBoostingRegressor(n_estimators=40, random_state=0).fit(*data)


@pytest.mark.parametrize("kind", KINDS)
def test_every_measure_scales_the_largest_to_100_and_ranks_noise_last(data, model, kind):
    groups = {"both": ["strong", "copy"]}
    found = importance(model, *data, kind=kind, groups=groups)
    assert found.names == ["both", "weak", "noise"]
    assert found.scaled.max() == pytest.approx(100)
    # Splits on noise count as much as others.
    assert found.ranking()[0][0] == "both" or kind == "split"
    assert found.mean[2] < found.mean[0]
    assert found.standard_error.shape == found.scaled_standard_error.shape == (3,)
    assert (found.standard_error[np.isfinite(found.standard_error)] >= 0).all()


def test_the_gain_of_a_group_is_the_sum_of_its_columns(data, model):
    alone = importance(model, kind="gain")
    together = importance(model, kind="gain", groups={"both": [0, 2]})
    assert together.mean[0] == pytest.approx(alone.mean[0] + alone.mean[2])
    shares = model.feature_importances_
    np.testing.assert_allclose(alone.mean / alone.mean.sum(), shares, atol=1e-9)


def test_correlated_columns_are_important_only_if_dropped_together(data, model):
    alone = importance(model, *data, kind="drop-column", cv=3)
    together = importance(
        model, *data, kind="drop-column", cv=3, groups={"both": ["strong", "copy"]}
    )
    assert alone.mean[0] < 0.2 * together.mean[0]


def test_permutation_importance_of_a_forest_uses_out_of_bag_rows(data):
    X, y = data
    forest = RandomForestRegressor(n_estimators=30, random_state=0).fit(X, y)
    found = importance(forest, X, y, kind="permutation")
    expected = forest.importance("permutation", X, y)
    np.testing.assert_allclose(found.mean, expected.mean)
    assert "squared_error" in found.kind
    fresh = importance(forest, X[:100], y[:100], kind="permutation")
    assert fresh.kind == "permutation"


def test_permutation_importance_accepts_any_model(data):
    X, y = data
    found = importance(LinearRegression().fit(X, y), X, y, kind="permutation", n_repeats=3)
    assert found.mean[1] > found.mean[3]
    again = importance(LinearRegression().fit(X, y), X, y, kind="permutation", n_repeats=3)
    assert np.array_equal(found.mean, again.mean)
    with pytest.raises(TypeError, match="LinearRegression"):
        importance(LinearRegression().fit(X, y), kind="gain")


def test_shap_importance_is_summed_over_classes(data):
    X, y = data
    labels = np.digitize(y, [-1.5, 1.5])
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, labels)
    found = importance(model, X, kind="shap")
    np.testing.assert_allclose(found.mean, model.explain(X).importance(), rtol=1e-12)


def test_a_single_tree_has_no_standard_error(data):
    tree = DecisionTreeRegressor(max_depth=3).fit(*data)
    assert np.isnan(importance(tree, kind="gain").standard_error).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "magic"}, "kind='magic'"),
        ({"kind": "gain", "groups": {"g": ["nowhere"]}}, "'nowhere', which is not a column"),
        (
            {"kind": "gain", "groups": {"g": [17]}},
            "contains 17, but X has 4 columns; pass numbers in",
        ),
        ({"kind": "gain", "groups": {"g": [0], "h": ["strong"]}}, "'g' and 'h'"),
        ({"kind": "gain", "groups": {"g": []}}, "is empty"),
        ({"kind": "shap"}, "needs X"),
        ({"kind": "permutation"}, "needs X"),
    ],
)
def test_invalid_options_raise(model, options, message):
    with pytest.raises(ValueError, match=message):
        importance(model, **options)


def test_permutation_importance_without_targets_raises(data, model):
    with pytest.raises(ValueError, match="needs y"):
        importance(model, data[0], kind="permutation")


def test_the_random_state_decides_the_permutations_of_out_of_bag_rows():
    X, y = make_friedman1(100, random_state=0)
    forest = RandomForestRegressor(10, random_state=0).fit(X, y)
    first, same, other = (
        importance(forest, X, y, "permutation", random_state=seed).mean for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()
