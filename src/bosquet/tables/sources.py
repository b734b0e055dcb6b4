"""Raw tables that need not fit into memory: read in batches, with the rules of `read_table`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from bosquet.batches import BatchSource, Progress
from bosquet.batches.files import open_files
from bosquet.batches.frames import arrow_table, memory_part
from bosquet.batches.parts import Part
from bosquet.batches.schemas import CommonSchema
from bosquet.tables.column_kinds import ColumnKind
from bosquet.tables.delimited import DelimitedText
from bosquet.tables.errors import import_pandas
from bosquet.tables.reading import decompressed, read_table, refuse_foreign

if TYPE_CHECKING:
    import pyarrow

# The first bytes of files that are read into memory as a whole: Feather of version 1.
_NOT_IN_BATCHES = (b"FEA1",)
# The first bytes of a compressed file that is not text.
_COLUMNAR = (b"PAR1", b"ARROW1", b"FEA1", b"\xff\xff\xff\xff")
_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")


@dataclass
class RawTable:
    """A table of files that is read in batches, with the rules of `read_table`.

    Attributes
    ----------
    source : BatchSource
    notes : list of str
        Remarks on the files.
    """

    source: BatchSource
    notes: list[str] = field(default_factory=list)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, without those of an index of pandas."""
        return [n for n in self.source.column_names if not _INDEX_OF_PANDAS.fullmatch(n)]


def frame_of(batch: pyarrow.RecordBatch | pyarrow.Table, first: int) -> Any:
    """Return a batch as a pandas frame whose rows are numbered from `first`."""
    import pyarrow as pa

    pandas = import_pandas()
    frame = batch.to_pandas()
    for index, kind in enumerate(batch.schema.types):
        if pa.types.is_null(kind):
            frame.isetitem(index, float("nan"))
    frame.index = pandas.RangeIndex(first, first + len(frame))
    return frame


def open_raw_table(
    path: str,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    progress: Progress | None = None,
) -> RawTable:
    """Open a file, a folder or a pattern; the options are those of `read_table`.

    `progress` is called with the numbers of rows and bytes of text files that were read to find the kinds of
    their columns.
    Parquet, Arrow and text files are read in batches. What can be read only once (standard input and
    pipes), compressed Parquet and Arrow files and files of Feather version 1 are read into memory.
    """
    options: dict[str, Any] = {
        "delimiter": delimiter,
        "decimal": decimal,
        "encoding": encoding,
        "header": header,
    }
    import_pandas()
    if _is_read_once(path):
        frame = read_table(path, **options)
        about = frame.attrs["reading"]
        frame.columns = frame.columns.map(str)
        table = arrow_table(frame, about["name"]).replace_schema_metadata(None)
        source = BatchSource([memory_part(about["name"], table)], about["name"])
        return RawTable(source, about["notes"])
    notes: list[str] = []
    n_read = [0, 0]  # rows and bytes of the files before

    def open_text(name: str, path: str, n_bytes: int) -> Part:
        def show(rows: int, position: int) -> None:
            if progress is not None:
                progress(n_read[0] + rows, n_read[1] + position)

        part, about = _text_part(name, path, n_bytes, options, show)
        n_read[:] = [n_read[0] + (part.n_rows or 0), n_read[1] + n_bytes]
        notes.extend(note for note in about["notes"] if note not in notes)
        return part

    schema = CommonSchema(exact_decimals=True)
    return RawTable(open_files([path], open_text, schema), notes)


def _is_read_once(path: str) -> bool:
    """Return whether a table is read into memory as a whole."""
    if not os.path.isfile(path):
        return path == "-" or (os.path.exists(path) and not os.path.isdir(path))
    with open(path, "rb") as file:
        head = file.read(8)
        file.seek(0)
        with decompressed(file, path) as content:
            return head.startswith(_NOT_IN_BATCHES) or (
                content is not file and content.read(8).startswith(_COLUMNAR)
            )


class _TextFile:
    """Opens a text file, decompressed, and tells how many of its bytes were read."""

    def __init__(self, path: str, name: str) -> None:
        self._path, self._name = path, name
        self._file: IO[bytes] | None = None

    def __call__(self) -> IO[bytes]:
        self._file = open(self._path, "rb")  # noqa: SIM115 (closed with the decompressed file)
        return decompressed(self._file, self._name)

    @property
    def position(self) -> int:
        """The number of bytes that were read so far."""
        return 0 if self._file is None or self._file.closed else self._file.tell()


def _text_part(
    name: str, path: str, n_bytes: int, options: dict[str, Any], progress: Progress
) -> tuple[Part, dict[str, Any]]:
    """Return a text file as a part, and a description of its format.

    The file is read here, because a kind of column, such as whole numbers, depends on all its values.
    """
    import pyarrow as pa

    file = _TextFile(path, name)
    with file() as opened:
        refuse_foreign(opened.read(64), name)
    text = DelimitedText(file, name, **options)
    kinds, n_rows = _find_kinds(text, file, progress)
    names, kept = list(text.columns), range(len(text.columns))
    if text.ends_with_delimiter and pa.types.is_null(kinds[-1].type):
        names, kept = names[:-1], kept[:-1]
    schema = pa.schema([(names[index], kinds[index].type) for index in kept])

    def read(wanted: pyarrow.Schema) -> Iterator[tuple[pyarrow.RecordBatch, int]]:
        indices = [names.index(column) for column in wanted.names]
        file = _TextFile(path, name)
        for cells in text.blocks(indices, file):
            arrays = [
                kinds[index].convert(each) for index, each in zip(indices, cells, strict=True)
            ]
            batch = pa.RecordBatch.from_arrays(arrays, names=wanted.names)
            yield batch, min(file.position, n_bytes)

    return Part(name, schema, read, n_rows, n_bytes), text.about


def _find_kinds(
    text: DelimitedText, file: _TextFile, progress: Progress
) -> tuple[list[ColumnKind], int]:
    """Return the kind of each column of a text file, and the number of rows."""
    kinds = [ColumnKind(text.decimal) for _ in text.columns]
    n_rows = 0
    to_read: Sequence[int] = range(len(kinds))
    for cells in text.blocks(to_read, file):
        n_rows += len(cells[0])
        progress(n_rows, file.position)
        for kind, column in zip(kinds, cells, strict=True):
            kind.add(column)
    while to_read := [index for index, kind in enumerate(kinds) if not kind.is_settled]:
        for index in to_read:
            kinds[index].begin_pass()
        for cells in text.blocks(to_read, file):
            for index, column in zip(to_read, cells, strict=True):
                kinds[index].add(column)
    return kinds, n_rows
