"""Metrics agree with scikit-learn's, also if the rows lack a class, and with weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as theirs

from bosquet.study.metrics.metric import default_metric, metric_named, metrics_of, predictions_for

CLASSES = np.array(["a", "b", "c"])


def _draw(seed, k, n=60):
    random = np.random.default_rng(seed)
    p = random.dirichlet(np.ones(k), n)
    y = np.concatenate([np.arange(k), random.integers(0, k, n - k)])
    return y, p, random.random(n) + 0.1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_two_class_metrics_agree_with_scikit_learn(seed, weighted):
    y, p, w = _draw(seed, 2)
    w = w if weighted else None
    names, predicted = CLASSES[:2], p.argmax(axis=1)
    expected = {
        "log_loss": theirs.log_loss(y, p, sample_weight=w),
        "roc_auc": theirs.roc_auc_score(y, p[:, 1], sample_weight=w),
        "average_precision": theirs.average_precision_score(y, p[:, 1], sample_weight=w),
        "brier": theirs.brier_score_loss(y, p[:, 1], sample_weight=w),
        "accuracy": theirs.accuracy_score(y, predicted, sample_weight=w),
        "balanced_accuracy": theirs.balanced_accuracy_score(y, predicted, sample_weight=w),
        "f1": theirs.f1_score(y, predicted, sample_weight=w),
        "mcc": theirs.matthews_corrcoef(y, predicted, sample_weight=w),
    }
    found = {m.name: m.score(names[y], p, w) for m in metrics_of("binary", names)}
    assert found == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_metrics_of_several_classes_agree_with_scikit_learn(seed):
    y, p, w = _draw(seed, 3)
    predicted = p.argmax(axis=1)
    found = {m.name: m.score(CLASSES[y], p, w) for m in metrics_of("multiclass", CLASSES)}
    assert found["log_loss"] == pytest.approx(theirs.log_loss(y, p, sample_weight=w))
    assert found["f1"] == pytest.approx(
        theirs.f1_score(y, predicted, sample_weight=w, average="macro")
    )
    assert found["mcc"] == pytest.approx(theirs.matthews_corrcoef(y, predicted, sample_weight=w))
    area = theirs.roc_auc_score(y, p, multi_class="ovr", sample_weight=None)
    plain = metric_named("roc_auc", "multiclass", CLASSES).score(CLASSES[y], p)
    assert plain == pytest.approx(area)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_regression_metrics_agree_with_scikit_learn(seed):
    random = np.random.default_rng(seed)
    y, predicted, w = random.normal(size=30), random.normal(size=30), random.random(30) + 0.1
    found = {m.name: m.score(y, predicted, w) for m in metrics_of("regression")}
    assert found["rmse"] == pytest.approx(
        theirs.root_mean_squared_error(y, predicted, sample_weight=w)
    )
    assert found["mae"] == pytest.approx(theirs.mean_absolute_error(y, predicted, sample_weight=w))
    assert found["r2"] == pytest.approx(theirs.r2_score(y, predicted, sample_weight=w))
    plain = metric_named("median_error", "regression").score(y, predicted)
    assert plain == pytest.approx(theirs.median_absolute_error(y, predicted))


def test_a_fold_without_one_of_the_classes_is_scored():
    p = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1]])
    for metric in metrics_of("multiclass", CLASSES):
        assert np.isfinite(metric.score(CLASSES[:2], p)), metric.name


@pytest.mark.parametrize("name", ["roc_auc", "average_precision", "log_loss", "accuracy", "f1"])
def test_bootstrap_scores_are_scores_of_the_drawn_rows(name):
    y, p, _ = _draw(5, 3)
    p = p.round(1)  # ties
    p /= p.sum(axis=1, keepdims=True)
    times = np.random.default_rng(0).integers(0, 3, size=(30, len(y)))
    metric = metric_named(name, "multiclass", CLASSES)
    found = metric.bootstrap_scores(CLASSES[y], p, times)
    for draw in range(30):
        rows = np.repeat(np.arange(len(y)), times[draw])
        assert found[draw] == pytest.approx(metric.score(CLASSES[y][rows], p[rows]))


def test_decisions_are_taken_where_the_expected_cost_is_least():
    costs = [[0, 1], [10, 0]]  # missing a "b" costs ten times as much
    metric = metric_named("cost", "binary", CLASSES[:2], costs=costs)
    p = np.array([[0.95, 0.05], [0.8, 0.2]])
    assert metric.score(np.array(["a", "b"]), p) == 0.0
    assert metric.score(np.array(["a", "b"]), np.array(["b", "a"])) == 5.5


def test_an_estimator_that_missed_a_class_gives_it_no_probability():
    class Two:
        classes_ = np.array(["a", "c"])

        def predict_proba(self, X):
            return np.tile([0.25, 0.75], (len(X), 1))

    metric = metric_named("log_loss", "multiclass", CLASSES)
    assert predictions_for(Two(), np.zeros((2, 1)), metric).tolist() == [[0.25, 0, 0.75]] * 2


def test_margins_become_probabilities_and_labels_become_0_or_1():
    class Margins:
        classes_ = np.array(["a", "b"])

        def decision_function(self, X):
            return np.zeros(len(X))

    class Decisions:
        classes_ = np.array(["a", "b"])

        def predict(self, X):
            return np.array(["b"] * len(X))

    metric = metric_named("log_loss", "binary", CLASSES[:2])
    assert predictions_for(Margins(), np.zeros((1, 1)), metric).tolist() == [[0.5, 0.5]]
    assert predictions_for(Decisions(), np.zeros((1, 1)), metric).tolist() == [[0.0, 1.0]]


def test_an_unknown_metric_lists_the_known_ones():
    with pytest.raises(
        ValueError, match=r"metric='rmse' is not a metric for a binary task; available: log_"
    ):
        metric_named("rmse", "binary", CLASSES[:2])
    with pytest.raises(ValueError, match="'cost' needs a classification task and a cost matrix"):
        metric_named("cost", "binary", CLASSES[:2])


def test_the_default_metric_follows_the_task_and_the_rarest_class():
    assert default_metric("regression", 1.0) == "rmse"
    assert default_metric("binary", 0.4) == "log_loss"
    assert default_metric("binary", 0.02) == "average_precision"
    assert default_metric("multiclass", 0.02) == "log_loss"
    assert default_metric("binary", 0.02, [[0, 1], [5, 0]]) == "cost"
