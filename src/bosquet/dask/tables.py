"""A Dask collection as the training table of a fit."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._suggestions import first_names, hint, with_article
from bosquet._targets import CodedLabels
from bosquet.batches import BatchSource
from bosquet.batches.frames import memory_part
from bosquet.batches.schemas import CommonSchema
from bosquet.batches.training import (
    DividedTable,
    TrainingBatches,
    TrainingInput,
    bytes_of_limit,
    read_target_and_numbers,
)
from bosquet.dask.cluster import Cluster
from bosquet.dask.columns import PartitionedColumns
from bosquet.dask.partitions import (
    Partition,
    PartitionReader,
    PartitionSurvey,
    partition_name,
    survey,
    whole_partition,
)
from bosquet.data import MAX_CATEGORIES, BatchedColumns, TableEncoder

if TYPE_CHECKING:
    from bosquet._types import CategoricalFeatures

# A table of fewer values (rows times features) is read by the driver and fitted there: on a cluster, messages
# would take longer than the fit.
VALUES_ON_DRIVER = 2_000_000


@dataclass(frozen=True)
class DaskTable(DividedTable):
    """A Dask DataFrame, a Dask array, or a list of delayed tables, on the workers of a cluster."""

    X: Any
    cluster: Cluster
    categorical_features: CategoricalFeatures
    owner: str

    @contextmanager
    def training_input(
        self,
        y: Any,
        *,
        target: str | list[str] | None,
        memory_limit: float | str | None,
        **by_row: Any,
    ) -> Iterator[TrainingInput]:
        limit = None if memory_limit is None else bytes_of_limit(memory_limit)
        if (y is None) == (target is None):
            raise ValueError(
                "X is a Dask collection, which needs either y, a collection with the same partitions, or"
                " target=, the name of a column of X"
            )
        partitions = partitions_of(self.X, self.cluster)
        given = {name: v for name, v in {"y": y, **by_row}.items() if is_collection(v)}
        targets = [target] if isinstance(target, str) else list(target or ())
        named = {name: v for name, v in by_row.items() if v is not None and name not in given}
        features = _features(partitions.columns, _named_targets(target) | named)
        surveys = self._survey(partitions, given, [*targets, *named.values()], features)
        rows = [Partition(number, s.n_rows) for number, s in enumerate(surveys)]
        n_rows = sum(partition.n_rows for partition in rows)
        if n_rows == 0:
            raise ValueError("X has no rows; pass a collection with at least one row")
        schema = None if features is None else _common_schema(surveys)
        source = BatchSource(
            [memory_part(partition_name(k), s.by_row) for k, s in enumerate(surveys) if s.n_rows],
            "the Dask collection",
        )
        if y is not None:
            targets = [name for name in source.column_names if name == "y" or name.startswith("y[")]
        columns = {name: named.get(name, name) for name in by_row if by_row[name] is not None}
        is_single = target is None or isinstance(target, str)
        y, numbers = read_target_and_numbers(
            source, targets[0] if len(targets) == 1 and is_single else targets, columns
        )
        batches = PartitionedBatches(
            partitions, rows, self.cluster, features, schema, surveys, limit
        )
        if n_rows * batches.n_features < VALUES_ON_DRIVER:
            y = y.classes[y.numbers] if isinstance(y, CodedLabels) else y
            yield TrainingInput(batches.whole_table(), y, **numbers)
        else:
            yield TrainingInput(batches, y, **numbers)

    def _survey(
        self,
        partitions: Partitions,
        given: dict[str, Any],
        others_of_X: list[str],
        features: list[str] | None,
    ) -> list[PartitionSurvey]:
        from dask import delayed

        others = {
            name: _matching_partitions(name, values, partitions, self.cluster)
            for name, values in given.items()
        }
        tasks = [
            delayed(survey, pure=False)(
                number, table, {name: of_name[number] for name, of_name in others.items()},
                others_of_X, features, self.categorical_features, self.owner,
            )
            for number, table in enumerate(partitions.delayed)
        ]  # fmt: skip
        return self.cluster.compute(tasks, describe=partition_name)


@dataclass(frozen=True)
class Partitions:
    """The partitions of a collection.

    Attributes
    ----------
    delayed : the partitions as delayed objects
    columns : names of the columns, None for an array
    holders : addresses of the workers that hold a partition in memory, by its key
    """

    delayed: list[Any]
    columns: list[str] | None
    holders: Mapping[Any, tuple[str, ...]]


def is_collection(value: Any) -> bool:
    """Return whether a value is a Dask DataFrame, Series or array, or a list of delayed or futures."""
    from dask import is_dask_collection
    from distributed import Future

    if isinstance(value, (list, tuple)):
        return len(value) > 0 and all(isinstance(v, Future) or is_dask_collection(v) for v in value)
    return is_dask_collection(value)


def partitions_of(collection: Any, cluster: Cluster) -> Partitions:
    """Return the partitions of a collection."""
    from dask import delayed
    from distributed import futures_of

    if not is_collection(collection):
        raise TypeError(
            f"X is {with_article(type(collection).__name__)}; pass a Dask DataFrame, a Dask array or a list"
            " of delayed tables, or fit an estimator of bosquet itself"
        )
    holders = cluster.client.who_has(futures_of(collection))
    if isinstance(collection, (list, tuple)):
        tables = [delayed(table) for table in collection]
        columns = cluster.compute([delayed(_column_names, pure=False)(tables[0])])[0]
    elif hasattr(collection, "chunks"):
        if collection.ndim == 2 and len(collection.chunks[1]) > 1:
            collection = collection.rechunk({1: -1})
        tables, columns = collection.to_delayed().ravel(), None
    elif hasattr(collection, "to_delayed"):
        tables = collection.to_delayed()
        columns = (
            [str(name) for name in collection.columns] if hasattr(collection, "columns") else None
        )
    else:
        raise TypeError(
            f"X is {with_article(type(collection).__name__)}; pass a Dask DataFrame, a Dask array or a list"
            " of delayed tables"
        )
    return Partitions(list(tables), columns, holders)


def read_collection(collection: Any, cluster: Cluster) -> Any:
    """Return a collection in the memory of the driver."""
    from dask import delayed

    if not isinstance(collection, (list, tuple)):
        return cluster.compute([collection])[0]
    import pandas as pd

    return pd.concat(cluster.compute([delayed(table) for table in collection]))


def _column_names(table: Any) -> list[str] | None:
    names = getattr(table, "column_names", getattr(table, "columns", None))
    return None if names is None else [str(name) for name in names]


def _matching_partitions(
    name: str, collection: Any, partitions: Partitions, cluster: Cluster
) -> list[Any]:
    """Return the partitions of y or of another argument, as many as those of X."""
    if not is_collection(collection):
        raise TypeError(
            f"{name} is {with_article(type(collection).__name__)}, but X is a Dask collection; pass a"
            " collection with the same partitions, or the name of a column of X"
        )
    found = partitions_of(collection, cluster).delayed
    if len(found) != len(partitions.delayed):
        raise ValueError(
            f"{name} has {len(found)} partitions, but X has {len(partitions.delayed)}; divide both into the"
            " same partitions (repartition, rechunk)"
        )
    return found


def _named_targets(target: str | list[str] | None) -> dict[str, str]:
    if isinstance(target, list):
        return {f"target[{number}]": name for number, name in enumerate(target)}
    return {} if target is None else {"target": target}


def _features(columns: list[str] | None, named: dict[str, Any]) -> list[str] | None:
    """Return the names of the features: the columns that no argument names; None for an array."""
    for argument, name in named.items():
        if not isinstance(name, str):
            raise TypeError(
                f"{argument} is {with_article(type(name).__name__)}, but X is a Dask collection; pass a"
                " collection with the same partitions, or the name of a column of X"
            )
        if columns is None:
            raise ValueError(
                f"{argument}={name!r} names a column, but X is an array, which has no column names; pass a"
                " collection with the same partitions"
            )
        if name not in columns:
            raise ValueError(f"{argument}={name!r} is not a column of X; {hint(name, columns)}")
    if columns is None:
        return None
    features = [column for column in columns if column not in named.values()]
    if not features:
        raise ValueError(
            f"X has no feature column besides {first_names(list(named.values()))}; add at least one"
        )
    return features


def _common_schema(surveys: Sequence[PartitionSurvey]) -> CommonSchema:
    """Return the types that all partitions can be converted to."""
    schema = CommonSchema()
    headers = [
        (partition_name(k), s.header)
        for k, s in enumerate(surveys)
        if s.n_rows and s.header is not None
    ]
    for name, header in headers:
        schema.add(name, header.schema)
    for name, header in headers:  # the levels of ordered categories
        schema.convert(header, schema.names, name)
    return schema


@dataclass(frozen=True)
class PartitionedBatches(TrainingBatches):
    """The features of a training table in the partitions of a collection."""

    collection: Partitions
    partitions: list[Partition]
    cluster: Cluster
    features: list[str] | None
    schema: CommonSchema | None
    surveys: list[PartitionSurvey]
    memory_limit: int | None

    @property
    def n_features(self) -> int:
        return next(s.levels.n_columns for s in self.surveys if s.levels is not None)

    def fit_encoder(
        self,
        *,
        categorical_features: CategoricalFeatures,
        owner: str,
        max_categories: int | None = MAX_CATEGORIES,
    ) -> TableEncoder:
        first, *others = (s.levels for s in self.surveys if s.levels is not None)
        levels = copy.deepcopy(first)
        for of_partition in others:
            levels.merge(of_partition)
        return TableEncoder.from_training_levels(levels, max_categories)

    def encoded(self, encoder: TableEncoder, owner: str) -> BatchedColumns:
        reader = PartitionReader(self.features, self.schema, encoder, owner)
        return PartitionedColumns(
            self.collection.delayed, self.partitions, self.cluster, reader, self.memory_limit,
            self.collection.holders,
        )  # fmt: skip

    def whole_table(self) -> Any:
        """Return the whole table, read by the driver."""
        from dask import delayed

        tasks = [delayed(whole_partition, pure=False)(table) for table in self.collection.delayed]
        tables = self.cluster.compute(tasks, describe=partition_name)
        if self.features is None:
            return np.concatenate([np.asarray(table) for table in tables])
        import pyarrow

        reader = PartitionReader(self.features, self.schema, TableEncoder([None], None), "")
        batches = [
            batch
            for partition, table in zip(self.partitions, tables, strict=True)
            if partition.n_rows
            for batch in reader.batches(table, partition)
        ]
        return pyarrow.Table.from_batches(batches)
