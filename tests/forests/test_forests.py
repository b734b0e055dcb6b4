"""Forests: reproducible bits, accuracy compared with scikit-learn, error messages."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks
from small_forests import make_forest

from bosquet import (
    BaggingClassifier,
    CalibratedModel,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

WEIGHT_CHECKS = (
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
)
REASON = "a row of weight 2 is one row to draw, two equal rows are two: equal in distribution, not in bits"


def expected_failures(estimator):
    return {name: REASON for name in WEIGHT_CHECKS} if estimator.bootstrap else {}


@parametrize_with_checks(
    [
        RandomForestClassifier(5),
        RandomForestClassifier(5, voting="hard", split="exact"),
        RandomForestRegressor(5),
        ExtraTreesClassifier(5),
        ExtraTreesRegressor(5),
    ],
    expected_failed_checks=expected_failures,
)
def test_passes_check_estimator(estimator, check):
    check(estimator)


# ------------------------------------------------------------------- same bits
@pytest.mark.parametrize(
    "kind",
    [RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor],
)
@pytest.mark.parametrize("split", ["exact", "histogram"])
def test_a_forest_has_the_same_bits_for_any_number_of_threads(kind, split, classes):
    X, y = classes
    first = make_forest(kind, split=split, n_jobs=1).fit(X, y)
    for threads in (2, 3, 8):
        again = make_forest(kind, split=split, n_jobs=threads).fit(X, y)
        assert pickle.dumps(first._ensemble) == pickle.dumps(again._ensemble)


def test_a_forest_has_the_same_bits_on_the_baseline_kernels(classes, monkeypatch):
    X, y = classes
    first = make_forest(RandomForestClassifier).fit(X, y)
    monkeypatch.setenv("BOSQUET_ISA", "baseline")
    again = make_forest(RandomForestClassifier).fit(X, y)
    assert pickle.dumps(first._ensemble) == pickle.dumps(again._ensemble)


def test_a_warm_start_gives_the_same_trees_as_one_fit(classes):
    X, y = classes
    whole = make_forest(RandomForestClassifier, oob_score=True).fit(X, y)
    grown = RandomForestClassifier(10, random_state=0, oob_score=True, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # with ten trees some rows are in every bag
        grown.fit(X, y)
    grown.set_params(n_estimators=30).fit(X, y)
    assert pickle.dumps(whole._ensemble) == pickle.dumps(grown._ensemble)
    np.testing.assert_array_equal(whole.oob_curve_, grown.oob_curve_)
    with pytest.raises(ValueError, match=r"smaller than the number of fitted trees \(30\)"):
        grown.set_params(n_estimators=5).fit(X, y)


# -------------------------------------------------------------------- accuracy
def test_forests_are_as_accurate_as_those_of_scikit_learn(classes, numbers):
    from sklearn import ensemble

    X, y = classes
    for ours, theirs in (
        (RandomForestClassifier, ensemble.RandomForestClassifier),
        (ExtraTreesClassifier, ensemble.ExtraTreesClassifier),
    ):
        scores = [
            kind(100, random_state=0).fit(X[:1000], y[:1000]).score(X[1000:], y[1000:])
            for kind in (ours, theirs)
        ]
        assert scores[0] > scores[1] - 0.03
    X, y = numbers
    for ours, theirs, options in (
        (RandomForestRegressor, ensemble.RandomForestRegressor, {"max_features": 1 / 3}),
        (ExtraTreesRegressor, ensemble.ExtraTreesRegressor, {}),
    ):
        scores = [
            kind(100, random_state=0, **options).fit(X[:700], y[:700]).score(X[700:], y[700:])
            for kind in (ours, theirs)
        ]
        assert scores[0] > scores[1] - 0.03


def test_a_class_in_no_leaf_has_probability_0_as_in_scikit_learn():
    from sklearn.ensemble import ExtraTreesClassifier as Theirs

    X, y = make_moons(600, noise=0.3, random_state=0)
    mine = make_forest(ExtraTreesClassifier).fit(X[:300], y[:300]).predict_proba(X[300:])
    theirs = Theirs(30, random_state=0).fit(X[:300], y[:300]).predict_proba(X[300:])
    assert abs((mine == 0).mean() - (theirs == 0).mean()) < 0.05
    wrong = mine[np.arange(300), y[300:]] == 0
    assert wrong.any()
    smoothed = BaggingClassifier(DecisionTreeClassifier(smoothing=1, max_features="sqrt"), 30)
    for better in (CalibratedModel(make_forest(ExtraTreesClassifier), "beta"), smoothed):
        probabilities = better.fit(X[:300], y[:300]).predict_proba(X[300:])
        assert probabilities.min() > 0
        assert log_loss(y[300:], probabilities) < log_loss(y[300:], mine)


def test_hard_voting_counts_the_votes_of_trees(classes):
    X, y = classes
    hard = make_forest(RandomForestClassifier, voting="hard").fit(X, y)
    soft = make_forest(RandomForestClassifier, voting="soft").fit(X, y)
    votes = np.mean(
        [soft._ensemble.predict_raw(X, t, t + 1)[:, 0] > 0.5 for t in range(30)],
        axis=0,
    )
    np.testing.assert_allclose(hard.predict_proba(X)[:, 1], votes)


def test_forests_predict_several_classes_and_several_targets():
    X, y = load_iris(return_X_y=True)
    forest = make_forest(RandomForestClassifier).fit(X, y)
    assert forest.predict_proba(X).shape == (150, 3)
    np.testing.assert_allclose(forest.predict_proba(X).sum(axis=1), 1)
    hard = make_forest(RandomForestClassifier, voting="hard").fit(X, y)
    assert hard.score(X, y) > 0.95
    both = make_forest(RandomForestRegressor).fit(X[:, :2], X[:, 2:])
    assert both.predict(X[:, :2]).shape == (150, 2)


def test_forests_split_on_categories_and_predict_missing_values():
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    colour = rng.choice(list("abcdef"), 600)
    x = rng.normal(size=600)
    y = np.isin(colour, ["a", "d"]) ^ (x > 1)
    x[rng.random(600) < 0.1] = np.nan
    frame = pandas.DataFrame({"colour": pandas.Categorical(colour), "x": x})
    forest = make_forest(RandomForestClassifier, max_features=None, oob_score=True).fit(frame, y)
    assert forest.oob_score_ > 0.9
    unseen = pandas.DataFrame({"colour": ["z", None], "x": [0.0, 0.0]})
    probabilities = forest.predict_proba(unseen)
    np.testing.assert_array_equal(probabilities[0], probabilities[1])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"oob_score": True, "bootstrap": False},
            "oob_score=True needs out-of-bag rows, but bootstrap=False",
        ),
        ({"n_estimators": "auto", "bootstrap": False}, "set bootstrap=True"),
        ({"max_samples": 0.5, "bootstrap": False}, "max_samples=0.5 needs bootstrap samples"),
        ({"max_samples": 10**6}, r"max_samples=1000000 exceeds the number of rows \(1500\)"),
        ({"n_estimators": 0}, "n_estimators=0 is not valid"),
        ({"max_features": 11}, r"max_features=11 exceeds the number of features of X \(10\)"),
        ({"split": "best"}, "split='best' is not valid"),
        ({"criterion": "mse"}, "criterion='mse' is not valid"),
    ],
)
def test_an_invalid_parameter_is_named(options, message, classes):
    with pytest.raises(ValueError, match=message):
        RandomForestClassifier(**{"n_estimators": 3, **options}).fit(*classes)


def test_a_new_fit_deletes_the_attributes_of_the_old_one(numbers):
    X, y = numbers
    forest = RandomForestRegressor(30, keep_rows=True, oob_score=True, random_state=0).fit(X, y)
    forest.set_params(keep_rows=False, oob_score=False).fit(X[:300], y[:300])
    assert not hasattr(forest, "oob_curve_")
    with pytest.raises(ValueError, match="keep_rows=True"):
        forest.predict_quantiles(X)


def test_random_thresholds_between_bins_separate_all_bins():
    X = np.arange(2000.0)[:, None]
    y = np.arange(2000) // 8 % 2
    forest = ExtraTreesClassifier(1, split="histogram", random_state=0).fit(X, y)
    # 255 bins of about eight rows: all are separated, in whatever order the thresholds are drawn.
    assert (
        forest._ensemble.tree_arrays(0)["feature"].size == 2 * np.unique(forest.apply(X)).size - 1
    )
    assert np.unique(forest.apply(X)).size > 200
