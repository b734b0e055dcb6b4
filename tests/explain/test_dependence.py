"""Partial dependence, ICE curves, accumulated local effects and Friedman's H."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor as SklearnForest
from sklearn.inspection import partial_dependence as sklearn_dependence

from bosquet import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    _core,
)
from bosquet.explain import (
    accumulated_local_effects,
    individual_conditional_expectation,
    interaction_strength,
    partial_dependence,
)
from bosquet.explain.dependence import set_column


def make_table(rows=250, missing=0.1, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4)).round(2)
    y = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2])
    X[random.random(X.shape) < missing] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["colour"] = pd.Categorical(random.choice(["red", "green", "blue"], size=rows))
    return frame, y + (frame.colour == "red").to_numpy()


@pytest.fixture(scope="module")
def regressor():
    X, y = make_table()
    return GradientBoostingRegressor(n_estimators=15, min_samples_leaf=3, random_state=0).fit(
        X, y
    ), X


@pytest.mark.parametrize("response", ["response", "raw"])
@pytest.mark.parametrize("classes", [None, 2, 3])
@pytest.mark.parametrize("forest", [False, True])
def test_ice_curves_from_trees_match_predictions_of_changed_rows(classes, response, forest):
    X, y = make_table()
    if classes:
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
        kind = RandomForestClassifier if forest else GradientBoostingClassifier
    elif forest:
        pytest.skip("the response of a regression forest is its raw prediction")
    else:
        kind = GradientBoostingRegressor
    model = kind(n_estimators=6, min_samples_leaf=2, random_state=0).fit(X, y)
    for feature in ("a", "c"):
        found = individual_conditional_expectation(model, X, feature, grid=9, response=response)
        for i, point in enumerate(found.grid[0]):
            changed = X.assign(**{feature: point})
            expected = predictions(model, changed, response)
            np.testing.assert_allclose(found.individual[:, i], expected, atol=1e-10)
        np.testing.assert_allclose(found.average, found.individual.mean(axis=0), atol=1e-12)


def predictions(model, X, response):
    if not hasattr(model, "classes_"):
        return model.predict(X)
    if response == "raw" and hasattr(model, "decision_function"):
        return model.decision_function(X)
    probabilities = model.predict_proba(X)
    return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities


def test_all_features_in_one_call_match_single_calls(regressor):
    model, X = regressor
    together = partial_dependence(model, X, grid=7)
    assert [one.features for one in together] == [[name] for name in X.columns]
    for one in together:
        single = partial_dependence(model, X, one.features[0], grid=7, method="predict")
        np.testing.assert_allclose(one.average, single.average, atol=1e-10)


def test_the_grid_of_a_categorical_feature_is_its_levels(regressor):
    model, X = regressor
    found = partial_dependence(model, X, "colour")
    assert list(found.grid[0]) == ["blue", "green", "red"]
    for level, mean in zip(found.grid[0], found.average, strict=True):
        column = pd.Categorical([level] * len(X), categories=X.colour.cat.categories)
        np.testing.assert_allclose(mean, model.predict(X.assign(colour=column)).mean(), atol=1e-10)


def test_a_pair_is_a_surface_of_means(regressor):
    model, X = regressor
    found = partial_dependence(model, X, ("a", "colour"), grid=4)
    assert found.average.shape == (4, 3)
    changed = set_column(X, X, X.columns.get_loc("colour"), "red").assign(a=found.grid[0][1])
    np.testing.assert_allclose(found.average[1, 2], model.predict(changed).mean(), atol=1e-10)


def test_integer_weights_are_equivalent_to_repeated_rows(regressor):
    model, X = regressor
    weight = np.arange(len(X)) % 3
    weighted = partial_dependence(model, X, "a", grid=[-1.0, 0.0, 1.0], sample_weight=weight)
    repeated = X.iloc[np.repeat(np.arange(len(X)), weight)]
    expected = partial_dependence(model, repeated, "a", grid=[-1.0, 0.0, 1.0])
    np.testing.assert_allclose(weighted.average, expected.average, atol=1e-10)


def test_recursion_matches_scikit_learn_on_the_same_trees():
    X, y = make_table(missing=0)
    X = X.drop(columns="colour").to_numpy()
    theirs = SklearnForest(n_estimators=5, max_depth=4, random_state=0).fit(X, y)
    ensemble = _core.Ensemble(4, 1, [0.0], [])
    for tree in theirs.estimators_:
        _core.add_tree(ensemble, *core_arrays(tree.tree_))
    grid = np.quantile(X[:, 0], np.linspace(0.1, 0.9, 9))
    expected = sklearn_dependence(
        theirs, X, [0], method="recursion", custom_values={0: grid}
    ).average[0]
    found = _core.expected_predictions(ensemble, [0], grid[:, None].copy())[:, 0] / 5
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def core_arrays(tree):
    """scikit-learn's arrays in the order of the core: children adjacent, and after their parent."""
    order, left = [0], []
    for node in order:
        if tree.children_left[node] < 0:
            left.append(-1)
            continue
        left.append(len(order))
        order += [tree.children_left[node], tree.children_right[node]]
    order, left = np.array(order), np.array(left, dtype=np.int32)
    feature = np.where(left >= 0, tree.feature[order], -1).astype(np.int32)
    threshold = np.where(left >= 0, tree.threshold[order], 0.0)
    none = np.zeros(len(order))
    return (
        feature,
        threshold,
        left,
        none.astype(bool),
        [None] * len(order),
        np.ascontiguousarray(tree.value[order, :, 0]),
        none,
        tree.weighted_n_node_samples[order].copy(),
    )


def test_recursion_supports_levels_and_pairs_but_not_the_response(regressor):
    model, X = regressor
    found = partial_dependence(model, X, ("a", "colour"), grid=3, method="recursion")
    assert found.average.shape == (3, 3)
    assert found.kind == "raw"
    with pytest.raises(ValueError, match="raw"):
        partial_dependence(model, X, "a", method="recursion", response="response")


def test_models_of_scikit_learn_use_predictions():
    X, y = make_table(missing=0)
    X = X.drop(columns="colour")
    model = SklearnForest(n_estimators=5, random_state=0).fit(X, y)
    found = partial_dependence(model, X, "b", grid=[-1.0, 1.0])
    expected = sklearn_dependence(model, X, ["b"], custom_values={"b": [-1.0, 1.0]}, method="brute")
    np.testing.assert_allclose(found.average, expected.average[0])
    with pytest.raises(TypeError, match="Bosquet"):
        partial_dependence(model, X, "b", method="trees")


def test_centred_curves_start_from_zero(regressor):
    model, X = regressor
    found = individual_conditional_expectation(model, X, "a", grid=5, centre=True)
    assert not found.individual[:, 0].any()
    assert found.average[0] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "nothing"}, "no feature 'nothing'"),
        ({"features": 9}, "no feature 9"),
        ({"features": ("a", "a")}, "two different"),
        ({"features": "a", "grid": 1}, "grid=1"),
        ({"features": "a", "percentiles": (0.9, 0.1)}, "percentiles"),
        ({"features": "a", "method": "magic"}, "method='magic'"),
        ({"features": "a", "response": "odds"}, "response='odds'"),
        ({"features": "a", "sample_weight": [1.0]}, "sample_weight has shape"),
    ],
)
def test_invalid_options_raise(regressor, options, message):
    model, X = regressor
    with pytest.raises(ValueError, match=message):
        partial_dependence(model, X, **options)


def test_an_invalid_weight_is_named_with_its_row(regressor):
    model, X = regressor
    weight = np.ones(len(X))
    weight[3] = -1
    with pytest.raises(ValueError, match=r"sample_weight\[3\] is -1"):
        partial_dependence(model, X, "a", sample_weight=weight)


class Formula:
    """A regressor that evaluates a function."""

    def __init__(self, formula):
        self.formula = formula

    def predict(self, X):
        return self.formula(np.asarray(X, dtype=float))


def test_accumulated_effects_of_an_additive_model_are_its_terms():
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    X[:, 1] = 0.9 * X[:, 0] + 0.1 * X[:, 1]
    model = Formula(lambda X: X[:, 0] ** 2 + 3 * X[:, 1])
    found = accumulated_local_effects(model, X, 0)
    truth = found.grid[0] ** 2
    np.testing.assert_allclose(np.diff(found.average), np.diff(truth), atol=1e-9)
    flat = accumulated_local_effects(model, X, 2)
    np.testing.assert_allclose(flat.average, 0, atol=1e-12)
    pair = accumulated_local_effects(model, X, (0, 1), bins=8)
    np.testing.assert_allclose(pair.average, 0, atol=1e-9)


def test_accumulated_effects_of_a_product_are_the_product():
    random = np.random.default_rng(1)
    X = random.uniform(-1, 1, size=(20_000, 2))
    found = accumulated_local_effects(Formula(lambda X: X[:, 0] * X[:, 1]), X, (0, 1), bins=10)
    truth = np.outer(found.grid[0], found.grid[1])
    np.testing.assert_allclose(found.average, truth, atol=0.03)
    alone = accumulated_local_effects(Formula(lambda X: X[:, 0] * X[:, 1]), X, 0, bins=10)
    np.testing.assert_allclose(alone.average, 0, atol=0.03)


def test_accumulated_effects_of_levels_are_their_differences():
    X, y = make_table(rows=400, missing=0)
    model = GradientBoostingRegressor(n_estimators=80, min_samples_leaf=2, random_state=0).fit(X, y)
    found = accumulated_local_effects(model, X, "colour")
    effects = dict(zip(found.grid[0], found.average, strict=True))
    assert set(effects) == {"red", "green", "blue"}
    assert effects["red"] - effects["blue"] == pytest.approx(1, abs=0.3)
    shares = [(X.colour == level).mean() for level in found.grid[0]]
    assert shares @ found.average == pytest.approx(0, abs=1e-9)


def test_interaction_strength_is_0_for_additive_effects_and_1_for_a_product():
    random = np.random.default_rng(0)
    X = random.choice([-1.0, 1.0], size=(200, 3))
    found = interaction_strength(Formula(lambda X: X[:, 0] * X[:, 1] + X[:, 2]), X, max_rows=200)
    strength = {pair: h for pair, h in zip(found.pairs, found.strength, strict=True)}
    assert strength["x0", "x1"] > 0.95
    assert strength["x0", "x2"] < 0.1
    assert found.ranking()[0][0] == ("x0", "x1")
    additive = interaction_strength(Formula(lambda X: X[:, 0] + X[:, 2]), X)
    np.testing.assert_allclose(additive.strength, 0, atol=1e-6)


def test_interactions_of_given_pairs_match_those_of_all():
    X = np.random.default_rng(0).choice([-1.0, 1.0], size=(60, 4))
    model = Formula(lambda X: X[:, 0] * X[:, 1] + X[:, 2])
    all_pairs = interaction_strength(model, X)
    of_pair = dict(zip(all_pairs.pairs, all_pairs.strength, strict=True))
    found = interaction_strength(model, X, pairs=[("x0", "x2"), (0, 1)])
    assert found.pairs == [("x0", "x2"), ("x0", "x1")]
    np.testing.assert_array_equal(found.strength, [of_pair[pair] for pair in found.pairs])
    assert interaction_strength(model, X, pairs=("x0", "x1")).pairs == [("x0", "x1")]
    for wrong, message in [
        ({"pairs": [(0, 0)]}, "two different features"),
        ({"pairs": ["x0"]}, "not a pair of features"),
        ({"pairs": [(0, 9)]}, "no feature 9"),
        ({"pairs": []}, "at least one pair"),
        ({"pairs": [(0, 1)], "features": [0, 1]}, "pass only one of them"),
    ]:
        with pytest.raises(ValueError, match=message):
            interaction_strength(model, X, **wrong)


def test_curves_do_not_depend_on_the_number_of_threads(regressor):
    model, X = regressor
    ensemble, columns = model._terms.ensemble, model._encoder.transform(X)
    one, three = (
        _core.conditional_predictions(ensemble, columns, [0, 2], [[-1.0, 0, 2], [0.5]], threads)
        for threads in (1, 3)
    )
    assert np.array_equal(one, three)
    with pytest.raises(ValueError, match="ascending"):
        _core.conditional_predictions(ensemble, columns, [0], [[1.0, 0.0]])
    with pytest.raises(ValueError, match="quantitative"):
        _core.conditional_predictions(ensemble, columns, [4], [[1.0]])


@pytest.mark.parametrize("feature", [["x0"], 1.5, True, None])
def test_a_feature_that_is_neither_an_index_nor_a_name_is_rejected(feature):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = GradientBoostingRegressor(n_estimators=3).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="must be an index or a name of a column of X"):
        accumulated_local_effects(model, X, feature)
