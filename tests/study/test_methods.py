"""Every method accepts raw tables, proposes candidates, and lists its properties."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mixed_tables import metric_and_shape, mixed_table
from sklearn.base import clone
from sklearn.datasets import make_moons

from bosquet.boosting import AdaBoostClassifier
from bosquet.study.explain.diagnostics import certificate_of
from bosquet.study.methods import METHODS
from bosquet.study.methods.candidates import Staged, candidate_with, groups_of
from bosquet.study.methods.pipelines import fit_weighted, model_of
from bosquet.study.methods.shapes import table_shape
from bosquet.study.methods.svm import margin_of
from bosquet.study.metrics.metric import metric_named, predictions_for
from bosquet.study.record import to_json_types
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning import tune
from bosquet.study.tuning.options import TuningOptions

PROPERTIES = [
    "readable",
    "score_or_interval",
    "consistent",
    "minimax",
    "non_asymptotic",
    "parameter_free",
    "online",
]
TASKS = {name: ("counts" if name == "poisson" else None) for name in METHODS}
PAIRS = [
    pytest.param(name, TASKS[name] or task, id=f"{name}-{task}")
    for name, method in METHODS.items()
    for task in sorted(method.tasks)
]


def smaller_is_better(metric):
    return 1 if not metric.higher_is_better else -1


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_every_method_fits_and_predicts_tables_with_categories_and_missing_values(name, task):
    rare = 0.08 if name in ("balanced-bagging", "rusboost") and task == "binary" else 0.0
    X, y = mixed_table(task, rare=rare)
    metric, shape = metric_and_shape(task, X, y, "log_loss" if rare else None)
    method = METHODS[name]
    if name in ("balanced-bagging", "rusboost") and not rare:
        assert "rare" in method.why_unsuited(shape)
    else:
        assert method.why_unsuited(shape) == ""
    groups = groups_of(method.candidates(shape))
    candidate = groups[len(groups) // 2][0]
    model = candidate.make(0)
    clone(model)
    fitted = fit_weighted(model, X, y)
    predictions = predictions_for(fitted, X, metric)
    assert predictions.shape[0] == len(y)
    assert np.isfinite(predictions).all()
    if task not in ("regression", "counts"):
        assert np.allclose(predictions.sum(axis=1), 1)
    constant = fit_weighted(METHODS["constant"].candidates(shape)[0].make(0), X, y)
    if name != "constant" and not rare and name not in ("balanced-bagging", "rusboost"):
        constant_score = metric.score(y, predictions_for(constant, X, metric))
        assert smaller_is_better(metric) * (metric.score(y, predictions) - constant_score) < 0
    assert isinstance(method.details(fitted), dict)
    pickle.dumps(fitted)


@pytest.mark.parametrize("name", METHODS)
def test_method_cards_give_a_reason_for_each_property(name):
    properties = METHODS[name].properties
    assert list(properties) == PROPERTIES
    for grade, reason in properties.values():
        assert grade in ("yes", "no", "partly")
        assert 0 < len(reason) <= 80


@pytest.mark.parametrize(("name", "task"), PAIRS)
def test_candidates_ascend_in_complexity_within_each_kind_and_have_labels_of_their_own(name, task):
    X, y = mixed_table(task)
    _, shape = metric_and_shape(task, X, y)
    for rows in (180, 3_000, 40_000):
        candidates = METHODS[name].candidates(replace(shape, n_rows=rows))
        for group in groups_of(candidates):
            places = [candidate.complexity for candidate in group]
            assert places == sorted(places)
        firsts = [group[0].complexity for group in groups_of(candidates)]
        assert all(isinstance(c, Staged) for c in candidates) or firsts == sorted(firsts)
        labels = [candidate.label for candidate in candidates]
        assert len(set(labels)) == len(labels)
        settings = [repr(candidate.setting) for candidate in candidates]
        assert len(set(settings)) == len(settings)


@pytest.mark.parametrize("name", ["k-nearest-neighbours", "adaboost", "gradient-boosting"])
@pytest.mark.parametrize("task", ["binary", "multiclass", "regression"])
def test_stages_predict_as_a_fit_of_that_complexity(name, task):
    X, y = mixed_table(task)
    metric, shape = metric_and_shape(task, X, y)
    group = groups_of(METHODS[name].candidates(shape))[0][:3]
    whole = group[-1].make(0).fit(X, y)
    stages = list(group[-1].stages(whole, X, [candidate.complexity for candidate in group]))
    for candidate, predicted in zip(group, stages, strict=True):
        alone = candidate.make(0).fit(X, y)
        assert np.allclose(predicted, predictions_for(alone, X, metric))


def test_the_logarithm_of_the_rows_is_among_the_numbers_of_neighbours():
    X, y = mixed_table("binary")
    _, shape = metric_and_shape("binary", X, y)
    labels = [
        c.label for c in METHODS["k-nearest-neighbours"].candidates(replace(shape, n_rows=1097))
    ]
    assert "k = 7 (ln n)" in labels


def test_class_weights_are_tried_where_a_class_is_rare():
    X, y = mixed_table("binary")
    _, shape = metric_and_shape("binary", X, y)
    for name in ("logistic", "svm-linear", "svm-gaussian", "gradient-boosting"):
        usual = [c.setting.get("class_weight") for c in METHODS[name].candidates(shape)]
        rare = [
            c.setting.get("class_weight")
            for c in METHODS[name].candidates(replace(shape, rarest_share=0.02))
        ]
        assert "balanced" not in usual
        assert "balanced" in rare


def test_several_classes_are_fitted_one_vs_rest_in_pairs_and_by_codes():
    X, y = mixed_table("multiclass")
    metric, shape = metric_and_shape("multiclass", X, y)
    candidates = METHODS["svm-linear"].candidates(shape)
    schemes = {candidate.setting["multiclass"]: candidate for candidate in candidates}
    assert set(schemes) == {"one-vs-rest", "one-vs-one", "codes"}
    for scheme in ("one-vs-one", "codes"):
        fitted = schemes[scheme].make(0).fit(X, y)
        assert metric.score(y, predictions_for(fitted, X, metric)) < 0.9
        assert METHODS["svm-linear"].details(fitted)["machines"] >= 3


def test_margins_are_two_over_the_norm_of_the_weights():
    X = np.array([[0.0, 0], [0, 1], [3, 0], [3, 1], [0, 2], [3, 2]])
    y = np.array([0, 0, 1, 1, 0, 1])
    candidate = next(
        c
        for c in METHODS["svm-polynomial"].candidates(metric_and_shape("binary", X, y)[1])
        if c.setting["C"] == 1
    )
    machine = candidate.make(0)[-1].model
    machine.set_params(kernel="linear", C=1e6).fit(X, y)
    assert margin_of(machine) == pytest.approx(3, rel=1e-3)


def test_support_vectors_of_a_linear_machine_are_the_rows_inside_its_margin():
    X, y = mixed_table("binary")
    shape = metric_and_shape("binary", X, y)[1]
    fitted = METHODS["svm-linear"].candidates(shape)[-1].make(0).fit(X, y)
    details = METHODS["svm-linear"].details(fitted)
    machine = model_of(fitted).members_[0].model
    signs = np.where(y == "yes", 1, -1)
    inside = signs * machine.decision_function(fitted[0].transform(X)) < 1
    assert details["support vectors"] == inside.sum()
    assert details["margin 2/‖w‖"] == pytest.approx(2 / np.linalg.norm(machine.coef_))


def test_networks_with_fewer_than_ten_rows_per_weight_warn():
    X, y = mixed_table("binary")
    metric, shape = metric_and_shape("binary", X, y)
    few = METHODS["mlp"].candidates(shape)[:2]
    method = replace(METHODS["mlp"], candidates=lambda shape: few)
    assert "fewer than 10 per weight" in tune(method, TableRows(X, y), shape, metric).message


def test_poisson_regression_is_for_counts_only():
    X, y = mixed_table("regression")
    _, shape = metric_and_shape("regression", X, y)
    assert "count" in METHODS["poisson"].why_unsuited(shape)
    with pytest.raises(ValueError, match="counts 0, 1, 2"):
        METHODS["poisson"].candidates(shape)[0].make(0).fit(X, y)


def test_quadratic_discriminants_are_left_out_where_a_class_has_fewer_rows_than_columns():
    X, y = mixed_table("binary")
    shape = replace(metric_and_shape("binary", X, y)[1], rarest_share=0.02)
    assert "too few for a covariance" in METHODS["qda"].why_unsuited(shape)


def test_kernel_discriminants_learn_curved_boundaries_and_are_left_out_for_wide_tables():
    X, y = make_moons(200, noise=0.2, random_state=0)
    shape = table_shape(X, y, "binary")
    metric = metric_named("log_loss", "binary", [0, 1])
    scores = {
        name: min(
            p["score"] for p in tune(METHODS[name], TableRows(X, y), shape, metric).curve["points"]
        )
        for name in ("kernel-discriminant", "qda")
    }
    assert scores["kernel-discriminant"] < 0.7 * scores["qda"]
    wide = replace(shape, n_indicators=101)
    assert "density estimates are unreliable" in METHODS["kernel-discriminant"].why_unsuited(wide)


def test_a_boosted_vote_reports_its_error_bound_and_its_margins():
    X, y = mixed_table("binary", rows=200)
    shape = metric_and_shape("binary", X, y)[1]
    for candidate in METHODS["adaboost"].candidates(shape)[::5]:
        model = candidate.make(0).fit(X, y)
        found = METHODS["adaboost"].details(model)
        if model.certificate_.product is not None:
            assert found["training error"] <= found["bound on the training error"] + 1e-12
        assert found["share of rows with margin <= 0"] == pytest.approx(found["training error"])
        assert -1 <= found["median margin"] <= 1


def test_the_bound_shown_of_several_classes_is_half_as_many_products():
    X, y = mixed_table("multiclass", rows=200)
    model = AdaBoostClassifier(n_estimators=5, multiclass="mh").fit(X, y)
    shown = certificate_of(model)
    assert shown["bound"][-1] == pytest.approx(1.5 * model.certificate_.product[-1])
    assert all(np.array(shown["error"]) <= shown["bound"])


@pytest.mark.parametrize("name", ["cart", "gradient-boosting", "logistic"])
def test_a_candidate_is_found_again_by_its_setting(name):
    X, y = mixed_table("binary", rows=400)
    metric, shape = metric_and_shape("binary", X, y)
    method = METHODS[name]
    if name == "gradient-boosting":  # many rows: early stopping selects the rounds
        shape = replace(shape, n_rows=6_000)
    tuned = tune(method, TableRows(X, y), shape, metric, options=TuningOptions(random_state=3))
    again = candidate_with(method, shape, json.loads(json.dumps(to_json_types(tuned.setting))))
    assert again.label == tuned.candidate.label
    same = again.make(3).fit(X, y)
    assert np.array_equal(
        predictions_for(same, X, metric), predictions_for(tuned.estimator, X, metric)
    )
    assert candidate_with(method, shape, {"no": "such"}) is None


def test_the_page_on_methods_has_every_method_and_every_property():
    page = Path(__file__).parents[2] / "docs" / "methods.md"
    text = page.read_text(encoding="utf-8")
    for name, method in METHODS.items():
        assert name in text or name.split("-")[0] in ("svm", "svr")
        for grade, reason in method.properties.values():
            assert f"**{grade}**: {reason}" in text
