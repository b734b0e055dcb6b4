"""Shapley values of trees: comparison with a brute-force reference, additivity, reproducibility."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    AnyBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    BrownBoostClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LPBoostClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
    VotingRegressor,
    _core,
)
from bosquet.explain import explain, partial_dependence, shape_functions
from bosquet.reference.shapley import (
    interventional_game,
    path_dependent_game,
    shapley_interactions,
    shapley_values,
)


def mixed_rows(seed, rows=300):
    """Numeric columns with missing values, and a categorical column."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4)).round(2)
    X[random.random(X.shape) < 0.1] = np.nan
    colour = random.choice(["red", "green", "blue", None], size=rows)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(
        colour=pd.Categorical(colour, categories=["red", "green", "blue"])
    )
    filled = np.nan_to_num(X)
    y = filled[:, 0] * filled[:, 1] + np.sin(2 * filled[:, 2]) + 1.5 * (colour == "red")
    return frame, y + 0.1 * random.normal(size=rows)


def boosted(seed=0, **options):
    X, y = mixed_rows(seed)
    settings = {"n_estimators": 3, "max_leaf_nodes": 12, "min_samples_leaf": 3, **options}
    return GradientBoostingRegressor(**settings, random_state=0).fit(X, y), X


def reference(model, game_of):
    """Sum over the trees of the reference's values."""
    ensemble = model._terms.ensemble
    trees = [ensemble.tree_arrays(t) for t in range(ensemble.n_trees)]
    return sum(game_of(tree) for tree in trees)


def encoded(model, X):
    return np.column_stack(
        [np.where(np.asarray(c) < 0, np.nan, c) if c.dtype.kind == "i" else c
         for c in model._encoder.transform(X)]
    )  # fmt: skip


@pytest.mark.parametrize("interactions", [False, True])
def test_path_dependent_values_match_the_definition(interactions):
    model, X = boosted()
    found = model.explain(X[:6], interactions=interactions)
    by_definition = shapley_interactions if interactions else shapley_values
    for i, row in enumerate(encoded(model, X[:6])):
        expected = reference(
            model, lambda tree, x=row: by_definition(path_dependent_game(tree, x), 5)
        )
        np.testing.assert_allclose(found.values[i], expected, atol=1e-12)


@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("background_rows", [1, 9])
def test_interventional_values_match_the_definition(interactions, background_rows):
    model, X = boosted()
    others = X[20 : 20 + background_rows]
    found = model.explain(X[:3], background=others, interactions=interactions)
    by_definition = shapley_interactions if interactions else shapley_values
    background = encoded(model, others)
    for i, row in enumerate(encoded(model, X[:3])):
        expected = reference(
            model, lambda tree, x=row: by_definition(interventional_game(tree, x, background), 5)
        )
        np.testing.assert_allclose(found.values[i], expected, atol=1e-12)
    np.testing.assert_allclose(found.base, model.predict(others).mean(), atol=1e-10)


def raw_prediction(model, X):
    """The prediction that base plus values must equal."""
    if isinstance(model, GradientBoostingClassifier):
        return model.decision_function(X)
    if isinstance(getattr(model, "classes_", None), list):
        return np.hstack(model.predict_proba(X))
    if hasattr(model, "classes_"):
        probabilities = model.predict_proba(X)
        return probabilities[:, 1] if probabilities.shape[1] == 2 else probabilities
    if getattr(model, "loss", None) == "poisson":
        return np.log(model.predict(X))
    return model.predict(X)


SMALL = {"n_estimators": 8, "random_state": 0}
KINDS = {
    "boosting, two classes": (GradientBoostingClassifier(**SMALL), 2),
    "boosting, four classes": (GradientBoostingClassifier(**SMALL), 4),
    "boosting, numbers": (GradientBoostingRegressor(**SMALL), None),
    "boosting, counts": (GradientBoostingRegressor("poisson", **SMALL), "counts"),
    "boosting, two targets": (GradientBoostingRegressor(**SMALL), "targets"),
    "boosting, deep": (
        GradientBoostingRegressor(max_leaf_nodes=None, min_samples_leaf=1, **SMALL), None),
    "forest, two classes": (RandomForestClassifier(**SMALL), 2),
    "forest, four classes": (RandomForestClassifier(**SMALL), 4),
    "forest, hard votes": (RandomForestClassifier(voting="hard", **SMALL), 4),
    "forest, numbers": (RandomForestRegressor(**SMALL), None),
    "forest, two targets": (RandomForestRegressor(**SMALL), "targets"),
    "extra trees, classes": (ExtraTreesClassifier(**SMALL), 3),
    "extra trees, numbers": (ExtraTreesRegressor(**SMALL), None),
    "tree, two classes": (DecisionTreeClassifier(random_state=0), 2),
    "tree, four classes": (DecisionTreeClassifier(random_state=0), 4),
    "tree, numbers": (DecisionTreeRegressor(random_state=0), None),
    "tree, two targets": (DecisionTreeRegressor(random_state=0), "targets"),
    "tree of one leaf": (DecisionTreeRegressor(max_depth=1, min_samples_leaf=290), None),
    "tree, two class targets": (DecisionTreeClassifier(max_depth=4), "class targets"),
    "forest, two class targets": (RandomForestClassifier(**SMALL), "class targets"),
    "bag, two classes": (BaggingClassifier(**SMALL), 2),
    "bag, four classes": (BaggingClassifier(**SMALL), 4),
    "bag, some columns": (BaggingRegressor(max_features=0.6, **SMALL), None),
    "bag, columns drawn twice": (
        BaggingRegressor(max_features=0.6, bootstrap_features=True, **SMALL), "array"),
    "bag of a rare class": (BaggingClassifier(max_samples=0.03, **SMALL), 4),
    "vote of classes": (
        VotingClassifier(
            [("a", DecisionTreeClassifier(max_depth=3)), ("b", RandomForestClassifier(**SMALL))],
            voting="soft", weights=[1, 3]), 4),
    "vote of numbers": (
        VotingRegressor(
            [("a", GradientBoostingRegressor(**SMALL)), ("b", RandomForestRegressor(**SMALL))]),
        None),
}  # fmt: skip


@pytest.mark.parametrize("kind", list(KINDS))
def test_values_and_base_add_up_to_the_prediction(kind):
    model, target = KINDS[kind]
    X, y = mixed_rows(3)
    if isinstance(target, int):
        y = np.digitize(y, np.quantile(y, np.linspace(0, 1, target + 1)[1:-1]))
    elif target == "counts":
        y = np.round(np.exp(y.clip(-3, 3)))
    elif target == "targets":
        y = np.column_stack([y, y**2])
    elif target == "class targets":
        y = np.column_stack([y > 0, np.digitize(y, [-0.5, 0.5])])
    elif target == "array":
        X = X[["a", "b", "c", "d"]].to_numpy()
    model.fit(X, y)
    prediction = raw_prediction(model, X)
    for options in ({}, {"background": X[:4]}, {"interactions": True}):
        found = model.explain(X[:80], **options)
        np.testing.assert_allclose(found.prediction, prediction[:80], atol=1e-6)
    if target == "targets" or target in (3, 4):
        assert found.n_outputs == len(found.output_names)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("learner", [None, DecisionTreeClassifier(max_depth=3)])
def test_values_of_adaboost_are_additive(classes, learner):
    X, y = mixed_rows(3)
    y = np.digitize(y, np.quantile(y, np.linspace(0, 1, classes + 1)[1:-1]))
    model = AdaBoostClassifier(learner, n_estimators=12, random_state=0).fit(X, y)
    for options in ({}, {"background": X[:4]}, {"interactions": True}):
        found = model.explain(X[:50], **options)
        np.testing.assert_allclose(found.prediction, model.decision_function(X[:50]), atol=1e-6)
    if learner is None and classes == 2:
        shapes = shape_functions(model, X)
        np.testing.assert_allclose(shapes.predict(X)[:, 0], model.decision_function(X), atol=1e-9)
    curve = partial_dependence(model, X, "a", grid=[-1.0, 0.0, 1.0])
    mean = model.predict_proba(X.assign(a=0.0)).mean(axis=0)
    np.testing.assert_allclose(curve.average[1], mean[1] if classes == 2 else mean, atol=1e-9)


@pytest.mark.parametrize(
    "model",
    [
        BrownBoostClassifier(n_estimators=12),
        LPBoostClassifier(n_estimators=12, nu=0.3),
        AnyBoostClassifier("doom2", n_estimators=12),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_values_of_variants_of_adaboost_are_additive(model):
    X, y = mixed_rows(3)
    model.fit(X, y > np.median(y))
    for options in ({}, {"background": X[:4]}, {"interactions": True}):
        found = model.explain(X[:50], **options)
        np.testing.assert_allclose(found.prediction, model.decision_function(X[:50]), atol=1e-6)


def test_ensembles_that_are_not_additive_raise():
    X, y = mixed_rows(3)
    y = y > np.median(y)
    with pytest.raises(TypeError, match="voting='hard'"):
        BaggingClassifier(voting="hard", n_estimators=3).fit(X, y).explain(X)
    with pytest.raises(TypeError, match="does not support a GradientBoostingClassifier"):
        BaggingClassifier(GradientBoostingClassifier(n_estimators=2), 3).fit(X, y).explain(X)


def test_a_weighted_median_is_not_additive_and_raises():
    X, y = mixed_rows(3)
    model = AdaBoostRegressor(n_estimators=3, random_state=0).fit(X[["a", "b"]].fillna(0), y)
    with pytest.raises(TypeError, match="AdaBoostRegressor"):
        explain(model, X[["a", "b"]].fillna(0))


def test_interaction_matrices_are_symmetric_and_their_rows_sum_to_the_values():
    model, X = boosted(n_estimators=10)
    values = model.explain(X[:40]).values
    matrices = model.explain(X[:40], interactions=True).values
    np.testing.assert_allclose(matrices, matrices.transpose(0, 2, 1), atol=1e-14)
    np.testing.assert_allclose(matrices.sum(axis=2), values, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"background": True}, {"interactions": True}])
def test_values_depend_neither_on_threads_nor_on_the_instruction_set(options):
    model, X = boosted(n_estimators=10)
    ensemble, columns = model._terms.ensemble, model._encoder.transform(X)
    others = model._encoder.transform(X[:5]) if "background" in options else None
    pairs = "interactions" in options
    expected, _ = _core.shap_values(ensemble, columns, others, pairs, 1)
    sets = ["baseline"] if _core.best_isa() == "baseline" else ["baseline", "avx2"]
    for threads, isa in [(3, "auto"), *((1, isa) for isa in sets)]:
        values, _ = _core.shap_values(ensemble, columns, others, pairs, threads, isa)
        assert np.array_equal(values, expected)
    alone = [_core.shap_values(ensemble, [c[i : i + 1] for c in columns], others, pairs, 1)[0][0]
             for i in range(5)]  # fmt: skip
    assert np.array_equal(np.array(alone), expected[:5])


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(2, 6))
def test_an_unused_feature_has_value_zero_and_the_others_are_additive(seed, depth, features):
    random = np.random.default_rng(seed)
    X = random.integers(0, 4, size=(60, features)).astype(float)
    y = random.normal(size=60)
    model = DecisionTreeRegressor(max_depth=depth, random_state=0).fit(X[:, :-1], y)
    wide = DecisionTreeRegressor(max_depth=depth, random_state=0)
    wide.fit(np.column_stack([X[:, :-1], np.zeros(60)]), y)
    found = explain(wide, np.column_stack([X[:, :-1], X[:, -1]]))
    assert not found.values[:, -1].any()
    np.testing.assert_allclose(found.values[:, :-1], model.explain(X[:, :-1]).values, atol=1e-12)
    np.testing.assert_allclose(found.prediction, wide.predict(X), atol=1e-9)


def test_values_of_a_path_of_many_features_are_exact():
    # A chain of 90 splits, each on another feature, which needs 45 quadrature points.
    n = 90
    ensemble = _core.Ensemble(n, 1, [0.0], [])
    # Node 2k is split k, its left child a leaf and its right child the next split.
    feature = np.full(2 * n + 1, -1, dtype=np.int32)
    left = np.full(2 * n + 1, -1, dtype=np.int32)
    value, cover = np.zeros((2 * n + 1, 1)), np.zeros(2 * n + 1)
    at, weight = 0, 1.0
    for k in range(n):
        feature[at], left[at], cover[at] = k, 2 * k + 1, weight
        cover[2 * k + 1], weight = weight * 0.1, weight * 0.9
        at = 2 * k + 2
    value[at], cover[at] = 1.0, weight
    threshold = np.where(feature >= 0, 0.5, 0.0)
    sides = np.zeros(2 * n + 1, dtype=bool)
    _core.add_tree(
        ensemble,
        feature,
        threshold,
        left,
        sides,
        [None] * (2 * n + 1),
        value,
        np.zeros(2 * n + 1),
        cover,
    )
    values, base = _core.shap_values(ensemble, np.ones((1, n)))
    # By symmetry, each feature gets the same share of 1 - base.
    np.testing.assert_allclose(base, 0.9**n, rtol=1e-5)
    np.testing.assert_allclose(values[0, :, 0], (1 - base[0]) / n, rtol=1e-5)


def test_invalid_input_raises():
    model, X = boosted()
    with pytest.raises(ValueError, match="missing"):
        model.explain(X.drop(columns="a"))
    with pytest.raises(ValueError, match="same order"):
        model.explain(X[["b", "a", "c", "d", "colour"]])
    with pytest.raises(ValueError, match=r"no rows|0 sample"):
        model.explain(X, background=X[:0])
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import LinearRegression, Ridge

    with pytest.raises(NotFittedError):
        GradientBoostingRegressor().explain(X)
    with pytest.raises(TypeError, match="LinearRegression"):
        explain(LinearRegression().fit([[0.0], [1.0]], [0, 1]), [[0.0]])
    general = GradientBoostingRegressor(estimator=Ridge(), n_estimators=2)
    general.fit(np.zeros((5, 1)) + np.arange(5.0)[:, None], np.arange(5.0))
    with pytest.raises(TypeError, match="trees"):
        general.explain([[0.0]])


def test_surrogate_splits_raise_only_for_rows_with_missing_values():
    X, y = mixed_rows(5)
    tree = DecisionTreeRegressor(missing="surrogate", max_depth=4, random_state=0).fit(X, y)
    complete = X.dropna()
    found = tree.explain(complete)
    np.testing.assert_allclose(found.prediction, tree.predict(complete), atol=1e-9)
    with pytest.raises(ValueError, match="surrogate"):
        tree.explain(X)


@pytest.mark.parametrize("rows", [1, 300])
def test_interventional_values_and_interactions_agree(rows):
    # Values are computed leaf by leaf, interactions by quadrature.
    model, X = boosted(n_estimators=10)
    values = model.explain(X, background=X[:rows]).values
    matrices = model.explain(X[:50], background=X[:rows], interactions=True).values
    np.testing.assert_allclose(matrices.sum(axis=2), values[:50], atol=1e-12)


def test_a_background_of_one_row_is_the_base():
    model, X = boosted()
    found = model.explain(X[:10], background=X[7:8])
    np.testing.assert_allclose(found.base, model.predict(X[7:8])[0])
    np.testing.assert_allclose(found.values[7], 0, atol=1e-15)


def test_an_explanation_holds_levels_and_selects_outputs_and_rows():
    X, y = mixed_rows(1)
    labels = np.array(["low", "mid", "high"])[np.digitize(y, [-0.5, 0.5])]
    model = GradientBoostingClassifier(n_estimators=3).fit(X, labels)
    found = model.explain(X[:20])
    assert found.values.shape == (20, 5, 3)
    assert found.data[0, 4] in ("red", "green", "blue", None)
    one = found.output("mid")
    assert one.values.shape == (20, 5)
    assert one.output_names == ["mid"]
    assert len(found[3:5]) == 2
    assert found[3].values.shape == (1, 5, 3)
    with pytest.raises(ValueError, match="outputs"):
        found.output()
    with pytest.raises(ValueError, match="not an output of the model"):
        found.output("nowhere")


def test_conversion_to_shap_keeps_the_values():
    shap = pytest.importorskip("shap")
    model, X = boosted()
    found = model.explain(X[:4])
    theirs = found.to_shap()
    assert isinstance(theirs, shap.Explanation)
    np.testing.assert_array_equal(theirs.values, found.values)


def test_values_match_lightgbm_on_the_same_tree():
    lightgbm = pytest.importorskip("lightgbm")
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 6))
    y = X[:, 0] * X[:, 1] + X[:, 2]
    theirs = lightgbm.LGBMRegressor(
        n_estimators=1, num_leaves=15, learning_rate=1.0, verbose=-1
    ).fit(X, y)
    frame = theirs.booster_.trees_to_dataframe()
    model = _core.Ensemble(6, 1, [0.0], [])
    _core.add_tree(model, *arrays_of(frame))
    expected = theirs.predict(X, pred_contrib=True)
    values, base = _core.shap_values(model, X)
    np.testing.assert_allclose(values[..., 0], expected[:, :-1], atol=1e-5)
    np.testing.assert_allclose(base[0], expected[0, -1], atol=1e-5)


def arrays_of(frame):
    """LightGBM's table of one tree as the core's arrays: children adjacent, and after their parent."""
    by_name = frame.set_index("node_index")
    order, left = [frame.node_index[0]], []
    for name in order:
        node = by_name.loc[name]
        if isinstance(node.left_child, str):
            left.append(len(order))
            order += [node.left_child, node.right_child]
        else:
            left.append(-1)
    nodes = by_name.loc[order]
    inner = np.array(left) >= 0
    feature = [
        int(f.split("_")[1]) if i else -1 for f, i in zip(nodes.split_feature, inner, strict=True)
    ]
    return (
        np.array(feature, dtype=np.int32),
        np.where(inner, nodes.threshold.to_numpy(float), 0.0),
        np.array(left, dtype=np.int32),
        np.zeros(len(order), dtype=bool),
        [None] * len(order),
        nodes["value"].to_numpy(float)[:, None].copy(),
        np.zeros(len(order)),
        nodes["count"].to_numpy(float).copy(),
    )


@pytest.mark.parametrize("with_background", [False, True])
def test_features_of_one_player_are_known_together(with_background):
    random = np.random.default_rng(4)
    X = random.normal(size=(300, 5))
    model = GradientBoostingRegressor(n_estimators=3, max_leaf_nodes=12, early_stopping=False)
    model.fit(X, X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4])
    ensemble, players = model._terms.ensemble, [0, 1, 0, 2, 1]
    background = X[:4] if with_background else None
    values, base = _core.shap_values(ensemble, X[10:13], background, False, 1, "auto", players)
    pairs, _ = _core.shap_values(ensemble, X[10:13], background, True, 1, "auto", players)
    trees = [ensemble.tree_arrays(t) for t in range(ensemble.n_trees)]
    for i, row in enumerate(X[10:13]):

        def game(known, row=row):
            features = frozenset(f for f in range(5) if players[f] in known)
            games = (
                interventional_game(tree, row, X[:4])
                if with_background
                else path_dependent_game(tree, row)
                for tree in trees
            )
            return sum(game(features) for game in games)

        np.testing.assert_allclose(values[i, :, 0], shapley_values(game, 3).ravel(), atol=1e-9)
        expected = shapley_interactions(game, 3).reshape(3, 3)
        np.testing.assert_allclose(pairs[i, :, :, 0], expected, atol=1e-9)
    np.testing.assert_allclose(
        base + values.sum(axis=1), ensemble.predict_raw(X[10:13], 0, ensemble.n_trees), atol=1e-9
    )
