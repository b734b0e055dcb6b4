"""Arrow tables, and objects that export an Arrow stream."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bosquet._optional import import_optional
from bosquet._suggestions import with_article

from .table import (
    BYTES_ADVICE,
    DATE_ADVICE,
    NESTED_ADVICE,
    CodedColumn,
    Column,
    NumericColumn,
    Table,
    column_label,
    unsupported_type_error,
)

if TYPE_CHECKING:
    from types import ModuleType

    import pyarrow

    from bosquet._types import ArrowStream

Container = TypeVar("Container")


def table_from_arrow(X: pyarrow.Table | pyarrow.RecordBatch | ArrowStream) -> Table:
    """Read a pyarrow Table or RecordBatch, or an object with `__arrow_c_stream__`."""
    pyarrow = import_optional(
        "pyarrow", f"reading {with_article(type(X).__name__)}", "bosquet[arrow]"
    )
    try:
        table = _as_pyarrow(X, pyarrow)
    except pyarrow.ArrowInvalid as error:
        raise ValueError(
            f"Expected 2D array, got {with_article(type(X).__name__)} that is not an Arrow table ({error});"
            " pass a pyarrow Table or RecordBatch"
        ) from error
    names = table.column_names
    return Table(
        table.shape,
        names,
        column=lambda index: read_arrow(table.column(index), column_label(index, names)),
    )


def decode_dictionaries(X: Container) -> Container:
    """Return an Arrow table with its dictionary columns decoded; return any other object unchanged.

    Without decoding, NumPy shows a missing value of a dictionary column as the last level.
    """
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return X
    plain = [
        column.cast(column.type.value_type) if pyarrow.types.is_dictionary(column.type) else column
        for column in X.columns
    ]
    return pyarrow.table(plain, names=X.schema.names)


def _as_pyarrow(X: object, pyarrow: ModuleType) -> pyarrow.Table | pyarrow.RecordBatch:
    if isinstance(X, (pyarrow.Table, pyarrow.RecordBatch)):
        return X
    if hasattr(X, "__arrow_c_stream__"):
        return pyarrow.RecordBatchReader.from_stream(X).read_all()
    return pyarrow.record_batch(X)


def read_arrow(column: pyarrow.Array | pyarrow.ChunkedArray, where: str) -> Column:
    """Read a pyarrow Array or ChunkedArray."""
    import pyarrow
    from pyarrow import compute, types

    kind = column.type
    if types.is_floating(kind) or types.is_integer(kind):
        return _read_numbers(column)
    if types.is_run_end_encoded(kind):
        return read_arrow(compute.run_end_decode(column), where)
    if types.is_dictionary(kind):
        if kind.ordered:
            _check_one_order(column, where)
        return _read_dictionary(column)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return _read_dictionary(column.dictionary_encode())
    if types.is_null(kind):
        return CodedColumn(np.full(len(column), -1), [])
    if types.is_boolean(kind):
        return _read_numbers(column.cast(pyarrow.uint8()))
    if types.is_decimal(kind):
        # Arrow rounds text, but not decimals, to the nearest double.
        return _read_numbers(column.cast(pyarrow.string()).cast(pyarrow.float64()))
    if types.is_temporal(kind):
        raise unsupported_type_error(where, kind, DATE_ADVICE)
    binary = types.is_binary(kind) or types.is_large_binary(kind)
    raise unsupported_type_error(where, kind, BYTES_ADVICE if binary else NESTED_ADVICE)


def _read_numbers(column: pyarrow.Array | pyarrow.ChunkedArray) -> NumericColumn:
    if column.null_count == 0:
        return NumericColumn(_to_numpy(column))
    import pyarrow
    from pyarrow import types

    if types.is_float16(column.type):
        column = column.cast(pyarrow.float32())  # Arrow 16 cannot fill missing values of float16
    return NumericColumn(_to_numpy(column.fill_null(0)), _to_numpy(column.is_null()))


def _to_numpy(column: pyarrow.Array | pyarrow.ChunkedArray) -> np.ndarray:
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        if column.num_chunks != 1:
            return column.to_numpy()
        column = column.chunk(0)  # a single chunk is not copied, several chunks are concatenated
    return column.to_numpy(zero_copy_only=False)


def _read_dictionary(column: pyarrow.Array | pyarrow.ChunkedArray) -> CodedColumn:
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.unify_dictionaries().combine_chunks()
        if isinstance(column, pyarrow.ChunkedArray):
            # The text is too long for one array. All chunks have the same dictionary here.
            coded_chunks = [_read_dictionary(chunk) for chunk in column.chunks]
            codes = np.concatenate([coded.codes for coded in coded_chunks])
            return CodedColumn(codes, coded_chunks[0].levels, coded_chunks[0].ordered)
    codes = column.indices.cast(pyarrow.int64()).fill_null(-1)
    return CodedColumn(_to_numpy(codes), column.dictionary.to_pylist(), bool(column.type.ordered))


def _check_one_order(column: pyarrow.Array | pyarrow.ChunkedArray, where: str) -> None:
    dictionaries = [chunk.dictionary for chunk in getattr(column, "chunks", ())]
    if any(not other.equals(dictionaries[0]) for other in dictionaries[1:]):
        raise ValueError(
            f"{where} has ordered categories, but its chunks have different dictionaries; give all chunks "
            "the same dictionary"
        )
