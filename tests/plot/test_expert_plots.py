"""Plots of mixtures of experts show the fitted values."""

import numpy as np
import pytest
from baseline_images import assert_looks_as_stored, plain_style

from bosquet import Mixture, plot

plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def plain():
    with plain_style():
        yield


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    y = 3 + rng.normal(size=60)
    F = y[:, None] + rng.normal(size=(60, 4))
    F[10:20, 3] = np.nan
    return Mixture("boa").fit(F, y), F, y


def test_plots_of_a_mixture_look_as_stored(fitted):
    mixture, F, _ = fitted
    figure, axes = plt.subplots(4, 1, figsize=(8, 11), layout="constrained")
    plot.expert_weights(mixture, ax=axes[0])
    plot.expert_losses(mixture, ax=axes[1])
    plot.expert_regret(mixture, ax=axes[2])
    plot.expert_contributions(mixture, F, ax=axes[3])
    assert_looks_as_stored(figure, "experts")


def test_weights_are_stacked_up_to_one(fitted):
    mixture, _, _ = fitted
    ax = plot.expert_weights(mixture)
    top = ax.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(1)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(labels) == ["X1", "X2", "X3", "X4"]
    few = plot.expert_weights(mixture, max_display=2)
    assert [t.get_text() for t in few.get_legend().get_texts()][-1] == "2 others"


def test_weights_of_ridge_are_lines(fitted):
    _, F, y = fitted
    rng = np.random.default_rng(1)
    F = np.column_stack([y, -y]) + rng.normal(size=(60, 2))
    ax = plot.expert_weights(Mixture("ridge").fit(F, y))
    assert len(ax.lines) == 2


def test_losses_and_regret_end_at_the_fitted_values(fitted):
    mixture, _, _ = fitted
    lines = {line.get_label(): line.get_ydata() for line in plot.expert_losses(mixture).lines}
    assert lines["mixture"][-1] == pytest.approx(mixture.loss_)
    for k in range(4):
        behind = lines["mixture"][-1] - lines[f"X{k + 1}"][-1]
        assert behind == pytest.approx(mixture.regret_[k])
    lines = {line.get_label(): line.get_ydata() for line in plot.expert_regret(mixture).lines}
    assert lines["regret to the leader"][-1] == pytest.approx(mixture.regret_.max())
    assert lines["bound of the rule"][-1] == pytest.approx(mixture.bound_[mixture.regret_.argmax()])
    assert (lines["bound of the rule"] >= lines["regret to the leader"]).all()


def test_a_rule_without_a_bound_shows_none(fitted):
    _, F, y = fitted
    ax = plot.expert_regret(Mixture("ftl").fit(F, y))
    assert "bound of the rule" not in [line.get_label() for line in ax.lines]


def test_contributions_add_up_to_the_prediction(fitted):
    mixture, F, _ = fitted
    figure, ax = plt.subplots()
    assert plot.expert_contributions(mixture, F, ax=ax) is ax
    parts = mixture.weight_history_ * np.nan_to_num(F)
    highest = max(c.get_paths()[0].vertices[:, 1].max() for c in ax.collections)
    assert highest == pytest.approx(np.maximum(parts, 0).sum(axis=1).max())
    assert np.array_equal(ax.lines[0].get_ydata(), mixture.predictions_)
    with pytest.raises(ValueError, match="was fitted to forecasts"):
        plot.expert_contributions(mixture, F[:5])
    figure.canvas.draw()


def test_a_stream_without_history_cannot_be_drawn():
    mixture = Mixture("boa")
    mixture.predict([1.0, 2.0])
    mixture.update(1.5)
    with pytest.raises(AttributeError, match="history=True"):
        plot.expert_weights(mixture)
