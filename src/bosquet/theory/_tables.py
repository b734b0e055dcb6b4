"""The printed form of results: title, formula, and a table of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from bosquet._text_table import text_table


def as_text(value: Any) -> str:
    """Return the text of a table cell; numbers have four significant digits."""
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if float(value).is_integer() and abs(float(value)) < 1e15:
        return str(int(value))
    return f"{float(value):.4g}"


def table(rows: Iterable[Sequence[Any]], header: Sequence[str] | None = None) -> str:
    """Return rows as text; the first column is aligned to the left, the others to the right."""
    cells = [[as_text(value) for value in row] for row in rows]
    if header is not None:
        cells.insert(0, list(header))
    return "\n".join("  " + line for line in text_table(cells))


def result_text(title: str, formula: str, body: str, *notes: str) -> str:
    """Return the printed form of a result: title, formula, table and notes, one below the other."""
    return "\n".join([title, "  " + formula, body, *("  " + note for note in notes if note)])
