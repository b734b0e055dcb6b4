"""A round of BrownBoost preserves the potential, ends correctly, and agrees with the reference."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.boosting.adaboost._brownian import (
    PotentialCurve,
    potential,
    row_weights,
    take_step,
    time_for,
)
from bosquet.reference import brownboost as reference


def random_round(seed, rows, c, real_valued):
    """Return margins, remaining time, predictions and weights of some rows, with a positive edge."""
    random = np.random.default_rng(seed)
    margins = random.normal(scale=math.sqrt(c), size=rows)
    time_left = c * random.uniform(0.05, 1)
    worth = random.uniform(-1, 1, size=rows) if real_valued else random.choice([-1.0, 1.0], rows)
    share = random.uniform(0.5, 2, size=rows)
    share /= share.sum()
    if row_weights(margins, time_left, c, share) @ worth < 0:
        worth = -worth
    return margins, time_left, worth, share


rounds = st.builds(
    lambda seed, rows, c, real: (*random_round(seed, rows, c, real), c),
    st.integers(0, 10_000),
    st.integers(2, 60),
    st.floats(0.05, 20),
    st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(rounds, st.sampled_from([0.0, 0.01]))
def test_the_potential_is_conserved(given_round, least_edge):
    margins, time_left, worth, share, c = given_round
    before = potential(margins, time_left, c, share)
    step = take_step(PotentialCurve(worth, margins, time_left, c, share), least_edge)
    after = potential(margins + step.alpha * worth, time_left - step.time, c, share)
    assert after == pytest.approx(before, rel=1e-10)
    assert step.alpha >= 0
    assert 0 <= step.time <= time_left


@settings(max_examples=80, deadline=None)
@given(rounds)
def test_a_round_ends_without_edge_or_without_time(given_round):
    margins, time_left, worth, share, c = given_round
    step = take_step(PotentialCurve(worth, margins, time_left, c, share), 0.0)
    left = time_left - step.time
    edge = row_weights(margins + step.alpha * worth, left, c, share) @ worth
    assert edge == pytest.approx(step.edge_left, abs=1e-9)
    assert abs(edge) < 1e-9 or (left == 0 and edge > -1e-9)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("real_valued", [False, True])
def test_alpha_and_time_are_those_of_the_differential_equation(seed, real_valued):
    c = [0.3, 1.35, 6.0][seed % 3]
    margins, time_left, worth, _ = random_round(seed, 25, c, real_valued)
    share = np.full(25, 1 / 25)
    if row_weights(margins, time_left, c, share) @ worth < 0:
        worth = -worth
    step = take_step(PotentialCurve(worth, margins, time_left, c, share), 0.0)
    alpha, t = reference.solve_round(worth, margins, time_left, c, 0.0, math.sqrt(c) / 200)
    assert step.alpha == pytest.approx(alpha, rel=1e-6)
    assert step.time == pytest.approx(t, rel=1e-6)


def test_a_hypothesis_that_is_always_right_uses_up_the_time():
    share = np.full(5, 0.2)
    step = take_step(PotentialCurve(np.ones(5), np.zeros(5), 2.0, 2.0, share), 0.0)
    assert step.time == 2.0
    assert step.alpha == pytest.approx(2.0)


def test_with_much_time_the_first_round_is_that_of_adaboost():
    # For s near c the weight of a row is exp(-2 r), up to a factor: margins count twice.
    worth = np.array([1.0] * 7 + [-1.0] * 3)
    share, c = np.full(10, 0.1), 400.0
    step = take_step(PotentialCurve(worth, np.zeros(10), c, c, share), 0.0)
    assert 2 * step.alpha == pytest.approx(0.5 * math.log(0.7 / 0.3), rel=5e-3)


@pytest.mark.parametrize("error", [0.5, 0.1, 1e-3, 1e-9])
def test_the_time_for_a_target_error_agrees_with_the_reference(error):
    assert time_for(error) == pytest.approx(reference.time_for(error), rel=1e-6)
    assert math.erfc(math.sqrt(time_for(error))) == pytest.approx(error, rel=1e-5)
