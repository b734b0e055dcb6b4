"""The design of a formula without its text and without an engine: what a model file holds of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.glm._expressions import NotPlain, columns_in, evaluated, expression_of
from bosquet.glm._formulas import FormulaDesign, check_finite, used_columns
from bosquet.glm._terms import Term

Coding = np.ndarray | int | None


@dataclass(frozen=True)
class Factor:
    """A number computed of columns (an expression), or a category: a column with its levels."""

    expression: Any  # ["column", name] of a category
    levels: list[Any] | None = None

    def values(self, frame: Any) -> np.ndarray:
        """Numbers, or places among the levels."""
        if self.levels is not None:
            return self._places(np.asarray(frame[self.columns[0]]))
        for name in self.columns:
            if frame[name].dtype.kind not in "biuf":
                raise ValueError(f"the column {name!r} must hold numbers, not {frame[name].dtype}")
        return np.asarray(evaluated(self.expression, frame), dtype=float)

    def _places(self, found: np.ndarray) -> np.ndarray:
        assert self.levels is not None
        places = {level: place for place, level in enumerate(self.levels)}
        values = found.tolist()
        strange = next((value for value in values if value not in places), None)
        if strange is not None:
            told = ", ".join(map(repr, sorted(map(str, self.levels))[:8]))
            raise ValueError(
                f"the column {self.columns[0]!r} holds {strange!r}, which was not there in fit: {told}"
            )
        return np.array([places[value] for value in values], dtype=np.intp)

    @property
    def columns(self) -> list[str]:
        """The columns that it is computed of."""
        return columns_in(self.expression)


@dataclass(frozen=True)
class StoredFormula:
    """A formula's matrix for other rows; the training rows are gone.

    A column of the matrix is a product of factors: (factor, coding) in `parts`. The coding is None for a
    number; of a category the level that counts 1 where all others count 0, or what each level counts.
    """

    rhs: str
    columns: tuple[str, ...]
    terms: tuple[Term, ...]
    factors: tuple[Factor, ...]
    parts: tuple[tuple[tuple[int, Coding], ...], ...]

    @property
    def uses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for factor in self.factors for name in factor.columns))

    def rows(self, X: Any, owner: str) -> np.ndarray:
        """The matrix of other rows; a missing column, value or level is named."""
        matrix = self._matrix(used_columns(X, self.uses, owner))
        check_finite(matrix, self.columns)
        return matrix

    def _matrix(self, frame: Any) -> np.ndarray:
        values = [factor.values(frame) for factor in self.factors]
        matrix = np.ones((len(frame), len(self.columns)))
        for column, parts in zip(matrix.T, self.parts, strict=True):
            for place, coding in parts:
                if coding is None:
                    column *= values[place]
                elif isinstance(coding, int):
                    column *= values[place] == coding
                else:
                    column *= coding[values[place]]
        return matrix


def stored(design: FormulaDesign) -> StoredFormula:
    """What a model file holds of a formula's design; a ValueError for one that it cannot hold."""
    recipe = design.recipe()
    codes = list(dict.fromkeys(name for parts in recipe.columns for name, _ in parts))
    known = list(design.frame.columns)
    found = StoredFormula(
        design.rhs,
        design.columns,
        design.terms,
        tuple(_factor(code, recipe.levels.get(code), known) for code in codes),
        tuple(
            tuple((codes.index(name), _compact(coding)) for name, coding in parts)
            for parts in recipe.columns
        ),
    )
    if len(found.parts) != len(design.columns) or not np.array_equal(
        found._matrix(design.frame), design.matrix
    ):
        raise ValueError(
            f"the formula {design.rhs!r} cannot be written to a model file: its columns are more than"
            " products of numbers and categories; use pickle or joblib"
        )
    return found


def _factor(code: str, levels: list[Any] | None, columns: Sequence[str]) -> Factor:
    try:
        if levels is None:
            return Factor(expression_of(code, columns))
        inside = code[2:-1].split(",")[0] if code.startswith("C(") and code not in columns else code
        expression = expression_of(inside, columns)
        if expression[0] != "column":
            raise NotPlain(
                f"{code!r} cannot be written to a model file: it is no category of a column"
            )
        return Factor(expression, levels)
    except NotPlain as error:
        raise ValueError(f"{error}; use pickle or joblib") from None


def _compact(coding: np.ndarray | None) -> Coding:
    """The level alone, of an indicator."""
    if coding is None or np.count_nonzero(coding) != 1 or coding.sum() != 1:
        return coding
    return int(coding.argmax())
