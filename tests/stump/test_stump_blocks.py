"""Features given block by block give the same stump as a table with all features."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from stump_cases import CRITERIA, Array, search_of, signs, small_problems

from bosquet import _core


def blocks_of(X: Array, sizes: list[int], dtype: Any = np.float64) -> list[tuple[int, Array]]:
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return [(int(a), np.ascontiguousarray(X[:, a:b].T, dtype=dtype)) for a, b in pairwise(starts)]


def fields(stump: Any) -> tuple[Any, ...]:
    return (
        stump.feature,
        stump.threshold,
        stump.missing_left,
        stump.values.tolist(),
        stump.criterion_value,
        stump.gain,
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@settings(max_examples=60, deadline=None)
@given(problem=small_problems())
def test_blocks_give_the_same_stump_as_the_table(criterion: str, problem: Any) -> None:
    X, _, y, w = problem
    expected = search_of(X).find_best(y, w, criterion)
    found = _core.find_best_of_blocks(blocks_of(X, [1] * X.shape[1]), y, w, criterion)
    assert fields(found) == fields(expected)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_stump_does_not_depend_on_block_order_or_threads(dtype: Any, criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 24)).astype(dtype)
    X[:, 3] = np.round(X[:, 3])
    X[:, 7] = X[:, 5]
    X[:, 11] = np.exp(8 * X[:, 11])
    X[rng.random(X.shape) < 0.02] = np.nan
    X[rng.random(X.shape) < 0.01] = np.inf
    y = np.where(np.nan_to_num(X[:, 5]) + 2 * rng.normal(size=3000) > 0.3, 1.0, -1.0)
    for w in (np.ones(3000), rng.random(3000)):
        expected = fields(search_of(X).find_best(y, w, criterion))
        blocks = blocks_of(X, [5, 7, 1, 11], dtype)
        for threads in (1, 2, 3):
            assert fields(_core.find_best_of_blocks(blocks, y, w, criterion, threads)) == expected
        assert fields(_core.find_best_of_blocks(blocks[::-1], y, w, criterion, 2)) == expected


def test_blocks_do_not_depend_on_the_instruction_set() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_cauchy(size=(1003, 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    X[rng.random(X.shape) < 0.05] = -np.inf
    for criterion in CRITERIA:
        y, w = signs(rng, 1003), rng.random(1003)
        found = [
            fields(_core.find_best_of_blocks(blocks_of(X, [6]), y, w, criterion, 1, isa))
            for isa in ("baseline", "auto")
        ]
        assert found[0] == found[1]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_bounds_are_valid_for_responses_of_any_size(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_cauchy(size=(2000, 12))
    for _ in range(5):
        y = signs(rng, 2000) if criterion != "squared" else rng.standard_cauchy(size=2000)
        w = rng.exponential(size=2000) ** 3
        found = _core.find_best_of_blocks(blocks_of(X, [12]), y, w, criterion, 1)
        assert fields(found) == fields(search_of(X).find_best(y, w, criterion))


def test_blocks_are_read_one_at_a_time() -> None:
    rng = np.random.default_rng(2)
    alive: list[int] = []

    def lazily() -> Iterator[tuple[int, Array]]:
        for first in range(0, 40, 4):
            alive.append(first)
            yield first, rng.normal(size=(4, 100))

    y = signs(rng, 100)
    stump = _core.find_best_of_blocks(lazily(), y, np.ones(100), "error")
    assert len(alive) == 10
    assert 0 <= stump.feature < 40


def test_blocks_may_have_any_strides() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 6))
    y = np.where(X[:, 2] > 0.5, 1.0, -1.0)
    stump = _core.find_best_of_blocks([(0, X.T)], y, np.ones(500), "error")
    assert stump.feature == 2
    assert stump.criterion_value == 0
    np.testing.assert_array_equal(stump.on_values(X[:, 2].copy()), y)


def test_without_features_the_stump_is_constant() -> None:
    y = np.array([1.0, 1.0, -1.0])
    stump = _core.find_best_of_blocks([], y, np.ones(3), "error")
    assert stump.feature == -1
    assert stump.values.tolist() == [[1.0], [1.0]]
    assert stump.criterion_value == 1.0


def test_invalid_blocks_are_rejected() -> None:
    y, w = np.array([1.0, -1.0, 1.0]), np.ones(3)
    with pytest.raises(
        ValueError,
        match=r"has shape \(3, 2\), but must have shape \(n_features, n_rows\) with n_rows=3",
    ):
        _core.find_best_of_blocks([(0, np.zeros((3, 2)))], y, w, "error")
    with pytest.raises(ValueError, match="pass float32 or float64"):
        _core.find_best_of_blocks([(0, np.zeros((3, 3), dtype=int))], y, w, "error")
    with pytest.raises(ValueError, match="feature number"):
        _core.find_best_of_blocks([(-1, np.zeros((3, 3)))], y, w, "error")
