"""A method that the time limit stops keeps its best candidate, its rounds or its validation model."""

import pickle
import time
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixed_tables import metric_and_shape
from sklearn.dummy import DummyRegressor
from stand_ins import linear, method

from bosquet import Study
from bosquet.study.methods import METHODS, gradient
from bosquet.study.methods.candidates import ValidationPredictions
from bosquet.study.methods.costs import FitCost
from bosquet.study.metrics.metric import metric_named
from bosquet.study.run import time_division
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.trial import TrialPlan, run_trial
from bosquet.study.study_run import StudyRun
from bosquet.study.table.reading import read_study_table
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import split_rows
from bosquet.study.tuning import halving as _halving
from bosquet.study.tuning.candidate_search import STOPPED
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime
from bosquet.study.tuning.thresholds import ENOUGH_EVENTS, out_of_sample_predictions
from bosquet.study.tuning.time_limits import TimeLimits
from bosquet.study.tuning.tree_batches import FIRST_BATCH, fit_in_time
from bosquet.study.tuning.tuner import tune


def numbers(n=6000, columns=8, seed=0):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, columns)), columns=[f"c{k}" for k in range(columns)])
    return X, X["c0"].to_numpy() + np.sin(2 * X["c1"].to_numpy()) + random.normal(size=n)


def test_boosting_that_is_stopped_keeps_its_rounds(monkeypatch):
    monkeypatch.setattr(gradient, "MAX_ROUNDS", 10**6)
    monkeypatch.setattr(gradient, "PATIENCE", 10**6)
    X, y = numbers()
    metric, shape = metric_and_shape("regression", X, y)
    began = time.monotonic()
    tuned = tune(
        METHODS["gradient-boosting"], TableRows(X, y), shape, metric, limits=TimeLimits(hard=2.0)
    )
    assert time.monotonic() - began < 10
    assert not tuned.finished
    rounds = tuned.estimator.n_iter_
    assert 1 <= rounds < 10**6
    assert tuned.setting["n_estimators"] == rounds
    assert STOPPED in tuned.message
    assert "time for 1 of" in tuned.message
    assert metric.score(y, tuned.estimator.predict(X)) < 0.95 * y.std()
    assert tuned.estimator.callbacks is None
    pickle.loads(pickle.dumps(tuned.estimator))


@pytest.mark.parametrize("name", ["random-forest", "bagging", "extra-trees"])
def test_a_forest_that_is_stopped_keeps_its_trees(name):
    X, y = numbers(20_000, 12)
    metric, shape = metric_and_shape("regression", X, y)

    def candidates(shape):
        many = METHODS[name].candidates(shape)[-1:]
        kind = type(many[0].make(0))
        bags = {} if name == "extra-trees" else {"oob_score": True}
        return [replace(many[0], make=lambda seed: kind(10**5, random_state=seed, **bags))]

    scheme = "validation" if name == "extra-trees" else "oob"
    endless = replace(METHODS[name], candidates=lambda shape: candidates(shape) * 2, scheme=scheme)
    began = time.monotonic()
    tuned = tune(endless, TableRows(X, y), shape, metric, limits=TimeLimits(hard=4.0))
    assert time.monotonic() - began < 20
    assert not tuned.finished
    assert "stopped by the time limit" in tuned.message
    assert 5 <= tuned.estimator.n_estimators_ < 10**5
    assert metric.score(y, tuned.estimator.predict(X)) < 0.9 * y.std()
    pickle.loads(pickle.dumps(tuned.estimator))


def test_a_forest_in_batches_is_the_forest_at_once():
    X, y = numbers(500)
    make = METHODS["random-forest"].candidates(metric_and_shape("regression", X, y)[1])[0].make
    whole, finished = fit_in_time(make(3), TableRows(X, y), 3, None)
    parts, all_of_it = fit_in_time(make(3), TableRows(X, y), 3, lambda seconds: False)
    assert finished
    assert all_of_it
    np.testing.assert_array_equal(whole.predict(X), parts.predict(X))
    np.testing.assert_array_equal(whole.oob_prediction_, parts.oob_prediction_)
    assert whole.get_params() == parts.get_params()
    few, all_of_it = fit_in_time(make(3), TableRows(X, y), 3, lambda seconds: True)
    assert not all_of_it
    assert few.n_estimators_ == few.n_estimators == FIRST_BATCH


def test_batches_warn_as_the_whole_forest_does():
    X, y = numbers(500)
    make = METHODS["random-forest"].candidates(metric_and_shape("regression", X, y)[1])[0].make
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # 100 trees leave every row out of a bag, five do not
        fit_in_time(make(3), TableRows(X, y), 3, lambda seconds: False)
    with pytest.warns(UserWarning, match="rows are in all 5 bags"):
        fit_in_time(make(3), TableRows(X, y), 3, lambda seconds: True)


def test_a_limit_inside_a_batch_leaves_the_trees_before_it():
    X, y = numbers(500)
    forest = METHODS["bagging"].candidates(metric_and_shape("regression", X, y)[1])[0].make(0)
    fit, calls = type(forest).fit, []

    class Stopped(type(forest)):
        def fit(self, *given):
            calls.append(self.n_estimators)
            if len(calls) == 3:
                raise OutOfTime
            return fit(self, *given)

    stopped = Stopped(**forest.get_params())
    kept, finished = fit_in_time(stopped, TableRows(X, y), 0, lambda seconds: False)
    assert (len(calls), finished, kept.n_estimators_) == (3, False, 2 * FIRST_BATCH)
    calls[:] = [0, 0]
    with pytest.raises(OutOfTime):  # nothing is kept of a first batch
        fit_in_time(Stopped(**forest.get_params()), TableRows(X, y), 0, lambda seconds: False)


class SlowOnManyRows(DummyRegressor):
    """Fit slowly with more than this number of rows."""

    def __init__(self, rows=0):
        super().__init__()
        self.rows = rows

    def fit(self, X, y, sample_weight=None):
        end = time.monotonic() + (20 if len(y) > self.rows else 0)
        while time.monotonic() < end:
            time.sleep(0.005)
        return super().fit(X, y)


def test_a_method_that_is_stopped_in_its_last_fit_keeps_its_validation_model():
    X, y = numbers(100)
    metric, shape = metric_and_shape("regression", X, y)
    slow = method("slow", lambda shape, value, seed: SlowOnManyRows(80), (1, 2))
    tuned = tune(
        slow,
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(scheme="validation"),
        limits=TimeLimits(hard=0.5),
    )
    assert not tuned.finished
    assert STOPPED in tuned.message
    assert tuned.estimator.predict(X[:1]).shape == (1,)
    with pytest.raises(OutOfTime):  # folds leave no model to fall back on
        tune(
            slow,
            TableRows(X, y),
            shape,
            metric,
            options=TuningOptions(scheme="cv"),
            limits=TimeLimits(hard=0.5),
        )


def test_a_study_keeps_the_best_candidate_of_a_method_that_is_stopped(monkeypatch):
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)
    slow = method("slow", lambda shape, rows, seed: SlowOnManyRows(rows), (0, 10**6, 1))
    X, y = numbers(7000, 2)
    began = time.monotonic()
    study = Study(methods=[slow, linear()], budget=8, verbose=0, repeats=1)
    study.fit(X.assign(y=y), "y")
    assert time.monotonic() - began < 16
    assert study.table_.loc["slow", "status"] == "done"
    assert study.table_.loc["slow", "setting"] == f"complexity={10**6}"
    assert "time for 1 of 3 candidates" in study.table_.loc["slow", "message"]


@pytest.mark.parametrize("values", [(1,), (1, 2, 3)])
def test_a_method_whose_fits_to_all_rows_are_stopped_keeps_its_fit_to_a_subsample(
    monkeypatch, values
):
    monkeypatch.setattr(time_division, "SMALL_TABLE_VALUES", 1)
    monkeypatch.setattr(_halving, "MIN_ROWS_OF_HALVING", 2000)
    slow = method("slow", lambda shape, value, seed: SlowOnManyRows(2000), values)
    slow = replace(slow, rows_affordable=FitCost(0.5))
    X, y = numbers(7000, 2)
    study = Study(methods=[slow, linear()], budget=8, verbose=0, repeats=1)
    study.fit(X.assign(y=y), "y")
    row = study.table_.loc["slow"]
    assert row["status"] == "done"
    assert row["rows"] == 2000
    assert "stopped by the time limit: fitted to 2,000 rows" in row["message"]
    [record] = [one for one in study.record_["methods"] if one["name"] == "slow"]
    assert record["subsampled"]
    assert not record["finished"]


class Late(DummyRegressor):
    """Use most of a limit of two seconds to fit, and more than a quarter of it to predict."""

    def fit(self, X, y):
        sleep(1.7)
        return super().fit(X, y)

    def predict(self, X):
        sleep(0.65)
        return super().predict(X)


def sleep(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.005)


def test_a_model_has_half_of_its_limit_to_predict_the_test_rows_whatever_its_fit_took():
    X, y = numbers(500, 2)
    late = method("late", lambda shape, value, seed: Late())
    options = Study(methods=[late], budget=60, verbose=0)._make_options({})
    run = StudyRun(
        read_study_table(X.assign(y=y), "y", "auto"), options, StudyClock(options.budget)
    )
    split = split_rows(y, 0, 0, stratify=False)
    outcome, _ = run_trial(run.context, split, TrialPlan(late, TimeLimits(2.0, 2.0)))
    assert outcome.status == "done"
    assert outcome.score is not None


class Fitless:
    """A candidate that must not be fitted."""

    def make(self, seed):
        raise AssertionError("fitted again")


@pytest.mark.parametrize(("events", "again"), [(ENOUGH_EVENTS, False), (ENOUGH_EVENTS - 1, True)])
def test_a_threshold_needs_no_further_fits_where_validation_rows_are_enough(events, again):
    metric = metric_named("average_precision", "binary", ["no", "yes"], positive=1)
    y = np.array(["yes"] * events + ["no"] * 500)
    validation = ValidationPredictions(
        np.column_stack([np.linspace(0, 1, len(y)), np.linspace(1, 0, len(y))]), y
    )
    X = pd.DataFrame({"a": np.arange(len(y))})
    if again:
        with pytest.raises(AssertionError, match="fitted again"):
            out_of_sample_predictions(None, Fitless(), TableRows(X, y), metric, 0, validation)
        return
    predictions, labels, _ = out_of_sample_predictions(
        None, Fitless(), TableRows(X, y), metric, 0, validation
    )
    assert (predictions is validation[0], labels is y) == (True, True)
