"""Methods are compared on the same training rows; those that cannot use them run late, without a test."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from choice_rows import RMSE, best_row, method_row
from mixed_tables import metric_and_shape
from sklearn.linear_model import Ridge
from stand_ins import constant, linear, method

from bosquet import Study
from bosquet.study.compare.choice import choose
from bosquet.study.compare.leaderboard import leaderboard_text
from bosquet.study.methods import METHODS
from bosquet.study.methods.costs import FitCost, modelled_seconds
from bosquet.study.methods.method import TableShape
from bosquet.study.report import page_html
from bosquet.study.run import schedule as _schedule
from bosquet.study.run import time_division
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.time_prediction import FitTimeModel
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import ROWS_OF_A_CLASS, subsample
from bosquet.study.tuning.time_limits import TimeLimits
from bosquet.study.tuning.tuner import tune


def make_table(n=3000, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 3)), columns=["a", "b", "c"])
    return X.assign(y=X["a"] + 0.5 * random.normal(size=n))


class Paced(Ridge):
    """Fit in a time proportional to the number of rows."""

    def __init__(self, alpha=1.0, seconds=0.0):
        super().__init__(alpha=alpha)
        self.seconds = seconds

    def fit(self, X, y):
        end = time.monotonic() + self.seconds * len(y) / 1000
        while time.monotonic() < end:
            time.sleep(0.005)
        return super().fit(X, y)


def method_of_pace(name, seconds, cost=None, values=(1.0,), **more):
    """Return a method with this time per thousand rows; its cost model may be wrong."""
    made = FitCost(cost or seconds, columns_exponent=0.0, fixed=0.0)
    return method(
        name,
        lambda shape, value, seed: Paced(value, seconds),
        values,
        rows_affordable=made,
        **more,
    )


def method_on_few_rows(name="few", readable="no"):
    """Return a method that gets a subsample in a study without a time limit."""
    made = lambda shape, seconds: 50 if seconds < 100 else shape.n_rows  # noqa: E731
    return method(
        name,
        lambda shape, value, seed: Ridge(value),
        (1.0,),
        rows_affordable=made,
        readable=readable,
    )


def test_a_method_on_fewer_rows_has_a_difference_but_no_test():
    study = Study(
        methods=[linear("no"), method_on_few_rows(readable="yes")],
        budget=None,
        repeats=5,
        verbose=0,
    )
    study.fit(make_table(), "y")
    rows = {m["name"]: m for m in study.record_["methods"]}
    assert rows["few"]["subsampled"]
    assert rows["few"]["rows_used"] == 2000
    difference = rows["few"]["difference"]
    assert difference["mean"] == pytest.approx(rows["few"]["mean"] - rows["linear"]["mean"])
    assert (difference["low"], difference["distinguishable"]) == (None, False)
    assert study.record_["comparison"]["best"] == "linear"
    assert study.record_["comparison"]["comparisons"] == 1  # the constant
    assert study.record_["chosen"]["name"] == "linear"
    assert "not tested: different training rows" in leaderboard_text(study.record_)
    assert "not tested: different training rows" in page_html(study.record_)
    assert "1 trained on fewer rows (Few)" in study.record_["chosen"]["why"]
    assert "All" not in study.record_["chosen"]["why"]


def row_on_fewer_rows(name, mean, rows=20):
    return {
        **method_row(name, mean),
        "subsampled": True,
        "rows_used": rows,
        "difference": {"mean": 0.1, "low": None, "high": None, "distinguishable": False},
    }


def test_a_method_on_fewer_rows_is_taken_only_if_it_leads_and_the_rows_are_stated():
    whole = [best_row("forest", 1.0), method_row("constant", 3.0)]
    assert choose([whole[0], row_on_fewer_rows("svm", 1.1), whole[1]], RMSE).name == "forest"
    found = choose([row_on_fewer_rows("svm", 0.9), *whole], RMSE)
    assert found.name == "svm"
    assert found.runner_up == "forest"
    assert "trained on only 20 rows" in found.why
    assert "not tested against each other" in found.why
    assert "significantly" not in found.why


def test_a_small_lead_of_a_method_on_fewer_rows_is_not_enough():
    whole = [best_row("forest", 1.0), method_row("constant", 3.0)]
    found = choose([row_on_fewer_rows("svm", 0.97), *whole], RMSE)  # 1.5 % of its gain of 2.03
    assert found.name == "forest"
    assert "best RMSE 1 on the test rows of the methods trained on all" in found.why
    assert "Svm, trained on 20 rows, is hardly better (0.97)" in found.why


def blocks_of_time():
    """A table of ten blocks of time, of which the latest has little noise."""
    random = np.random.default_rng(0)
    noise = np.where(np.arange(1000) >= 900, 0.1, 3.0)
    X = pd.DataFrame({"a": random.normal(size=1000), "when": np.arange(1000)})
    return X.assign(y=X["a"] + noise * random.normal(size=1000))


class BiasedOnce(Ridge):
    """Predicts with a small bias; can be fitted to the training rows of the latest block only."""

    def fit(self, X, y):
        if len(y) < 850:
            raise ValueError("too few rows")
        return super().fit(X, y)

    def predict(self, X):
        return super().predict(X) + 0.3


def test_a_score_on_an_easy_split_is_not_compared_with_a_mean_over_all_splits():
    once = method("once", lambda shape, value, seed: BiasedOnce(value), (1e-3,))
    study = Study(methods=[linear("no"), once], budget=None, repeats=3, verbose=0)
    study.fit(blocks_of_time(), "y", time="when")
    rows = {m["name"]: m for m in study.record_["methods"]}
    assert [len(rows[name]["scores"]) for name in ("linear", "once")] == [3, 1]
    assert rows["once"]["scores"][0] < rows["linear"]["mean"]
    gap = rows["once"]["scores"][0] - rows["linear"]["scores"][0]
    assert gap > 0
    assert rows["once"]["mean"] == pytest.approx(rows["linear"]["mean"] + gap)
    assert rows["once"]["difference"]["mean"] == pytest.approx(gap)
    assert study.record_["methods"][0]["name"] == "linear"
    assert study.record_["chosen"]["name"] == "linear"
    assert "1 of 3 splits" in leaderboard_text(study.record_)
    assert "1 of 3 splits" in page_html(study.record_)
    assert any("without all splits are estimates" in note for note in study.record_["notes"])


def test_a_leader_on_fewer_rows_that_beats_the_constant_is_a_model():
    alone = {**best_row("constant", 3.0, readable="yes"), "interval": [2.9, 3.1]}
    led = {**row_on_fewer_rows("svm", 0.9), "interval": [0.8, 1.0]}
    assert choose([led, alone], RMSE).verdict["kind"] == "model"
    near = {**led, "mean": 2.95, "interval": [2.8, 3.2]}
    assert choose([near, alone], RMSE).verdict["kind"] == "constant"


@pytest.fixture
def every_table_is_large(monkeypatch):
    """Treat every table as large."""
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)


def test_methods_that_cannot_use_all_rows_come_last_and_reduce_no_other_method(
    every_table_is_large,
):
    # By expected accuracy the first would come first, and take 60 s for all 2,400 training rows.
    slow = method_of_pace("svm-gaussian", 25.0)
    quick = [method_of_pace("quick", 0.01), method_of_pace("zebra", 0.01)]
    study = Study(methods=[slow, *quick], budget=6, verbose=0, repeats=1).fit(make_table(), "y")
    rows = {m["name"]: m for m in study.record_["methods"]}
    assert rows["quick"]["rows_used"] == rows["zebra"]["rows_used"] == 2400
    late = rows["svm-gaussian"]
    assert late["status"] in ("not reached", "stopped") or late["subsampled"]
    assert study.record_["chosen"]["name"] != "svm-gaussian"


def test_a_method_that_is_not_reached_states_the_duration_of_a_fit(
    every_table_is_large, monkeypatch
):
    monkeypatch.setattr(time_division, "END_OF_FIRST_ROUND", 0.0)
    methods = [method_of_pace("slow", 25.0), method_of_pace("quick", 0.01)]
    study = Study(methods=methods, budget=5, verbose=0, repeats=1).fit(make_table(), "y")
    assert study.table_.loc["slow", "status"] == "not reached"
    message = study.table_.loc["slow", "message"]
    assert message == "one fit to all 2,400 training rows would take about 1:00"


def test_measured_times_correct_the_cost_models_of_later_methods():
    fit_times = FitTimeModel(TableShape("regression", 10_000, 3, 0, 3, 1, 1.0))
    first, *others = (method_of_pace(str(k), 0.1 + 0.01 * k) for k in range(5))
    assert fit_times.seconds(first, 10_000) == pytest.approx(1.0, rel=0.01)
    done = Outcome("0", 0, "done", rows_used=5000, one_fit_seconds=2.0)  # four times as long
    fit_times.update(first, done)
    assert fit_times.seconds(first, 10_000) == pytest.approx(4.0, rel=0.01)
    last = method_of_pace("last", 0.2)
    assert fit_times.seconds(last, 10_000) == pytest.approx(2.0, rel=0.01)  # one is not enough
    for k, one in enumerate(others, start=1):
        fit_times.update(one, replace(done, one_fit_seconds=2.0 + 0.2 * k))
    assert fit_times.seconds(last, 10_000) == pytest.approx(8.0, rel=0.01)
    assert fit_times.rows(last, 4.0) == pytest.approx(5000, rel=0.01)
    # The seconds of a fit that was stopped are a lower bound.
    fit_times.update(last, replace(done, status="stopped", seconds=10.0))
    assert fit_times.seconds(last, 5000) == pytest.approx(10.0, rel=0.01)
    assert fit_times.seconds(constant(), 10_000) == 0.0


@pytest.mark.parametrize(("name", "task"), [("cart", "regression"), ("logistic", "binary")])
def test_cost_models_grow_as_the_time_of_fits_does(name, task):
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(40_000, 20))).add_prefix("c")
    y = (X["c0"] + np.sin(2 * X["c1"]) + random.normal(size=len(X))).to_numpy()
    y = y if task == "regression" else np.where(y > 0.5, "yes", "no")
    metric, whole = metric_and_shape(task, X, y)
    model = METHODS[name].rows_affordable
    seconds, modelled = [], []
    for n in (5000, 40_000):
        best_row = np.inf
        for _ in range(3):
            began = time.process_time()  # processor time of this process, also on a busy machine
            tune(
                METHODS[name],
                TableRows(X[:n], y[:n]),
                replace(whole, n_rows=n),
                metric,
                limits=TimeLimits(soft=0.0),
            )
            best_row = min(best_row, time.process_time() - began)
        seconds.append(best_row)
        modelled.append(modelled_seconds(model, whole, n))
    growth = (seconds[1] / seconds[0]) / (modelled[1] / modelled[0])
    assert 0.4 < growth < 2.5
    assert 0.1 < seconds[1] / modelled[1] < 10  # machines differ


def test_cost_models_that_are_wrong_are_noticed_before_a_slow_method_begins(every_table_is_large):
    # All models are eight times too optimistic: after three methods the fourth is known to be too slow.
    names = ("nearest-centroid", "lda", "logistic")
    quick = [
        method_of_pace(name, 0.08 + 0.008 * k, cost=0.01 + 0.001 * k)
        for k, name in enumerate(names)
    ]
    study = Study(
        methods=[*quick, method_of_pace("cart", 2.0, cost=0.25)], budget=10, verbose=0, repeats=1
    )
    study.fit(make_table(), "y")
    assert study.table_.loc["lda", "rows"] == 2400
    assert study.table_.loc["cart", "rows"] < 2400


@pytest.mark.parametrize(("score", "repeated"), [(1.1, ["linear"]), (0.9, ["linear", "few"])])
def test_further_splits_of_large_tables_are_for_methods_on_all_rows_or_ahead_of_them(
    every_table_is_large, score, repeated
):
    def outcome(split, name):
        return Outcome(
            name,
            split,
            "done",
            subsampled=name == "few",
            score={"few": score, "linear": 1.0}[name],
        )

    schedule = _schedule.Schedule(
        SimpleNamespace(shape=TableShape("regression", 100, 3, 0, 3, 1, 1.0), metric=RMSE),
        [linear(), method_on_few_rows()],
        SimpleNamespace(timed=True),
        SimpleNamespace(get=outcome),
        5,
    )
    assert [one.name for one, _ in schedule._repeated_methods()] == repeated


def eight_classes(n=1500, rarest=5, seed=0):
    random = np.random.default_rng(seed)
    kind = random.integers(0, 7, n)
    kind[:rarest] = 7
    X = random.normal(size=(n, 4)) + np.column_stack([kind % 2, kind % 3, kind // 4, 0 * kind])
    return pd.DataFrame(X, columns=list("abcd")).assign(y=[f"k{k}" for k in kind])


def test_support_vector_machines_do_not_fail_on_a_class_with_too_few_rows():
    names = ["svm-linear", "svm-gaussian"]
    study = Study(methods=[*names, "lda"], budget=None, repeats=1, verbose=0)
    study.fit(eight_classes(), "y")
    assert (study.table_.loc[names, "status"] == "unsuited").all()
    assert "too few to calibrate" in study.table_.loc["svm-linear", "message"]
    shape = TableShape("multiclass", 56_000, 4, 0, 4, 8, 9 / 70_000)
    assert METHODS["svm-gaussian"].why_unsuited(shape) == ""
    assert (
        METHODS["svr-gaussian"].why_unsuited(replace(shape, task="regression", rarest_share=1.0))
        == ""
    )


def test_a_subsample_has_ten_rows_of_each_class_that_has_them():
    y = np.array(["a"] * 5000 + ["b"] * 40 + ["c"] * 6)
    rows = subsample(y, 200, 0, stratify=True)
    labels, counts = np.unique(y[rows], return_counts=True)
    found = dict(zip(labels.tolist(), counts.tolist(), strict=True))
    assert found["b"] == ROWS_OF_A_CLASS
    assert found["c"] == 6
    assert len(np.unique(rows)) == len(rows)
