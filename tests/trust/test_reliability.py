"""Reliability curves, the Brier score's parts and the calibration error mean what they say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import binom
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from bosquet.reference.calibration import brier_parts, expected_calibration_error
from bosquet.trust import brier_decomposition, calibration_error, reliability_curve
from bosquet.trust.reliability import bin_edges, wilson_interval


def total(parts):
    return (
        parts.reliability
        - parts.resolution
        + parts.uncertainty
        + parts.within_variance
        - parts.within_covariance
    )


@given(
    st.integers(2, 40).flatmap(
        lambda n: st.tuples(
            arrays(float, n, elements=st.floats(0, 1)),
            arrays(int, n, elements=st.integers(0, 1)),
            arrays(float, n, elements=st.floats(0.1, 5)),
        )
    ),
    st.integers(1, 12),
    st.sampled_from(["quantile", "uniform"]),
)
def test_the_parts_of_the_brier_score_add_up(rows, n_bins, strategy):
    p, y, weight = rows
    parts = brier_decomposition(
        y, p, n_bins=n_bins, strategy=strategy, sample_weight=weight, classes=[0, 1]
    )
    assert total(parts) == pytest.approx(parts.score, abs=1e-12)
    assert parts.score == pytest.approx(np.average((p - y) ** 2, weights=weight))
    assert min(parts.reliability, parts.resolution, parts.within_variance) >= 0


def test_the_parts_are_those_of_the_reference(random):
    p = random.random(200)
    y = (random.random(200) < p).astype(int)
    weight = random.random(200) + 0.1
    mine = brier_decomposition(y, p, n_bins=7, strategy="uniform", sample_weight=weight)
    bins = np.minimum((p * 7).astype(int), 6)
    for name, value in brier_parts(p, y, bins, weight).items():
        assert getattr(mine, name) == pytest.approx(value, abs=1e-12)


def test_equal_scores_in_a_bin_leave_nothing_within_it(random):
    p = random.choice([0.1, 0.4, 0.8], size=300)
    parts = brier_decomposition(random.random(300) < p, p)
    assert parts.within_variance == pytest.approx(0, abs=1e-15)
    assert parts.within_covariance == pytest.approx(0, abs=1e-15)


def test_several_classes_are_summed(random):
    p = random.dirichlet([1, 1, 1], size=400)
    y = np.array(["a", "b", "c"])[[random.choice(3, p=row) for row in p]]
    parts = brier_decomposition(y, p)
    assert parts.score == pytest.approx(brier_score_loss(y, p, scale_by_half=False))
    assert total(parts) == pytest.approx(parts.score)


def test_bins_hold_what_scikit_learn_puts_in_them(random):
    p = random.random(500)
    y = (random.random(500) < p).astype(int)
    observed, score = calibration_curve(y, p, n_bins=8, strategy="uniform")
    curve = reliability_curve(y, p, n_bins=8, strategy="uniform")
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.score, score)


def test_quantile_bins_hold_equal_numbers_and_never_part_equal_scores(random):
    p = random.random(1000)
    assert (reliability_curve(random.random(1000) < p, p, n_bins=10).count == 100).all()
    few = random.choice([0.0, 0.5, 1.0], size=1000)
    curve = reliability_curve(random.random(1000) < few, few, n_bins=10)
    assert curve.count.size == 3
    np.testing.assert_allclose(curve.score, [0, 0.5, 1])


def test_a_weight_of_two_is_two_rows(random):
    p = random.random(60)
    y = (random.random(60) < p).astype(int)
    times = random.integers(1, 4, size=60)
    weighted = reliability_curve(y, p, n_bins=5, sample_weight=times.astype(float))
    repeated = reliability_curve(np.repeat(y, times), np.repeat(p, times), n_bins=5)
    np.testing.assert_allclose(weighted.observed, repeated.observed)
    np.testing.assert_allclose(weighted.edges, repeated.edges)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_the_interval_of_a_bin_covers_the_true_share(share):
    happened = np.arange(201)
    low, high = wilson_interval(happened / 200, np.full(201, 200.0), 0.95)
    chance = binom.pmf(happened, 200, share)
    assert 0.93 < chance[(low <= share) & (share <= high)].sum() < 0.98


def test_the_calibration_error_is_that_of_the_reference(random):
    p = random.random(300)
    y = (random.random(300) < p**2).astype(int)
    bins = np.searchsorted(bin_edges(p, np.ones(300), 10, "quantile")[1:-1], p, side="left")
    error = calibration_error(y, p)
    assert error.value == pytest.approx(expected_calibration_error(p, y, bins), abs=1e-12)


def test_the_bias_of_the_calibration_error_is_taken_off(random):
    # Calibrated by construction, so that all there is to see is chance.
    errors = []
    for _ in range(40):
        p = random.random(400)
        errors.append(calibration_error(random.random(400) < p, p, n_bootstrap=100))
    seen = np.mean([error.value for error in errors])
    assert seen > 0.03
    assert np.mean([error.corrected for error in errors]) < 0.6 * seen
    assert np.mean([error.low < 0.01 for error in errors]) > 0.8


def test_the_interval_covers_the_calibration_error_there_is(random):
    covered = []
    for _ in range(40):
        p = random.random(600)
        error = calibration_error(random.random(600) < p**2, p, n_bootstrap=200)
        covered.append(error.low <= 1 / 6 <= error.high)  # the mean of p - p² over [0, 1]
    assert np.mean(covered) > 0.85


def test_the_named_class_of_several_is_looked_at(random):
    p = random.dirichlet([1, 1, 1], size=500)
    y = np.array(["a", "b", "c"])[[random.choice(3, p=row) for row in p]]
    top = reliability_curve(y, p, n_bins=4)
    assert top.score.min() > 1 / 3
    of_b = reliability_curve(y, p, n_bins=4, of="b")
    assert of_b.count @ of_b.score == pytest.approx(p[:, 1].sum())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [0.2, 1.2]), r"probabilities\[1\] is 1.2"),
        (([0, 0], [0.2, 0.3]), "y holds 1 class"),
        (([0, 1, 1], [0.2, 0.3]), "inconsistent numbers of samples"),
        (([0, 1, 2], [0.2, 0.3, 0.1]), "3 class.*probabilities are of 2"),
    ],
)
def test_what_cannot_be_judged_is_named(arguments, message):
    for function in (reliability_curve, brier_decomposition, calibration_error):
        with pytest.raises(ValueError, match=message):
            function(*arguments)


def test_a_class_that_is_not_there_is_named(random):
    p = random.dirichlet([1, 1, 1], size=9)
    with pytest.raises(ValueError, match="of='d' is not one of the classes"):
        reliability_curve(list("abcabcabc"), p, of="d")
