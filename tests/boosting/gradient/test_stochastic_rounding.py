"""Stochastic rounding of gradients, for fits of very many rows.

The unit of rounding follows from the sum over all rows. Two heavy rows with opposite gradients make it as
coarse on a small table as it is for a billion rows and the log loss: 1/2 for gradients, 1/4 for Hessians.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import Array, CoreFit, assert_same_tree, fit_core, probe_rows
from instruction_sets import ISAS
from numpy.typing import NDArray

from bosquet import GradientBoostingRegressor, _core
from bosquet.reference.binning import bin_table
from bosquet.reference.draws import hashed
from bosquet.reference.gradient_boosting import BoostOptions, boost, boost_all_outputs
from bosquet.reference.gradient_trees import TreeOptions, quantise, rounding_noise
from bosquet.reference.losses import SquaredError

HEAVY = 2.0**29
CATEGORIES = [0, 0, 6]
# The unit of the sums of leaf values follows from the largest gradient, which a heavy row has.
ATOL = 1e-5
STOCHASTIC: dict[str, Any] = {"stochastic_rounding_above": 0}
Pairs = NDArray[np.float32]


def coarse_pairs(rows: int, rng: np.random.Generator, signal: Any = 0.0) -> Pairs:
    """Return gradients and Hessians as of the log loss; the first two rows are the heavy ones."""
    g = np.clip(0.2 * rng.normal(size=rows) + signal, -0.9, 0.9)
    h = rng.uniform(0.02, 0.25, size=rows)
    g[:2], h[:2] = (-HEAVY / 2, HEAVY / 2), HEAVY / 4
    return np.stack([g, h], axis=1).astype(np.float32)


def coarse_table(rows: int, seed: int) -> tuple[Array, Array, Array]:
    """Return columns of few values, classes and weights; the first two rows are the heavy ones."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(rows, 3)), 1)
    x[:, 2] = rng.integers(0, 6, size=rows)
    logit = 1.5 * x[:, 0] * x[:, 1] + np.sin(x[:, 2])
    y = (rng.random(rows) < 1 / (1 + np.exp(-logit))).astype(np.float64)
    w = np.ones(rows)
    x[:2, :2], y[:2], w[:2] = 9.0, (0, 1), HEAVY
    return x, y, w


# --- the core agrees with the reference implementation ------------------------------------------


def small_table(rng: np.random.Generator) -> Array:
    x = np.column_stack([np.round(rng.normal(size=(300, 2)), 1), rng.integers(0, 6, size=300)])
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:2] = 9.0, 9.0, 0.0  # in a leaf of their own
    return x


@pytest.mark.parametrize(
    "tree",
    [
        {"min_samples_leaf": 2},
        {"min_samples_leaf": 17},
        {"min_samples_leaf": 5, "min_child_weight": 2.0, "depth_wise": True},
        {"min_samples_leaf": 5, "max_delta_step": 0.5, "monotone": [1, 0, 0]},
    ],
)
@pytest.mark.parametrize("hessians", ["varied", "narrow", "constant"])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_trees_agree_with_the_reference(
    tree: dict[str, Any], hessians: str, subsample: float
) -> None:
    rng = np.random.default_rng(3)
    x = small_table(rng)
    pairs = coarse_pairs(300, rng, np.nan_to_num(x[:, 0] * x[:, 1]) / 4)
    if hessians == "narrow":
        pairs[2:, 1] = rng.uniform(0.19, 0.24, size=298)
    elif hessians == "constant":
        pairs[:, 1] = 0.7
    tree = {"max_leaf_nodes": 8, **tree}
    options = {"learning_rate": 0.3, "subsample": subsample, "seed": 4, **STOCHASTIC}
    table = bin_table(x, CATEGORIES)
    trees, raw = boost(
        table,
        np.zeros(300),
        SquaredError(),
        3,
        BoostOptions(TreeOptions(**tree), **options),
        start=np.zeros(300),
        pairs_of=lambda y, f, w: pairs,
    )
    core = fit_core(
        x,
        np.zeros(300),
        rounds=3,
        categories=CATEGORIES,
        gradients=pairs[None],
        **{**tree, **options},
    )
    for number, reference in enumerate(trees):
        assert_same_tree(core, number, reference, table, x, probe_rows(x, rng), atol=ATOL)
    np.testing.assert_allclose(core.raw[0], raw, atol=ATOL)


def test_trees_for_all_outputs_agree_with_the_reference() -> None:
    rng = np.random.default_rng(5)
    x = small_table(rng)
    pairs = np.stack([coarse_pairs(300, rng, np.nan_to_num(x[:, 0]) / 5 * k) for k in range(3)])
    tree = {"max_leaf_nodes": 6, "min_samples_leaf": 4}
    options = {"learning_rate": 0.3, "seed": 11, **STOCHASTIC}
    _, _, raw = boost_all_outputs(
        bin_table(x, CATEGORIES),
        lambda f: pairs,
        3,
        4,
        BoostOptions(TreeOptions(**tree), **options),
    )
    core = fit_core(
        x,
        np.zeros((3, 300)),
        rounds=4,
        outputs=3,
        categories=CATEGORIES,
        gradients=pairs,
        vector_leaves=True,
        **{**tree, **options},
    )
    np.testing.assert_allclose(core.raw, raw, atol=ATOL)


@pytest.mark.parametrize("room", [0.75, 1.25])  # in units per row
def test_the_core_leaves_the_same_room_for_rounding_as_the_reference(room: float) -> None:
    """The sum of absolute gradients is slightly below a power of two."""
    rng, rows = np.random.default_rng(9), 50_000
    x = rng.integers(0, 30, size=(rows, 1)).astype(np.float64)
    g = rng.normal(size=rows)
    g *= 2.0**20 * (1 - room * rows / 2**31) / np.abs(g).sum()
    pairs = np.stack([g, np.ones(rows)], axis=1).astype(np.float32)
    options: dict[str, Any] = {"seed": 1, **STOCHASTIC}
    tree = {"max_leaf_nodes": 4, "min_samples_leaf": 1}
    (reference,), _ = boost(
        bin_table(x),
        np.zeros(rows),
        SquaredError(),
        1,
        BoostOptions(TreeOptions(**tree), learning_rate=1.0, **options),
        pairs_of=lambda y, f, w: pairs,
    )
    core = fit_core(x, np.zeros(rows), gradients=pairs[None], **tree, **options)
    assert_same_tree(core, 0, reference, bin_table(x), x, x[:100])
    assert quantise(pairs, key=1).gradient_unit == 2.0 ** (-10 if room < 1 else -11)


def gains(core: CoreFit) -> list[bytes]:
    trees = range(core.ensemble.n_trees)
    return [core.ensemble.tree_arrays(k)["gain"].tobytes() for k in trees]


def test_every_round_and_every_output_is_rounded_in_its_own_way() -> None:
    rng = np.random.default_rng(6)
    x = small_table(rng)
    pairs = np.stack([coarse_pairs(300, rng)] * 2)
    options: dict[str, Any] = {"rounds": 2, "outputs": 2, "gradients": pairs, "max_leaf_nodes": 8}
    y = np.zeros((2, 300))
    assert len(set(gains(fit_core(x, y, **options)))) == 1
    assert len(set(gains(fit_core(x, y, **STOCHASTIC, **options)))) == 4


# --- the same bits ------------------------------------------------------------------------------


def bits_of(seed: int = 1, **options: Any) -> bytes:
    x, y, w = coarse_table(20_000, 1)
    core = fit_core(
        x, y, "log_loss", 3, weight=w, max_leaf_nodes=32, min_samples_leaf=5, seed=seed, **options
    )
    return core.raw.tobytes()


def test_the_bits_do_not_depend_on_threads_or_the_instruction_set() -> None:
    runs = [(isa, threads) for isa in ISAS for threads in (1, 2)]
    assert len({bits_of(isa=isa, threads=threads, **STOCHASTIC) for isa, threads in runs}) == 1


def test_only_fits_of_more_rows_than_the_option_are_rounded_stochastically() -> None:
    default, at_limit, above_limit = (
        bits_of(**options)
        for options in (
            {},
            {"stochastic_rounding_above": 20_000},
            {"stochastic_rounding_above": 19_999},
        )
    )
    assert default == at_limit != above_limit
    assert bits_of(seed=2) == default
    assert bits_of(seed=2, **STOCHASTIC) != above_limit


# --- without bias -------------------------------------------------------------------------------


@pytest.mark.parametrize("column", [0, 1])
def test_the_error_of_a_sum_has_mean_zero(column: int) -> None:
    """Most numbers are below half a unit, so that rounding to nearest is biased."""
    rows, rng = 100_000, np.random.default_rng(7)
    pairs = coarse_pairs(rows, rng)
    pairs[2:] = rng.uniform(0.01, 0.2, size=(rows - 2, 2))
    stochastic, nearest = quantise(pairs, key=hashed(1, 2, 3)), quantise(pairs)
    unit = (stochastic.gradient_unit, stochastic.hessian_unit)[column]
    assert unit == (0.5, 0.25)[column]
    errors = stochastic.pairs[2:, column] * unit - pairs[2:, column]
    assert np.abs(errors).max() < unit
    standard_error = unit / 2 * np.sqrt(rows)  # a fraction p has the variance p (1 - p) <= 1/4
    assert abs(errors.sum()) < 3 * standard_error
    unit = (nearest.gradient_unit, nearest.hessian_unit)[column]
    errors = nearest.pairs[2:, column] * unit - pairs[2:, column]
    assert abs(errors.sum()) > 3 * standard_error


def test_the_noise_of_gradient_and_hessian_is_uniform_and_uncorrelated() -> None:
    rows = 100_000
    noise = rounding_noise(rows, key=5)
    assert np.abs(noise).max() < 0.5
    assert ((noise * 2**22) % 2 == 1).all()  # never ±1/2, which would make integers ties
    for column in noise.T:
        counts = np.histogram(column, bins=20, range=(-0.5, 0.5))[0]
        assert np.abs(counts - rows / 20).max() < 5 * np.sqrt(rows / 20)
    assert abs(np.corrcoef(noise.T)[0, 1]) < 4 / np.sqrt(rows)


def test_integers_and_constant_hessians_are_not_changed() -> None:
    rng = np.random.default_rng(8)
    for hessian in (0.1, 1 / 3, 0.7, 3.0):
        g = rng.integers(-3, 4, size=1000)
        pairs = np.stack([g, np.full(1000, hessian)], axis=1).astype(np.float32)
        quantised = quantise(pairs, key=1)
        assert (quantised.pairs[:, 0] * quantised.gradient_unit == g).all()
        assert (quantised.pairs[:, 1] == 1).all()


def test_a_model_with_a_coarse_unit_predicts_almost_as_well_as_without_rounding() -> None:
    x, y, w = coarse_table(20_000, 2)
    new_x, new_y, _ = coarse_table(20_000, 3)
    options: dict[str, Any] = {
        "rounds": 40, "learning_rate": 0.2, "min_samples_leaf": 20, "max_leaf_nodes": 16}  # fmt: skip

    def loss_of(core: CoreFit) -> float:
        raw = core.ensemble.predict_raw(new_x[2:], 0, 40)[:, 0]
        return float(np.mean(np.logaddexp(0, raw) - new_y[2:] * raw))

    exact = loss_of(fit_core(x[2:], y[2:], "log_loss", **options))
    nearest = loss_of(fit_core(x, y, "log_loss", weight=w, **options))
    stochastic = loss_of(fit_core(x, y, "log_loss", weight=w, **STOCHASTIC, **options))
    assert stochastic < 1.01 * exact
    assert nearest > 1.05 * exact


# --- the maximum number of rows -----------------------------------------------------------------

MANY = r"there are 1073741825 rows, but at most 1073741824 are supported"


def test_more_rows_than_the_sums_can_hold_are_an_error() -> None:
    _core.check_boosted_rows(2**30)
    with pytest.raises(ValueError, match=MANY):
        _core.check_boosted_rows(2**30 + 1)


def test_parts_of_more_rows_than_the_sums_can_hold_are_an_error() -> None:
    x, y, _ = coarse_table(100, 1)
    bins = _core.learn_bins(x, [0, 0, 6], np.zeros(0), 255, 200_000, 0, 1)
    matrix = _core.bin_table(x, bins, "auto", 1)
    part = _core.Part(print, print, 2**30 + 1, [(0, 100)])
    loss = _core.Loss("log_loss", 1, 1, [])
    with pytest.raises(ValueError, match=MANY):
        _core.BoostingFit(matrix, bins, y[None], np.zeros(0), loss, {}, "auto", 1, part)


def test_an_estimator_checks_the_number_of_rows_before_it_boosts(monkeypatch) -> None:
    class ManyRows(GradientBoostingRegressor):
        def _check_target(self, *arguments: Any) -> tuple[np.ndarray, int]:
            return super()._check_target(*arguments)[0], 2**30 + 1

    monkeypatch.setattr("bosquet.boosting.gradient._base.candidate_parameters", None)
    with pytest.raises(ValueError, match=MANY):
        ManyRows().fit(np.zeros((10, 1)), np.arange(10.0))
