"""Cells of a CSV file that a spreadsheet would run as formulas."""

from __future__ import annotations

import re
from typing import Any

# The last four are the full-width forms of = + - @, which spreadsheets of some languages take for these.
_STARTS = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
_NUMERAL = re.compile(r"[+-]?[\d.,]*\d[\d.,]*([eE][+-]?\d+)?%?")


def escaped(cell: Any) -> Any:
    """Text that a spreadsheet would take for a formula with an apostrophe before it; anything else as it is.

    Examples
    --------
    >>> from bosquet.cli.formulas import escaped
    >>> escaped("=1+1"), escaped("-1.5"), escaped("a = b"), escaped(-2.0)
    ("'=1+1", '-1.5', 'a = b', -2.0)
    """
    if not isinstance(cell, str) or not cell.startswith(_STARTS) or _NUMERAL.fullmatch(cell):
        return cell
    return "'" + cell


def without_formulas(frame: Any) -> Any:
    """A pandas frame with all names and all text escaped."""
    frame = frame.copy()
    for name in frame.select_dtypes(exclude="number"):
        frame[name] = frame[name].map(escaped)
    return frame.rename(columns=escaped)
