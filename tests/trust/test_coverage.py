"""Coverage is what was asked for, over many draws of plain, skewed, uneven and imbalanced data."""

import pytest
from coverage_draws import COVERAGE, cases, measure


def in_bounds(method, found):
    # CV+ and out-of-bag intervals may be wider; split and CQR are to be neither short nor long.
    most = COVERAGE + 0.02 if method in ("split", "cqr") else 1.0
    return COVERAGE - 0.02 <= found.coverage <= most


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
def test_coverage_of_some_draws_is_nominal(data, method):
    found = measure(data, method, rows=500, draws=12)
    assert in_bounds(method, found), found


@pytest.mark.slow
@pytest.mark.parametrize(("data", "method"), cases())
def test_coverage_of_fifty_draws_is_nominal(data, method):
    found = measure(data, method)
    assert in_bounds(method, found), found


@pytest.mark.slow
def test_quantiles_make_intervals_as_wide_as_the_noise_is():
    assert measure("uneven", "cqr").width < 0.97 * measure("uneven", "split").width
