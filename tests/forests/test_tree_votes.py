"""Bags and votes of the trees of a forest."""

import numpy as np
import pytest

from bosquet import ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor
from bosquet.datasets import Friedman1, Waveform


def test_the_mean_of_the_votes_is_the_prediction():
    X, y = Friedman1().sample(200, random_state=0)
    forest = RandomForestRegressor(n_estimators=12, random_state=0).fit(X, y)
    assert forest.votes(X).shape == (200, 12)
    np.testing.assert_allclose(forest.votes(X).mean(axis=1), forest.predict(X))
    both = RandomForestRegressor(n_estimators=5, random_state=0).fit(X, np.c_[y, -y])
    np.testing.assert_allclose(both.votes(X).mean(axis=1), both.predict(X))


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_votes_are_class_shares_or_labels(voting):
    X, y = Waveform().sample(200, random_state=0)
    labels = np.array(["a", "b", "c"])[y]
    forest = RandomForestClassifier(n_estimators=12, voting=voting, max_depth=3, random_state=0)
    votes = forest.fit(X, labels).votes(X)
    if voting == "hard":
        votes = (votes[:, :, None] == forest.classes_).astype(float)
    np.testing.assert_allclose(votes.mean(axis=1), forest.predict_proba(X))


def test_the_out_of_bag_prediction_is_the_mean_vote_of_trees_that_did_not_draw_the_row():
    X, y = Friedman1().sample(150, random_state=0)
    forest = RandomForestRegressor(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    votes = forest.votes(X)
    for row in range(150):
        absent = [t for t, drawn in enumerate(forest.estimators_samples_) if row not in drawn]
        np.testing.assert_allclose(votes[row, absent].mean(), forest.oob_prediction_[row])


def test_a_row_of_weight_zero_is_in_no_bag():
    X, y = Friedman1().sample(100, random_state=0)
    weight = np.r_[np.zeros(30), np.ones(70)]
    forest = RandomForestRegressor(n_estimators=10, random_state=0).fit(X, y, weight)
    assert min(rows.min() for rows in forest.estimators_samples_) >= 30
    assert all(rows.size == 70 for rows in forest.estimators_samples_)


def test_without_bootstrap_every_tree_uses_every_row():
    X, y = Friedman1().sample(50, random_state=0)
    forest = ExtraTreesRegressor(n_estimators=3, random_state=0).fit(X, y)
    for rows in forest.estimators_samples_:
        np.testing.assert_array_equal(rows, np.arange(50))
