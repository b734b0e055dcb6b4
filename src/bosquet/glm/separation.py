"""Separation: detection of a direction in which the likelihood increases without limit.

The likelihood of a row x increases with x'β for one class and decreases for the other. With the sign of the
class, a = ±x, it increases with a'β for every row. If some β ≠ 0 satisfies a'β ≥ 0 in every row, the
likelihood never decreases in this direction, and no finite β maximises it. If a'β > 0 is possible in all rows
at once, the separation is *complete*, otherwise *quasi-complete*.

In most cases the fit itself proves that a maximum exists (`has_maximum`). Otherwise linear programs find the
rows for which a'β > 0 is possible (after Konis, 2007). They maximise the sum of a'β over the rows that are
not yet known to be such rows, subject to a'β ≥ 0 in all rows and β in a box, until this sum is 0. The
directions of separation then satisfy a'β = 0 in the other rows. A coefficient is infinite if one of these
directions changes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from bosquet.glm._terms import Term

# With more terms the smallest set that separates is not searched: each term costs a linear program.
MAX_TERMS_TRIED = 40


class SeparationWarning(UserWarning):
    """Warning that the maximum likelihood estimate does not exist: some coefficients are infinite."""


@dataclass(frozen=True)
class Separation:
    """The terms and coefficients of a separation.

    Attributes
    ----------
    kind : "complete" or "quasi-complete"
        Whether all rows are separated strictly, or some lie on the boundary.
    coefficients : tuple of str
        Coefficients whose estimates are infinite.
    terms : tuple of str
        A minimal set of terms that separates the rows.
    n_rows : int
        Number of rows that are separated strictly.
    """

    kind: str
    coefficients: tuple[str, ...]
    terms: tuple[str, ...]
    n_rows: int

    def __str__(self) -> str:
        terms = " and ".join(self.terms) or "the intercept"
        listed = ", ".join(self.coefficients[:6]) + (", ..." if len(self.coefficients) > 6 else "")
        return (
            f"{self.kind} separation by {terms}: the likelihood has no maximum, and the estimates of {listed}"
            " are infinite"
        )

    def sentence(self) -> str:
        """Return the text as a sentence, with a capital letter and a period."""
        text = str(self)
        return f"{text[0].upper()}{text[1:]}."


def has_maximum(
    spread: np.ndarray, gradient: np.ndarray, information: np.ndarray, safety: float = 0.5
) -> bool:
    """Whether the log-likelihood must have a maximum near the estimate.

    A logistic, softmax or Poisson log-likelihood is self-concordant: along a direction v its third derivative
    is at most max |x'v| times the second. For such a function a maximum exists if R ν ≤ 1/2, with
    ν² = g'H⁻¹g for the gradient g and R² the largest x'H⁻¹x (Bach, 2010). If classes are separated, R ν is
    above 1/2 everywhere: as the gradient vanishes, so does the curvature H.

    Parameters
    ----------
    spread : array
        x'H⁻¹x of each row, the variance of its linear predictor.
    gradient, information
        g and H at the estimate.
    """
    if not (np.isfinite(spread).all() and np.isfinite(gradient).all()):
        return False
    try:
        step = np.linalg.solve(information, gradient)
    except np.linalg.LinAlgError:
        return False
    decrement = float(gradient @ step)
    # If H is nearly singular, the result may be due to rounding and proves nothing.
    well_conditioned = (
        bool(np.isfinite(information).all()) and np.linalg.cond(_correlation(information)) < 1e12
    )
    return (
        well_conditioned and decrement >= 0 and np.sqrt(decrement * spread.max(initial=0)) <= safety
    )


def has_certain_maximum(matrix: np.ndarray, residual: np.ndarray, weight: np.ndarray) -> bool:
    """Apply `has_maximum` to a model of one linear predictor: gradient X'r, information X'WX."""
    information = matrix.T @ (matrix * weight[:, None])
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return False
    spread = ((matrix @ inverse) * matrix).sum(axis=1)
    return has_maximum(spread, matrix.T @ residual, information)


def _correlation(information: np.ndarray) -> np.ndarray:
    """Return the matrix scaled to a diagonal of ones, which does not depend on units."""
    size = np.sqrt(np.maximum(np.diag(information), 1e-300))
    return information / np.outer(size, size)


def find_separation(
    signed_rows: np.ndarray,
    tied_rows: np.ndarray,
    columns: Sequence[str],
    terms: Sequence[Term],
) -> Separation | None:
    """Return the separation of rows with a'β > 0, given other rows with x'β = 0; None if there is none.

    Parameters
    ----------
    signed_rows : array of shape (rows, columns)
        Rows a, with the sign for which the likelihood increases with a'β.
    tied_rows : array of shape (rows, columns)
        Rows x whose likelihood decreases in both directions of x'β: groups with successes and failures.
    columns, terms
        Names of the columns, and terms whose `columns` are indices of them.
    """
    strict = strict_rows(signed_rows, tied_rows)
    if not strict.any():
        return None
    infinite = _infinite_coefficients(np.vstack([signed_rows[~strict], tied_rows]))
    if not infinite.any():
        return None
    complete = bool(strict.all()) and len(tied_rows) == 0
    return Separation(
        kind="complete" if complete else "quasi-complete",
        coefficients=tuple(
            name for name, diverges in zip(columns, infinite, strict=True) if diverges
        ),
        terms=_minimal_terms(signed_rows, tied_rows, terms, infinite),
        n_rows=int(strict.sum()),
    )


def strict_rows(signed_rows: np.ndarray, tied_rows: np.ndarray) -> np.ndarray:
    """Return which rows have a'β > 0 for some β with a'β ≥ 0 in all rows and x'β = 0 in tied rows."""
    strict = np.zeros(len(signed_rows), dtype=bool)
    free = _null_space(tied_rows, signed_rows.shape[1])
    if len(signed_rows) == 0 or free.shape[1] == 0:
        return strict
    rows = _rescaled_rows(signed_rows @ free)
    while True:
        margins = _best_margins(rows, ~strict)
        new = ~strict & (margins > STRICT)
        if not new.any():
            return strict
        strict |= new


# Rows are scaled to length one; a margin above this is not a rounding error.
STRICT = 1e-6


def _null_space(tied_rows: np.ndarray, width: int) -> np.ndarray:
    """Return a basis of the β with x'β = 0 in every row of `tied_rows`."""
    if len(tied_rows) == 0:
        return np.eye(width)
    size = np.abs(tied_rows).max(axis=0)
    size[size == 0] = 1
    _, values, right = np.linalg.svd(np.linalg.qr(tied_rows / size, mode="r"), full_matrices=True)
    rank = int((values > 1e-9 * values.max(initial=0)).sum())
    return right[rank:].T / size[:, None]


def _rescaled_rows(rows: np.ndarray) -> np.ndarray:
    """Return rows that define the same cone in other coordinates, with orthogonal columns and length one."""
    size = np.sqrt((rows**2).sum(axis=0))
    size[size == 0] = 1
    rotated = np.linalg.qr(rows / size)[0] if len(rows) > rows.shape[1] else rows / size
    length = np.sqrt((rotated**2).sum(axis=1, keepdims=True))
    return rotated / np.where(length > 1e-12, length, np.inf)


def _best_margins(rows: np.ndarray, maximised: np.ndarray) -> np.ndarray:
    """Return the margins a'β of the β that maximises their sum over `maximised`, subject to a'β ≥ 0.

    Few constraints are active. The linear program starts with some rows, and the rows that its solution
    violates most are added until none is violated.
    """
    width = rows.shape[1]
    gain = -rows[maximised].sum(axis=0)
    batch = 50 + 10 * width
    active_rows = np.unique(np.linspace(0, len(rows) - 1, batch).astype(int))
    for _ in range(len(rows)):
        solution = linprog(
            gain / max(np.abs(gain).max(), 1e-300),
            A_ub=-rows[active_rows],
            b_ub=np.zeros(active_rows.size),
            bounds=(-1, 1),
            method="highs",
            options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9},
        )
        if solution.x is None:
            return np.zeros(len(rows))
        margins = rows @ solution.x
        violated = np.flatnonzero(margins < -1e-8)
        violated = np.setdiff1d(violated, active_rows, assume_unique=True)
        if violated.size == 0:
            return margins
        worst = violated[np.argsort(margins[violated], kind="stable")[:batch]]
        active_rows = np.concatenate([active_rows, worst])
    return np.zeros(len(rows))


def _infinite_coefficients(boundary: np.ndarray) -> np.ndarray:
    """Return which coefficients are not 0 for some β with x'β = 0 in all boundary rows."""
    free = _null_space(boundary, boundary.shape[1])
    size = np.abs(free).max(axis=1, initial=0)
    scale = np.abs(boundary).max(axis=0, initial=0)
    return size * np.where(scale > 0, scale, 1) > 1e-7


def _minimal_terms(
    signed_rows: np.ndarray, tied_rows: np.ndarray, terms: Sequence[Term], infinite: np.ndarray
) -> tuple[str, ...]:
    """Return a minimal set of terms that separates: terms are removed while some row stays separated."""
    intercept = [c for term in terms if not term.factors for c in term.columns]
    infinite_terms = [term for term in terms if term.factors and infinite[list(term.columns)].any()]
    if len(infinite_terms) > MAX_TERMS_TRIED:
        return tuple(term.name for term in infinite_terms)

    def separates(subset: Sequence[Term]) -> bool:
        indices = intercept + [c for term in subset for c in term.columns]
        return bool(strict_rows(signed_rows[:, indices], tied_rows[:, indices]).any())

    sufficient = [term for term in infinite_terms if separates([term])]
    if sufficient:
        return (sufficient[0].name,)
    for term in list(infinite_terms):
        other_terms = [other for other in infinite_terms if other is not term]
        if other_terms and separates(other_terms):
            infinite_terms = other_terms
    return tuple(term.name for term in infinite_terms)
