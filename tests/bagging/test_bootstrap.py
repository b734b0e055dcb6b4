"""What is known of a bootstrap sample before it is drawn."""

from itertools import combinations_with_replacement
from math import e

import numpy as np
import pytest

from bosquet.bagging import distinct_samples, probability_drawn


def test_the_chance_of_being_drawn_falls_to_one_minus_one_over_e():
    chances = [probability_drawn(m) for m in (1, 2, 3, 10, 1000, 10**6)]
    assert chances[:3] == pytest.approx([1, 3 / 4, 19 / 27])
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] == pytest.approx(1 - 1 / e, abs=1e-6)


def test_that_share_of_the_rows_is_drawn():
    random = np.random.default_rng(0)
    shares = [np.unique(random.integers(50, size=50)).size / 50 for _ in range(4000)]
    assert np.mean(shares) == pytest.approx(probability_drawn(50), abs=0.003)


@pytest.mark.parametrize("m", [1, 2, 3, 4, 5, 6])
def test_distinct_samples_are_those_that_can_be_listed(m):
    assert distinct_samples(m) == len(list(combinations_with_replacement(range(m), m)))


def test_distinct_samples_are_exact_for_many_rows():
    # C(2m + 1, m + 1) = C(2m - 1, m) 2 (2m + 1) / (m + 1), here in integers of 600 digits.
    assert distinct_samples(1001) * 1001 == distinct_samples(1000) * 2 * 2001


@pytest.mark.parametrize("m", [0, -1, 2.5, "ten", True])
def test_a_number_of_rows_that_is_none_is_told(m):
    with pytest.raises(ValueError, match="m="):
        probability_drawn(m)
    with pytest.raises(ValueError, match="m="):
        distinct_samples(m)
