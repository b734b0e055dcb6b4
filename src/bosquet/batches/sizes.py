"""Size of batches: large ones are divided, small ones are joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow

BATCH_ROWS = 65_536
BATCH_BYTES = 32 << 20
_BYTES_OF_TEXT = 32  # assumed for values whose size is not known before they are read


def rows_per_batch(schema: pyarrow.Schema, bytes_per_row: float = 0) -> int:
    """Return the number of rows to read at a time; `bytes_per_row` is a known lower bound.

    >>> import pyarrow
    >>> rows_per_batch(pyarrow.schema([(f"x{i}", pyarrow.float64()) for i in range(10)]))
    65536
    >>> rows_per_batch(pyarrow.schema([(f"x{i}", pyarrow.float64()) for i in range(1024)]))
    4096
    """
    width = sum(_width(field.type) for field in schema)
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / max(width, bytes_per_row, 1))))


def _width(kind: pyarrow.DataType) -> float:
    try:
        return kind.bit_width / 8
    except ValueError:  # not a type of fixed width
        return _BYTES_OF_TEXT


def resize(batches: Iterable[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    """Yield the same rows in batches of at most `BATCH_ROWS` rows and about `BATCH_BYTES` bytes."""
    small: list[pyarrow.RecordBatch] = []
    rows = 0
    for batch in batches:
        most = _most_rows(batch)
        if batch.num_rows <= most // 2:
            if rows + batch.num_rows > most:
                yield _joined(small)
                small, rows = [], 0
            small.append(batch)
            rows += batch.num_rows
            continue
        if rows:
            yield _joined(small)
            small, rows = [], 0
        pieces = -(-batch.num_rows // most)
        step = -(-batch.num_rows // pieces)
        for start in range(0, batch.num_rows, step):
            yield batch.slice(start, step)
    if rows:
        yield _joined(small)


def _most_rows(batch: pyarrow.RecordBatch) -> int:
    return min(BATCH_ROWS, max(1, BATCH_BYTES * batch.num_rows // max(batch.nbytes, 1)))


def _joined(batches: list[pyarrow.RecordBatch]) -> pyarrow.RecordBatch:
    """Return non-empty batches of one schema as one batch."""
    import pyarrow

    batches = [batch for batch in batches if batch.num_rows]
    if len(batches) == 1:
        return batches[0]
    return pyarrow.Table.from_batches(batches).combine_chunks().to_batches()[0]
