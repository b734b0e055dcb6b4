"""Data files of any format as parts of a table; the first bytes of a file tell its format."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .arrow_files import arrow_file_part, arrow_stream_part, parquet_part
from .parts import Part, file_stamp, naming, only_while_unchanged, with_constants
from .paths import DataFile, find_files
from .schemas import CommonSchema
from .source import BatchSource
from .text_files import text_part

if TYPE_CHECKING:
    import pyarrow

PARQUET, ARROW, STREAM, TEXT = "Parquet", "Arrow", "Arrow stream", "text"
_FORMATS = {b"PAR1": PARQUET, b"ARROW1": ARROW, b"\xff\xff\xff\xff": STREAM}


def open_files(
    paths: Sequence[str | os.PathLike[str]],
    open_text: Callable[[str, str, int], Part] = text_part,
    schema: CommonSchema | None = None,
) -> BatchSource:
    """Open files, folders of files and patterns as one table.

    `open_text` opens a text file, given its name in messages, its path and its size. The columns of the files
    are added to `schema`.
    """
    files, place = find_files(paths)
    formats = [_format_of(file.path) for file in files]
    _check_one_format(files, formats)
    if len(files) == 1:
        description = f"the {formats[0]} file {files[0].path}"
    else:
        description = f"{len(files)} {formats[0]} files{place}"
    constants = _partition_columns(files)
    parts = [
        with_constants(_part_of(file.path, kind, open_text), values)
        for file, kind, values in zip(files, formats, constants, strict=True)
    ]
    schema = schema or CommonSchema()
    for part in parts:
        schema.add(part.name, part.schema)
    return BatchSource(parts, description, schema)


def _format_of(path: str) -> str:
    with naming(path), open(path, "rb") as file:
        head = file.read(8)
    if not head:
        raise ValueError(f"{path} is empty (0 bytes); write it again, or leave it out")
    if head.startswith(b"FEA1"):
        raise ValueError(
            f"{path} is a Feather file of version 1; only version 2 is supported: read it with"
            " pyarrow.feather.read_table and write it with pyarrow.feather.write_feather"
        )
    return next((kind for magic, kind in _FORMATS.items() if head.startswith(magic)), TEXT)


def _check_one_format(files: Sequence[DataFile], formats: Sequence[str]) -> None:
    for file, kind in zip(files, formats, strict=True):
        if kind != formats[0]:
            raise ValueError(
                f"{files[0].path} has the format {formats[0]}, but {file.path} the format {kind}; all files"
                " must have one format: pass a pattern that selects them, such as 'data/*.parquet'"
            )


def _part_of(path: str, kind: str, open_text: Callable[[str, str, int], Part]) -> Part:
    import pyarrow

    with naming(path):
        stamp = file_stamp(path)
        n_bytes = stamp[0]
        if kind == PARQUET:
            part = parquet_part(path, lambda: pyarrow.OSFile(path), n_bytes)
        elif kind == ARROW:
            part = arrow_file_part(path, path, n_bytes)
        elif kind == STREAM:
            part = arrow_stream_part(path, lambda: pyarrow.OSFile(path), n_bytes)
        else:
            part = open_text(path, path, n_bytes)
        return only_while_unchanged(part, path, stamp)


def _partition_columns(files: Sequence[DataFile]) -> list[dict[str, pyarrow.Scalar]]:
    """Return the values of the folders "name=value" of each file: integers if all are, otherwise text."""
    import pyarrow

    values: dict[str, list[str]] = {}
    for file in files:
        for name, value in file.partition.items():
            if value is not None:
                values.setdefault(name, []).append(value)
    types = {
        name: pyarrow.int64() if all(map(_is_integer, found)) else pyarrow.string()
        for name, found in values.items()
    }
    columns = []
    for file in files:
        constants = {}
        for name, value in file.partition.items():
            kind = types.get(name, pyarrow.null())
            number = value is not None and kind == pyarrow.int64()
            constants[name] = pyarrow.scalar(int(value or 0) if number else value, kind)
        columns.append(constants)
    return columns


def _is_integer(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and text.isascii() and len(text) < 19
