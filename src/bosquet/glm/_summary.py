"""The summary of a fit, as text and as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet._text_table import text_table


@dataclass(frozen=True)
class Summary:
    """Summary of a fit: the formula, the goodness of fit and the coefficients; ``print`` shows it.

    Attributes
    ----------
    title : str
    facts : list of str
    table : pandas.DataFrame
        Result of `coefficients`.
    confidence : float
        Coverage of the intervals in `table`.
    interval : "wald" or "profile"
        Kind of these intervals.
    notes : list of str
    """

    title: str
    facts: list[str]
    table: Any
    confidence: float
    interval: str
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        names, head, cells = self._table_cells()
        rows = [[name, *row] for name, row in zip(names, cells, strict=True)]
        lines = [self.title, "; ".join(self.facts), "", *text_table([["", *head], *rows])]
        if self.notes:
            lines += ["", *self.notes]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        names, head, cells = self._table_cells()
        shown = "".join(f"<th style='text-align:right'>{html.escape(h)}</th>" for h in head)
        body = "".join(
            f"<tr><th style='text-align:left' scope='row'>{html.escape(name)}</th>"
            + "".join(f"<td style='text-align:right'>{html.escape(cell)}</td>" for cell in row)
            + "</tr>"
            for name, row in zip(names, cells, strict=True)
        )
        notes = "".join(f"<p>{html.escape(note)}</p>" for note in self.notes)
        return (
            f"<div><p><b>{html.escape(self.title)}</b><br>{html.escape('; '.join(self.facts))}</p>"
            f"<table><thead><tr><th></th>{shown}</tr></thead><tbody>{body}</tbody></table>{notes}</div>"
        )

    def _table_cells(self) -> tuple[list[str], list[str], list[list[str]]]:
        names = [_row_name(key) for key in self.table.index]
        statistic = self.table.columns[2]
        kind = "" if self.interval == "wald" else f" ({self.interval})"
        head = [
            "estimate",
            "std error",
            statistic,
            "p",
            f"{100 * self.confidence:g} % interval{kind}",
            "",
        ]
        cells = []
        for row in self.table.to_numpy(dtype=float):
            estimate, error, ratio, p, low, high = row
            cells.append(
                [
                    _format_number(estimate), _format_number(error), f"{ratio:.3f}", p_cell(p),
                    f"{_format_number(low)} to {_format_number(high)}", stars(p),
                ]
            )  # fmt: skip
        return names, head, cells


def _row_name(key: Any) -> str:
    return str(key) if not isinstance(key, tuple) else ": ".join(map(str, key))


def _format_number(value: float) -> str:
    """Format a number with four decimals; large and tiny ones with four significant digits."""
    if value == 0 or not np.isfinite(value) or 1e-3 <= abs(value) < 1e5:
        return f"{value:.4f}"
    return f"{value:.3e}"


def p_cell(p: float) -> str:
    return "" if np.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def stars(p: float) -> str:
    """Return one star for p < 5 %, two for p < 1 %, three for p < 0.1 %."""
    return "*" * sum(p < bound for bound in (0.05, 0.01, 0.001))
