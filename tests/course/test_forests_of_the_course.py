"""Items of the course on forests: random variables at a node, and measures of importance."""

import numpy as np
import pytest

from bosquet import RandomForestClassifier, RandomForestRegressor


@pytest.mark.parametrize(
    ("forest", "columns", "q"),
    [(RandomForestClassifier, 16, 4), (RandomForestRegressor, 15, 5)],
)
def test_item_20_a_node_considers_the_square_root_or_a_third_of_the_variables(forest, columns, q):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, columns))
    y = (X[:, :4].sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    usual, drawn, other = (
        forest(15, random_state=0, **options).fit(X, y).apply(X)
        for options in ({}, {"max_features": q}, {"max_features": q + 1})
    )
    np.testing.assert_array_equal(usual, drawn)
    assert not np.array_equal(usual, other)
    small = forest(15, max_depth=1, max_samples=50, random_state=0).fit(X, y)
    assert {len(np.unique(small.apply(X)[:, t])) for t in range(15)} == {2}
    assert {int(small._bag_counts(t).sum()) for t in range(15)} == {50}


@pytest.mark.parametrize("seed", range(3))
def test_item_21_frequency_shows_a_variable_of_a_rare_class_that_margin_and_gini_neglect(seed):
    # x0 determines two common classes; x1 a third class with 2 % of the rows, with noise.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3000, 5))
    y = (X[:, 0] + 0.8 * rng.normal(size=3000) > 0).astype(int)
    y[(X[:, 1] > 1.8) & (rng.random(3000) < 0.6)] = 2
    assert np.mean(y == 2) < 0.03
    forest = RandomForestClassifier(60, max_leaf_nodes=8, random_state=0).fit(X, y)
    margin = forest.importance("permutation", X, y)
    gini, frequency = forest.importance("impurity").mean, forest.importance("frequency").mean
    assert margin.mean[1] < 0.1 * margin.mean[0]
    assert gini[1] < 0.15 * gini[0]
    assert frequency[1] > 0.45 * frequency[0]
    assert (
        frequency[1] > 1.5 * frequency[2:].max()
    )  # in small trees, noise is not split on as often
    # The margins of the rare class show it as well.
    assert np.argmax(margin.per_class[2]) == 1
    assert np.argmax(margin.per_class[0]) == np.argmax(margin.per_class[1]) == 0
