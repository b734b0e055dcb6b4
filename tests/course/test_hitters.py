"""Baseball salaries (item 19), on rows simulated from the tree of the lecture.

`make reproduce` uses the real table.
"""

import numpy as np
import pytest

from bosquet import DecisionTreeRegressor


def players(seed, spread):
    """Return years, hits and log salary, with splits between 4 and 5 years and between 117 and 118 hits."""
    rng = np.random.default_rng(seed)
    years, hits = rng.integers(1, 25, 600), rng.integers(1, 239, 600)
    years[:4], hits[:4] = [4, 5, 10, 10], [50, 60, 117, 118]
    salary = np.where(years < 4.5, 5.11, np.where(hits < 117.5, 6.00, 6.74))
    return np.column_stack([years, hits]).astype(float), salary + rng.normal(0, spread, 600)


@pytest.mark.parametrize("seed", range(5))
def test_item_19_two_cuts_and_three_leaves_are_those_of_the_lecture(seed):
    X, y = players(seed, spread=0.01)
    tree = DecisionTreeRegressor(max_leaf_nodes=3).fit(X, y).tree_
    inner = np.flatnonzero(~tree.is_leaf)
    assert tree.feature[inner].tolist() == [0, 1]
    assert tree.threshold[inner].tolist() == [4.5, 117.5]
    assert sorted(tree.value[tree.is_leaf, 0]) == pytest.approx([5.11, 6.00, 6.74], abs=0.01)
