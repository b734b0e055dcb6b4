"""The design of a formula as data, without an engine: what a model file stores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.glm._expressions import (
    UnsupportedExpression,
    columns_in,
    evaluate_expression,
    parse_expression,
)
from bosquet.glm._formulas import (
    FormulaDesign,
    check_finite,
    unknown_level_error,
    used_columns,
)
from bosquet.glm._terms import Term

if TYPE_CHECKING:
    from pandas import DataFrame

    from bosquet._types import TableLike


Coding = np.ndarray | int | None


@dataclass(frozen=True)
class Factor:
    """A number computed from columns by an expression, or a categorical column with its levels."""

    expression: Any  # ["column", name] for a category
    levels: list[Any] | None = None

    def values(self, frame: DataFrame) -> np.ndarray:
        """Return numbers, or the indices of the levels for a category."""
        if self.levels is not None:
            return self._level_indices(np.asarray(frame[self.columns[0]]))
        for name in self.columns:
            if frame[name].dtype.kind not in "biuf":
                raise ValueError(
                    f"column {name!r} must contain numbers, but has the type {frame[name].dtype}; convert it"
                )
        return np.asarray(evaluate_expression(self.expression, frame), dtype=float)

    def _level_indices(self, column: np.ndarray) -> np.ndarray:
        assert self.levels is not None
        indices = {level: index for index, level in enumerate(self.levels)}
        values = column.tolist()
        unknown = next((value for value in values if value not in indices), None)
        if unknown is not None:
            raise unknown_level_error(self.columns[0], unknown, self.levels)
        return np.array([indices[value] for value in values], dtype=np.intp)

    @property
    def columns(self) -> list[str]:
        """The columns that it is computed from."""
        return columns_in(self.expression)


@dataclass(frozen=True)
class StoredFormula:
    """The design of a formula, for new rows only: it does not contain the training rows.

    Each column of the matrix is a product of factors; `column_factors` lists their (index, coding). The
    coding is None for a number. For a category it is the index of a level for an indicator, or an array with
    one value per level.
    """

    rhs: str
    columns: tuple[str, ...]
    terms: tuple[Term, ...]
    factors: tuple[Factor, ...]
    column_factors: tuple[tuple[tuple[int, Coding], ...], ...]

    @property
    def uses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for factor in self.factors for name in factor.columns))

    def rows(self, X: TableLike, owner: str) -> np.ndarray:
        """Return the matrix of new rows; raise a ValueError for a missing value or an unknown level."""
        matrix = self._matrix(used_columns(X, self.uses, owner))
        check_finite(matrix, self.columns)
        return matrix

    def _matrix(self, frame: DataFrame) -> np.ndarray:
        values = [factor.values(frame) for factor in self.factors]
        matrix = np.ones((len(frame), len(self.columns)))
        for column, coded_factors in zip(matrix.T, self.column_factors, strict=True):
            for index, coding in coded_factors:
                if coding is None:
                    column *= values[index]
                elif isinstance(coding, int):
                    column *= values[index] == coding
                else:
                    column *= coding[values[index]]
        return matrix


def store_formula(design: FormulaDesign) -> StoredFormula:
    """Return the design as data; raise a ValueError if a model file cannot store it."""
    recipe = design.recipe()
    codes = list(
        dict.fromkeys(name for coded_factors in recipe.columns for name, _ in coded_factors)
    )
    columns = list(design.frame.columns)
    stored = StoredFormula(
        design.rhs,
        design.columns,
        design.terms,
        tuple(_parse_factor(code, recipe.levels.get(code), columns) for code in codes),
        tuple(
            tuple((codes.index(name), _compact_coding(coding)) for name, coding in coded_factors)
            for coded_factors in recipe.columns
        ),
    )
    if len(stored.column_factors) != len(design.columns) or not np.array_equal(
        stored._matrix(design.frame), design.matrix
    ):
        raise ValueError(
            f"the formula {design.rhs!r} cannot be written to a model file: its columns are not products of"
            " numbers and categories; use pickle or joblib"
        )
    return stored


def _parse_factor(code: str, levels: list[Any] | None, columns: Sequence[str]) -> Factor:
    try:
        if levels is None:
            return Factor(parse_expression(code, columns))
        inside = code[2:-1].split(",")[0] if code.startswith("C(") and code not in columns else code
        expression = parse_expression(inside, columns)
        if expression[0] != "column":
            raise UnsupportedExpression(
                f"{code!r} cannot be written to a model file: it is not a categorical column"
            )
        return Factor(expression, levels)
    except UnsupportedExpression as error:
        raise ValueError(f"{error}; use pickle or joblib") from None


def _compact_coding(coding: np.ndarray | None) -> Coding:
    """Return the index of the level for an indicator, and any other coding unchanged."""
    if coding is None or np.count_nonzero(coding) != 1 or coding.sum() != 1:
        return coding
    return int(coding.argmax())
