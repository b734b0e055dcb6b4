"""The stump search of the core gives the same stumps as the reference implementations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stump_cases import (
    CRITERIA,
    Array,
    assert_same_stump,
    mixed_table,
    search_of,
    signs,
    small_problems,
)

from bosquet import _core
from bosquet.reference import stumps as reference


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=75, deadline=None)
@given(problem=small_problems())
def test_the_search_gives_the_same_stump_as_the_reference(criterion: str, problem: Any) -> None:
    X, levels, y, w = problem
    found = search_of(X, levels).find_best(y, w, criterion)
    assert_same_stump(found, reference.linear(X, y, w, criterion, tuple(levels)))


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=30, deadline=None)
@given(problem=small_problems())
def test_no_split_is_better_than_that_of_the_linear_search(criterion: str, problem: Any) -> None:
    X, levels, y, w = problem
    fast = reference.linear(X, y, w, criterion, tuple(levels))
    slow = reference.brute_force(X, y, w, criterion, tuple(levels))
    assert math.isclose(
        fast.criterion_value, slow.criterion_value, rel_tol=1e-12, abs_tol=1e-12 * w.sum()
    )
    if not levels:
        assert fast == slow


@settings(max_examples=60, deadline=None)
@given(problem=small_problems(), data=st.data())
def test_targets_of_least_squares_may_be_any_numbers(problem: Any, data: Any) -> None:
    X, levels, y, w = problem
    y = np.array([data.draw(st.floats(-5, 5, width=32)) for _ in y])
    found = search_of(X, levels).find_best(y, w, "squared")
    assert_same_stump(found, reference.linear(X, y, w, "squared", tuple(levels)))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("seed", range(3))
def test_columns_of_many_values_are_searched_in_order(
    seed: int, dtype: Any, criterion: str
) -> None:
    rng = np.random.default_rng(seed)
    X, levels = mixed_table(rng, 900)
    X = X.astype(dtype)
    search, exact = search_of(X, levels), X.astype(np.float64)
    for round_number in range(6):
        y = np.where(exact[:, round_number % 5] > rng.normal(), 1.0, -1.0)
        y = np.where(rng.random(900) < 0.3, -y, y)
        w = rng.choice([0.0, 1.0, rng.random()], size=900) + (round_number % 2) * rng.random(900)
        found = search.find_best(y, w, criterion)
        assert_same_stump(found, reference.linear(exact, y, w, criterion, tuple(levels)))


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), noise=st.sampled_from([0.0, 0.3, 0.5]))
def test_skipped_bins_contain_no_better_split(criterion: str, seed: int, noise: float) -> None:
    """Use more values than bins, frequent ties, many missing values and weights of all sizes."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(260, 500))
    X = rng.normal(size=(rows, 3))
    X[:, 1] = np.where(rng.random(rows) < 0.5, 0.0, X[:, 1])
    X[:, 2] = np.round(X[:, 2] * rows) / rows
    X[rng.random((rows, 3)) < rng.choice([0, 0.02, 0.3], size=3)] = np.nan
    y = np.where(np.nan_to_num(X[:, rng.integers(3)], nan=-1.0) > rng.normal(), 1.0, -1.0)
    y = np.where(rng.random(rows) < noise, -y, y)
    w = rng.choice([np.ones(rows), rng.exponential(size=rows) ** 4, rng.integers(0, 2, size=rows)])
    w[0] = 1.0
    assert_same_stump(search_of(X).find_best(y, w, criterion), reference.linear(X, y, w, criterion))


def test_the_sorted_search_agrees_with_brute_force() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    X[:, 1] = np.round(100 * X[:, 1])
    X[rng.random(400) < 0.2, 1] = np.nan
    for criterion in CRITERIA:
        y, w = signs(rng, 400), rng.integers(0, 3, size=400).astype(float)
        assert_same_stump(
            search_of(X).find_best(y, w, criterion), reference.brute_force(X, y, w, criterion)
        )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("seed", range(3))
def test_ties_go_to_the_lowest_feature_and_threshold(seed: int, criterion: str) -> None:
    rng = np.random.default_rng(seed)
    x = rng.permutation(np.arange(700.0))
    X = np.column_stack([x, 2 * x, -x, np.round(x / 2), x])
    y, w = signs(rng, 700), np.ones(700)
    found = search_of(X).find_best(y, w, criterion)
    assert_same_stump(found, reference.linear(X, y, w, criterion))
    assert found.feature in (0, 3)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_thresholds_on_bins_are_their_edges(criterion: str) -> None:
    rng = np.random.default_rng(2)
    X, levels = mixed_table(rng, 3000)
    categories = [levels.get(f, 0) for f in range(5)]
    bins = _core.learn_bins(X, categories, np.empty(0), 63, 200_000, 0, 1)
    matrix = _core.bin_table(X, bins, "auto", 1)
    codes = np.array([[matrix.bin(f, i) for f in range(5)] for i in range(3000)], dtype=float)
    codes = np.where(codes == 0, np.nan, codes - np.isin(np.arange(5), list(levels)))
    for f in range(4):
        y = np.where(np.nan_to_num(X[:, f]) > 0.5, 1.0, -1.0)
        y = np.where(rng.random(3000) < 0.3, -y, y)
        w = rng.random(3000)
        found = search_of(X, levels, bins=bins).find_best(y, w, criterion)
        expected = reference.linear(codes, y, w, criterion, tuple(levels))
        if math.isfinite(expected.threshold):
            expected.threshold = bins.edges(expected.feature)[int(expected.threshold) - 1]
        assert_same_stump(found, expected)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_column_may_have_more_than_255_levels(criterion: str) -> None:
    rng = np.random.default_rng(4)
    X = np.column_stack([rng.integers(0, 400, size=2000).astype(float), rng.normal(size=2000)])
    X[rng.random(2000) < 0.05, 0] = np.nan
    y = np.where(np.sin(np.nan_to_num(X[:, 0])) > 0, 1.0, -1.0)
    w = rng.random(2000)
    found = search_of(X, {0: 400}).find_best(y, w, criterion)
    assert found.feature == 0
    assert_same_stump(found, reference.linear(X, y, w, criterion, (0,)))


@settings(max_examples=60, deadline=None)
@given(problem=small_problems(), data=st.data())
def test_one_class_per_side_is_as_good_as_brute_force(problem: Any, data: Any) -> None:
    X, levels, y, w = problem
    y = np.array([data.draw(st.integers(0, 3)) for _ in y])
    found = search_of(X, levels).find_best_by_class(y.astype(np.uint32), 4, w)
    expected = reference.find_best_by_class(X, y, 4, w, tuple(levels))
    assert math.isclose(
        found.criterion_value, expected.criterion_value, rel_tol=1e-12, abs_tol=1e-300
    )
    predicted = found.on_rows(search_of(X, levels))
    assert math.isclose(
        found.criterion_value, np.sum(w[predicted != y]), rel_tol=1e-9, abs_tol=1e-12
    )
    if not levels:
        assert_same_stump(found, expected)


@settings(max_examples=60, deadline=None)
@given(problem=small_problems(), data=st.data())
def test_a_sign_for_each_class_is_as_good_as_brute_force(problem: Any, data: Any) -> None:
    X, levels, y, w = problem
    flips = np.array([[data.draw(st.booleans()) for _ in y] for _ in range(2)])
    Y = np.vstack([y, np.where(flips, y, -y)])
    W = np.vstack([w, w[::-1], np.full(len(w), 0.5)])
    found = search_of(X, levels).find_best_by_signs(Y, W)
    expected, values = reference.find_best_by_signs(X, Y, W, tuple(levels))
    assert math.isclose(
        found.criterion_value, expected.criterion_value, rel_tol=1e-12, abs_tol=1e-12
    )
    predicted = found.on_rows(search_of(X, levels))
    assert math.isclose(
        found.criterion_value, np.sum(W[predicted != Y]), rel_tol=1e-9, abs_tol=1e-12
    )
    if not levels:
        assert (found.feature, found.threshold) == (expected.feature, expected.threshold)
        np.testing.assert_array_equal(found.values, values)


def many_values(rng: np.random.Generator) -> Array:
    X = rng.normal(size=(500, 3))
    X[:, 1] = np.round(200 * X[:, 1])
    X[rng.random(500) < 0.3, 2] = np.nan
    return X


def test_class_searches_use_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(1)
    X = many_values(rng)
    for f in range(3):
        y = np.digitize(np.nan_to_num(X[:, f] / np.nanstd(X[:, f]), nan=5.0), [-0.7, 0.4, 2.0])
        y = np.where(rng.random(500) < 0.3, rng.integers(0, 4, size=500), y)
        w = rng.choice([1.0, 2.0, 0.1], size=500)
        found = search_of(X).find_best_by_class(y.astype(np.uint32), 4, w)
        assert_same_stump(found, reference.find_best_by_class(X, y, 4, w))


def test_sign_searches_use_the_order_of_the_rows() -> None:
    rng = np.random.default_rng(3)
    X = many_values(rng)
    for f in range(3):
        y = np.digitize(np.nan_to_num(X[:, f] / np.nanstd(X[:, f]), nan=5.0), [-0.7, 0.4])
        Y = np.where(y == np.arange(3)[:, None], 1.0, -1.0)
        Y = np.where(rng.random(Y.shape) < 0.2, -Y, Y)
        W = rng.random(Y.shape)
        found = search_of(X).find_best_by_signs(Y, W)
        expected, values = reference.find_best_by_signs(X, Y, W)
        assert (found.feature, found.threshold) == (expected.feature, expected.threshold)
        assert found.missing_left == expected.missing_left
        np.testing.assert_array_equal(found.values, values)


def test_with_many_levels_no_level_is_better_on_the_other_side() -> None:
    rng = np.random.default_rng(8)
    X = rng.integers(0, 30, size=(3000, 1)).astype(float)
    preferred = rng.choice([-1.0, 1.0], size=(2, 3))[rng.integers(0, 2, size=30)]
    Y = np.where(rng.random((3, 3000)) < 0.2, -1, 1) * preferred[X[:, 0].astype(int)].T
    W = np.ones(Y.shape)
    search = search_of(X, {0: 30})
    found = search.find_best_by_signs(Y, W)
    sides = found.on_rows(search)
    assert math.isclose(found.criterion_value, np.sum(sides != Y))
    for level in range(30):
        rows = X[:, 0] == level
        here, there = (np.sum(Y[:, rows] != v[:, None]) for v in found.values)
        assert np.sum(Y[:, rows] != sides[:, rows]) == min(here, there)
