"""The identity and the bound of exponential weights (item 42)."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bosquet.experts import ExponentialWeights, play


@st.composite
def losses(draw):
    steps, experts = draw(st.integers(1, 40)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind = draw(st.sampled_from(["uniform", "extreme", "alternating"]))
    drawn = rng.random((steps, experts))
    if kind == "extreme":
        drawn = drawn.round()
    if kind == "alternating":
        drawn = (np.add.outer(np.arange(steps), np.arange(experts)) % 2).astype(float)
    return drawn, draw(st.floats(0.1, 10))


@settings(max_examples=60, deadline=None)
@given(losses(), st.floats(0.01, 5))
def test_item_42_weights_are_exponentials_of_cumulative_losses(game, beta):
    drawn, M = game
    played = play(M * drawn, ExponentialWeights(beta), loss_range=M)
    before = np.vstack([np.zeros(drawn.shape[1]), np.cumsum(M * drawn, axis=0)[:-1]])
    weights = np.exp(-beta * (before - before.min(axis=1, keepdims=True)))
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(played.weight_history_, weights, rtol=1e-9, atol=1e-12)


@settings(max_examples=60, deadline=None)
@given(losses(), st.floats(0.01, 5))
def test_item_42_the_regret_of_exponential_weights_is_at_most_its_bound(game, beta):
    drawn, M = game
    n, N = drawn.shape
    for rate, bound in [
        (beta, np.log(N) / beta + M**2 * beta * n / 8),
        ("tuned", M * np.sqrt(n / 2 * np.log(N))),
    ]:
        played = play(M * drawn, ExponentialWeights(rate), loss_range=M)
        lost = M * (played.weight_history_ * drawn).sum()
        regret = lost - M * drawn.sum(axis=0).min()
        np.testing.assert_allclose(played.regret_.max(), regret, atol=1e-8 * M * n)
        assert regret <= bound + 1e-9
        assert regret - 1e-9 <= played.bound_.max() <= bound * (1 + 1e-9)
