"""Which encoding the bytes of a text file are in, and whether they are text at all."""

from __future__ import annotations

import codecs

from bosquet.tables.errors import TableError

_PIECE = 1 << 20
_LOOKED_AT = 1 << 16
# Share of control characters from which on bytes are no text: random bytes have one in ten.
_MOST_CONTROLS = 0.01
_LAYOUT = frozenset("\t\n\r\f\v\x1a")


def utf8_bytes(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str]:
    """The text of `data` in UTF-8 without a byte order mark, and the encoding it was in."""
    found = encoding or encoding_of(data)
    if found == "utf-8":
        text = data
    elif found == "utf-8-sig":
        text = data.removeprefix(codecs.BOM_UTF8)
    else:
        try:
            text = data.decode(found).removeprefix("\ufeff").encode("utf-8")
        except LookupError:
            raise TableError(f"{name}: there is no encoding {found!r}") from None
        except UnicodeError as error:
            raise TableError(f"{name} is not text in {found}: {error}") from None
    marked = found == "utf-8-sig"  # the mark alone does not prove that the rest is UTF-8
    if (marked or (encoding is not None and found == "utf-8")) and not _is_utf8(text):
        advice = (
            "save it again as UTF-8"
            if encoding is None
            else "leave the encoding out to have it found"
        )
        raise TableError(f"{name} is not text in {found}: {advice}")
    if _is_binary(text):
        raise TableError(f"{name} is not a table: it holds binary data, not text or Parquet")
    return text, found


def encoding_of(data: bytes) -> str:
    """utf-8, utf-8-sig, utf-16 (with or without a mark), or else cp1252, or latin-1.

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
    head = data[:_LOOKED_AT]
    if b"\0" in head and len(head) >= 4:
        # Letters of Latin scripts have a zero byte in UTF-16, always on the same side.
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
        for start in range(0, len(data), _PIECE):  # in pieces: no second copy of a large file
            decoder.decode(data[start : start + _PIECE])
        decoder.decode(b"", final=True)
    except UnicodeError:
        return False
    return True


def _is_binary(data: bytes) -> bool:
    text = data[:_LOOKED_AT].decode("utf-8", errors="ignore")
    if "\0" in text:
        return True
    controls = sum(
        1 for c in text if (c < " " or "\x7f" <= c <= "\x9f") and c not in _LAYOUT and c != "\x85"
    )
    return controls > _MOST_CONTROLS * len(text)
