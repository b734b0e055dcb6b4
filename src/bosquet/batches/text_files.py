"""Files of delimited text (CSV), read in batches.

The first line contains the column names. The delimiter is the comma, semicolon, tab or bar that divides it
into most names. The first 16 MB decide the type of each column, and whether decimals have a comma (unless it
is the delimiter). Empty cells and words such as NA and null are missing values. The encoding is UTF-8. Files
may be compressed by gzip, bz2, lz4 or zstd.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .parts import BatchAt, Part

if TYPE_CHECKING:
    import pyarrow

DELIMITERS = (",", ";", "\t", "|")
COMPRESSIONS = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bz2",
    b"\x04\x22\x4d\x18": "lz4",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_HEAD = 1 << 20  # bytes that are searched for the first line
_TYPES_FROM = 16 << 20  # bytes that decide the types
_BLOCK = 4 << 20  # bytes that are parsed at a time; a row must fit
_NOT_TEXT = "is not delimited text; pass CSV, Parquet, Arrow or Feather files"
# An error of Arrow in a value.
_MISFIT = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\S+): invalid value '(.*)'",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Format:
    """How a text file is read."""

    path: str
    compression: str | None
    delimiter: str
    decimal: str


def text_part(name: str, path: str, n_bytes: int) -> Part:
    """Return a file of delimited text as a part."""
    import pyarrow

    compression = _compression(path)
    line = _first_line(name, path, compression)
    delimiter = max(DELIMITERS, key=lambda mark: len(_cells(line, mark)))
    names = _cells(line, delimiter)
    if all(map(_is_number, names)):
        raise ValueError(
            f"{name} has no column names: its first line is {line[:80]!r}; the first line must contain the"
            " column names: add it"
        )
    file_format = _Format(path, compression, delimiter, ".")
    schema = _types(file_format)
    if delimiter != "," and _n_texts(schema):
        with_comma = _Format(path, compression, delimiter, ",")
        comma_schema = _types(with_comma)
        if _n_texts(comma_schema) < _n_texts(schema):
            file_format, schema = with_comma, comma_schema
    _check_utf8(name, schema)

    def read(wanted: pyarrow.Schema) -> Iterator[BatchAt]:
        try:
            yield from _read(file_format, wanted, n_bytes)
        except pyarrow.ArrowInvalid as error:
            error_with_row = _error_of_one_thread(file_format, wanted) or error
            raise _misfit_error(error_with_row, name, schema.names) from error

    return Part(name, schema, read, n_bytes=n_bytes)


def _compression(path: str) -> str | None:
    with open(path, "rb") as file:
        head = file.read(4)
    return next((kind for magic, kind in COMPRESSIONS.items() if head.startswith(magic)), None)


def _first_line(name: str, path: str, compression: str | None) -> str:
    """Return the first line that is not blank; raise a ValueError if the file is not text."""
    import pyarrow

    with pyarrow.OSFile(path) as raw, _decompressed(raw, compression) as file:
        head = file.read(_HEAD)
    text = head.decode("utf-8-sig", errors="replace")
    if "\0" in text:
        raise ValueError(f"{name} contains binary data of an unknown format; it {_NOT_TEXT}")
    line = next(filter(str.strip, text.splitlines()), "")
    if not line:
        raise ValueError(f"{name} is empty; a table must have column names: leave it out")
    if line.lstrip().startswith(("{", "[{", "<")):
        raise ValueError(f"{name} contains JSON or markup; it {_NOT_TEXT}")
    return line


def _decompressed(raw: pyarrow.NativeFile, compression: str | None) -> pyarrow.NativeFile:
    import pyarrow

    return raw if compression is None else pyarrow.CompressedInputStream(raw, compression)


def _cells(line: str, delimiter: str) -> list[str]:
    return next(csv.reader([line], delimiter=delimiter))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _types(file_format: _Format) -> pyarrow.Schema:
    """Return the types that the first rows of the file have."""
    import pyarrow

    with (
        pyarrow.OSFile(file_format.path) as raw,
        _decompressed(raw, file_format.compression) as file,
    ):
        return _open(file, file_format, None, _TYPES_FROM).schema


def _n_texts(schema: pyarrow.Schema) -> int:
    import pyarrow

    return sum(map(pyarrow.types.is_string, schema.types))


def _check_utf8(name: str, schema: pyarrow.Schema) -> None:
    import pyarrow

    for field in schema:
        if pyarrow.types.is_binary(field.type):
            raise ValueError(
                f"column {field.name!r} of {name} contains text that is not encoded in UTF-8; it must be"
                " a UTF-8 text file: save it as UTF-8"
            )


def _open(
    file: pyarrow.NativeFile,
    file_format: _Format,
    wanted: pyarrow.Schema | None,
    block_size: int,
    *,
    use_threads: bool = True,
) -> pyarrow.csv.CSVStreamingReader:
    from pyarrow import csv as arrow_csv

    types = {} if wanted is None else dict(zip(wanted.names, wanted.types, strict=True))
    return arrow_csv.open_csv(
        file,
        read_options=arrow_csv.ReadOptions(block_size=block_size, use_threads=use_threads),
        parse_options=arrow_csv.ParseOptions(
            delimiter=file_format.delimiter, newlines_in_values=True
        ),
        convert_options=arrow_csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            strings_can_be_null=True,
            decimal_point=file_format.decimal,
        ),
    )


def _read(file_format: _Format, wanted: pyarrow.Schema, n_bytes: int) -> Iterator[BatchAt]:
    import pyarrow

    with (
        pyarrow.OSFile(file_format.path) as raw,
        _decompressed(raw, file_format.compression) as file,
    ):
        for batch in _open(file, file_format, wanted, _BLOCK):
            yield batch, min(raw.tell(), n_bytes)


def _error_of_one_thread(
    file_format: _Format, wanted: pyarrow.Schema
) -> pyarrow.ArrowInvalid | None:
    """Return the error of reading with one thread: only this one contains the number of the row."""
    import pyarrow

    with (
        pyarrow.OSFile(file_format.path) as raw,
        _decompressed(raw, file_format.compression) as file,
    ):
        try:
            for _ in _open(file, file_format, wanted, _BLOCK, use_threads=False):
                pass
        except pyarrow.ArrowInvalid as error:
            return error
    return None


def _misfit_error(error: pyarrow.ArrowInvalid, name: str, columns: list[str]) -> ValueError:
    """Return the error for a value that does not have the type of its column; any other error unchanged."""
    misfit = _MISFIT.search(str(error))
    if misfit is None:
        return error
    column, row, kind, value = misfit.groups()
    where = f" in line {row}" if row else ""
    return ValueError(
        f"column {columns[int(column)]!r} of {name} contains {value[:80]!r}{where}, but its type is {kind} in"
        f" the first {_TYPES_FROM >> 20} MB; all values of a column must have one type: correct the value, or"
        " write the table as Parquet"
    )
