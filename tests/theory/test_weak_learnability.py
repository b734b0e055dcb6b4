"""Weak learnability: 1/12 for three pieces, the game's value, the hardest weights."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import bosquet
from bosquet.datasets import Friedman1, Pieces, Twonorm, Xor
from bosquet.reference import risk as reference
from bosquet.theory import pieces_as_vote, sample_size, weak_learnability
from bosquet.theory._stumps import Stumps


@st.composite
def small_tables(draw):
    shape = draw(st.tuples(st.integers(2, 9), st.integers(1, 3)))
    X = draw(hnp.arrays(float, shape, elements=st.integers(0, 4)))
    y = draw(hnp.arrays(float, shape[0], elements=st.sampled_from([-1.0, 1.0])))
    y[0], y[1] = -1.0, 1.0
    return X, y


@given(small_tables(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_best_stump_is_the_best_of_all_of_them(table, seed):
    X, y = table
    signs = np.random.default_rng(seed).random(y.size) * y
    value, stump = Stumps(X).best(signs)
    assert value == pytest.approx((reference.all_stumps(X) @ signs).max(), abs=1e-12)
    assert stump(X) @ signs == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize("cuts", [(1 / 3, 2 / 3), (0.1, 0.9), (0.6, 0.7)])
@pytest.mark.parametrize("first", [1, -1])
def test_stumps_are_a_twelfth_weak_on_three_pieces(cuts, first):
    found = weak_learnability("stumps", Pieces(cuts, first), n_samples=200, random_state=0)
    assert found.gamma == pytest.approx(1 / 12, abs=1e-6)
    assert found.edge_low == pytest.approx(1 / 6, abs=1e-6)
    assert found.edge_high == pytest.approx(1 / 6, abs=1e-6)
    assert found.worst_error == pytest.approx(1 / 3, abs=1e-6)
    assert found.is_weak
    assert found.exact
    # The hardest weights put a third on each piece.
    X, _ = Pieces(cuts, first).sample(200, np.random.RandomState(0))
    pieces = np.searchsorted(cuts, X[:, 0])
    masses = [found.weights[pieces == k].sum() for k in range(3)]
    np.testing.assert_allclose(masses, 1 / 3, atol=1e-6)
    expected = sample_size(1 / 12, 0.05, vc_dim=2, realisable=False)
    assert found.n_rows == pytest.approx(expected.value, rel=1e-4)


@pytest.mark.parametrize("pieces", [2, 4, 5, 7])
def test_the_edge_on_r_pieces_is_that_of_the_vote_that_writes_them(pieces):
    # One stump of weight 1 per cut, and a constant if the ends agree; the margin is 1 / Σ weights.
    cuts = tuple(np.arange(1, pieces) / pieces)
    found = weak_learnability("stumps", Pieces(cuts), n_samples=200, random_state=0)
    vote = pieces_as_vote(cuts, [(-1) ** k for k in range(pieces)])
    size = np.abs(vote.weights).sum() + abs(vote.constant)
    assert size == (pieces if pieces % 2 else pieces - 1)
    assert found.edge_low == pytest.approx(1 / (2 * size), abs=1e-6)


@given(small_tables())
@settings(max_examples=25, deadline=None)
def test_the_edge_lies_between_the_bounds_of_the_reference(table):
    X, y = table
    found = weak_learnability("stumps", X, y)
    low, high = reference.weak_edge(reference.all_stumps(X), y, 400)
    assert max(low, 0) - 1e-6 <= found.edge_high
    assert found.edge_low <= high + 1e-6
    assert found.edge_high - found.edge_low <= 2e-6
    # No rule has more than twice the edge under the weights that are given as the hardest.
    assert found.weights.sum() == pytest.approx(1)
    assert (reference.all_stumps(X) @ (found.weights * y)).max() <= 2 * found.edge_high + 1e-9


def test_contradicting_rows_leave_no_edge():
    found = weak_learnability("stumps", [[1.0], [1.0], [2.0]], ["a", "b", "a"])
    assert not found.is_weak
    assert found.gamma == 0
    assert found.n_rows is None
    assert "is not a weak learner" in repr(found)


def test_on_xor_stumps_have_almost_no_edge_and_deeper_trees_have_one():
    X, y = Xor(0.2).sample(80, random_state=0)
    stumps = weak_learnability("stumps", X, y)
    trees = weak_learnability(DecisionTreeClassifier(max_depth=2), X, y, random_state=0)
    assert stumps.edge_low < 0.1
    assert trees.edge_low > 2 * stumps.edge_high
    assert not trees.exact


def test_a_learner_that_need_not_find_its_best_rule_has_no_upper_bound():
    X, y = make_moons(200, noise=0.25, random_state=1)
    found = [
        weak_learnability(tree, X, y, random_state=0)
        for tree in (
            DecisionTreeClassifier(max_depth=2, random_state=0),
            bosquet.DecisionTreeClassifier(max_depth=2),
        )
    ]
    for one in found:
        assert one.edge_high is None
        assert "γ* at most" not in repr(one)
        assert "no upper bound" in repr(one)
        # Proved: under the hardest weights, some rule has at least this edge.
        assert one.least_edge_shown >= -0.5
    # Both are trees of depth 2, but the lower bound of one is no bound for the other.
    assert found[1].edge_low > found[0].least_edge_shown


def test_a_bad_rule_does_not_end_the_search_or_lower_the_bound():
    X, y = make_moons(100, noise=0.25, random_state=0)

    class OnceInverted(DecisionTreeClassifier):
        """A tree whose twentieth prediction is inverted."""

        calls = 0

        def predict(self, X):
            type(self).calls += 1
            predicted = super().predict(X)
            return 1 - predicted if type(self).calls == 20 else predicted

    plain = weak_learnability(DecisionTreeClassifier(max_depth=3, random_state=0), X, y)
    inverted = weak_learnability(OnceInverted(max_depth=3, random_state=0), X, y)
    assert inverted.least_edge_shown < 0 < plain.edge_low
    assert inverted.edge_low > 0


def test_no_row_passed_to_a_learner_has_weight_0():
    X, y = make_moons(60, noise=0.25, random_state=1)
    assert weak_learnability(SVC(), X, y).edge_high is None


def test_a_prediction_of_an_unknown_class_raises_an_error_with_the_round():
    class Lost(DecisionTreeClassifier):
        def predict(self, X):
            return np.full(len(X), 7)

    X, y = Twonorm(3).sample(20, random_state=0)
    with pytest.raises(ValueError, match=r"Lost failed in round 1: .*the class .*7"):
        weak_learnability(Lost(), X, y)


def test_a_full_tree_has_no_error_under_any_weights():
    X, y = Twonorm(3).sample(60, random_state=0)
    found = weak_learnability(DecisionTreeClassifier(), X, y, vc_dim=50)
    assert found.edge_low == pytest.approx(0.5)
    assert found.gamma == pytest.approx(0.25)
    assert found.n_rows > 1000


def test_invalid_arguments_raise_an_error():
    X, y = Twonorm(3).sample(20, random_state=0)
    with pytest.raises(ValueError, match=r"does not accept sample_weight"):
        weak_learnability(KNeighborsClassifier(), X, y)
    with pytest.raises(ValueError, match="learner='trees' is not valid"):
        weak_learnability("trees", X, y)
    with pytest.raises(ValueError, match="y is missing"):
        weak_learnability("stumps", X)
    with pytest.raises(ValueError, match=r"y has 1 class "):
        weak_learnability("stumps", X, np.zeros(20))
    with pytest.raises(ValueError, match=r"y has \d+ classes"):
        weak_learnability("stumps", Friedman1(), random_state=0)
    with pytest.raises(ValueError, match=r"X\[3, 1\] is nan"):
        weak_learnability("stumps", np.where(np.arange(60).reshape(20, 3) == 10, np.nan, X), y)
    with pytest.raises(ValueError, match="DecisionTreeClassifier failed in round 1"):
        weak_learnability(DecisionTreeClassifier(max_depth=-1), X, y)
