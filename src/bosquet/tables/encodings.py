"""Detection of the encoding of a text file, and of binary files."""

from __future__ import annotations

import codecs

from bosquet.tables.errors import TableError

_PIECE = 1 << 20
_SAMPLED = 1 << 16
# With a larger share of control characters, a file is binary; random bytes have a tenth.
_MAX_CONTROLS = 0.01
_LAYOUT = frozenset("\t\n\r\f\v\x1a")


def utf8_bytes(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str]:
    """Return `data` as UTF-8 without a byte order mark, and its original encoding."""
    used_encoding = encoding or encoding_of(data)
    if used_encoding == "utf-8":
        text = data
    elif used_encoding == "utf-8-sig":
        text = data.removeprefix(codecs.BOM_UTF8)
    else:
        try:
            text = data.decode(used_encoding).removeprefix("\ufeff").encode("utf-8")
        except LookupError:
            raise TableError(
                f"{name}: the encoding {used_encoding!r} is unknown; use a name such as utf-8 or cp1252"
            ) from None
        except UnicodeError as error:
            raise TableError(
                f"{name} is not encoded in {used_encoding}: {error}; pass its encoding, or save it as UTF-8"
            ) from None
    marked = used_encoding == "utf-8-sig"  # a byte order mark does not prove that the rest is UTF-8
    if (marked or (encoding is not None and used_encoding == "utf-8")) and not _is_utf8(text):
        advice = "save it again as UTF-8" if encoding is None else "omit the encoding to detect it"
        raise TableError(f"{name} is not encoded in {used_encoding}; {advice}")
    if _is_binary(text):
        raise TableError(
            f"{name} has binary data of an unknown format; use CSV, Parquet, Arrow or Feather"
        )
    return text, used_encoding


def encoding_of(data: bytes) -> str:
    """Detect the encoding: utf-8, utf-8-sig, utf-16 (with or without a mark), utf-32, cp1252 or latin-1.

    Examples
    --------
    >>> from bosquet.tables.encodings import encoding_of
    >>> [encoding_of("é;ü".encode(code)) for code in ("utf-8", "utf-8-sig", "utf-16", "cp1252")]
    ['utf-8', 'utf-8-sig', 'utf-16', 'cp1252']
    """
    if data.startswith(codecs.BOM_UTF8):
        return "utf-8-sig"
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:_SAMPLED]
    if b"\0" in head and len(head) >= 4:
        # Latin letters have a zero byte in UTF-16, always at the same position.
        even, odd = head[0::2].count(0) / len(head[0::2]), head[1::2].count(0) / len(head[1::2])
        if odd > 0.5 and even < 0.05:
            return "utf-16-le"
        if even > 0.5 and odd < 0.05:
            return "utf-16-be"
    if _is_utf8(data):
        return "utf-8"
    try:
        codecs.decode(data, "cp1252")
    except UnicodeError:
        return "latin-1"  # cp1252 leaves five bytes undefined
    return "cp1252"


def _is_utf8(data: bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(data), _PIECE):  # in pieces, to avoid a copy of a large file
            decoder.decode(data[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _is_binary(data: bytes) -> bool:
    text = data[:_SAMPLED].decode("utf-8", errors="ignore")
    if "\0" in text:
        return True
    controls = sum(
        1 for c in text if (c < " " or "\x7f" <= c <= "\x9f") and c not in _LAYOUT and c != "\x85"
    )
    return controls > _MAX_CONTROLS * len(text)
