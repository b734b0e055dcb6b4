"""Parquet files and files of Arrow (Feather), read in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO

from .parts import BatchAt, Part
from .sizes import rows_per_batch

if TYPE_CHECKING:
    import pyarrow

# Bytes of a Parquet file that are read at a time, from all columns and from one. Without these limits, Arrow
# reads whole row groups: 285 instead of 165 MB of memory if they have a million rows and 28 columns.
_BUFFERS, _LARGEST_BUFFER, _SMALLEST_BUFFER = 64 << 20, 1 << 20, 1 << 14
# A file of Arrow with larger batches is mapped into memory, so that they are not loaded if they are not
# compressed.
_LARGE_BATCH = 64 << 20


def parquet_part(name: str, open_file: Callable[[], pyarrow.NativeFile], n_bytes: int) -> Part:
    """Return a Parquet file as a part. Its footer is read here: a truncated file has none."""
    from pyarrow import parquet

    with open_file() as file:
        opened = parquet.ParquetFile(file)
        schema, n_rows = opened.schema_arrow, opened.metadata.num_rows

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        with open_file() as file:
            buffer = max(_SMALLEST_BUFFER, min(_BUFFERS // len(wanted), _LARGEST_BUFFER))
            opened = parquet.ParquetFile(
                file, pre_buffer=False, buffer_size=buffer, page_checksum_verification=True
            )
            share = len(wanted) / max(len(schema), 1)
            at_a_time = rows_per_batch(wanted, share * _bytes_per_row(opened.metadata))
            rows = 0
            for batch in opened.iter_batches(batch_size=at_a_time, columns=wanted.names):
                batch.validate(full=True)
                rows += batch.num_rows
                yield batch, n_bytes * rows // max(n_rows, 1)

    return Part(name, schema, read, n_rows, n_bytes)


def _bytes_per_row(metadata: pyarrow.parquet.FileMetaData) -> float:
    groups = (metadata.row_group(index) for index in range(metadata.num_row_groups))
    return sum(group.total_byte_size for group in groups) / max(metadata.num_rows, 1)


def arrow_file_part(name: str, path: str, n_bytes: int) -> Part:
    """Return a file in the file format of Arrow (Feather version 2) as a part."""
    import pyarrow
    from pyarrow import dataset, ipc

    with pyarrow.OSFile(path) as file:
        opened = ipc.open_file(file)
        schema, n_batches = opened.schema, opened.num_record_batches
    # Reads the metadata of the batches only. A relative path with a colon would be read as an address.
    n_rows = dataset.dataset(os.path.abspath(path), schema=schema, format="ipc").count_rows()
    open_source = pyarrow.OSFile
    if n_bytes > _LARGE_BATCH * n_batches:
        open_source = pyarrow.memory_map

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        with open_source(path) as file:
            opened = ipc.open_file(file, options=_only(wanted, schema))
            for index in range(n_batches):
                batch = opened.get_batch(index)
                batch.validate(full=True)
                yield batch, n_bytes * (index + 1) // n_batches

    return Part(name, schema, read, n_rows, n_bytes)


def arrow_stream_part(
    name: str,
    open_file: Callable[[], BinaryIO | pyarrow.NativeFile],
    n_bytes: int,
    n_rows: int | None = None,
    trusted: bool = False,
) -> Part:
    """Return a file in the stream format of Arrow as a part.

    The number of rows is not known unless it is given. The content is checked unless it is `trusted`.
    """
    from pyarrow import ipc

    with open_file() as file:
        schema = ipc.open_stream(file).schema

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        with open_file() as file:
            start = file.tell()
            for batch in ipc.open_stream(file, options=_only(wanted, schema)):
                if not trusted:
                    batch.validate(full=True)
                yield batch, min(file.tell() - start, n_bytes)

    return Part(name, schema, read, n_rows, n_bytes)


def _only(wanted: pyarrow.Schema, stored: pyarrow.Schema) -> pyarrow.ipc.IpcReadOptions:
    """Return the options that read the wanted columns only."""
    from pyarrow import ipc

    return ipc.IpcReadOptions(
        included_fields=[stored.get_field_index(name) for name in wanted.names]
    )
