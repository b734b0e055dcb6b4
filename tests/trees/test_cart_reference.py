"""Trees of the core compared with the reference, which tries every split, and with closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import tree as sklearn_tree

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.reference.cart import grow

CRITERIA = {"squared_error": 1, "absolute_error": 1, "poisson": 1, "gini": 2, "entropy": 2}


def make_data(criterion, *, classes=2, rows=60, seed=0, nominal=0):
    """Return data without ties; the first `nominal` columns are categorical."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4)).round(6)
    for column in range(nominal):
        X[:, column] = rng.integers(0, 5, rows)
    signal = X[:, 0] - X[:, 1] * X[:, 2]
    if criterion in ("gini", "entropy"):
        return X, np.digitize(signal, np.linspace(-1, 1, classes - 1)).astype(float)
    y = signal + rng.normal(size=rows)
    return X, np.exp(y / 2) if criterion == "poisson" else y


def fit_tree(criterion, X, y, *, nominal=0, weight=None, **options):
    kind = DecisionTreeClassifier if criterion in ("gini", "entropy") else DecisionTreeRegressor
    categorical = list(range(nominal)) or None
    model = kind(criterion=criterion, categorical_features=categorical, **options)
    return model.fit(X, y, sample_weight=weight).tree_


def assert_same(tree, reference, X, at=0):
    """Check that all nodes have the same rows and the same splits."""
    assert tree.n_rows[at] == len(reference.rows)
    if reference.feature is None:
        assert tree.feature[at] < 0
        return
    assert tree.feature[at] == reference.feature
    if reference.left_categories is None:
        assert tree.threshold[at] == pytest.approx(reference.threshold, rel=1e-12)
    else:
        ours, theirs = set(tree.left_categories[at]), set(reference.left_categories)
        present = set(X[reference.rows, reference.feature].astype(int))
        assert ours & present in (theirs, present - theirs)
    children = [tree.left[at], tree.right[at]]
    if reference.left_categories is not None and set(tree.left_categories[at]) & present != theirs:
        children.reverse()
    for child, other in zip(children, reference.children, strict=True):
        assert_same(tree, other, X, child)


@pytest.mark.parametrize("criterion", list(CRITERIA))
@pytest.mark.parametrize("weighted", [False, True])
def test_numeric_splits_agree_with_the_reference(criterion, weighted):
    X, y = make_data(criterion)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y)) if weighted else None
    # With smaller leaves than five rows, two columns could give the same split.
    tree = fit_tree(criterion, X, y, weight=weight, min_samples_leaf=5)
    assert_same(tree, grow(X, y, weight, criterion=criterion, min_samples_leaf=5), X)


@pytest.mark.parametrize(("criterion", "classes"), [("squared_error", 0), ("gini", 2), ("gini", 4)])
def test_nominal_splits_are_the_best_of_all_groupings(criterion, classes):
    for seed in range(5):
        X, y = make_data(criterion, classes=classes or 2, nominal=2, seed=seed, rows=80)
        tree = fit_tree(criterion, X, y, nominal=2, min_samples_leaf=8, max_depth=3)
        reference = grow(X, y, criterion=criterion, nominal=(0, 1), min_samples_leaf=8, max_depth=3)
        assert_same(tree, reference, X)


def test_the_decrease_of_inertia_is_the_formula_of_the_two_means():
    X, y = make_data("squared_error")
    model = DecisionTreeRegressor(max_leaf_nodes=2).fit(X, y)
    tree = model.tree_
    left = X[:, tree.feature[0]] <= tree.threshold[0]
    n1, n2 = left.sum(), (~left).sum()
    decrease = n1 * n2 / len(y) * (y[left].mean() - y[~left].mean()) ** 2
    assert tree.gain[0] * len(y) == pytest.approx(decrease, rel=1e-6)
    within = sum(np.sum((y[s] - y[s].mean()) ** 2) for s in (left, ~left))
    assert np.sum((y - y.mean()) ** 2) - within == pytest.approx(decrease)


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_agrees_with_scikit_learn_on_numeric_data_without_ties(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=400)
    ours = DecisionTreeRegressor(min_samples_leaf=10).fit(X, y).tree_
    theirs = sklearn_tree.DecisionTreeRegressor(min_samples_leaf=10).fit(X, y).tree_
    assert ours.n_nodes == theirs.node_count
    pairs = [(0, 0)]
    while pairs:
        a, b = pairs.pop()
        assert ours.n_rows[a] == theirs.n_node_samples[b]
        assert ours.value[a, 0] == pytest.approx(theirs.value[b, 0, 0])
        assert ours.impurity[a] == pytest.approx(theirs.impurity[b])
        if theirs.feature[b] < 0:
            assert ours.feature[a] < 0
            continue
        assert ours.feature[a] == theirs.feature[b]
        assert ours.threshold[a] == theirs.threshold[b]
        pairs += [
            (ours.left[a], theirs.children_left[b]),
            (ours.right[a], theirs.children_right[b]),
        ]


def test_several_targets_are_split_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4)).astype(np.float32)
    Y = np.column_stack([X[:, 0] + rng.normal(size=200), X[:, 1] ** 2, X[:, 2]])
    ours = DecisionTreeRegressor(min_samples_leaf=10).fit(X, Y)
    theirs = sklearn_tree.DecisionTreeRegressor(min_samples_leaf=10).fit(X, Y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("limit", [{"max_leaf_nodes": 6}, {"max_nodes": 11}])
def test_with_a_limit_nodes_are_split_in_the_order_of_their_gain(limit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)).astype(np.float32)
    y = X[:, 0] * X[:, 1] + rng.normal(size=300)
    ours = DecisionTreeRegressor(**limit, min_samples_leaf=5).fit(X, y)
    theirs = sklearn_tree.DecisionTreeRegressor(max_leaf_nodes=6, min_samples_leaf=5).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
