"""Separation: a direction in which the likelihood rises for ever, found by a linear programme.

Let a row of a class ask for x'β > 0 and a row of the other for x'β < 0, or the same with rows multiplied by
±1: a'β > 0. If some β ≠ 0 satisfies a'β ≥ 0 in every row, going along it never lowers the likelihood, and no
finite β is its maximum. If all rows can be strict the separation is *complete*, otherwise *quasi-complete*.
Which rows can be is what the programme

    maximise Σ z  subject to  a'β ≥ z,  0 ≤ z ≤ 1

tells: each z is 1 or 0. The directions are then those that vanish on the other rows, so a coefficient
is infinite unless all these directions leave it alone (Konis, 2007, looked for one of them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from bosquet.glm._terms import Term

# Beyond so many terms the smallest set that separates is not looked for: each costs a programme.
MOST_TERMS_TRIED = 40


class SeparationWarning(UserWarning):
    """The maximum likelihood estimate does not exist: some coefficients are infinite."""


@dataclass(frozen=True)
class Separation:
    """What separates.

    Attributes
    ----------
    kind : "complete" or "quasi-complete"
        Whether the rows are all told apart strictly, or some lie on the border.
    coefficients : tuple of str
        Those whose estimates are infinite.
    terms : tuple of str
        A set of terms that separates by itself, of which none can be spared.
    rows : int
        Rows (distinct ones) that are told apart strictly.
    """

    kind: str
    coefficients: tuple[str, ...]
    terms: tuple[str, ...]
    rows: int

    def __str__(self) -> str:
        by = " and ".join(self.terms) or "the constant"
        few = ", ".join(self.coefficients[:6]) + (", ..." if len(self.coefficients) > 6 else "")
        return (
            f"{self.kind} separation by {by}: the likelihood has no maximum, and the estimates of {few} are"
            " infinite"
        )

    def sentence(self) -> str:
        told = str(self)
        return f"{told[0].upper()}{told[1:]}."


def find_separation(
    asking: np.ndarray,
    level: np.ndarray,
    columns: Sequence[str],
    terms: Sequence[Term],
) -> Separation | None:
    """The separation of rows that ask for a'β > 0, where other rows ask for x'β = 0.

    Parameters
    ----------
    asking : array of shape (rows, columns)
        Rows a, turned so that a'β > 0 is what raises their likelihood.
    level : array of shape (rows, columns)
        Rows at which every β ≠ 0 lowers it on one side: groups with successes and failures both.
    columns, terms
        Names; a term's `columns` are places among them.
    """
    scale = np.abs(np.vstack([asking, level])).max(axis=0, initial=0)
    scale[scale == 0] = 1
    asking = np.unique(asking / scale, axis=0)
    level = np.unique(level / scale, axis=0)
    strict = strict_rows(asking, level)
    if not strict.any():
        return None
    border = np.vstack([asking[~strict], level])
    infinite = _moved(border)
    if not infinite.any():
        return None
    complete = bool(strict.all()) and len(level) == 0
    return Separation(
        kind="complete" if complete else "quasi-complete",
        coefficients=tuple(name for name, far in zip(columns, infinite, strict=True) if far),
        terms=_smallest(asking, level, terms, infinite),
        rows=int(strict.sum()),
    )


def strict_rows(asking: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Which rows some β makes strictly positive while none becomes negative."""
    rows, width = asking.shape
    if rows == 0 or width == 0:
        return np.zeros(rows, dtype=bool)
    gain = np.concatenate([np.zeros(width), -np.ones(rows)])
    above = sparse.hstack([sparse.csr_matrix(-asking), sparse.identity(rows)], format="csr")
    equal = None
    if len(level):
        equal = sparse.hstack(
            [sparse.csr_matrix(level), sparse.csr_matrix((len(level), rows))], format="csr"
        )
    bounds = np.vstack([np.tile([-np.inf, np.inf], (width, 1)), np.tile([0.0, 1.0], (rows, 1))])
    found = linprog(
        gain,
        A_ub=above,
        b_ub=np.zeros(rows),
        A_eq=equal,
        b_eq=None if equal is None else np.zeros(len(level)),
        bounds=bounds,
        method="highs",
    )
    if found.x is None:
        return np.zeros(rows, dtype=bool)
    return found.x[width:] > 0.5


def _moved(border: np.ndarray) -> np.ndarray:
    """Coefficients that some β with x'β = 0 on the border rows moves: its null space says which."""
    width = border.shape[1]
    if len(border) == 0:
        return np.ones(width, dtype=bool)
    _, values, right = np.linalg.svd(border, full_matrices=True)
    rank = int((values > 1e-9 * max(values.max(initial=0), 1e-300)).sum())
    return np.abs(right[rank:]).max(axis=0, initial=0) > 1e-7


def _smallest(
    asking: np.ndarray, level: np.ndarray, terms: Sequence[Term], infinite: np.ndarray
) -> tuple[str, ...]:
    """Terms that separate by themselves: others are left out one by one while some row stays strict."""
    constant = [c for term in terms if not term.factors for c in term.columns]
    kept = [term for term in terms if term.factors and infinite[list(term.columns)].any()]
    if len(kept) > MOST_TERMS_TRIED:
        return tuple(term.name for term in kept)

    def separates(some: Sequence[Term]) -> bool:
        places = constant + [c for term in some for c in term.columns]
        return bool(strict_rows(asking[:, places], level[:, places]).any())

    alone = [term for term in kept if separates([term])]
    if alone:
        return (alone[0].name,)
    for term in list(kept):
        fewer = [other for other in kept if other is not term]
        if fewer and separates(fewer):
            kept = fewer
    return tuple(term.name for term in kept)
