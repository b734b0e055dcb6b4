"""The design matrix without a formula: every column is a main effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from bosquet._parameters import feature_index
from bosquet.data import TableEncoder
from bosquet.glm._terms import INTERCEPT, Term

if TYPE_CHECKING:
    from bosquet._types import TableLike


class ColumnDesign:
    """Design of main effects: an intercept, the numerical columns, and indicators of levels but the first.

    The columns of the matrix have the names that a formula gives them, such as ``famhist[T.Present]``. The
    columns of an array are called x0, x1, ... as in scikit-learn. `levels` maps each categorical column to
    the codes that occur in it.
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
        self.terms, self.columns = self._terms_and_names()

    @classmethod
    def of_training_rows(
        cls,
        encoder: TableEncoder,
        columns: list[np.ndarray],
        chosen: Sequence[int],
        intercept: bool,
    ) -> ColumnDesign:
        """Return the design of a fit, which includes the matrix of the training rows."""
        design = cls(encoder, chosen, intercept, _occurring_codes(encoder, columns, chosen))
        return design._with_training_rows(columns)

    def _with_training_rows(self, columns: list[np.ndarray]) -> ColumnDesign:
        self._training, self.matrix = columns, self._design_matrix(columns)
        return self

    def _terms_and_names(self) -> tuple[tuple[Term, ...], tuple[str, ...]]:
        terms, columns = [], []
        if self.intercept:
            terms.append(Term(INTERCEPT, frozenset(), (0,)))
            columns.append(INTERCEPT)
        for feature in self.chosen:
            name, first = self.names[feature], len(columns)
            columns += [
                f"{name}[T.{level}]" if level is not None else name
                for level in self._indicator_levels(feature)
            ]
            terms.append(Term(name, frozenset({name}), tuple(range(first, len(columns)))))
        return tuple(terms), tuple(columns)

    def _indicator_levels(self, feature: int) -> list[Any]:
        """Return the levels that have an indicator; [None] for a numerical column."""
        names = self.encoder.levels[feature]
        if feature not in self.levels or names is None:
            return [None]
        return [names[code] for code in self._indicator_codes(feature)]

    def _indicator_codes(self, feature: int) -> np.ndarray:
        """Return the codes of the levels with an indicator: all but the first.

        Without an intercept, the first factor has indicators of all its levels.
        """
        codes = self.levels[feature]
        first = next(other for other in self.chosen if other in self.levels)
        return codes if not self.intercept and feature == first else codes[1:]

    def _design_matrix(self, columns: list[np.ndarray]) -> np.ndarray:
        n_rows = len(columns[0])
        blocks = [np.ones((n_rows, 1))] if self.intercept else []
        for feature in self.chosen:
            values = columns[feature]
            if feature in self.levels:
                blocks.append((values[:, None] == self._indicator_codes(feature)).astype(float))
            else:
                blocks.append(np.asarray(values, dtype=float)[:, None])
        return np.hstack(blocks) if blocks else np.empty((n_rows, 0))

    @property
    def spec(self) -> list[str] | list[int]:
        """Value of the parameter `formula` that gives this design."""
        if self.encoder.feature_names is None:
            return list(self.chosen)
        return [self.names[feature] for feature in self.chosen]

    @property
    def rhs(self) -> str:
        return " + ".join(self.names[feature] for feature in self.chosen) or "1"

    @property
    def uses(self) -> tuple[str, ...]:
        return tuple(self.names[feature] for feature in self.chosen)

    def rows(self, X: TableLike, owner: str) -> np.ndarray:
        """Return the matrix of new rows; raise a ValueError for a missing value or an unknown level."""
        refuse_sparse(X, owner)
        columns = column_list(self.encoder.transform(X, owner=owner))
        check_columns(self.encoder, columns, self.chosen, fitting=False)
        for feature, codes in self.levels.items():
            unknown = ~np.isin(columns[feature], codes)
            if unknown.any():
                names = self.encoder.levels[feature]
                assert names is not None
                level = names[int(columns[feature][unknown][0])]
                raise ValueError(
                    f"column {self.names[feature]!r} contains the level {level!r}, which no training row has;"
                    " drop such rows or replace the level"
                )
        return self._design_matrix(columns)

    def without(self, removed: set[str]) -> ColumnDesign:
        """Return the design without some terms."""
        features = [feature for feature in self.chosen if self.names[feature] not in removed]
        intercept = self.intercept and INTERCEPT not in removed
        levels = {feature: codes for feature, codes in self.levels.items() if feature in features}
        smaller = ColumnDesign(self.encoder, features, intercept, levels)
        return smaller._with_training_rows(self._training)

    def sum_coded(self) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        """Return the matrix and the columns of each term.

        Without interactions, the coding does not change the tests of terms, so the matrix is not recoded.
        """
        return self.matrix, [term.columns for term in self.terms]


def read_columns(
    X: TableLike, chosen: Any, owner: str, missing: str
) -> tuple[TableEncoder, list[np.ndarray], list[int], np.ndarray]:
    """Return the encoder, its columns, the indices of the chosen ones, and which rows are complete there."""
    refuse_sparse(X, owner)
    encoder, encoded = TableEncoder.fit_encode(X, owner=owner)
    columns = column_list(encoded)
    indices = list(range(encoder.n_features))
    if chosen is not None:
        names = encoder.feature_names
        indices = [feature_index(key, encoder.n_features, names, "formula") for key in chosen]
    check_columns(encoder, columns, indices, fitting=True, raise_missing=missing == "raise")
    complete = np.ones(len(columns[0]), dtype=bool)
    for index in indices:
        complete &= ~is_missing(encoder, columns, index)
    return encoder, columns, indices, complete


def column_list(columns: Any) -> list[np.ndarray]:
    return list(columns.T) if isinstance(columns, np.ndarray) else list(columns)


def refuse_sparse(X: Any, owner: str) -> None:
    if issparse(X):
        raise TypeError(f"X is sparse, but {owner} requires dense data; pass X.toarray()")


def is_missing(encoder: TableEncoder, columns: list[np.ndarray], index: int) -> np.ndarray:
    """Return which rows have no value in a column, or a level that was unknown in fit."""
    values = columns[index]
    if encoder.n_levels[index] and values.dtype.kind != "f":
        return values == -1
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def check_columns(
    encoder: TableEncoder,
    columns: list[np.ndarray],
    indices: Sequence[int],
    *,
    fitting: bool,
    raise_missing: bool = True,
) -> None:
    """Raise a ValueError that names the first column with missing or infinite values."""
    for index in indices:
        name = names_of(encoder)[index]
        missing = int(is_missing(encoder, columns, index).sum())
        if missing and raise_missing:
            what = "missing values" if fitting else "missing values or levels unknown in fit"
            advice = "; impute them, or pass missing='drop' to drop these rows" if fitting else ""
            raise ValueError(f"Input X contains NaN: {missing} {what} in column {name!r}{advice}")
        values = columns[index]
        if values.dtype.kind == "f" and np.isinf(values).any():
            row = int(np.flatnonzero(np.isinf(values))[0])
            raise ValueError(
                f"Input X contains infinity: column {name!r}, row {row}; values must be finite"
            )


def names_of(encoder: TableEncoder) -> list[str]:
    names = encoder.feature_names
    return [f"x{i}" for i in range(encoder.n_features)] if names is None else list(names)


def _occurring_codes(
    encoder: TableEncoder, columns: list[np.ndarray], chosen: Sequence[int]
) -> dict[int, np.ndarray]:
    """Return the codes that occur in each categorical column."""
    return {f: np.unique(columns[f]) for f in chosen if encoder.n_levels[f]}
