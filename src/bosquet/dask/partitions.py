"""Partitions of a Dask collection: how a worker reads one, and what the driver learns from it at first."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.batches import BatchSource
from bosquet.batches.frames import arrow_table, memory_part
from bosquet.batches.schemas import CommonSchema
from bosquet.batches.training import available_memory
from bosquet.data import BinMemory, TableEncoder, TrainingLevels, count_rows

if TYPE_CHECKING:
    import pyarrow

    from bosquet._types import CategoricalFeatures
    from bosquet.data import Columns


# Without memory_limit, the bins of a worker may take this share of the memory that is available to it.
_SHARE_OF_MEMORY = 0.5


def memory_for_bins(limit: int | None, memory_of_worker: int) -> BinMemory:
    """Return where the bins of this worker are kept; a worker with 0 bytes has no limit of its own."""
    if limit is None:
        limit = int(_SHARE_OF_MEMORY * (memory_of_worker or available_memory()))
    return BinMemory(limit, tempfile.gettempdir())


@dataclass(frozen=True)
class Partition:
    """A partition of a collection.

    Attributes
    ----------
    number : its position among the partitions of the collection
    n_rows : number of rows
    """

    number: int
    n_rows: int

    @property
    def name(self) -> str:
        return partition_name(self.number)


def partition_name(number: int) -> str:
    """Return the name of a partition in messages."""
    return f"partition {number}"


@dataclass(frozen=True)
class PartitionReader:
    """Reads partitions as encoded columns, with the same types in all of them.

    Attributes
    ----------
    features : names of the features, None for partitions that are arrays
    schema : the types that the partitions have in common, None for arrays
    encoder : the encoder of the features
    owner : name of the estimator in messages
    """

    features: list[str] | None
    schema: CommonSchema | None
    encoder: TableEncoder
    owner: str

    def columns(self, table: Any, partition: Partition) -> Iterator[Columns]:
        """Yield the encoded columns, batch by batch."""
        n_rows = 0
        for batch in self.batches(table, partition) if partition.n_rows else ():
            columns = self.encoder.transform(batch, owner=self.owner)
            n_rows += count_rows(columns)
            yield columns
        if n_rows != partition.n_rows:
            raise ValueError(
                f"{partition.name} has {n_rows} rows now, but had {partition.n_rows} before; every pass must"
                " read the same rows: persist the collection if its rows are drawn at random"
            )

    def batches(self, table: Any, partition: Partition) -> Iterator[Any]:
        """Yield the features, with the common types."""
        if self.features is None:
            return iter([as_matrix(table, partition.name)])
        part = memory_part(partition.name, arrow_table(table, partition.name))
        return BatchSource([part], partition.name, self.schema).batches(self.features)


@dataclass(frozen=True)
class PartitionSurvey:
    """The facts that the driver learns from a partition in the first pass.

    Attributes
    ----------
    n_rows : number of rows
    header : the columns and their types, as a table without rows; None for an array
    by_row : the target, the weights and other columns with one value per row that are not features
    levels : the levels of the features, None without rows
    """

    n_rows: int
    header: pyarrow.RecordBatch | None
    by_row: pyarrow.Table
    levels: TrainingLevels | None


def survey(
    number: int,
    table: Any,
    given: dict[str, Any],
    others_of_X: list[str],
    features: list[str] | None,
    categorical_features: CategoricalFeatures,
    owner: str,
) -> PartitionSurvey:
    """Read a partition for the first time; a task of a worker.

    Parameters
    ----------
    number : of the partition
    table : the partition of X
    given : the partitions of other collections (y, sample_weight, ...), by the name of the argument
    others_of_X : the columns of `table` that are not features: targets, weights, ...
    features : names of the features, None for an array
    categorical_features, owner : as in `TableEncoder.fit_encode`
    """
    import pyarrow

    name = partition_name(number)
    if features is None:
        matrix = as_matrix(table, name)
        n_rows, header, columns = len(matrix), None, {}
        batches: Any = [matrix] if n_rows else []
    else:
        arrow = arrow_table(table, name)
        check_columns(name, arrow.schema.names, [*features, *others_of_X])
        n_rows = arrow.num_rows
        columns = {column: arrow.column(column) for column in others_of_X}
        used = arrow.select(features)
        header = _header(used)
        # The types of this partition alone: those of the others are not known yet.
        source = BatchSource([memory_part(name, used)], name) if n_rows else None
        batches = [] if source is None else source.batches(features)
    for argument, values in given.items():
        columns |= _columns_of(argument, values, n_rows, name)
    return PartitionSurvey(
        n_rows, header, pyarrow.table(columns), _levels(batches, categorical_features, owner)
    )


def _levels(
    batches: Any, categorical_features: CategoricalFeatures, owner: str
) -> TrainingLevels | None:
    levels: TrainingLevels | None = None
    for batch in batches:
        if levels is None:
            levels = TrainingLevels(batch, categorical_features, owner)
        if levels.columns_to_read:
            levels.add(_select(batch, levels.columns_to_read))
    return levels


def _select(batch: Any, columns: Sequence[int]) -> Any:
    return batch[:, columns] if isinstance(batch, np.ndarray) else batch.select(columns)


def _header(table: pyarrow.Table) -> pyarrow.RecordBatch:
    """Return the columns without rows; those of ordered categories still have their levels."""
    import pyarrow

    arrays = []
    for column in table.columns:
        is_ordered = pyarrow.types.is_dictionary(column.type) and column.type.ordered
        if is_ordered and column.num_chunks:
            arrays.append(column.chunk(0).slice(0, 0))
        else:
            arrays.append(pyarrow.array([], column.type))
    return pyarrow.RecordBatch.from_arrays(arrays, schema=table.schema)


def as_matrix(table: Any, name: str) -> np.ndarray:
    """Return a partition of an array as a matrix; raise a ValueError that names it."""
    matrix = np.asarray(table)
    if matrix.ndim != 2:
        raise ValueError(
            f"{name} of X has {matrix.ndim} dimensions; X must have two, (rows, features)"
        )
    return matrix


def check_columns(name: str, present: Sequence[str], needed: Sequence[str]) -> None:
    """Raise a ValueError if a partition lacks a column or has more columns."""
    for column in needed:
        if column not in present:
            raise ValueError(
                f"{name} has no column {column!r}, which partition 0 has; {hint(column, list(present))}"
            )
    added = [column for column in present if column not in needed]
    if added:
        raise ValueError(
            f"{name} has a column {added[0]!r}, which partition 0 does not have; all partitions must have"
            " the same columns: remove it"
        )


def _columns_of(argument: str, values: Any, n_rows: int, name: str) -> dict[str, Any]:
    """Return the values of an argument with one value per row as columns of Arrow.

    A target of several columns becomes the columns "target[0]", "target[1]", ....
    """
    import pyarrow

    if len(values) != n_rows:
        raise ValueError(
            f"{name} has {n_rows} rows in X, but {len(values)} in {argument}; both must be divided into the"
            " same partitions: call repartition with the same divisions"
        )
    if hasattr(values, "columns"):
        table = arrow_table(values, f"{name} of {argument}")
        return {f"{argument}[{k}]": table.column(k) for k in range(table.num_columns)}
    if getattr(values, "ndim", 1) == 2:
        matrix = np.asarray(values)
        return {f"{argument}[{k}]": pyarrow.array(matrix[:, k]) for k in range(matrix.shape[1])}
    if hasattr(values, "to_frame"):
        return {argument: arrow_table(values.to_frame("values"), name).column(0)}
    return {argument: pyarrow.array(values)}


def read_rows(
    table: Any, partition: Partition, reader: PartitionReader, positions: np.ndarray
) -> list[np.ndarray]:
    """Return the encoded columns of some rows of a partition; a task of a worker."""
    from bosquet.data import BatchedColumns, BinMemory

    columns = BatchedColumns(
        lambda: reader.columns(table, partition), partition.n_rows, BinMemory(0, "")
    )
    return columns.gather(positions)


def whole_partition(table: Any) -> Any:
    """Return a partition as it is; a task of a worker."""
    return table
