"""Numbers in text, with decimal commas, thousands separators and units, and words for missing values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

# Words for missing values. Signs such as "-" and "." are missing values only among numbers.
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
    """Return the pattern of numbers that are valid with only this decimal separator."""
    d, o = re.escape(decimal), re.escape(other)
    return re.compile(
        rf"[+-]?(?:\d*{d}\d{{1,2}}|\d*{d}\d{{4,}}|0{d}\d+|\d{{4,}}{d}\d+|\d{{1,3}}(?:{o}\d{{3}})+{d}\d+"
        rf"|\d{{1,3}}(?:{o}\d{{3}}){{2,}}|\d*{d}\d+[eE][+-]?\d+)"
    )


_EVIDENCE = {".": _evidence(".", ","), ",": _evidence(",", ".")}
# Digits after a leading zero, hexadecimal digits, or too many digits for an integer.
_IDENTIFIER_DIGITS = r"^[+-]?(?:0[\dxX][\da-fA-F]*|\d{19,})$"
_ARROW_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity|nan)$"
_FIRST = 1000  # values checked before a cast is tried
_EITHER = re.compile(r"[+-]?\d{1,3},\d{3}")


def looks_numeric(cell: str) -> bool:
    """Return whether a cell is a number in any of the usual notations.

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
    """Detect the decimal separator of the numbers among the cells.

    Numbers such as "1,234" are ambiguous; the unambiguous ones decide by majority. If there are only
    ambiguous ones, `otherwise` is returned.

    Examples
    --------
    >>> from bosquet.tables.numerals import decimal_mark
    >>> decimal_mark(["1,5", "2,25", "1.234,5"]), decimal_mark(["1,234", "7.5"]), decimal_mark(["1,234"])
    (',', '.', '.')
    """
    votes = {".": 0, ",": 0}
    either = False
    for cell in cells:
        for mark, pattern in _EVIDENCE.items():
            votes[mark] += pattern.fullmatch(cell) is not None
        either = either or _EITHER.fullmatch(cell) is not None
    if votes["."] == votes[","]:
        return otherwise if either else "."
    return "," if votes[","] > votes["."] else "."


def missing_to_null(values: Any) -> Any:
    """Return an Arrow array of text, stripped of blanks, with words for missing values as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pc.utf8_trim_whitespace(values)
    missing = pc.is_in(values, value_set=pa.array(MISSING, values.type))
    return pc.if_else(missing, pa.scalar(None, values.type), values)


def numbers_of(values: Any, decimal: str = ".") -> Any:
    """Convert Arrow text to Arrow numbers; return None unless all values that are not missing are numbers.

    Integers become int64, other numbers float64. Digits after a leading zero ("00123") and digits that are
    too many for an integer identify something, so such a column stays text.
    """
    found = first_notation(values, decimal)
    return None if found is None else found[1]


class Notation(NamedTuple):
    """How the numbers of a column are written: the decimal separator, and that of thousands ("": plain)."""

    decimal: str
    group: str = ""


def first_notation(
    values: Any, decimal: str = ".", after: Notation | None = None
) -> tuple[Notation, Any] | None:
    """Return the first notation, in a fixed order, in which all values are numbers, and the numbers.

    With `after`, only this notation and those behind it are tried. A column that is read in blocks has the
    notation of the whole column, if each block passes that of the block before: a notation is only left if
    a value contradicts it.
    """
    cells = number_cells(values)
    if cells is None or cells.null_count == len(cells):
        return None
    marks = (decimal, "," if decimal == "." else ".")
    for mark in marks if after is None else marks[marks.index(after.decimal) :]:
        groups = _groups_of(mark)
        if after is not None and after.decimal == mark:
            groups = groups[groups.index(after.group) :]
        found = _in_first_group(cells, mark, groups)
        if found is not None:
            return found
    return None


def numbers_in(values: Any, notation: Notation, kind: Any) -> Any:
    """Convert Arrow text, all of which are numbers in this notation, to numbers of an Arrow type."""
    import pyarrow.compute as pc

    cells = _without_signs(values)
    if notation.group and cells.null_count < len(cells):
        found = _formatted_numbers(cells, notation.decimal, (notation.group,))
        assert found is not None
        return found[1].cast(kind)
    # Checked by `first_notation`: another check would take longer than the conversion.
    return pc.cast(_with_point(cells, notation.decimal), kind)


def _groups_of(decimal: str) -> tuple[str, ...]:
    """Return the separators of thousands that are tried with a decimal separator; "" is none."""
    return ("", "," if decimal == "." else ".", *_GROUPERS)


def number_cells(values: Any) -> Any:
    """Return Arrow text with signs such as "-" as null; None if a value identifies something or is text."""
    first = next((value.as_py() for value in values if value.is_valid), None)
    if first is None:
        return values
    if not _may_be_number(first):
        return None  # the first value identifies most columns of text
    cells = _without_signs(values)
    return None if _any_match(cells, _IDENTIFIER_DIGITS) else cells


def _without_signs(values: Any) -> Any:
    """Return Arrow text with signs that are missing values among numbers as null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_sign = pc.is_in(values, value_set=pa.array(MISSING_AMONG_NUMBERS, values.type))
    return pc.if_else(is_sign, pa.scalar(None, values.type), values)


def _with_point(values: Any, decimal: str) -> Any:
    import pyarrow.compute as pc

    return values if decimal == "." else pc.replace_substring(values, decimal, ".")


def _in_first_group(cells: Any, decimal: str, groups: Sequence[str]) -> tuple[Notation, Any] | None:
    """Return the first of these separators of thousands with which all cells are numbers."""
    if groups[0] == "":
        # A failed cast takes twenty times as long as a successful one.
        numbers = _whole_numbers(cells)
        if numbers is None:
            numbers = plain_numbers(cells, decimal)
        if numbers is not None:
            return Notation(decimal), numbers
        groups = groups[1:]
    return _formatted_numbers(cells, decimal, groups)


def _whole_numbers(cells: Any) -> Any:
    import pyarrow as pa

    return _cast_or_none(cells, pa.int64()) if _all_match(cells, r"^-?\d+$") else None


def plain_numbers(values: Any, decimal: str) -> Any:
    """Convert Arrow text to float64, or return None if it has thousands separators, units or text."""
    import pyarrow as pa

    if _any_match(values, _IDENTIFIER_DIGITS):
        return None
    if decimal == ",":
        if _any_match(values, r"\."):
            return None
        values = _with_point(values, decimal)
    if not _all_match(values.slice(0, _FIRST), _ARROW_NUMBER):
        return None
    return _cast_or_none(values, pa.float64())


def _may_be_number(text: str) -> bool:
    return text in MISSING_AMONG_NUMBERS or looks_numeric(text)


def _formatted_numbers(
    values: Any, decimal: str, groups: Sequence[str]
) -> tuple[Notation, Any] | None:
    """Convert numbers with thousands separators, a sign, a percent sign or a currency."""
    import pyarrow as pa
    import pyarrow.compute as pc

    bare = pc.replace_substring_regex(values, rf"^{_UNIT}\s*|\s*{_UNIT}$", "")
    d = re.escape(decimal)
    plain = rf"^[+-]?(?:\d+(?:{d}\d*)?|{d}\d+)(?:[eE][+-]?\d+)?$"
    is_plain = pc.match_substring_regex(bare, plain)
    for group in groups:
        g = re.escape(group)
        grouped = pc.match_substring_regex(bare, rf"^[+-]?\d{{1,3}}(?:{g}\d{{3}})+(?:{d}\d*)?$")
        if pc.all(pc.or_(is_plain, grouped)).as_py():
            digits = pc.replace_substring(bare, group, "")
            digits = pc.replace_substring(digits, decimal, ".")
            digits = pc.replace_substring_regex(digits, r"^\+", "")
            numbers = _whole_numbers(digits)
            if numbers is None:
                numbers = _cast_or_none(digits, pa.float64())
            return None if numbers is None else (Notation(decimal, group), numbers)
    return None


def _cast_or_none(values: Any, kind: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return pc.cast(values, kind)
    except pa.ArrowInvalid:
        return None


def _all_match(values: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())


def _any_match(values: Any, pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.any(pc.match_substring_regex(values, pattern)).as_py())
