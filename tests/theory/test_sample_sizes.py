"""PAC and VC sample sizes, Sauer's bound, no free lunch: closed forms, limits, simulations."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bosquet.theory import (
    least_sample_size,
    no_free_lunch,
    pieces_as_vote,
    sample_size,
    sauer_bound,
    uniform_deviation,
    vc_dim_of_stumps,
    vc_dim_of_trees,
    vc_dim_of_votes,
)

SHARES = st.floats(0.001, 0.5)


def test_finite_classes_have_the_textbooks_numbers():
    assert int(sample_size(0.1, 0.05, n_hypotheses=1000)) == math.ceil(math.log(20_000) / 0.1)
    agnostic = sample_size(0.1, 0.05, n_hypotheses=1000, realisable=False)
    assert int(agnostic) == math.ceil(2 * math.log(40_000) / 0.01)
    assert "2|H|" in agnostic.formula


@given(SHARES, SHARES, st.integers(1, 200))
def test_the_agnostic_number_of_rows_is_the_least_one(epsilon, delta, d):
    rows = int(sample_size(epsilon, delta, vc_dim=d, realisable=False))

    def logarithm(m):
        return math.log(4) + d * math.log(2 * math.e * m / d) - m * epsilon**2 / 32

    assert logarithm(rows) <= math.log(delta)
    assert rows == math.ceil(32 * d / epsilon**2) or logarithm(rows - 1) > math.log(delta)
    # The same inequality, solved for the deviation: half of epsilon, as the proof wants.
    assert float(uniform_deviation(rows, delta, d)) <= epsilon / 2 * (1 + 1e-9)


@given(SHARES, SHARES, st.integers(1, 100))
def test_sufficient_rows_are_never_fewer_than_necessary_rows(epsilon, delta, d):
    needed = int(least_sample_size(epsilon, delta, d))
    assert needed <= int(sample_size(epsilon, delta, vc_dim=d))
    more = int(sample_size(epsilon / 2, delta, vc_dim=d))
    assert more > int(sample_size(epsilon, delta, vc_dim=d))


def test_the_sample_size_of_a_finite_class_is_sufficient():
    # 21 thresholds on a line, the true one among them: count how often the risk exceeds epsilon.
    epsilon, delta = 0.1, 0.1
    m = int(sample_size(epsilon, delta, n_hypotheses=21))
    random = np.random.default_rng(0)
    thresholds = np.arange(21) / 20
    failures = 0
    for _ in range(300):
        x = random.random(m)
        errors = [np.mean((x > t) != (x > 0.5)) for t in thresholds]
        # The worst of the rules that make no error in training.
        risk = max(abs(t - 0.5) for t, error in zip(thresholds, errors, strict=True) if error == 0)
        failures += risk > epsilon
    assert failures / 300 <= delta


@given(st.integers(0, 12), st.integers(0, 12))
def test_sauers_bound_counts_small_sets(m, d):
    count = sum(1 for bits in itertools.product([0, 1], repeat=m) if sum(bits) <= d)
    assert sauer_bound(m, d) == count
    if d >= m:
        assert sauer_bound(m, d) == 2**m
    if 1 <= d <= m:
        assert sauer_bound(m, d) <= (math.e * m / d) ** d


def test_the_mean_risk_over_all_labellings_is_the_bound_of_no_free_lunch():
    m, s = 2, 4
    bound = no_free_lunch(m)
    assert bound.domain_size == s
    assert bound.error_bound == 1 / 4
    assert bound.probability == pytest.approx(1 / 7)
    # A learner that memorises its rows and predicts 0 elsewhere, over all samples and labellings.
    risks = []
    for labels in itertools.product([0, 1], repeat=s):
        for sample in itertools.product(range(s), repeat=m):
            unseen = [point for point in range(s) if point not in sample]
            risks.append(sum(labels[point] != 0 for point in unseen) / s)
    assert np.mean(risks) == pytest.approx(bound.mean_error)
    assert bound.mean_error >= bound.error_bound
    assert no_free_lunch(10, 5).error_bound == 0


def shatters(orders, points):
    """Whether stumps along these orders of the points label them in every way."""
    found = set()
    for order in orders:
        for k in range(points + 1):
            first = frozenset(order[:k])
            found |= {first, frozenset(range(points)) - first}
    return len(found) == 2**points


@pytest.mark.parametrize("features", [1, 2, 3])
def test_stumps_shatter_as_many_points_as_their_dimension(features):
    d = int(vc_dim_of_stumps(features))
    # An order and its reverse split off the same sets, so the first order can be fixed.
    orders = [order for order in itertools.permutations(range(d)) if order[0] < order[-1] or d == 1]
    given_order = tuple(range(d))
    others = itertools.combinations(orders, features - 1)
    assert any(shatters((given_order, *rest), d) for rest in others)
    # d + 1 points have more sets of half of them than there are first and last ones.
    assert math.comb(d + 1, (d + 1) // 2) > 2 * features


def test_the_dimension_of_trees_grows_with_leaves_and_features():
    assert int(vc_dim_of_trees(10, max_leaf_nodes=2)) == int(vc_dim_of_stumps(10))
    assert int(vc_dim_of_trees(10, max_depth=1)) == int(vc_dim_of_stumps(10))
    values = [int(vc_dim_of_trees(10, max_leaf_nodes=leaves)) for leaves in (3, 4, 8, 64)]
    assert values == sorted(values)
    assert all(value >= leaves for value, leaves in zip(values, (3, 4, 8, 64), strict=True))
    assert int(vc_dim_of_trees(100, max_leaf_nodes=8)) > int(vc_dim_of_trees(10, max_leaf_nodes=8))


@pytest.mark.parametrize("leaves", [3, 5, 9])
def test_the_bound_of_trees_is_where_the_count_of_labellings_falls_below_all(leaves):
    found, tests = int(vc_dim_of_trees(4, max_leaf_nodes=leaves)), leaves - 1
    shapes = math.comb(2 * tests, tests) // (tests + 1)

    def labellings(m):
        return shapes * (4 * m) ** tests * 2**leaves

    assert labellings(found) >= 2**found
    assert labellings(found + 1) < 2 ** (found + 1)


def test_the_dimension_of_votes_has_its_formula_and_conditions():
    assert float(vc_dim_of_votes(3, 3)) == pytest.approx(12 * (3 * math.log(12) + 2))
    assert float(vc_dim_of_votes(100, 7)) == pytest.approx(800 * (3 * math.log(800) + 2))
    for arguments in ((2, 3), (3, 2), (3.5, 3)):
        with pytest.raises(ValueError, match="an integer >= 3"):
            vc_dim_of_votes(*arguments)


@given(
    st.lists(st.integers(-50, 50), min_size=0, max_size=8, unique=True),
    st.integers(0, 10**6),
)
def test_a_function_in_pieces_is_a_vote_of_stumps(cuts, seed):
    cuts = sorted(cuts)
    values = np.random.default_rng(seed).normal(size=len(cuts) + 1)
    vote = pieces_as_vote(cuts, values)
    points = np.linspace(-60, 60, 481)
    expected = values[np.searchsorted(np.array(cuts, float), points, side="left")]
    np.testing.assert_allclose(vote.decision_function(points), expected, atol=1e-12)
    assert vote.thresholds.size == len(cuts)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_size(0.1, 0.05), "n_hypotheses=None and vc_dim=None; pass exactly one"),
        (lambda: sample_size(0.1, 0.05, vc_dim=3, n_hypotheses=2), "pass exactly one of them"),
        (lambda: sample_size(0, 0.05, vc_dim=3), "epsilon=0 is not valid"),
        (lambda: sample_size(0.1, 1.0, vc_dim=3), "delta=1.0 is not valid"),
        (lambda: vc_dim_of_trees(3), "max_leaf_nodes=None and max_depth=None; pass exactly one"),
        (lambda: vc_dim_of_stumps(0), "n_features=0 is not valid"),
        (lambda: no_free_lunch(0), "n_samples=0 is not valid"),
        (lambda: pieces_as_vote([2, 1], [1, 1, 1]), "in increasing order"),
        (lambda: pieces_as_vote([1, 2], [1, 1]), "3 finite numbers"),
    ],
)
def test_invalid_arguments_raise_an_error(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_bounds_print_their_formula():
    text = repr(sample_size(0.1, 0.05, vc_dim=3))
    assert "log₂ 13/ε" in text
    assert "epsilon" in text


@pytest.mark.parametrize(
    "extreme",
    [
        lambda: sample_size(1e-200, 0.05, n_hypotheses=3, realisable=False),
        lambda: sample_size(1e-200, 0.05, vc_dim=3, realisable=False),
        lambda: sample_size(0.1, 0.05, vc_dim=10**400),
        lambda: least_sample_size(1e-9, 1e-9, 10**400),
        lambda: uniform_deviation(10**400, 0.05, 3),
        lambda: vc_dim_of_votes(10**400, 3),
        lambda: no_free_lunch(10**400),
    ],
)
def test_a_result_above_the_largest_float_raises_an_error(extreme):
    with pytest.raises(ValueError, match="exceeds the largest float"):
        extreme()


def test_the_smallest_positive_delta_is_accepted():
    assert float(uniform_deviation(100, 5e-324, 3)) < 10
    assert int(sample_size(0.1, 5e-324, vc_dim=3)) < 10**5
