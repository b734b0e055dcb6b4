"""Numbers as people write them: decimal commas, thousands, units; and what stands for nothing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# What files write where a value is missing. "-" and "." only stand for that among numbers.
MISSING = (
    *("", "?", "NA", "N/A", "n/a", "#N/A", "#NA", "<NA>", "nan", "NaN", "NAN", "-NaN", "-nan"),
    *("null", "NULL", "Null", "None", "missing", "Missing", "#VALUE!", "#DIV/0!", "#REF!"),
)
MISSING_AMONG_NUMBERS = ("-", "--", ".", "..", "*")

_GROUPERS = (" ", "\u00a0", "\u202f", "'", "’", "_")
_UNIT = r"[€$£¥₹%]"

_LONGEST = 60  # characters of a number
_PLAIN = re.compile(
    r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE
)
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:([., '’_\u00a0\u202f])\d{3})(?:\1\d{3})*(?:[.,]\d+)?")
_AFFIXED = re.compile(rf"(?:{_UNIT}\s*)?([+-]?[\d.,].*?)(?:\s*{_UNIT})?")


def _evidence(decimal: str, other: str) -> re.Pattern[str]:
    """Numbers that can be read in one way only: with this decimal mark."""
    d, o = re.escape(decimal), re.escape(other)
    return re.compile(
        rf"[+-]?(?:\d*{d}\d{{1,2}}|\d*{d}\d{{4,}}|0{d}\d+|\d{{4,}}{d}\d+|\d{{1,3}}(?:{o}\d{{3}})+{d}\d+"
        rf"|\d{{1,3}}(?:{o}\d{{3}}){{2,}}|\d*{d}\d+[eE][+-]?\d+)"
    )


_SAYS = {".": _evidence(".", ","), ",": _evidence(",", ".")}
# Digits behind a leading zero, hexadecimal ones, or too many for an integer.
_NAMES_A_THING = r"^[+-]?(?:0[\dxX][\da-fA-F]*|\d{19,})$"
_ARROW_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_FIRST = 1000  # values that tell whether a cast is worth trying
_EITHER = re.compile(r"[+-]?\d{1,3},\d{3}")


def looks_numeric(cell: str) -> bool:
    """Whether a cell is a number in some country's way of writing it.

    Examples
    --------
    >>> from bosquet.tables.numerals import looks_numeric
    >>> [looks_numeric(cell) for cell in ("1.5", "-1,5", "1 234,5", "12 %", "$3", "1.2.3", "A1")]
    [True, True, True, True, True, False, False]
    """
    cell = cell.strip()
    if len(cell) > _LONGEST:
        return False
    if _PLAIN.fullmatch(cell) or _GROUPED.fullmatch(cell):
        return True
    bare = _AFFIXED.fullmatch(cell)
    if bare is None or bare[1] == cell:
        return False
    return bool(_PLAIN.fullmatch(bare[1]) or _GROUPED.fullmatch(bare[1]))


def decimal_mark(cells: Iterable[str], otherwise: str = ".") -> str:
    """The decimal mark that the numbers among the cells use.

    Some numbers can be read both ways ("1,234"); those that cannot decide. Where there is none of these,
    a comma is a decimal mark if `otherwise` says so.

    Examples
    --------
    >>> from bosquet.tables.numerals import decimal_mark
    >>> decimal_mark(["1,5", "2,25", "1.234,5"]), decimal_mark(["1,234", "7.5"]), decimal_mark(["1,234"])
    (',', '.', '.')
    """
    votes = {".": 0, ",": 0}
    either = False
    for cell in cells:
        for mark, pattern in _SAYS.items():
            votes[mark] += pattern.fullmatch(cell) is not None
        either = either or _EITHER.fullmatch(cell) is not None
    if votes["."] == votes[","]:
        return otherwise if either else "."
    return "," if votes[","] > votes["."] else "."


def without_missing(values: Any) -> Any:
    """An Arrow array of text without surrounding blanks, null where a word stands for nothing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.utf8_trim_whitespace(values)
    missing = pc.is_in(values, value_set=pa.array(MISSING, values.type))
    return pc.if_else(missing, pa.scalar(None, values.type), values)


def numbers_of(values: Any, decimal: str = ".") -> Any:
    """Arrow text as Arrow numbers, or None unless all that is not missing is a number.

    Whole numbers become int64, others float64. Digits behind a leading zero ("00123") and digits too many
    for an integer name a thing and do not count it: such a column is left as text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if values.null_count == len(values):
        return None
    if not _may_be_number(next(v.as_py() for v in values if v.is_valid)):
        return None  # most columns of text are told from their first value
    values = pc.if_else(
        pc.is_in(values, value_set=pa.array(MISSING_AMONG_NUMBERS, values.type)),
        pa.scalar(None, values.type),
        values,
    )
    if values.null_count == len(values) or _any(values, _NAMES_A_THING):
        return None
    # A cast that fails costs twenty times one that does not.
    whole = _cast(values, pa.int64()) if _all(values, r"^-?\d+$") else None
    if whole is not None:
        return whole
    for mark in (decimal, "," if decimal == "." else "."):
        for read in (plain_numbers, _written_out):
            found = read(values, mark)
            if found is not None:
                return found
    return None


def plain_numbers(values: Any, decimal: str) -> Any:
    """Arrow text as float64, or None unless all are numbers without marks for thousands or units."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if _any(values, _NAMES_A_THING):
        return None
    if decimal == ",":
        if _any(values, r"\."):
            return None
        values = pc.replace_substring(values, ",", ".")
    if not _all(values.slice(0, _FIRST), _ARROW_NUMBER):
        return None
    return _cast(values, pa.float64())


def _may_be_number(text: str) -> bool:
    return text in MISSING_AMONG_NUMBERS or looks_numeric(text)


def _written_out(values: Any, decimal: str) -> Any:
    """Numbers with groups of three digits, a sign, a percent sign or a currency."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.replace_substring_regex(values, rf"^{_UNIT}\s*|\s*{_UNIT}$", "")
    d = re.escape(decimal)
    plain = rf"^[+-]?(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?$"
    is_plain = pc.match_substring_regex(bare, plain)
    for group in ("," if decimal == "." else ".", *_GROUPERS):
        g = re.escape(group)
        grouped = pc.match_substring_regex(bare, rf"^[+-]?\d{{1,3}}(?:{g}\d{{3}})+(?:{d}\d*)?$")
        if pc.all(pc.or_(is_plain, grouped)).as_py():
            digits = pc.replace_substring(bare, group, "")
            digits = pc.replace_substring(digits, decimal, ".")
            digits = pc.replace_substring_regex(digits, r"^\+", "")
            whole = _cast(digits, pa.int64()) if _all(digits, r"^-?\d+$") else None
            return whole if whole is not None else _cast(digits, pa.float64())
    return None


def _cast(values: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(values, kind)
    except pa.ArrowInvalid:
        return None


def _all(values: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _any(values: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())
