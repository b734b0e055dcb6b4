"""The regret is at most the bound of the rule, for random, extreme and adversarial losses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from bosquet import Mixture
from bosquet.experts import (
    FTRL,
    ExponentialWeights,
    FixedShare,
    OnlineGradientDescent,
    OnlineRidge,
    oracle,
    play,
    regret,
)
from bosquet.reference import experts as reference
from bosquet.reference import regret_bounds as papers

RULES = {
    "ewa": "ewa",
    "ewa fixed": ExponentialWeights(0.5),
    "ewa tuned": ExponentialWeights("tuned"),
    "adahedge": "adahedge",
    "squint": "squint",
    "fixed-share": FixedShare(0.05),
    "ml-poly": "ml-poly",
    "ml-prod": "ml-prod",
    "boa": "boa",
    "ogd": "ogd",
    "ogd fixed": OnlineGradientDescent(0.1),
    "ftrl": "ftrl",
    "ftrl entropy": FTRL("entropy"),
}
NEED_RANGE = ("ewa tuned",)

losses_in_01 = st.tuples(st.integers(2, 6), st.integers(1, 60)).flatmap(
    lambda shape: arrays(float, (shape[1], shape[0]), elements=st.floats(0, 1))
)
extreme = st.tuples(st.integers(2, 6), st.integers(1, 120)).flatmap(
    lambda shape: arrays(float, (shape[1], shape[0]), elements=st.sampled_from([0.0, 1.0]))
)


def bound_holds(game):
    """Allow for rounding of the losses, which dominates if the losses are nearly equal."""
    rounding = 1e-9 + 1e-12 * game._core.totals["expert_loss"].max()
    return (game.regret_ <= game.bound_ * (1 + 1e-9) + rounding).all()


@pytest.mark.parametrize("name", RULES)
@given(losses=st.one_of(losses_in_01, extreme))
@settings(max_examples=40, deadline=None)
def test_bounds_hold_with_a_known_range(name, losses):
    assert bound_holds(play(losses, RULES[name], loss_range=1.0))


@pytest.mark.parametrize("name", [name for name in RULES if name not in NEED_RANGE])
@given(
    losses=losses_in_01,
    growth=st.sampled_from([1.0, 1.3, 0.7, 3.0]),
    start=st.sampled_from([1e-8, 1.0, 1e6]),
)
@settings(max_examples=40, deadline=None)
def test_bounds_hold_when_the_range_has_to_be_learned(name, losses, growth, start):
    # Losses that grow from step to step are the hard case.
    scale = start * growth ** np.arange(len(losses))
    assert bound_holds(play(losses * scale[:, None], RULES[name]))


@pytest.mark.parametrize("name", [name for name in RULES if name not in NEED_RANGE])
@given(losses=losses_in_01, seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_bounds_hold_with_priors_and_for_experts_that_sleep(name, losses, seed):
    rng = np.random.default_rng(seed)
    awake = rng.random(losses.shape) < 0.6
    awake[:, 0] |= ~awake.any(axis=1)
    prior = rng.dirichlet(np.ones(losses.shape[1])) + 0.01
    game = play(losses, RULES[name], prior=prior, awake=awake)
    assert bound_holds(game)
    excess = np.where(awake, game.losses_[:, None] - losses, 0.0)
    np.testing.assert_allclose(game.regret_, excess.sum(axis=0), atol=1e-9)


def adversary(rule, n, steps, loss_range=None):
    """Play against an adversary: the half of the experts with the larger weights loses 1, the others 0."""
    game = Mixture(rule, "linear", loss_range=loss_range)
    losses = []
    p = np.full(n, 1 / n)
    for _ in range(steps):
        order = np.argsort(-p, kind="stable")
        step = np.zeros(n)
        step[order[: n // 2]] = 1.0
        losses.append(step)
        p = game.update(losses=step).final_weights_
    return game, np.array(losses)


@pytest.mark.parametrize("name", [n for n in RULES if n != "ewa tuned"])
@pytest.mark.parametrize("n", [2, 5, 20])
def test_bounds_hold_against_an_adversary_that_sees_the_weights(name, n):
    loss_range = 1.0 if name in NEED_RANGE else None
    game, _ = adversary(RULES[name], n, 500, loss_range)
    assert bound_holds(game)
    assert game.regret_.max() > 0  # the adversary causes regret


def test_follow_the_leader_has_no_bound_and_regret_that_grows_with_every_step():
    for steps in (100, 1000):
        losses = np.tile([[1.0, 0.0], [0.0, 1.0]], (steps // 2, 1))
        losses[0] = [0.5, 0.0]
        game = play(losses, "ftl")
        assert np.isnan(game.bound_).all()
        assert game.regret_.max() > 0.49 * steps


# ------------------------------------------------------ bounds stated in the papers
@pytest.mark.parametrize(("n", "steps"), [(2, 10), (7, 300)])
def test_exponential_weights_report_the_lectures_bound(n, steps):
    losses = np.random.default_rng(0).random((steps, n))
    for beta in (0.05, 3.0):
        game = play(losses, ExponentialWeights(beta), loss_range=1.0)
        expected = papers.exponential_weights(n, steps, 1.0, beta)
        np.testing.assert_allclose(game.bound_, expected, rtol=1e-12)
    for M in (1.0, 20.0):
        game = play(M * losses, ExponentialWeights("tuned"), loss_range=M)
        expected = papers.tuned_exponential_weights(n, steps, M)
        np.testing.assert_allclose(game.bound_, expected, rtol=1e-12)
        anytime = play(M * losses, "ewa", loss_range=M)
        assert (anytime.bound_ <= papers.anytime_exponential_weights(n, steps, M)).all()


@pytest.mark.parametrize("shifts", [0, 1, 4])
@given(losses=extreme, alpha=st.floats(0.001, 0.5), eta=st.floats(0.05, 3))
@settings(max_examples=40, deadline=None)
def test_fixed_share_follows_the_best_sequence(shifts, losses, alpha, eta):
    game = play(losses, FixedShare(alpha, learning_rate=eta), loss_range=1.0)
    shifts = min(shifts, len(losses) - 1)
    bound = game._core.bound_with_shifts(shifts)
    expected = papers.fixed_share(losses.shape[1], len(losses), 1.0, eta, alpha, shifts)
    assert bound == pytest.approx(expected, rel=1e-9)
    best = oracle(losses, None, "shifts", loss="linear", shifts=shifts)
    assert game.loss_ - best.losses.sum() <= bound + 1e-9


@pytest.mark.parametrize("shifts", [0, 1, 4])
@given(
    losses=st.one_of(losses_in_01, extreme),
    alpha=st.floats(0.001, 0.5),
    growth=st.sampled_from([1.0, 1.3, 0.7, 3.0]),
)
@settings(max_examples=60, deadline=None)
def test_fixed_share_follows_the_best_sequence_with_a_range_that_is_learned(
    shifts, losses, alpha, growth
):
    losses = losses * (growth ** np.arange(len(losses)))[:, None]
    game = play(losses, FixedShare(alpha))
    assert bound_holds(game)
    shifts = min(shifts, len(losses) - 1)
    best = oracle(losses, None, "shifts", loss="linear", shifts=shifts)
    bound = game._core.bound_with_shifts(shifts)
    rounding = 1e-9 + 1e-12 * np.abs(losses).sum()
    assert game.loss_ - best.losses.sum() <= bound * (1 + 1e-9) + rounding


def test_fixed_share_bounds_regret_that_is_small_relative_to_the_number_of_steps():
    losses = np.random.default_rng(0).random((20_000, 4)) + np.array([0.0, 0.2, 0.2, 0.2])
    game = play(losses, FixedShare(1e-4))
    assert bound_holds(game)
    assert game.bound_.max() < 0.05 * len(losses)


@pytest.mark.parametrize("rule", ["ml-poly", "ml-prod", "boa"])
@given(losses=st.one_of(losses_in_01, extreme))
@settings(max_examples=60, deadline=None)
def test_second_order_bounds_are_no_larger_than_the_papers(rule, losses):
    n, N = losses.shape
    game = play(losses, rule, loss_range=1.0)
    squares = ((game.losses_[:, None] - losses) ** 2).sum(axis=0)
    paper = papers.ml_poly if rule == "ml-poly" else papers.ml_prod
    for j in range(N):
        assert game.bound_[j] <= paper(N, n, 1.0, squares[j]) * (1 + 1e-9)


@given(losses=st.one_of(losses_in_01, extreme))
@settings(max_examples=60, deadline=None)
def test_adahedges_bound_is_no_larger_than_the_papers(losses):
    game = play(losses, "adahedge")
    p = game.weight_history_
    variance = (p * losses**2).sum(axis=1) - (p * losses).sum(axis=1) ** 2
    spread = (losses.max(axis=1) - losses.min(axis=1)).max()
    paper = papers.adahedge(losses.shape[1], max(variance.sum(), 0.0), spread)
    assert (game.bound_ <= paper + 1e-9).all()


@given(losses=losses_in_01)
@settings(max_examples=30, deadline=None)
def test_gradient_descent_reports_the_bound_of_its_rate(losses):
    game = play(losses, "ogd")
    norms = ((game.losses_[:, None] - losses) ** 2).sum()
    np.testing.assert_allclose(game.bound_, papers.gradient_descent(norms), rtol=1e-9, atol=1e-12)


# ------------------------------------------------------------------------- bandits
def bandit_losses(kind, steps, n):
    rng = np.random.default_rng(1)
    if kind == "one good":
        losses = rng.random((steps, n))
        losses[:, 1] *= 0.6
    elif kind == "changing":
        losses = np.ones((steps, n))
        losses[: steps // 2, 0] = 0.0
        losses[steps // 2 :, 1:] = 0.0
    else:
        losses = (np.arange(steps)[:, None] + np.arange(n)) % 2.0
    return losses


@pytest.mark.parametrize("kind", ["one good", "changing", "alternating"])
def test_exp3s_mean_regret_stays_below_its_bound(kind):
    losses = bandit_losses(kind, 2000, 4)
    games = [play(losses, "exp3", loss_range=1.0, random_state=seed) for seed in range(40)]
    mean = np.mean([game.regret_ for game in games], axis=0)
    error = np.std([game.regret_ for game in games], axis=0) / np.sqrt(len(games))
    assert (mean <= games[0].bound_ + 3 * error).all()
    assert games[0].bound_.max() <= papers.exp3(4, 2000, 1.0)


@pytest.mark.parametrize("kind", ["one good", "changing", "alternating"])
def test_exp3_ix_stays_below_its_bound_with_high_probability(kind):
    losses = 5 * bandit_losses(kind, 2000, 4)
    games = [play(losses, "exp3-ix", loss_range=5.0, random_state=seed) for seed in range(40)]
    assert np.mean([(g.regret_ <= g.bound_).all() for g in games]) >= 0.95
    assert games[0].bound_.max() <= papers.exp3_ix(4, 2000, 5.0, 0.95)
    late = np.mean([g.chosen_[-500:] == 1 for g in games])
    assert kind != "one good" or late > 0.5


# --------------------------------------------------- combinations of the experts
@pytest.mark.parametrize("name", [n for n in RULES if n not in NEED_RANGE])
@given(seed=st.integers(0, 2**32 - 1), loss=st.sampled_from(["square", "absolute", "pinball"]))
@settings(max_examples=10, deadline=None)
def test_linearised_losses_bound_the_regret_to_the_best_combination(name, seed, loss):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=80)
    F = y[:, None] + rng.normal(size=(80, 4)) + rng.normal(size=4)
    mixture = Mixture(RULES[name], loss, quantile=0.7).fit(F, y)
    found = regret(mixture, F, y, "convex")
    assert found.total <= found.bound + 1e-8
    assert found.oracle.loss <= oracle(F, y, "expert", loss=loss, quantile=0.7).loss + 1e-9
    raw = Mixture(RULES[name], loss, gradient=False).fit(F, y)
    assert np.isnan(regret(raw, F, y, "convex").bound)
    assert bound_holds(raw)


@given(seed=st.integers(0, 2**32 - 1), penalty=st.floats(0.01, 100))
@settings(max_examples=30, deadline=None)
def test_ridge_is_bounded_against_every_linear_combination(seed, penalty):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=50)
    F = y[:, None] * rng.normal(size=3) + rng.normal(size=(50, 3))
    mixture = Mixture(OnlineRidge(penalty)).fit(F, y)
    found = regret(mixture, F, y, "linear")
    assert found.total <= found.bound + 1e-8
    # The bound is an identity at the penalised minimum.
    stacked = np.vstack([np.sqrt(penalty) * np.eye(3), F])
    u = np.linalg.lstsq(stacked, np.append(np.sqrt(penalty) * np.ones(3) / 3, y), rcond=None)[0]
    lost = mixture.loss_ - ((y - F @ u) ** 2).sum()
    assert lost == pytest.approx(mixture._core.bound_to_combination(u), abs=1e-7)


def test_brute_force_over_sequences_agrees_with_the_best_sequence():
    losses = np.random.default_rng(2).random((7, 3))
    for shifts in (0, 1, 2, 3):
        found = oracle(losses, None, "shifts", loss="linear", shifts=shifts)
        assert found.losses.sum() == pytest.approx(reference.best_sequence(losses, shifts))
        assert (np.diff(found.sequence) != 0).sum() <= shifts
