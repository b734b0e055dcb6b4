"""Coverage and calibration of the chosen model, and how many test rows they need."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from bosquet.study.explain.diagnostics import calibration_on, coverage_on, few_rows_note
from bosquet.study.metrics.metric import metric_named


def numbers(n, seed):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n, 2)), columns=["a", "b"])
    return X, X["a"].to_numpy() + random.normal(size=n)


def test_intervals_calibrated_on_half_of_the_test_rows_cover_the_other_half():
    X, y = numbers(2200, 0)
    model = LinearRegression().fit(X[:200], y[:200])
    metric = metric_named("rmse", "regression")
    found = coverage_on(model, X[200:].reset_index(drop=True), y[200:], metric, seed=0)
    assert found["nominal"] == 0.9
    assert found["observed"] == pytest.approx(0.9, abs=0.025)
    assert found["mean_width"] == pytest.approx(2 * 1.645, rel=0.1)


@pytest.mark.parametrize(("rows", "measured"), [(53, True), (40, True), (39, False)])
def test_coverage_needs_forty_test_rows(rows, measured):
    X, y = numbers(200 + rows, 1)
    model = LinearRegression().fit(X[:200], y[:200])
    metric = metric_named("rmse", "regression")
    found = coverage_on(model, X[200:].reset_index(drop=True), y[200:], metric, seed=0)
    assert (found is not None) == measured


def test_an_overconfident_model_is_detected_and_calibrated():
    X, y = numbers(1400, 2)
    labels = (y > 0).astype(int)
    model = LogisticRegression().fit(X[:200], labels[:200])
    model.coef_ *= 6  # overconfident
    metric = metric_named("log_loss", "binary", [0, 1])
    found = calibration_on(model, X[200:].reset_index(drop=True), labels[200:], metric, seed=0)
    assert found["ece"] > 0.1
    assert found["ece_after"] < 0.5 * found["ece"]
    assert found["brier_after"] < found["brier"]


@pytest.mark.parametrize(
    ("rows", "classes", "note"),
    [
        (80, True, ""),
        (40, False, ""),
        (
            60,
            True,
            "The first split has 60 test rows, too few to measure calibration (at least 80 rows).",
        ),
        (
            39,
            False,
            "The first split has 39 test rows, too few to measure the coverage of intervals"
            " (at least 40 rows).",
        ),
    ],
)
def test_a_note_names_what_needs_more_test_rows(rows, classes, note):
    assert few_rows_note(rows, classes) == note
    assert few_rows_note(30, True).count("(") == 2
