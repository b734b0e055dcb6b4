"""Fitted attributes and failed fits, for every estimator that reads tables itself."""

import numpy as np
import pandas as pd
import pytest

import bosquet

MODELS = [
    bosquet.AdaBoostClassifier(n_estimators=3),
    bosquet.AdaBoostRegressor(n_estimators=3),
    bosquet.AnyBoostClassifier(n_estimators=3),
    bosquet.BaggingClassifier(n_estimators=3),
    bosquet.BrownBoostClassifier(),
    bosquet.DecisionTreeClassifier(),
    bosquet.DecisionTreeRegressor(),
    bosquet.ExtraTreesRegressor(n_estimators=3),
    bosquet.GradientBoostingClassifier(n_estimators=3),
    bosquet.GradientBoostingRegressor(n_estimators=3),
    bosquet.LPBoostClassifier(n_estimators=5),
    bosquet.RandomForestClassifier(n_estimators=3),
]


def rows(seed=0):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_without_names_deletes_those_of_an_earlier_fit(model):
    X, y = rows()
    model.fit(pd.DataFrame(X, columns=["height", "width"]), y)
    assert list(model.feature_names_in_) == ["height", "width"]
    model.fit(X, y)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_failed_fit_leaves_the_model_unchanged(model):
    X, y = rows()
    predictions = model.fit(X, y).predict(X)
    before = dict(model.__dict__)
    with pytest.raises(ValueError, match="sample_weight"):
        model.fit(X[:, :1], y, sample_weight=-np.ones(y.size))
    assert model.__dict__ == before
    np.testing.assert_array_equal(model.predict(X), predictions)
