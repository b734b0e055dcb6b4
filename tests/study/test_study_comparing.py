"""Intervals of differences agree with the reference, and have the correct coverage on simulated data."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.reference import comparison as reference
from bosquet.study.compare.intervals import (
    BootstrapDraws,
    corrected_interval,
    difference_over_splits,
    differences_over_rows,
    dunnett_critical_value,
    score_interval,
)
from bosquet.study.metrics.metric import metric_named

numbers = st.floats(-100, 100, allow_nan=False)


@settings(max_examples=50, deadline=None)
@given(
    d=st.lists(numbers, min_size=3, max_size=12),
    n_train=st.integers(10, 10_000),
    n_test=st.integers(2, 5000),
)
def test_the_corrected_interval_agrees_with_the_reference(d, n_train, n_test):
    found = corrected_interval(d, n_train=n_train, n_test=n_test)
    assert found == pytest.approx(reference.corrected_interval(d, n_train, n_test)[1:], abs=1e-9)


def test_the_difference_is_this_method_minus_the_best_split_by_split():
    rng = np.random.default_rng(0)
    hard = rng.normal(size=8)  # differences between splits are far larger than between methods
    best, worse = 1 + hard, 1.2 + hard + 0.01 * rng.normal(size=8)
    found = difference_over_splits(worse, best, n_train=80, n_test=20)
    assert found["mean"] == pytest.approx(0.2, abs=0.02)
    assert found["distinguishable"]
    _, low, high = reference.corrected_interval(worse - best, 80, 20)
    assert (found["low"], found["high"]) == pytest.approx((low, high))


def test_the_test_keeps_its_nominal_false_positive_rate():
    rng = np.random.default_rng(1)
    apart = 0
    for _ in range(400):
        shared = rng.normal(size=1) * np.sqrt(0.2)  # the correlation due to shared training rows
        d = shared + rng.normal(size=10) * np.sqrt(0.8)
        zero = np.zeros(10)
        apart += difference_over_splits(d, zero, n_train=80, n_test=20)["distinguishable"]
    assert apart / 400 < 0.08


@pytest.mark.parametrize("name", ["rmse", "mae", "r2"])
def test_scores_of_draws_are_the_scores_of_the_rows_drawn(name):
    rng = np.random.default_rng(2)
    y, predictions = rng.normal(size=40), rng.normal(size=40)
    metric = metric_named(name, "regression")
    rows = BootstrapDraws.draw(y, metric, seed=3)
    scores = rows.scores(predictions)
    for draw in (0, 7):
        times = np.repeat(np.arange(40), rows.counts[draw])
        assert scores[draw] == pytest.approx(metric.score(y[times], predictions[times]))


def test_one_split_falls_back_on_paired_draws_of_its_rows():
    rng = np.random.default_rng(4)
    y = rng.normal(size=300)
    good, bad = y + rng.normal(size=300) * 0.5, y + rng.normal(size=300) * 0.8
    metric = metric_named("mae", "regression")
    rows = BootstrapDraws.draw(y, metric, seed=5)
    gap = metric.score(y, bad) - metric.score(y, good)
    drawn = rows.scores(bad) - rows.scores(good)
    (found,) = differences_over_rows([gap], [gap], [drawn])
    draws = [np.repeat(np.arange(300), times) for times in rows.counts]
    mean, low, high = reference.paired_bootstrap_interval(np.abs(y - bad), np.abs(y - good), draws)
    bounds = (found["mean"], found["low"], found["high"])
    assert bounds == pytest.approx((mean, low, high), abs=0.1 * (high - low))
    assert found["distinguishable"]


@pytest.mark.parametrize(
    ("comparisons", "freedom", "tabled"),
    [(1, 10, 2.23), (2, 10, 2.57), (4, 20, 2.65), (9, 20, 2.95), (9, 60, 2.77)],
)
def test_dunnetts_critical_values_are_those_of_the_tables(comparisons, freedom, tabled):
    assert dunnett_critical_value(comparisons, freedom) == pytest.approx(tabled, abs=0.011)


def test_the_correction_keeps_the_nominal_family_wise_error():
    rng = np.random.default_rng(6)
    studies, methods, splits = 300, 15, 10
    false_alarms = {"corrected": 0, "single": 0}
    for _ in range(studies):
        # Scores of a method correlate over splits by n_test / (n_train + n_test).
        level = rng.normal(size=(methods + 1, 1)) * np.sqrt(0.2)
        scores = level + rng.normal(size=(methods + 1, splits)) * np.sqrt(0.8)
        for name, comparisons in (("corrected", methods), ("single", 1)):
            false_alarms[name] += any(
                difference_over_splits(
                    own, scores[0], n_train=80, n_test=20, comparisons=comparisons
                )["distinguishable"]
                for own in scores[1:]
            )
    assert false_alarms["corrected"] / studies < 0.08
    assert false_alarms["single"] / studies > 0.15


def test_intervals_over_draws_hold_for_all_methods_at_once():
    rng = np.random.default_rng(7)
    false_alarms = 0
    for _ in range(200):
        seen = rng.normal(size=12)  # differences of equal methods, standard error 1
        drawn = seen[:, None] + rng.normal(size=(12, 200))
        found = differences_over_rows(seen, seen, list(drawn))
        false_alarms += any(one["distinguishable"] for one in found)
    assert false_alarms / 200 < 0.09


def test_a_methods_own_interval_needs_five_splits_or_draws():
    assert score_interval([0.5], None, n_train=80, n_test=20) is None
    drawn = np.linspace(0.4, 0.6, 101)
    low, high = score_interval([0.5], drawn, n_train=80, n_test=20)
    assert (low, high) == pytest.approx((0.405, 0.595))
    scores = [0.5, 0.6, 0.4, 0.5, 0.7]
    assert score_interval(scores[:4], None, n_train=80, n_test=20) is None
    five = score_interval(scores, None, n_train=80, n_test=20)
    assert five == pytest.approx(reference.corrected_interval(scores, 80, 20)[1:])


@pytest.mark.parametrize(
    ("name", "task", "scores", "ends"),
    [
        ("log_loss", "binary", [0.05, 0.01, 0.3, 0.05, 0.01], (0.0, None)),
        ("accuracy", "binary", [0.99, 0.98, 0.8, 0.99, 0.98], (None, 1.0)),
        ("mcc", "binary", [-0.9, -0.1, -0.95, -0.9, -0.1], (-1.0, None)),
        ("r2", "regression", [-3.0, -5.0, 0.9, -3.0, -5.0], (None, 1.0)),
        ("cost", "binary", [-0.9, -0.1, -0.95, -0.9, -0.1], (-1.0, None)),
    ],
)
def test_an_interval_stays_within_the_range_of_scores(name, task, scores, ends):
    costs = [[-1.0, 1.0], [1.0, 0.0]] if name == "cost" else None
    metric = metric_named(name, task, [] if task == "regression" else [0, 1], costs=costs)
    whole = score_interval(scores, None, n_train=80, n_test=20)
    found = score_interval(scores, None, n_train=80, n_test=20, within=metric.range)
    for end, bound, plain in zip(ends, found, whole, strict=True):
        assert bound == (plain if end is None else end)
