"""Error messages of ConformalModel for invalid input."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC

from bosquet import (
    BaggingRegressor,
    ConformalModel,
    GradientBoostingRegressor,
    RandomForestRegressor,
)


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, "0.9", None, True, float("nan")])
def test_a_coverage_outside_0_and_1_raises(numbers, coverage):
    model = ConformalModel(LinearRegression()).fit(*numbers)
    with pytest.raises(ValueError, match=r"coverage must be a number in \(0, 1\)"):
        model.predict_interval(numbers[0], coverage)


def test_too_few_calibration_rows_for_the_coverage_raise(numbers, three_classes):
    X, y = numbers[0][:40], numbers[1][:40]
    split = ConformalModel(LinearRegression(), calibration_size=18, random_state=0).fit(X, y)
    split.predict_interval(X, 0.94)
    with pytest.raises(ValueError, match="needs at least 19 calibration rows, but there are 18"):
        split.predict_interval(X, 0.95)
    plus = ConformalModel(LinearRegression(), "cv+", cv=4).fit(X, y)
    with pytest.raises(ValueError, match="needs at least 99 calibration rows, but there are 40"):
        plus.predict_interval(X, 0.99)
    grouped = ConformalModel(LinearRegression(), "cv+", cv=4).fit(X, y, groups=np.arange(40) < 5)
    with pytest.raises(ValueError, match="there are 5 in group True"):
        grouped.predict_interval(X[:1], 0.9, groups=[True])
    X, y = three_classes[0][:60], three_classes[1][:60]
    sets = ConformalModel(GaussianNB(), per_class=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="of class 0"):
        sets.predict_set(X, 0.95)


def test_invalid_groups_raise(numbers):
    X, y = numbers
    plain = ConformalModel(LinearRegression()).fit(X, y)
    with pytest.raises(ValueError, match="fitted without groups"):
        plain.predict_interval(X, groups=np.zeros(500))
    grouped = ConformalModel(LinearRegression()).fit(X, y, groups=np.repeat(["a", "b"], 250))
    with pytest.raises(ValueError, match="fitted with groups"):
        grouped.predict_interval(X)
    with pytest.raises(
        ValueError, match="'c', which no calibration row has; known groups are 'a', 'b'"
    ):
        grouped.predict_interval(X[:2], groups=["a", "c"])
    with pytest.raises(ValueError, match="groups has shape"):
        grouped.predict_interval(X, groups=["a"])


def test_invalid_combinations_raise_in_fit(numbers, three_classes):
    X, y = numbers
    labels = three_classes[1][:500] > 0
    cases = [
        (ConformalModel(LinearRegression(), "loo"), y, "method='loo' is not valid"),
        (ConformalModel(LinearRegression(), "oob"), y, "LinearRegression has no attribute"),
        (ConformalModel(TheirForest(2, bootstrap=False), "oob"), y, "every member drew all rows"),
        (ConformalModel(LinearRegression(), "cqr"), y, r"pass bosquet\.GradientBoostingRegressor"),
        (ConformalModel(GradientBoostingRegressor(), "cqr"), y, r"bosquet\.RandomForestRegressor"),
        (ConformalModel(GaussianNB(), "cqr"), labels, "'cqr' is for regressors.*predict_set"),
        (ConformalModel(LinearSVC()), labels, "LinearSVC has no predict_proba"),
        (ConformalModel(GaussianNB()), labels * 0, "y has 1 class"),
        (ConformalModel(LinearRegression(), per_class=True), y, "per_class=True is for class"),
        (ConformalModel(LinearRegression(), "cv+", prefit=True), y, "prefit=True is not supported"),
        (ConformalModel(LinearRegression(), calibration_size=500), y, "leaves no row to fit"),
        (
            ConformalModel(LinearRegression(), "cv+", cv=501),
            y,
            "cv=501 is not valid: cv must be an integer in .2, 500.",
        ),
        (ConformalModel(LinearRegression()), np.c_[y, y], "y has 2 columns"),
        (ConformalModel(RandomForestRegressor(), "cqr", quantiles=(0.9, 0.1)), y, "ascending"),
    ]
    for model, target, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(X, target)
    with pytest.raises(ValueError, match="use predict_set"):
        ConformalModel(GaussianNB()).fit(X, labels).predict_interval(X)
    with pytest.raises(ValueError, match="use predict_interval"):
        ConformalModel(LinearRegression()).fit(X, y).predict_set(X)
    for method in ("predict", "predict_interval", "predict_set"):
        with pytest.raises(NotFittedError):
            getattr(ConformalModel(LinearRegression()), method)(X)
    with pytest.raises(NotFittedError):
        ConformalModel(LinearRegression(), prefit=True).fit(X, y)


def test_a_failed_fit_leaves_the_model_unchanged(numbers):
    X, y = numbers
    model = ConformalModel(LinearRegression(), random_state=0).fit(X, y)
    before = model.predict_interval(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.full(500, np.nan))
    np.testing.assert_array_equal(model.predict_interval(X), before)


def test_a_string_for_cv_raises_and_names_prefit():
    model = ConformalModel(LinearRegression(), cv="prefit")
    with pytest.raises(ValueError, match="prefit=True"):
        model.fit(np.arange(40.0).reshape(-1, 1), np.arange(40.0))


@pytest.mark.parametrize("method", ["split", "cv+", "jackknife+", "oob"])
def test_a_model_of_several_quantiles_needs_cqr(numbers, method):
    X, y = numbers[0][:40], numbers[1][:40]
    levels = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], n_estimators=2)
    model = BaggingRegressor(levels, n_estimators=10) if method == "oob" else levels
    conformal = ConformalModel(model, method, cv=3, calibration_size=0.25)
    with pytest.raises(ValueError, match=r"predicts 3 numbers per row.*method='cqr'"):
        conformal.fit(X, y)
    assert ConformalModel(levels, "cqr").fit(X, y).predict_interval(X[:5], 0.8).shape == (5, 2)


def test_several_outputs_raise_also_with_as_many_calibration_rows(numbers):
    levels = GradientBoostingRegressor(loss="quantile", quantile=[0.1, 0.5, 0.9], n_estimators=2)
    with pytest.raises(ValueError, match="predicts 3 numbers per row"):
        ConformalModel(levels, calibration_size=3).fit(*numbers)


def test_one_column_of_predictions_is_one_number_per_row(numbers):
    X, y = numbers
    column = LinearRegression().fit(X, y[:, None])
    bounds = [
        ConformalModel(model, prefit=True).fit(X, y).predict_interval(X)
        for model in (column, LinearRegression().fit(X, y))
    ]
    np.testing.assert_allclose(*bounds)


@pytest.mark.parametrize("method", ["split", "cv+"])
def test_a_model_that_predicts_no_finite_number_is_named(numbers, method):
    class NotFinite(LinearRegression):
        def predict(self, X):
            return np.where(np.arange(len(X)) == 3, np.nan, super().predict(X))

    with pytest.raises(ValueError, match="NotFinite predicts nan for row 3; predictions must be"):
        ConformalModel(NotFinite(), method).fit(*numbers)
