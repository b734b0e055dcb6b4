"""Leaf values of the gradient step are the exact minimisers of the loss."""

from __future__ import annotations

import numpy as np
import pytest
from core_fit import Array, fit_core
from loss_cases import TWO_CLASSES, accepted, cases, parameters_of

from bosquet.reference.losses import Loss, Softmax, loss_named

# The root search of the core may leave an exact root, is slow where the loss is linear, and may pass a
# flat minimum on one side.


def single_leaf(
    name: str, parameter: float, y: Array, f: Array, w: Array | None = None
) -> tuple[float, Loss]:
    """Return the core's value of a leaf with all rows, and that of the reference implementation."""
    core = fit_core(
        np.zeros((len(y), 1)),
        y,
        name,
        parameters=parameters_of(name, parameter),
        start=f,
        weight=w,
        newton=False,
        max_leaf_nodes=1,
    )
    step = core.raw[0] - f
    np.testing.assert_allclose(step, step[0], rtol=1e-9, atol=1e-9)
    reference = loss_named(name, parameter)
    reference.start_round(y, f, np.ones_like(y) if w is None else w)
    return float(core.ensemble.predict_raw(np.zeros((1, 1)), 0, 1)[0, 0]), reference


@pytest.mark.parametrize(("name", "parameter"), cases(shares=[0.3, 0.7, 0.999]))
@pytest.mark.parametrize("seed", range(8))
def test_a_leaf_takes_the_minimiser_of_the_loss(name: str, parameter: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 40))
    y = rng.normal(loc=rng.choice([0, 3]), scale=rng.choice([0.1, 2]), size=rows)
    f = rng.normal(size=rows)
    y = accepted(name, y)
    if name in TWO_CLASSES:
        y[:2] = [0, 1][:rows]
    w = rng.choice([0.5, 1.0, 3.0], size=rows) if seed % 2 else None
    value, reference = single_leaf(name, parameter, y, f, w)
    weights = np.ones(rows) if w is None else w
    expected = reference.minimiser(y, f, weights)
    least = np.sum(weights * reference.value(y, f + expected))
    reached = np.sum(weights * reference.value(y, f + value))
    assert reached <= least + 1e-9 * max(1.0, abs(least))


@pytest.mark.parametrize("name", ["log_loss", "exponential"])
def test_a_leaf_of_one_class_has_a_large_finite_value(name: str) -> None:
    for label in (0.0, 1.0):
        value, reference = single_leaf(name, 0.0, np.full(3, label), np.zeros(3))
        assert (
            value
            == 32 * (2 * label - 1)
            == reference.minimiser(np.full(3, label), np.zeros(3), 1.0)
        )


def test_a_leaf_without_loss_is_not_moved_further() -> None:
    for label in (0.0, 1.0):
        value, _ = single_leaf("squared_hinge", 0.0, np.full(3, label), np.zeros(3))
        assert value == pytest.approx(2 * label - 1, abs=1e-9)


@pytest.mark.parametrize(("name", "y", "f", "expected"), [
    ("huber", [1.0, 3.0], [0.0, 0.0], 2.0),
    ("huber", [-5.0, 1.0], [0.0, 0.0], -2.0),
    ("log_loss", [0.0, 1.0], [-2.0, -2.0], 2.0),
    ("log_loss", [1.0, 0.0], [3.0, 3.0], -3.0),
])  # fmt: skip
def test_a_root_that_is_hit_exactly_is_kept(
    name: str, y: list[float], f: list[float], expected: float
) -> None:
    value, _ = single_leaf(name, 0.999, np.array(y), np.array(f))
    assert value == pytest.approx(expected, abs=1e-9)


def test_huber_finds_the_minimiser_of_a_leaf_of_far_outliers() -> None:
    rng = np.random.default_rng(0)
    x = np.r_[np.zeros(95), np.ones(5)][:, None]
    y = np.r_[rng.normal(size=95), 10_000 + np.arange(5.0)]
    core = fit_core(x, y, "huber", parameters=[0.9], newton=False, max_leaf_nodes=2)
    np.testing.assert_allclose(core.raw[0, -5:], 10_002.0, atol=3)


def test_softmax_leaves_minimise_the_loss_over_their_own_class() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, size=50).astype(np.float64)
    f = rng.normal(size=(3, 50))
    core = fit_core(
        np.zeros((50, 1)), y, "log_loss", outputs=3, start=f, newton=False, max_leaf_nodes=1
    )
    reference = Softmax(3)
    for k in range(3):  # one class after the other, each with the previous steps
        f[k] += reference.minimiser(y, f, np.ones(50), k)
    np.testing.assert_allclose(core.raw, f, atol=1e-8)


def test_leaf_values_obey_the_largest_step_and_the_learning_rate() -> None:
    y = np.array([10.0, 12.0, 11.0])
    x = np.zeros((3, 1))
    options = {"newton": False, "max_leaf_nodes": 1}
    for name in ("squared_error", "absolute_error"):
        assert fit_core(x, y, name, learning_rate=0.1, **options).raw[0, 0] == 1.1
        capped = fit_core(x, y, name, learning_rate=0.1, max_delta_step=2.0, **options)
        assert capped.raw[0, 0] == pytest.approx(0.2)


def test_gradient_sampling_does_not_bias_the_minimiser() -> None:
    """Most rows are fitted and have small gradients; the minimiser must include them."""
    y = np.r_[np.zeros(1800), np.ones(200)]
    start = np.full(2000, -2.2)
    core = fit_core(
        np.zeros((2000, 1)),
        y,
        "log_loss",
        start=start,
        newton=False,
        max_leaf_nodes=1,
        subsample=0.2,
        gradient_sampling=True,
    )
    assert core.raw[0, 0] == pytest.approx(np.log(0.1 / 0.9), abs=0.15)
