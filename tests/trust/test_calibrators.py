"""Calibrators: comparison with reference implementations, and properties of the maps."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from sklearn.calibration import _SigmoidCalibration
from sklearn.isotonic import IsotonicRegression

from bosquet.reference import calibration as reference
from bosquet.trust import BetaCalibrator, IsotonicCalibrator, PlattCalibrator
from bosquet.trust.calibrators import CALIBRATORS

SOME_ROWS = st.integers(2, 40).flatmap(
    lambda n: st.tuples(
        arrays(float, n, elements=st.integers(-6, 6).map(lambda v: v / 2)),
        arrays(float, n, elements=st.integers(0, 1).map(float)),
        arrays(float, n, elements=st.floats(0.1, 5)),
    )
)


def noisy_scores(random, n=300):
    score = random.normal(size=n) * 2
    return score, (random.random(n) < 1 / (1 + np.exp(-0.6 * score - 0.4))).astype(float)


@settings(max_examples=40, deadline=None)
@given(SOME_ROWS)
def test_isotonic_is_pooling_of_adjacent_violators(rows):
    score, outcome, weight = rows
    mine = IsotonicCalibrator().fit(score, outcome, weight)
    distinct = np.unique(score)
    total = [weight[score == z].sum() for z in distinct]
    mean = [np.average(outcome[score == z], weights=weight[score == z]) for z in distinct]
    np.testing.assert_allclose(
        mine(distinct), reference.pool_adjacent_violators(mean, total), atol=1e-12
    )


def test_isotonic_is_linear_between_blocks_as_in_scikit_learn(random):
    score, outcome = noisy_scores(random)
    theirs = IsotonicRegression(out_of_bounds="clip").fit(score, outcome)
    at = np.linspace(-8, 8, 401)
    mine = IsotonicCalibrator().fit(score, outcome, np.ones(300))
    np.testing.assert_allclose(mine(at), theirs.predict(at), atol=1e-12)


def test_platt_agrees_with_the_sigmoid_of_scikit_learn(random):
    score, outcome = noisy_scores(random)
    weight = random.random(300) + 0.5
    theirs = _SigmoidCalibration().fit(score, outcome, weight)
    mine = PlattCalibrator().fit(score, outcome, weight)
    np.testing.assert_allclose(mine(score), theirs.predict(score), atol=2e-4)


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_coefficients_maximize_the_likelihood(random, method):
    score, outcome = noisy_scores(random, 80)
    weight = random.random(80) + 0.5
    make = getattr(reference, method)
    mine = CALIBRATORS[method]().fit(score, outcome, weight)
    found = [*mine.coefficients_, mine.intercept_]

    def loss(at):
        return reference.negative_log_likelihood(make(*at), score, outcome, weight)

    best = minimize(loss, np.ones(len(found)) / 2, method="BFGS")
    assert loss(found) <= best.fun + 1e-9
    np.testing.assert_allclose(mine(score), [make(*found)(z) for z in score], rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(SOME_ROWS, st.sampled_from(sorted(CALIBRATORS)))
@example((np.full(2, 0.5), np.zeros(2), np.ones(2)), "platt")
def test_every_map_is_non_decreasing_and_returns_probabilities(rows, method):
    score, outcome, weight = rows
    # Platt's sigmoid decreases if scores and outcomes are negatively correlated, so reverse such scores.
    if np.cov(score, outcome, aweights=weight)[0, 1] < 0:
        score = -score
    mapped = CALIBRATORS[method]().fit(score, outcome, weight)(np.linspace(-4, 4, 33))
    assert ((mapped >= 0) & (mapped <= 1)).all()
    assert (np.diff(mapped) >= -1e-9).all()


def test_beta_does_not_change_calibrated_scores(random):
    score = random.normal(size=20_000) * 1.5
    probability = 1 / (1 + np.exp(-score))
    outcome = (random.random(score.size) < probability).astype(float)
    beta = BetaCalibrator().fit(score, outcome, np.ones(score.size))
    assert np.abs(beta(score) - probability).max() < 0.03
    assert (beta.coefficients_ >= 0).all()


def test_scores_that_separate_the_classes_give_finite_coefficients():
    score, outcome = np.r_[np.full(20, -3.0), np.full(20, 3.0)], np.repeat([0.0, 1.0], 20)
    for method in ("platt", "beta"):
        mapped = CALIBRATORS[method]().fit(score, outcome, np.ones(40))(np.array([-3.0, 3.0]))
        np.testing.assert_allclose(mapped, [1 / 22, 21 / 22], atol=1e-6)


@pytest.mark.parametrize("method", sorted(CALIBRATORS))
def test_a_map_is_restored_from_its_state(random, method):
    score, outcome = noisy_scores(random)
    map_ = CALIBRATORS[method]().fit(score, outcome, np.ones(300))
    again = CALIBRATORS[method].from_state(map_.to_state())
    assert np.array_equal(again(score), map_(score))


@pytest.mark.parametrize(
    ("method", "state"),
    [
        ("isotonic", {"score": [0.0, 0.0], "probability": [0.1, 0.2]}),
        ("isotonic", {"score": [0.0, 1.0], "probability": [0.2, 0.1]}),
        ("isotonic", {"score": [0.0], "probability": [1.5]}),
        ("isotonic", {"score": [], "probability": []}),
        ("platt", {"coefficients": [1.0, 2.0], "intercept": 0.0}),
        ("beta", {"coefficients": [1.0, float("inf")], "intercept": 0.0}),
        ("beta", {"coefficients": [1.0, "2"], "intercept": 0.0}),
    ],
)
def test_an_invalid_state_raises(method, state):
    with pytest.raises(ValueError, match=r"isotonic map|Calibrator needs|state of a calibrator"):
        CALIBRATORS[method].from_state(state)
