"""Warm starts with early stopping: two fits equal one fit, and the validation set is never trained on."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import Ridge
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor as ScikitTree

import bosquet
from bosquet import (
    AdaBoostClassifier,
    AnyBoostClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)

STOPPING = {
    "early_stopping": True,
    "learning_rate": 0.3,
    "n_iter_no_change": 8,
    "max_leaf_nodes": 8,
}
TREE = DecisionTreeClassifier(max_depth=3)


def make_table(rows: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + rng.logistic(size=rows) > 0).astype(int)


def boosted(n_estimators: int, **options: Any) -> GradientBoostingClassifier:
    return GradientBoostingClassifier(n_estimators=n_estimators, **{**STOPPING, **options})


def traces(model: Any) -> list[np.ndarray]:
    return [model.train_score_, model.validation_loss_, model.validation_score_]


@pytest.mark.parametrize("refit", [True, False])
@pytest.mark.parametrize("scoring", [None, "roc_auc"])
@pytest.mark.parametrize("steps", [(3, 60), (5, 9, 60), (60, 80)])
def test_warm_starts_give_the_same_model_as_one_fit(
    refit: bool, scoring: Any, steps: tuple[int, ...]
) -> None:
    X, y = make_table()
    options = {"refit": refit, "scoring": scoring, "random_state": 0, "subsample": 0.7}
    whole = boosted(steps[-1], **options).fit(X, y)
    parts = boosted(1, warm_start=True, **options)
    for n_estimators in steps:
        parts.set_params(n_estimators=n_estimators).fit(X, y)
    assert whole.n_iter_ == parts.n_iter_ < len(whole.train_score_) < 60
    np.testing.assert_array_equal(parts.decision_function(X), whole.decision_function(X))
    for trace, expected in zip(traces(parts), traces(whole), strict=True):
        np.testing.assert_array_equal(trace, expected)


def test_a_warm_start_continues_with_the_same_eval_set() -> None:
    X, y = make_table()
    held = make_table(200, seed=1)
    whole = boosted(60, random_state=0).fit(X, y, eval_set=held)
    parts = boosted(4, warm_start=True, random_state=0).fit(X, y, eval_set=held)
    parts.set_params(n_estimators=60).fit(X, y, eval_set=held)
    assert parts.n_iter_ == whole.n_iter_
    np.testing.assert_array_equal(parts.predict_proba(X), whole.predict_proba(X))
    np.testing.assert_array_equal(parts.validation_score_, whole.validation_score_)


def test_another_eval_set_restarts_the_search_for_the_best_round() -> None:
    X, y = make_table()
    model = boosted(60, warm_start=True, random_state=0).fit(X, y, eval_set=make_table(200, seed=1))
    before = model.n_iter_
    model.set_params(n_estimators=100).fit(X, y, eval_set=make_table(200, seed=2))
    assert len(model.train_score_) > before
    assert len(model.train_score_) == len(model.validation_score_)


@pytest.mark.parametrize("refit", [True, False])
def test_a_random_seed_is_drawn_once(refit: bool) -> None:
    X, y = make_table()
    model = boosted(5, warm_start=True, refit=refit).fit(X, y)
    first, held = model.validation_score_.copy(), model._stopping_state.fingerprint
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(n_estimators=12).fit(X, y)
    assert model._stopping_state.fingerprint == held
    np.testing.assert_array_equal(model.validation_score_[:5], first)


def test_a_warm_start_keeps_the_best_score_and_the_rounds_since_then() -> None:
    X, y = make_table()
    model = boosted(60, warm_start=True, random_state=0).fit(X, y)
    tried, best = len(model.train_score_), model.n_iter_
    assert tried == best + 8
    model.set_params(n_estimators=200).fit(X, y)  # it has already stopped
    assert (len(model.train_score_), model.n_iter_) == (tried, best)
    model.set_params(n_iter_no_change=11).fit(X, y)
    assert len(model.train_score_) >= tried + 3


@pytest.mark.parametrize("refit", [True, False])
def test_traces_have_an_entry_for_each_round_that_was_tried(refit: bool) -> None:
    X, y = make_table()
    model = boosted(60, warm_start=True, refit=refit, random_state=0).fit(X, y)
    for n_estimators, early_stopping in ((60, True), (70, False), (75, False)):
        model.set_params(n_estimators=n_estimators, early_stopping=early_stopping).fit(X, y)
        assert len({len(trace) for trace in traces(model)}) == 1
        assert model.n_iter_ <= len(model.train_score_)
        if not early_stopping:
            assert model.n_iter_ == len(model.train_score_) == n_estimators
            assert np.isnan(model.validation_loss_[-5:]).all()


def test_a_validation_set_added_later_has_no_earlier_scores() -> None:
    X, y = make_table()
    model = boosted(6, early_stopping=False, warm_start=True, random_state=0).fit(X, y)
    assert model.validation_score_.size == model.validation_loss_.size == 0
    model.set_params(n_estimators=9).fit(X, y, eval_set=make_table(100, seed=1))
    assert np.isnan(model.validation_score_).tolist() == [True] * 6 + [False] * 3


@pytest.mark.parametrize("before", [{"refit": True}, {"early_stopping": False}])
def test_a_validation_set_used_in_training_gives_a_warning(before: dict[str, Any]) -> None:
    X, y = make_table()
    model = boosted(10, random_state=0, **before).fit(X, y)
    model.set_params(warm_start=True, early_stopping=True, n_estimators=12)
    with pytest.warns(UserWarning, match="early stopping may stop too late: the validation set"):
        model.fit(X, y)


def test_a_warm_start_may_use_the_same_validation_rows_again() -> None:
    X, y = make_table()
    model = boosted(10, random_state=0, refit=False).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(warm_start=True, n_estimators=12).fit(X, y)


def test_the_history_is_that_of_the_metric_that_decided(tmp_path: Any) -> None:
    X, y = make_table()
    held = make_table(200, seed=1)
    seen = []
    options = {"scoring": "roc_auc", "random_state": 0, "callbacks": [seen.append]}
    model = boosted(30, **options).fit(X, y, eval_set=held)
    scores = [roc_auc_score(held[1], p[:, 1]) for p in model.staged_predict_proba(held[0])]
    np.testing.assert_allclose(model.validation_score_[: model.n_iter_], scores)
    assert model.n_iter_ == model.validation_score_.argmax() + 1
    assert [info.validation_score for info in seen] == model.validation_score_.tolist()
    assert [info.validation_loss for info in seen] == model.validation_loss_.tolist()
    assert (model.validation_loss_ != model.validation_score_).all()
    model.save(tmp_path / "model.bosquet")
    loaded = bosquet.load(tmp_path / "model.bosquet")
    for trace, expected in zip(traces(loaded), traces(model), strict=True):
        np.testing.assert_array_equal(trace, expected)


def test_another_metric_restarts_the_monitoring_on_the_same_rows() -> None:
    X, y = make_table()
    model = boosted(6, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=10, scoring="roc_auc").fit(X, y)
    assert np.isnan(model.validation_score_[:6]).all()
    assert (model.validation_score_[6:] > 0.5).all()
    assert np.isfinite(model.validation_loss_).all()


def test_another_metric_without_another_round_keeps_the_model() -> None:
    X, y = make_table()
    model = boosted(60, warm_start=True, random_state=0).fit(X, y)
    before, rounds = model.predict_proba(X), len(model.train_score_)
    model.set_params(n_estimators=rounds, scoring="roc_auc").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_pickled_model_can_be_continued() -> None:
    X, y = make_table()
    whole = boosted(60, random_state=0).fit(X, y)
    model = boosted(5, warm_start=True, random_state=0).fit(X, y)
    model = pickle.loads(pickle.dumps(model))
    model.set_params(n_estimators=60).fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), whole.predict_proba(X))


def test_other_learners_also_keep_the_best_score() -> None:
    X, y = make_table()
    options = {"early_stopping": True, "n_iter_no_change": 4, "learning_rate": 0.5}
    model = GradientBoostingRegressor(
        estimator=ScikitTree(max_depth=2),
        n_estimators=60,
        warm_start=True,
        random_state=0,
        **options,
    ).fit(X, y)
    tried, best = len(model.train_score_), model.n_iter_
    assert tried == best + 4
    model.set_params(n_estimators=100).fit(X, y)
    assert (len(model.train_score_), model.n_iter_) == (tried, best)


def test_a_learner_gets_the_data_frame_in_a_warm_start() -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    by_name = make_pipeline(make_column_transformer(("passthrough", ["x0", "x1"])), Ridge())
    whole = GradientBoostingRegressor(estimator=by_name, n_estimators=4).fit(frame, y)
    model = GradientBoostingRegressor(estimator=by_name, n_estimators=2, warm_start=True)
    model.fit(frame, y).set_params(n_estimators=4).fit(frame, y)
    np.testing.assert_allclose(model.predict(frame), whole.predict(frame))


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AnyBoostClassifier])
@pytest.mark.parametrize("steps", [(3, 80), (5, 11, 80), (80, 90)])
def test_warm_starts_of_votes_give_the_same_vote_as_one_fit(
    kind: Any, steps: tuple[int, ...]
) -> None:
    X, y = make_table()
    options = {"early_stopping": True, "n_iter_no_change": 7, "random_state": 0}
    whole = kind(estimator=TREE, n_estimators=steps[-1], **options).fit(X, y)
    parts = kind(estimator=TREE, n_estimators=1, warm_start=True, **options)
    for n_estimators in steps:
        parts.set_params(n_estimators=n_estimators).fit(X, y)
        assert len(parts.train_score_) == len(parts.validation_score_)
    assert parts.n_estimators_ == whole.n_estimators_ < len(whole.train_score_)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-6)
    np.testing.assert_allclose(parts.train_score_, whole.train_score_)
    np.testing.assert_allclose(parts.validation_score_, whole.validation_score_)


def test_a_vote_trained_on_its_validation_set_gives_a_warning() -> None:
    X, y = make_table()
    model = AdaBoostClassifier(TREE, 5, warm_start=True, random_state=0).fit(X, y)
    model.set_params(early_stopping=True, n_estimators=8)
    with pytest.warns(UserWarning, match="early stopping may stop too late: the validation set"):
        model.fit(X, y)
    assert np.isnan(model.validation_score_[:5]).all()
