"""Escaping of CSV cells that a spreadsheet would run as formulas."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame


# The last four are the full-width forms of = + - @, which some spreadsheets treat alike.
_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_NUMERAL = re.compile(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?%?")


def escape_formula(cell: object) -> object:
    """Put an apostrophe before text that a spreadsheet would run as a formula; return other cells unchanged.

    Examples
    --------
    >>> from bosquet.cli.formulas import escape_formula
    >>> escape_formula("=1+1"), escape_formula("-1.5"), escape_formula("a = b"), escape_formula(-2.0)
    ("'=1+1", '-1.5', 'a = b', -2.0)
    """
    if not isinstance(cell, str) or not cell.startswith(_STARTS) or _NUMERAL.fullmatch(cell):
        return cell
    return "'" + cell


def without_formulas(frame: DataFrame) -> DataFrame:
    """Return a pandas frame with all column names and text cells escaped."""
    frame = frame.copy()
    for name in frame.select_dtypes(exclude="number"):
        frame[name] = frame[name].map(escape_formula)
    return frame.rename(columns=escape_formula)
