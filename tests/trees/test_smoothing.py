"""Smoothing of class shares (m-estimate)."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from bosquet import DecisionTreeClassifier, load


@pytest.fixture(scope="module")
def table():
    return load_breast_cancer(return_X_y=True)


def test_smoothed_shares_agree_with_the_formula(table):
    X, y = table
    plain = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0).fit(X, y)
    smooth = DecisionTreeClassifier(max_leaf_nodes=6, smoothing=3.0, random_state=0).fit(X, y)
    leaf = plain.apply(X)
    assert np.array_equal(leaf, smooth.apply(X))
    n = np.bincount(leaf)[leaf][:, None]
    root = np.bincount(y) / len(y)
    assert np.allclose(smooth.predict_proba(X), (n * plain.predict_proba(X) + 3 * root) / (n + 3))
    assert np.allclose(smooth.tree_.value[0], root)


def test_pruning_by_deviance_uses_smoothed_shares(table):
    X, y = table
    trees = [
        DecisionTreeClassifier(
            pruning="cv", pruning_measure="deviance", cv=5, smoothing=m, random_state=0
        ).fit(X, y)
        for m in (0.0, 2.0)
    ]
    unpruned = [tree.pruning_table_.errors[0] for tree in trees]
    assert unpruned[1] < 0.5 * unpruned[0]  # pure leaves with errors have a large deviance
    assert trees[1].pruning_table_.errors.min() < trees[0].pruning_table_.errors.min()
    assert (trees[1].predict_proba(X) > 0).all()


def test_smoothing_is_saved_to_files(table, tmp_path):
    X, y = table
    tree = DecisionTreeClassifier(max_depth=2, smoothing=1.5).fit(X, y)
    tree.save(tmp_path / "tree.bosquet")
    again = load(tmp_path / "tree.bosquet")
    assert again.smoothing == 1.5
    assert np.array_equal(again.predict_proba(X), tree.predict_proba(X))


def test_a_negative_smoothing_raises(table):
    with pytest.raises(ValueError, match="smoothing=-1"):
        DecisionTreeClassifier(smoothing=-1).fit(*table)
