"""Binning gives the same edges, bit for bit, and the same bins as the reference implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from core_fit import learn_test_bins
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from instruction_sets import ISAS
from numpy.typing import NDArray

from bosquet import _core
from bosquet.reference.binning import BinnedColumn, bin_table, edge_between, quantile_edges
from bosquet.reference.draws import rows_for_edges

INFINITY = np.inf
LARGEST = np.finfo(np.float64).max
SMALLEST = 5e-324

any_number = st.floats(width=64, allow_nan=True, allow_infinity=True)
few_numbers = st.sampled_from(
    [0.0, -0.0, 1.0, -1.0, 0.1, SMALLEST, -SMALLEST, LARGEST, -LARGEST, INFINITY, -INFINITY, np.nan]
)
columns = st.one_of(
    arrays(np.float64, st.integers(1, 80), elements=any_number),
    arrays(np.float64, st.integers(1, 80), elements=few_numbers),
    arrays(np.float64, st.integers(1, 80), elements=st.integers(-3, 3).map(float)),
    arrays(np.float32, st.integers(1, 80), elements=st.floats(width=32, allow_nan=True)),
)
some_bins = st.sampled_from([2, 3, 7, 30, 255])


def learn(
    x: NDArray[Any],
    max_bins: int = 255,
    weights: NDArray[np.float64] | None = None,
    categories: int = 0,
    limit: int = 200_000,
    seed: int = 0,
) -> Any:
    w = np.zeros(0) if weights is None else weights
    return _core.learn_bins(x[:, None], [categories], w, max_bins, limit, seed, 1)


def same_bits(a: NDArray[np.float64], b: NDArray[np.float64]) -> bool:
    """Return whether the bits are equal, except for the sign of zeros."""
    return (a + 0.0).tobytes() == (b + 0.0).tobytes()


def core_bins(x: NDArray[Any], bins: Any, isa: str = "auto") -> NDArray[np.int64]:
    matrix = _core.bin_table(x[:, None], bins, isa, 1)
    return np.array([matrix.bin(0, row) for row in range(len(x))], dtype=np.int64)


def reference_column(x: NDArray[Any], edges: NDArray[np.float64]) -> BinnedColumn:
    return BinnedColumn(edges, 0, bool(np.isnan(x).any()))


@settings(max_examples=300, deadline=None)
@given(x=columns, max_bins=some_bins)
@example(x=np.array([-INFINITY, INFINITY]), max_bins=255)
@example(x=np.array([LARGEST, INFINITY, -LARGEST]), max_bins=2)
@example(x=np.array([np.nan]), max_bins=2)
@example(x=np.full(9, 4.0), max_bins=3)
def test_edges_have_the_bits_of_the_reference(x: NDArray[Any], max_bins: int) -> None:
    assert same_bits(learn(x, max_bins).edges(0), quantile_edges(x, None, max_bins))


@settings(max_examples=200, deadline=None)
@given(data=st.data(), max_bins=some_bins)
def test_weighted_edges_have_the_bits_of_the_reference(data: st.DataObject, max_bins: int) -> None:
    x = data.draw(columns)
    positive = st.floats(0, 1e4, allow_subnormal=False)
    weights = data.draw(arrays(np.float64, len(x), elements=positive))
    assert same_bits(learn(x, max_bins, weights).edges(0), quantile_edges(x, weights, max_bins))


@settings(max_examples=200, deadline=None)
@given(x=columns, max_bins=some_bins)
def test_values_fall_into_the_bins_of_the_reference_on_every_instruction_set(
    x: NDArray[Any], max_bins: int
) -> None:
    bins = learn(x, max_bins)
    column = reference_column(x, bins.edges(0))
    expected = column.bins_of(x) if column.splittable else np.zeros(len(x))
    for isa in ISAS:
        np.testing.assert_array_equal(core_bins(x, bins, isa), expected)


@settings(max_examples=100, deadline=None)
@given(x=columns, others=columns)
def test_values_not_seen_in_training_fall_into_the_bins_of_the_reference(
    x: NDArray[Any], others: NDArray[Any]
) -> None:
    bins = learn(x, 30)
    column = reference_column(x, bins.edges(0))
    expected = column.bins_of(others) if column.splittable else np.zeros(len(others))
    for isa in ISAS:
        np.testing.assert_array_equal(core_bins(others, bins, isa), expected)


@settings(max_examples=100, deadline=None)
@given(x=columns, max_bins=some_bins)
def test_a_value_is_in_a_bin_if_it_is_at_most_its_edge(x: NDArray[Any], max_bins: int) -> None:
    bins = learn(x, max_bins)
    edges = bins.edges(0)
    assert np.all(np.diff(edges) > 0)
    assert len(edges) < max_bins
    placed = reference_column(x, edges).bins_of(x)
    for b, edge in enumerate(edges, start=1):
        present = ~np.isnan(x)
        np.testing.assert_array_equal(placed[present] <= b, x[present].astype(float) <= edge)


@settings(max_examples=100, deadline=None)
@given(x=columns)
def test_a_column_with_few_values_has_one_bin_per_value(x: NDArray[Any]) -> None:
    distinct = len(np.unique(x[~np.isnan(x)] + 0.0))
    assert learn(x, 255).n_bins(0) == 1 + max(distinct, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("weighted", [False, True])
def test_long_columns_have_the_edges_of_the_reference(dtype: type, weighted: bool) -> None:
    """The core uses a radix sort from 512 values on, and quantiles above 255 distinct values."""
    rng = np.random.default_rng(0)
    for x in (
        rng.normal(size=5000),
        np.round(rng.normal(size=5000), 2),
        rng.lognormal(sigma=8, size=5000),
        np.where(rng.random(5000) < 0.6, 0.0, rng.normal(size=5000)),
        np.where(rng.random(5000) < 0.3, -0.0, rng.choice([0.0, np.inf, -np.inf], 5000)),
        rng.integers(-5, 5, size=5000) * 1e300,
    ):
        with np.errstate(over="ignore"):
            column = x.astype(dtype)
        weights = rng.choice([0.0, 1.0, 1e4], size=5000) if weighted else None
        for max_bins in (2, 16, 255):
            edges = learn(column, max_bins, weights).edges(0)
            assert same_bits(edges, quantile_edges(column, weights, max_bins))


def test_a_frequent_value_has_its_own_bin_and_the_others_share_the_rest_evenly() -> None:
    rng = np.random.default_rng(1)
    x = np.where(rng.random(10_000) < 0.5, 0.0, rng.normal(size=10_000))
    placed = reference_column(x, learn(x, 50).edges(0)).bins_of(x)
    _, rows = np.unique(placed, return_counts=True)
    assert len(rows) == 50
    assert set(x[placed == placed[x == 0][0]]) == {0.0}
    after = rows[np.argmax(rows) + 1 :]
    assert after.max() - after.min() <= 1


def test_integer_columns_are_binned_like_doubles() -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 100, size=400)
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        column = x.astype(dtype)
        bins = learn(column, 30)
        assert same_bits(bins.edges(0), quantile_edges(x, None, 30))
        expected = reference_column(x, bins.edges(0)).bins_of(x)
        np.testing.assert_array_equal(core_bins(column, bins), expected)


@pytest.mark.parametrize("levels", [1, 3, 255, 256, 1000])
def test_codes_that_are_unknown_or_negative_count_as_missing(levels: int) -> None:
    codes = np.array([0, levels - 1, levels, levels + 7, -1, np.nan, np.inf, -np.inf, 0.5])
    bins = learn(np.r_[np.arange(levels, dtype=np.float64), np.nan], categories=levels)
    expected = BinnedColumn(np.zeros(0), levels, True).bins_of(codes)
    np.testing.assert_array_equal(expected, [1, levels, 0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(core_bins(codes, bins), expected)


@pytest.mark.parametrize("seed", [0, 12345])
def test_edges_are_learned_from_rows_sampled_by_their_number(seed: int) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=6000)
    weights = rng.uniform(size=6000)
    rows = rows_for_edges(6000, 1000, seed)
    assert 850 < len(rows) < 1150
    for w in (None, weights):
        edges = learn(x, 255, w, limit=1000, seed=seed).edges(0)
        assert same_bits(edges, quantile_edges(x[rows], None if w is None else w[rows], 255))


def test_edges_do_not_depend_on_threads_or_on_the_layout_of_the_table() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(3000, 12))
    expected = [quantile_edges(column, None, 255) for column in x.T]
    for table in (x, np.asfortranarray(x), [*x.T.copy()], x[::-1].copy()[::-1]):
        for threads in (1, 2, 3, 8):
            bins = learn_test_bins(table, threads=threads)
            for f, edges in enumerate(expected):
                assert bins.edges(f).tobytes() == edges.tobytes()


def test_the_reference_bins_a_whole_table() -> None:
    table = bin_table([[1.0, 0], [2.0, 1], [np.nan, -1], [3.0, 2]], categories=[0, 3])
    np.testing.assert_array_equal(table.bins, [[1, 1], [2, 2], [0, 0], [3, 3]])
    assert [column.has_missing for column in table.columns] == [True, True]


def test_the_edge_between_two_neighbouring_values_separates_them() -> None:
    for a, b in (
        (1.0, np.nextafter(1.0, 2)),
        (0.0, SMALLEST),
        (-LARGEST, LARGEST),
        (3.0, INFINITY),
    ):
        assert a <= edge_between(a, b) < b
