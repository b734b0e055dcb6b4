"""Coverage and calibration of the winner on test rows, and of how few they can be told."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from bosquet.study.explain.trust import calibration_on, coverage_on, too_few
from bosquet.study.metrics.scoring import metric_named


def numbers(n, seed):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 2)), columns=["a", "b"])
    return X, X["a"].to_numpy() + random.normal(size=n)


def test_half_of_the_test_rows_gives_intervals_that_hold_on_the_other():
    X, y = numbers(2200, 0)
    model = LinearRegression().fit(X[:200], y[:200])
    metric = metric_named("rmse", "regression")
    found = coverage_on(model, X[200:].reset_index(drop=True), y[200:], metric, seed=0)
    assert found["nominal"] == 0.9
    assert found["observed"] == pytest.approx(0.9, abs=0.025)
    assert found["mean_width"] == pytest.approx(2 * 1.645, rel=0.1)


@pytest.mark.parametrize(("rows", "told"), [(53, True), (40, True), (39, False)])
def test_coverage_is_told_from_forty_test_rows_on(rows, told):
    X, y = numbers(200 + rows, 1)
    model = LinearRegression().fit(X[:200], y[:200])
    metric = metric_named("rmse", "regression")
    found = coverage_on(model, X[200:].reset_index(drop=True), y[200:], metric, seed=0)
    assert (found is not None) == told


def test_a_model_that_is_too_sure_is_told_and_calibrated():
    X, y = numbers(1400, 2)
    labels = (y > 0).astype(int)
    model = LogisticRegression().fit(X[:200], labels[:200])
    model.coef_ *= 6  # far too sure
    metric = metric_named("log_loss", "binary", [0, 1])
    found = calibration_on(model, X[200:].reset_index(drop=True), labels[200:], metric, seed=0)
    assert found["ece"] > 0.1
    assert found["ece_after"] < 0.5 * found["ece"]
    assert found["brier_after"] < found["brier"]


@pytest.mark.parametrize(
    ("rows", "classes", "told"),
    [
        (80, True, ""),
        (40, False, ""),
        (60, True, "60 test rows are too few to tell of the winner its calibration (80)."),
        (
            39,
            False,
            "39 test rows are too few to tell of the winner the coverage of its intervals (40).",
        ),
    ],
)
def test_what_is_left_out_for_want_of_test_rows_is_said(rows, classes, told):
    assert too_few(rows, classes) == told
    assert too_few(30, True).count("(") == 2
