"""Formulas: what stands on either side, which columns they use, and the matrix they make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.glm._engines import FUNCTIONS, Built, FormulaError, Recipe, engine_named
from bosquet.glm._statsmodels import formula_engine, pandas_or_error
from bosquet.glm._terms import INTERCEPT, Term

_LONE_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.(])")
_NAME = re.compile(r"(?<![\w.])([^\W\d]\w*)(?!\w*\s*\()")
_TEXT = re.compile(r"(['\"]).*?\1")
_QUOTED = re.compile(r"Q\(\s*(['\"])(.+?)\1\s*\)|`([^`]+)`")


def split(formula: str) -> tuple[str | None, str]:
    """The two sides of a formula; the left one is None where only the right one was given."""
    sides = formula.split("~")
    if len(sides) > 2:
        raise FormulaError(f"the formula {formula!r} has more than one ~")
    left = sides[0].strip() if len(sides) == 2 else ""
    right = sides[-1].strip()
    if not right:
        raise FormulaError(
            f"the formula {formula!r} has nothing on its right-hand side; 1 is a constant"
        )
    return left or None, right


def columns_used(text: str, columns: Iterable[str]) -> list[str]:
    """The columns that a side of a formula names, in their order in the table."""
    quoted, plain = _names_in(text)
    return [column for column in columns if column in quoted or column in plain]


def _names_in(text: str) -> tuple[set[str], set[str]]:
    """Names in Q("...") or backticks, and plain ones; text in quotes is a level's name and none of these."""
    quoted = {match[2] or match[3] for match in _QUOTED.finditer(text)}
    bare = _TEXT.sub(" ", _QUOTED.sub(" ", text))
    return quoted, set(_NAME.findall(bare))


def check_names(text: str, columns: Sequence[str]) -> None:
    """A name that is no column is asked about before an engine stumbles over it."""
    quoted, plain = _names_in(text)
    plain -= set(FUNCTIONS) | _ENGINE_WORDS
    # Names of arguments, as in bs(x, df=4), are no columns.
    plain -= set(re.findall(r"(\w+)\s*=(?!=)", text))
    for name in sorted(quoted | plain):
        if name in columns:
            continue
        raise FormulaError(
            f"the formula uses {name!r}, which is no column of the table; {hint(name, columns)}"
        )


# Contrasts are handed on by name: C(x, Sum), C(x, contr.sum).
_CONTRASTS = {"Treatment", "Sum", "Poly", "Diff", "Helmert", "contr"}
_ENGINE_WORDS = _CONTRASTS | {"True", "False", "None", "in", "not", "and", "or"}


def evaluate(text: str, frame: Any) -> np.ndarray:
    """The left-hand side of a formula: a column, or an expression of columns such as np.log(y)."""
    bare = re.fullmatch(r"Q\(\s*(['\"])(.+)\1\s*\)|`(.+)`|(.+)", text.strip())
    assert bare is not None
    name = bare[2] or bare[3] or bare[4]
    if name in frame.columns:
        return frame[name].to_numpy()
    check_names(text, list(frame.columns))
    values = {column: frame[column].to_numpy() for column in columns_used(text, frame.columns)}
    try:
        # A formula is the caller's own code, here as on the right-hand side, where engines evaluate it.
        return np.asarray(eval(text, {**FUNCTIONS, "I": lambda value: value}, values))
    except Exception as error:
        raise FormulaError(f"the left-hand side {text!r} cannot be evaluated: {error}") from None


class FormulaDesign:
    """The matrix of a formula's right-hand side on the training rows, and of other rows later.

    The columns that the formula uses are kept: terms are taken out by building the formula without them,
    and an engine's own state, which patsy does not let pickle, is made anew from them.
    """

    def __init__(self, rhs: str, frame: Any, engine: str | None = None) -> None:
        self.engine = formula_engine() if engine is None else engine
        self.rhs = rhs
        used = columns_used(rhs, frame.columns)
        # Always a column at least, so that a formula of a constant alone knows the number of rows.
        self.frame = _plain_types(frame[used] if used else frame.iloc[:, :1])
        self.uses = tuple(used)
        self._built: Built = engine_named(self.engine).build(rhs, self.frame)
        if self._built.matrix.shape[0] != len(self.frame):
            raise FormulaError(
                f"the formula {rhs!r} makes {self._built.matrix.shape[0]} rows of {len(frame)}"
            )
        check_finite(self._built.matrix, self._built.columns)

    @property
    def matrix(self) -> np.ndarray:
        return self._built.matrix

    @property
    def columns(self) -> tuple[str, ...]:
        return self._built.columns

    @property
    def terms(self) -> tuple[Term, ...]:
        return self._built.terms

    def rows(self, X: Any, owner: str) -> np.ndarray:
        """The matrix of other rows; a missing column, value or level is named."""
        frame = used_columns(X, self.uses, owner)
        for column in self.uses:
            _check_levels(column, self.frame[column], frame[column])
        matrix = engine_named(self.engine).rows(self.rhs, self._built, frame)
        check_finite(matrix, self.columns)
        return matrix

    def without(self, removed: set[str]) -> FormulaDesign:
        """The design without some terms, coded as a formula without them is."""
        kept = [term.name for term in self.terms if term.factors and term.name not in removed]
        constant = self._built.has_intercept() and INTERCEPT not in removed
        return FormulaDesign(_written(kept, constant), self.frame, self.engine)

    def sum_coded(self) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        """The matrix with factors coded to sum to zero, and the columns of each of `terms` in it."""
        engine = engine_named(self.engine)
        texts = ["1" if self._built.has_intercept() else "0"]
        texts += [
            ":".join(
                engine.sum_coded(factor) if factor in self._built.categorical else factor
                for factor in _in_order(term)
            )
            for term in self.terms
            if term.factors
        ]
        built = engine.build(" + ".join(texts), self.frame)
        places = {_uncoded(term.factors, engine): term.columns for term in built.terms}
        return built.matrix, [
            places[_uncoded(term.factors, engine)] if term.factors else places.get(frozenset(), ())
            for term in self.terms
        ]

    def recipe(self) -> Recipe:
        """How the matrix follows from the columns."""
        return engine_named(self.engine).recipe(self._built)

    @property
    def spec(self) -> str:
        """What to give as `formula` to get this design again."""
        names = [term.name for term in self.terms if term.factors]
        return _written(names, self._built.has_intercept())

    def __getstate__(self) -> dict[str, Any]:
        return {"rhs": self.rhs, "frame": self.frame, "engine": self.engine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rhs"], state["frame"], state["engine"])  # type: ignore[misc]


def _written(names: list[str], constant: bool) -> str:
    if constant:
        return " + ".join(names) or "1"
    return " + ".join(["0", *names])


def _in_order(term: Term) -> list[str]:
    """A term's factors in the order of its name."""
    return sorted(term.factors, key=lambda factor: (term.name.find(factor), factor))


def _uncoded(factors: frozenset[str], engine: Any) -> frozenset[str]:
    """Factors without the C(..., Sum) around them, blanks aside."""
    before, after = engine.sum_coded("\0").replace(" ", "").split("\0")
    plain = set()
    for factor in factors:
        text = factor.replace(" ", "")
        if text.startswith(before) and text.endswith(after):
            text = text[len(before) : -len(after)]
        plain.add(text)
    return frozenset(plain)


def as_frame(X: Any, owner: str) -> Any:
    """A table with named columns as a frame of pandas."""
    pandas = pandas_or_error()
    if isinstance(X, pandas.DataFrame):
        frame = X
    elif isinstance(X, dict):
        frame = pandas.DataFrame(X)
    elif hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
        import narwhals

        frame = narwhals.from_native(X, eager_only=True).to_pandas()
    else:
        raise TypeError(
            f"a formula names columns, and X is a {type(X).__name__} without names: pass a data frame to"
            f" {owner}, or leave formula=None to use every column"
        )
    if len(frame) == 0:
        raise ValueError("Found array with 0 sample(s): the table has no rows")
    return frame.rename(columns=str)


def expand_dot(rhs: str, columns: Sequence[str], target: Sequence[str]) -> str:
    """A lone dot stands for every column but the target's, as in R."""
    if not _LONE_DOT.search(rhs):
        return rhs
    engine = engine_named(formula_engine())
    others = [engine.quoted(column) for column in columns if column not in target]
    if not others:
        raise FormulaError(
            "the dot in the formula stands for the other columns, and there are none"
        )
    return _LONE_DOT.sub("(" + " + ".join(others) + ")", rhs)


def check_no_gaps(frame: Any, name: str) -> None:
    gaps = frame.isna().sum()
    gaps = gaps[gaps > 0]
    if len(gaps):
        told = ", ".join(f"{column!r} ({count})" for column, count in gaps.items())
        raise ValueError(f"Input {name} contains NaN: missing values in {told}")


def _plain_types(frame: Any) -> Any:
    """Text as objects and numbers as NumPy's, which both engines read."""
    pandas = pandas_or_error()
    columns = {}
    for column in frame.columns:
        values = frame[column]
        number = isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf"
        if number or isinstance(values.dtype, pandas.CategoricalDtype):
            columns[column] = values
        elif pandas.api.types.is_numeric_dtype(values.dtype):  # nullable, or Arrow's
            kind = values.dtype.kind if not values.isna().any() else "f"
            columns[column] = values.astype(
                {"b": bool, "i": np.int64, "u": np.uint64}.get(kind, float)
            )
        else:
            columns[column] = values.astype(object)
    return pandas.DataFrame(columns, index=frame.index)


def used_columns(X: Any, uses: Sequence[str], owner: str) -> Any:
    """The columns of new rows that a formula uses, one at least; a missing column or value is named."""
    frame = _plain_types(as_frame(X, owner))
    absent = [column for column in uses if column not in frame.columns]
    if absent:
        raise ValueError(f"X has no column {absent[0]!r}, which the formula of this {owner} uses")
    if not uses:
        return frame.iloc[:, :1]
    check_no_gaps(frame[list(uses)], "X")
    return frame[list(uses)]


def check_finite(matrix: np.ndarray, columns: Sequence[str]) -> None:
    wrong = ~np.isfinite(matrix)
    if wrong.any():
        row, place = (int(part[0]) for part in np.nonzero(wrong))
        bad = "NaN" if np.isnan(matrix[row, place]) else "infinity"
        raise ValueError(
            f"Input X contains {bad}: {columns[place]!r} is {matrix[row, place]} in row {row}; a logarithm of"
            " a number that is not positive, perhaps"
        )


def _check_levels(column: str, known: Any, given: Any) -> None:
    """Text and categories that training did not see are no level of the model."""
    if known.dtype.kind not in "OU" and known.dtype.name != "category":
        return
    levels = known.unique().tolist()
    seen = set(levels)
    for value in given.unique().tolist():
        if value not in seen:
            told = ", ".join(map(repr, sorted(map(str, levels))[:8]))
            raise ValueError(
                f"the column {column!r} holds {value!r}, which was not there in fit: {told}"
            )
