"""PartitionedColumns: the encoded columns of a Dask collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._weights import NO_WEIGHT
from bosquet.boosting.gradient.distributed import DistributedColumns, EncodedRows, TreeTerms
from bosquet.dask.cluster import Cluster
from bosquet.dask.forests import ClusterForestFit
from bosquet.dask.partitions import Partition, PartitionReader, read_rows
from bosquet.data import BinMemory, TableEncoder
from bosquet.forests.distributed import DistributedForestColumns
from bosquet.losses import CustomLoss, NativeLoss
from bosquet.trees.binning import learn_bins
from bosquet.trees.growing import TreeTarget

if TYPE_CHECKING:
    from bosquet.data import Columns


class PartitionedColumns(DistributedColumns, DistributedForestColumns):
    """The encoded columns of a Dask collection, which the workers read partition by partition.

    Parameters
    ----------
    delayed : list of delayed objects, the partitions
    partitions : list of Partition
    cluster : Cluster
    reader : PartitionReader
    memory_limit : int or None
        Bytes of memory for the bins on each worker; None: half of the worker's memory.
    holders : addresses of the workers that hold a partition in memory, by its key
    selected : bool array over the rows of all partitions, or None for all
    """

    def __init__(
        self,
        delayed: list[Any],
        partitions: list[Partition],
        cluster: Cluster,
        reader: PartitionReader,
        memory_limit: int | None,
        holders: Mapping[Any, tuple[str, ...]],
        selected: np.ndarray | None = None,
    ):
        self.delayed = delayed
        self.partitions = partitions
        self.cluster = cluster
        self.reader = reader
        self.memory_limit = memory_limit
        self._holders = holders
        self.first_rows = np.cumsum([0, *(partition.n_rows for partition in partitions)])
        super().__init__(self._read_on_driver, int(self.first_rows[-1]), BinMemory(0, ""), selected)

    def take(self, index: np.ndarray) -> PartitionedColumns:
        """Select rows by their positions, in ascending order, or by a boolean mask."""
        selected = super().take(index)._selected
        return PartitionedColumns(
            self.delayed, self.partitions, self.cluster, self.reader, self.memory_limit,
            self._holders, selected,
        )  # fmt: skip

    def gather(self, index: np.ndarray) -> list[np.ndarray]:
        """Read the rows with these positions, in ascending order, into the memory of the driver."""
        from dask import delayed

        rows = index if self._selected is None else np.flatnonzero(self._selected)[index]
        bounds = np.searchsorted(rows, self.first_rows)
        numbers = np.flatnonzero(np.diff(bounds))
        tasks = [
            delayed(read_rows, pure=False)(
                self.delayed[k],
                self.partitions[k],
                self.reader,
                rows[bounds[k] : bounds[k + 1]] - self.first_rows[k],
            )
            for k in numbers.tolist()
        ]
        pieces = self.cluster.compute(
            tasks, describe=lambda task: self.partitions[numbers[task]].name
        )
        return [np.concatenate(column) for column in zip(*pieces, strict=True)]

    def selected_of(self, number: int) -> np.ndarray | None:
        """Return which rows of a partition are selected; None: all."""
        if self._selected is None:
            return None
        return self._selected[self.first_rows[number] : self.first_rows[number + 1]]

    def holders(self, number: int) -> tuple[str, ...]:
        """Return the addresses of the workers that hold a partition in memory."""
        return self._holders.get(self.delayed[number].key, ())

    def tree_stepper(
        self,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss | CustomLoss,
        terms: TreeTerms | None,
        *,
        categories: list[int],
        options: dict[str, Any],
        max_bins: int,
        vector_leaves: bool,
    ) -> Any:
        from bosquet.dask.stepper import ClusterStepper

        if isinstance(loss, CustomLoss):
            raise ValueError(
                "loss= as an object needs the whole table in memory, but X is on a cluster; pass the name of"
                " a loss"
            )
        return ClusterStepper(
            self, train, validation, loss, terms, categories=categories, options=options,
            max_bins=max_bins, vector_leaves=vector_leaves,
        )  # fmt: skip

    @property
    def n_processes(self) -> int:
        return len(self.cluster.workers())

    def forest_fit(
        self,
        encoder: TableEncoder,
        target: TreeTarget,
        weight: np.ndarray,
        options: dict[str, Any],
        *,
        max_bins: int,
        seed: int,
    ) -> ClusterForestFit:
        # As `code_table`: the bins do not depend on the weights.
        bins = learn_bins(
            self, encoder.n_levels, NO_WEIGHT, max_bins=max_bins, seed=seed, threads=1
        )
        tables = [
            (table, partition, self.selected_of(partition.number))
            for table, partition in zip(self.delayed, self.partitions, strict=True)
            if partition.n_rows
        ]
        setup = (bins, target, weight, options, self.memory_limit)
        return ClusterForestFit(self.cluster, tables, self.reader, setup)

    def _read_on_driver(self) -> Iterator[Columns]:
        """Read all rows, partition by partition, into the memory of the driver."""
        from dask import delayed

        for table, partition in zip(self.delayed, self.partitions, strict=True):
            if partition.n_rows:
                rows = np.arange(partition.n_rows)
                task = delayed(read_rows, pure=False)(table, partition, self.reader, rows)
                yield self.cluster.compute([task])[0]
