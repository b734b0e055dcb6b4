"""Reliability curve, Brier score decomposition and calibration error."""

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
def test_the_terms_add_up_to_the_brier_score(rows, n_bins, strategy):
    p, y, weight = rows
    parts = brier_decomposition(
        y, p, n_bins=n_bins, strategy=strategy, sample_weight=weight, classes=[0, 1]
    )
    assert total(parts) == pytest.approx(parts.score, abs=1e-12)
    assert parts.score == pytest.approx(np.average((p - y) ** 2, weights=weight))
    assert min(parts.reliability, parts.resolution, parts.within_variance) >= 0


def test_the_terms_match_the_reference(random):
    p = random.random(200)
    y = (random.random(200) < p).astype(int)
    weight = random.random(200) + 0.1
    mine = brier_decomposition(y, p, n_bins=7, strategy="uniform", sample_weight=weight)
    bins = np.minimum((p * 7).astype(int), 6)
    for name, value in brier_parts(p, y, bins, weight).items():
        assert getattr(mine, name) == pytest.approx(value, abs=1e-12)


def test_the_within_terms_are_zero_for_equal_scores_in_a_bin(random):
    p = random.choice([0.1, 0.4, 0.8], size=300)
    parts = brier_decomposition(random.random(300) < p, p)
    assert parts.within_variance == pytest.approx(0, abs=1e-15)
    assert parts.within_covariance == pytest.approx(0, abs=1e-15)


def test_the_terms_are_summed_over_classes(random):
    p = random.dirichlet([1, 1, 1], size=400)
    y = np.array(["a", "b", "c"])[[random.choice(3, p=row) for row in p]]
    parts = brier_decomposition(y, p)
    assert parts.score == pytest.approx(brier_score_loss(y, p, scale_by_half=False))
    assert total(parts) == pytest.approx(parts.score)


def test_uniform_bins_match_scikit_learn(random):
    p = random.random(500)
    y = (random.random(500) < p).astype(int)
    observed, score = calibration_curve(y, p, n_bins=8, strategy="uniform")
    curve = reliability_curve(y, p, n_bins=8, strategy="uniform")
    np.testing.assert_allclose(curve.observed, observed)
    np.testing.assert_allclose(curve.score, score)


def test_quantile_bins_hold_equal_numbers_and_keep_equal_scores_together(random):
    p = random.random(1000)
    assert (reliability_curve(random.random(1000) < p, p, n_bins=10).count == 100).all()
    few = random.choice([0.0, 0.5, 1.0], size=1000)
    curve = reliability_curve(random.random(1000) < few, few, n_bins=10)
    assert curve.count.size == 3
    np.testing.assert_allclose(curve.score, [0, 0.5, 1])


def test_integer_weights_are_equivalent_to_repeated_rows(random):
    p = random.random(60)
    y = (random.random(60) < p).astype(int)
    times = random.integers(1, 4, size=60)
    weighted = reliability_curve(y, p, n_bins=5, sample_weight=times.astype(float))
    repeated = reliability_curve(np.repeat(y, times), np.repeat(p, times), n_bins=5)
    np.testing.assert_allclose(weighted.observed, repeated.observed)
    np.testing.assert_allclose(weighted.edges, repeated.edges)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_wilson_intervals_cover_the_true_probability(share):
    count = np.arange(201)
    low, high = wilson_interval(count / 200, np.full(201, 200.0), 0.95)
    probability = binom.pmf(count, 200, share)
    assert 0.93 < probability[(low <= share) & (share <= high)].sum() < 0.98


def test_the_calibration_error_matches_the_reference(random):
    p = random.random(300)
    y = (random.random(300) < p**2).astype(int)
    bins = np.searchsorted(bin_edges(p, np.ones(300), 10, "quantile")[1:-1], p, side="left")
    error = calibration_error(y, p)
    assert error.value == pytest.approx(expected_calibration_error(p, y, bins), abs=1e-12)


def test_the_bias_of_the_calibration_error_is_subtracted(random):
    # The scores are calibrated by construction, so the true error is 0.
    errors = []
    for _ in range(40):
        p = random.random(400)
        errors.append(calibration_error(random.random(400) < p, p, n_bootstrap=100))
    biased = np.mean([error.value for error in errors])
    assert biased > 0.03
    assert np.mean([error.corrected for error in errors]) < 0.6 * biased
    assert np.mean([error.low < 0.01 for error in errors]) > 0.8


def test_the_interval_covers_the_true_calibration_error(random):
    covered = []
    for _ in range(40):
        p = random.random(600)
        error = calibration_error(random.random(600) < p**2, p, n_bootstrap=200)
        covered.append(error.low <= 1 / 6 <= error.high)  # the mean of p - p² over [0, 1]
    assert np.mean(covered) > 0.85


def test_of_selects_the_class_of_the_curve(random):
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
        (([0, 1, 2], [0.2, 0.3, 0.1]), "3 class.*probabilities has 2"),
    ],
)
def test_invalid_input_raises(arguments, message):
    for function in (reliability_curve, brier_decomposition, calibration_error):
        with pytest.raises(ValueError, match=message):
            function(*arguments)


def test_an_unknown_class_raises(random):
    p = random.dirichlet([1, 1, 1], size=9)
    with pytest.raises(ValueError, match="of='d' is not valid: of must be one of the classes 'a'"):
        reliability_curve(list("abcabcabc"), p, of="d")
