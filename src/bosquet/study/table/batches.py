"""Read a training table in batches: its target in memory, its features tidied batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._optional import import_pandas
from bosquet._suggestions import hint
from bosquet._targets import CodedLabels
from bosquet.batches import BatchSource, Progress, read_columns
from bosquet.batches.parts import Part
from bosquet.batches.sizes import BATCH_ROWS
from bosquet.data.table import CodedColumn
from bosquet.study.table.target import StudyTarget, read_target, read_text_target
from bosquet.tables import TableTidier
from bosquet.tables.misfits import Misfits
from bosquet.tables.sources import RawTable, frame_of

if TYPE_CHECKING:
    import pyarrow

    from bosquet.tables.column_plan import ColumnPlan

# Rows that decide how each column is prepared, and the number of their values.
SAMPLE_ROWS, SAMPLE_VALUES = 200_000, 20_000_000

# Shows the progress of a pass over a source.
ShowPass = Callable[[str, BatchSource], AbstractContextManager[Progress | None]]


@dataclass
class BatchedTable:
    """A training table without rows that lack a target, read in batches.

    Attributes
    ----------
    source : BatchSource of the tidied features and the target
    target : StudyTarget
    tidier : fitted TableTidier
    notes : remarks on rows and columns that were left out or converted
    """

    source: BatchSource
    target: StudyTarget
    tidier: TableTidier
    notes: list[str]

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of features."""
        return len(self.target.y), len(self.tidier.feature_names)


def read_batched_table(
    raw: RawTable,
    target: str,
    task: str,
    positive: str | None,
    dropped: Sequence[str],
    show_pass: ShowPass,
) -> BatchedTable:
    """Read the target of a table and decide how its columns are prepared.

    Up to `SAMPLE_ROWS` rows, evenly spaced, decide the preparation: with no more rows it is that of the table
    in memory.
    """
    target = _target_column(raw, target, dropped)
    features = [name for name in raw.column_names if name != target and name not in dropped]
    if not features:
        raise ValueError(
            f"the table has no column besides the target {target!r}; it needs at least one feature"
        )
    with show_pass("preparing, target", raw.source) as progress:
        study_target = _read_target(raw.source, target, task, positive, progress)
    rows = np.flatnonzero(study_target.has_target)
    size = max(1, min(SAMPLE_ROWS, SAMPLE_VALUES // len(features)))
    if len(rows) > size:
        rows = rows[np.linspace(0, len(rows) - 1, size).astype(np.int64)]
    with show_pass("preparing, kinds of columns", raw.source) as progress:
        sample = _rows_of(raw.source, features, rows, progress)
    tidier = TableTidier().fit(sample)
    tidier.target = target
    tidier.target_kind = "class" if study_target.is_classes else "number"
    source = BatchSource(
        [_tidied_part(raw.source, study_target, tidier)],
        raw.source.description,
        release=raw.source.close,
    )
    return BatchedTable(source, study_target, tidier, [*study_target.notes, *tidier.notes])


def _target_column(raw: RawTable, target: str, dropped: Sequence[str]) -> str:
    names = [name for name in raw.column_names if name not in dropped]
    found = [name for name in names if name.strip() == target.strip()]
    if not found:
        raise ValueError(f"the target column {target!r} is not in the table; {hint(target, names)}")
    return found[0]


def _read_target(
    source: BatchSource, name: str, task: str, positive: str | None, progress: Progress | None
) -> StudyTarget:
    import pyarrow as pa

    pandas = import_pandas("reading tables")
    column = read_columns(source, [name], progress)[name]
    if isinstance(column, CodedColumn):
        return read_text_target(
            [str(level) for level in column.levels], column.codes, name, task, positive
        )
    series = pandas.Series(column.as_quantities())
    if pa.types.is_boolean(source.schema.field(name).type):
        series = series.astype("boolean")
    return read_target(series, name, task, positive)


def _rows_of(
    source: BatchSource, columns: Sequence[str], rows: np.ndarray, progress: Progress | None
) -> Any:
    """Return the rows with these numbers, in ascending order, as a frame."""
    import pyarrow as pa

    selected = []
    first = 0
    for batch in source.batches(columns, progress):
        last = first + batch.num_rows
        low, high = np.searchsorted(rows, [first, last])
        if high > low:
            selected.append(batch.take(pa.array(rows[low:high] - first)))
        first = last
    return frame_of(pa.Table.from_batches(selected).unify_dictionaries(), 1)


def _tidied_part(source: BatchSource, target: StudyTarget, tidier: TableTidier) -> Part:
    """Return a source as one part with the tidied features and the target."""
    import pyarrow as pa

    assert target.name is not None
    plan_of = {name: plan for plan in tidier.plans for name in plan.outputs}
    fields = [(name, _type_of(plan)) for name, plan in plan_of.items()]
    schema = pa.schema([*fields, (target.name, _target_values(target, 0, 1).type)])
    n_rows = len(target.y)

    def read(wanted: pyarrow.Schema) -> Iterator[tuple[pyarrow.RecordBatch, int]]:
        names = wanted.names
        if names == [target.name]:
            for first in range(0, n_rows, BATCH_ROWS):
                values = _target_values(target, first, first + BATCH_ROWS)
                yield pa.RecordBatch.from_arrays([values], names=names), 0
            return
        position = [0]

        def note_position(_: int, n_bytes: int) -> None:
            position[0] = n_bytes

        columns = _TidiedColumns(tidier, [name for name in names if name != target.name])
        row = first = 0
        for batch in source.batches(columns.raw_names(source), note_position):
            keep = target.has_target[row : row + batch.num_rows]
            frame = frame_of(batch, row + 1)
            row += batch.num_rows
            if not keep.any():
                continue
            arrays = columns.read(frame if keep.all() else frame[keep])
            last = first + int(keep.sum())
            arrays[target.name] = _target_values(target, first, last)
            yield (
                pa.RecordBatch.from_arrays([arrays[name] for name in names], names=names),
                position[0],
            )
            first = last

    return Part(source.description, schema, read, n_rows, source.n_bytes)


class _TidiedColumns:
    """Some features of tidied batches, as arrays of Arrow."""

    def __init__(self, tidier: TableTidier, names: Sequence[str]) -> None:
        self._names = names
        self._tidier = TableTidier()
        self._tidier.plans = [plan for plan in tidier.plans if set(plan.outputs) & set(names)]
        self._misfits = Misfits()

    def raw_names(self, source: BatchSource) -> list[str]:
        """Return the columns of the source that the features are made of."""
        read = set(self._tidier.input_columns)
        return [name for name in source.column_names if name.strip() in read]

    def read(self, frame: Any) -> dict[str, pyarrow.Array]:
        """Return the features of a batch."""
        import pyarrow as pa

        tidied = self._misfits.apply(self._tidier.transform, frame)
        types = {name: _type_of(plan) for plan in self._tidier.plans for name in plan.outputs}
        return {
            name: pa.array(tidied[name], from_pandas=True).cast(types[name]) for name in self._names
        }


def _type_of(plan: ColumnPlan) -> pyarrow.DataType:
    import pyarrow as pa

    if plan.has_levels:
        return pa.dictionary(pa.int32(), pa.string(), ordered=plan.kind == "ordinal")
    return pa.float64()


def _target_values(target: StudyTarget, first: int, last: int) -> pyarrow.Array:
    """Return the targets of some rows as an array of Arrow."""
    import pyarrow as pa

    if isinstance(target.y, CodedLabels):
        numbers = pa.array(target.y.numbers[first:last], pa.int32())
        return pa.DictionaryArray.from_arrays(numbers, pa.array(target.y.classes, pa.string()))
    return pa.array(target.y[first:last])
