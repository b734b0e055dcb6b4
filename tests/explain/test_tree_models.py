"""The trees of a fitted model, from the contract between models and explanations."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as SklearnForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

import bosquet
from bosquet.explain.tree_models import tree_model

CLASSIFIERS = [
    bosquet.DecisionTreeClassifier(max_depth=3),
    bosquet.RandomForestClassifier(5, random_state=0),
    bosquet.RandomForestClassifier(5, voting="hard", random_state=0),
    bosquet.ExtraTreesClassifier(5, random_state=0),
    bosquet.GradientBoostingClassifier(n_estimators=5),
    bosquet.AdaBoostClassifier(n_estimators=5),
    bosquet.AnyBoostClassifier(n_estimators=5),
]
REGRESSORS = [
    bosquet.DecisionTreeRegressor(max_depth=3),
    bosquet.RandomForestRegressor(5, random_state=0),
    bosquet.ExtraTreesRegressor(5, random_state=0),
    bosquet.GradientBoostingRegressor(n_estimators=5),
    bosquet.GradientBoostingRegressor(n_estimators=5, loss="poisson"),
]


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 4))
    return X, np.abs(X[:, 0] + X[:, 1] * X[:, 2]), np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])


def name_of(model):
    return type(model).__name__


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_the_response_of_the_trees_is_the_probability(model, n_classes, table):
    X, _, labels = table
    model.fit(X, np.minimum(labels, n_classes - 1))
    trees = tree_model(model)
    found = trees.response(trees.predict_raw(trees.columns(X, "test")))
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("model", REGRESSORS, ids=name_of)
def test_the_response_of_the_trees_is_the_prediction(model, table):
    X, y, _ = table
    model.fit(X, y)
    trees = tree_model(model)
    found = trees.response(trees.predict_raw(trees.columns(X, "test")))
    np.testing.assert_allclose(found[:, 0], model.predict(X), rtol=1e-12)
    assert trees.linear == (getattr(model, "loss", "squared_error") == "squared_error")


@pytest.mark.parametrize("model", [bosquet.BrownBoostClassifier(), bosquet.LPBoostClassifier()])
def test_the_trees_of_a_robust_vote_are_its_decision_function(model, table):
    X, _, labels = table
    model.fit(X, labels > 0)
    trees = tree_model(model)
    found = trees.response(trees.predict_raw(trees.columns(X, "test")))
    np.testing.assert_allclose(found[:, 0], model.decision_function(X), rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        bosquet.AdaBoostRegressor(n_estimators=3),
        bosquet.GradientBoostingRegressor(estimator=Ridge(), n_estimators=3),
        bosquet.BaggingRegressor(n_estimators=3),
        Ridge(),
    ],
    ids=name_of,
)
def test_other_regressors_are_not_sums_of_trees(model, table):
    assert tree_model(model.fit(table[0], table[1])) is None


@pytest.mark.parametrize(
    "model",
    [
        bosquet.AdaBoostClassifier(LogisticRegression(), n_estimators=3),
        SklearnForest(3),  # the name of its class is also that of a class of Bosquet
    ],
    ids=name_of,
)
def test_other_classifiers_are_not_sums_of_trees(model, table):
    assert tree_model(model.fit(table[0], table[2])) is None


def test_a_subclass_has_the_trees_of_its_base_class(table):
    class OwnForest(bosquet.RandomForestRegressor):
        pass

    X, y, _ = table
    own = OwnForest(5, random_state=0).fit(X, y)
    base = bosquet.RandomForestRegressor(5, random_state=0).fit(X, y)
    np.testing.assert_array_equal(own.explain(X[:5]).values, base.explain(X[:5]).values)


def test_a_subclass_of_bagging_is_explained_as_an_average(table):
    class OwnBagging(bosquet.BaggingRegressor):
        pass

    X, y, _ = table
    model = OwnBagging(n_estimators=3, random_state=0).fit(X, y)
    found = model.explain(X[:5])
    np.testing.assert_allclose(found.values.sum(axis=1) + found.base, model.predict(X[:5]))


def test_an_unfitted_model_has_no_trees_yet():
    with pytest.raises(NotFittedError):
        tree_model(bosquet.GradientBoostingRegressor())
