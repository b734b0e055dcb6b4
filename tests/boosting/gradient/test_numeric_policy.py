"""The numeric policy: integers decide splits, nothing overflows, bits depend on the data alone.

A packed sum has 31 bits for the gradient and 31 for the hessian. The unit of each is the smallest
power of two for which the rounded absolute values of all rows add up to less than 2^31; a node or a
bin holds some of the rows, so its sum is smaller still. Values of leaves come from the gradients as
they were before they were rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import Array, fit_core
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_sets import ISAS
from loss_cases import TRAITS, accepted, cases, parameters_of

from bosquet.reference.gradient_trees import quantise, units_per_one

THREADS = (1, 2, 3, 8)


# --- nothing overflows -------------------------------------------------------------------------


@settings(max_examples=500, deadline=None)
@given(
    total=st.floats(1e-30, 1e30),
    rows=st.integers(1, 2**30),
    largest_error=st.sampled_from([0.5, 1.0]),
)
def test_the_unit_allows_for_the_rounding_of_every_row(
    total: float, rows: int, largest_error: float
) -> None:
    """For 10^7 rows and more: the sum plus half a unit or one unit per row stays below 2^31."""
    per_unit = units_per_one(total, rows, largest_error)
    assert per_unit * total + rows * largest_error <= 2**31 - 1
    # No bit is wasted: half the unit would overflow.
    assert 2 * per_unit * total + rows * largest_error > (2**31 - 2) * (1 - 1e-8)


@pytest.mark.parametrize("rows", [100, 10_000])
def test_integers_of_extreme_pairs_add_up_below_two_to_the_31(rows: int) -> None:
    rng = np.random.default_rng(0)
    for spread in (0, 5, 30):
        g = rng.normal(size=rows) * 10.0 ** rng.uniform(-spread, spread, size=rows)
        h = 10.0 ** rng.uniform(-spread, spread, size=rows)
        for key in (None, 1):
            quantised = quantise(np.stack([g, h], axis=1).astype(np.float32), key)
            assert np.abs(quantised.pairs).sum(axis=0).max() < 2**31
            assert quantised.pairs[:, 1].min() >= 0


@pytest.mark.parametrize("fraction", [1 - 2e-9, 1 - 1e-6, 1.0, 1 + 1e-6, 1.5])
@pytest.mark.parametrize("rows", [64, 4096, 50_000])
@pytest.mark.parametrize("stochastic_rounding_above", [0, 50_000_000])
def test_sums_at_the_edge_of_the_range_keep_their_sign(
    rows: int, fraction: float, stochastic_rounding_above: int
) -> None:
    """All gradients have one sign and their sum is a power of two: one more bit would overflow."""
    x = np.arange(rows, dtype=np.float64)[:, None] % 64
    step = np.where(x[:, 0] < 40, 1.0, 1.25)
    y = step * (fraction * 2.0**20 / step.sum())
    core = fit_core(x, y, max_leaf_nodes=2, stochastic_rounding_above=stochastic_rounding_above)
    np.testing.assert_allclose(core.raw[0], y, rtol=1e-6)
    mirrored = fit_core(x, -y, max_leaf_nodes=2)
    assert mirrored.raw.tobytes() == (-core.raw).tobytes()


@pytest.mark.parametrize("fraction", [1 - 2e-9, 1.0, 1 + 1e-6])
def test_hessian_sums_at_the_edge_of_the_range_stay_positive(fraction: float) -> None:
    x = np.arange(5000.0)[:, None] % 50
    weight = np.where(x[:, 0] % 2 == 0, 1.0, 3.0)
    weight *= fraction * 2.0**15 / weight.sum()
    y = np.where(x[:, 0] < 20, 0.0, 1.0)
    core = fit_core(x, y, weight=weight, max_leaf_nodes=2)
    np.testing.assert_allclose(core.raw[0], y, atol=1e-6)


# --- small gradients count next to large ones ----------------------------------------------------


@pytest.mark.parametrize("start", ["zero", "mean"])
@pytest.mark.parametrize("rows", [1000, 100_000])
def test_a_small_signal_is_found_next_to_a_target_of_a_million(rows: int, start: str) -> None:
    rng = np.random.default_rng(1)
    x = np.round(rng.normal(size=(rows, 3)), 1)  # few enough values for one bin per value
    y = np.where(x[:, 0] > 0.3, 1.0, 0.0)
    x[7, 1], y[7] = 100.0, 1e6
    f = y.mean() if start == "mean" else 0.0
    core = fit_core(x, y, start=f, max_leaf_nodes=3)
    units = np.arange(rows) != 7
    assert core.raw[0, 7] == pytest.approx(1e6)
    np.testing.assert_allclose(core.raw[0, units], y[units], atol=1e-3)


def test_a_single_value_of_a_million_loses_few_bits() -> None:
    rng = np.random.default_rng(2)
    g = rng.normal(size=100_000)
    plain = quantise(np.stack([g, np.ones_like(g)], axis=1).astype(np.float32))
    g[0] = 1e6
    beside = quantise(np.stack([g, np.ones_like(g)], axis=1).astype(np.float32))
    assert beside.gradient_unit / plain.gradient_unit <= 16
    assert np.median(np.abs(beside.pairs[:, 0])) > 500


def exact_best_cut(x: Array, y: Array, w: Array) -> float:
    """Return the best threshold in double precision, without quantisation."""
    order = np.argsort(x)
    g, h = np.cumsum((-w * y)[order]), np.cumsum(w[order])
    scores = g[:-1] ** 2 / h[:-1] + (g[-1] - g[:-1]) ** 2 / (h[-1] - h[:-1])
    cut = int(np.argmax(scores))
    return float((x[order][cut] + x[order][cut + 1]) / 2)


@pytest.mark.parametrize("seed", range(6))
def test_weights_of_one_to_ten_thousand_give_the_split_of_exact_arithmetic(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.permutation(250).astype(np.float64)
    w = rng.choice([1.0, 1e4], size=250)
    y = np.sin(x / 40) + 0.2 * rng.normal(size=250)
    core = fit_core(x[:, None], y, weight=w, max_leaf_nodes=2)
    cut = exact_best_cut(x, y, w)
    for side in (x <= cut, x > cut):
        expected = np.sum(w[side] * y[side]) / np.sum(w[side])
        np.testing.assert_allclose(core.raw[0, side], expected, rtol=1e-6)


def test_rows_of_small_weight_are_separated_next_to_heavy_ones() -> None:
    """The rows with large weights are all equal; the signal is in rows with weights 10^4 times smaller."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, 40, size=(20_000, 2)).astype(np.float64)
    heavy = x[:, 1] >= 20
    w = np.where(heavy, 1e4, 1.0)
    y = np.where(heavy, 0.0, np.where(x[:, 0] >= 20, 3.0, 1.0))
    core = fit_core(x, y, weight=w, max_leaf_nodes=3, min_samples_leaf=20)
    np.testing.assert_allclose(core.raw[0], y, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-30, 1e-10, 1e10, 1e30])
def test_the_model_does_not_depend_on_the_unit_of_the_target(scale: float) -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(500, 3))
    y = x[:, 0] * x[:, 1] + rng.normal(size=500)
    power = 2.0 ** np.round(np.log2(scale))
    plain = fit_core(x, y, rounds=3, min_samples_leaf=5, learning_rate=0.5)
    scaled = fit_core(x, y * power, rounds=3, min_samples_leaf=5, learning_rate=0.5)
    assert scaled.raw.tobytes() == (plain.raw * power).tobytes()


@pytest.mark.parametrize("power", [-20, 20])
def test_the_model_does_not_depend_on_the_unit_of_the_weights(power: int) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(500, 3))
    y = x[:, 0] * x[:, 1] + rng.normal(size=500)
    w = rng.choice([1.0, 2.5], size=500)
    options: dict[str, Any] = {"min_child_weight": 0.0, "min_samples_leaf": 5, "rounds": 3}
    plain = fit_core(x, y, weight=w, **options)
    scaled = fit_core(x, y, weight=w * 2.0**power, **options)
    assert scaled.raw.tobytes() == plain.raw.tobytes()


def test_the_order_of_the_rows_decides_no_split() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(size=(3000, 4))
    x[rng.random(x.shape) < 0.1] = np.nan
    y = np.nan_to_num(x[:, 0]) + np.isnan(x[:, 1]) + rng.normal(size=3000)
    shuffled = rng.permutation(3000)
    one = fit_core(x, y, rounds=1, min_samples_leaf=10)
    other = fit_core(x[shuffled], y[shuffled], rounds=1, min_samples_leaf=10)
    np.testing.assert_allclose(other.raw[0], one.raw[0, shuffled], rtol=1e-12, atol=1e-14)


# --- bits depend on the data alone --------------------------------------------------------------

KINDS: dict[str, dict[str, Any]] = {
    "best-first": {},
    "depth-wise": {"depth_wise": True, "max_depth": 6, "max_leaf_nodes": 64},
    "subsample": {"subsample": 0.5},
    "gradient-sampling": {"subsample": 0.3, "gradient_sampling": True},
    "exact-leaves": {"newton": False},
    "drawn-features": {"features_by_tree": 0.8, "features_by_level": 0.8, "features_by_node": 0.8},
    "monotone": {"monotone": [1, -1, 0, 0, 0, 0], "max_delta_step": 1.0},
    "many-leaves": {"max_leaf_nodes": 300, "min_samples_leaf": 5},
}


def table_of(rows: int, seed: int) -> tuple[Array, Array, Array, list[int]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6))
    x[:, 3] = np.round(x[:, 3], 1)
    x[:, 4] = rng.integers(0, 20, size=rows)
    x[:, 5] = rng.integers(0, 400, size=rows)
    x[rng.random(x.shape) < 0.05] = np.nan
    y = np.nan_to_num(x[:, 0] * x[:, 1]) + np.sin(np.nan_to_num(x[:, 4]))
    y = y + np.isnan(x[:, 2]) + rng.normal(size=rows)
    return x, y, rng.choice([1.0, 2.0, 100.0], size=rows), [0, 0, 0, 0, 20, 400]


def bits_of(x: Array, y: Array, loss: str, **options: Any) -> bytes:
    core = fit_core(x, y, loss, 3, **{"min_samples_leaf": 20, "learning_rate": 0.3, **options})
    predicted = core.ensemble.predict_raw(x[:500], 0, core.ensemble.n_trees)
    return core.raw.tobytes() + predicted.tobytes() + np.float64(core.fit.train_loss()).tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [700, 36_000])
def test_a_model_has_the_same_bits_on_any_number_of_threads(kind: str, rows: int) -> None:
    x, y, w, categories = table_of(rows, 1)
    options = {"categories": categories, "weight": w, **KINDS[kind]}
    bits = {bits_of(x, y, "squared_error", threads=n, **options) for n in THREADS}
    assert len(bits) == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared_error", "log_loss"])
def test_a_model_has_the_same_bits_on_every_instruction_set(kind: str, loss: str) -> None:
    x, y, _, categories = table_of(9_000, 2)
    if loss == "log_loss":
        y = (y > 0).astype(np.float64)
    options = {"categories": categories, **KINDS[kind]}
    assert len({bits_of(x, y, loss, isa=isa, **options) for isa in ISAS}) == 1


@pytest.mark.parametrize(
    ("loss", "parameter", "outputs"),
    [(*case, 1) for case in cases(shares=[0.9])] + [("log_loss", 0.0, 4)],
)
def test_every_loss_has_the_same_bits_however_it_is_run(
    loss: str, parameter: float, outputs: int
) -> None:
    x, y, w, categories = table_of(20_000, 3)
    if outputs > 1:
        y = np.clip(np.floor(y + outputs / 2), 0, outputs - 1)
    else:
        y = accepted(loss, y / 2)
    options: dict[str, Any] = {"newton": TRAITS[loss]["uses_newton_steps"]}
    options |= {"parameters": parameters_of(loss, parameter)}
    options |= {"outputs": outputs, "weight": w, "categories": categories}
    runs = [(isa, threads) for isa in ISAS for threads in (1, 3)]
    bits = {bits_of(x, y, loss, isa=isa, threads=threads, **options) for isa, threads in runs}
    assert len(bits) == 1


def test_wide_tables_have_the_same_bits_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(2000, 170))
    y = x[:, 0] * x[:, 100] + x[:, 169]
    assert len({bits_of(x, y, "squared_error", threads=n) for n in THREADS}) == 1


def test_the_seed_decides_what_is_drawn_and_nothing_else_does() -> None:
    x, y, _, categories = table_of(2000, 4)
    for kind in ("subsample", "gradient-sampling", "drawn-features"):
        options = {"categories": categories, **KINDS[kind]}
        seeded = [bits_of(x, y, "squared_error", seed=seed, **options) for seed in (1, 2, 1)]
        assert seeded[0] == seeded[2] != seeded[1]
    for kind in ("best-first", "depth-wise", "exact-leaves"):
        options = {"categories": categories, **KINDS[kind]}
        seeded = [bits_of(x, y, "squared_error", seed=seed, **options) for seed in (1, 2)]
        assert seeded[0] == seeded[1]


def test_sampling_by_gradient_draws_the_requested_share() -> None:
    """A root is split only if enough rows were drawn for two leaves of min_samples_leaf."""
    x = np.arange(4000.0)[:, None] % 2
    y = np.where(x[:, 0] > 0, 1.0, -1.0)
    options: dict[str, Any] = {"subsample": 0.2, "gradient_sampling": True, "max_leaf_nodes": 2}
    few = fit_core(x, y, min_samples_leaf=300, **options)
    many = fit_core(x, y, min_samples_leaf=500, **options)
    assert len(np.unique(few.raw)) == 2
    assert len(np.unique(many.raw)) == 1


@pytest.mark.parametrize("share", [0.1, 0.4])
def test_sampling_by_gradient_learns_as_all_rows_do(share: float) -> None:
    """A row drawn with probability p counts as 1 / p rows, so that sums are unbiased."""
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20_000, 3))
    y = np.sign(x[:, 0]) + 0.5 * x[:, 1] + 0.1 * rng.normal(size=20_000)
    options: dict[str, Any] = {"rounds": 20, "learning_rate": 0.3, "min_samples_leaf": 20}
    all_rows = fit_core(x, y, **options).fit.train_loss()
    sampled = fit_core(x, y, subsample=share, gradient_sampling=True, **options).fit.train_loss()
    assert sampled < 1.3 * all_rows


BLOCK_ROWS = 8192


@pytest.mark.parametrize("leaves", [50, 30_000])
@pytest.mark.parametrize("subsample", [1.0, 0.8])
@pytest.mark.parametrize("threads", [1, 3])
def test_values_of_leaves_are_sums_over_blocks_in_their_order(
    leaves: int, subsample: float, threads: int
) -> None:
    """The sums of 30,000 leaves and 36 blocks exceed what the core stores at a time."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 200, size=(36 * BLOCK_ROWS - 100, 3)).astype(float)
    y = rng.normal(size=len(x))
    fitted = fit_core(
        x, y, max_leaf_nodes=leaves, subsample=subsample, gradient_sampling=True, threads=threads
    )
    leaf = fitted.ensemble.apply(x)[:, 0]
    values = fitted.ensemble.tree_arrays(0)["value"]
    totals = np.zeros((2, len(values)))
    gradient = (-y).astype(np.float32).astype(np.float64)
    for begin in range(0, len(x), BLOCK_ROWS):
        rows = slice(begin, begin + BLOCK_ROWS)
        for total, term in zip(totals, (gradient[rows], None), strict=True):
            total += np.bincount(leaf[rows], weights=term, minlength=len(values))
    used = np.unique(leaf)
    assert len(used) > 0.9 * leaves
    np.testing.assert_array_equal(values[used], -totals[0, used] / totals[1, used])
