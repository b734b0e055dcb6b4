"""Terms of a linear predictor, and their marginality."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._suggestions import hint

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class Term:
    """A main effect or an interaction: its factors, and its columns in the matrix.

    The intercept is the term without factors.
    """

    name: str
    factors: frozenset[str]
    columns: tuple[int, ...]


def terms_containing(term: Term, terms: Iterable[Term]) -> list[Term]:
    """Return the terms that contain `term`: a:b contains a."""
    return [other for other in terms if term.factors < other.factors]


def removable_terms(terms: Sequence[Term]) -> list[Term]:
    """Return the terms that no other term contains, except the intercept, which is never removed."""
    return [term for term in terms if term.factors and not terms_containing(term, terms)]


def find_terms(
    requested: Any, terms: Sequence[Term], columns: Sequence[str]
) -> tuple[list[Term], set[int]]:
    """Return the terms and the columns of the matrix with the given names.

    A name is that of a term or, if there is no such term, of a single column.
    """
    names = [requested] if isinstance(requested, str) else list(requested)
    if not names:
        raise ValueError("terms is empty; name at least one term to test")
    by_name = {term.name: term for term in terms}
    selected_terms: list[Term] = []
    indices: set[int] = set()
    for name in names:
        if name in by_name:
            selected_terms.append(by_name[name])
            indices.update(by_name[name].columns)
        elif name in columns:
            indices.add(list(columns).index(name))
        else:
            raise ValueError(_unknown_term_message(name, [*by_name, *columns]))
    return selected_terms, indices


def _unknown_term_message(name: Any, term_names: Sequence[str]) -> str:
    return f"the model has no term {name!r}; {hint(str(name), term_names)}"


def check_independent(matrix: np.ndarray, columns: Sequence[str], tolerance: float = 1e-9) -> None:
    """Raise a ValueError that names a column which is a linear combination of the columns before it.

    With such a column the maximum of the likelihood is not unique. Columns are first scaled to length one,
    so that units do not matter.
    """
    n_rows, width = matrix.shape
    if width == 0:
        return
    if n_rows < width:
        raise ValueError(
            f"{width} coefficients cannot be estimated from {n_rows} row{'s' * (n_rows > 1)}"
            f" (n_samples={n_rows}); use fewer columns or more rows"
        )
    length = np.sqrt((matrix**2).sum(axis=0))
    if not length.all():
        empty = columns[int(np.flatnonzero(length == 0)[0])]
        raise ValueError(f"column {empty!r} is zero in every row; remove it")
    scaled = matrix / length
    residual = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    dependent = np.flatnonzero(residual < tolerance)
    if dependent.size == 0:
        return
    index = int(dependent[0])
    weights = np.linalg.lstsq(scaled[:, :index], scaled[:, index], rcond=None)[0]
    involved = np.flatnonzero(np.abs(weights) > 1e-6)
    factor = weights[involved] * length[index] / length[involved]
    summands = [
        columns[i] if abs(f - 1) < 1e-6 else f"{f:.4g} × {columns[i]}"
        for i, f in zip(involved.tolist(), factor.tolist(), strict=True)
    ]
    combination = " + ".join(summands[:6]).replace("+ -", "- ") + (
        " + ..." if len(summands) > 6 else ""
    )
    raise ValueError(
        f"column {columns[index]!r} is collinear with the columns before it: it equals {combination};"
        " remove one of them"
    )
