"""The table of a pruning path: cost and validation error of each subtree."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from bosquet._tabular_result import as_frame
from bosquet._text_table import text_table

if TYPE_CHECKING:
    from pandas import DataFrame


_MAX_LINES = 24
_RULES = {"min": "the smallest error", "1se": "the 1-SE rule"}


@dataclass(frozen=True, eq=False, repr=False)
class PruningTable:
    """Table of nested subtrees, from the largest to the root, with the chosen one.

    Attributes
    ----------
    gammas, ccp_alphas : arrays of shape (subtrees,)
        Smallest penalty per leaf for which the subtree is optimal: in units of D, and per unit of weight.
    leaves : int array
        Number of leaves of each subtree.
    costs : array
        D on the training set.
    errors, standard_errors : arrays
        Mean loss on the validation set or in cross-validation, and its standard error.
    chosen : int
        Index of the chosen subtree.
    rule, cost, loss : str
        The selection rule, the kind of D, and the name of the loss.
    """

    gammas: np.ndarray
    ccp_alphas: np.ndarray
    leaves: np.ndarray
    costs: np.ndarray
    errors: np.ndarray
    standard_errors: np.ndarray
    chosen: int
    rule: str
    cost: str
    loss: str = ""

    @property
    def chosen_gamma(self) -> float:
        return float(self.gammas[self.chosen])

    @property
    def chosen_ccp_alpha(self) -> float:
        return float(self.ccp_alphas[self.chosen])

    @property
    def chosen_leaves(self) -> int:
        return int(self.leaves[self.chosen])

    def __len__(self) -> int:
        return len(self.gammas)

    def columns(self) -> dict[str, np.ndarray]:
        """Return the columns of the printed table by name."""
        return {
            "leaves": self.leaves,
            "gamma": self.gammas,
            "ccp_alpha": self.ccp_alphas,
            self.cost: self.costs,
            "error": self.errors,
            "se": self.standard_errors,
        }

    def to_frame(self) -> DataFrame:
        """Return the table as a pandas data frame, with a column that marks the chosen subtree."""
        return as_frame({**self.columns(), "chosen": np.arange(len(self)) == self.chosen})

    def _lines_to_print(self) -> list[int | None]:
        """Return the lines to print: the first, the last and those near the chosen one; None marks a gap."""
        if len(self) <= _MAX_LINES:
            return list(range(len(self)))
        near = set(range(self.chosen - 4, self.chosen + 5))
        near |= set(range(5)) | set(range(len(self) - 8, len(self)))
        lines: list[int | None] = []
        for line in sorted(near & set(range(len(self)))):
            if lines and line - 1 != lines[-1]:
                lines.append(None)
            lines.append(line)
        return lines

    def _caption(self) -> str:
        of = f" ({self.loss})" if self.loss else ""
        leaf = "leaf" if self.chosen_leaves == 1 else "leaves"
        return (
            f"chosen by {_RULES.get(self.rule, self.rule)}{of}: "
            f"{self.chosen_leaves} {leaf} at gamma {self.chosen_gamma:.4g}"
        )

    def _printed_cells(self) -> list[list[str] | None]:
        """Return the numbers of the printed lines as text."""
        cells: list[list[str] | None] = []
        for line in self._lines_to_print():
            if line is None:
                cells.append(None)
            else:
                numbers = [column[line] for column in self.columns().values()]
                cells.append([str(numbers[0]), *[f"{number:.4g}" for number in numbers[1:]]])
        return cells

    def __repr__(self) -> str:
        head, rows = list(self.columns()), self._printed_cells()
        texts = iter(text_table([head, *[row for row in rows if row is not None]], left=()))
        lines = ["  " + next(texts)]
        for line, row in zip(self._lines_to_print(), rows, strict=True):
            mark = "* " if line == self.chosen else "  "
            lines.append(mark + (next(texts) if row else "..."))
        return "\n".join([*lines, self._caption()])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.columns())
        body = []
        for line, row in zip(self._lines_to_print(), self._printed_cells(), strict=True):
            cells = row or ["…"] + [""] * (len(self.columns()) - 1)
            style = ' style="font-weight: bold"' if line == self.chosen else ""
            body.append(f"<tr{style}>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        return (
            f"<table><caption>{escape(self._caption())}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{''.join(body)}</tbody></table>"
        )
