"""Successive halving: candidates are compared on a subsample, and the best of them on all rows."""

import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixed_tables import metric_and_shape
from sklearn.linear_model import Ridge
from stand_ins import method

from bosquet import Study
from bosquet.study.methods import METHODS
from bosquet.study.methods.candidates import middle_first
from bosquet.study.methods.costs import FitCost
from bosquet.study.run import time_division
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning import halving as _halving
from bosquet.study.tuning.halving import Halving
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime

PENALTIES = (1e6, 1e5, 1e4, 1e3, 1e2, 1e-3)  # the best candidate is the last one


class Noted(Ridge):
    """Record the rows of each fit, with its penalty."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append((self.alpha, len(y)))
        time.sleep(0.05 * len(y) / 1000)
        return super().fit(X, y)


def noting_method():
    Noted.seen.clear()
    return method("noted", lambda shape, value, seed: Noted(value), PENALTIES)


def make_table(n=8000, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X, (X["a"] + 0.1 * random.normal(size=n)).to_numpy()


@pytest.fixture(autouse=True)
def allow_few_rows(monkeypatch):
    monkeypatch.setattr(_halving, "MIN_ROWS_OF_HALVING", 500)


def tune_on_subsample(one, X, y, hard_limit=60.0):
    metric, shape = metric_and_shape("regression", X, y)
    candidates = middle_first(list(one.candidates(shape)))
    halving = Halving(
        one, TableRows(X, y), shape, metric, TuningOptions(), rows_seed=0, fewest=2000
    )
    return halving.tune_on_subsample(candidates, hard_limit)


def test_the_best_third_of_the_candidates_is_kept_best_first():
    X, y = make_table()
    less = tune_on_subsample(noting_method(), X, y)
    assert len(less.candidates) == 2
    assert less.candidates[0].setting == {"complexity": 1e-3}
    assert max(rows for _, rows in Noted.seen) == 1000
    assert less.note == "candidates were compared on 1,000 rows, and the best 2 of 6 on all rows"


def test_of_candidates_within_a_standard_error_the_most_complex_is_tried_first():
    X, y = make_table()
    same = method("same", lambda shape, value, seed: Ridge(1.0), (1, 2, 3, 4, 5, 6))
    less = tune_on_subsample(same, X, y)
    assert [one.complexity for one in less.candidates] == [6.0, 5.0]


def test_few_candidates_or_few_rows_are_not_halved():
    X, y = make_table()
    assert (
        tune_on_subsample(method("two", lambda shape, value, seed: Noted(value), (1, 2)), X, y)
        is None
    )
    assert tune_on_subsample(noting_method(), X[:900], y[:900]) is None


def test_one_candidate_is_fitted_to_a_subsample_first_if_a_fit_to_all_rows_may_be_stopped():
    X, y = make_table()
    slow = FitCost(10.0)  # three seconds for 1,000 rows of three columns
    one = method("one", lambda shape, value, seed: Noted(value), rows_affordable=slow)
    less = tune_on_subsample(one, X, y)
    assert (less.n_rows, less.note, len(less.candidates)) == (2000, "", 1)
    assert less.tuned.estimator.predict(X[:1]).shape == (1,)
    assert tune_on_subsample(one, X, y, hard_limit=1000.0) is None
    assert tune_on_subsample(replace(one, combine=lambda *given: []), X, y) is None


class Stopped(Noted):
    """Exceed the time limit with more than 2,000 rows."""

    def fit(self, X, y):
        if len(y) > 2000:
            raise OutOfTime
        return super().fit(X, y)


def test_a_subsample_that_takes_too_long_is_replaced_by_fewer_rows():
    X, y = make_table(40_000)
    less = tune_on_subsample(
        method("stopped", lambda shape, value, seed: Stopped(value), PENALTIES), X, y
    )
    assert less.candidates == []
    assert less.n_rows == 2000
    assert less.tuned.setting == {"complexity": 1e-3}
    assert less.tuned.estimator.predict(X[:1]).shape == (1,)


def test_boosting_and_other_methods_that_keep_their_rounds_need_no_subsample():
    X, y = make_table()
    boosting = replace(METHODS["gradient-boosting-defaults"], rows_affordable=FitCost(100.0))
    assert tune_on_subsample(boosting, X, y) is None


def test_a_study_of_a_large_table_finds_the_best_candidate_in_time_for_few(monkeypatch):
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)
    X, y = make_table()
    # A fit to all 6,400 training rows takes 0.3 s: six candidates and the last fit would take 2 s.
    study = Study(methods=[noting_method()], budget=30, verbose=0, repeats=1).fit(
        X.assign(y=y), "y"
    )
    assert study.table_.loc["noted", "setting"] == "complexity=0.001"
    assert study.table_.loc["noted", "rows"] == 6400
    assert "candidates were compared on 800 rows" in study.table_.loc["noted", "message"]
    large = {alpha for alpha, rows in Noted.seen if rows > 1000}
    assert len(large) <= 2


def test_without_a_budget_nothing_is_halved(monkeypatch):
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)
    X, y = make_table(2000)
    study = Study(methods=[noting_method()], budget=None, verbose=0, repeats=1).fit(
        X.assign(y=y), "y"
    )
    assert study.table_.loc["noted", "message"] == ""
    assert len({alpha for alpha, _ in Noted.seen}) == len(PENALTIES)
