"""Tables that can be read only once: Arrow streams, iterators of batches, lazy frames of polars."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from .frames import arrow_table
from .sizes import BATCH_ROWS
from .source import BatchSource, Progress
from .spool import spool

if TYPE_CHECKING:
    import polars
    import pyarrow

    from bosquet._types import ArrowStream


def open_stream(X: ArrowStream, progress: Progress | None) -> BatchSource:
    """Open an object that exports an Arrow stream."""
    import pyarrow

    description = "an Arrow stream"
    reader = pyarrow.RecordBatchReader.from_stream(X)
    return spool(((description, batch) for batch in reader), description, progress)


def open_iterable(X: Iterable[object], progress: Progress | None) -> BatchSource:
    """Open an iterable of tables in memory."""

    def batches() -> Iterator[tuple[str, pyarrow.RecordBatch]]:
        for number, batch in enumerate(X):
            yield from _named_batches(batch, f"batch {number}")

    return spool(batches(), "an iterator of batches", progress)


def open_lazy_frame(X: polars.LazyFrame, progress: Progress | None) -> BatchSource:
    """Open a lazy frame, which is computed in batches."""
    description = "a polars LazyFrame"
    batches = (named for frame in _lazy_batches(X) for named in _named_batches(frame, description))
    return spool(batches, description, progress)


def _named_batches(table: object, name: str) -> Iterator[tuple[str, pyarrow.RecordBatch]]:
    import pyarrow

    converted = arrow_table(table, name)
    if converted.num_rows == 0:  # its columns are checked, too
        yield name, pyarrow.RecordBatch.from_pylist([], schema=converted.schema)
    for batch in converted.to_batches():
        yield name, batch


def _lazy_batches(X: polars.LazyFrame) -> Iterator[object]:
    if hasattr(X, "collect_batches"):
        yield from X.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True)
        return
    # Versions of polars that cannot yield batches can write them.
    import pyarrow
    from pyarrow import parquet

    with tempfile.TemporaryDirectory(prefix="bosquet-") as folder:
        path = os.path.join(folder, "table.parquet")
        X.sink_parquet(path, compression="lz4", maintain_order=True)
        with pyarrow.OSFile(path) as file:
            yield from parquet.ParquetFile(
                file, pre_buffer=False, buffer_size=1 << 20
            ).iter_batches(batch_size=BATCH_ROWS)
