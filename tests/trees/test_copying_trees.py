"""Trees as arrays, added to an ensemble of the core: NaN stands for what a node does not have."""

import numpy as np
import pandas as pd
import pytest

from bosquet import AdaBoostClassifier, DecisionTreeClassifier, RandomForestClassifier
from bosquet.trees.copying import add_arrays, add_copy


@pytest.fixture(scope="module", params=[2, 3])
def forest(request):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "number": np.where(random.random(300) < 0.1, -np.inf, random.normal(size=300)),
            "level": pd.Categorical(random.choice(list("abcde"), 300)),
        }
    )
    y = (X["number"] > 0).astype(int) + X["level"].isin(["a", "d"])
    labels = np.minimum(y, request.param - 1)
    return RandomForestClassifier(4, random_state=0).fit(X, labels)


def assert_same_tree(first, second):
    assert first.keys() == second.keys()
    assert first.pop("left_categories") == second.pop("left_categories")
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def test_a_copied_tree_is_the_same_tree(forest):
    ensemble = forest._ensemble
    copy = ensemble.copy()
    for tree in range(ensemble.n_trees):
        add_copy(copy, ensemble, tree)
        assert_same_tree(ensemble.tree_arrays(tree), copy.tree_arrays(ensemble.n_trees + tree))


def test_nodes_have_nan_for_what_they_do_not_have(forest):
    arrays = forest._ensemble.tree_arrays(0)
    is_leaf = arrays["left"] < 0
    np.testing.assert_array_equal(np.isnan(arrays["threshold"]), is_leaf | arrays["is_categorical"])
    value = arrays["value"].reshape(is_leaf.size, -1)
    np.testing.assert_array_equal(np.isnan(value).all(axis=1), ~is_leaf)
    assert arrays["is_categorical"].any()


def test_a_leaf_needs_a_value(forest):
    arrays = forest._ensemble.tree_arrays(0)
    with pytest.raises(ValueError, match="the value of a leaf is not finite"):
        add_arrays(forest._ensemble.copy(), arrays, np.full_like(arrays["value"], np.nan))


def test_a_tree_predicts_with_the_thresholds_that_it_shows():
    X = np.array([[-np.inf], [-np.finfo(float).max], [1.0], [np.inf]] * 5)
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1, 0] * 5)
    assert -np.inf in tree.tree_.threshold
    np.testing.assert_array_equal(tree._ensemble.tree_arrays(0)["threshold"], tree.tree_.threshold)
    assert tree.predict(X[:4]).tolist() == [0, 1, 1, 0]


def test_the_learners_of_a_vote_show_their_outputs_in_leaves_only():
    X = np.random.default_rng(0).normal(size=(100, 2))
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3)
    for learner in model.fit(X, X[:, 0] * X[:, 1] > 0).estimators_:
        is_leaf = learner.arrays["left"] < 0
        np.testing.assert_array_equal(np.abs(learner.arrays["value"][is_leaf]), 1)
        assert np.isnan(learner.arrays["value"][~is_leaf]).all()
