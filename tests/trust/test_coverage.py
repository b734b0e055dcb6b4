"""Coverage is nominal over many samples of plain, skewed, heteroscedastic and imbalanced data."""

import pytest
from coverage_draws import COVERAGE, cases, measure


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
