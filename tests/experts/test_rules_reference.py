"""Every rule gives the weights of its reference implementation."""

import numpy as np
import pytest

from bosquet import Mixture
from bosquet.experts import (
    FTRL,
    ExponentialWeights,
    FixedShare,
    OnlineGradientDescent,
    OnlineRidge,
    play,
)
from bosquet.reference import experts as reference

N, STEPS = 5, 60


def some_losses(seed=0, steps=STEPS, n=N):
    """Return losses in [0, 1] for which the best expert changes."""
    rng = np.random.default_rng(seed)
    losses = rng.beta(1, 2, size=(steps, n)) * rng.uniform(0.3, 1, size=n)
    losses[steps // 2 :, 0] = rng.random(steps - steps // 2)
    return losses


# rule of the library, its reference implementation, whether the range is known
PAIRS = {
    "ewa": (ExponentialWeights(0.7), lambda: reference.exponential_weights(N, lambda t: 0.7), True),
    "ewa anytime": (
        "ewa",
        lambda: reference.exponential_weights(N, lambda t: 2 * np.sqrt(np.log(N) / t)),
        True,
    ),
    "ewa tuned": (
        ExponentialWeights("tuned"),
        lambda: reference.exponential_weights(N, lambda t: np.sqrt(8 * np.log(N) / STEPS)),
        True,
    ),
    "ewa grid": (
        ExponentialWeights([0.1, 0.5, 2.0, 8.0]),
        lambda: reference.rate_on_grid(N, np.array([0.1, 0.5, 2.0, 8.0])),
        True,
    ),
    "adahedge": ("adahedge", lambda: reference.adahedge(N), False),
    "fixed-share": (
        FixedShare(0.05, learning_rate=0.9),
        lambda: reference.fixed_share(N, 0.9, 0.05),
        False,
    ),
    "ftl": ("ftl", lambda: reference.follow_the_leader(N), False),
    "ml-poly": ("ml-poly", lambda: reference.ml_poly(N), False),
    "ml-poly, range known": ("ml-poly", lambda: reference.ml_poly(N, 1.0), True),
    "ml-prod": ("ml-prod", lambda: reference.ml_prod(N, 1.0), True),
    "ml-prod, range learned": ("ml-prod", lambda: reference.ml_prod(N), False),
    "boa": ("boa", lambda: reference.boa(N, 1.0), True),
    "boa, range learned": ("boa", lambda: reference.boa(N), False),
    "squint": ("squint", lambda: reference.squint(N, 1.0), True),
    "ogd": ("ogd", lambda: reference.gradient_descent(N), False),
    "ftrl": ("ftrl", lambda: reference.regularised_leader(N, 1.0, False), True),
    "ftrl entropy": (FTRL("entropy"), lambda: reference.regularised_leader(N, 1.0, True), True),
}


@pytest.mark.parametrize("name", PAIRS)
def test_weights_are_those_of_the_reference(name):
    rule, make, range_known = PAIRS[name]
    losses = some_losses()
    game = play(losses, rule, loss_range=1.0 if range_known else None)
    expected = reference.play(make(), losses)
    np.testing.assert_allclose(game.weight_history_, expected[:-1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(game.final_weights_, expected[-1], rtol=1e-9, atol=1e-12)
    own = (expected[:-1] * losses).sum(axis=1)
    np.testing.assert_allclose(game.losses_, own, rtol=1e-9)
    np.testing.assert_allclose(game.regret_, own.sum() - losses.sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("name", [n for n in PAIRS if n not in ("ewa grid", "ftl", "adahedge")])
def test_sleeping_experts_have_no_weight_and_the_loss_of_the_mixture(name):
    rule, make, range_known = PAIRS[name]
    losses = some_losses(1)
    awake = np.random.default_rng(2).random(losses.shape) < 0.7
    awake[:, 3] |= ~awake.any(axis=1)
    game = play(losses, rule, loss_range=1.0 if range_known else None, awake=awake)
    with_nan = play(np.where(awake, losses, np.nan), rule, loss_range=1.0 if range_known else None)
    assert np.array_equal(game.weight_history_, with_nan.weight_history_)
    assert (game.weight_history_[~awake] == 0).all()
    np.testing.assert_allclose(game.weight_history_.sum(axis=1), 1, atol=1e-12)
    if name not in ("ml-poly", "ml-poly, range known", "ogd", "ftrl"):  # their weights may be 0
        expected = reference.play(make(), losses, awake)
        np.testing.assert_allclose(game.weight_history_, expected[:-1], rtol=1e-8, atol=1e-12)


def square_slope(x, y):
    return 2 * (x - y)


SLOPES = {
    "square": square_slope,
    "absolute": lambda x, y: np.sign(x - y),
    "percentage": lambda x, y: np.sign(x - y) / abs(y),
    "pinball": lambda x, y: float(y < x) - 0.8,
}


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize("rule", ["ewa", "ml-poly", "boa"])
def test_the_gradient_trick_is_that_of_the_reference(rule, loss):
    rng = np.random.default_rng(3)
    y = 3 + rng.normal(size=STEPS)
    F = y[:, None] + rng.normal(size=(STEPS, N)) * [0.2, 0.5, 1, 1, 2]
    mixture = Mixture(ExponentialWeights(0.3) if rule == "ewa" else rule, loss, quantile=0.8).fit(
        F, y
    )
    make = {
        "ewa": lambda: reference.exponential_weights(N, lambda t: 0.3),
        "ml-poly": lambda: reference.ml_poly(N),
        "boa": lambda: reference.boa(N),
    }[rule]
    expected = reference.mix(make(), F, y, SLOPES[loss])
    np.testing.assert_allclose(mixture.weight_history_, expected[:-1], rtol=1e-8, atol=1e-11)
    predictions = (expected[:-1] * F).sum(axis=1)
    np.testing.assert_allclose(mixture.predictions_, predictions, rtol=1e-10)


def test_with_raw_losses_weights_are_those_of_the_lecture():
    # p ∝ exp(-β L), where L are the losses of the experts.
    rng = np.random.default_rng(4)
    y, beta = rng.normal(size=STEPS), 0.4
    F = y[:, None] + rng.normal(size=(STEPS, N))
    mixture = Mixture(ExponentialWeights(beta), gradient=False).fit(F, y)
    total = ((F - y[:, None]) ** 2).cumsum(axis=0)
    expected = np.exp(-beta * np.vstack([np.zeros(N), total]))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(mixture.weight_history_, expected[:-1], rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(mixture.final_weights_, expected[-1], rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("penalty", [0.1, 10.0])
def test_ridge_is_least_squares_on_the_past(penalty):
    rng = np.random.default_rng(5)
    y = rng.normal(size=STEPS)
    F = y[:, None] * rng.normal(size=N) + rng.normal(size=(STEPS, N))
    mixture = Mixture(OnlineRidge(penalty)).fit(F, y)
    expected = reference.ridge(F, y, penalty)
    np.testing.assert_allclose(mixture.weight_history_, expected[:-1], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(mixture.final_weights_, expected[-1], rtol=1e-9, atol=1e-10)


def test_ridges_penalty_is_in_the_unit_of_the_forecasts_unless_it_is_given():
    rng = np.random.default_rng(5)
    y = rng.normal(size=STEPS)
    F = y[:, None] * rng.normal(size=N) + rng.normal(size=(STEPS, N))
    expected = reference.ridge(F, y, 0.01 * (F[0] ** 2).mean())
    for unit in (1.0, 1e6):
        mixture = Mixture("ridge").fit(unit * F, unit * y)
        np.testing.assert_allclose(mixture.weight_history_, expected[:-1], rtol=1e-7, atol=1e-9)
    nothing = Mixture("ridge").fit(np.zeros((3, 2)), np.zeros(3))
    assert nothing.final_weights_.tolist() == [0.5, 0.5]


def test_ridge_keeps_its_digits_on_forecasts_that_are_large_and_alike():
    rng = np.random.default_rng(6)
    y = 1e6 + rng.normal(size=5000)
    F = y[:, None] + rng.normal(size=(5000, 4))
    mixture = Mixture(OnlineRidge(1e-3), history=False).fit(F, y)
    start = np.full(4, 0.25)
    stacked = np.vstack([np.sqrt(1e-3) * np.eye(4), F])
    target = np.concatenate([np.sqrt(1e-3) * start, y])
    exact = np.linalg.lstsq(stacked, target, rcond=None)[0]
    np.testing.assert_allclose(mixture.final_weights_, exact, rtol=1e-6)


@pytest.mark.parametrize("implicit", [False, True])
def test_bandits_draw_and_learn_as_the_reference(implicit):
    losses = some_losses(7, steps=200)
    rule = "exp3-ix" if implicit else "exp3"
    game = play(losses, rule, loss_range=1.0, random_state=3)
    # Random numbers are a function of (seed, step); any that reproduce the choices suffice.
    before = np.vstack([np.zeros(len(losses)), game.weight_history_.cumsum(axis=1).T]).T
    rows = np.arange(len(losses))
    chances = (before[rows, game.chosen_] + before[rows, game.chosen_ + 1]) / 2
    weights, choices = reference.exp3(losses, 1.0, chances, implicit)
    assert np.array_equal(choices, game.chosen_)
    np.testing.assert_allclose(game.weight_history_, weights, rtol=1e-9)
    assert np.array_equal(game.losses_, losses[rows, game.chosen_])


@pytest.mark.parametrize("rule", ["exp3", "ewa"])
def test_draws_follow_the_weights(rule):
    losses = np.zeros((20_000, 3))
    prior = [0.5, 0.3, 0.2]
    game = play(losses, rule, prior=prior, loss_range=1.0, randomised=True, random_state=0)
    share = np.bincount(game.chosen_, minlength=3) / len(losses)
    np.testing.assert_allclose(share, prior, atol=4 * np.sqrt(0.25 / len(losses)))


def test_prior_weights_are_where_a_rule_starts():
    prior = [0.6, 0.3, 0.1]
    for rule in (
        "ewa",
        "adahedge",
        "squint",
        FixedShare(),
        "ml-poly",
        "ml-prod",
        "boa",
        "ogd",
        "ftrl",
    ):
        game = play([[1.0, 1.0, 1.0], [0.0, 1.0, 0.5]], rule, prior=prior)
        np.testing.assert_allclose(game.weight_history_, [prior, prior], rtol=1e-12)
    learned = play([[0.0, 1.0, 0.5]], ExponentialWeights(2.0), prior=prior).final_weights_
    expected = np.array(prior) * np.exp(-2 * np.array([0.0, 1.0, 0.5]))
    np.testing.assert_allclose(learned, expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize(
    "rule", ["ewa", "adahedge", "squint", "ml-poly", "ml-prod", "boa", "ogd", "ftrl"]
)
def test_rules_that_learn_the_range_do_not_depend_on_the_unit(rule):
    losses = some_losses(8)
    game = play(losses, rule)
    for unit in (1e-6, 1e9):
        scaled = play(unit * losses, rule)
        np.testing.assert_allclose(
            scaled.weight_history_, game.weight_history_, rtol=1e-6, atol=1e-9
        )
        np.testing.assert_allclose(scaled.bound_, unit * game.bound_, rtol=1e-6)
    # AdaHedge and rules that use only differences are also invariant to a shift.
    shifted = play(losses + 1000, rule)
    np.testing.assert_allclose(shifted.weight_history_, game.weight_history_, rtol=1e-5, atol=1e-8)


def test_the_projection_is_the_nearest_point_of_the_simplex():
    for seed in range(20):
        start = np.random.default_rng(seed).normal(size=(1, 6))
        game = play(-start, OnlineGradientDescent(1.0))
        expected = reference.nearest_weights(np.full(6, 1 / 6) + start[0] - start.mean())
        np.testing.assert_allclose(game.final_weights_, expected, atol=1e-12)
