"""The matrix of a table without a formula: every column a main effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet._parameters import feature_number
from bosquet.data import TableEncoder
from bosquet.glm._terms import INTERCEPT, Term


class ColumnDesign:
    """A constant, the quantitative columns as they are, and an indicator for each level but the first.

    Names of columns are those that a formula would give: ``famhist[T.Present]``. Columns of an array are
    x0, x1, ... as scikit-learn calls them. `levels` are the codes that occur in each categorical column.
    """

    def __init__(
        self,
        encoder: TableEncoder,
        chosen: Sequence[int],
        intercept: bool,
        levels: dict[int, np.ndarray],
    ) -> None:
        self.encoder = encoder
        self.chosen = tuple(chosen)
        self.intercept = intercept
        self.names = names_of(encoder)
        self.levels = levels
        self.terms, self.columns = self._layout()

    @classmethod
    def of_training_rows(
        cls,
        encoder: TableEncoder,
        columns: list[np.ndarray],
        chosen: Sequence[int],
        intercept: bool,
    ) -> ColumnDesign:
        """The design of a fit, which has the matrix of its rows."""
        design = cls(encoder, chosen, intercept, _occurring(encoder, columns, chosen))
        return design._with_rows(columns)

    def _with_rows(self, columns: list[np.ndarray]) -> ColumnDesign:
        self._training, self.matrix = columns, self._matrix(columns)
        return self

    def _layout(self) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        terms, columns = [], []
        if self.intercept:
            terms.append(Term(INTERCEPT, frozenset(), (0,)))
            columns.append(INTERCEPT)
        for feature in self.chosen:
            name, first = self.names[feature], len(columns)
            columns += [
                f"{name}[T.{level}]" if level is not None else name for level in self._told(feature)
            ]
            terms.append(Term(name, frozenset({name}), tuple(range(first, len(columns)))))
        return tuple(terms), tuple(columns)

    def _told(self, feature: int) -> list[Any]:
        """The levels that have an indicator of their own; None for a quantity."""
        known = self.encoder.levels[feature]
        if feature not in self.levels or known is None:
            return [None]
        return [known[code] for code in self._indicators(feature)]

    def _indicators(self, feature: int) -> np.ndarray:
        """Codes of the levels with an indicator: without a constant, one factor has all of them."""
        codes = self.levels[feature]
        first = next(other for other in self.chosen if other in self.levels)
        return codes if not self.intercept and feature == first else codes[1:]

    def _matrix(self, columns: list[np.ndarray]) -> np.ndarray:
        rows = len(columns[0])
        parts = [np.ones((rows, 1))] if self.intercept else []
        for feature in self.chosen:
            values = columns[feature]
            if feature in self.levels:
                parts.append((values[:, None] == self._indicators(feature)).astype(float))
            else:
                parts.append(np.asarray(values, dtype=float)[:, None])
        return np.hstack(parts) if parts else np.empty((rows, 0))

    @property
    def spec(self) -> list[str] | list[int]:
        """What to give as `formula` to get this design again."""
        if self.encoder.feature_names is None:
            return list(self.chosen)
        return [self.names[feature] for feature in self.chosen]

    @property
    def rhs(self) -> str:
        return " + ".join(self.names[feature] for feature in self.chosen) or "1"

    @property
    def uses(self) -> tuple[str, ...]:
        return tuple(self.names[feature] for feature in self.chosen)

    def rows(self, X: Any, owner: str) -> np.ndarray:
        """The matrix of other rows; a missing value or an unknown level is named."""
        refuse_sparse(X, owner)
        columns = as_list(self.encoder.transform(X, owner=owner))
        check_columns(self.encoder, columns, self.chosen, fitting=False)
        for feature, codes in self.levels.items():
            strange = ~np.isin(columns[feature], codes)
            if strange.any():
                known = self.encoder.levels[feature]
                assert known is not None
                level = known[int(columns[feature][strange][0])]
                raise ValueError(
                    f"the column {self.names[feature]!r} holds {level!r}, of which fit kept no row"
                )
        return self._matrix(columns)

    def without(self, removed: set[str]) -> ColumnDesign:
        """The design without some terms."""
        kept = [feature for feature in self.chosen if self.names[feature] not in removed]
        intercept = self.intercept and INTERCEPT not in removed
        levels = {feature: codes for feature, codes in self.levels.items() if feature in kept}
        smaller = ColumnDesign(self.encoder, kept, intercept, levels)
        return smaller._with_rows(self._training)

    def sum_coded(self) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        """Without interactions the coding makes no difference to what leaving a term out does."""
        return self.matrix, [term.columns for term in self.terms]


def read_columns(
    X: Any, chosen: Any, owner: str, missing: str
) -> tuple[TableEncoder, list[np.ndarray], list[int], np.ndarray]:
    """The encoder, its columns, the places of the chosen ones, and which rows have no gap in these."""
    refuse_sparse(X, owner)
    encoder, encoded = TableEncoder.fit(X, owner=owner)
    columns = as_list(encoded)
    places = list(range(encoder.n_features))
    if chosen is not None:
        names = encoder.feature_names
        places = [feature_number(key, encoder.n_features, names, "formula") for key in chosen]
    check_columns(encoder, columns, places, fitting=True, gaps=missing == "raise")
    whole = np.ones(len(columns[0]), dtype=bool)
    for place in places:
        whole &= ~gaps_in(encoder, columns, place)
    return encoder, columns, places, whole


def as_list(columns: Any) -> list[np.ndarray]:
    return list(columns.T) if isinstance(columns, np.ndarray) else list(columns)


def refuse_sparse(X: Any, owner: str) -> None:
    from scipy.sparse import issparse

    if issparse(X):
        raise TypeError(f"sparse data was passed, but {owner} needs dense columns: use X.toarray()")


def gaps_in(encoder: TableEncoder, columns: list[np.ndarray], place: int) -> np.ndarray:
    """Rows where a column has no value, or a level that was not there in fit."""
    values = columns[place]
    if encoder.categories[place] and values.dtype.kind != "f":
        return values == -1
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def check_columns(
    encoder: TableEncoder,
    columns: list[np.ndarray],
    places: Sequence[int],
    *,
    fitting: bool,
    gaps: bool = True,
) -> None:
    """No gaps, nothing infinite; the first column with either is named."""
    for place in places:
        name = names_of(encoder)[place]
        missing = int(gaps_in(encoder, columns, place).sum())
        if missing and gaps:
            what = (
                "missing values"
                if fitting
                else "missing values or levels that were not there in fit"
            )
            advice = "; fill them in, or leave such rows out with missing='drop'" if fitting else ""
            raise ValueError(f"Input X contains NaN: {missing} {what} in column {name!r}{advice}")
        values = columns[place]
        if values.dtype.kind == "f" and np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise ValueError(f"Input X contains infinity: column {name!r}, row {row}")


def names_of(encoder: TableEncoder) -> list[str]:
    names = encoder.feature_names
    return [f"x{i}" for i in range(encoder.n_features)] if names is None else list(names)


def _occurring(
    encoder: TableEncoder, columns: list[np.ndarray], chosen: Sequence[int]
) -> dict[int, np.ndarray]:
    """Codes that occur, of each categorical column."""
    return {f: np.unique(columns[f]) for f in chosen if encoder.categories[f]}
