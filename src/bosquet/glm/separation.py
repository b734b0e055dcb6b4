"""Separation: a direction in which the likelihood rises for ever, and how to be sure that there is none.

Let a row of a class ask for x'β > 0 and a row of the other for x'β < 0, or the same with rows multiplied by
±1: a'β > 0. If some β ≠ 0 satisfies a'β ≥ 0 in every row, going along it never lowers the likelihood, and no
finite β is its maximum. If all rows can be strict the separation is *complete*, otherwise *quasi-complete*.

That a maximum exists is proved by the fit itself (`has_maximum`). Where it is not, linear programmes find the
rows that can be strict (after Konis, 2007): maximise the sum of a'β over the rows that are not yet known to
be, with a'β ≥ 0 in all rows and β in a box, until that sum is nil. The directions of separation are then
those that vanish on the other rows, so a coefficient is infinite unless all of them leave it alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
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
        Rows that are told apart strictly.
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


def has_maximum(
    spread: np.ndarray, gradient: np.ndarray, information: np.ndarray, safety: float = 0.5
) -> bool:
    """Whether a point is so near a maximum of the log-likelihood that there must be one.

    A logistic, softmax or Poisson log-likelihood is self-concordant: along a direction v its third derivative
    is at most max |x'v| times the second. For such a function a maximum exists if R ν ≤ 1/2, with
    ν² = g'H⁻¹g of the gradient g and R² the largest x'H⁻¹x (Bach, 2010). When classes are separated R ν stays
    above that for ever: as the gradient fades, so does the curvature H.

    Parameters
    ----------
    spread : array
        x'H⁻¹x of each row: the variances of the linear predictors.
    gradient, information
        g and H, at the estimate.
    """
    if not (np.isfinite(spread).all() and np.isfinite(gradient).all()):
        return False
    try:
        step = np.linalg.solve(information, gradient)
    except np.linalg.LinAlgError:
        return False
    decrement = float(gradient @ step)
    # A covariance that is itself a product of rounding proves nothing.
    sound = (
        bool(np.isfinite(information).all()) and np.linalg.cond(_correlation(information)) < 1e12
    )
    return sound and decrement >= 0 and np.sqrt(decrement * spread.max(initial=0)) <= safety


def certain_maximum(matrix: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> bool:
    """The same for a likelihood of one linear predictor: gradient X'r, second derivatives X'WX."""
    information = matrix.T @ (matrix * weight[:, None])
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return False
    spread = ((matrix @ inverse) * matrix).sum(axis=1)
    return has_maximum(spread, matrix.T @ residual, information)


def _correlation(information: np.ndarray) -> np.ndarray:
    """The matrix with a diagonal of ones, which does not depend on units."""
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    return information / np.outer(size, size)


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
    strict = strict_rows(asking, level)
    if not strict.any():
        return None
    infinite = _moved(np.vstack([asking[~strict], level]))
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
    strict = np.zeros(len(asking), dtype=bool)
    free = _free_directions(level, asking.shape[1])
    if len(asking) == 0 or free.shape[1] == 0:
        return strict
    rows = _well_scaled(asking @ free)
    while True:
        margins = _best_margins(rows, ~strict)
        new = ~strict & (margins > STRICT)
        if not new.any():
            return strict
        strict |= new


# Rows are scaled to length one: a margin beyond this is no rounding.
STRICT = 1e-6


def _free_directions(level: np.ndarray, width: int) -> np.ndarray:
    """A basis of the β with x'β = 0 in every row of `level`."""
    if len(level) == 0:
        return np.eye(width)
    size = np.abs(level).max(axis=0)
    size[size == 0] = 1
    _, values, right = np.linalg.svd(np.linalg.qr(level / size, mode="r"), full_matrices=True)
    rank = int((values > 1e-9 * values.max(initial=0)).sum())
    return right[rank:].T / size[:, None]


def _well_scaled(rows: np.ndarray) -> np.ndarray:
    """The same cone in other coordinates: orthogonal columns, rows of length one."""
    size = np.sqrt((rows**2).sum(axis=0))
    size[size == 0] = 1
    turned = np.linalg.qr(rows / size)[0] if len(rows) > rows.shape[1] else rows / size
    length = np.sqrt((turned**2).sum(axis=1, keepdims=True))
    return turned / np.where(length > 1e-12, length, np.inf)


def _best_margins(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Margins a'β of the β that makes the wanted rows' sum largest and no row's negative.

    Few rows are needed to say what the others do not allow: those that a solution violates most are added
    until none does.
    """
    width = rows.shape[1]
    gain = -rows[wanted].sum(axis=0)
    batch = 50 + 10 * width
    working = np.unique(np.linspace(0, len(rows) - 1, batch).astype(int))
    for _ in range(len(rows)):
        found = linprog(
            gain / max(np.abs(gain).max(), 1e-300),
            A_ub=-rows[working],
            b_ub=np.zeros(working.size),
            bounds=(-1, 1),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if found.x is None:
            return np.zeros(len(rows))
        margins = rows @ found.x
        violated = np.flatnonzero(margins < -1e-8)
        violated = np.setdiff1d(violated, working, assume_unique=True)
        if violated.size == 0:
            return margins
        worst = violated[np.argsort(margins[violated], kind="stable")[:batch]]
        working = np.concatenate([working, worst])
    return np.zeros(len(rows))


def _moved(border: np.ndarray) -> np.ndarray:
    """Coefficients that some β with x'β = 0 on the border rows moves: its null space says which."""
    free = _free_directions(border, border.shape[1])
    size = np.abs(free).max(axis=1, initial=0)
    scale = np.abs(border).max(axis=0, initial=0)
    return size * np.where(scale > 0, scale, 1) > 1e-7


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
