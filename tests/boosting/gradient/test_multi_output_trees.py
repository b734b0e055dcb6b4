"""Trees whose leaves have one value per output."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor, load

SHARED = {"multi_strategy": "multi_output_tree", "random_state": 0}


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True)


def test_a_round_adds_one_tree(wine):
    model = GradientBoostingClassifier(**SHARED, n_estimators=12).fit(*wine)
    assert model.n_iter_ == 12
    assert model._terms.ensemble.n_trees == 12
    each = GradientBoostingClassifier(random_state=0, n_estimators=12).fit(*wine)
    assert each._terms.ensemble.n_trees == 3 * 12


def test_digits_are_predicted_better_than_with_one_tree_per_class():
    X, y = load_digits(return_X_y=True)
    losses = []
    for strategy in ("multi_output_tree", "one_output_per_tree"):
        model = GradientBoostingClassifier(
            multi_strategy=strategy, random_state=0, n_estimators=100, min_samples_leaf=5
        )
        probability = model.fit(X[:600], y[:600]).predict_proba(X[600:])
        losses.append(-np.log(probability[np.arange(len(probability)), y[600:]]).mean())
    assert losses[0] < losses[1]


def test_staged_predictions_warm_starts_and_threads_agree(wine):
    X, y = wine
    whole = GradientBoostingClassifier(**SHARED, n_estimators=20, n_jobs=1).fit(X, y)
    stages = list(whole.staged_predict_proba(X))
    assert len(stages) == 20
    np.testing.assert_allclose(stages[-1], whole.predict_proba(X), rtol=1e-12)
    grown = GradientBoostingClassifier(**SHARED, n_estimators=8, warm_start=True, n_jobs=2)
    grown.fit(X, y).set_params(n_estimators=20).fit(X, y)
    assert np.array_equal(grown.predict_proba(X), whole.predict_proba(X))


def test_a_warm_start_keeps_the_strategy(wine):
    model = GradientBoostingClassifier(random_state=0, n_estimators=5, warm_start=True).fit(*wine)
    model.set_params(n_estimators=8, multi_strategy="multi_output_tree").fit(*wine)
    assert model.parameters_["multi_strategy"] == "one_output_per_tree"
    assert model._terms.ensemble.n_trees == 3 * 8


@pytest.mark.parametrize("runs", [1, 3])
def test_saved_models_predict_and_explain_the_same(wine, tmp_path, runs):
    X, y = wine
    model = GradientBoostingClassifier(**SHARED, n_estimators=15, n_runs=runs).fit(X, y)
    model.save(tmp_path / "model.bosquet")
    loaded = load(tmp_path / "model.bosquet")
    assert loaded.n_iter_ == 15
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    explanation = loaded.explain(X[:20])
    sums = explanation.values.sum(axis=1) + explanation.base
    np.testing.assert_allclose(sums, model.decision_function(X[:20]), atol=1e-9)
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_the_predictor_of_single_rows_agrees(wine):
    X, y = wine
    model = GradientBoostingClassifier(**SHARED, n_estimators=15).fit(X, y)
    np.testing.assert_allclose(model.predictor()(X[3]), model.predict_proba(X[3:4])[0], rtol=1e-12)


@pytest.mark.parametrize(
    "given", [{"loss": "quantile", "quantile": [0.1, 0.5, 0.9]}, {"loss": "absolute_error"}]
)
def test_leaves_of_several_targets_minimise_the_loss(wine, given):
    X = wine[0]
    y = X[:, 0] if "quantile" in given else X[:, :2]
    model = GradientBoostingRegressor(**SHARED, **given, n_estimators=60, learning_rate=0.3)
    losses = model.fit(X, y).train_score_
    assert losses[-1] < 0.4 * losses[0]
    if "quantile" in given:
        assert (np.diff(model.predict(X), axis=1) >= 0).all()


def test_weights_count_as_repeated_rows(wine):
    X, y = wine
    weight = np.arange(len(y)) % 3
    repeated = np.repeat(np.arange(len(y)), weight)
    # Quantisation and bins are those of the same rows, so that only rounding differs.
    given = SHARED | {"n_estimators": 3, "min_samples_leaf": 1, "max_features": None}
    weighted = GradientBoostingClassifier(**given).fit(X, y, sample_weight=weight)
    plain = GradientBoostingClassifier(**given).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(
        weighted.predict_proba(X), plain.predict_proba(X), rtol=1e-4, atol=1e-4
    )


def test_monotone_constraints_are_refused_with_the_remedy(wine):
    X = wine[0]
    model = GradientBoostingRegressor(**SHARED, monotonic_cst={1: 1})
    with pytest.raises(ValueError, match="set multi_strategy='one_output_per_tree'"):
        model.fit(X, X[:, :2])
