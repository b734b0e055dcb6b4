"""Detection of the encoding of a text file, and of binary files."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterator
from typing import IO, Any, TypeAlias

from bosquet.tables.errors import TableError

# Opens the bytes of a file from their beginning, decompressed. A file is read several times.
OpenFile: TypeAlias = Callable[[], IO[bytes]]

_PIECE = 1 << 20
_SAMPLED = 1 << 16
# With a larger share of control characters, a file is binary; random bytes have a tenth.
_MAX_CONTROLS = 0.01
_LAYOUT = frozenset("\t\n\r\f\v\x1a")


def checked_encoding(open_file: OpenFile, name: str, encoding: str | None = None) -> str:
    """Return the encoding of a text file; raise TableError if the file does not have it, or is binary."""
    used_encoding = encoding or encoding_of(open_file)
    try:
        b"".decode(used_encoding)
        # Detection has read the whole file for the encodings without a mark.
        if encoding is not None or used_encoding not in ("utf-8", "cp1252", "latin-1"):
            _check_decodes(open_file, used_encoding)
    except LookupError:
        raise TableError(
            f"{name}: the encoding {used_encoding!r} is unknown; use a name such as utf-8 or cp1252"
        ) from None
    except UnicodeError as error:
        if used_encoding == "utf-8":
            advice = "omit the encoding to detect it"
        elif used_encoding == "utf-8-sig":
            advice = "save it again as UTF-8"
        else:
            raise TableError(
                f"{name} is not encoded in {used_encoding}: {error}; pass its encoding, or save it as UTF-8"
            ) from None
        raise TableError(f"{name} is not encoded in {used_encoding}; {advice}") from None
    with open_utf8(open_file, used_encoding) as file:
        if _is_binary(file.read(_SAMPLED)):
            raise TableError(
                f"{name} has binary data of an unknown format; use CSV, Parquet, Arrow or Feather"
            )
    return used_encoding


def encoding_of(open_file: OpenFile) -> str:
    """Detect the encoding: utf-8, utf-8-sig, utf-16 (with or without a mark), utf-32, cp1252 or latin-1.

    Examples
    --------
    >>> import io
    >>> from bosquet.tables.encodings import encoding_of
    >>> encodings = "utf-8", "utf-8-sig", "utf-16", "cp1252"
    >>> [encoding_of(lambda: io.BytesIO("é;ü".encode(encoding))) for encoding in encodings]
    ['utf-8', 'utf-8-sig', 'utf-16', 'cp1252']
    """
    with open_file() as file:
        head = file.read(_SAMPLED)
    if head.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if head.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if b"\0" in head and len(head) >= 4:
        # Latin letters have a zero byte in UTF-16, always at the same position.
        even, odd = head[0::2].count(0) / len(head[0::2]), head[1::2].count(0) / len(head[1::2])
        if odd > 0.5 and even < 0.05:
            return "utf-16-le"
        if even > 0.5 and odd < 0.05:
            return "utf-16-be"
    for encoding in ("utf-8", "cp1252"):
        try:
            _check_decodes(open_file, encoding)
        except UnicodeError:
            continue
        return encoding
    return "latin-1"  # cp1252 leaves five bytes undefined


def open_utf8(open_file: OpenFile, encoding: str) -> IO[bytes]:
    """Open a text file as UTF-8 without a byte order mark."""
    file = open_file()
    if encoding == "utf-8":
        return file
    if encoding == "utf-8-sig":
        file.read(len(codecs.BOM_UTF8))
        return file
    return io.BufferedReader(FileOfPieces(file, _utf8_pieces(file, encoding)), _PIECE)


class FileOfPieces(io.RawIOBase):
    """A binary file of the bytes that an iterator makes of another file."""

    def __init__(self, file: IO[bytes], pieces: Iterator[bytes]) -> None:
        self._file, self._pieces = file, pieces
        self._pending = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._pending:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._pending = piece
        size = min(len(buffer), len(self._pending))
        buffer[:size] = self._pending[:size]
        self._pending = self._pending[size:]
        return size

    def close(self) -> None:
        self._file.close()
        super().close()


def _utf8_pieces(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Read a text in another encoding as UTF-8, without a byte order mark."""
    decoder, at_start, data = codecs.getincrementaldecoder(encoding)(), True, b" "
    while data:
        data = file.read(_PIECE)
        text = decoder.decode(data, final=not data)
        if at_start and text:
            text, at_start = text.removeprefix("\ufeff"), False
        yield text.encode("utf-8")


def _check_decodes(open_file: OpenFile, encoding: str) -> None:
    """Raise UnicodeError if the file does not have the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    with open_file() as file:
        while data := file.read(_PIECE):  # in pieces, because the file may be larger than memory
            decoder.decode(data).encode("utf-8")  # fails for half of a surrogate pair
    decoder.decode(b"", final=True)


def _is_binary(data: bytes) -> bool:
    text = data.decode("utf-8", errors="ignore")
    if "\0" in text:
        return True
    controls = sum(
        1 for c in text if (c < " " or "\x7f" <= c <= "\x9f") and c not in _LAYOUT and c != "\x85"
    )
    return controls > _MAX_CONTROLS * len(text)
