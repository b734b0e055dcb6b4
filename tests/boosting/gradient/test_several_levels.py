"""Several quantiles or expectiles of one target: predictions that never cross."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.stats import expectile
from sklearn.tree import DecisionTreeRegressor

import bosquet
from bosquet import BaggingRegressor, GradientBoostingRegressor
from bosquet.explain import partial_dependence
from bosquet.reference.losses import loss_named, rearranged

LEVELS = [0.4, 0.45, 0.5, 0.55, 0.6]
FEW = {"n_estimators": 30, "max_leaf_nodes": 6, "min_samples_leaf": 5, "random_state": 0}


def noise(rows=300, seed=0):
    """Mostly noise: close levels of an overfitted model cross on many rows."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rows, 4))
    return X, 0.2 * X[:, 0] + random.normal(size=rows)


def fit_model(name="quantile", levels=LEVELS, **options):
    X, y = noise()
    return GradientBoostingRegressor(name, **{name: levels}, **FEW, **options).fit(X, y), X, y


def crossing_rate(predicted, levels):
    return (np.diff(predicted[:, np.argsort(levels)], axis=1) < 0).any(axis=1).mean()


@pytest.mark.parametrize("name", ["quantile", "expectile"])
@pytest.mark.parametrize("levels", [LEVELS, LEVELS[::-1], [0.5, 0.4, 0.6, 0.45, 0.55]])
def test_predictions_never_cross_and_are_the_rearranged_raw_predictions(name, levels):
    model, X, _ = fit_model(name, levels)
    raw, predicted = model._raw(X), model.predict(X)
    assert crossing_rate(raw, levels) > 0.05
    assert crossing_rate(predicted, levels) == 0
    np.testing.assert_array_equal(predicted, rearranged(raw, np.array(levels)))


@pytest.mark.parametrize("name", ["quantile", "expectile"])
def test_the_mean_loss_does_not_increase(name):
    model, X, y = fit_model(name)

    def loss(f):
        return np.mean([loss_named(name, q).value(y, f[:, k]) for k, q in enumerate(LEVELS)])

    assert loss(model.predict(X)) < loss(model._raw(X))


def test_columns_follow_the_given_order_of_the_levels():
    up, X, _ = fit_model(levels=[0.1, 0.9], max_features=None)
    down, _, _ = fit_model(levels=[0.9, 0.1], max_features=None)
    np.testing.assert_array_equal(up.predict(X), down.predict(X)[:, ::-1])


@pytest.mark.parametrize(
    "options", [{}, {"n_runs": 2}, {"estimator": DecisionTreeRegressor(max_depth=3)}]
)
def test_everything_that_predicts_returns_the_same_order(options, tmp_path):
    model, X, _ = fit_model(**options)
    predicted = model.predict(X)
    assert crossing_rate(predicted, LEVELS) == 0
    stages = list(model.staged_predict(X))
    assert all(crossing_rate(stage, LEVELS) == 0 for stage in stages)
    np.testing.assert_allclose(stages[-1], predicted, atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), predicted)
    if "estimator" in options:
        return
    model.save(tmp_path / "model.bosquet")
    np.testing.assert_array_equal(bosquet.load(tmp_path / "model.bosquet").predict(X), predicted)
    predictor = model.predictor()
    np.testing.assert_array_equal(predictor(X), predicted)
    for row in range(20):
        np.testing.assert_array_equal(predictor(X[row]), predicted[row])


def test_several_targets_with_one_level_are_not_sorted():
    X, y = noise()
    both = GradientBoostingRegressor("quantile", quantile=0.5, **FEW).fit(X, np.c_[y + 9, y])
    assert (np.diff(both.predict(X), axis=1) < 0).all()


def test_shapley_values_add_up_to_the_predictions_before_the_rearrangement():
    model, X, _ = fit_model()
    found = model.explain(X)
    np.testing.assert_allclose(found.prediction, model._raw(X), atol=1e-9)
    assert np.abs(found.prediction - model.predict(X)).max() > 1e-3


def test_partial_dependence_is_that_of_the_predictions():
    model, X, _ = fit_model()
    X = pd.DataFrame(X, columns=list("abcd"))
    model.fit(X, noise()[1])
    found = partial_dependence(model, X, "a", grid=[-1.0, 0.0, 1.0])
    for k, point in enumerate([-1.0, 0.0, 1.0]):
        mean = model.predict(X.assign(a=point)).mean(axis=0)
        np.testing.assert_allclose(found.average[k], mean, atol=1e-10)


def test_an_average_of_rearranged_models_has_no_shapley_values():
    X, y = noise()
    model = GradientBoostingRegressor("quantile", quantile=LEVELS, **FEW)
    bag = BaggingRegressor(model, n_estimators=2, random_state=0).fit(X, y)
    assert crossing_rate(bag.predict(X), LEVELS) == 0
    with pytest.raises(TypeError, match="one quantile or expectile"):
        bag.explain(X)


@pytest.mark.parametrize("weighted", [False, True])
def test_expectiles_of_a_constant_are_the_minimisers(weighted):
    random = np.random.default_rng(1)
    y = random.gamma(2, size=200)
    weight = random.uniform(0.2, 3, 200) if weighted else None
    levels = [0.9, 0.02, 0.5, 0.3, 0.99]
    model = GradientBoostingRegressor("expectile", expectile=levels, **FEW)
    found = model.fit(np.zeros((200, 1)), y, weight).predict(np.zeros((1, 1)))[0]
    expected = [expectile(y, alpha=level, weights=weight) for level in levels]
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    one = np.ones(200) if weight is None else weight
    above = [np.sum(one * np.maximum(y - e, 0)) for e in found]
    below = [np.sum(one * np.maximum(e - y, 0)) for e in found]
    np.testing.assert_allclose(np.divide(below, np.add(above, below)), levels, rtol=1e-7)


@pytest.mark.parametrize("step", ["newton", "gradient"])
def test_a_fitted_expectile_of_two_groups_is_that_of_each_group(step):
    random = np.random.default_rng(2)
    X = np.repeat([0.0, 1.0], 150)[:, None]
    y = random.exponential(size=300) * (1 + 3 * X[:, 0])
    model = GradientBoostingRegressor(
        "expectile", expectile=[0.2, 0.8], n_estimators=300, learning_rate=0.2, step=step,
        l2_regularization=0, random_state=0,
    ).fit(X, y)  # fmt: skip
    for group in (0.0, 1.0):
        expected = [expectile(y[X[:, 0] == group], alpha=level) for level in (0.2, 0.8)]
        np.testing.assert_allclose(model.predict([[group]])[0], expected, rtol=1e-6)


def test_the_validation_loss_is_that_of_the_raw_outputs_and_an_upper_bound():
    X, y = noise()
    held_X, held_y = noise(seed=1)
    model = GradientBoostingRegressor("quantile", quantile=LEVELS, early_stopping=False, **FEW)
    model.fit(X, y, eval_set=(held_X, held_y))

    def loss(f):
        return sum(
            loss_named("quantile", q).value(held_y, f[:, k]).mean() for k, q in enumerate(LEVELS)
        )

    assert model.validation_loss_[-1] == pytest.approx(loss(model._raw(held_X)), rel=1e-9)
    assert loss(model.predict(held_X)) < model.validation_loss_[-1]
