"""Mixture: streams and batches agree; losses, classes, bandits, history, recommendations."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from bosquet import Mixture
from bosquet.experts import (
    CustomExpertLoss,
    ExponentialWeights,
    FixedShare,
    OnlineRidge,
    RangeWarning,
    oracle,
    play,
    simple_regret,
)
from bosquet.experts.rules import RULES


def some_forecasts(steps=120, n=4, seed=0):
    rng = np.random.default_rng(seed)
    y = 2 + np.sin(np.arange(steps) / 9)
    F = (
        y[:, None]
        + rng.normal(size=(steps, n)) * np.linspace(0.2, 1, n)
        + np.linspace(-0.3, 0.3, n)
    )
    return F, y


def play_as_stream(mixture, F, y, awake=None):
    for t in range(len(F)):
        mixture.predict(F[t], None if awake is None else awake[t])
        mixture.update(y[t])
    return mixture


def assert_same_game(one, other):
    assert (one.n_rows_, one.n_steps_) == (other.n_rows_, other.n_steps_)
    for name in ("final_weights_", "regret_", "bound_"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert one.loss_ == other.loss_
    assert one._core.state() == other._core.state()


@pytest.mark.parametrize("rule", [*RULES, ExponentialWeights("grid")])
@pytest.mark.parametrize("asleep", [False, True])
def test_a_stream_gives_the_same_bits_as_a_batch(rule, asleep):
    if asleep and rule == "ridge":
        pytest.skip("ridge regression needs every expert")
    F, y = some_forecasts()
    awake = None
    if asleep:
        awake = np.random.default_rng(1).random(F.shape) < 0.8
        awake[:, 0] |= ~awake.any(axis=1)
    batch = Mixture(rule, random_state=5).fit(F, y, awake=awake)
    stream = play_as_stream(Mixture(rule, random_state=5, history=True), F, y, awake)
    pieces = Mixture(rule, random_state=5, history=True)
    for part in (slice(0, 1), slice(1, 50), slice(50, None)):
        pieces.partial_fit(F[part], y[part], None if awake is None else awake[part])
    for other in (stream, pieces):
        assert_same_game(batch, other)
        for name in ("weight_history_", "predictions_", "losses_", "expert_losses_", "bounds_"):
            left, right = getattr(batch, name), getattr(other, name)
            assert np.array_equal(left, right, equal_nan=True), name


@pytest.mark.parametrize("loss", ["square", "absolute", "percentage", "pinball", "log", "zero-one"])
@pytest.mark.parametrize("randomised", [False, True])
def test_every_loss_gives_the_same_on_a_stream_and_a_batch(loss, randomised):
    F, y = some_forecasts()
    if loss in ("log", "zero-one"):
        y = (y > 2).astype(float)
        F = 1 / (1 + np.exp(-3 * (F - 2)))
    if loss == "zero-one":
        F = (F > 0.5).astype(float)
    options = {"randomised": randomised, "random_state": 2, "quantile": 0.3}
    batch = Mixture("boa", loss, **options).fit(F, y)
    assert_same_game(batch, play_as_stream(Mixture("boa", loss, **options), F, y))
    if not randomised and loss != "zero-one":
        assert np.allclose(batch.predictions_, (batch.weight_history_ * F).sum(axis=1))
    if randomised:
        assert np.array_equal(batch.predictions_, F[np.arange(len(F)), batch.chosen_])
        assert batch.expected_loss_ == pytest.approx(
            (batch.weight_history_ * batch.expert_losses_).sum(), rel=1e-12
        )


def test_the_zero_one_loss_is_a_weighted_vote():
    F = np.array([[3.0, 7.0, 7.0], [3.0, 7.0, 7.0], [3.0, 7.0, 5.0]])
    mixture = Mixture(ExponentialWeights(5.0), "zero-one").fit(F, [3, 3, 3])
    assert mixture.predictions_.tolist() == [7, 3, 3]
    assert mixture.loss_ == 1
    # The rule receives the expected loss of a draw, to which its bound refers.
    assert mixture.expected_loss_ == pytest.approx((mixture.weight_history_ * (F != 3)).sum())


# --------------------------------------------------------------------- blocks
@pytest.mark.parametrize("rule", ["boa", "ridge", "ml-poly", FixedShare()])
def test_within_a_block_the_weights_do_not_change(rule):
    F, y = some_forecasts(steps=50)
    batch = Mixture(rule, block=8).fit(F, y)
    weights = batch.weight_history_
    for begin in range(0, 50, 8):
        assert (weights[begin : begin + 8] == weights[begin]).all()
    assert (weights[16] != weights[15]).any()
    stream = Mixture(rule, block=8)
    for begin in range(0, 48, 8):
        predictions = stream.predict_step(F[begin : begin + 8])
        assert np.array_equal(predictions, batch.predictions_[begin : begin + 8])
        stream.update(y[begin : begin + 8])
    stream.partial_fit(F[48:], y[48:])
    assert_same_game(batch, stream)


def test_a_step_has_as_many_rows_as_a_block_and_the_last_step_has_the_rest():
    F, y = some_forecasts(steps=50)
    blocks = Mixture("boa", block=8).fit(F, y)
    assert (blocks.n_rows_, blocks.n_steps_) == (50, 7)
    rows = Mixture("boa").fit(F, y)
    assert (rows.n_rows_, rows.n_steps_) == (50, 50)


def test_a_block_updates_the_rule_with_the_sum_of_its_losses():
    losses = np.random.default_rng(0).random((30, 3))
    blocks = Mixture(ExponentialWeights(0.5), "linear", block=3).fit(losses)
    summed = play(losses.reshape(10, 3, 3).sum(axis=1), ExponentialWeights(0.5))
    np.testing.assert_allclose(blocks.weight_history_[::3], summed.weight_history_, rtol=1e-12)
    np.testing.assert_allclose(blocks.regret_, summed.regret_, atol=1e-12)


# -------------------------------------------------------------------- classes
def class_forecasts(steps=150, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c"])[rng.integers(3, size=steps)]
    truth = (labels[:, None] == np.array(["a", "b", "c"])).astype(float)
    F = np.stack([rng.dirichlet(np.ones(3), size=steps) for _ in range(4)], axis=1)
    F[:, 1] = 0.6 * truth + 0.4 * F[:, 1]
    return F, labels


@pytest.mark.parametrize("loss", ["log", "square", "absolute", "zero-one"])
@pytest.mark.parametrize("rule", ["boa", "ewa", "adahedge"])
def test_probabilities_of_classes_are_mixed(rule, loss):
    F, labels = class_forecasts()
    options = {"classes": ["a", "b", "c"]}
    mixture = Mixture(rule, loss, **options).fit(F, labels)
    assert mixture.predictions_.shape == (150, 3)
    np.testing.assert_allclose(mixture.predictions_.sum(axis=1), 1)
    np.testing.assert_allclose(
        mixture.predictions_, np.einsum("tj,tjc->tc", mixture.weight_history_, F), rtol=1e-12
    )
    assert mixture.final_weights_.argmax() == 1
    if loss == "zero-one":  # the predicted class does not depend linearly on the weights
        assert np.isnan(mixture.bound_).all()
    else:
        assert (mixture.regret_ <= mixture.bound_).all()
    assert_same_game(mixture, play_as_stream(Mixture(rule, loss, **options), F, labels))
    numbers = np.searchsorted(["a", "b", "c"], labels)
    if loss == "log":
        probability = mixture.predictions_[np.arange(150), numbers]
        np.testing.assert_allclose(mixture.losses_, -np.log(probability), rtol=1e-12)
    assert_same_game(mixture, Mixture(rule, loss, classes=3).fit(F, numbers))
    predictions = (F * mixture.final_weights_[:, None]).sum(axis=1).argmax(axis=1)
    assert mixture.score(F, labels) == (predictions == numbers).mean()


def test_ridge_on_probabilities_is_least_squares_on_the_indicator():
    F, labels = class_forecasts()
    mixture = Mixture(OnlineRidge(1.0), classes=["a", "b", "c"]).fit(F, labels)
    truth = (labels[:, None] == np.array(["a", "b", "c"])).astype(float)
    X, y = F.transpose(0, 2, 1).reshape(-1, 4), truth.ravel()
    exact = np.linalg.solve(np.eye(4) + X.T @ X, 0.25 + X.T @ y)
    np.testing.assert_allclose(mixture.final_weights_, exact, rtol=1e-9)


def test_nan_marks_a_sleeping_expert_with_classes_too():
    F, labels = class_forecasts()
    F[:50, 2, 1] = np.nan
    mixture = Mixture("boa", "log", classes=["a", "b", "c"]).fit(F, labels)
    assert (mixture.weight_history_[:50, 2] == 0).all()
    assert (mixture.weight_history_[50:, 2] > 0).all()
    # Two classes, given as the probability of the second, give the same weights.
    P = F[:, [0, 1, 3], 0]
    y = (labels == "a").astype(float)
    one = Mixture("boa", "log").fit(P, y)
    two = Mixture("boa", "log", classes=2).fit(np.stack([1 - P, P], axis=2), y)
    np.testing.assert_allclose(one.weight_history_, two.weight_history_, rtol=1e-9)


# -------------------------------------------------------------- custom losses
def huber(x, y):
    d = np.abs(x - y)
    return np.where(d < 1, d**2 / 2, d - 0.5)


def huber_slope(x, y):
    return np.clip(x - y, -1, 1)


class Square:
    def value(self, x, y):
        return (x - y) ** 2

    def gradient(self, x, y):
        return 2 * (x - y)


@pytest.mark.parametrize("block", [1, 4])
@pytest.mark.parametrize("gradient", [True, False])
def test_a_custom_loss_gives_the_same_as_the_named_loss(gradient, block):
    F, y = some_forecasts()
    F[::7, 2] = np.nan
    own = Mixture("boa", Square(), gradient=gradient, block=block).fit(F, y)
    core = Mixture("boa", "square", gradient=gradient, block=block).fit(F, y)
    np.testing.assert_allclose(own.weight_history_, core.weight_history_, rtol=1e-9)
    np.testing.assert_allclose(own.losses_, core.losses_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(own.expert_losses_, core.expert_losses_, rtol=1e-12)
    np.testing.assert_allclose(own.regret_, core.regret_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(own.bounds_, core.bounds_, rtol=1e-9)


def test_custom_losses_are_functions_pairs_or_objects():
    F, y = some_forecasts()
    pair = Mixture("ewa", (huber, huber_slope)).fit(F, y)
    assert pair.losses_[0] == pytest.approx(huber(pair.predictions_[0], y[0]))
    assert_same_game(
        pair, play_as_stream(Mixture("ewa", CustomExpertLoss(huber, huber_slope)), F, y)
    )
    drawn = Mixture("ewa", huber, randomised=True, random_state=0).fit(F, y)
    assert np.array_equal(drawn.losses_, huber(F, y[:, None])[np.arange(len(y)), drawn.chosen_])
    with pytest.raises(ValueError, match="gradient=True requires the gradient"):
        Mixture("ewa", huber).fit(F, y)
    with pytest.raises(ValueError, match="must return one number per forecast"):
        Mixture("ewa", lambda x, y: 0.0, gradient=False).fit(F, y)
    assert "Loss function: custom loss" in str(pair)


def test_a_custom_loss_works_with_classes():
    F, labels = class_forecasts()

    def brier(p, label):
        return ((p - (np.array(["a", "b", "c"]) == label)) ** 2).sum(axis=1)

    own = Mixture("boa", brier, gradient=False, classes=["a", "b", "c"]).fit(F, labels)
    core = Mixture("boa", "square", gradient=False, classes=["a", "b", "c"]).fit(F, labels)
    np.testing.assert_allclose(own.weight_history_, core.weight_history_, rtol=1e-9)


# ------------------------------------------------------------------- bandits
def test_a_bandit_rule_accepts_one_loss_per_step():
    losses = np.random.default_rng(0).random((300, 3))
    batch = play(losses, "exp3-ix", loss_range=1.0, random_state=4)
    stream = Mixture("exp3-ix", "linear", loss_range=1.0, random_state=4)
    for row in losses:
        stream.predict(np.zeros(3))
        stream.update(loss=row[stream.chosen])
    assert np.array_equal(stream.final_weights_, batch.final_weights_)
    assert stream.loss_ == batch.loss_
    assert np.isnan(stream.regret_).all()  # the losses of the other experts were not observed
    assert np.isfinite(stream.bound_).all()
    stream.predict(np.zeros(3))
    with pytest.raises(ValueError, match="non-negative"):
        stream.update(loss=-1.0)
    with pytest.raises(AttributeError, match="mixtures that draw an expert"):
        Mixture("ewa", "linear").fit(losses).chosen  # noqa: B018


def test_recommendations_have_a_small_simple_regret():
    means = np.array([0.5, 0.35, 0.6, 0.5])
    losses = (np.random.default_rng(0).random((4000, 4)) < means).astype(float)
    game = play(losses, "exp3-ix", loss_range=1.0, random_state=0)
    assert simple_regret(game.recommend("most played"), means) == 0
    assert simple_regret(game.recommend("leader"), means) == 0
    full = play(losses, "ewa", loss_range=1.0)
    average = full.recommend()
    np.testing.assert_allclose(average, full.weight_history_.mean(axis=0), rtol=1e-12)
    assert average.sum() == pytest.approx(1)
    # The excess of the mean weights is at most regret / n, up to the standard error of a mean.
    assert simple_regret(average, means) <= full.bound_.max() / 4000 + 0.03
    with pytest.raises(ValueError, match="how="):
        full.recommend("other")
    with pytest.raises(
        ValueError, match=r"pass one weight and one loss per expert, shape \(n_experts,\)"
    ):
        simple_regret([1.0], means)


# --------------------------------------------------------- history, memory, copies
def test_steps_are_recorded_according_to_history():
    F, y = some_forecasts()
    for history, in_fit, in_stream in (
        ("fit", True, False),
        (True, True, True),
        (False, False, False),
    ):
        assert hasattr(Mixture(history=history).fit(F, y), "weight_history_") == in_fit
        stream = play_as_stream(Mixture(history=history), F, y)
        assert hasattr(stream, "weight_history_") == in_stream
    with pytest.raises(AttributeError, match="weight_history_ was not recorded"):
        stream.weight_history_  # noqa: B018
    with pytest.raises(AttributeError, match="not fitted yet"):
        Mixture().final_weights_  # noqa: B018


def test_the_memory_of_a_stream_does_not_grow():
    F, y = some_forecasts(steps=20)
    mixture = Mixture("boa")
    play_as_stream(mixture, F, y)
    first = len(pickle.dumps(mixture))
    for _ in range(20):
        play_as_stream(mixture, F, y)
    assert mixture.n_rows_ == 420
    assert len(pickle.dumps(mixture)) < first + 200


@pytest.mark.parametrize("rule", [*RULES, ExponentialWeights("grid")])
def test_copies_with_an_open_step_continue_with_the_same_bits(rule):
    F, y = some_forecasts()
    whole = play_as_stream(Mixture(rule, random_state=1), F, y)
    half = play_as_stream(Mixture(rule, random_state=1), F[:60], y[:60])
    half.predict(F[60])
    for copied in (pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        copied.update(y[60])
        assert_same_game(whole, play_as_stream(copied, F[61:], y[61:]))


# ------------------------------------------------------------------ other behaviour
def test_predicting_a_table_opens_no_step():
    F, y = some_forecasts()
    mixture = Mixture("boa").fit(F, y)
    mixture.predict(F[0])
    many = mixture.predict(F)
    np.testing.assert_allclose(many, F @ mixture.final_weights_, rtol=1e-12)
    mixture.update(y[0])
    assert mixture.n_rows_ == len(F) + 1
    with pytest.raises(ValueError, match="predict first"):
        mixture.update(y[0])


@pytest.mark.parametrize("rows", [2, 3, 4])
def test_predicting_as_many_rows_as_a_block_has_changes_nothing(rows):
    F, y = some_forecasts()
    mixture = Mixture("boa", randomised=True, gradient=False, block=3, random_state=0).fit(F, y)
    state = mixture._core.state()
    mixture.predict(F[:rows])
    assert not mixture._core.is_open
    assert mixture._core.state() == state
    mixture.partial_fit(F, y)


def test_a_copy_is_independent_of_the_original():
    F, y = some_forecasts()
    mixture = Mixture("boa", history=True).fit(F, y)
    mixture.predict(F[0])
    core, history = mixture._core, mixture._recorded
    state, steps = core.state(), len(history.get("losses", "losses_"))
    mixture.update(y[0])
    mixture.partial_fit(F, y)
    assert core.state() == state
    assert core.is_open
    assert len(history.get("losses", "losses_")) == steps
    assert len(mixture.losses_) == 2 * len(F) + 1
    assert mixture.n_rows_ == 2 * len(F) + 1


def test_predicting_again_replaces_the_open_step():
    F, y = some_forecasts()
    once = Mixture("boa").fit(F, y)
    twice = Mixture("boa").fit(F, y)
    twice.predict(F[3])
    for mixture in (once, twice):
        mixture.predict(F[5])
        mixture.update(y[5])
    assert_same_game(once, twice)


def test_losses_that_exceed_loss_range_warn():
    losses = np.random.default_rng(0).random((50, 3))
    losses[30] = [20.0, 17.0, 18.0]
    for rule in ("ewa", "boa", "ml-poly", "squint", FixedShare(), "exp3-ix"):
        with pytest.warns(RangeWarning, match="exceeds loss_range=1"):
            game = play(losses, rule, loss_range=1.0, random_state=0)
        if rule != "exp3-ix":
            assert (game.regret_ <= game.bound_).all()  # the bound is for the observed range
        else:
            assert np.isnan(game.bound_).all()
    stream = Mixture("boa", "linear", loss_range=1.0)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for row in np.vstack([losses, losses]):
            stream.update(losses=row)
    assert [w.category for w in warned] == [RangeWarning]
    play(losses[:20], "boa", loss_range=1.0)  # no warning within the range


def test_experts_are_named_after_columns_and_print_shows_the_summary():
    F, y = some_forecasts(n=3)
    frame = pd.DataFrame(F, columns=["gam", "ar", "gbm"])
    mixture = Mixture("ml-poly").fit(frame, y)
    assert mixture.feature_names_in_.tolist() == ["gam", "ar", "gbm"]
    lines = str(mixture).splitlines()
    assert lines[0] == "Aggregation rule: ml-poly"
    assert lines[1:4] == ["Loss function: square loss", "Gradient trick: True", "Coefficients:"]
    assert lines[4].split() == ["gam", "ar", "gbm"]
    assert np.allclose([float(w) for w in lines[5].split()], mixture.final_weights_, atol=1e-3)
    assert lines[7:10] == [
        "Number of experts: 3",
        "Number of observations: 120",
        "Dimension of the data: 1",
    ]
    rmse = np.sqrt(((mixture.predictions_ - y) ** 2).mean())
    uniform = oracle(F, y, "uniform").rmse
    mape = np.abs((mixture.predictions_ - y) / y).mean()
    assert lines[11].split() == ["loss", "rmse", "mape"]
    assert lines[12].split() == ["ml-poly", f"{rmse**2:.3g}", f"{rmse:.3g}", f"{mape:.3g}"]
    assert lines[13].split()[:3] == ["uniform", f"{uniform**2:.3g}", f"{uniform:.3g}"]
    assert str(Mixture()) == "Mixture()"


def test_draws_depend_only_on_the_seed():
    F, y = some_forecasts()
    games = [Mixture("ewa", randomised=True, random_state=s).fit(F, y).chosen_ for s in (1, 1, 2)]
    assert np.array_equal(games[0], games[1])
    assert not np.array_equal(games[0], games[2])


def test_one_expert_has_all_the_weight():
    F, y = some_forecasts(n=1)
    for rule in RULES:
        mixture = Mixture(rule, random_state=0).fit(F, y)
        if rule != "ridge":
            assert (mixture.weight_history_ == 1).all()
            assert (np.nan_to_num(mixture.bound_) >= -1e-12).all()
