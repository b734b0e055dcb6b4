"""The hard time limit stops fits that do not check the time, and nothing else."""

import threading
import time

import numpy as np
import pytest
from mixed_tables import metric_and_shape, mixed_table
from sklearn.dummy import DummyRegressor
from sklearn.model_selection import cross_val_score
from stand_ins import method

from bosquet import AdaBoostRegressor
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning import tune
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime, stop_after
from bosquet.study.tuning.time_limits import TimeLimits


def busy_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.005)
    return "done"


def test_work_in_the_calling_thread_is_stopped():
    began = time.monotonic()
    with pytest.raises(OutOfTime, match="longer than its share"), stop_after(0.1):
        busy_for(20)
    assert time.monotonic() - began < 10


def count_stopped_steps(pieces):
    """Continue with the next step if one is stopped."""
    stopped = 0
    with stop_after(0.1):
        for _ in range(pieces):
            try:
                busy_for(20)
            except OutOfTime:
                stopped += 1
    return stopped


def test_the_next_piece_of_work_is_stopped_as_well():
    began = time.monotonic()
    assert count_stopped_steps(3) == 3
    assert time.monotonic() - began < 10


def test_work_that_finishes_in_time_is_not_stopped_nor_is_later_work():
    with stop_after(0.15):
        assert busy_for(0.01) == "done"
    assert busy_for(0.3) == "done"
    with stop_after(None):
        assert busy_for(0.01) == "done"


def test_an_expired_limit_leaves_nothing_behind():
    stopped = 0
    for k in range(60):
        try:
            with stop_after(k % 3 * 1e-4):
                busy_for(0.02)
        except OutOfTime:
            stopped += 1
    assert stopped > 30
    assert busy_for(1.2) == "done"  # longer than a limit waits before it raises again


def test_threads_started_before_are_not_stopped():
    results = []
    other = threading.Thread(target=lambda: results.append(busy_for(0.5)))
    other.start()
    with pytest.raises(OutOfTime), stop_after(0.05):
        busy_for(20)
    other.join()
    assert results == ["done"]


class Swallows(DummyRegressor):
    """Ignore every error of a step."""

    def fit(self, X, y):
        for _ in range(2):
            try:
                busy_for(20)
            except Exception as error:
                raise RuntimeError(f"the work failed: {error!r}") from error
        return super().fit(X, y)


def test_code_that_catches_every_exception_is_stopped_too():
    X, y = np.zeros((30, 1)), np.arange(30.0)
    began = time.monotonic()
    with pytest.raises(OutOfTime), stop_after(0.1):
        Swallows().fit(X, y)
    with pytest.raises(OutOfTime), stop_after(0.1):
        cross_val_score(Swallows(), X, y, error_score=0.0)
    with pytest.raises(OutOfTime), stop_after(0.1):
        AdaBoostRegressor(Swallows(), n_estimators=2, random_state=0).fit(X, y)
    assert time.monotonic() - began < 10


class Busy(DummyRegressor):
    """Predict the mean slowly."""

    def __init__(self, seconds):
        super().__init__()
        self.seconds = seconds

    def fit(self, X, y, sample_weight=None):
        busy_for(self.seconds)
        return super().fit(X, y)


def tuned_within(seconds, fits):
    """Return a method whose candidates take this many seconds each, with a time limit."""
    X, y = mixed_table("regression", rows=60)
    metric, shape = metric_and_shape("regression", X, y)
    tortoise = method("tortoise", lambda shape, pace, seed: Busy(pace), fits)
    return tune(
        tortoise,
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(scheme="validation"),
        limits=TimeLimits(hard=seconds),
    )


def test_a_method_stopped_before_its_first_candidate_is_reported_as_stopped():
    with pytest.raises(OutOfTime):
        tuned_within(0.3, [20.0, 20.0])


def test_a_method_that_is_stopped_later_keeps_what_it_found():
    tuned = tuned_within(0.5, [0.0, 20.0, 20.0])
    assert tuned.setting == {"complexity": 0.0}
    assert "time for 1 of 3 candidates" in tuned.message
