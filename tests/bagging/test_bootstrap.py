"""Probability of being drawn, and number of distinct bootstrap samples."""

from itertools import combinations_with_replacement
from math import e

import numpy as np
import pytest

from bosquet.bagging import distinct_samples, probability_drawn


def test_the_probability_of_being_drawn_falls_to_one_minus_one_over_e():
    probabilities = [probability_drawn(m) for m in (1, 2, 3, 10, 1000, 10**6)]
    assert probabilities[:3] == pytest.approx([1, 3 / 4, 19 / 27])
    assert probabilities == sorted(probabilities, reverse=True)
    assert probabilities[-1] == pytest.approx(1 - 1 / e, abs=1e-6)


def test_this_fraction_of_the_rows_is_drawn():
    random = np.random.default_rng(0)
    shares = [np.unique(random.integers(50, size=50)).size / 50 for _ in range(4000)]
    assert np.mean(shares) == pytest.approx(probability_drawn(50), abs=0.003)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_distinct_samples_agree_with_an_enumeration(m):
    assert distinct_samples(m) == len(list(combinations_with_replacement(range(m), m)))


def test_distinct_samples_are_exact_for_many_rows():
    # C(2m + 1, m + 1) = C(2m - 1, m) 2 (2m + 1) / (m + 1), here in integers of 600 digits.
    assert distinct_samples(1001) * 1001 == distinct_samples(1000) * 2 * 2001


@pytest.mark.parametrize("m", [0, -1, 2.5, "ten", True])
def test_an_invalid_number_of_rows_raises(m):
    with pytest.raises(ValueError, match="m="):
        probability_drawn(m)
    with pytest.raises(ValueError, match="m="):
        distinct_samples(m)
