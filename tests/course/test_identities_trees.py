"""Equalities of the course on trees, by the number of the item."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor
from bosquet.trees import cost_complexity, node_costs, prune_to, weakest_link_path

TAME = settings(max_examples=40, deadline=None)


@st.composite
def tables(draw, classes=None):
    rows = draw(st.integers(4, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.integers(0, draw(st.integers(2, 12)), (rows, draw(st.integers(1, 3)))).astype(float)
    y = rng.normal(size=rows).round(2) if classes is None else rng.integers(0, classes, rows)
    if classes is not None:
        y[:2] = [0, 1]  # at least two classes
    return X, y


def splits(X):
    """Yield every split of the rows by a threshold."""
    for column in X.T:
        for threshold in np.unique(column)[:-1]:
            yield column <= threshold


def inertia(y):
    return ((y - y.mean()) ** 2).sum()


def gini(y):
    shares = np.unique(y, return_counts=True)[1] / len(y)
    return sum(p * q for i, p in enumerate(shares) for j, q in enumerate(shares) if i != j)


def deviance(y):
    counts = np.unique(y, return_counts=True)[1]
    return -2 * (counts * np.log(counts / len(y))).sum()


@TAME
@given(st.integers(2, 6), st.integers(0, 2**16), st.booleans())
def test_item_14_the_chosen_split_is_the_best_of_all_admissible_splits(m, seed, nominal):
    rng = np.random.default_rng(seed)
    level = rng.permutation(np.r_[np.arange(m), rng.integers(0, m, 4 * m)])
    y = rng.normal(size=m)[level] + rng.normal(size=level.size)
    if nominal:  # the last level is always on the right, so that no grouping is counted twice
        groups = [g for k in range(1, m) for g in combinations(range(m), k) if m - 1 not in g]
        assert len(groups) == 2 ** (m - 1) - 1
    else:
        groups = [range(cut) for cut in range(1, m)]
        assert len(groups) == m - 1
    lefts = [np.isin(level, list(group)) for group in groups]
    drops = [inertia(y) - inertia(y[left]) - inertia(y[~left]) for left in lefts]
    tree = DecisionTreeRegressor(max_depth=1, categorical_features=[0] if nominal else None)
    tree.fit(level[:, None].astype(float), y)
    assert len(y) * tree.tree_.gain[0] == pytest.approx(max(drops), rel=1e-5)


@TAME
@given(tables())
def test_item_15_the_decrease_of_inertia_follows_from_the_two_means(table):
    X, y = table
    assume(any(True for _ in splits(X)) and inertia(y) > 1e-6)
    drops = []
    for left in splits(X):
        n1, n2 = left.sum(), (~left).sum()
        formula = n1 * n2 / len(y) * (y[left].mean() - y[~left].mean()) ** 2
        assert formula == pytest.approx(inertia(y) - inertia(y[left]) - inertia(y[~left]), abs=1e-9)
        drops.append(formula)
    tree = DecisionTreeRegressor(max_depth=1).fit(X, y)
    assume(tree.get_n_leaves() == 2)
    left = tree.apply(X) == tree.tree_.left[0]
    taken = inertia(y) - inertia(y[left]) - inertia(y[~left])
    assert taken == pytest.approx(max(drops), rel=1e-5, abs=1e-6)
    assert len(y) * tree.tree_.gain[0] == pytest.approx(taken, rel=1e-5, abs=1e-6)
    assert tree.tree_.value[:, 0] == pytest.approx([y.mean(), y[left].mean(), y[~left].mean()])


@TAME
@given(tables(classes=3), st.sampled_from(["gini", "entropy"]))
def test_item_15_the_first_split_has_the_largest_decrease_of_gini_or_deviance(table, criterion):
    X, y = table
    n = len(y)

    def drop(left):
        if criterion == "gini":
            return gini(y) - left.mean() * gini(y[left]) - (~left).mean() * gini(y[~left])
        return deviance(y) - deviance(y[left]) - deviance(y[~left])

    drops = [drop(left) for left in splits(X)]
    tree = DecisionTreeClassifier(max_depth=1, criterion=criterion).fit(X, y)
    assume(tree.get_n_leaves() == 2)
    left = tree.apply(X) == tree.tree_.left[0]
    assert drop(left) == pytest.approx(max(drops), rel=1e-5, abs=1e-6)
    # The core returns entropy in bits per row; the deviance is 2 n ln 2 times that.
    unit = 1 if criterion == "gini" else 2 * n * np.log(2)
    assert unit * tree.tree_.gain[0] == pytest.approx(drop(left), rel=1e-5, abs=1e-6)


@TAME
@given(tables(classes=2), st.integers(2, 8), st.integers(1, 15))
def test_item_16_growing_stops_at_pure_nodes_few_rows_and_the_limit_of_nodes(table, d_min, n_max):
    X, y = table
    tree = DecisionTreeClassifier(min_samples_split=d_min).fit(X, y).tree_
    inner = ~tree.is_leaf
    assert (tree.impurity[inner] > 0).all()
    assert (tree.n_rows[inner] >= d_min).all()
    limited = DecisionTreeClassifier(max_nodes=n_max).fit(X, y).tree_
    assert limited.n_nodes <= n_max
    assert limited.n_nodes == 2 * limited.n_leaves - 1


@TAME
@given(
    tables(classes=3),
    st.floats(0, 5),
    st.sampled_from(["misclassified", "deviance", "impurity"]),
    st.randoms(use_true_random=False),
)
def test_item_18_pruning_a_branch_changes_the_cost_by_node_minus_branch(table, gamma, cost, random):
    tree = DecisionTreeClassifier().fit(*table).tree_
    inner = np.flatnonzero(~tree.is_leaf)
    assume(inner.size)
    node = random.choice(inner.tolist())
    D = node_costs(tree, cost)
    whole, branch = (cost_complexity(tree, gamma, cost, node=start) for start in (0, node))
    cut = cost_complexity(tree.prune_at([node]), gamma, cost)
    assert cut == pytest.approx(whole + D[node] + gamma - branch, abs=1e-6)
    leaves = round(cost_complexity(tree, 1, np.zeros(tree.n_nodes), node=node))
    link = (D[node] - cost_complexity(tree, 0, cost, node=node)) / (leaves - 1)
    if abs(link - gamma) > 1e-6:
        assert (cut >= whole) == (gamma <= link)


@TAME
@given(tables(classes=2))
def test_item_18_pruned_trees_are_nested_and_each_is_the_best_of_the_path_at_its_gamma(table):
    tree = DecisionTreeClassifier().fit(*table).tree_
    path = weakest_link_path(tree, "misclassified")
    trees = [prune_to(tree, gamma, path) for gamma in path.gammas]
    for bigger, smaller in pairwise(trees):
        assert smaller.n_leaves < bigger.n_leaves
    assert trees[-1].n_leaves == 1
    for gamma, own in zip(path.gammas, path.costs + path.gammas * path.leaves, strict=True):
        assert (own <= path.costs + gamma * path.leaves + 1e-9).all()
