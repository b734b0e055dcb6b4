"""The division of partitions among workers."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("distributed")
from bosquet.dask.cluster import ClusterWorker
from bosquet.dask.partitions import Partition
from bosquet.dask.shares import EncodedReader, FitPartition, PlaceInSet, divide


def partition(number: int, n_rows: int, *, validation: bool = False, holders: Any = ()) -> Any:
    place = PlaceInSet(None, 0, n_rows)
    places = (None, place) if validation else (place, None)
    return FitPartition(None, Partition(number, n_rows), EncodedReader(), places, holders)


def worker(name: str, threads: int = 1) -> ClusterWorker:
    return ClusterWorker(name, threads, 0)


def numbers(shares: Any) -> dict[str, list[int]]:
    return {w.address: [p.partition.number for p in share] for w, share in shares}


def test_rows_are_divided_in_proportion_to_threads():
    shares = divide([partition(k, 100) for k in range(9)], [worker("a", 2), worker("b", 1)])
    assert numbers(shares) == {"a": [0, 1, 2, 3, 4, 5], "b": [6, 7, 8]}


def test_a_worker_reads_the_partitions_that_it_holds():
    parts = [partition(k, 100, holders=("ab"[k % 2],)) for k in range(4)]
    assert numbers(divide(parts, [worker("a"), worker("b")])) == {"a": [0, 2], "b": [1, 3]}


def test_partitions_that_one_worker_holds_are_divided():
    parts = [partition(k, 100, holders=("a",)) for k in range(4)]
    assert numbers(divide(parts, [worker("a"), worker("b")])) == {"a": [0, 1], "b": [2, 3]}


def test_no_worker_is_idle_if_there_are_enough_partitions():
    parts = [partition(0, 1_000), partition(1, 1), partition(2, 1)]
    shares = divide(parts, [worker(name) for name in "abc"])
    assert numbers(shares) == {"a": [0], "b": [1], "c": [2]}


def test_a_worker_without_training_rows_is_left_out():
    parts = [partition(0, 100), partition(1, 50, validation=True), partition(2, 60)]
    shares = divide(parts, [worker(name) for name in "abc"])
    assert numbers(shares) == {"a": [0], "b": [1, 2]}
