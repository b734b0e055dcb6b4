"""Studies with a custom metric: a function, or a scorer of scikit-learn."""

import functools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import (
    accuracy_score,
    fbeta_score,
    get_scorer,
    hinge_loss,
    log_loss,
    make_scorer,
    mean_absolute_error,
    mean_pinball_loss,
    roc_auc_score,
)

from bosquet import Study
from bosquet.study.metrics.custom_metric import check_metric, custom_metric
from bosquet.study.metrics.metric import metric_named
from bosquet.study.report.document import page_html

LABELS = np.array(["no", "yes"])
GIVEN = {"budget": None, "repeats": 2, "verbose": 0}


def make_table(n=240, seed=0):
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": random.normal(size=n), "b": random.normal(size=n)})
    frame["number"] = 3 + frame["a"] + 0.3 * random.normal(size=n)
    frame["kind"] = LABELS[(frame["a"] + 0.5 * random.normal(size=n) > 0).astype(int)]
    return frame


def far_off_error(y_true, y_pred):
    """Return the share of predictions with an error of more than one half."""
    assert y_true.dtype == y_pred.dtype == float
    return np.mean(np.abs(y_true - y_pred) > 0.5)


def profit(y_true, y_pred):
    """A true positive earns 10, and each predicted positive costs 4."""
    return float(np.mean(10 * ((y_true == "yes") & (y_pred == "yes")) - 4 * (y_pred == "yes")))


def predictions(n=200, seed=0, k=2):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(k), size=n)
    classes = LABELS if k == 2 else np.array(list("abcdef")[:k])
    return classes, classes[[random.choice(k, p=row) for row in p]], p


# -------------------------------------------------------------------------------------- one metric
def test_a_function_is_named_and_directed_as_scikit_learn_names_its_own():
    metric = custom_metric(far_off_error, "regression")
    assert (metric.name, metric.title, metric.higher_is_better) == (
        "far_off_error",
        "far_off_error",
        False,
    )
    assert metric.score([1, 2, 3], [1.2, 2, 9]) == pytest.approx(1 / 3)
    assert custom_metric(accuracy_score, "binary", LABELS).higher_is_better
    with pytest.raises(ValueError, match="it is unknown whether higher is better; pass sklearn"):
        custom_metric(profit, "binary", LABELS)


def test_a_scorer_has_a_direction_and_its_name_includes_its_arguments():
    metric = custom_metric(make_scorer(profit), "binary", LABELS)
    assert (metric.name, metric.higher_is_better, metric.needs) == ("profit", True, "class")
    metric = custom_metric(make_scorer(profit, greater_is_better=False), "binary", LABELS)
    assert not metric.higher_is_better
    metric = custom_metric(make_scorer(mean_pinball_loss, alpha=0.9), "regression")
    assert metric.name == "mean_pinball_loss(alpha=0.9)"
    partial = functools.partial(mean_pinball_loss, alpha=0.2)
    metric = custom_metric(make_scorer(partial, greater_is_better=False), "regression")
    assert metric.name == "mean_pinball_loss(alpha=0.2)"
    metric = custom_metric(make_scorer(lambda y, p: 1.0), "regression")
    assert metric.name == "lambda"


@pytest.mark.parametrize("name", ["accuracy", "neg_log_loss", "roc_auc", "neg_brier_score"])
def test_scorers_of_scikit_learn_give_the_scores_of_their_functions(name):
    classes, y, p = predictions()
    scorer = get_scorer(name)
    if name == "neg_brier_score":
        scorer = make_scorer(
            scorer._score_func,
            greater_is_better=False,
            response_method="predict_proba",
            pos_label="yes",
        )
    ours = {
        "accuracy": "accuracy",
        "neg_log_loss": "log_loss",
        "roc_auc": "roc_auc",
        "neg_brier_score": "brier",
    }[name]
    metric = custom_metric(scorer, "binary", classes)
    theirs = metric_named(ours, "binary", classes)
    assert metric.higher_is_better == theirs.higher_is_better
    assert metric.score(y, p) == pytest.approx(theirs.score(y, p))
    weight = np.random.default_rng(1).random(len(y))
    assert metric.score(y, p, weight) == pytest.approx(theirs.score(y, p, weight))
    times = np.random.default_rng(2).integers(0, 3, (5, len(y)))
    drawn = metric.bootstrap_scores(y, p, times)
    assert drawn == pytest.approx(theirs.bootstrap_scores(y, p, times))


def test_several_classes_have_a_column_of_probabilities_each():
    classes, y, p = predictions(k=3)
    scorer = make_scorer(roc_auc_score, response_method="predict_proba", multi_class="ovr")
    found = custom_metric(scorer, "multiclass", classes).score(y, p.astype(np.float32))
    expected = metric_named("roc_auc", "multiclass", classes).score(y, p)
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_probability_is_that_of_pos_label():
    classes, y, p = predictions()

    def mean_score(y_true, y_pred, pos_label="yes"):
        return y_pred.mean()

    for label, place in (("no", 0), ("yes", 1)):
        scorer = make_scorer(mean_score, response_method="predict_proba", pos_label=label)
        found = custom_metric(scorer, "binary", classes).score(y, p)
        assert found == pytest.approx(p[:, place].mean())


def test_draws_repeat_rows_for_a_function_that_takes_no_weights():
    y, predicted = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 9.0])
    metric = custom_metric(far_off_error, "regression")
    found = metric.bootstrap_scores(y, predicted, np.array([[1, 1, 1], [3, 0, 0], [0, 1, 2]]))
    assert found == pytest.approx([1 / 3, 0, 2 / 3])


def test_a_draw_that_cannot_be_scored_has_no_score():
    scorer = make_scorer(log_loss, greater_is_better=False, response_method="predict_proba")
    metric = custom_metric(scorer, "binary", LABELS)
    y, p = np.array(["no", "yes"]), np.array([[0.9, 0.1], [0.2, 0.8]])
    found = metric.bootstrap_scores(y, p, np.array([[1, 1], [2, 0]]))
    assert np.isfinite(found).tolist() == [True, False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            make_scorer(hinge_loss, response_method="decision_function"),
            "which not all methods have",
        ),
        (
            make_scorer(fbeta_score, response_method="predict_proba", pos_label="maybe", beta=1),
            "pos_label='maybe' is not one of",
        ),
    ],
)
def test_scorers_that_cannot_be_used_for_classes_raise(given, message):
    with pytest.raises(ValueError, match=message):
        custom_metric(given, "binary", LABELS)


def test_a_metric_of_probabilities_is_not_for_numbers():
    scorer = make_scorer(log_loss, response_method="predict_proba")
    with pytest.raises(ValueError, match="takes probabilities, but the target is a number"):
        custom_metric(scorer, "regression")


def test_a_metric_without_weights_raises_if_rows_have_weights():
    with pytest.raises(ValueError, match="far_off_error has no parameter sample_weight"):
        custom_metric(far_off_error, "regression", weighted=True)
    assert custom_metric(mean_absolute_error, "regression", weighted=True)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda y, p: 1 / 0, "metric=lambda raised ZeroDivisionError on 3 rows: division by zero"),
        (
            lambda y, p: float("nan"),
            "metric=lambda returned nan on 3 rows; it must return a finite",
        ),
        (
            lambda y, p: np.abs(y - p),
            "metric=lambda returned an ndarray; it must return one number",
        ),
        (lambda y, p, X: 1.0, "metric=lambda raised TypeError"),
    ],
)
def test_a_metric_that_fails_on_constant_predictions_is_one_clear_error(function, message):
    metric = custom_metric(make_scorer(function), "regression")
    with pytest.raises(ValueError, match=message) as raised:
        check_metric(metric, np.array([1.0, 2.0, 4.0]), None, "on all rows")
    assert "\n" not in str(raised.value)


# ------------------------------------------------------------------------------------ whole studies
def test_a_study_is_scored_by_a_function():
    frame = make_table().drop(columns="kind")
    study = Study(metric=far_off_error, methods=["constant", "linear", "cart"], **GIVEN)
    study.fit(frame, "number", test=make_table(100, 1))
    record = study.record_
    assert record["metric"] == {
        "name": "far_off_error",
        "title": "far_off_error",
        "higher_is_better": False,
    }
    means = [method["mean"] for method in record["methods"]]
    assert means == sorted(means)
    assert record["methods"][0]["name"] == "linear"
    low, high = record["methods"][0]["interval"]  # from draws: there are two splits
    assert low < means[0] < high
    assert record["methods"][-1]["difference"]["distinguishable"]
    assert study.table_["far_off_error"].tolist() == pytest.approx(means)
    assert {"rmse", "mae"} <= set(record["methods"][0]["metrics"])
    assert "far_off_error" in str(study)
    assert "far_off_error" in page_html(record)
    later = make_table(100, 1)
    expected = far_off_error(later["number"].to_numpy(), study.predict(later))
    assert record["test_table"]["metrics"]["far_off_error"] == pytest.approx(expected)


def test_a_study_is_scored_by_a_scorer_and_is_reproducible():
    frame = make_table().drop(columns="number")
    found = []
    for _ in range(2):
        study = Study(metric=make_scorer(profit), methods=["constant", "logistic"], **GIVEN)
        found.append(study.fit(frame, "kind"))
    first, second = (study.record_["methods"] for study in found)
    assert first[0]["name"] == "logistic"
    assert first[0]["scores"] == second[0]["scores"]
    assert first[0]["interval"] == second[0]["interval"]
    split = found[0].splits_[0][1]
    assert first[0]["metrics"]["profit"] > 0
    assert len(split) == 48


def test_a_checkpoint_is_resumed_only_with_the_same_metric(tmp_path):
    frame = make_table().drop(columns="number")
    given = {**GIVEN, "methods": ["constant", "logistic"], "checkpoint": tmp_path / "c.jsonl"}
    scorer = make_scorer(fbeta_score, beta=2, pos_label="yes")
    study = Study(metric=scorer, **given).fit(frame, "kind")
    again = Study(metric=scorer, **given).fit(frame, "kind")
    assert again.record_["methods"][0]["scores"] == study.record_["methods"][0]["scores"]
    with pytest.raises(ValueError, match=r"metric: fbeta_score\(beta=2, .* now"):
        Study(metric=make_scorer(fbeta_score, beta=1, pos_label="yes"), **given).fit(frame, "kind")


def test_a_metric_that_fails_in_a_fold_ends_the_study_with_one_line():
    calls = []

    def sometimes_score(y_true, y_pred):
        calls.append(len(y_true))
        return 1.0 if len(calls) < 3 else float("nan")

    frame = make_table().drop(columns="number")
    with pytest.raises(ValueError, match="metric=sometimes_score returned nan on") as raised:
        Study(metric=sometimes_score, methods=["constant", "logistic"], **GIVEN).fit(frame, "kind")
    assert "\n" not in str(raised.value)


def test_a_metric_that_always_fails_is_reported_before_any_fit():
    frame = make_table().drop(columns="number")

    def broken_score(y_true, y_pred):
        raise KeyError("price")

    study = Study(metric=broken_score, methods=["constant"], **GIVEN)
    with pytest.raises(
        ValueError, match="metric=broken_score raised KeyError on 240 rows: 'price'"
    ):
        study.fit(frame, "kind")


def test_a_metric_that_changes_its_arguments_does_no_harm():
    def sorted_error(y_true, y_pred):
        y_true.sort()
        y_pred.sort()
        return float(np.abs(y_true - y_pred).mean())

    y, predicted = np.array([3.0, 1.0, 2.0]), np.array([1.0, 3.0, 2.0])
    assert custom_metric(sorted_error, "regression").score(y, predicted) == 0
    assert (y.tolist(), predicted.tolist()) == ([3.0, 1.0, 2.0], [1.0, 3.0, 2.0])


def test_an_object_that_is_not_a_metric_raises():
    with pytest.raises(
        ValueError, match="metric=3 is not a metric; pass a name, 'auto', a function"
    ):
        Study(metric=3).fit(make_table(), "number")


def test_a_custom_metric_with_a_known_name_is_reported_too():
    def rmse(y_true, y_pred):
        return 7.0

    scorer = make_scorer(rmse, greater_is_better=False)
    study = Study(metric=scorer, methods=["constant"], **GIVEN)
    study.fit(make_table().drop(columns="kind"), "number")
    metrics = study.record_["methods"][0]["metrics"]
    assert metrics["rmse (own)"] == 7.0
    assert metrics["rmse"] < 3
