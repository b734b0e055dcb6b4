"""Results that display as a short table in a terminal or a notebook and convert to a data frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bosquet._optional import import_pandas
from bosquet._text_table import text_table

if TYPE_CHECKING:
    from pandas import DataFrame


MAX_CELL_WIDTH = 40  # longer texts are cut off


class TabularResult:
    """Base class of results that display a caption and their first lines.

    A subclass defines `columns()`, with the most important lines first, and `_caption()`. A subclass that is
    a dataclass must be declared with ``repr=False``, which would otherwise replace `__repr__`.
    """

    _max_lines = 8

    def columns(self) -> Mapping[str, Sequence[object] | np.ndarray]:
        """Return the columns by name, in the order in which they are displayed."""
        raise NotImplementedError

    def _caption(self) -> str:
        raise NotImplementedError

    def to_frame(self) -> DataFrame:
        """Return all lines as a pandas data frame."""
        return as_frame(self.columns())

    def __repr__(self) -> str:
        head, rows, more_rows_line = self._cells()
        if not rows:
            return self._caption()
        lines = [self._caption(), *("  " + line for line in text_table([head, *rows]))]
        return "\n".join([*lines, f"  {more_rows_line}"] if more_rows_line else lines)

    def _repr_html_(self) -> str:
        head, rows, more_rows_line = self._cells()
        names = "".join(f"<th>{escape(name)}</th>" for name in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in rows
        )
        note = f"<p>{escape(more_rows_line)}</p>" if more_rows_line else ""
        return (
            f"<table><caption>{escape(self._caption())}</caption>"
            f"<thead><tr>{names}</tr></thead><tbody>{body}</tbody></table>{note}"
        )

    def _cells(self) -> tuple[list[str], list[list[str]], str]:
        """Return the header, the displayed lines, and a note on the lines that are not displayed."""
        columns = self.columns()
        count = len(next(iter(columns.values())))
        shown = [
            [_cell_text(value) for value in column[: self._max_lines]]
            for column in columns.values()
        ]
        n_hidden = count - self._max_lines
        more = f"... and {n_hidden} more: to_frame() returns all of them" if n_hidden > 0 else ""
        return list(columns), [list(cells) for cells in zip(*shown, strict=True)], more


def as_frame(columns: Mapping[str, Sequence[object] | np.ndarray]) -> DataFrame:
    """Return the columns as a pandas data frame; raise ImportError if pandas is not installed."""
    pandas = import_pandas("to_frame()")
    return pandas.DataFrame(dict(columns))


def _cell_text(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"{value:.4g}"
    text = str(value)
    return text if len(text) <= MAX_CELL_WIDTH else text[: MAX_CELL_WIDTH - 1] + "…"


def ranked_columns(
    names: list[str], scaled: np.ndarray, mean: np.ndarray, standard_error: np.ndarray
) -> dict[str, list[str] | np.ndarray]:
    """Return the columns of a table of importances, most important first."""
    order = np.argsort(-mean, kind="stable")
    return {
        "feature": [names[f] for f in order],
        "scaled": scaled[order],
        "mean": mean[order],
        "standard_error": standard_error[order],
    }
