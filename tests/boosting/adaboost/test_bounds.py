"""Generalisation bounds: closed formulas, and properties of any bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.tree import DecisionTreeClassifier as TheirTree

import bosquet
from bosquet.boosting.adaboost import bounds
from bosquet.boosting.adaboost.bounds import vc_dim_of_stumps
from bosquet.theory import certificate, pieces_as_vote, vc_dim_of_trees


def labelings_by_stumps(points):
    """Return all labellings of the points by stumps, by enumeration."""
    found = set()
    rows = range(len(points))
    for feature in range(points.shape[1]):
        for cut in [-math.inf, *points[:, feature]]:
            side = tuple(bool(points[i, feature] <= cut) for i in rows)
            found |= {side, tuple(not s for s in side)}
    return found


@pytest.mark.parametrize("features", [1, 2, 3, 5])
def test_stumps_shatter_no_more_points_than_their_dimension(features):
    generator = np.random.default_rng(0)
    dimension = int(vc_dim_of_stumps(features))
    for rows in range(1, dimension + 3):
        most = 0
        for _ in range(30):
            most = max(most, len(labelings_by_stumps(generator.normal(size=(rows, features)))))
        assert most <= 2 * (features * (rows - 1) + 1)
        assert most < 2**rows or rows <= dimension


def test_stumps_on_a_line_shatter_two_points():
    assert vc_dim_of_stumps(1) == 2
    assert len(labelings_by_stumps(np.array([[0.0], [1.0]]))) == 4


def test_the_dimension_of_a_vote_follows_the_formula_with_numbers_of_at_least_3():
    terms = 10 * (5 + 1)
    assert bounds.vote_vc_bound(10, 5) == pytest.approx(terms * (3 * math.log(terms) + 2))
    assert bounds.vote_vc_bound(1, 2) == bounds.vote_vc_bound(3, 3)


@pytest.mark.parametrize(("T", "d"), [(1, 2), (2, 5), (50, 2), (50, 7)])
def test_the_vc_bound_prints_the_numbers_that_it_is_computed_with(T, d):
    bound = bounds.vc_bound(0.1, T, d, 10**6)
    terms = bound.at["T"] * (bound.at["d"] + 1)
    assert bound.at["D"] == pytest.approx(terms * (3 * math.log(terms) + 2))
    small = [f"{name} = {value}" for name, value in (("T", T), ("d", d)) if value < 3]
    note = f"[{' and '.join(small)} replaced by 3]"
    assert (note in str(bound)) == bool(small)


@pytest.mark.parametrize(
    ("limits", "theorys"),
    [
        ({"max_depth": 1}, {"max_depth": 1}),
        ({"max_depth": 2}, {"max_depth": 2}),
        ({"max_leaf_nodes": 4}, {"max_leaf_nodes": 4}),
        ({"max_leaf_nodes": 4, "max_depth": 30}, {"max_leaf_nodes": 4}),
        ({"max_leaf_nodes": 500, "max_depth": 3}, {"max_depth": 3}),
        ({"max_depth": 35}, {"max_depth": 35}),  # counting up one by one would take hours
    ],
)
@pytest.mark.parametrize(
    ("boosted", "tree"),
    [
        (bosquet.AdaBoostClassifier, bosquet.DecisionTreeClassifier),
        (bosquet.AdaBoostClassifier, TheirTree),
        (TheirAdaBoost, TheirTree),
    ],
)
@pytest.mark.filterwarnings("ignore:boosting ended after 1 of 2 rounds")
def test_certificates_use_the_dimension_of_the_theory(boosted, tree, limits, theorys):
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 10))
    model = boosted(tree(**limits), n_estimators=2).fit(X, X[:, 0] + X[:, 1] > 0.3)
    found = certificate(model, X, X[:, 0] + X[:, 1] > 0.3)
    assert found.vc_dim == int(vc_dim_of_trees(10, **theorys))


def test_the_vc_bound_by_hand():
    m, T, d, delta = 10**6, 10, 5, 0.1
    D = 60 * (3 * math.log(60) + 2)
    expected = 0.05 + math.sqrt(2 * D * math.log(math.e * m / D) / m)
    expected += math.sqrt(math.log(10) / (2 * m))
    bound = bounds.vc_bound(0.05, T, d, m, delta)
    assert bound.value == pytest.approx(expected)
    assert bound.is_informative
    assert bound.delta == delta


def test_with_fewer_rows_than_the_dimension_the_vc_bound_is_vacuous():
    bound = bounds.vc_bound(0.0, 100, 5, 500)
    assert bound.value > 1
    assert not bound.is_informative
    assert "vacuous" in str(bound)


def test_the_kth_margin_bound_by_hand():
    m, d, delta = 10**6, 6, 0.05
    margins = np.full(m, 0.5)
    margins[:1000] = 0.01
    bound = bounds.kth_margin_bound(margins, d, delta)
    expected = 0.001 + 4 / 0.5 * math.sqrt(2 * d * math.log(math.e * m / d) / m)
    expected += math.sqrt(math.log(math.log2(4)) / m) + math.sqrt(math.log(40) / (2 * m))
    assert bound.value == pytest.approx(expected)
    assert bound.at["k"] == 1001
    assert bound.at["θ"] == 0.5
    first = bounds.kth_margin_bound(margins, d, delta, k=1)
    assert first.value > bound.value
    assert first.at["θ"] == 0.01


def test_gao_and_zhous_bound_by_hand():
    m, size, delta = 200_000, 1000, 0.05
    margins = np.full(m, 0.6)
    bound = bounds.finite_kth_margin_bound(margins, size, delta, k=1)
    log_size = math.log(size)
    q = (
        8 * math.log(2 * size) / 0.36 * math.log(2 * m**2 / log_size)
        + log_size
        + math.log(m / delta)
    )
    # The inverse of KL(0 || w) = -ln(1 - w) has a closed form.
    assert bound.value == pytest.approx(log_size / m + 1 - math.exp(-q / m))
    assert bound.is_informative
    best = bounds.finite_kth_margin_bound(margins, size, delta)
    assert best.value >= bound.value, "the best k shares its chance of failing with the others"


def test_without_a_margin_above_0_there_is_no_margin_bound():
    assert "above 0" in bounds.kth_margin_bound(np.array([-0.5, 0.0]), 3).reason
    assert "above 0" in bounds.kth_margin_bound(np.array([-0.5, 0.1]), 3, k=1).reason
    assert "√(8/|H|)" in bounds.finite_kth_margin_bound(np.array([0.01]), 100).reason
    assert "8 hypotheses" in bounds.finite_kth_margin_bound(np.array([0.5]), 8).reason


@given(
    arrays(float, st.integers(2, 50), elements=st.floats(-1, 1)),
    st.floats(0.01, 0.3),
    st.integers(1, 40),
)
def test_larger_margins_never_make_the_bound_worse(margins, more, vc_dim):
    before = bounds.kth_margin_bound(margins, vc_dim)
    after = bounds.kth_margin_bound(np.minimum(margins + more, 1), vc_dim)
    if before.value is not None:
        assert after.value <= before.value + 1e-12
        for k in range(1, margins.size + 1):
            one = bounds.kth_margin_bound(margins, vc_dim, k=k)
            assert one.value is None or one.value >= before.value - 1e-12


@given(st.floats(0, 0.999), st.floats(0, 5))
def test_the_inverse_of_kl_is_its_inverse(u, v):
    w = float(bounds.inverse_kl(np.array(u), np.array(v)))
    assert u <= w <= 1
    if u > 0 and w < 1 - 1e-9:
        assert u * math.log(u / w) + (1 - u) * math.log((1 - u) / (1 - w)) == pytest.approx(
            v, abs=1e-6
        )


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2])
def test_a_delta_outside_0_and_1_raises(delta):
    with pytest.raises(ValueError, match="delta must be a number in"):
        bounds.vc_bound(0.1, 10, 3, 100, delta)
    with pytest.raises(ValueError, match="delta must be a number in"):
        bounds.kth_margin_bound(np.ones(3), 3, delta)


def test_a_rank_above_the_number_of_rows_raises():
    with pytest.raises(ValueError, match=r"k must be an integer in \[1, 3\]"):
        bounds.kth_margin_bound(np.ones(3), 3, k=4)


def test_the_bounds_cover_the_error_of_a_stump_on_new_rows():
    # One stump chosen on m rows of pure threshold data with label noise: its true error is known.
    generator = np.random.default_rng(1)
    m, noise = 4000, 0.1
    for _ in range(20):
        x = generator.uniform(size=m)
        y = np.where(x > 0.5, 1, -1) * np.where(generator.uniform(size=m) < noise, -1, 1)
        order = np.argsort(x)
        wrong = np.concatenate([[np.sum(y == -1)], np.sum(y == -1) + np.cumsum(y[order])])
        cut = int(np.argmin(wrong))
        threshold = 0.0 if cut == 0 else x[order][cut - 1]
        true_error = noise + abs(threshold - 0.5) * (1 - 2 * noise)
        training_error = wrong[cut] / m
        assert true_error <= bounds.vc_bound(training_error, 1, 2, m).value
        margins = np.where(x > threshold, 1, -1) * y
        assert true_error <= bounds.kth_margin_bound(margins, 2).value


def test_votes_richer_than_the_rows_have_the_term_of_all_labellings_and_report_it():
    few = bounds.vc_bound(0.1, 200, 3, 200)
    assert few.value == pytest.approx(0.1 + np.sqrt(2 * np.log(2)) + np.sqrt(np.log(20) / 400))
    assert "√(2 ln 2) [D > m" in few.formula
    assert "ln(em/D)" not in few.formula
    assert bounds.vc_bound(0.1, 2000, 3, 200).value == few.value, (
        "it no longer grows with the rounds"
    )
    many = bounds.vc_bound(0.1, 200, 3, 10**6)
    assert "√(2D ln(em/D)/m)" in many.formula
    assert bounds.vc_bound(0.1, 400, 3, 10**6).value > many.value
    assert "[d > m" in bounds.kth_margin_bound(np.full(5, 0.5), 9).formula


def test_the_repr_of_a_bound_is_short():
    bound = bounds.vc_bound(0.0, 3, 3, 10**6)
    assert repr(bound) == f"<ErrorBound: VC bound of the vote ≤ {bound.value:.4g}>"
    assert repr(bounds.vc_bound(0.1, 200, 3, 200)).endswith("vacuous>")
    none = bounds.kth_margin_bound(np.full(5, -0.5), 3)
    assert repr(none) == "<ErrorBound: no kth-margin bound, no margin is above 0>"
    vote = pieces_as_vote(range(1, 7), [1, -1, 1, -1, 1, -1, 1])
    assert repr(vote) == (
        "StumpVote(1 -1 sign(x - 1) +1 sign(x - 2) -1 sign(x - 3) +1 sign(x - 4) + 2 more)"
    )
