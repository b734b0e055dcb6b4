"""Closed forms: leaf weights, gains, boosting of a constant."""

from __future__ import annotations

import numpy as np
import pytest
from core_fit import Array, CoreFit, fit_core

from bosquet.reference.losses import sigmoid


def leaves_of(core: CoreFit, x: Array) -> list[tuple[float, Array]]:
    """Return the value and the rows of each leaf; on these data all leaves have different values."""
    values = core.tree_predictions(x, 0)
    return [(float(value), np.flatnonzero(values == value)) for value in np.unique(values)]


@pytest.mark.parametrize("l2", [0.0, 0.5, 10.0])
def test_a_single_leaf_of_squared_loss_is_the_regularised_mean_residual(l2: float) -> None:
    y = np.array([1.0, 4.0, -2.0, 7.5])
    f = np.array([0.5, 0.5, -1.0, 2.0])
    core = fit_core(np.zeros((4, 1)), y, start=f, l2_regularization=l2, max_leaf_nodes=1)
    np.testing.assert_allclose(core.raw[0] - f, np.sum(y - f) / (4 + l2), rtol=1e-15)


@pytest.mark.parametrize("l2", [0.0, 0.5, 10.0])
def test_a_single_leaf_of_logistic_loss_is_the_newton_step(l2: float) -> None:
    y = np.array([1.0, 0.0, 1.0, 1.0, 0.0])
    f = np.array([0.3, -1.0, 2.0, 0.0, 0.7])
    p = sigmoid(f)
    core = fit_core(
        np.zeros((5, 1)), y, "log_loss", start=f, l2_regularization=l2, max_leaf_nodes=1
    )
    expected = np.sum(y - p) / (np.sum(p * (1 - p)) + l2)
    np.testing.assert_allclose(core.raw[0] - f, expected, rtol=1e-6)


@pytest.mark.parametrize("l2", [0.0, 1.0])
@pytest.mark.parametrize("depth_wise", [False, True])
def test_every_leaf_of_squared_loss_has_its_closed_form(l2: float, depth_wise: bool) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(500, 3))
    y = x[:, 0] * x[:, 1] + rng.normal(size=500)
    options = {"l2_regularization": l2, "depth_wise": depth_wise, "min_samples_leaf": 8}
    core = fit_core(x, y, max_leaf_nodes=20, **options)
    leaves = leaves_of(core, x)
    assert len(leaves) == 20
    for value, rows in leaves:
        assert len(rows) >= 8
        assert value == pytest.approx(np.sum(y[rows]) / (len(rows) + l2), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("l2", [0.0, 1.0])
def test_every_leaf_of_logistic_loss_has_its_closed_form(l2: float) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 3))
    y = (x[:, 0] + x[:, 1] ** 2 + rng.logistic(size=500) > 0.5).astype(np.float64)
    f = rng.normal(size=500)
    p = sigmoid(f)
    core = fit_core(
        x, y, "log_loss", start=f, l2_regularization=l2, max_leaf_nodes=15, min_samples_leaf=8
    )
    leaves = leaves_of(core, x)
    assert len(leaves) == 15
    for value, rows in leaves:
        curvature = np.sum(p[rows] * (1 - p[rows])) + l2
        assert value == pytest.approx(np.sum(y[rows] - p[rows]) / curvature, rel=1e-6)


def test_weighted_leaves_have_weighted_sums() -> None:
    y = np.array([1.0, 5.0, 3.0])
    w = np.array([1.0, 2.0, 0.5])
    core = fit_core(np.zeros((3, 1)), y, weight=w, l2_regularization=2.0, max_leaf_nodes=1)
    np.testing.assert_allclose(core.raw[0], np.sum(w * y) / (np.sum(w) + 2.0), rtol=1e-15)


def best_gain(y: Array, order: Array, l2: float) -> tuple[float, Array]:
    """Evaluate the formula of the lecture for every split: return the best gain and its left side."""
    best, side = -np.inf, order < 0
    for cut in np.unique(order)[:-1]:
        left = order <= cut
        g, g_left = -np.sum(y), -np.sum(y[left])
        n, n_left = len(y), np.sum(left)
        scores = g_left**2 / (n_left + l2) + (g - g_left) ** 2 / (n - n_left + l2)
        gain = (scores - g**2 / (n + l2)) / 2
        if gain > best:
            best, side = gain, left
    return best, side


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_first_split_has_the_largest_gain_of_all(seed: int, l2: float) -> None:
    rng = np.random.default_rng(seed)
    x = rng.permutation(60).astype(np.float64)
    y = np.sin(x / 9) + 0.5 * rng.normal(size=60)
    gain, left = best_gain(y, x, l2)
    core = fit_core(x[:, None], y, l2_regularization=l2, max_leaf_nodes=2)
    values = core.raw[0]
    assert len(np.unique(values)) == 2
    assert np.all(values[left] == values[left][0])
    assert np.all(values[~left] == values[~left][0])
    # The gain is the decrease of the regularised objective.
    before = np.sum((y - np.sum(y) / (60 + l2)) ** 2) / 2 + l2 / 2 * (np.sum(y) / (60 + l2)) ** 2
    after = np.sum((y - values) ** 2) / 2 + l2 / 2 * np.sum(np.unique(values) ** 2)
    assert before - after == pytest.approx(gain, rel=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_a_split_is_made_only_if_its_gain_exceeds_min_split_gain(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.permutation(50).astype(np.float64)
    y = np.round(rng.normal(size=50), 3)
    gain, _ = best_gain(y, x, 1.0)
    for beta, leaves in ((gain * (1 - 1e-6), 2), (gain * (1 + 1e-6), 1)):
        core = fit_core(x[:, None], y, l2_regularization=1.0, min_split_gain=beta, max_leaf_nodes=2)
        assert len(np.unique(core.raw)) == leaves


def test_a_split_is_made_only_if_both_children_reach_min_child_weight() -> None:
    x = np.arange(10.0)[:, None]
    y = np.where(x[:, 0] < 3, 10.0, 0.0)
    w = np.full(10, 0.75)
    for least, left in ((2.25, 3), (2.2500001, 4)):
        core = fit_core(x, y, weight=w, min_child_weight=least, max_leaf_nodes=2)
        assert np.sum(core.raw[0] == core.raw[0, 0]) == left


def test_shrunken_steps_on_a_constant_add_up_as_a_geometric_series() -> None:
    y = np.full(7, 3.0)
    for rounds in (1, 2, 10):
        core = fit_core(np.zeros((7, 1)), y, rounds=rounds, learning_rate=0.25)
        np.testing.assert_allclose(core.raw[0], 3 * (1 - 0.75**rounds), rtol=1e-6)


def test_a_full_tree_fits_distinct_rows_in_one_step() -> None:
    rng = np.random.default_rng(2)
    x = rng.permutation(100).astype(np.float64)[:, None]
    y = rng.normal(size=100)
    core = fit_core(x, y, max_leaf_nodes=100)
    np.testing.assert_allclose(core.raw[0], y, rtol=1e-6)


def test_max_delta_step_bounds_what_a_round_changes() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2))
    y = 100 * x[:, 0]
    core = fit_core(x, y, rounds=3, max_delta_step=1.5, learning_rate=0.5)
    assert np.abs(core.raw).max() == pytest.approx(3 * 1.5 * 0.5)


def test_no_round_raises_the_training_loss_of_squared_error() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(300, 4))
    y = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=300)
    losses = [
        fit_core(x, y, rounds=rounds, learning_rate=0.3, max_leaf_nodes=8).fit.train_loss()
        for rounds in range(1, 12)
    ]
    assert np.all(np.diff(losses) < 0)
