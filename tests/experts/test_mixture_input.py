"""Invalid input raises an error that names the step, expert or parameter, and changes nothing."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bosquet import Mixture
from bosquet.experts import (
    EXP3IX,
    FTRL,
    ExponentialWeights,
    FixedShare,
    OnlineRidge,
    oracle,
    play,
)
from bosquet.experts._base_mixture import open_step
from bosquet.experts.rules import RULES


@pytest.fixture
def stream():
    """A mixture after three steps, the fourth one open."""
    mixture = Mixture("boa")
    for f, y in (([1.0, 2.0, 3.0], 2.0), ([0.0, 1.0, 5.0], 1.0), ([2.0, 2.0, 1.0], 2.0)):
        mixture.predict(f)
        mixture.update(y)
    mixture.predict([1.0, 4.0, 2.0])
    return mixture


def unchanged_by(mixture, act, error, message):
    before, pending = mixture._core.state(), open_step(mixture._core)
    with pytest.raises(error, match=message):
        act()
    assert mixture._core.state() == before
    after = open_step(mixture._core)
    assert (after is None) == (pending is None)
    assert all(np.array_equal(a, b) for a, b in zip(pending or (), after or (), strict=True))


@pytest.mark.parametrize(
    ("truth", "message"),
    [(np.nan, "step 3: the truth nan is not finite"), (np.inf, "the truth inf is not finite")],
)
def test_a_missing_truth_leaves_the_step_open(stream, truth, message):
    unchanged_by(stream, lambda: stream.update(truth), ValueError, message)
    unchanged_by(stream, lambda: stream.update(None), ValueError, "requires the truth y")
    stream.update(2.0)
    assert stream.n_rows_ == 4


@pytest.mark.parametrize(
    ("forecasts", "message"),
    [
        ([1.0, np.inf, 2.0], "step 3: expert 1 predicts infinity"),
        ([1.0, 2.0, -np.inf], "step 3: expert 2 predicts infinity"),
        ([np.nan, np.nan, np.nan], "step 3: every expert is asleep"),
        ([1.0, 2.0], "2 experts, but the mixture is expecting 3"),
        ([1.0, 2.0, 3.0, 4.0], "4 experts, but the mixture is expecting 3"),
        (["a", "b", "c"], "could not convert"),
    ],
)
def test_invalid_forecasts_leave_the_open_step_unchanged(stream, forecasts, message):
    unchanged_by(stream, lambda: stream.predict(forecasts), ValueError, message)


def test_losses_that_overflow_are_rejected(stream):
    stream.predict([1e100, 1.0, 1.0])
    unchanged_by(
        stream, lambda: stream.update(0.0), ValueError, "step 3: the loss of expert 0 is too"
    )


def test_masks_are_checked(stream):
    f = [1.0, 2.0, 3.0]
    unchanged_by(stream, lambda: stream.predict(f, [True, False]), ValueError, "awake has shape")
    for mask, message in (
        ([1, 0, 2], r"awake\[2\] is 2; pass True or False, or 1 or 0"),
        (["1", "0", "1"], "awake has type <U1; pass True or False"),
    ):
        unchanged_by(stream, lambda mask=mask: stream.predict(f, mask), ValueError, message)
    unchanged_by(stream, lambda: stream.predict(f, [0, 0, 0]), ValueError, "every expert is asleep")
    stream.predict([1.0, np.inf, 3.0], [1, 0, 1])  # the forecast of a sleeping expert is ignored


@pytest.mark.parametrize("at", [0, 5, 9])
@pytest.mark.parametrize("bad", ["truth", "expert", "asleep", "rows"])
def test_a_batch_with_a_bad_step_changes_nothing(at, bad):
    rng = np.random.default_rng(0)
    y = rng.normal(size=10)
    F = y[:, None] + rng.normal(size=(10, 3))
    mixture = Mixture("squint").fit(F, y)
    G, z = F.copy(), y.copy()
    if bad == "truth":
        z[at] = np.nan
    elif bad == "expert":
        G[at, 1] = np.inf
    elif bad == "asleep":
        G[at] = np.nan
    else:
        z = z[:-1]
    message = {
        "truth": rf"y contains NaN: y\[{at}\]",
        "expert": rf"step {10 + at}: expert 1 predicts infinity",
        "asleep": rf"step {10 + at}: every expert is asleep",
        "rows": "inconsistent numbers of samples",
    }[bad]
    unchanged_by(mixture, lambda: mixture.partial_fit(G, z), ValueError, message)
    unchanged_by(mixture, lambda: mixture.fit(G, z), ValueError, message.replace("1", "")[:8])
    weights = mixture.weight_history_
    assert weights.shape == (10, 3)


def test_a_custom_loss_that_raises_changes_nothing():
    def picky(x, y):
        if y == 3:
            raise RuntimeError("no threes")
        return (x - y) ** 2

    F, y = np.arange(12.0).reshape(6, 2), np.arange(6.0)
    mixture = Mixture("boa", picky, gradient=False)
    with pytest.raises(RuntimeError, match="no threes"):
        mixture.fit(F, y)
    assert not mixture.__sklearn_is_fitted__()
    mixture.fit(F[:3], y[:3])
    before = mixture._core.state()
    with pytest.raises(RuntimeError, match="no threes"):
        mixture.partial_fit(F, y)
    assert mixture._core.state() == before
    mixture.predict(F[0])
    with pytest.raises(RuntimeError, match="no threes"):
        mixture.update(3.0)
    mixture.update(1.0)
    assert mixture.n_rows_ == 4


def test_percentage_loss_rejects_a_truth_of_0():
    with pytest.raises(
        ValueError, match="step 1: the truth 0 is not allowed, because the percentage"
    ):
        Mixture("ewa", "percentage").fit([[1.0, 2.0], [1.0, 2.0]], [1.0, 0.0])
    with pytest.raises(ValueError, match=r"y\[1\] is 0"):
        oracle([[1.0, 2.0], [1.0, 2.0]], [1.0, 0.0], "convex", loss="percentage")


def test_invalid_probabilities_are_rejected():
    F = np.array([[[0.2, 0.8], [0.5, 0.5]]])
    with pytest.raises(ValueError, match="expert 1 does not sum to 1"):
        Mixture("ewa", "log", classes=2).fit(F * [[[1], [0.9]]], [1])
    with pytest.raises(ValueError, match="expert 0 is not between 0 and 1"):
        Mixture("ewa", "log", classes=2).fit([[[1.2, -0.2], [0.5, 0.5]]], [1])
    with pytest.raises(ValueError, match="must have shape \\(n_rows, n_experts, 2\\)"):
        Mixture("ewa", "log", classes=2).fit([[0.5, 0.5]], [1])
    with pytest.raises(ValueError, match="the label 7 is not one of the classes"):
        Mixture("ewa", "log", classes=2).fit(F, [7])
    with pytest.raises(ValueError, match="is not a probability"):
        Mixture("ewa", "log").fit([[0.5, 1.5]], [1])
    with pytest.raises(ValueError, match="must be 0 or 1"):
        Mixture("ewa", "log").fit([[0.5, 0.5]], [0.5])
    # A forecast of probability 0 for the truth has a large but finite loss.
    game = Mixture("ewa", "log", gradient=False).fit([[0.0, 0.5]] * 3, [1, 1, 1])
    assert game.expert_losses_[0, 0] == pytest.approx(52 * np.log(2))


BAD_PARAMETERS = {
    "rule": ({"rule": "nonsense"}, "rule='nonsense' is not valid"),
    "loss": ({"loss": "nonsense"}, "loss='nonsense' is not valid"),
    "gradient": ({"gradient": "yes"}, "gradient='yes' is not valid"),
    "range": ({"loss_range": 0.0}, "loss_range=0.0 is not valid"),
    "quantile": ({"quantile": 1.0}, r"quantile=1.0 is not valid: .*\(0, 1\)"),
    "block": ({"block": 0}, "block=0 is not valid"),
    "large block": ({"block": 10**30}, r"block must be an integer in \[1, 4294967295\]"),
    "history": ({"history": "always"}, "history='always' is not valid"),
    "prior length": ({"prior": [1.0]}, "prior has shape"),
    "prior zero": ({"prior": [1.0, 0.0]}, r"prior\[1\] is 0"),
    "classes": ({"classes": 1}, "at least two distinct labels, an integer in"),
    "many classes": ({"classes": 10**12}, r"an integer in \[2, 65535\]"),
    "prior word": ({"prior": "equal"}, "prior='equal' is not valid: prior must be one number > 0"),
    "class labels": ({"classes": ["a", "a"]}, "distinct labels"),
    "ridge": (
        {"rule": "ridge", "loss": "absolute"},
        "rule='ridge' cannot be combined with loss='absolute'",
    ),
    "bandit": ({"rule": "exp3", "block": 2}, "block=2 cannot be combined with rule='exp3'"),
    "classes and loss": (
        {"loss": "pinball", "classes": 2},
        "loss='pinball' is not defined for classes",
    ),
    "rate": ({"rule": ExponentialWeights(-1)}, "learning_rate=-1 is not valid"),
    "rates": ({"rule": ExponentialWeights([1, 0])}, "learning_rate"),
    "word": ({"rule": ExponentialWeights("fast")}, "learning_rate='fast'"),
    "tuned": ({"rule": ExponentialWeights("tuned")}, "needs loss_range"),
    "share": ({"rule": FixedShare(1.0)}, "share=1.0 is not valid"),
    "no share": ({"rule": FixedShare(0)}, "share=0 has no default learning rate"),
    "penalty": ({"rule": OnlineRidge(0)}, "l2_regularization=0 is not valid"),
    "regulariser": ({"rule": FTRL("other")}, "regulariser='other' is not valid"),
    "confidence": ({"rule": EXP3IX(confidence=1)}, "confidence=1 is not valid"),
}


@pytest.mark.parametrize("name", BAD_PARAMETERS)
def test_parameters_out_of_range_are_named(name):
    given, message = BAD_PARAMETERS[name]
    F = np.full((1, 2, 2), 0.5) if "classes" in given else np.ones((1, 2))
    with pytest.raises(ValueError, match=message):
        Mixture(**given).fit(F, [1])


def test_a_tuned_rate_requires_the_number_of_steps():
    stream = Mixture(ExponentialWeights("tuned"), "linear", loss_range=1.0)
    with pytest.raises(ValueError, match="needs horizon"):
        stream.update(losses=[0.0, 1.0])
    Mixture(ExponentialWeights("tuned", horizon=9), "linear", loss_range=1.0).update(losses=[0, 1])


def test_update_requires_an_open_step():
    with pytest.raises(ValueError, match="call predict"):
        Mixture().update(1.0)
    with pytest.raises(ValueError, match="losses= requires"):
        Mixture().update(losses=[1.0])
    block = Mixture(block=2)
    block.predict_step([[1.0, 2.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match="inconsistent numbers"):
        block.update([1.0])
    with pytest.raises(ValueError, match="shape"):
        Mixture("ewa", "log", classes=2).predict([[0.5, 0.25, 0.25], [0.5, 0.25, 0.25]])


def test_errors_name_the_expected_shape_of_forecasts():
    with pytest.raises(ValueError, match=r"must be an array of shape \(n_experts,\).*not dict"):
        Mixture("boa").predict({"ar": 1.0, "gam": 2.0})
    with pytest.raises(ValueError, match=r"must have shape \(3, 2\), got \(2, 2\)"):
        Mixture("boa", block=3).fit(np.ones((4, 2)), np.ones(4)).predict_step(np.ones((2, 2)))
    with pytest.raises(ValueError, match="X has 3 experts, but the mixture is expecting 2"):
        Mixture("boa", block=3).fit(np.ones((4, 2)), np.ones(4)).predict_step(np.ones((3, 3)))
    with pytest.raises(NotFittedError, match=r"predict_step\(forecasts\)"):
        Mixture("boa", block=3).predict(np.ones((3, 2)))


def test_ridge_rejects_sleeping_experts():
    with pytest.raises(ValueError, match="step 1: an expert is asleep"):
        Mixture("ridge").fit([[1.0, 2.0], [1.0, np.nan]], [1.0, 2.0])


def test_bandits_reject_negative_losses():
    with pytest.raises(ValueError, match="step 0: the loss is negative"):
        play([[-1.0, -1.0]], "exp3", loss_range=1.0)


# ------------------------------------------------------------------------ extremes
@pytest.mark.parametrize("rule", [r for r in RULES if r != "ridge"])
def test_nothing_overflows_with_losses_of_a_billion(rule):
    rng = np.random.default_rng(0)
    losses = 1e9 * rng.random((3000, 4))
    losses[:, 1] -= 0.5e9 if not RULES[rule].bandit else 0
    game = play(losses, rule, random_state=0)
    assert np.isfinite(game.weight_history_).all()
    np.testing.assert_allclose(game.weight_history_.sum(axis=1), 1, atol=1e-9)
    assert np.isfinite(game.regret_).all()
    if not RULES[rule].bandit:
        assert game.final_weights_.argmax() == 1


@pytest.mark.slow
@pytest.mark.parametrize("rule", [r for r in RULES if r != "ridge"])
def test_nothing_overflows_in_a_million_steps(rule):
    rng = np.random.default_rng(0)
    losses = 1e9 * rng.random((1_000_000, 3))
    losses[:, 2] *= 0.9
    game = play(losses, rule, loss_range=1e9, random_state=0)
    assert np.isfinite(game.final_weights_).all()
    assert game.final_weights_.sum() == pytest.approx(1)
    if not RULES[rule].bandit and rule != "ftl":
        assert (game.regret_ <= game.bound_).all()


def test_the_weight_of_an_expert_recovers_after_many_bad_steps():
    losses = np.zeros((40_000, 2))
    losses[:20_000, 0] = 1.0
    losses[20_000:, 1] = 1.0
    game = play(losses, ExponentialWeights(1.0))
    assert game.weight_history_[20_000, 0] == 0  # e^-20000
    assert game.final_weights_ == pytest.approx([0.5, 0.5])


def test_partial_fit_raises_an_error_while_a_step_is_open():
    F, y = np.ones((4, 2)), np.zeros(4)
    stream = Mixture("boa")
    stream.predict(F[0])
    unchanged_by(stream, lambda: stream.partial_fit(F, y), ValueError, "a step is open")
    assert stream.update(y[0]).partial_fit(F, y).n_rows_ == 5


@pytest.mark.parametrize("change", [{"rule": "boa"}, {"loss": "absolute"}, {"quantile": 0.3}])
def test_parameters_must_not_change_between_steps(change, tmp_path):
    F, y = np.ones((4, 2)), np.zeros(4)
    mixture = Mixture("ewa").fit(F, y)
    before = str(mixture)
    mixture.set_params(**change)
    name = next(iter(change))
    with pytest.raises(ValueError, match=f"{name} was .* at the first step"):
        mixture.partial_fit(F, y)
    with pytest.raises(ValueError, match=f"{name} was"):
        mixture.save(tmp_path / "mixture")
    assert str(mixture) == before
    assert mixture.fit(F, y).partial_fit(F, y).n_rows_ == 8


@pytest.mark.parametrize("truth", [[1.0, 2.0], "a", np.array([1.0])], ids=repr)
def test_the_truth_of_a_step_is_one_number(truth):
    stream = Mixture("boa")
    stream.predict([1.0, 2.0])
    with pytest.raises(ValueError, match="one number"):
        stream.update(truth)
    assert stream.update(1.5).n_rows_ == 1


def test_linear_losses_need_no_truth_in_a_stream():
    stream = Mixture("adahedge", "linear")
    stream.predict([0.0, 1.0])
    assert stream.update().regret_.tolist() == [0.5, -0.5]


def test_a_vote_has_no_bound_and_a_random_draw_has():
    F, y = np.tile([[0.0, 1.0]], (20, 1)), np.tile([0.0, 1.0], 10)
    assert np.isnan(Mixture("ewa", "zero-one").fit(F, y).bound_).all()
    drawn = Mixture("ewa", "zero-one", randomised=True, random_state=0).fit(F, y)
    assert np.isfinite(drawn.bound_).all()


def test_the_summary_names_experts_that_were_never_awake():
    F = np.column_stack([np.ones(5), np.full(5, np.nan), np.zeros(5)])
    assert "Never awake: X2" in str(Mixture("boa").fit(F, np.ones(5)))


def test_a_mixture_that_draws_no_expert_raises_for_chosen_experts():
    model = Mixture("ewa").fit(np.ones((5, 2)), np.ones(5))
    with pytest.raises(AttributeError, match="recorded only if one expert is drawn"):
        _ = model.chosen_
