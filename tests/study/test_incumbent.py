"""Gradient boosting with default hyper-parameters runs first, on all rows; a worse choice is reported."""

import numpy as np
import pandas as pd
from choice_rows import RMSE, best_row, method_row
from stand_ins import linear, method

from bosquet import GradientBoostingRegressor, Study
from bosquet.boosting.gradient.automatic import TrainingShape, values_with_validation_set
from bosquet.study.compare.choice import choose
from bosquet.study.methods import METHODS, gradient
from bosquet.study.methods.method import INCUMBENT
from bosquet.study.run import time_division
from bosquet.study.run.order import in_order
from bosquet.study.run.time_division import INCUMBENT_SHARE


def waves(n=6000, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 5)), columns=list("abcde"))
    y = np.sin(3 * X["a"]) * X["b"] + (X["c"] > 0) + 0.3 * random.normal(size=n)
    return X.assign(y=y)


def test_default_boosting_is_the_first_method_after_the_constant():
    names = [method.name for method in in_order(METHODS.values())]
    assert names[:2] == ["constant", INCUMBENT]


def test_on_few_rows_it_has_the_default_parameters_of_the_library():
    table = waves(300)
    study = Study(methods=[INCUMBENT], budget=None, repeats=1, verbose=0).fit(table, "y")
    X, y = table.drop(columns="y"), table["y"]
    train, _ = study.splits_[0]
    assert study.best_.estimator.get_params() == (
        GradientBoostingRegressor(random_state=study.best_.estimator.random_state).get_params()
    )
    assert study.table_.loc[INCUMBENT, "rows"] == len(train) == 240
    assert len(X) == len(y) == 300


def test_with_a_budget_it_has_its_own_share_of_time_and_all_rows(monkeypatch):
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)
    monkeypatch.setattr(gradient, "MAX_ROUNDS", 10**6)
    values = values_with_validation_set(TrainingShape(7000, 1, None))
    monkeypatch.setattr(
        gradient, "values_with_validation_set", lambda shape: values | {"n_iter_no_change": 10**6}
    )
    table = waves(7000)
    study = Study(methods=[INCUMBENT, linear()], budget=6, verbose=0, repeats=1).fit(table, "y")
    first = next(m for m in study.record_["methods"] if m["name"] == INCUMBENT)
    assert first["status"] == "done"
    assert not first["finished"]
    assert not first["subsampled"]
    assert first["rows_used"] == 5600
    assert first["fit_seconds"] < 1.5 * INCUMBENT_SHARE * 6
    assert study.record_["chosen"]["name"] == INCUMBENT
    assert "Cut short by the time limit: Gradient boosting, default settings" in str(study)


def test_a_choice_worse_than_default_boosting_states_by_how_much():
    rows = [
        best_row("forest", 0.999),
        method_row(INCUMBENT, 1.0, apart=False),
        method_row("line", 1.02, readable="yes", apart=False),
        method_row("constant", 3.0),
    ]
    found = choose(rows, RMSE)
    assert found.name == "line"
    assert (
        "It is worse than Gradient-boosting-defaults (1) by 1.0% of that method's gain" in found.why
    )
    named = choose([best_row(INCUMBENT, 1.0), *rows[2:]], RMSE)
    assert named.name == "line"
    assert "the most accurate method, Gradient-boosting-defaults (1)" in named.why
    better = [
        best_row("forest", 0.9),
        method_row(INCUMBENT, 1.0, apart=False),
        method_row("constant", 3.0),
    ]
    assert "It is worse than" not in choose(better, RMSE).why


def test_a_study_of_named_methods_does_not_add_default_boosting():
    quick = method("quick", lambda shape, value, seed: GradientBoostingRegressor(n_estimators=2))
    study = Study(methods=[quick], budget=None, repeats=1, verbose=0).fit(waves(100), "y")
    assert set(study.table_.index) == {"quick", "constant"}
