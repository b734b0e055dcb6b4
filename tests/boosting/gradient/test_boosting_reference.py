"""The boosting loop agrees with its reference: several rounds, all losses, both kinds of step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import Array, assert_same_tree, fit_core, learn_test_bins, probe_rows
from loss_cases import NEWTON_LOSSES, accepted, cases, core_loss, parameters_of
from numpy.typing import NDArray

from bosquet import _core
from bosquet.reference.binning import bin_table
from bosquet.reference.gradient_boosting import BoostOptions, boost, boost_all_outputs
from bosquet.reference.gradient_trees import TreeOptions
from bosquet.reference.losses import loss_named

CATEGORIES = [0, 0, 6]


def draw_sample(name: str, seed: int, rows: int = 220) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    x = np.column_stack(
        [rng.normal(size=rows), np.round(rng.normal(size=rows)), rng.integers(0, 6, size=rows)]
    )
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, 0]) + np.nan_to_num(x[:, 1]) * np.isnan(x[:, 0])
    y = y + np.sin(np.nan_to_num(x[:, 2], nan=9.0)) + 0.3 * rng.normal(size=rows)
    return x, accepted(name, y), rng.choice([0.5, 1.0, 4.0], size=rows)


def engine_pairs(name: str, parameter: float) -> Any:
    """Return the gradients of the core: the exponentials of the reference may differ in the last bit."""
    loss = core_loss(name, parameter)

    def pairs(y: Array, raw: Array, w: Array) -> NDArray[np.float32]:
        del w
        loss.start_round(y[None], raw[None], np.zeros(0))
        g, h = loss.gradient_hessian(y[None], raw[None])
        return np.stack([g[0], h[0]], axis=1)

    return pairs


def assert_references(
    name: str,
    parameter: float = 0.0,
    seed: int = 0,
    rounds: int = 4,
    weighted: bool = False,
    tree: dict[str, Any] | None = None,
    **options: Any,
) -> None:
    x, y, w = draw_sample(name, seed)
    tree = {"max_leaf_nodes": 8, "min_samples_leaf": 5, **(tree or {})}
    options = {"learning_rate": 0.3, "seed": seed, **options}
    weight = w if weighted else None
    table = bin_table(x, CATEGORIES, weight)
    trees, raw = boost(
        table,
        y,
        loss_named(name, parameter),
        rounds,
        BoostOptions(TreeOptions(**tree), **options),
        weight=weight,
        start=np.zeros_like(y),
        pairs_of=None if weighted else engine_pairs(name, parameter),
    )
    core = fit_core(
        x,
        y,
        name,
        rounds,
        parameters=parameters_of(name, parameter),
        weight=weight,
        categories=CATEGORIES,
        **{**tree, **options},
    )
    probes = probe_rows(x, np.random.default_rng(seed))
    for number, reference in enumerate(trees):
        assert_same_tree(core, number, reference, table, x, probes)
    np.testing.assert_allclose(core.raw[0], raw, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize(("name", "parameter"), cases(NEWTON_LOSSES, shares=[0.5]))
@pytest.mark.parametrize("depth_wise", [False, True])
def test_newton_steps_agree(name: str, parameter: float, depth_wise: bool) -> None:
    assert_references(name, parameter, tree={"depth_wise": depth_wise})


@pytest.mark.parametrize(("name", "parameter"), cases(shares=[0.8]))
def test_gradient_steps_agree(name: str, parameter: float) -> None:
    # Both find a minimiser to about ten digits, so the gradients of later rounds differ slightly:
    # two rounds are few enough for the trees to be the same.
    assert_references(name, parameter, rounds=2, newton=False)


@pytest.mark.parametrize("newton", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_weighted_fits_agree(seed: int, newton: bool) -> None:
    assert_references("squared_error", seed=seed, weighted=True, newton=newton)


def test_weighted_medians_agree() -> None:
    assert_references("absolute_error", weighted=True, newton=False)


@pytest.mark.parametrize("subsample", [0.7, 0.3, 1e-9])
@pytest.mark.parametrize("newton", [True, False])
def test_subsampled_fits_agree(subsample: float, newton: bool) -> None:
    tree = {"min_samples_leaf": 2}
    assert_references("squared_error", subsample=subsample, newton=newton, seed=3, tree=tree)


def test_subsampled_fits_with_drawn_features_agree() -> None:
    tree = {"features_by_tree": 0.7, "features_by_node": 0.7, "features_by_level": 0.7}
    assert_references("squared_error", subsample=0.5, seed=9, rounds=6, tree=tree)


@pytest.mark.parametrize("seed", range(3))
def test_regularised_fits_agree(seed: int) -> None:
    tree = {"l2_regularization": 2.0, "max_delta_step": 0.5, "min_child_weight": 1.0}
    assert_references("log_loss", seed=seed, tree=tree)
    assert_references("squared_error", seed=seed, tree={**tree, "monotone": [1, 0, 0]}, rounds=6)


def test_validation_losses_agree_after_every_round() -> None:
    x, y, _ = draw_sample("log_loss", 5)
    bins = learn_test_bins(x, CATEGORIES)
    train, rest = slice(0, 150), slice(150, None)
    loss = _core.Loss("log_loss", 1, 1, [])
    fit = _core.BoostingFit(
        _core.bin_table(x[train], bins, "auto", 1), bins, y[None, train], np.zeros(0), loss,
        {"max_leaf_nodes": 6, "min_samples_leaf": 5}, "auto", 1,
    )  # fmt: skip
    fit.set_validation(_core.bin_table(x[rest], bins, "auto", 1), y[None, rest], np.zeros(0))
    fit.start(np.zeros((1, 150)), np.zeros((1, len(y) - 150)))
    ensemble = _core.Ensemble(3, 1, [0.0], CATEGORIES)
    for number in range(1, 6):
        fit.round(ensemble)
        raw = ensemble.predict_raw(x[rest], 0, number)[:, 0]
        np.testing.assert_allclose(fit.raw(validation=True)[0], raw, rtol=1e-12, atol=1e-15)
        value = loss.value(y[None, rest], raw[None], np.zeros(0)) / len(raw)
        assert fit.validation_loss() == pytest.approx(value, rel=1e-12)


def test_a_category_not_seen_in_training_is_treated_as_missing() -> None:
    codes = np.tile([0.0, 1.0, np.nan], 20)[:, None]
    y = np.where(codes[:, 0] == 1, 5.0, 0.0)
    core = fit_core(codes, y, categories=[2], category_l2=0.0, max_leaf_nodes=2)
    missing, unseen = core.ensemble.predict_raw(np.array([[np.nan], [7.0]]), 0, 1)[:, 0]
    assert unseen == missing


@pytest.mark.parametrize("noise", [0.5, 3.0])
def test_split_noise_changes_the_trees_as_in_the_reference(noise: float) -> None:
    for seed in range(3):
        assert_references("squared_error", seed=seed, tree={"split_noise": noise})
        assert_references("log_loss", seed=seed, weighted=True, tree={"split_noise": noise})
    x, y, _ = draw_sample("squared_error", 0)
    options: dict[str, Any] = {"categories": CATEGORIES, "max_leaf_nodes": 8, "rounds": 4}
    without, noisy = (fit_core(x, y, split_noise=value, **options) for value in (0.0, noise))
    assert not np.array_equal(without.raw, noisy.raw)


@pytest.mark.parametrize("subsample", [1.0, 0.6])
@pytest.mark.parametrize("outputs", [3, 5])
def test_trees_for_all_classes_agree_with_the_reference(outputs: int, subsample: float) -> None:
    x, noise, _ = draw_sample("squared_error", seed=outputs)
    y = np.digitize(noise, np.quantile(noise, np.arange(1, outputs) / outputs)).astype(float)
    tree = {"max_leaf_nodes": 6, "min_samples_leaf": 4, "l2_regularization": 0.5}
    options = {"learning_rate": 0.3, "subsample": subsample, "seed": 11}
    loss = _core.Loss("log_loss", outputs, 1, [])

    def pairs(raw: Array) -> NDArray[np.float32]:
        g, h = loss.gradient_hessian(y[None], raw)
        return np.stack([g, h], axis=2)

    table = bin_table(x, CATEGORIES, None)
    trees, values, raw = boost_all_outputs(
        table, pairs, outputs, 5, BoostOptions(TreeOptions(**tree), **options)
    )
    core = fit_core(
        x,
        y,
        "log_loss",
        5,
        outputs=outputs,
        categories=CATEGORIES,
        vector_leaves=True,
        **{**tree, **options},
    )
    np.testing.assert_allclose(core.raw, raw, rtol=1e-9, atol=1e-11)
    for number, (nodes, of_nodes) in enumerate(zip(trees, values, strict=True)):
        arrays = core.ensemble.tree_arrays(number)
        assert len(arrays["left"]) == len(nodes)
        leaves = [node.number for node in nodes if node.is_leaf]
        np.testing.assert_allclose(arrays["value"][leaves], of_nodes[leaves], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(core.ensemble.predict_raw(x, 0, 5), raw.T, rtol=1e-9, atol=1e-11)
