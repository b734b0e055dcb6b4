"""Out-of-bag errors of forests."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from small_forests import make_forest

from bosquet import (
    RandomForestClassifier,
    RandomForestRegressor,
)


def test_the_out_of_bag_error_agrees_with_a_test_set():
    X, y = make_classification(4000, 10, n_informative=4, n_redundant=0, flip_y=0.1, random_state=1)
    forest = RandomForestClassifier(200, random_state=0, oob_score=True).fit(X[:1500], y[:1500])
    error = 1 - forest.score(X[1500:], y[1500:])
    standard_error = np.sqrt(error * (1 - error) * (1 / 1500 + 1 / 2500))
    assert abs(forest.oob_error_ - error) < 3 * standard_error
    assert forest.oob_curve_[-1] == forest.oob_error_
    assert forest.oob_curve_[4] > forest.oob_error_
    # A single tree is worse than the forest.
    assert forest.oob_tree_error_ > forest.oob_error_ + 0.03


def test_out_of_bag_predictions_agree_with_a_calculation_by_hand(classes):
    X, y = classes[0][:200], classes[1][:200]
    forest = RandomForestClassifier(40, random_state=0, oob_score=True).fit(X, y)
    sums, counts = np.zeros(200), np.zeros(200)
    for t in range(40):
        out = forest._bag_counts(t) == 0
        sums[out] += forest._ensemble.predict_raw(X[out], t, t + 1)[:, 0]
        counts[out] += 1
    np.testing.assert_allclose(forest.oob_decision_function_[:, 1], sums / counts)
    assert forest.oob_score_ == pytest.approx(np.mean((sums / counts > 0.5) == y))


def test_about_37_percent_of_the_rows_are_out_of_bag():
    forest = RandomForestClassifier(50, random_state=0)
    X, y = make_classification(2000, random_state=0)
    forest.fit(X, y)
    left_out = np.mean([(forest._bag_counts(t) == 0).mean() for t in range(50)])
    assert left_out == pytest.approx(np.exp(-1), abs=0.005)
    assert all(forest._bag_counts(t).sum() == 2000 for t in range(5))


def test_rows_in_every_bag_give_a_warning(classes):
    X, y = classes
    with pytest.warns(UserWarning, match=r"rows are in all 2 bags \(the first is row \d+\)"):
        forest = RandomForestClassifier(2, random_state=0, oob_score=True).fit(X, y)
    assert np.isnan(forest.oob_decision_function_).any()
    assert np.isfinite(forest.oob_error_)


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_rows_of_weight_0_are_ignored_out_of_bag(kind, classes):
    X, y = classes[0][:200], classes[1][:200]
    dropped = np.arange(200) % 3 == 0
    weight = np.where(dropped, 0.0, 1.0)
    some = kind(3, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in all 3 bags") as caught:
        some.fit(X, y, weight)
    bags = np.array([some._bag_counts(t) for t in range(3)])
    never_out = np.flatnonzero(~dropped)[(bags > 0).all(axis=0)]
    assert f"{never_out.size} rows" in str(caught[0].message)
    assert f"the first is row {never_out[0]})" in str(caught[0].message)

    def record(forest):
        return getattr(forest, "oob_decision_function_", getattr(forest, "oob_prediction_", None))

    unknown = np.isnan(record(some).reshape(200, -1)).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(unknown & ~dropped), never_out)
    assert unknown[dropped].all()
    # The other rows have the results of a fit without the rows of weight 0.
    whole = kind(40, oob_score=True, random_state=0).fit(X, y, weight)
    alone = kind(40, oob_score=True, random_state=0).fit(X[~dropped], y[~dropped])
    np.testing.assert_array_equal(record(whole)[~dropped], record(alone))
    assert whole.oob_score_ == pytest.approx(alone.oob_score_)
    np.testing.assert_allclose(whole.oob_curve_, alone.oob_curve_)
    assert whole.oob_tree_error_ == pytest.approx(alone.oob_tree_error_)
    found = whole.importance("permutation", X, y, per_row=True).per_row
    assert np.isnan(found[dropped]).all()
    np.testing.assert_array_equal(
        found[~dropped],
        alone.importance("permutation", X[~dropped], y[~dropped], per_row=True).per_row,
    )


def test_out_of_bag_errors_use_sample_weight_but_not_class_weight(classes):
    X, y = classes[0][:300], classes[1][:300]
    weight = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    forest = make_forest(RandomForestClassifier, oob_score=True, class_weight={0: 5, 1: 1})
    forest.fit(X, y, weight)
    wrong = forest.oob_decision_function_.argmax(axis=1) != y
    assert forest.oob_error_ == pytest.approx(np.average(wrong, weights=weight))
    numbers = make_forest(RandomForestRegressor, oob_score=True).fit(X, X[:, 0] + y, weight)
    squares = (numbers.oob_prediction_ - X[:, 0] - y) ** 2
    assert numbers.oob_error_ == pytest.approx(np.average(squares, weights=weight))


def test_a_warm_start_needs_the_same_number_of_rows(classes):
    X, y = classes
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    with pytest.raises(
        ValueError, match="X has 900 rows of weight > 0, but the forest was fitted to 1500"
    ):
        forest.set_params(n_estimators=5).fit(X[:900], y[:900])
    assert forest.n_estimators_ == 3


def test_the_progress_bar_shows_trees_and_the_out_of_bag_error(classes, capsys):
    make_forest(RandomForestClassifier, oob_score=True, verbose=1).fit(*classes)
    last = capsys.readouterr().err.split("\r")[-1]
    assert "30/30" in last
    assert "out-of-bag error 0." in last
    make_forest(RandomForestClassifier).fit(*classes)
    assert capsys.readouterr().err == ""


def test_auto_stops_when_the_error_has_settled(classes):
    X, y = classes
    forest = RandomForestClassifier("auto", random_state=0).fit(X, y)
    assert 80 <= forest.n_estimators_ < 1000
    assert len(forest.oob_curve_) == forest.n_estimators_
