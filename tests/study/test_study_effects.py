"""Importances and partial dependence of models with known results."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from bosquet import RandomForestClassifier
from bosquet.explain import importance
from bosquet.study.explain import effects as _effects
from bosquet.study.explain.effects import dependence_records, permutation_importances
from bosquet.study.metrics.metric import metric_named

RMSE = metric_named("rmse", "regression")


def line(n=300, columns=5, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, columns)), columns=[f"c{k}" for k in range(columns)])
    y = (3 * X["c0"] - 2 * X["c1"]).to_numpy() + random.normal(size=n)
    return X, y, LinearRegression().fit(X, y)


def test_importances_are_those_of_permuting_columns():
    X, y, model = line()
    found = permutation_importances(model, X, y, RMSE, seconds=None, microseconds=1, seed=0)
    assert [one["feature"] for one in found[:2]] == ["c0", "c1"]
    assert found[0]["value"] == 100
    other = importance(model, X, y, "permutation", scoring="neg_root_mean_squared_error")
    expected = dict(zip(other.names, other.scaled, strict=True))
    for one in found:
        assert one["value"] == pytest.approx(expected[one["feature"]], abs=6)
    assert list(X.columns) == [f"c{k}" for k in range(5)]  # the table is unchanged


def test_only_columns_correlated_with_the_predictions_are_permuted(monkeypatch):
    monkeypatch.setattr(_effects, "MAX_PERMUTED", 4)
    X, y, model = line(columns=40)
    X = X.assign(level=pd.Categorical(np.where(X["c0"] > 0, "high", "low")))
    model_class = type(
        "OfNumbers", (), {"predict": lambda self, rows: model.predict(rows.drop(columns="level"))}
    )
    found = permutation_importances(model_class(), X, y, RMSE, seconds=None, microseconds=1, seed=0)
    names = [one["feature"] for one in found]
    assert len(names) == 4
    assert names[:2] == ["c0", "c1"]
    assert "level" in names  # it is correlated with the predictions, but has no effect
    assert next(one for one in found if one["feature"] == "level")["value"] == 0


def test_with_little_time_fewer_rows_and_only_the_best_columns_are_used():
    X, y, model = line(columns=60)
    found = permutation_importances(model, X, y, RMSE, seconds=1e-9, microseconds=1e6, seed=0)
    assert len(found) == _effects.MIN_CALLS
    assert found[0]["feature"] == "c0"


def test_dependence_is_linear_for_a_linear_model_and_has_a_value_per_level():
    X, y, model = line()
    (found,) = dependence_records(
        model, X, y, RMSE, "price", ["c0"], enough_time=lambda: True, seed=0
    )
    slope = np.diff(found["mean"]) / np.diff(found["grid"])
    assert slope == pytest.approx(model.coef_[0])
    assert found["unit"] == "price"
    X = X.assign(
        level=pd.Categorical(np.where(y > 0, "up", "down"), categories=["down", "up", "no"])
    )
    labels = np.where(y > 0, "yes", "no")
    forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, labels)
    metric = metric_named("log_loss", "binary", ["no", "yes"], positive=0)
    (found,) = dependence_records(
        forest, X, labels, metric, "sold", ["level"], enough_time=lambda: True, seed=0
    )
    by_level = dict(zip(found["grid"], found["mean"], strict=True))
    assert set(by_level) == {"up", "down"}  # a level without rows is skipped
    assert by_level["down"] > 0.7 > 0.3 > by_level["up"]
    assert found["unit"] == "probability of no"


def test_without_time_there_is_no_dependence():
    X, y, model = line()
    assert not dependence_records(model, X, y, RMSE, "y", ["c0"], enough_time=lambda: False, seed=0)
