"""`predictor()` returns the same bits as the methods of the estimator."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from bosquet import GradientBoostingClassifier, GradientBoostingRegressor

ROWS = (1, 5, 15, 16, 200)


class LogOdds:
    """A custom two-class loss: its raw predictions are interpreted as log-odds."""

    def value(self, y, raw):
        return np.logaddexp(0, raw) - y * raw


class ScaledOdds(LogOdds):
    """The same, with its own inverse link function."""

    def inverse_link(self, raw):
        return 1 / (1 + np.exp(-2 * raw))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    X[::17, 1] = np.nan
    return X, X[:, 0] + rng.normal(size=300)


def small(kind, loss, **more):
    return kind(loss, n_estimators=5, max_leaf_nodes=6, random_state=0, **more)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "loss", ["log_loss", "exponential", "squared_hinge", LogOdds(), ScaledOdds()]
)
def test_a_predictor_returns_the_probabilities_of_two_classes(table, loss, dtype):
    X, y = table[0].astype(dtype), (table[1] > 0).astype(int)
    model = small(GradientBoostingClassifier, loss).fit(X, y)
    predictor = model.predictor()
    expected = model.predict_proba(X)
    assert expected.shape == (300, 2)
    for rows in ROWS:
        np.testing.assert_array_equal(predictor(X[:rows]), expected[:rows])
    np.testing.assert_array_equal(predictor(X[3]), expected[3])


def test_a_predictor_returns_the_probabilities_of_many_classes(table):
    X, y = table
    labels = np.digitize(y, [-1, 0, 1])
    model = small(GradientBoostingClassifier, "log_loss").fit(X, labels)
    predictor, expected = model.predictor(), model.predict_proba(X)
    for rows in ROWS:
        np.testing.assert_array_equal(predictor(X[:rows]), expected[:rows])
    np.testing.assert_array_equal(predictor(X[3]), expected[3])


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "absolute_error"])
def test_a_predictor_returns_the_predictions_of_a_regressor(table, loss):
    X, y = table
    model = small(GradientBoostingRegressor, loss).fit(X, np.abs(y) + 0.1)
    predictor, expected = model.predictor(), model.predict(X)
    for rows in ROWS:
        np.testing.assert_array_equal(predictor(X[:rows]), expected[:rows])
    assert predictor(X[3]) == expected[3]


def test_a_predictor_returns_a_column_per_quantile(table):
    X, y = table
    model = small(GradientBoostingRegressor, "quantile", quantile=[0.1, 0.9]).fit(X, y)
    predictor, expected = model.predictor(), model.predict(X)
    np.testing.assert_array_equal(predictor(X), expected)
    np.testing.assert_array_equal(predictor(X[3]), expected[3])


def test_a_pickled_predictor_makes_the_same_predictions(table):
    X, y = table
    predictor = small(GradientBoostingRegressor, "poisson").fit(X, np.abs(y)).predictor()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(predictor))(X), predictor(X))


def test_input_of_the_wrong_shape_or_type_is_named(table):
    X, y = table
    predictor = small(GradientBoostingRegressor, "squared_error").fit(X, y).predictor()
    with pytest.raises(ValueError, match="5 features, but the data has 4 columns"):
        predictor(X[:, :4].copy())
    with pytest.raises(ValueError, match="pass float32 or float64"):
        predictor(np.ones((2, 5), dtype=int))


def test_models_of_other_learners_have_no_predictor(table):
    from sklearn.tree import DecisionTreeRegressor

    X, y = np.nan_to_num(table[0]), table[1]
    model = small(GradientBoostingRegressor, "squared_error", estimator=DecisionTreeRegressor())
    with pytest.raises(ValueError, match="native trees"):
        model.fit(X, y).predictor()
