"""Reading a table from a file of whatever kind it is."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from bosquet.tables.delimited import read_delimited
from bosquet.tables.errors import TableError, load_pandas

STDIN = "-"

_PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
# A packed file may unpack to this many times its size and this many bytes. gzip cannot do more; bz2 and xz
# can, and a file of a few kilobytes would fill the memory.
_MOST_RATIO, _MOST_UNPACKED = 1100, 1 << 26
# What a file of another kind begins with, and what to do with it.
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook: save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook: save the sheet as CSV"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (b"\x89BSQ", "a model file of Bosquet's: `bosquet info` tells what is in it"),
    (b"\x89HDF", "an HDF5 file: write the table as Parquet or CSV"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first"),
    (b"SQLite format 3", "a database: export the table as CSV"),
    (b"\x7fELF", "a programme"),
)
_MARKUP = (b"<!doctype", b"<html", b"<?xml", b"<svg")


def read_table(
    source: Any,
    *,
    delimiter: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> Any:
    """A table from a file: CSV and its relatives, Parquet, Arrow or Feather, packed or not.

    What kind of file it is, is told from its first bytes, not from its name. Of text files the encoding,
    the delimiter, the quotes, the decimal mark and whether there is a header are found out; lines of
    comments (#), titles, and Excel's ``sep=;`` on top are passed over. Columns become numbers (also with
    thousands marks, a percent sign or a currency), booleans, categories, or text where most rows differ.
    Empty cells and words such as NA, null or ? are missing values.

    Parameters
    ----------
    source : path, "-" for the standard input, or a binary file
    delimiter, decimal, encoding, header : optional
        What is known already of a text file.

    Returns
    -------
    pandas.DataFrame
        Its ``attrs["reading"]`` says what was found, and ``attrs["reading"]["notes"]`` what was changed.

    Raises
    ------
    TableError
        In one line: what is wrong with the file, and where.

    Examples
    --------
    >>> import io
    >>> from bosquet.tables import read_table
    >>> frame = read_table(io.BytesIO(b"when|how much|who\\n2024-01-05|1,250.5|Ann\\n2024-02-07|80|Bob\\n"))
    >>> frame["how much"].tolist(), frame.attrs["reading"]["delimiter"]
    ([1250.5, 80.0], '|')
    """
    load_pandas()
    data, name = _bytes_of(source)
    data = _unpacked(data, name)
    if not data:
        raise TableError(f"{name} is empty: there is no table in it")
    about: dict[str, Any]
    if data.startswith(b"PAR1"):
        frame, about = _columnar(data, name, "Parquet", _parquet), {"format": "parquet"}
    elif data.startswith((b"ARROW1", b"FEA1")):
        frame, about = _columnar(data, name, "Arrow", _feather), {"format": "arrow"}
    elif data.startswith(b"\xff\xff\xff\xff") and len(data) > 8:
        frame, about = _columnar(data, name, "Arrow", _stream), {"format": "arrow stream"}
    else:
        _refuse_foreign(data, name)
        frame, about = read_delimited(data, name, delimiter, decimal, encoding, header)
        about["format"] = "text"
    about.setdefault("notes", [])
    about["name"] = name
    if len(frame.columns) == 0:
        raise TableError(f"{name} has no columns")
    if len(frame) == 0:
        raise TableError(
            f"{name} has a header of {len(frame.columns)} columns and no rows below it"
        )
    frame.attrs["reading"] = about
    return frame


def _bytes_of(source: Any) -> tuple[bytes, str]:
    if hasattr(source, "read"):
        data = source.read()
        if isinstance(data, str):
            data = data.encode("utf-8")
        name = getattr(source, "name", None)
        return data, os.path.basename(name) if isinstance(name, str) else "the file"
    path = os.fspath(source)
    if path == STDIN:
        data = sys.stdin.buffer.read()
        if not data:
            raise TableError("the standard input is empty: pipe a table into it, or name a file")
        return data, "the standard input"
    try:
        with open(path, "rb") as file:
            return file.read(), os.path.basename(path)
    except FileNotFoundError:
        raise TableError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a folder: name a file in it") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from None


def _unpacked(data: bytes, name: str) -> bytes:
    for magic, kind in _PACKED.items():
        if not data.startswith(magic):
            continue
        import bz2
        import gzip
        import lzma
        import zlib

        opened: Any = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}[kind]
        most = _MOST_UNPACKED + _MOST_RATIO * len(data)
        try:
            with opened(io.BytesIO(data)) as file:
                unpacked: bytes = file.read(most + 1)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            raise TableError(
                f"{name} is packed with {kind} and damaged: it does not unpack"
            ) from None
        if len(unpacked) > most:
            raise TableError(
                f"{name} is packed with {kind} and unpacks to more than {most:,} bytes, {_MOST_RATIO:,} times"
                " its size: unpack it first if it is meant to be that large"
            )
        return unpacked
    return data


def _refuse_foreign(data: bytes, name: str) -> None:
    for magic, what in _FOREIGN:
        if data.startswith(magic):
            raise TableError(f"{name} is not a table but {what}")
    top = data[:64].lstrip().lower()
    if top.startswith(_MARKUP):
        raise TableError(f"{name} is not a table but a page of HTML or XML")
    if top.startswith((b"{", b"[{", b"[[")):
        raise TableError(f"{name} is not a table but JSON: write it as CSV or Parquet")


def _columnar(data: bytes, name: str, kind: str, read: Any) -> Any:
    import pyarrow as pa

    try:
        table = read(pa.BufferReader(data))
        # Arrow takes the offsets, codes and texts of a file on trust unless it is told to look.
        table.validate(full=True)
        frame = table.to_pandas()
    except Exception as error:  # pandas' notes in the schema are JSON that may hold anything
        told = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise TableError(f"{name} is not a whole {kind} file: {told}") from None
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    frame.index = range(len(frame))
    return frame


def _parquet(buffer: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(buffer).read()


def _feather(buffer: Any) -> Any:
    from pyarrow import feather

    return feather.read_table(buffer)


def _stream(buffer: Any) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(buffer).read_all()
