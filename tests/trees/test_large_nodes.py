"""Nodes with thousands of rows are split without sorting, at the same thresholds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = ["gini", "entropy", "squared_error"]


def impurity_decreases(x, y, w, criterion):
    """Return the decrease of impurity for every threshold, and the thresholds."""
    order = np.argsort(x, kind="stable")
    x, y, w = x[order], y[order], w[order]
    weight, total = np.cumsum(w), np.cumsum(w * y)
    # Sums from the right, because a difference of sums would lose the rows of small weight.
    weight_right, total_right = np.cumsum(w[::-1])[::-1], np.cumsum((w * y)[::-1])[::-1]

    def score(w, s):
        if criterion != "entropy":
            return s**2 / w
        p = np.clip(s / w, 1e-300, 1 - 1e-16)
        return w * (p * np.log(p) + (1 - p) * np.log1p(-p))

    ends = np.flatnonzero(x[1:] > x[:-1])
    left = score(weight[ends], total[ends])
    right = score(weight_right[ends + 1], total_right[ends + 1])
    return left + right - score(weight[-1], total[-1]), (x[ends] + x[ends + 1]) / 2


def best_decrease(X, y, w, criterion):
    return max(impurity_decreases(x, y, w, criterion)[0].max() for x in X.T)


def decrease_of(tree, X, y, w, criterion):
    x = X[:, tree.feature[0]]
    gains, thresholds = impurity_decreases(x, y, w, criterion)
    return gains[np.abs(thresholds - tree.threshold[0]).argmin()]


def fit_model(criterion, X, y, w, **options):
    cls = DecisionTreeRegressor if criterion == "squared_error" else DecisionTreeClassifier
    return cls(criterion=criterion, max_competitors=0, **options).fit(X, y, sample_weight=w)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(CRITERIA),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0.0, 0.05, 0.5, 3.0]),
    st.sampled_from(["equal", "uneven", "extreme"]),
    st.sampled_from([2048, 3000, 7001]),
)
def test_the_chosen_threshold_is_the_best(criterion, seed, signal, kind, rows):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 4))
    X[:, 1] = X[:, 1].round(2)  # a few hundred distinct values, with many rows each
    X[:, 2] = np.exp(3 * X[:, 2])
    X[:, 3] = -X[:, 0]  # the same splits, in reverse order
    y = signal * np.sin(2 * X[:, 0]) + signal * (X[:, 1] > 1) + rng.normal(size=rows)
    if criterion != "squared_error":
        y = (y > 0.3).astype(float)
    weights = {
        "equal": np.ones(rows),
        "uneven": rng.exponential(size=rows),
        "extreme": np.exp(6 * rng.normal(size=rows)),
    }
    w = weights[kind]
    tree = fit_model(criterion, X, y, w, max_depth=1).tree_
    if criterion == "squared_error":
        y = y - np.average(y, weights=w)  # centred, so that sums of squares keep their digits
    best = best_decrease(X, y, w, criterion)
    assert decrease_of(tree, X, y, w, criterion) == pytest.approx(best, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_skipping_columns_early_does_not_change_the_tree(criterion):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 12))
    y = np.sin(2 * X[:, 3]) + X[:, 7] + rng.normal(size=6000)
    y = y if criterion == "squared_error" else (y > 0).astype(float)
    w = rng.exponential(size=6000)
    without_competitors = fit_model(criterion, X, y, w, max_depth=4)
    # To store competitors, the best split of every column is needed.
    with_competitors = type(without_competitors)(
        criterion=criterion, max_competitors=3, max_depth=4
    )
    with_competitors.fit(X, y, sample_weight=w)
    assert np.array_equal(without_competitors.tree_.feature, with_competitors.tree_.feature)
    assert np.array_equal(
        without_competitors.tree_.threshold, with_competitors.tree_.threshold, equal_nan=True
    )
    assert np.array_equal(without_competitors.tree_.value, with_competitors.tree_.value)


def test_ties_between_equal_columns_go_to_the_first():
    rng = np.random.default_rng(1)
    x = rng.normal(size=5000)
    X = np.column_stack([rng.normal(size=5000), x, x, x])
    y = (x + rng.normal(size=5000) > 0).astype(int)
    for competitors in (0, 2):
        tree = DecisionTreeClassifier(max_depth=1, max_competitors=competitors).fit(X, y).tree_
        assert tree.feature[0] == 1


def test_a_constant_column_is_not_split_and_a_single_row_is_separated():
    X = np.zeros((4000, 2))
    X[:, 1] = np.arange(4000)
    y = np.zeros(4000, dtype=int)
    y[2345] = 1
    tree = DecisionTreeClassifier(max_competitors=0).fit(X, y)
    assert tree.get_n_leaves() == 3
    assert tree.score(X, y) == 1
