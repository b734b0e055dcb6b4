"""Which rows of a fit are in which partition, and which worker reads which partitions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from bosquet.boosting.gradient.distributed import EncodedRows
from bosquet.dask.cluster import ClusterWorker
from bosquet.dask.partitions import Partition
from bosquet.data import BatchedColumns, count_rows, take_rows

if TYPE_CHECKING:
    from bosquet.dask.columns import PartitionedColumns
    from bosquet.data import Columns

# A validation set in the memory of the driver is sent to the workers in blocks of this many rows.
_BLOCK_ROWS = 50_000
# A worker reads the partitions that it holds in memory, unless it would have more than this multiple of its
# fair share of the rows.
_SURPLUS = 1.2


@dataclass(frozen=True)
class RowsOfSet:
    """The rows of a partition that belong to the training set or to the validation set.

    Attributes
    ----------
    selected : bool array over the rows of the partition, or None for all
    first : number of the first row among all rows of the set
    target : array of shape (targets, rows)
    weight : array of shape (rows,), empty without weights
    offset : array of shape (outputs, rows), or None
    """

    selected: np.ndarray | None
    first: int
    target: np.ndarray
    weight: np.ndarray
    offset: np.ndarray | None

    @property
    def n_rows(self) -> int:
        return self.target.shape[1]


class Reader(Protocol):
    """Protocol of objects that read a partition as encoded columns, batch by batch."""

    def columns(self, table: Any, partition: Partition) -> Iterator[Columns]: ...


class EncodedReader:
    """Reads partitions that are encoded columns already."""

    def columns(self, table: Columns, partition: Partition) -> Iterator[Columns]:
        yield table


class PlaceInSet(NamedTuple):
    """The rows of a partition in the training set or in the validation set, where they are consecutive."""

    selected: np.ndarray | None  # of the rows of the partition; None: all
    first_row: int
    n_rows: int


@dataclass(frozen=True)
class FitPartition:
    """A partition with the places of its rows in the training set and in the validation set.

    Attributes
    ----------
    delayed : the table, delayed
    partition : Partition
    reader : Reader
    places : for each set, None if it has no rows here
    holders : addresses of the workers that hold the table in memory
    """

    delayed: Any
    partition: Partition
    reader: Reader
    places: tuple[PlaceInSet | None, ...]
    holders: tuple[str, ...] = ()

    @property
    def n_training_rows(self) -> int:
        return 0 if self.places[0] is None else self.places[0].n_rows

    @property
    def n_rows(self) -> int:
        return sum(place.n_rows for place in self.places if place is not None)

    def rows(self, sets: Sequence[EncodedRows]) -> list[RowsOfSet | None]:
        """Return targets, weights and offsets of the rows of each set."""
        found: list[RowsOfSet | None] = []
        for of_set, place in zip(sets, self.places, strict=True):
            if place is None:
                found.append(None)
                continue
            first, last = place.first_row, place.first_row + place.n_rows
            weight = of_set.weight[first:last] if of_set.weight.size else of_set.weight
            offset = None if of_set.offset is None else of_set.offset[:, first:last]
            found.append(
                RowsOfSet(place.selected, first, of_set.target[:, first:last], weight, offset)
            )
        return found


def fit_partitions(
    columns: PartitionedColumns, validation: EncodedRows | None
) -> list[FitPartition]:
    """Return the partitions with rows of the training set (`columns`) or of the validation set."""
    sets = [columns]
    in_memory = None
    if validation is not None:
        if isinstance(validation.columns, BatchedColumns):
            sets.append(validation.columns)  # type: ignore[arg-type]
        else:
            in_memory = validation.columns
    first_rows = [0] * len(sets)
    found = []
    for partition in columns.partitions:
        places: list[PlaceInSet | None] = []
        for k, of_set in enumerate(sets):
            selected = of_set.selected_of(partition.number)
            n_rows = partition.n_rows if selected is None else int(np.count_nonzero(selected))
            places.append(PlaceInSet(selected, first_rows[k], n_rows) if n_rows else None)
            first_rows[k] += n_rows
        if in_memory is not None:
            places.append(None)
        if any(place is not None for place in places):
            found.append(
                FitPartition(
                    columns.delayed[partition.number],
                    partition,
                    columns.reader,
                    tuple(places),
                    columns.holders(partition.number),
                )
            )
    if in_memory is not None:
        found += _blocks(in_memory, len(columns.partitions))
    return found


def _blocks(columns: Columns, number: int) -> Iterator[FitPartition]:
    """Yield a validation set in memory as partitions."""
    from dask import delayed

    n_rows = count_rows(columns)
    for k, first in enumerate(range(0, n_rows, _BLOCK_ROWS)):
        last = min(first + _BLOCK_ROWS, n_rows)
        block = delayed(take_rows(columns, slice(first, last)), traverse=False)
        partition = Partition(number + k, last - first)
        place = PlaceInSet(None, first, last - first)
        yield FitPartition(block, partition, EncodedReader(), (None, place))


def divide(
    partitions: Sequence[FitPartition], workers: Sequence[ClusterWorker]
) -> list[tuple[ClusterWorker, list[FitPartition]]]:
    """Return the partitions of each worker, in order; a worker without training rows is left out.

    A worker reads the partitions that it holds, as long as the numbers of rows remain in proportion to the
    threads. The other partitions are divided into runs of consecutive ones. Partitions that have rows of the
    validation set only go to the workers with the fewest rows.
    """
    training = [p for p in partitions if p.n_training_rows]
    workers = list(workers)[: len(training)]
    n_rows, threads = sum(p.n_rows for p in training), sum(worker.threads for worker in workers)
    shares = {w.address: Share(w, n_rows * w.threads / threads) for w in workers}
    others = []
    for p in training:
        holders = [shares[address] for address in p.holders if address in shares]
        share = next((s for s in holders if s.n_rows + p.n_rows <= _SURPLUS * s.fair_rows), None)
        if share is None:
            others.append(p)
        else:
            share.partitions.append(p)
    _add_runs(others, sorted(shares.values(), key=lambda share: share.n_rows / share.fair_rows))
    used = [share for share in shares.values() if share.partitions]
    for p in partitions:
        if not p.n_training_rows:
            min(used, key=lambda share: share.n_rows / share.fair_rows).partitions.append(p)
    for share in used:
        share.partitions.sort(key=lambda p: p.partition.number)
    return [(share.worker, share.partitions) for share in used]


@dataclass
class Share:
    """The partitions of a worker, and the number of rows that would be its fair share."""

    worker: ClusterWorker
    fair_rows: float
    partitions: list[FitPartition] = field(default_factory=list)

    @property
    def n_rows(self) -> int:
        return sum(p.n_rows for p in self.partitions)


def _add_runs(partitions: Sequence[FitPartition], shares: Sequence[Share]) -> None:
    """Fill the shares one after the other with consecutive partitions; none remains empty."""
    current, *later = shares
    for position, p in enumerate(partitions):
        left = len(partitions) - position
        is_full = current.n_rows + p.n_rows / 2 > current.fair_rows
        needed = sum(not share.partitions for share in later)
        if later and current.partitions and (is_full or left <= needed):
            current, *later = later
        current.partitions.append(p)
