"""Inspection of forests: importances, proximities, quantiles, standard errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, make_friedman1
from small_forests import make_forest

from bosquet import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)


# ------------------------------------------------------------------------ importance
@pytest.fixture(scope="module")
def two_relevant_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 6))
    y = (X[:, 2] + 0.5 * X[:, 4] + 0.3 * rng.normal(size=800) > 0).astype(int)
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    return forest, X, y


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("impurity", {}),
        ("frequency", {}),
        ("permutation", {"measure": "margin"}),
        ("permutation", {"measure": "accuracy"}),
    ],
)
def test_every_importance_finds_the_relevant_features(two_relevant_features, kind, options):
    forest, X, y = two_relevant_features
    found = forest.importance(kind, X, y, **options) if options else forest.importance(kind)
    order = np.argsort(-found.mean)
    assert list(order[:2]) == [2, 4]
    assert found.scaled.max() == pytest.approx(100)
    assert found.ranking()[0][0] == "x2"
    # Permutation importance of irrelevant features is 0 within its standard error.
    if kind == "permutation":
        noise = [0, 1, 3, 5]
        assert (np.abs(found.mean[noise]) < 4 * found.standard_error[noise] + 0.01).all()
        assert found.per_class.shape == (2, 6)


def test_permutation_importance_by_hand(two_relevant_features):
    forest, X, y = two_relevant_features
    found = forest.importance("permutation", X, y, measure="accuracy", per_row=True)
    from bosquet import _core

    by_tree = np.zeros((60, 6))
    for t in range(60):
        rows = np.flatnonzero(forest._bag_counts(t) == 0).astype(np.uint32)
        features, leaves = _core.permuted_leaves(forest._ensemble, t, X, rows, t)
        share = forest._ensemble.tree_arrays(t)["value"]
        right = [(share[leaf] > 0.5) == y[rows] for leaf in leaves]
        np.testing.assert_array_equal(leaves[0], forest._ensemble.apply(X[rows])[:, t])
        for k, feature in enumerate(features, start=1):
            by_tree[t, feature] = right[0].mean() - right[k].mean()
    np.testing.assert_allclose(found.mean, by_tree.mean(axis=0))
    assert found.per_row.shape == X.shape


def test_margin_importance_finds_the_feature_of_a_rare_class():
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.normal(size=(n, 4))
    y = (X[:, 0] + 0.8 * rng.normal(size=n) > 0).astype(int)
    rare = (X[:, 3] > 2.2) & (rng.random(n) < 0.9)
    y[rare] = 2
    forest = RandomForestClassifier(60, random_state=0).fit(X, y)
    found = forest.importance("permutation", X, y)
    assert np.argmax(found.per_class[2]) == 3


# -------------------------------------------------------- proximities and strength
def test_proximities_are_fractions_of_trees_with_a_common_leaf():
    X, y = load_iris(return_X_y=True)
    forest = make_forest(RandomForestClassifier).fit(X, y)
    leaves = forest.apply(X)
    expected = (leaves[:, None, :] == leaves[None, :, :]).mean(axis=2)
    np.testing.assert_allclose(forest.proximities(X).toarray(), expected)
    scores = forest.outlier_scores(X, y)
    raw = np.array([50 / (expected[i, y == y[i]] ** 2).sum() for i in range(150)])
    first = raw[y == 0]
    np.testing.assert_allclose(
        scores[y == 0], (first - np.median(first)) / np.abs(first - np.median(first)).mean()
    )


def test_strength_and_correlation_bound_the_error():
    X, y = load_breast_cancer(return_X_y=True)
    forest = RandomForestClassifier(100, random_state=0, oob_score=True).fit(X, y)
    strength, correlation = forest.strength_and_correlation(X, y)
    assert 0.5 < strength < 1
    assert 0 < correlation < 1
    assert forest.oob_error_ <= correlation * (1 - strength**2) / strength**2


# ------------------------------------------------------------------------ intervals
def test_quantile_intervals_have_the_nominal_coverage():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, size=(4000, 3))
    y = X[:, 0] + (1 + np.abs(X[:, 1])) * rng.normal(size=4000)
    forest = RandomForestRegressor(60, min_samples_leaf=10, keep_rows=True, random_state=0).fit(
        X[:3000], y[:3000]
    )
    low, high = forest.predict_quantiles(X[3000:], [0.1, 0.9]).T
    covered = np.mean((low <= y[3000:]) & (y[3000:] <= high))
    assert 0.75 < covered < 0.88
    # The noise increases with the second column, and so does the width of the interval.
    wide = np.abs(X[3000:, 1]) > 1.5
    assert (high - low)[wide].mean() > 1.3 * (high - low)[~wide].mean()


def test_quantiles_are_those_computed_by_hand():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.normal(size=60)
    forest = RandomForestRegressor(5, min_samples_leaf=5, keep_rows=True, random_state=0).fit(X, y)
    leaves = forest.apply(X)
    weight = np.zeros(60)
    for t in range(5):
        same = leaves[:, t] == leaves[0, t]
        weight += same / same.sum()
    order = np.argsort(y)
    below = np.cumsum(weight[order]) / weight.sum()
    for level in (0.1, 0.5, 0.9):
        expected = y[order][np.searchsorted(below, level - 1e-9)]
        assert forest.predict_quantiles(X[:1], [level])[0, 0] == expected


def test_the_jackknife_estimates_the_standard_deviation_over_training_samples():
    X, _ = make_friedman1(50, random_state=9)
    predictions, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        train = rng.uniform(size=(150, 10))
        y = 10 * train[:, 0] + 5 * train[:, 1] + rng.normal(size=150)
        forest = RandomForestRegressor(
            400, min_samples_leaf=3, max_features=None, random_state=seed
        ).fit(train, y)
        predictions.append(forest.predict(X))
        errors.append(forest.jackknife_standard_errors(X))
    true = np.std(predictions, axis=0, ddof=1).mean()
    assert 0.6 * true < np.mean(errors) < 1.7 * true


def test_the_jackknife_agrees_with_the_reference():
    from bosquet.reference.bagging import jackknife_variance

    X, y = make_friedman1(40, random_state=0)
    forest = RandomForestRegressor(150, min_samples_leaf=5, random_state=0)
    for weight in (None, np.where(np.arange(40) < 5, 0.0, 1.0)):
        forest.fit(X, y, weight)
        counts = np.array([forest._bag_counts(t) for t in range(150)])
        votes = np.array([forest._ensemble.predict_raw(X[:6], t, t + 1)[:, 0] for t in range(150)])
        by_hand = [jackknife_variance(counts, votes[:, i]) for i in range(6)]
        assert max(by_hand) > 0
        np.testing.assert_allclose(forest.jackknife_standard_errors(X[:6]) ** 2, by_hand)


def test_the_jackknife_needs_bootstrap_samples_and_enough_trees(classes):
    X, y = classes
    few = RandomForestClassifier(3, random_state=0).fit(X, y, np.where(np.arange(1500) < 40, 0, 1))
    first = 40 + np.flatnonzero((np.array([few._bag_counts(t) for t in range(3)]) > 0).all(axis=0))
    with pytest.raises(ValueError, match=f"row {first[0]} and .* are in all 3 bags"):
        few.jackknife_standard_errors(X[:2])
    small = make_forest(RandomForestClassifier).fit(X, y)
    with pytest.warns(UserWarning, match="30 learners are too few"):
        small.jackknife_standard_errors(X[:50])
    all_rows = make_forest(ExtraTreesClassifier).fit(X, y)
    with pytest.raises(ValueError, match="bootstrap=True"):
        all_rows.jackknife_standard_errors(X[:2])
