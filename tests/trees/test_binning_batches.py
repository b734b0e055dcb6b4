"""Columns that are read in batches have the bins, the codes and the trees of the same columns in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from bosquet import _core
from bosquet.data import BatchedColumns, BinMemory, count_rows, take_rows
from bosquet.losses import NativeLoss
from bosquet.trees import binning

N_ROWS, LEVELS = 5_000, 300
CATEGORIES = [0, 0, 0, 5, LEVELS]
OPTIONS: dict[str, Any] = {
    "max_leaf_nodes": 31, "min_samples_leaf": 5, "l2_regularization": 1.0, "learning_rate": 0.3,
    "min_samples_category": 1, "newton": True, "seed": 1,
}  # fmt: skip
IN_MEMORY, ROWS_ONLY, IN_A_FILE = 10**9, N_ROWS * 8, 0


@pytest.fixture(scope="module")
def columns() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    numbers = [rng.normal(size=N_ROWS).astype(np.float32), rng.exponential(size=N_ROWS)]
    numbers.append(rng.integers(0, 1000, N_ROWS))
    numbers[1][rng.random(N_ROWS) < 0.1] = np.nan
    levels = [rng.integers(-1, count, N_ROWS, dtype=np.int32) for count in CATEGORIES[3:]]
    return [*numbers, *levels]


def in_batches(columns: list[np.ndarray], size: int, limit: int, folder: str) -> BatchedColumns:
    def read() -> Iterator[list[np.ndarray]]:
        for start in range(0, N_ROWS, size):
            yield [column[start : start + size] for column in columns]

    return BatchedColumns(read, N_ROWS, BinMemory(limit, folder))


def bins_of(columns: Any, weight: np.ndarray) -> _core.Bins:
    return binning.learn_bins(columns, CATEGORIES, weight, max_bins=100, seed=3, threads=2)


def boosted(columns: Any, weight: np.ndarray, subsample: float) -> tuple[np.ndarray, list[float]]:
    """The structure of boosted trees and their losses on a validation set, which is routed in bins."""
    bins = bins_of(columns, weight)
    in_training = np.arange(N_ROWS) % 4 > 0
    y = np.sin(np.arange(N_ROWS))[None]
    train, held_out = (take_rows(columns, rows) for rows in (in_training, ~in_training))
    loss = NativeLoss("squared_error")
    fit = _core.BoostingFit(
        binning.bin_table(train, bins, 2), bins, y[:, in_training], weight[in_training], loss.core,
        OPTIONS | {"subsample": subsample}, "auto", 2,
    )  # fmt: skip
    fit.set_validation(binning.bin_table(held_out, bins, 1), y[:, ~in_training], np.zeros(0))
    trees = _core.Ensemble(len(CATEGORIES), 1, [0.0], CATEGORIES, False)
    fit.start_from(np.zeros(1))
    losses = []
    for _ in range(4):
        fit.round(trees)
        losses.append(fit.validation_loss())
    return fit.raw(), losses


@pytest.mark.parametrize("subsample", [1.0, 0.5])
@pytest.mark.parametrize("limit", [IN_MEMORY, ROWS_ONLY, IN_A_FILE])
def test_trees_do_not_depend_on_batches_and_storage(columns, tmp_path, limit, subsample):
    weight = np.random.default_rng(1).uniform(0.5, 2, N_ROWS)
    raw, losses = boosted(columns, weight, subsample)
    batched = boosted(in_batches(columns, 777, limit, str(tmp_path)), weight, subsample)
    np.testing.assert_array_equal(batched[0], raw)
    assert batched[1] == losses
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("weighted", [False, True])
def test_bins_of_a_sample_of_rows_do_not_depend_on_batches(columns, monkeypatch, weighted):
    monkeypatch.setattr(binning, "EDGE_ROWS", 1_000)
    weight = np.random.default_rng(1).uniform(0.5, 2, N_ROWS) if weighted else np.zeros(0)
    whole = bins_of(columns, weight)
    batched = bins_of(in_batches(columns, 333, 0, ""), weight)
    assert len(whole.edges(0)) > 50
    for feature in range(3):
        np.testing.assert_array_equal(batched.edges(feature), whole.edges(feature))


def test_codes_of_batches_give_the_same_forest(columns):
    y = np.sin(np.arange(N_ROWS))[None]
    forests = []
    for table in (columns, in_batches(columns, 640, 0, "")):
        codes = binning.code_bins(table, bins_of(table, np.zeros(0)), 2)
        fit = _core.CartFit(codes, y, 1, np.zeros(0), {"criterion": "squared_error"}, 2)
        trees = _core.Ensemble(len(CATEGORIES), 1, [0.0], CATEGORIES, False)
        fit.grow(trees, [1, 2, 3], N_ROWS, True)
        forests.append(trees.predict_raw(columns, 0, 3, 1))
    np.testing.assert_array_equal(forests[1], forests[0])


def test_rows_are_taken_from_batches_by_position_and_by_mask(columns):
    batched = in_batches(columns, 100, 0, "")
    rows = np.array([0, 1, 99, 100, 250, 4_999])
    mask = np.zeros(N_ROWS, dtype=bool)
    mask[rows] = True
    for selected in (batched.take(rows), batched.take(mask)):
        assert count_rows(selected) == len(rows)
        taken = [np.concatenate(column) for column in zip(*selected, strict=True)]
        for column, whole in zip(taken, columns, strict=True):
            np.testing.assert_array_equal(column, whole[rows])
        again = selected.take(np.array([1, 4]))
        np.testing.assert_array_equal(again.gather(np.array([0, 1]))[0], columns[0][[1, 250]])


@pytest.mark.parametrize(
    ("use", "message"),
    [
        (lambda m, b: m.append(b, "auto", 1) or m.append(b, "auto", 1), "rows in a batch"),
        (lambda m, b: m.append(b[:2], "auto", 1), "bins has"),
        (lambda m, b: m.finish(), "0 of 100 rows; append the other rows first"),
        (lambda m, b: m.append(b, "auto", 1) or (m.finish(), m.append(b, "auto", 1)), "is finished"),
    ],
)  # fmt: skip
def test_a_matrix_that_is_filled_wrongly_is_an_error(
    columns, use: Callable[[Any, Any], Any], message
):
    batch = [column[:100] for column in columns]
    matrix = _core.BinnedMatrixBuilder(bins_of(columns, np.zeros(0)), 100, True, "")
    with pytest.raises(ValueError, match=message):
        use(matrix, batch)


def test_a_folder_that_does_not_exist_is_an_error(columns):
    bins = bins_of(columns, np.zeros(0))
    with pytest.raises(ValueError, match=r"cannot be created in /no/such/folder.*memory_limit"):
        _core.BinnedMatrixBuilder(bins, 100, True, "/no/such/folder")
