"""Forests on a cluster: every worker has the codes of the whole table, and grows some of the trees.

A tree depends on its key and on the table only, so it does not matter which worker grows it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet.dask.cluster import MAX_LOSSES, Cluster, ClusterWorker, LostWorkersError
from bosquet.dask.exchange import LostPartError
from bosquet.dask.partitions import Partition, PartitionReader, memory_for_bins
from bosquet.data import BinMemory, count_rows, take_rows
from bosquet.trees.binning import empty_codes
from bosquet.trees.copying import add_copy
from bosquet.trees.growing import TreeTarget, cart_fit

if TYPE_CHECKING:
    from distributed import Worker

logger = logging.getLogger(__name__)


# ------------------------------------------------------------------ on a worker
class WorkerForest:
    """The codes of the table on a worker, and what grows trees on them."""

    def __init__(
        self,
        bins: _core.Bins,
        target: TreeTarget,
        weight: np.ndarray,
        options: Any,
        memory: BinMemory,
    ):
        self.target, self.weight, self.options = target, weight, options
        self.codes = empty_codes(bins, target.n_rows, memory)
        self.thread = ThreadPoolExecutor(1, "bosquet-forest")
        self.fit: _core.CartFit | None = None

    def append(
        self,
        table: Any,
        partition: Partition,
        reader: PartitionReader,
        selected: np.ndarray | None,
        threads: int,
    ) -> None:
        first = 0
        for batch in reader.columns(table, partition):
            columns, last = batch, first + count_rows(batch)
            if selected is not None:
                columns = take_rows(batch, selected[first:last])
            if count_rows(columns):
                self.codes.append(columns, instruction_set(), threads)
            first = last

    def grow(
        self, empty: _core.Ensemble, keys: Sequence[int], threads: int, bags: tuple[Any, ...]
    ) -> _core.Ensemble:
        """Return the trees with these keys."""
        if self.fit is None:
            table = self.codes.finish()
            self.fit = cart_fit(table, self.target, self.weight, self.options, threads)
            del self.codes
        trees = empty.copy()
        self.fit.grow(trees, list(keys), *bags)
        return trees


# By the name of the fit and the address of the worker.
_forests: dict[tuple[str, str], WorkerForest] = {}


def _forest_of(name: str, address: str) -> WorkerForest:
    forest = _forests.get((name, address))
    if forest is None:
        raise LostPartError(f"worker {address} has lost the table of the forest {name}")
    return forest


async def begin(
    name: str,
    bins: _core.Bins,
    target: TreeTarget,
    weight: np.ndarray,
    options: dict[str, Any],
    limit: int | None,
    memory_of_worker: int,
    dask_worker: Worker,
) -> None:
    """Prepare a worker for the codes of the partitions, which follow in order."""
    memory = memory_for_bins(limit, memory_of_worker)
    _forests[name, dask_worker.address] = WorkerForest(bins, target, weight, options, memory)


def append(
    name: str,
    address: str,
    table: Any,
    partition: Partition,
    reader: PartitionReader,
    selected: np.ndarray | None,
    threads: int,
    previous: None,
) -> None:
    """Code the rows of a partition. A task of the worker, after the task of the partition before."""
    _forest_of(name, address).append(table, partition, reader, selected, threads)


async def grow(
    name: str,
    empty: _core.Ensemble,
    keys: Sequence[int],
    threads: int,
    bags: tuple[Any, ...],
    dask_worker: Worker,
) -> _core.Ensemble:
    """Grow trees in a thread: the worker can still answer others meanwhile."""
    forest = _forest_of(name, dask_worker.address)
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(forest.thread, forest.grow, empty, keys, threads, bags)


async def close(name: str, dask_worker: Worker) -> None:
    """Free the table."""
    forest = _forests.pop((name, dask_worker.address), None)
    if forest is not None:
        forest.thread.shutdown(wait=False)


# ------------------------------------------------------------------ on the driver
class ClusterForestFit:
    """Grows trees on all workers; if one is lost, the others grow its trees.

    Parameters
    ----------
    cluster : Cluster
    tables : delayed partitions, each with its Partition and its selected rows (None: all)
    reader : PartitionReader
    setup : bins, target, weight, options and limit of memory, as `begin` needs them
    """

    def __init__(
        self,
        cluster: Cluster,
        tables: Sequence[tuple[Any, Partition, np.ndarray | None]],
        reader: PartitionReader,
        setup: tuple[Any, ...],
    ) -> None:
        self._cluster, self._tables, self._reader, self._setup = cluster, tables, reader, setup
        self._name = uuid.uuid4().hex
        self._loaded: set[str] = set()  # addresses of the workers that have the table

    def grow(
        self,
        ensemble: _core.Ensemble,
        keys: Sequence[int],
        draws: int,
        replace: bool,
        balanced: bool = False,
    ) -> None:
        """Append one tree per key."""
        empty = ensemble.copy()
        empty.truncate(0)
        grown: dict[
            int, tuple[_core.Ensemble, int]
        ] = {}  # the trees of a worker, and the place in it
        for _ in range(MAX_LOSSES):
            missing = [key for key in keys if key not in grown]
            if not missing:
                break
            try:
                for share, trees in self._grow_on_workers(
                    empty, missing, (draws, replace, balanced)
                ):
                    grown |= {key: (trees, place) for place, key in enumerate(share)}
            except LostWorkersError as error:
                logger.warning("%s; continuing on the other workers", error)
                last = error
            except BaseException:
                self.close()
                raise
        else:
            raise RuntimeError(f"the fit lost workers {MAX_LOSSES} times: {last}") from last
        for key in keys:
            add_copy(ensemble, *grown[key])

    def close(self) -> None:
        """Free the tables of the workers."""
        loaded, self._loaded = self._loaded, set()
        self._cluster.notify(close, {address: (self._name,) for address in loaded})

    def _grow_on_workers(
        self, empty: _core.Ensemble, keys: list[int], bags: tuple[Any, ...]
    ) -> list[tuple[list[int], _core.Ensemble]]:
        """Return for each worker the keys of its trees, and the trees."""
        workers = self._cluster.ready_workers()
        self._load([worker for worker in workers if worker.address not in self._loaded])
        per_thread = [worker for worker in workers for _ in range(worker.threads)]
        shares: dict[str, list[int]] = {worker.address: [] for worker in workers}
        for number, key in enumerate(keys):
            shares[per_thread[number % len(per_thread)].address].append(key)
        threads = {worker.address: worker.threads for worker in workers}
        calls = {
            address: (self._name, empty, share, threads[address], bags)
            for address, share in shares.items()
            if share
        }
        trees = self._cluster.call(grow, calls)
        return [(shares[address], trees[address]) for address in calls]

    def _load(self, workers: Sequence[ClusterWorker]) -> None:
        """Let workers read and code the whole table."""
        from dask import delayed

        if not workers:
            return
        self._cluster.call(
            begin, {w.address: (self._name, *self._setup, w.memory_limit) for w in workers}
        )
        tasks = []
        for worker in workers:
            done: Any = None
            for table, partition, selected in self._tables:
                done = delayed(append, pure=False)(
                    self._name, worker.address, table, partition, self._reader, selected,
                    worker.threads, done,
                )  # fmt: skip
            tasks.append(done)
        addresses = [[worker.address] for worker in workers]
        self._cluster.compute_on(tasks, addresses, lambda k: f"worker {workers[k].address}")
        self._loaded |= {worker.address for worker in workers}
