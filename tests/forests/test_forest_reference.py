"""Bags, features and votes of forests agree with the reference implementation in plain NumPy."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from bosquet import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.reference import bagging
from bosquet.reference import forest as reference

TREES = 8


def classes(rows=60):
    """Two classes: sums of integers are exact, so both implementations find the same ties."""
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 5)).round(2)
    X[:, 4] = 1.0  # a constant feature does not count as one of the features drawn
    return X, (X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=rows) > 0).astype(int)


def numbers(rows=150):
    """A numeric target; with smaller leaves than ten rows, two features could give the same split."""
    random = np.random.default_rng(1)
    X = random.normal(size=(rows, 5))
    return X, X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=rows)


def references(model, X, y, **options):
    keys = [reference.tree_key(model._seed, t) for t in range(TREES)]
    rows = len(y)
    draws = model._draws
    counts = np.array(
        [
            reference.bag(key, rows, draws) if model.bootstrap else np.ones(rows, dtype=np.int64)
            for key in keys
        ]
    )
    trees = [
        reference.grow(
            X, y, count, key,
            criterion=model.criterion,
            min_samples_leaf=model.min_samples_leaf,
            extremely_random=isinstance(model, ExtraTreesClassifier | ExtraTreesRegressor),
            **options,
        )
        for key, count in zip(keys, counts, strict=True)
    ]  # fmt: skip
    return counts, trees


def fit_model(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # with few trees some rows are in every bag
        return model.fit(X, y)


def check_out_of_bag(model, counts, votes, y, loss):
    np.testing.assert_allclose(model.oob_curve_, bagging.out_of_bag_curve(counts, votes, y, loss))
    assert model.oob_error_ == pytest.approx(bagging.out_of_bag_error(counts, votes, y, loss))
    assert model.oob_tree_error_ == pytest.approx(
        bagging.mean_learner_error(counts, votes, y, loss)
    )
    record = getattr(model, "oob_decision_function_", getattr(model, "oob_prediction_", None))
    by_hand = bagging.out_of_bag_votes(counts, votes)
    np.testing.assert_allclose(record.reshape(by_hand.shape), by_hand)


@pytest.mark.parametrize("voting", ["soft", "hard"])
@pytest.mark.parametrize(("q", "max_samples"), [(1, None), (2, None), (5, 40)])
def test_forests_of_classifiers_agree_with_the_reference(voting, q, max_samples):
    X, y = classes()
    model = RandomForestClassifier(
        TREES, max_features=q, max_samples=max_samples, voting=voting, split="exact",
        oob_score=True, random_state=3,
    )  # fmt: skip
    fit_model(model, X, y)
    counts, trees = references(model, X, y, features_per_node=q)
    np.testing.assert_array_equal(counts, [model._bag_counts(t) for t in range(TREES)])
    votes = np.array([reference.tree_votes(tree, X) for tree in trees])
    votes = reference.hard_votes(votes) if voting == "hard" else votes
    np.testing.assert_allclose(
        model.predict_proba(X), [bagging.mean_vote(votes[:, i]) for i in range(len(y))]
    )
    check_out_of_bag(model, counts, votes, y, bagging.misclassified)


@pytest.mark.parametrize("q", [1, 3])
def test_forests_of_regressors_agree_with_the_reference(q):
    X, y = numbers()
    model = RandomForestRegressor(
        TREES, max_features=q, min_samples_leaf=10, split="exact", oob_score=True, random_state=0
    )
    fit_model(model, X, y)
    counts, trees = references(model, X, y, features_per_node=q)
    votes = np.array([reference.tree_votes(tree, X) for tree in trees])
    np.testing.assert_allclose(model.predict(X), votes[:, :, 0].mean(axis=0))
    check_out_of_bag(model, counts, votes, y, bagging.squared_error)


@pytest.mark.parametrize("bootstrap", [False, True])
def test_extremely_random_trees_vote_as_the_reference(bootstrap):
    X, y = classes()
    model = ExtraTreesClassifier(TREES, max_features=2, bootstrap=bootstrap, random_state=1)
    model.fit(X, y)
    _, trees = references(model, X, y, features_per_node=2)
    votes = np.array([reference.tree_votes(tree, X) for tree in trees])
    np.testing.assert_allclose(model.predict_proba(X), votes.mean(axis=0))
    X, y = numbers()
    model = ExtraTreesRegressor(
        TREES, max_features=3, min_samples_leaf=10, bootstrap=bootstrap, random_state=1
    ).fit(X, y)
    _, trees = references(model, X, y, features_per_node=3)
    votes = np.array([reference.tree_votes(tree, X) for tree in trees])
    np.testing.assert_allclose(model.predict(X), votes[:, :, 0].mean(axis=0))
