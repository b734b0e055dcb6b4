"""Equalities and bounds of the course on combining models, by the number of the item."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bosquet.bagging import ambiguity, distinct_samples, probability_drawn

few = st.floats(-100, 100)


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(1, 6), st.integers(1, 8))
def test_item_10_the_error_of_the_mean_is_the_mean_error_minus_the_ambiguity(data, rows, learners):
    h = data.draw(arrays(float, (rows, learners), elements=few))
    y = data.draw(arrays(float, rows, elements=few))
    w = data.draw(arrays(float, learners, elements=st.floats(0.1, 5)))
    parts = ambiguity(h, y, weights=w)
    share = w / w.sum()
    scale = 1e-9 * (1 + np.abs(h).max() ** 2 + np.abs(y).max() ** 2)
    assert parts.error_of_mean == pytest.approx(((h @ share - y) ** 2).mean(), abs=scale)
    assert parts.mean_error == pytest.approx((((h - y[:, None]) ** 2) @ share).mean(), abs=scale)
    assert parts.error_of_mean == pytest.approx(parts.mean_error - parts.ambiguity, abs=scale)
    assert parts.error_of_mean <= parts.mean_error + scale


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(1, 50), st.integers(0, 2**16))
def test_item_10_uncorrelated_centred_errors_divide_the_mean_error_by_the_number_of_learners(
    learners, scale, seed
):
    # Columns of signs that are centred and orthogonal to each other, as in a factorial design.
    errors = np.array(list(product([-1.0, 1.0], repeat=learners))) * scale
    y = np.random.default_rng(seed).normal(size=len(errors))
    parts = ambiguity(y[:, None] + errors, y)
    assert parts.correlation == pytest.approx(0, abs=1e-9)
    assert parts.error_of_mean == pytest.approx(parts.mean_error / learners, rel=1e-9)


@given(st.integers(1, 6))
def test_item_11_the_probability_to_be_drawn_decreases_to_one_minus_one_over_e(m):
    bags = list(product(range(m), repeat=m))
    assert probability_drawn(m) == pytest.approx(np.mean([0 in bag for bag in bags]), rel=1e-12)
    assert probability_drawn(m + 1) < probability_drawn(m)
    assert probability_drawn(10**9) == pytest.approx(1 - np.exp(-1), rel=1e-6)


@given(st.integers(1, 7))
def test_item_11_the_number_of_different_bags_is_that_of_their_list(m):
    assert distinct_samples(m) == len(list(combinations_with_replacement(range(m), m)))
