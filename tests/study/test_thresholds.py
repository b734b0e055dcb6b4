"""Thresholds of the smallest cost, compared with brute force; decisions survive the conversion to costs."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import RandomForestClassifier, Study
from bosquet.study.methods.method import Candidate
from bosquet.study.metrics.metric import metric_named
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.thresholds import (
    Decision,
    bagged_threshold,
    best_threshold,
    choose_decision,
    needs_threshold,
    out_of_sample_predictions,
)
from bosquet.trust.costs import least_costly

CLASSES = np.array(["bad", "good"])


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    alarm=st.floats(0.1, 10),
    miss=st.floats(0.1, 10),
    ties=st.booleans(),
)
def test_no_threshold_is_cheaper_than_the_chosen_one(seed, alarm, miss, ties):
    random = np.random.default_rng(seed)
    p = random.random(25).round(1 if ties else 6)
    event = random.random(25) < p

    def cost(threshold):
        predicted = p >= threshold
        return alarm * (predicted & ~event).sum() + miss * (~predicted & event).sum()

    chosen = cost(best_threshold(p, event, alarm=alarm, miss=miss))
    middles = np.concatenate([[0], (np.sort(p)[1:] + np.sort(p)[:-1]) / 2, [1.1]])
    assert chosen <= min(cost(t) for t in middles) + 1e-9


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), times=st.lists(st.integers(0, 3), min_size=12, max_size=12))
def test_a_row_of_weight_two_counts_as_two_rows(seed, times):
    random = np.random.default_rng(seed)
    p, event, times = random.random(12), random.random(12) < 0.4, np.array([*times[:-1], 1])
    costs = {"alarm": 1.0, "miss": 2.0}
    counted = best_threshold(p, event, counts=times, **costs)
    assert counted == best_threshold(np.repeat(p, times), np.repeat(event, times), **costs)


def test_thresholds_of_draws_vary_less_and_are_nearer_the_truth_than_the_best_of_the_rows():
    random = np.random.default_rng(1)
    right = np.log(0.05 / 0.95)  # the optimal threshold of balanced accuracy for calibrated scores
    apart = {best_threshold: [], bagged_threshold: []}
    for _ in range(40):
        p = random.beta(0.5, 9.5, size=600)
        event = random.random(600) < p
        weights = {"alarm": 1 / (~event).sum(), "miss": 1 / event.sum()}
        for rule, found in apart.items():
            t = rule(p, event, **weights)
            found.append(np.log(t / (1 - t)) - right)
    best, steady = (np.array(found) for found in apart.values())
    assert steady.std() < 0.92 * best.std()
    assert (steady**2).mean() < 0.9 * (best**2).mean()


def test_a_bagged_threshold_is_that_of_a_bootstrap_sample():
    same = np.full(600, 0.05)  # equal scores: predict positive always or never
    event = np.arange(600) < 30
    always = bagged_threshold(same, event, alarm=1.0, miss=22.0)
    assert always <= 0.05
    assert bagged_threshold(same, event, alarm=1.0, miss=10.0) > 0.05


def test_a_bagged_threshold_works_for_scores_near_0():
    random = np.random.default_rng(0)
    logits = np.concatenate([random.normal(-40, 8, size=3880), random.normal(-20, 6, size=120)])
    p, event = 1 / (1 + np.exp(-logits)), np.arange(4000) >= 3880
    predicted = p >= bagged_threshold(p, event, alarm=1 / 3880, miss=1 / 120)
    assert (predicted[event].mean() + (~predicted[~event]).mean()) / 2 > 0.9


def test_a_threshold_is_found_for_one_event_and_for_none():
    p = np.array([0.1, 0.2, 0.9])
    for event in ([False, False, True], [False, False, False], [True, True, True]):
        t = bagged_threshold(p, np.array(event), alarm=1.0, miss=1.0)
        assert 0 < t < 1
        assert ((p >= t) == event).all() or not any(event)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), threshold=st.floats(0.01, 0.99), positive=st.integers(0, 1))
def test_a_threshold_and_its_costs_give_the_same_decisions(seed, threshold, positive):
    p = np.random.default_rng(seed).random(20)
    p = np.column_stack([1 - p, p])
    decision = Decision(CLASSES, positive, threshold)
    assert decision(p).tolist() == CLASSES[least_costly(p, decision.as_costs())].tolist()


def test_the_threshold_of_a_rare_class_maximises_balanced_accuracy():
    random = np.random.default_rng(0)
    p = random.beta(1, 20, size=4000)
    y = np.where(random.random(4000) < p, "bad", "good")  # calibrated, about 5 % bad
    probabilities = np.column_stack([p, 1 - p])
    metric = metric_named("average_precision", "binary", CLASSES, positive=0)
    decision = choose_decision(probabilities, y, metric)
    balanced = metric_named("balanced_accuracy", "binary", CLASSES, positive=0)
    # For calibrated scores the best threshold is the frequency of the class.
    assert decision.threshold == pytest.approx((y == "bad").mean(), abs=0.03)
    assert balanced.score(y, decision(probabilities)) > balanced.score(y, probabilities) + 0.1


class Fitless:
    """A candidate that must not be fitted."""

    def make(self, seed):
        raise AssertionError("fitted again")


def test_a_bagged_model_has_out_of_bag_predictions_and_others_use_folds():
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(200, 3)), columns=list("abc"))
    y = np.where(X["a"] + random.normal(size=200) > 0, "good", "bad")
    metric = metric_named("log_loss", "binary", CLASSES)
    forest = RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    votes, labels, _ = out_of_sample_predictions(forest, Fitless(), TableRows(X, y), metric, 0)
    assert np.array_equal(votes, forest.oob_decision_function_)
    assert labels.tolist() == y.tolist()
    # With three trees many rows are in every bag.
    with pytest.warns(UserWarning, match="in all 3 bags"):
        few = RandomForestClassifier(3, oob_score=True, random_state=0).fit(X, y)
    again = Candidate(3.0, "", {}, lambda seed: RandomForestClassifier(3, random_state=seed))
    votes, labels, _ = out_of_sample_predictions(few, again, TableRows(X, y), metric, 0)
    assert np.isfinite(votes).all()
    assert len(votes) == len(labels) == 200


def rare_table(rows=900):
    random = np.random.default_rng(4)
    X = pd.DataFrame(random.normal(size=(rows, 3)), columns=list("abc"))
    rare = X["a"] + random.normal(size=rows) > 2.2
    return X.assign(y=np.where(rare, "bad", "good"))


def balanced_threshold(p, event):
    return bagged_threshold(p, event, alarm=1 / (~event).sum(), miss=1 / event.sum())


def test_the_threshold_of_the_final_model_is_chosen_on_all_rows():
    table = rare_table()
    study = Study(methods=["random-forest"], budget=None, repeats=1, verbose=0, random_state=0)
    kept = study.fit(table, "y").best_
    event = np.asarray(table["y"] == "bad")
    votes = kept.estimator.oob_decision_function_[:, 0]
    assert kept.decision.threshold == balanced_threshold(votes, event)
    (note,) = [note for note in study.record_["notes"] if "final model" in note]
    assert f"predicts 'bad' if its probability is at least {kept.decision.threshold:.3g}" in note
    forest = next(m for m in study.record_["methods"] if m["name"] == "random-forest")
    assert f"was {forest['test']['threshold']:.3g}" in note


@pytest.mark.parametrize("time", [True, False])
def test_fits_for_the_threshold_of_the_final_model_need_time(monkeypatch, time):
    monkeypatch.setattr("bosquet.study.final_step.END_OF_DECIDING", 1.0 if time else 0.0)
    study = Study(methods=["logistic"], budget=30, repeats=1, verbose=0, random_state=0)
    kept = study.fit(rare_table(), "y").best_
    logistic = next(m for m in study.record_["methods"] if m["name"] == "logistic")
    as_before = kept.decision.threshold == logistic["test"]["threshold"]
    assert as_before != time
    assert any("final model" in note for note in study.record_["notes"]) == time


def test_thresholds_are_for_two_classes_with_costs_or_a_rare_one():
    two = metric_named("log_loss", "binary", CLASSES)
    costly = metric_named("cost", "binary", CLASSES, costs=[[0, 1], [5, 0]])
    three = metric_named("log_loss", "multiclass", ["a", "b", "c"])
    assert not needs_threshold(two, rare=False)
    assert needs_threshold(two, rare=True)
    assert needs_threshold(costly, rare=False)
    assert not needs_threshold(three, rare=True)
