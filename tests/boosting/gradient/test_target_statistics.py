"""categorical_encoding="target": trees that split on mean targets of levels and their combinations."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import bosquet
from bosquet import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.explain import (
    individual_conditional_expectation,
    partial_dependence,
    shape_functions,
)

SMALL = {"n_estimators": 12, "min_samples_leaf": 5, "random_state": 0}


def make_table(rows=1_200, seed=0, missing=True):
    """Two columns of many levels whose combination decides, one of few levels, one quantity."""
    random = np.random.default_rng(seed)
    user, item = random.integers(0, 60, rows), random.integers(0, 40, rows)
    effect = np.random.default_rng(99).normal(size=(60, 40)) + 0.0
    X = pd.DataFrame(
        {
            "user": pd.Series([f"u{u}" for u in user]),
            "area": random.normal(size=rows),
            "item": pd.Series([f"i{i}" for i in item]),
            "kind": pd.Series(random.choice(["a", "b", "c"], rows)),
        }
    )
    signal = effect[user % 9, item % 7] * 2 + 0.3 * X["area"].to_numpy()
    if missing:
        X.loc[random.random(rows) < 0.05, "user"] = None
        X.loc[random.random(rows) < 0.05, "area"] = np.nan
    return X, signal + random.logistic(size=rows) * 0.3


def classifier(**options):
    return GradientBoostingClassifier(**{**SMALL, "categorical_encoding": "target", **options})


def regressor(**options):
    return GradientBoostingRegressor(**{**SMALL, "categorical_encoding": "target", **options})


@pytest.fixture(scope="module")
def data():
    X, signal = make_table()
    return X, (signal > 0).astype(int), signal


def raw_of(model, X):
    return model.decision_function(X) if hasattr(model, "classes_") else model.predict(X)


# ------------------------------------------------------------------------ what it is for
def test_means_of_many_levels_predict_better_than_sets_of_levels():
    random = np.random.default_rng(0)
    effect = random.normal(size=800)
    codes = random.integers(0, 800, (8_000, 2))
    X = pd.DataFrame(codes.astype(str), columns=["user", "item"])
    y = (effect[codes].sum(axis=1) + random.logistic(size=8_000) / 2 > 0).astype(int)
    loss = {}
    for encoding in ("levels", "target"):
        model = GradientBoostingClassifier(categorical_encoding=encoding, random_state=0)
        model.fit(X[:6_000], y[:6_000])
        loss[encoding] = log_loss(y[6_000:], model.predict_proba(X[6_000:]))
    assert loss["target"] < loss["levels"]


def test_levels_that_occur_once_do_not_reveal_the_target():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"id": [f"r{i}" for i in range(2_000)], "x": random.normal(size=2_000)})
    y = random.integers(0, 2, 2_000)
    model = classifier(n_estimators=50, early_stopping=False).fit(X, y)
    assert np.array_equal(model.predict_proba(X), model.predict_proba(X.assign(id="r0")))
    assert model.feature_importances_[0] == 0


def test_a_pair_of_columns_is_found(data):
    X, y, _ = data
    groups = [group.columns for group in classifier().fit(X, y)._terms.statistics.groups]
    assert {(0,), (2,), (3,), (0, 2)} <= set(groups)


def test_auto_uses_statistics_if_a_column_has_many_levels(data):
    X, y, _ = data
    assert classifier(categorical_encoding="auto").fit(X, y)._terms.statistics is None
    many = X.assign(user=[f"r{i}" for i in range(len(X))])
    assert classifier(categorical_encoding="auto").fit(many, y)._terms.statistics is not None


def test_without_categorical_columns_both_encodings_are_the_same():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 3))
    raw = [
        regressor(categorical_encoding=encoding).fit(X, X[:, 0]).predict(X)
        for encoding in ("levels", "target")
    ]
    assert np.array_equal(*raw)


# ------------------------------------------------------------------------------ same bits
def test_the_bits_do_not_depend_on_the_threads_or_the_container():
    X, signal = make_table(30_000)
    y = (signal > 0).astype(int)
    expected = classifier(n_jobs=1).fit(X, y).decision_function(X)
    for threads in (2, 3):
        assert np.array_equal(classifier(n_jobs=threads).fit(X, y).decision_function(X), expected)
    for other in (pl.from_pandas(X), X.astype({"user": "category", "item": "category"})):
        model = classifier(n_jobs=2).fit(other, y)
        assert np.array_equal(model.decision_function(X), expected)


def test_weights_of_one_and_integer_weights_act_as_copies_of_rows(data):
    X, y, _ = data
    plain = classifier(early_stopping=False).fit(X, y)
    ones = classifier(early_stopping=False).fit(X, y, sample_weight=np.ones(len(y)))
    np.testing.assert_allclose(raw_of(plain, X), raw_of(ones, X), rtol=1e-6)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    weighted = classifier(early_stopping=False).fit(X, y, sample_weight=weight)
    copied = classifier(early_stopping=False).fit(
        X.loc[X.index.repeat(weight)], np.repeat(y, weight)
    )
    groups = {group.columns: group for group in weighted._terms.statistics.groups}
    for group in copied._terms.statistics.groups:
        if group.columns in groups:
            np.testing.assert_array_equal(group.sums, groups[group.columns].sums)
            np.testing.assert_array_equal(group.weight, groups[group.columns].weight)


# ----------------------------------------------------- the other ways to fit a model
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"early_stopping": True, "validation_fraction": 0.3},
        {"early_stopping": True, "refit": False},
        {"early_stopping": "cv", "cv": 3},
        {"n_runs": 2},
        {"subsample": 0.5},
        {"subsample": 0.5, "sampling": "gradient"},
        {"step": "gradient"},
        {"max_features": None, "growth": "depth", "max_depth": 3},
        {"interaction_cst": [[0, 2], [1, 3]]},
        {"interaction_cst": "no_interactions"},
        {"monotonic_cst": [0, 1, 0, 0]},
    ],
    ids=str,
)
@pytest.mark.parametrize("make", [classifier, regressor])
def test_every_way_to_fit_gives_a_model_that_can_be_saved(make, options, data, tmp_path):
    X, y, signal = data
    model = make(**options).fit(X, y if make is classifier else signal)
    raw = raw_of(model, X)
    assert np.isfinite(raw).all()
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    for other in (loaded, pickle.loads(pickle.dumps(model))):
        assert np.array_equal(raw_of(other, X), raw)
    assert np.array_equal(raw_of(clone(model).fit(X, y if make is classifier else signal), X), raw)


@pytest.mark.parametrize("refit", [True, False])
def test_warm_starts_give_the_same_model_as_one_fit(data, refit):
    X, y, _ = data
    options = {"early_stopping": True, "refit": refit, "learning_rate": 0.3, "n_iter_no_change": 5}
    whole = classifier(**options, n_estimators=40).fit(X, y)
    parts = classifier(**options, n_estimators=3, warm_start=True).fit(X, y)
    parts.set_params(n_estimators=40).fit(X, y)
    assert np.array_equal(raw_of(parts, X), raw_of(whole, X))


def test_a_warm_start_on_other_rows_is_an_error(data):
    X, y, _ = data
    model = classifier(warm_start=True, early_stopping=False).fit(X, y)
    model.set_params(n_estimators=20)
    with pytest.raises(ValueError, match="needs the rows of the first fit"):
        model.fit(X[:-1], y[:-1])


def test_several_classes_and_several_targets_have_a_statistic_each(data):
    X, _, signal = data
    three = np.digitize(signal, [-1, 1])
    model = classifier().fit(X, three)
    assert model._terms.statistics.prior.size == 3
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    two_targets = regressor().fit(X, np.column_stack([signal, -signal]))
    assert two_targets.predict(X).shape == (len(X), 2)


def test_the_predictor_gives_the_predictions_of_the_model(data):
    X, y, _ = data
    model = classifier().fit(X, y)
    predictor = pickle.loads(pickle.dumps(model.predictor()))
    codes = predictor.encode(X)
    np.testing.assert_array_equal(predictor(codes), model.predict_proba(X))
    np.testing.assert_array_equal(predictor(codes[3]), model.predict_proba(X[3:4])[0])


# ---------------------------------------------------------------------------- bad input
def test_unusual_columns_are_accepted():
    X, signal = make_table(500)
    y = (signal > 0).astype(int)
    X = X.assign(
        one="same",
        each=[f"r{i}" for i in range(500)],
        nothing=pd.Series([None] * 500, dtype=object),
        half=[None if i % 2 else "x" for i in range(500)],
    )
    model = classifier().fit(X, y)
    new = X.head(20).assign(user="new", each="other", one="different", nothing="something")
    assert np.isfinite(model.predict_proba(new)).all()


def test_an_unseen_level_is_not_a_missing_value():
    random = np.random.default_rng(0)
    level = random.choice(["a", "b", "missing"], 3_000)
    y = (random.random(3_000) < np.where(level == "missing", 0.95, 0.3)).astype(int)
    X = pd.DataFrame(
        {"level": np.where(level == "missing", None, level), "x": random.normal(size=3_000)}
    )
    model = classifier().fit(X, y)
    new = pd.DataFrame({"level": ["a", None, "unseen"], "x": [0.0, 0.0, 0.0]})
    statistics = model._terms.statistics
    mean = statistics.tree_columns(model._encoder.transform(new))[2]
    assert mean[0] == pytest.approx(0.3, abs=0.05)
    assert mean[1] == pytest.approx(0.95, abs=0.05)
    assert mean[2] == np.float32(statistics.prior[0])


@pytest.mark.slow
def test_a_column_of_a_million_levels_gets_no_importance():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"id": np.arange(1_000_000), "x": random.normal(size=1_000_000)})
    y = (X["x"] + random.normal(size=1_000_000) > 0).astype(int)
    model = classifier(categorical_features=["id"], n_estimators=2, early_stopping=False).fit(X, y)
    assert model.feature_importances_.tolist() == [0.0, 1.0]


def test_more_levels_than_bins_of_the_core_can_have():
    rows = 70_000
    random = np.random.default_rng(0)
    X = np.column_stack([np.arange(rows), random.normal(size=rows)])
    model = regressor(categorical_features=[0], n_estimators=3, early_stopping=False)
    model.fit(X, X[:, 1])
    assert np.corrcoef(model.predict(X), X[:, 1])[0, 1] > 0.9


def test_an_unknown_encoding_is_an_error(data):
    X, y, _ = data
    with pytest.raises(ValueError, match="categorical_encoding='codes' is not valid"):
        classifier(categorical_encoding="codes").fit(X, y)


# -------------------------------------------------------------------------- explanations
@pytest.mark.parametrize("interactions", [False, True])
@pytest.mark.parametrize("with_background", [False, True])
def test_shapley_values_of_the_columns_sum_to_the_prediction(data, interactions, with_background):
    X, y, _ = data
    model = classifier().fit(X, y)
    rows, background = X.head(30), X.tail(9) if with_background else None
    found = model.explain(rows, background=background, interactions=interactions)
    assert found.feature_names == list(X.columns)
    assert found.values.shape[1] == 4
    np.testing.assert_allclose(found.prediction, model.decision_function(rows), atol=1e-9)
    if interactions:
        np.testing.assert_allclose(found.values, np.swapaxes(found.values, 1, 2), atol=1e-12)


def test_importances_belong_to_the_columns_of_the_table(data):
    X, y, _ = data
    model = classifier().fit(X, y)
    assert model.feature_importances_.shape == (4,)
    assert model.feature_importances_.sum() == pytest.approx(1)
    assert set(np.argsort(model.feature_importances_)[-2:]) == {0, 2}
    for kind in ("gain", "split", "shap"):
        arguments = {"X": X.head(50)} if kind == "shap" else {}
        found = bosquet.explain.importance(model, kind=kind, **arguments)
        assert len(found.mean) == 4


def test_partial_dependence_recomputes_the_statistics(data):
    X, y, _ = data
    X = X.fillna({"user": "u0"})
    model = classifier().fit(X, y)
    for feature, value in (("user", "u7"), ("area", 0.5)):
        found = partial_dependence(model, X, feature, grid=[value], response="raw")
        expected = model.decision_function(X.assign(**{feature: value})).mean()
        np.testing.assert_allclose(found.average, [expected], atol=1e-9)
    pair = partial_dependence(model, X.head(50), ("kind", "area"), grid=5)
    assert np.isfinite(pair.average).all()
    curves = individual_conditional_expectation(model, X.head(5), "user")
    assert np.isfinite(curves.individual).all()


def test_what_cannot_be_computed_is_an_error(data):
    X, y, _ = data
    model = classifier(max_leaf_nodes=2).fit(X, y)
    assert np.isfinite(partial_dependence(model, X, "area", method="recursion").average).all()
    with pytest.raises(ValueError, match="does not support column 'user'"):
        partial_dependence(model, X, "user", method="recursion")
    with pytest.raises(ValueError, match="does not support target statistics"):
        shape_functions(model)


def test_no_warning_is_raised(data):
    X, y, signal = data
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier().fit(X, y).predict_proba(X)
        regressor(loss="quantile").fit(X, signal).predict(X)
