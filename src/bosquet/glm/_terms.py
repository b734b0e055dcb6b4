"""Terms of a linear predictor, and which of them contains which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet._suggestions import nearest

INTERCEPT = "Intercept"


@dataclass(frozen=True)
class Term:
    """A main effect or an interaction: the factors it is made of, and its columns in the matrix.

    The intercept is the term without factors.
    """

    name: str
    factors: frozenset[str]
    columns: tuple[int, ...]


def containing(term: Term, terms: Iterable[Term]) -> list[Term]:
    """The terms that `term` is marginal to: a is contained in a:b."""
    return [other for other in terms if term.factors < other.factors]


def removable(terms: Sequence[Term]) -> list[Term]:
    """Terms that no other one contains. The intercept, which all contain, always stays."""
    return [term for term in terms if term.factors and not containing(term, terms)]


def named(
    wanted: Any, terms: Sequence[Term], columns: Sequence[str]
) -> tuple[list[Term], set[int]]:
    """The terms, and the columns, that one name or several stand for.

    A name is a term's or, where no term has it, that of a single column.
    """
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    if not names:
        raise ValueError("name at least one term to test")
    by_name = {term.name: term for term in terms}
    found: list[Term] = []
    places: set[int] = set()
    for name in names:
        if name in by_name:
            found.append(by_name[name])
            places.update(by_name[name].columns)
        elif name in columns:
            places.add(list(columns).index(name))
        else:
            raise ValueError(_unknown(name, [*by_name, *columns]))
    return found, places


def _unknown(name: Any, known: Sequence[str]) -> str:
    near = nearest(str(name), known)
    meant = "." if near is None else f"; did you mean {near!r}?"
    return f"the model has no term {name!r}{meant} It has {', '.join(dict.fromkeys(known))}"


def check_independent(matrix: np.ndarray, columns: Sequence[str], tolerance: float = 1e-9) -> None:
    """Raise a ValueError that names a column which the columns before it give.

    With such a column the likelihood has no single maximum. Columns are scaled to length one first, so
    that units do not matter.
    """
    rows, width = matrix.shape
    if width == 0:
        return
    if rows < width:
        raise ValueError(
            f"{rows} row{'s' * (rows > 1)} (n_samples={rows}) cannot determine {width} coefficients:"
            " use fewer columns or more rows"
        )
    length = np.sqrt((matrix**2).sum(axis=0))
    if not length.all():
        empty = columns[int(np.flatnonzero(length == 0)[0])]
        raise ValueError(f"the column {empty!r} is zero in every row: leave it out")
    scaled = matrix / length
    left_over = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    dependent = np.flatnonzero(left_over < tolerance)
    if dependent.size == 0:
        return
    place = int(dependent[0])
    share = np.linalg.lstsq(scaled[:, :place], scaled[:, place], rcond=None)[0]
    involved = np.flatnonzero(np.abs(share) > 1e-6)
    factor = share[involved] * length[place] / length[involved]
    parts = [
        columns[i] if abs(f - 1) < 1e-6 else f"{f:.4g} × {columns[i]}"
        for i, f in zip(involved.tolist(), factor.tolist(), strict=True)
    ]
    told = " + ".join(parts[:6]).replace("+ -", "- ") + (" + ..." if len(parts) > 6 else "")
    raise ValueError(
        f"the column {columns[place]!r} is collinear with those before it: it equals {told};"
        " leave one of them out"
    )
