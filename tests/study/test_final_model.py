"""The final model is fitted to all rows, or the headline states to how many and why."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from page_reader import PAGE
from sample_records import sample_record
from sklearn.linear_model import Ridge
from stand_ins import constant, method

from bosquet import Study
from bosquet.study.methods import METHODS
from bosquet.study.methods.method import TableShape
from bosquet.study.metrics.metric import metric_named
from bosquet.study.report.summary import headline
from bosquet.study.run.checkpoint import Checkpoint
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.final_model import OVERTIME, rows_for_final, seconds_for_rows
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.schedule import Schedule

pytestmark = PAGE


class Counting(Ridge):
    """Store the number of rows that it was fitted to."""

    def fit(self, X, y):
        self.rows_ = len(y)
        return super().fit(X, y)


def penalised(shape, value, seed):
    return Counting(alpha=value * shape.n_rows)


def few_rows(rows):
    """Return a method that is tuned on few rows and has enough time for a final fit to `rows`."""
    return method(
        "few",
        penalised,
        (0.001, 0.1),
        rows_affordable=lambda shape, seconds: 50 if seconds < 100 else min(rows, shape.n_rows),
    )


def make_table(n=4000, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 2)), columns=["a", "b"])
    return X.assign(y=X["a"] + 0.1 * random.normal(size=n))


def test_a_method_tuned_on_a_subsample_is_finally_fitted_to_all_rows_with_their_penalty():
    study = Study(methods=[few_rows(10**9)], budget=None, repeats=1, verbose=0).fit(
        make_table(), "y"
    )
    assert study.table_.loc["few", "rows"] == 2000
    assert study.best_.estimator.rows_ == 4000
    assert study.best_.estimator.alpha == 0.001 * 4000
    assert (study.record_["final"]["rows"], study.record_["final"]["why"]) == (4000, "")
    assert "fitted to" not in str(study)


def test_fewer_rows_are_stated_with_the_reason():
    study = Study(methods=[few_rows(2500)], budget=None, repeats=1, verbose=0).fit(
        make_table(), "y"
    )
    assert study.best_.estimator.rows_ == 2500
    assert "The model is fitted to 2,500 of 4,000 rows: " in str(study)
    assert "fitted to 2,500 of 4,000 rows" in study._repr_html_()


def test_the_headline_of_the_page_states_fewer_rows():
    record = sample_record("regression")
    assert "rows" not in headline(record)
    why = "a fit to all rows would take about 45:00"
    record["final"] = {"rows": 41_900, "of": 209_499, "seconds": 60.0, "why": why}
    assert f"(fitted to 41,900 of 209,499 rows: {why})" in headline(record)


def setting(n):
    shape = TableShape("regression", n, 2, 0, 2, 1, 1.0)
    metric = metric_named("rmse", "regression")
    return SimpleNamespace(y=np.zeros(n), shape=shape, metric=metric)


@pytest.mark.parametrize(
    ("one_fit", "rows"),
    [(1.0, 10_000), (10.0, 3333)],  # 6 s and 60 s for all rows, with 20 s left
)
def test_the_last_fit_may_exceed_the_budget_by_a_limited_time(one_fit, rows):
    outcome = Outcome("few", 0, "done", rows_used=2000, one_fit_seconds=one_fit)
    found, why = rows_for_final(setting(10_000), constant(), outcome, StudyClock(20.0))
    assert found == pytest.approx(rows, rel=0.01)
    assert why == ("" if rows == 10_000 else "a fit to all rows would take about 1:00")
    spent = StudyClock(20.0, seconds_before=19.0)
    found, _ = rows_for_final(setting(10_000), constant(), outcome, spent)
    assert found == (10_000 if one_fit == 1.0 else 2000)
    assert OVERTIME * 20 == 10


def test_a_fit_to_slightly_more_rows_is_predicted_to_take_slightly_longer():
    outcome = Outcome("linear", 0, "done", rows_used=192, one_fit_seconds=1.0)
    predicted = seconds_for_rows(METHODS["linear"], outcome, setting(240).shape, 240)
    assert 1.0 < predicted < 2.0


def test_rounds_end_in_time_for_the_last_fit_of_the_leader():
    checkpoint = Checkpoint(None, {})
    methods = [constant(), method("leader", penalised)]
    schedule = Schedule(setting(10_000), methods, StudyClock(100.0), checkpoint, 10)
    assert schedule.division.left_for_rounds() == pytest.approx(80, abs=1)
    for name, score, seconds in (("constant", 2.0, 90.0), ("leader", 1.0, 40.0)):
        done = Outcome(name, 0, "done", score=score, rows_used=8000, one_fit_seconds=seconds)
        checkpoint.add(done, 0.0)
    assert schedule.division.left_for_rounds() == pytest.approx(95 - 1.2 * 40 * 1.25, abs=1)


def test_a_killed_study_keeps_the_same_model_when_it_is_resumed(tmp_path):
    given = {"budget": None, "repeats": 1, "verbose": 0, "checkpoint": tmp_path / "study.jsonl"}
    models = [
        Study(methods=[few_rows(10**9)], **given).fit(make_table(), "y").best_.estimator
        for _ in range(2)
    ]
    assert [model.rows_ for model in models] == [4000, 4000]
    assert np.array_equal(models[0].coef_, models[1].coef_)
