"""Results that show themselves as a short table: in a terminal, in a notebook, as a data frame."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import numpy as np

from bosquet._text_table import text_table

MOST_LETTERS = 40  # of a name


class Shown:
    """A result of many numbers that says what it is and shows its first lines.

    A subclass gives `columns()`, in the order in which lines are worth reading, and `_caption()`.
    A dataclass among them is declared with ``repr=False``.
    """

    _most_lines = 8

    def columns(self) -> dict[str, Any]:
        """The columns by name, as they are shown."""
        raise NotImplementedError

    def _caption(self) -> str:
        raise NotImplementedError

    def to_frame(self) -> Any:
        """All lines as a pandas data frame."""
        return as_frame(self.columns())

    def __repr__(self) -> str:
        head, rows, more = self._cells()
        if not rows:
            return self._caption()
        lines = [self._caption(), *("  " + line for line in text_table([head, *rows]))]
        return "\n".join([*lines, f"  {more}"] if more else lines)

    def _repr_html_(self) -> str:
        head, rows, more = self._cells()
        names = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in rows
        )
        note = f"<p>{escape(more)}</p>" if more else ""
        return (
            f"<table><caption>{escape(self._caption())}</caption>"
            f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{note}"
        )

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        """The head, the lines shown, and how many there are besides."""
        columns = self.columns()
        count = len(next(iter(columns.values())))
        shown = [
            [_text(value) for value in column[: self._most_lines]] for column in columns.values()
        ]
        left = count - self._most_lines
        more = f"... and {left} more: to_frame() has them all" if left > 0 else ""
        return list(columns), [list(cells) for cells in zip(*shown, strict=True)], more


def as_frame(columns: Mapping[str, Any]) -> Any:
    """Columns as a pandas data frame; one line on how to get pandas where it is missing."""
    try:
        import pandas
    except ImportError:
        raise ImportError(
            "to_frame() needs pandas (pip install pandas); columns() does not"
        ) from None
    return pandas.DataFrame(dict(columns))


def _text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"
