"""The part of a boosting fit that runs on a worker: functions that the driver calls there.

A worker keeps the bins of its partitions and the state of the fit from one call to the next.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from bosquet import _core
from bosquet._instruction_set import instruction_set
from bosquet.boosting.gradient.distributed import TreeTerms
from bosquet.dask.exchange import Exchange, LostPartError
from bosquet.dask.partitions import Partition, memory_for_bins
from bosquet.dask.shares import Reader, RowsOfSet
from bosquet.data import BinMemory, count_rows, take_rows
from bosquet.losses import NativeLoss
from bosquet.trees.binning import empty_matrix

if TYPE_CHECKING:
    from distributed import Worker

Result = TypeVar("Result")

# The rows of each partition of a worker that belong to the training set and to the validation set.
RowsOfPartitions: TypeAlias = "dict[int, list[RowsOfSet | None]]"


@dataclass(frozen=True)
class FitSetup:
    """The settings that all parts of a fit have in common.

    `all_rows` are the numbers of rows of the training set and of the validation set (0: none). `terms` are
    the rounds so far, None if the fit starts from the constants `base`.
    """

    loss: NativeLoss
    bins: _core.Bins
    options: dict[str, Any]
    categories: list[int]
    vector_leaves: bool
    all_rows: tuple[int, int]
    memory_limit: int | None
    base: np.ndarray
    terms: TreeTerms | None

    @property
    def n_sets(self) -> int:
        return 2 if self.all_rows[1] else 1


@dataclass(frozen=True)
class BoostedRound:
    """The trees of a round (on part 0) and its losses."""

    trees: _core.Ensemble | None
    train_loss: float
    validation_loss: float | None


class WorkerSet:
    """The training set or the validation set of a worker: rows that are appended partition by partition."""

    def __init__(self, setup: FitSetup, n_rows: int, memory: BinMemory):
        self._matrix = empty_matrix(setup.bins, n_rows, memory)
        self._rows: list[RowsOfSet] = []
        self._raw: list[np.ndarray] = []  # raw predictions of the rounds so far, with the offset

    def append(self, rows: RowsOfSet) -> None:
        """Announce the rows of the next partition, whose columns follow."""
        self._rows.append(rows)

    def append_columns(self, setup: FitSetup, columns: Any, threads: int) -> None:
        """Bin the next columns."""
        self._matrix.append(columns, instruction_set(), threads)
        if setup.terms is not None:
            self._raw.append(setup.terms.predict_raw(columns, threads).T)

    def finish(self, setup: FitSetup, all_rows: int, exchange: Exchange) -> tuple[Any, ...]:
        """Return matrix, target, weight and the part of all rows, as the core's fit needs them."""
        n_targets, n_rows = setup.loss.targets, self._matrix.filled_rows
        target, weight = np.empty((n_targets, 0)), np.empty(0)
        if self._rows:
            target = np.concatenate([rows.target for rows in self._rows], axis=1)
            weight = np.concatenate([rows.weight for rows in self._rows])
        part = _core.Part(exchange.add, exchange.maximise, all_rows, _runs(self._rows))
        assert target.shape[1] == n_rows
        return self._matrix.finish(), np.ascontiguousarray(target), weight, part

    def raw(self, setup: FitSetup) -> np.ndarray:
        """Return the raw predictions (outputs, rows) from which the fit starts."""
        n_rows = sum(rows.n_rows for rows in self._rows)
        if setup.terms is None or not self._raw:
            raw = np.repeat(setup.base[:, None], n_rows, axis=1)
        else:
            raw = np.concatenate(self._raw, axis=1)
        offsets = [rows.offset for rows in self._rows if rows.offset is not None]
        if offsets:
            raw = raw + np.concatenate(offsets, axis=1)
        return np.ascontiguousarray(raw)

    @property
    def has_offset(self) -> bool:
        return any(rows.offset is not None for rows in self._rows)


def _runs(rows: list[RowsOfSet]) -> list[tuple[int, int]]:
    """Return the runs of consecutive rows: the number of the first row, and the number of rows."""
    runs: list[tuple[int, int]] = []
    for piece in rows:
        if runs and sum(runs[-1]) == piece.first:
            runs[-1] = (runs[-1][0], runs[-1][1] + piece.n_rows)
        else:
            runs.append((piece.first, piece.n_rows))
    return runs


class WorkerFit:
    """The bins and the state of one part of a fit."""

    def __init__(self, setup: FitSetup, rows: RowsOfPartitions, threads: int, memory: BinMemory):
        self.setup, self.rows, self.threads = setup, rows, threads
        counts = np.array([[r.n_rows if r else 0 for r in of_sets] for of_sets in rows.values()])
        self.sets = [WorkerSet(setup, int(counts[:, k].sum()), memory) for k in range(setup.n_sets)]
        self.exchange: Exchange | None = None
        self.thread = ThreadPoolExecutor(1, "bosquet-fit")

    def append(self, table: Any, partition: Partition, reader: Reader) -> None:
        """Bin the rows of a partition."""
        rows = self.rows[partition.number]
        present = [(of_set, r) for of_set, r in zip(self.sets, rows, strict=True) if r is not None]
        for of_set, of_partition in present:
            of_set.append(of_partition)
        first = 0
        for columns in reader.columns(table, partition):
            last = first + count_rows(columns)
            for of_set, of_partition in present:
                if of_partition.selected is None:
                    of_set.append_columns(self.setup, columns, self.threads)
                elif (selected := of_partition.selected[first:last]).any():
                    taken = take_rows(columns, selected)
                    of_set.append_columns(self.setup, taken, self.threads)
            first = last

    def start(self, addresses: list[str]) -> None:
        """Connect this part to the others, and create the fit of the core."""
        setup = self.setup
        assert self.exchange is not None
        self.exchange.connect(addresses)
        matrix, target, weight, part = self.sets[0].finish(setup, setup.all_rows[0], self.exchange)
        self.fit = _core.BoostingFit(
            matrix, setup.bins, target, weight, setup.loss.core, setup.options, instruction_set(),
            self.threads, part,
        )  # fmt: skip
        if setup.n_sets == 2:
            self.fit.set_validation(*self.sets[1].finish(setup, setup.all_rows[1], self.exchange))
        if setup.terms is None and not any(of_set.has_offset for of_set in self.sets):
            self.fit.start_from(setup.base)
        else:
            self.fit.start(*(of_set.raw(setup) for of_set in self.sets))
        self.sets, self.rows = [], {}

    def boost(self, seconds: float) -> list[BoostedRound]:
        """Run rounds for about this many seconds; part 0 decides, and returns the trees."""
        setup, rounds, start = self.setup, list[BoostedRound](), time.perf_counter()
        assert self.exchange is not None
        is_first = self.exchange.rank == 0
        goes_on = np.ones(1, dtype=np.int64)
        while goes_on[0]:
            trees = _core.Ensemble(
                len(setup.categories), setup.loss.outputs, [0.0] * setup.loss.outputs,
                setup.categories, setup.vector_leaves,
            )  # fmt: skip
            self.fit.round(trees)
            validation_loss = self.fit.validation_loss() if setup.n_sets == 2 else None
            rounds.append(
                BoostedRound(trees if is_first else None, self.fit.train_loss(), validation_loss)
            )
            goes_on[0] = is_first and time.perf_counter() - start < seconds
            self.exchange.add(goes_on)
        return rounds


# The parts in this process, by the name of the fit and the address of the worker: several workers may be in
# one process.
_fits: dict[tuple[str, str], WorkerFit] = {}


class UnknownFitError(LostPartError):
    """The worker was started again and has lost its part."""


def _fit_of(name: str, address: str) -> WorkerFit:
    fit = _fits.get((name, address))
    if fit is None:
        raise UnknownFitError(f"worker {address} has no part of the fit {name}")
    return fit


async def begin(
    name: str,
    setup: FitSetup,
    rows: RowsOfPartitions,
    threads: int,
    memory_limit: int,
    dask_worker: Worker,
) -> None:
    """Create the part of a worker; `append` follows for each of its partitions, in order."""
    memory = memory_for_bins(setup.memory_limit, memory_limit)
    _fits[name, dask_worker.address] = WorkerFit(setup, rows, threads, memory)


def append(
    name: str, address: str, table: Any, partition: Partition, reader: Reader, previous: None
) -> None:
    """Bin the rows of a partition. A task of the worker, after the task of the partition before."""
    _fit_of(name, address).append(table, partition, reader)


async def listen(name: str, rank: int, n_parts: int, dask_worker: Worker) -> str:
    """Prepare the connections of a part; return its address."""
    fit = _fit_of(name, dask_worker.address)
    fit.exchange = Exchange(dask_worker.address, dask_worker.security, rank, n_parts)
    return await _in_thread_of(fit, fit.exchange.listen)


async def start(name: str, addresses: list[str], dask_worker: Worker) -> None:
    """Connect the parts, and create the fit of the core."""
    fit = _fit_of(name, dask_worker.address)
    await _in_thread_of(fit, lambda: fit.start(addresses))


async def boost(name: str, seconds: float, dask_worker: Worker) -> list[BoostedRound]:
    """Run rounds in the thread of the part: the worker can still answer others meanwhile."""
    fit = _fit_of(name, dask_worker.address)
    return await _in_thread_of(fit, lambda: fit.boost(seconds))


async def timings(name: str, dask_worker: Worker) -> dict[str, float]:
    """Return the seconds of the phases, and those of messages and of waiting for other parts."""
    fit = _fit_of(name, dask_worker.address)
    assert fit.exchange is not None
    return {**fit.fit.timings(), "messages": fit.exchange.seconds}


async def close(name: str, dask_worker: Worker) -> None:
    """Free a part; parts that wait for it get an error."""
    fit = _fits.pop((name, dask_worker.address), None)
    if fit is not None:
        if fit.exchange is not None:
            fit.exchange.interrupt()
            fit.thread.submit(fit.exchange.close)
        fit.thread.shutdown(wait=False)


async def _in_thread_of(fit: WorkerFit, function: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(fit.thread, function)
