"""Reading of tables from files, whose format is detected."""

from __future__ import annotations

import io
import os
import sys
from typing import IO, Any

from bosquet._files import MODEL_FILE
from bosquet.tables.delimited import read_delimited
from bosquet.tables.errors import TableError, import_pandas

STDIN = "-"

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz"}
# Limits of decompression, as a ratio plus a number of bytes. gzip cannot exceed the ratio; with bz2 and xz,
# a file of a few kilobytes could fill the memory.
_MAX_RATIO, _MAX_DECOMPRESSED = 1100, 1 << 26
# First bytes of other formats, and what to do.
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"GIF8", "a picture"),
    (MODEL_FILE, "a model file of Bosquet; `bosquet info` describes it"),
    (b"\x89HDF", "an HDF5 file; write the table as Parquet or CSV"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive; decompress it first"),
    (b"SQLite format 3", "an SQLite database; export the table as CSV"),
    (b"\x7fELF", "an executable program"),
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
    """Read a table from a file: CSV and similar text, Parquet, Arrow or Feather, compressed or not.

    The format is detected from the first bytes of the file, not from its name. For text files, the
    encoding, the delimiter, the quotes, the decimal separator and the header are detected. Comment lines
    (#), titles and a line ``sep=;`` of Excel at the top are skipped. Columns become numbers (also with
    thousands separators, a percent sign or a currency), booleans, categories, or text if most values
    differ. Empty cells and words such as NA, null or ? are missing values.

    Parameters
    ----------
    source : path, "-" for the standard input, or a binary file object
    delimiter : str, optional
        Column delimiter of a text file. Default: detected.
    decimal : {".", ","}, optional
        Decimal separator of a text file. Default: detected.
    encoding : str, optional
        Character encoding of a text file, such as "utf-8". Default: detected.
    header : bool, optional
        Whether the first line of a text file holds the column names. Default: detected.

    Returns
    -------
    pandas.DataFrame
        ``attrs["reading"]`` describes the detected format, ``attrs["reading"]["notes"]`` lists changes.

    Raises
    ------
    TableError
        If the file cannot be read; the message is one line.

    Examples
    --------
    >>> import io
    >>> from bosquet.tables import read_table
    >>> frame = read_table(io.BytesIO(b"when|how much|who\\n2024-01-05|1,250.5|Ann\\n2024-02-07|80|Bob\\n"))
    >>> frame["how much"].tolist(), frame.attrs["reading"]["delimiter"]
    ([1250.5, 80.0], '|')
    """
    import_pandas()
    data, name = _read_bytes(source)
    data = _decompress(data, name)
    if not data:
        raise TableError(f"{name} is empty; it must contain a table")
    about: dict[str, Any]
    if data.startswith(b"PAR1"):
        frame, about = _read_columnar(data, name, "Parquet", _read_parquet), {"format": "parquet"}
    elif data.startswith((b"ARROW1", b"FEA1")):
        frame, about = _read_columnar(data, name, "Arrow", _read_feather), {"format": "arrow"}
    elif data.startswith(b"\xff\xff\xff\xff") and len(data) > 8:
        frame, about = _read_columnar(data, name, "Arrow", _read_stream), {"format": "arrow stream"}
    else:
        refuse_foreign(data, name)
        frame, about = read_delimited(data, name, delimiter, decimal, encoding, header)
        about["format"] = "text"
    about.setdefault("notes", [])
    about["name"] = name
    if len(frame.columns) == 0:
        raise TableError(f"{name} has no columns; it must have at least one")
    if len(frame) == 0:
        raise TableError(
            f"{name} has {len(frame.columns)} columns, but no rows; pass a file with at least one row"
        )
    frame.attrs["reading"] = about
    return frame


def _read_bytes(source: Any) -> tuple[bytes, str]:
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
            raise TableError("standard input is empty; pipe a table into it or pass a file")
        return data, "the standard input"
    try:
        with open(path, "rb") as file:
            return file.read(), os.path.basename(path)
    except FileNotFoundError:
        raise TableError(f"{path} does not exist; check the path") from None
    except IsADirectoryError:
        raise TableError(f"{path} is a directory; pass a file") from None
    except OSError as error:
        raise TableError(f"{path} cannot be read: {error.strerror or error}") from None


def decompressed(file: IO[bytes], name: str) -> IO[bytes]:
    """Return a file, or its decompressed content if its first bytes are those of gzip, bzip2 or xz."""
    head = file.read(max(map(len, _COMPRESSIONS)))
    file.seek(0)
    kind = next((kind for magic, kind in _COMPRESSIONS.items() if head.startswith(magic)), None)
    return file if kind is None else io.BufferedReader(_Decompressed(file, name, kind), 1 << 20)


class _Decompressed(io.RawIOBase):
    """The content of a compressed file, with errors that name it."""

    def __init__(self, file: IO[bytes], name: str, kind: str) -> None:
        import bz2
        import gzip
        import lzma

        opened: Any = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}[kind]
        self._compressed, self._content = file, opened(file)
        self._name, self._kind = name, kind

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        import lzma
        import zlib

        try:
            size: int = self._content.readinto(buffer)
        except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
            raise TableError(
                f"{self._name} is a damaged {self._kind} file and cannot be decompressed; use an undamaged"
                " copy"
            ) from None
        return size

    def close(self) -> None:
        self._content.close()
        self._compressed.close()
        super().close()


def _decompress(data: bytes, name: str) -> bytes:
    max_bytes = _MAX_DECOMPRESSED + _MAX_RATIO * len(data)
    with decompressed(io.BytesIO(data), name) as file:
        if isinstance(file, io.BytesIO):
            return data
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise TableError(
            f"{name} is a compressed file that decompresses to more than {max_bytes:,} bytes, {_MAX_RATIO:,}"
            " times its size; if this is intended, decompress it first"
        )
    return content


def refuse_foreign(data: bytes, name: str) -> None:
    """Raise TableError if the first bytes of a file are those of a format that is not a table."""
    for magic, what in _FOREIGN:
        if data.startswith(magic):
            raise TableError(f"{name} is not a table, but {what}")
    top = data[:64].lstrip().lower()
    if top.startswith(_MARKUP):
        raise TableError(
            f"{name} is not a table, but HTML or XML; save the table as CSV or Parquet"
        )
    if top.startswith((b"{", b"[{", b"[[")):
        raise TableError(f"{name} is not a table, but JSON; write the table as CSV or Parquet")


def _read_columnar(data: bytes, name: str, kind: str, read: Any) -> Any:
    import pyarrow as pa

    try:
        table = read(pa.BufferReader(data))
        # Without this call, Arrow does not check the offsets, codes and texts of a file.
        table.validate(full=True)
        frame = table.to_pandas()
    except Exception as error:  # the pandas metadata in the schema is arbitrary JSON
        cause = " ".join(f"{type(error).__name__}: {error}".split())[:160]
        raise TableError(
            f"{name} is not a valid {kind} file: {cause}; write the file again, or pass another one"
        ) from None
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    frame.index = range(len(frame))
    return frame


def _read_parquet(buffer: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(buffer).read()


def _read_feather(buffer: Any) -> Any:
    from pyarrow import feather

    return feather.read_table(buffer)


def _read_stream(buffer: Any) -> Any:
    import pyarrow as pa

    return pa.ipc.open_stream(buffer).read_all()
