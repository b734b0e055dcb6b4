"""Shapley values of single rows: exact for trees, unbiased samples for other models, always adding up."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from bosquet import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
)
from bosquet.study.explain import row_explanations as _reasons
from bosquet.study.explain.notable_rows import outlier_scores
from bosquet.study.explain.row_explanations import OTHERS, explain_rows


def make_table(n=200, columns=4, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(random.normal(size=(n, columns)), columns=[f"c{k}" for k in range(columns)])


def test_contributions_to_a_linear_model_are_weights_times_distances_from_the_mean():
    X = make_table()
    y = X @ [1.0, -2.0, 0.5, 0.0]
    model = LinearRegression().fit(X, y)
    found = explain_rows(model, X[:3], None, X[:100], list(X.columns), seed=0)
    whole = found.base + found.effects.sum(axis=1)
    assert whole == pytest.approx(model.predict(X[:3]))
    # With a background of one row nothing is random.
    alone = explain_rows(model, X[:3], None, X[7:8], list(X.columns), seed=0)
    exact = (X[:3].to_numpy() - X[7:8].to_numpy()) * model.coef_
    assert alone.effects == pytest.approx(exact)


def test_shapley_values_of_classifiers_are_log_odds_of_the_given_class():
    X = make_table()
    y = np.where(X["c0"] + X["c1"] > 0, "yes", "no")
    model = LogisticRegression().fit(X, y)
    outputs = np.array([0, 1, 1])
    found = explain_rows(model, X[:3], outputs, X[:50], list(X.columns), seed=1)
    p = model.predict_proba(X[:3])[np.arange(3), outputs]
    assert found.base + found.effects.sum(axis=1) == pytest.approx(np.log(p / (1 - p)))


@pytest.mark.parametrize("classes", [2, 3])
def test_trees_are_explained_exactly(classes):
    X = make_table()
    y = np.digitize(X["c0"], [0] if classes == 2 else [-0.5, 0.5])
    model = GradientBoostingClassifier(n_estimators=10, random_state=0).fit(X, y)
    outputs = np.array([0, 1])
    found = explain_rows(model, X[:2], outputs, X[:5], list(X.columns), seed=0)
    raw = model.decision_function(X[:2])
    raw = np.column_stack([-raw, raw]) if classes == 2 else raw
    whole = found.base + found.effects.sum(axis=1)
    assert whole == pytest.approx(raw[np.arange(2), outputs], rel=1e-5)
    number = GradientBoostingRegressor(n_estimators=10, random_state=0).fit(X, y)
    of_numbers = explain_rows(number, X[:2], None, X[:5], list(X.columns), seed=0)
    total = of_numbers.base + of_numbers.effects.sum(axis=1)
    assert total == pytest.approx(number.predict(X[:2]), rel=1e-5)


def test_shapley_values_of_forests_are_probabilities_of_the_given_class():
    X = make_table()
    y = np.where(X["c0"] > 0, "yes", "no")
    model = RandomForestClassifier(n_estimators=10, random_state=0).fit(X, y)
    outputs = np.array([0, 1, 0])
    found = explain_rows(model, X[:3], outputs, X[:5], list(X.columns), seed=0)
    p = model.predict_proba(X[:3])[np.arange(3), outputs]
    assert found.base + found.effects.sum(axis=1) == pytest.approx(p, abs=1e-6)


def test_categories_and_missing_values_keep_their_types_when_filled_in():
    X = make_table(60, 1).assign(
        colour=pd.Categorical(["red", None, "blue"] * 20), name=["a", "b", None] * 20
    )
    seen = []

    class Model:
        def predict(self, rows):
            seen.append(rows)
            return (rows["colour"] == "red").to_numpy(dtype=float)

    found = explain_rows(Model(), X[:3], None, X[:20], list(X.columns), seed=0)
    assert (seen[0].dtypes == X.dtypes).all()
    assert found.names == ["c0", "colour", "name"]
    assert found.effects[:, [0, 2]] == pytest.approx(0)
    assert found.effects[0, 1] > 0


def test_the_least_important_of_many_columns_are_merged_into_one(monkeypatch):
    monkeypatch.setattr(_reasons, "MAX_COLUMNS", 3)
    X = make_table(columns=6)
    model = LinearRegression().fit(X, X @ [0.0, 0, 3, 2, 0, 1])
    found = explain_rows(model, X[:2], None, X[9:10], ["c2", "c3", "c5"], seed=0)
    assert found.names == ["c2", "c3", OTHERS]
    assert found.effects[:, 2] == pytest.approx(X["c5"][:2].to_numpy() - X["c5"][9])


def test_outlier_scores_find_rows_with_an_extreme_value():
    X = make_table(100).assign(level=["usual"] * 99 + ["never"])
    X.loc[5, "c2"] = 50.0
    order = np.argsort(-outlier_scores(X))
    assert order[0] == 5
    assert 99 in order[:3]


def test_contributions_add_up_to_the_prediction_for_any_number_of_columns():
    from bosquet.study.explain.notable_rows import MAX_REASONS, notable_rows
    from bosquet.study.metrics.metric import metric_named

    X = make_table(columns=12)
    y = (X @ np.arange(1.0, 13)).to_numpy()
    model = LinearRegression().fit(X, y)
    predictions = model.predict(X)
    rows = notable_rows(
        model, X, y, predictions, np.arange(len(X)), metric_named("rmse", "regression"), background=X[:9],
        order=list(X.columns), seed=0,
    )  # fmt: skip
    for row in rows:
        assert len(row["reasons"]) == MAX_REASONS + 1
        assert row["reasons"][-1]["feature"] == OTHERS
        total = row["base"] + sum(reason["effect"] for reason in row["reasons"])
        assert total == pytest.approx(predictions[row["row"]])


@pytest.mark.parametrize("kind", ["RandomForestClassifier", "ExtraTreesClassifier"])
def test_contributions_to_a_forest_are_probabilities_of_its_predicted_class(kind):
    import bosquet

    X = make_table(80)
    y = np.where(X["c0"] > 0, "yes", "no")
    model = getattr(bosquet, kind)(n_estimators=15, random_state=0).fit(X, y)
    p = model.predict_proba(X[:10])
    places = p.argmax(axis=1)
    assert set(places) == {0, 1}
    found = explain_rows(model, X[:10], places, X, [], seed=0)
    assert found.base == pytest.approx(0.5, abs=0.2)
    assert found.base + found.effects.sum(axis=1) == pytest.approx(p.max(axis=1), abs=1e-5)
