"""Coverage: `covered`, and nominal coverage on plain, skewed, heteroscedastic and imbalanced data."""

import numpy as np
import pytest
from coverage_draws import COVERAGE, cases, measure

from bosquet.trust import covered


def in_bounds(method, found):
    # CV+ and out-of-bag intervals may cover more; split and CQR must not.
    upper = COVERAGE + 0.02 if method in ("split", "cqr") else 1.0
    return COVERAGE - 0.02 <= found.coverage <= upper


@pytest.mark.parametrize(
    ("data", "method"),
    [
        ("friedman", "split"),
        ("skewed", "split"),
        ("uneven", "cqr"),
        ("imbalanced", "split"),
        ("waveform", "split"),
        ("skewed", "oob"),
    ],
)
def test_coverage_over_12_samples_is_nominal(data, method):
    found = measure(data, method, rows=500, draws=12)
    assert in_bounds(method, found), found


@pytest.mark.slow
@pytest.mark.parametrize(("data", "method"), cases())
def test_coverage_over_50_samples_is_nominal(data, method):
    found = measure(data, method)
    assert in_bounds(method, found), found


@pytest.mark.slow
def test_cqr_intervals_are_shorter_for_heteroscedastic_noise():
    assert measure("uneven", "cqr").width < 0.97 * measure("uneven", "split").width


def test_intervals_include_their_bounds():
    np.testing.assert_array_equal(covered([0.0, 1.0, 1.1], [[0, 1]] * 3), [True, True, False])


def test_columns_of_sets_are_classes():
    sets = np.array([[True, False, False], [False, True, True]])
    np.testing.assert_array_equal(covered(["c", "c"], sets, classes=["a", "b", "c"]), [False, True])


@pytest.mark.parametrize(
    ("y", "regions", "message"),
    [
        ([1.0], [1.0, 2.0], "regions has shape"),
        ([1.0], [[1.0, 2.0, 3.0]], "bounds need 2 columns"),
        ([1.0, 2.0], [[1.0, 2.0]], "inconsistent numbers"),
        (["a"], [[True, False]], "2 columns of classes, but y has 1 class"),
    ],
)
def test_regions_of_the_wrong_shape_raise(y, regions, message):
    with pytest.raises(ValueError, match=message):
        covered(y, regions)
