"""The histogram grower gives the same trees as the reference implementation, node by node."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import Array, CoreFit, assert_same_tree, fit_core, probe_rows
from numpy.typing import NDArray

from bosquet.reference.binning import BinnedTable, bin_table
from bosquet.reference.draws import hashed
from bosquet.reference.gradient_boosting import BoostOptions, newton_values, set_leaf_values
from bosquet.reference.gradient_trees import GradientNode, TreeOptions, grow, leaf_of, quantise

Pairs = NDArray[np.float32]
CATEGORIES = [0, 0, 0, 12, 4]


def mixed_table(rng: np.random.Generator, rows: int) -> Array:
    """Return five columns: continuous, tied, tied with missing values, and two of categories."""
    x = rng.normal(size=(rows, 5))
    x[:, 1] = np.round(x[:, 1])
    x[:, 2] = np.round(2 * x[:, 2]) / 2
    x[:, 3] = np.minimum(rng.geometric(0.25, size=rows) - 1, 11)
    x[:, 4] = rng.integers(0, 4, size=rows)
    x[rng.random(x.shape) < [0.05, 0, 0.3, 0, 0.1]] = np.nan
    return x


def signal(x: Array, rng: np.random.Generator) -> Array:
    """Return a target that depends on every column, including its missing values."""
    return (
        np.nan_to_num(x[:, 0])
        + np.nan_to_num(x[:, 1]) * np.isnan(x[:, 2])
        + np.sin(np.nan_to_num(x[:, 3]))
        + np.nan_to_num(x[:, 4], nan=2.5) / 2
        + 0.3 * rng.normal(size=len(x))
    )


def random_pairs(x: Array, rng: np.random.Generator, hessians: str) -> Pairs:
    g = -signal(x, rng)
    h = np.ones(len(x))
    if hessians == "varied":
        h = rng.uniform(0.01, 0.25, size=len(x))
    elif hessians == "weighted":
        h = rng.choice([0.5, 1.0, 1000.0], size=len(x))
    return np.stack([g * h, h], axis=1).astype(np.float32)


def both_trees(
    x: Array, pairs: Pairs, categories: list[int], seed: int = 0, **options: Any
) -> tuple[CoreFit, list[GradientNode], BinnedTable]:
    """Return one tree on given gradients, grown by the core and by the reference implementation."""
    tree_options = TreeOptions(**options)
    core = fit_core(
        x,
        np.zeros(len(x)),
        categories=categories,
        gradients=pairs[None],
        seed=seed,
        **{"min_samples_leaf": tree_options.min_samples_leaf, **options},
    )
    table = bin_table(x, categories)
    reference = grow(table, quantise(pairs), tree_options, np.arange(len(x)), hashed(seed, 0, 0))
    leaf = leaf_of(reference, table.bins)
    values = newton_values(reference, leaf, pairs, tree_options.l2_regularization)
    set_leaf_values(reference, values, BoostOptions(tree_options, learning_rate=1.0))
    return core, reference, table


def assert_same_as_reference(
    x: Array, pairs: Pairs, categories: list[int], **options: Any
) -> list[GradientNode]:
    core, reference, table = both_trees(x, pairs, categories, **options)
    probes = probe_rows(x, np.random.default_rng(1))
    assert_same_tree(core, 0, reference, table, x, probes)
    return reference


@pytest.mark.parametrize("hessians", ["constant", "varied", "weighted"])
@pytest.mark.parametrize("depth_wise", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_trees_agree_on_columns_of_every_kind(seed: int, depth_wise: bool, hessians: str) -> None:
    rng = np.random.default_rng(seed)
    x = mixed_table(rng, 300)
    reference = assert_same_as_reference(
        x, random_pairs(x, rng, hessians), CATEGORIES, depth_wise=depth_wise, min_samples_leaf=3
    )
    assert sum(node.is_leaf for node in reference) == 31


@pytest.mark.parametrize(
    "options",
    [
        {"min_samples_leaf": 1},
        {"min_samples_leaf": 25},
        {"min_samples_leaf": 0, "max_leaf_nodes": 12},
        {"min_child_weight": 4.0, "min_samples_leaf": 1},
        {"l2_regularization": 3.0},
        {"min_split_gain": 0.7},
        {"max_delta_step": 0.2, "min_samples_leaf": 5},
        {"max_depth": 3, "max_leaf_nodes": 64, "min_samples_leaf": 2},
        {"max_depth": 3, "max_leaf_nodes": 64, "min_samples_leaf": 2, "depth_wise": True},
        {"max_leaf_nodes": 5, "depth_wise": True},
        {"max_leaf_nodes": 1},
        {"category_smoothing": 0.0, "category_l2": 0.0, "min_samples_category": 0},
        {"category_smoothing": 50.0, "min_samples_category": 30},
        {"max_category_threshold": 1, "category_l2": 0.0},
        {"monotone": [1, 0, -1, 0, 0], "min_samples_leaf": 2},
        {"monotone": [-1, -1, 0, 0, 0], "l2_regularization": 1.0, "depth_wise": True},
        {"monotone": [0, 1, 0, 0, 0], "max_delta_step": 0.4, "min_samples_leaf": 2},
        {"interactions": [[0, 1], [2, 3, 4]], "min_samples_leaf": 2},
        {"interactions": [[0, 1, 2], [2, 3], [1, 4]], "min_samples_leaf": 2},
        {"features_by_tree": 0.5},
        {"features_by_level": 0.5, "depth_wise": True, "min_samples_leaf": 2},
        {"features_by_node": 0.4, "features_by_tree": 0.8, "min_samples_leaf": 2},
    ],
    ids=lambda options: "-".join(options),
)
@pytest.mark.parametrize("hessians", ["constant", "varied"])
def test_trees_agree_under_every_option(options: dict[str, Any], hessians: str) -> None:
    rng = np.random.default_rng(7)
    x = mixed_table(rng, 250)
    assert_same_as_reference(x, random_pairs(x, rng, hessians), CATEGORIES, seed=5, **options)


@pytest.mark.parametrize("seed", range(4))
def test_trees_agree_if_all_splits_tie(seed: int) -> None:
    """With few values, integer gradients and repeated columns, only the tie-breaking rule decides."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 3, size=(120, 4)).astype(np.float64)
    x = np.column_stack([x, x[:, ::-1], 2 - x])
    x[rng.random(x.shape) < 0.1] = np.nan
    pairs = np.column_stack([rng.integers(-1, 2, size=120), np.ones(120)]).astype(np.float32)
    assert_same_as_reference(x, pairs, [0] * x.shape[1], min_samples_leaf=2)


def test_trees_agree_on_columns_with_more_than_255_levels() -> None:
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.normal(size=350), rng.integers(0, 40, size=350) * 17])
    x[rng.random(x.shape) < 0.05] = np.nan
    pairs = random_pairs(np.column_stack([x, x, x])[:, [0, 0, 0, 1, 0]], rng, "constant")
    for rare in (0, 5):
        reference = assert_same_as_reference(
            x, pairs, [0, 700], min_samples_leaf=2, min_samples_category=rare, category_l2=1.0
        )
        assert any(node.split and node.split.feature == 1 for node in reference if not node.is_leaf)


def test_trees_agree_on_more_columns_than_fit_in_a_tile() -> None:
    rng = np.random.default_rng(4)
    x = np.round(rng.normal(size=(150, 70)), 1)
    pairs = np.column_stack([x[:, 0] + x[:, 33] * x[:, 69], np.ones(150)]).astype(np.float32)
    assert_same_as_reference(x, pairs, [0] * 70, min_samples_leaf=5, max_leaf_nodes=8)


@pytest.mark.parametrize("rows", [1, 2, 3, 9, 63, 64, 65])
def test_trees_agree_on_few_rows(rows: int) -> None:
    rng = np.random.default_rng(rows)
    x = mixed_table(rng, rows)
    assert_same_as_reference(x, random_pairs(x, rng, "varied"), CATEGORIES, min_samples_leaf=1)


def test_columns_without_values_and_constant_columns_are_never_split() -> None:
    x = np.column_stack([np.full(40, np.nan), np.full(40, 2.0), np.arange(40.0)])
    pairs = np.column_stack([np.arange(40) % 7 - 3.0, np.ones(40)]).astype(np.float32)
    reference = assert_same_as_reference(x, pairs, [0, 0, 0], min_samples_leaf=1)
    assert {node.split.feature for node in reference if node.split} == {2}


def test_a_split_can_separate_missing_values_from_all_others() -> None:
    x = np.where(np.arange(60) % 3 == 0, np.nan, np.arange(60) % 2)[:, None]
    g = np.where(np.isnan(x[:, 0]), 5.0, -1.0)
    pairs = np.column_stack([g, np.ones(60)]).astype(np.float32)
    reference = assert_same_as_reference(x, pairs, [0], min_samples_leaf=1, max_leaf_nodes=2)
    assert reference[0].split is not None
    assert not reference[0].split.missing_left
    assert reference[0].split.bin == 2  # all values that are not missing go left


def test_unseen_missing_values_follow_the_heavier_child() -> None:
    x = np.arange(10.0)[:, None]
    for cut, missing_left in ((3, False), (5, True), (7, True)):
        g = np.where(x[:, 0] < cut, 1.0, -1.0)
        pairs = np.column_stack([g, np.ones(10)]).astype(np.float32)
        core, reference, _ = both_trees(x, pairs, [0], min_samples_leaf=1, max_leaf_nodes=2)
        assert reference[0].split is not None
        assert reference[0].split.missing_left is missing_left
        expected = -1.0 if missing_left else 1.0
        assert core.ensemble.predict_raw(np.array([[np.nan]]), 0, 1)[0, 0] == expected


def test_min_samples_leaf_holds_in_every_leaf() -> None:
    rng = np.random.default_rng(11)
    x = mixed_table(rng, 400)
    for hessians in ("constant", "varied", "weighted"):
        pairs = random_pairs(x, rng, hessians)
        core, _, _ = both_trees(x, pairs, CATEGORIES, min_samples_leaf=17)
        _, rows = np.unique(core.raw[0], return_counts=True)
        assert rows.min() >= 17


def test_min_samples_leaf_counts_missing_rows_of_weight_zero() -> None:
    x = np.r_[np.arange(20.0), np.full(10, np.nan)][:, None]
    y = np.r_[np.zeros(17), np.ones(3), np.zeros(10)]
    weight = np.r_[np.ones(20), np.zeros(10)]
    core = fit_core(x, y, weight=weight, max_leaf_nodes=2, min_samples_leaf=5)
    _, rows = np.unique(core.raw[0], return_counts=True)
    assert rows.min() >= 5


def test_predictions_satisfy_monotone_constraints() -> None:
    rng = np.random.default_rng(12)
    x = rng.uniform(size=(400, 2))
    y = np.sin(5 * x[:, 0]) + x[:, 1] + 0.3 * rng.normal(size=400)
    core = fit_core(x, y, rounds=20, monotone=[1, -1], min_samples_leaf=3, learning_rate=0.3)
    grid = np.linspace(0, 1, 101)
    for other in (0.1, 0.5, 0.9):
        fixed = np.full_like(grid, other)
        up = core.ensemble.predict_raw(np.column_stack([grid, fixed]), 0, 20)[:, 0]
        down = core.ensemble.predict_raw(np.column_stack([fixed, grid]), 0, 20)[:, 0]
        assert np.all(np.diff(up) >= 0)
        assert np.all(np.diff(down) <= 0)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_a_tree_under_monotone_constraints_does_not_depend_on_the_unit_of_the_target(
    scale: float,
) -> None:
    rng = np.random.default_rng(14)
    x = mixed_table(rng, 300)
    y = signal(x, rng)
    options: dict[str, Any] = {"monotone": [-1, -1, 0, 0, 0], "min_samples_leaf": 2}
    plain = fit_core(x, y, rounds=3, categories=CATEGORIES, learning_rate=0.5, **options)
    power = 2.0 ** np.round(np.log2(scale))
    scaled = fit_core(x, y * power, rounds=3, categories=CATEGORIES, learning_rate=0.5, **options)
    np.testing.assert_allclose(scaled.raw, plain.raw * power, rtol=1e-12)


@pytest.mark.parametrize("max_delta_step", [0.0, 10.0])
def test_a_node_with_equal_gradients_is_not_split(max_delta_step: float) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3))
    side = np.where(x[:, 0] > 0.2, -0.6, 0.4)
    pairs = np.column_stack([side * 0.1, np.full(200, 0.024)]).astype(np.float32)
    options: dict[str, Any] = {"max_delta_step": max_delta_step, "min_samples_leaf": 5}
    for factor in (1.0, 1 / 3, 0.7):
        weighted = (pairs * np.float32(factor)).astype(np.float32)
        reference = assert_same_as_reference(x, weighted, [0, 0, 0], **options)
        assert sum(node.is_leaf for node in reference) == 2
