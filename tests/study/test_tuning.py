"""Tuning: every validation scheme, the choice, the curve, time limits and failures."""

import time
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from mixed_tables import metric_and_shape, mixed_table
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from bosquet import RandomForestRegressor
from bosquet._folds import fold_numbers
from bosquet.reference import resampling
from bosquet.study.methods import METHODS
from bosquet.study.methods.costs import FitCost
from bosquet.study.methods.method import Candidate
from bosquet.study.metrics.metric import predictions_for
from bosquet.study.table.design import Design
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.affordable_rows import affordable_rows
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.time_limits import TimeLimits
from bosquet.study.tuning.tuner import tune
from bosquet.study.tuning.validation import draw_bags


def method_of(make, settings, name="linear", **changes):
    """Return a method with one candidate per setting, built by `make(setting, seed)`."""
    candidates = [
        Candidate(float(i), f"setting {s}", {"value": s}, partial(make, s))
        for i, s in enumerate(settings)
    ]
    return replace(METHODS[name], candidates=lambda shape: candidates, **changes)


def ridge(alpha, seed):
    return Ridge(alpha=alpha)


@pytest.fixture(scope="module")
def numbers():
    random = np.random.default_rng(1)
    X = random.normal(size=(60, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + random.normal(size=60)
    return X, y, *metric_and_shape("regression", X, y)


def chosen_point(tuned):
    (point,) = [point for point in tuned.curve["points"] if point["chosen"]]
    return point


@pytest.mark.parametrize("scheme", ["cv", "validation", "bootstrap", "aic", "bic"])
def test_the_curve_has_every_candidate_and_its_chosen_point_is_the_best(numbers, scheme):
    X, y, metric, shape = numbers
    method = METHODS["linear"]
    tuned = tune(method, TableRows(X, y), shape, metric, options=TuningOptions(scheme=scheme))
    points = tuned.curve["points"]
    assert [p["label"] for p in points] == [c.label for c in method.candidates(shape)]
    assert [p["complexity"] for p in points] == sorted(p["complexity"] for p in points)
    best = min(points, key=lambda point: point["score"])
    assert chosen_point(tuned) == best
    assert tuned.setting == best["setting"] == tuned.candidate.setting
    assert tuned.curve["score"] == (
        metric.title if scheme not in ("aic", "bic") else scheme.upper()
    )
    assert tuned.message == ""
    assert np.isfinite(tuned.estimator.predict(X)).all()


def test_higher_scores_win_where_higher_is_better(numbers):
    X, y, _, shape = numbers
    metric, _ = metric_and_shape("regression", X, y, "r2")
    tuned = tune(METHODS["linear"], TableRows(X, y), shape, metric)
    assert chosen_point(tuned)["score"] == max(p["score"] for p in tuned.curve["points"])


def test_folds_agree_with_the_reference(numbers):
    X, y, metric, shape = numbers
    tuned = tune(
        method_of(ridge, [100.0, 1.0]),
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(random_state=5),
    )
    fold = fold_numbers(len(y), 5, 5).tolist()
    for point, alpha in zip(tuned.curve["points"], [100.0, 1.0], strict=True):
        mean, error = resampling.cross_validation_score(
            lambda A, b, alpha=alpha: Ridge(alpha=alpha).fit(A, b).predict, X, y, fold, metric.score
        )
        assert point["score"] == pytest.approx(mean)
        assert point["standard_error"] == pytest.approx(error)


def test_the_bootstrap_agrees_with_the_reference(numbers):
    X, y, metric, shape = numbers

    def make(k, seed):
        return KNeighborsRegressor(k)

    method = method_of(make, [10, 1])
    tuned = tune(
        method,
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(scheme="bootstrap", random_state=2),
    )
    bags = draw_bags(len(y), 10, 2)
    for point, k in zip(tuned.curve["points"], [10, 1], strict=True):
        expected = resampling.bootstrap_632(
            lambda A, b, k=k: KNeighborsRegressor(k).fit(A, b).predict, X, y, bags, metric.score
        )
        assert point["score"] == pytest.approx(expected)


@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_out_of_bag_scores_are_those_of_the_forest_itself_and_cost_no_further_fit(task):
    X, y = mixed_table(task)
    metric, shape = metric_and_shape(task, X, y)
    tuned = tune(
        METHODS["random-forest"],
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(random_state=4),
    )
    assert tuned.curve["by"] == "out of bag"
    forest = tuned.candidate.make(4).fit(X, y)
    predictions = forest.oob_prediction_ if task == "regression" else forest.oob_decision_function_
    assert chosen_point(tuned)["score"] == pytest.approx(metric.score(y, predictions))
    assert np.array_equal(
        predictions_for(forest, X, metric), predictions_for(tuned.estimator, X, metric)
    )
    made = []

    def counted(trees, seed):
        made.append(trees)
        return RandomForestRegressor(trees, oob_score=True, random_state=seed)

    if task == "regression":
        tune(method_of(counted, [20, 40], scheme="oob"), TableRows(X, y), shape, metric)
        assert made == [20, 20, 40]  # the first was inspected, not fitted


def test_the_one_standard_error_rule_takes_the_least_complex_candidate_near_the_best(numbers):
    X, y, metric, shape = numbers
    best = tune(METHODS["linear"], TableRows(X, y), shape, metric)
    near = tune(
        METHODS["linear"], TableRows(X, y), shape, metric, options=TuningOptions(rule="1se")
    )
    low = chosen_point(best)["score"] + chosen_point(best)["standard_error"]
    within = [p["complexity"] for p in best.curve["points"] if p["score"] <= low]
    assert chosen_point(near)["complexity"] == min(within)
    assert chosen_point(near)["complexity"] < chosen_point(best)["complexity"]


def test_of_settings_with_the_same_complexity_the_curve_shows_the_best():
    X, y = mixed_table("binary")
    metric, shape = metric_and_shape("binary", X, y)
    tuned = tune(METHODS["adaboost"], TableRows(X, y), shape, metric)
    places = [point["complexity"] for point in tuned.curve["points"]]
    assert places == [10, 25, 50, 100, 200, 400]
    assert chosen_point(tuned)["score"] == min(p["score"] for p in tuned.curve["points"])


def test_candidates_that_fail_are_skipped_and_named(numbers):
    X, y, metric, shape = numbers
    tuned = tune(method_of(ridge, [1.0, -5.0, 10.0]), TableRows(X, y), shape, metric)
    assert len(tuned.curve["points"]) == 2
    assert "setting -5.0 skipped" in tuned.message
    with pytest.raises(
        ValueError, match=r"Linear regression.*no candidate could be fitted; setting -1"
    ):
        tune(method_of(ridge, [-1.0, -2.0]), TableRows(X, y), shape, metric)


def test_a_candidate_with_nan_predictions_is_skipped(numbers):
    X, y, metric, shape = numbers

    class Lost(Ridge):
        def predict(self, X):
            return np.full(len(X), np.nan)

    def make(alpha, seed):
        return Lost() if alpha is None else Ridge(alpha=alpha)

    tuned = tune(method_of(make, [None, 1.0]), TableRows(X, y), shape, metric)
    assert len(tuned.curve["points"]) == 1
    assert "setting None skipped" in tuned.message


class Complaining(Ridge):
    def fit(self, X, y, sample_weight=None):
        warnings.warn("did not converge\nsee the manual", UserWarning, stacklevel=2)
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_warnings_of_the_chosen_fit_become_its_message(numbers, n_jobs, recwarn):
    X, y, metric, shape = numbers

    def make(alpha, seed):
        return Complaining(alpha=alpha)

    tuned = tune(
        method_of(make, [1.0, 2.0]),
        TableRows(X, y),
        shape,
        metric,
        options=TuningOptions(n_jobs=n_jobs),
    )
    assert tuned.message == "did not converge"
    assert not recwarn.list


class Slow(Ridge):
    def fit(self, X, y, sample_weight=None):
        time.sleep(0.05)
        return super().fit(X, y, sample_weight)


def test_candidates_are_tried_in_order_until_time_is_up(numbers):
    X, y, metric, shape = numbers

    def make(alpha, seed):
        return Slow(alpha=alpha)

    method = method_of(make, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    began = time.monotonic()
    tuned = tune(method, TableRows(X, y), shape, metric, limits=TimeLimits(soft=0.8))
    assert time.monotonic() - began < 1.5
    labels = [point["label"] for point in tuned.curve["points"]]
    assert 1 <= len(labels) < 6
    assert labels == [c.label for c in method.candidates(shape)][: len(labels)]
    assert f"time for {len(labels)} of 6 candidates" in tuned.message
    least = tune(method, TableRows(X, y), shape, metric, limits=TimeLimits(soft=0.06))
    assert len(least.curve["points"]) == 1
    assert "of 5 folds" in least.message


@pytest.mark.parametrize("name", ["linear", "random-forest", "gradient-boosting", "cart"])
def test_the_same_seed_gives_the_same_result_for_any_number_of_jobs(name):
    X, y = mixed_table("regression")
    metric, shape = metric_and_shape("regression", X, y)
    first, second = (
        tune(
            METHODS[name],
            TableRows(X, y),
            shape,
            metric,
            options=TuningOptions(random_state=7, n_jobs=jobs),
        )
        for jobs in (None, 2)
    )
    assert first.curve == second.curve
    assert first.setting == second.setting
    assert np.array_equal(first.estimator.predict(X), second.estimator.predict(X))


@pytest.mark.parametrize("scheme", ["cv", "bootstrap"])
def test_candidates_are_compared_with_a_cheaper_estimator_and_the_chosen_one_is_fitted(scheme):
    X, y = mixed_table("regression")
    metric, shape = metric_and_shape("regression", X, y)
    method = METHODS["gradient-boosting"]
    one = next(c for c in method.candidates(shape) if c.complexity == 40)
    alone = replace(method, candidates=lambda shape: [one, *method.candidates(shape)[-1:]])
    tuned = tune(alone, TableRows(X, y), shape, metric, options=TuningOptions(scheme=scheme))
    assert tuned.estimator.n_runs == tuned.setting["n_runs"] == 3
    single = replace(one, make=one.make_trial, make_trial=None)
    last = method.candidates(shape)[-1]
    last = replace(last, make=last.make_trial, make_trial=None)
    trials = replace(method, candidates=lambda shape: [single, last])
    tried = tune(trials, TableRows(X, y), shape, metric, options=TuningOptions(scheme=scheme))
    assert [p["score"] for p in tuned.curve["points"]] == [
        p["score"] for p in tried.curve["points"]
    ]


def test_early_stopping_gives_its_own_trace_as_the_curve():
    X, y = mixed_table("binary", rows=1200)
    metric, shape = metric_and_shape("binary", X, y)
    tuned = tune(
        METHODS["gradient-boosting"], TableRows(X, y), replace(shape, n_rows=5_000), metric
    )
    points = tuned.curve["points"]
    assert tuned.curve["by"] == "validation rows"
    assert tuned.curve["parameter"] == "rounds"
    assert chosen_point(tuned)["score"] == min(p["score"] for p in points)
    assert (
        points[-1]["complexity"] > chosen_point(tuned)["complexity"]
    )  # it continued to confirm the minimum
    assert tuned.estimator.n_iter_ == tuned.setting["n_estimators"]
    validation = fold_numbers(len(y), 5, 0, classes=np.unique(y, return_inverse=True)[1]) == 0
    stopped = chosen_point(tuned)["setting"]["n_estimators"]
    # rounds in proportion to the rows: selected on four fifths of them, fitted to all
    assert tuned.setting["n_estimators"] == round(stopped * len(y) / (~validation).sum())
    again = (
        tuned.candidate.make(0).set_params(n_estimators=stopped).fit(X[~validation], y[~validation])
    )
    expected = metric.score(y[validation], predictions_for(again, X[validation], metric))
    assert chosen_point(tuned)["score"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("task", ["binary", "regression"])
def test_a_pruned_tree_shows_its_pruning_table(task):
    X, y = mixed_table(task)
    metric, shape = metric_and_shape(task, X, y)
    tuned = tune(METHODS["cart"], TableRows(X, y), shape, metric)
    points, table = tuned.curve["points"], tuned.estimator.pruning_table_
    places = [point["complexity"] for point in points]
    assert places == sorted(set(places))
    assert set(places) <= set(table.leaves.tolist())
    assert {places[0], places[-1]} == {table.leaves.min(), table.leaves.max()}
    assert chosen_point(tuned)["complexity"] == tuned.estimator.get_n_leaves()
    error = table.errors[table.chosen]  # deviance is twice the log loss
    expected = error / 2 if task == "binary" else error**0.5
    assert chosen_point(tuned)["score"] == pytest.approx(expected)
    assert tuned.curve["score"] == metric.title


def test_methods_without_hyper_parameters_have_no_curve():
    X, y = mixed_table("binary")
    metric, shape = metric_and_shape("binary", X, y)
    tuned = tune(METHODS["constant"], TableRows(X, y), shape, metric)
    assert tuned.curve is None
    assert tuned.setting == {"prediction": "class proportions"}


def test_weights_are_passed_to_methods_that_accept_them_and_others_report_it():
    X, y = mixed_table("binary")
    metric, shape = metric_and_shape("binary", X, y)
    weight = np.where(y == "yes", 5.0, 1.0)
    plain = tune(METHODS["logistic"], TableRows(X, y), shape, metric)
    weighed = tune(METHODS["logistic"], TableRows(X, y, Design(weight=weight)), shape, metric)
    gain = predictions_for(weighed.estimator, X, metric) - predictions_for(
        plain.estimator, X, metric
    )
    assert gain[:, 1].mean() > 0.05
    ignored = tune(METHODS["lda"], TableRows(X, y, Design(weight=weight)), shape, metric)
    assert "weights are not used" in ignored.message


def test_large_tables_use_a_validation_set_by_default(numbers):
    X, y, metric, shape = numbers
    X, y = np.tile(X, (90, 1)), np.tile(y, 90)
    shape = replace(shape, n_rows=len(y))
    few = method_of(ridge, [1.0, 2.0])
    assert tune(few, TableRows(X, y), shape, metric).curve["by"] == "validation rows"
    assert (
        tune(few, TableRows(X, y), shape, metric, options=TuningOptions(scheme="cv")).curve["by"]
        == "5-fold cross-validation"
    )


def test_unknown_schemes_and_rules_are_named_in_the_error(numbers):
    X, y, metric, shape = numbers
    with pytest.raises(ValueError, match="scheme='loo' is not valid"):
        tune(METHODS["linear"], TableRows(X, y), shape, metric, options=TuningOptions(scheme="loo"))
    with pytest.raises(ValueError, match="rule='median'"):
        TuningOptions(rule="median")
    with pytest.raises(ValueError, match="has no likelihood, which AIC needs"):
        tune(
            METHODS["svr-linear"],
            TableRows(X, y),
            shape,
            metric,
            options=TuningOptions(scheme="aic"),
        )
    with pytest.raises(ValueError, match="has no out-of-bag predictions"):
        tune(
            METHODS["extra-trees"],
            TableRows(X, y),
            shape,
            metric,
            options=TuningOptions(scheme="oob"),
        )


def test_more_seconds_afford_more_rows_and_expensive_methods_fewer():
    X, y = mixed_table("binary", rows=600)
    _, shape = metric_and_shape("binary", X, y)
    shape = replace(shape, n_rows=200_000)
    method = METHODS["svm-gaussian"]
    assert 200 <= method.rows_affordable(shape, 1) < method.rows_affordable(shape, 10) < 100_000
    assert method.rows_affordable(shape, 1) < METHODS["logistic"].rows_affordable(shape, 1)
    assert affordable_rows(method, TableRows(X, y), replace(shape, n_rows=600), 1e4) == 600


def test_a_trial_fit_corrects_the_cost_model():
    X, y = mixed_table("regression", rows=600)
    _, shape = metric_and_shape("regression", X, y)

    def make(trees, seed):
        return RandomForestRegressor(trees, random_state=seed)

    shape = replace(shape, n_rows=10**6)
    cost = FitCost(0.1, encoded=False)
    few, many = (
        affordable_rows(
            method_of(make, [trees, trees], name="random-forest", rows_affordable=cost, scheme="cv"),
            TableRows(X, y), shape, 60,
        )
        for trees in (5, 400)
    )  # fmt: skip
    assert many < few
