"""Batches that can be read only once are written to a temporary file, from which they are read again.

The file is in the folder of `tempfile.gettempdir()`: /tmp, or the folder that the environment variable TMPDIR
names. It has no name on Linux and macOS, so that it disappears even if the process is killed. Its format is
that of an Arrow stream, compressed by lz4. A batch that widens the common types begins a new stream in it.
"""

from __future__ import annotations

import errno
import io
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import groupby
from threading import Lock
from typing import IO, TYPE_CHECKING

from .arrow_files import arrow_stream_part
from .parts import Part
from .schemas import CommonSchema
from .sizes import resize
from .source import BatchSource, Progress

if TYPE_CHECKING:
    import pyarrow


def spool(
    batches: Iterable[tuple[str, pyarrow.RecordBatch]],
    description: str,
    progress: Progress | None = None,
) -> BatchSource:
    """Write batches, each with a name for messages, to a temporary file and return it as a source.

    `progress` is called with the numbers of rows and bytes that were written so far.
    """
    schema = CommonSchema()
    with ExitStack() as stack:
        file = _new_file()
        stack.callback(_delete, file)
        streams = _Streams(file, description, progress)
        converted = _converted(batches, schema)
        parts = [
            streams.append(types, resize(same)) for types, same in groupby(converted, _schema_of)
        ]
        release = stack.pop_all().close
    return BatchSource(parts, description, schema, release)


def _converted(
    batches: Iterable[tuple[str, pyarrow.RecordBatch]], schema: CommonSchema
) -> Iterator[pyarrow.RecordBatch]:
    for name, batch in batches:
        schema.add(name, batch.schema)
        yield schema.convert(batch, schema.names, name)


def _new_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="bosquet-")


def _delete(file: IO[bytes]) -> None:
    with suppress(OSError):  # the rest of what was to be written, on a full disk
        file.close()


def _schema_of(batch: pyarrow.RecordBatch) -> pyarrow.Schema:
    return batch.schema


class _Streams:
    """Streams of Arrow in a file, one after the other."""

    def __init__(self, file: IO[bytes], description: str, progress: Progress | None) -> None:
        self._file = file
        self._description = description
        self._progress = progress
        self._lock = Lock()
        self._rows = 0

    def append(self, schema: pyarrow.Schema, batches: Iterable[pyarrow.RecordBatch]) -> Part:
        """Write batches of one schema, and return them as a part."""
        import pyarrow
        from pyarrow import ipc

        start, rows_before = self._file.seek(0, os.SEEK_END), self._rows
        options = ipc.IpcWriteOptions(compression="lz4")
        with self._errors_of_writing():
            writer = ipc.new_stream(
                pyarrow.PythonFile(self._file, mode="w"), schema, options=options
            )
        for batch in batches:
            with self._errors_of_writing():
                writer.write_batch(batch)
            self._rows += batch.num_rows
            if self._progress is not None:
                self._progress(self._rows, self._file.tell())
        with self._errors_of_writing():
            writer.close()
            self._file.flush()
        return arrow_stream_part(
            f"the temporary file of {self._description}",
            lambda: _Cursor(self._file, self._lock, start),
            self._file.tell() - start,
            n_rows=self._rows - rows_before,
            trusted=True,
        )

    @contextmanager
    def _errors_of_writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            number = error.errno or errno.EIO
            cause = "is full" if number == errno.ENOSPC else f"cannot be written to ({error})"
            raise OSError(
                number,
                f"the folder of temporary files, {tempfile.gettempdir()}, {cause} after {self._rows} rows"
                f" of {self._description}, which can be read only once and is therefore copied there; free"
                " space, or set the environment variable TMPDIR to another folder before Python starts",
            ) from error


class _Cursor(io.RawIOBase):
    """Reads a file from a position of its own, so that several passes can be under way at the same time."""

    def __init__(self, file: IO[bytes], lock: Lock, position: int) -> None:
        self._file = file
        self._lock = lock
        self._position = position

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def read(self, size: int = -1) -> bytes:
        with self._lock:
            self._file.seek(self._position)
            data = self._file.read(size)
        self._position += len(data)
        return data
