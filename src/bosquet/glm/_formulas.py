"""Formulas: their two sides, the columns that they use, and their design matrix."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._suggestions import hint
from bosquet.glm._engines import FUNCTIONS, BuiltDesign, FormulaError, Recipe, get_engine
from bosquet.glm._statsmodels import formula_engine, import_pandas
from bosquet.glm._terms import INTERCEPT, Term

if TYPE_CHECKING:
    from pandas import DataFrame

    from bosquet._types import TableLike


_LONE_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.(])")
_NAME = re.compile(r"(?<![\w.])([^\W\d]\w*)(?!\w*\s*\()")
_TEXT = re.compile(r"(['\"]).*?\1")
_QUOTED = re.compile(r"Q\(\s*(['\"])(.+?)\1\s*\)|`([^`]+)`")


def split_formula(formula: str) -> tuple[str | None, str]:
    """Return the two sides of a formula; the left one is None if the formula has none."""
    sides = formula.split("~")
    if len(sides) > 2:
        raise FormulaError(f"the formula {formula!r} has more than one ~; write 'target ~ terms'")
    left = sides[0].strip() if len(sides) == 2 else ""
    right = sides[-1].strip()
    if not right:
        raise FormulaError(
            f"the right-hand side of the formula {formula!r} is empty; write 1 for an intercept only"
        )
    return left or None, right


def columns_used(text: str, columns: Iterable[str]) -> list[str]:
    """Return the columns that one side of a formula names, in the order of the table."""
    quoted, plain = _quoted_and_bare_names(text)
    return [column for column in columns if column in quoted or column in plain]


def _quoted_and_bare_names(text: str) -> tuple[set[str], set[str]]:
    """Return the names in Q("...") or backticks, and the unquoted names; other quoted text is a level."""
    quoted = {match[2] or match[3] for match in _QUOTED.finditer(text)}
    bare = _TEXT.sub(" ", _QUOTED.sub(" ", text))
    return quoted, set(_NAME.findall(bare))


def check_names(text: str, columns: Sequence[str]) -> None:
    """Raise a FormulaError that suggests the nearest column for a name that is not a column."""
    quoted, plain = _quoted_and_bare_names(text)
    plain -= set(FUNCTIONS) | _ENGINE_WORDS
    # Names of arguments, as in bs(x, df=4), are not columns.
    plain -= set(re.findall(r"(\w+)\s*=(?!=)", text))
    for name in sorted(quoted | plain):
        if name in columns:
            continue
        raise FormulaError(
            f"the formula uses {name!r}, which is not a column of X; {hint(name, columns)}"
        )


# Contrasts are passed to the engine by name: C(x, Sum), C(x, contr.sum).
_CONTRASTS = {"Treatment", "Sum", "Poly", "Diff", "Helmert", "contr"}
_ENGINE_WORDS = _CONTRASTS | {"True", "False", "None", "in", "not", "and", "or"}


def evaluate_target(text: str, frame: DataFrame) -> np.ndarray:
    """Evaluate the left-hand side of a formula: a column, or an expression of columns such as np.log(y)."""
    match = re.fullmatch(r"Q\(\s*(['\"])(.+)\1\s*\)|`(.+)`|(.+)", text.strip())
    assert match is not None
    name = match[2] or match[3] or match[4]
    if name in frame.columns:
        return frame[name].to_numpy()
    check_names(text, list(frame.columns))
    values = {column: frame[column].to_numpy() for column in columns_used(text, frame.columns)}
    try:
        # A formula is code of the caller; the engines evaluate the right-hand side in the same way.
        return np.asarray(eval(text, {**FUNCTIONS, "I": lambda value: value}, values))
    except Exception as error:
        raise FormulaError(
            f"the left-hand side {text!r} cannot be evaluated ({error}); write a column, or an expression of"
            " columns such as np.log(y)"
        ) from None


class FormulaDesign:
    """The design matrix of the right-hand side of a formula, for the training rows and for new rows.

    The columns that the formula uses are stored. Terms are removed by building the matrix of a formula
    without them. A pickle holds these columns, from which the state of the engine is rebuilt, because the
    state of patsy cannot be pickled.
    """

    def __init__(self, rhs: str, frame: DataFrame, engine: str | None = None) -> None:
        self.engine = formula_engine() if engine is None else engine
        self.rhs = rhs
        used = columns_used(rhs, frame.columns)
        # At least one column, so that a formula with only an intercept has the number of rows.
        self.frame = _engine_dtypes(frame[used] if used else frame.iloc[:, :1])
        self.uses = tuple(used)
        self._built: BuiltDesign = get_engine(self.engine).build(rhs, self.frame)
        if self._built.matrix.shape[0] != len(self.frame):
            raise FormulaError(
                f"the formula {rhs!r} returns {self._built.matrix.shape[0]} rows for {len(frame)} rows of"
                " X; use only functions that return one value per row"
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

    def rows(self, X: TableLike, owner: str) -> np.ndarray:
        """Return the matrix of new rows; raise a ValueError for a missing value or an unknown level."""
        frame = used_columns(X, self.uses, owner)
        for column in self.uses:
            _check_levels(column, self.frame[column], frame[column])
        matrix = get_engine(self.engine).rows(self.rhs, self._built, frame)
        check_finite(matrix, self.columns)
        return matrix

    def without(self, removed: set[str]) -> FormulaDesign:
        """Return the design without some terms, coded as in a formula without them."""
        term_names = [term.name for term in self.terms if term.factors and term.name not in removed]
        intercept = self._built.has_intercept() and INTERCEPT not in removed
        return FormulaDesign(_formula_text(term_names, intercept), self.frame, self.engine)

    def sum_coded(self) -> tuple[np.ndarray, list[tuple[int, ...]]]:
        """Return the matrix with factors coded to sum to zero, and the columns of each of `terms` in it."""
        engine = get_engine(self.engine)
        texts = ["1" if self._built.has_intercept() else "0"]
        texts += [
            ":".join(
                engine.sum_coded(factor) if factor in self._built.categorical else factor
                for factor in _ordered_factors(term)
            )
            for term in self.terms
            if term.factors
        ]
        built = engine.build(" + ".join(texts), self.frame)
        indices = {
            _factors_without_coding(term.factors, engine): term.columns for term in built.terms
        }
        return built.matrix, [
            indices[_factors_without_coding(term.factors, engine)]
            if term.factors
            else indices.get(frozenset(), ())
            for term in self.terms
        ]

    def recipe(self) -> Recipe:
        """Return how the matrix is computed from the columns."""
        return get_engine(self.engine).recipe(self._built)

    @property
    def spec(self) -> str:
        """Value of the parameter `formula` that gives this design."""
        names = [term.name for term in self.terms if term.factors]
        return _formula_text(names, self._built.has_intercept())

    def __getstate__(self) -> dict[str, Any]:
        return {"rhs": self.rhs, "frame": self.frame, "engine": self.engine}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rhs"], state["frame"], state["engine"])  # type: ignore[misc]


def _formula_text(names: list[str], intercept: bool) -> str:
    if intercept:
        return " + ".join(names) or "1"
    return " + ".join(["0", *names])


def _ordered_factors(term: Term) -> list[str]:
    """Return the factors of a term in the order of its name."""
    return sorted(term.factors, key=lambda factor: (term.name.find(factor), factor))


def _factors_without_coding(factors: frozenset[str], engine: Any) -> frozenset[str]:
    """Return the factors without the C(..., Sum) around them and without blanks."""
    before, after = engine.sum_coded("\0").replace(" ", "").split("\0")
    plain = set()
    for factor in factors:
        text = factor.replace(" ", "")
        if text.startswith(before) and text.endswith(after):
            text = text[len(before) : -len(after)]
        plain.add(text)
    return frozenset(plain)


def as_frame(X: Any, owner: str) -> DataFrame:
    """Return a table with named columns as a pandas data frame."""
    pandas = import_pandas()
    if isinstance(X, pandas.DataFrame):
        frame = X
    elif isinstance(X, dict):
        frame = pandas.DataFrame(X)
    elif hasattr(X, "columns") or hasattr(X, "__arrow_c_stream__"):
        import narwhals

        frame = narwhals.from_native(X, eager_only=True).to_pandas()
    else:
        raise TypeError(
            f"a formula requires named columns, but X is of type {type(X).__name__}; pass a data frame to"
            f" {owner}, or formula=None to use every column"
        )
    if len(frame) == 0:
        raise ValueError("Found array with 0 sample(s): X has no rows; at least one is required")
    return frame.rename(columns=str)


def expand_dot(rhs: str, columns: Sequence[str], target: Sequence[str]) -> str:
    """Replace a lone dot by all columns except the target, as in R."""
    if not _LONE_DOT.search(rhs):
        return rhs
    engine = get_engine(formula_engine())
    predictors = [engine.quoted(column) for column in columns if column not in target]
    if not predictors:
        raise FormulaError(
            "the dot in the formula means all other columns, but X has none besides the target; add columns"
            " to X, or write 1 for an intercept only"
        )
    return _LONE_DOT.sub("(" + " + ".join(predictors) + ")", rhs)


def check_no_missing(frame: DataFrame, name: str) -> None:
    missing = frame.isna().sum()
    missing = missing[missing > 0]
    if len(missing):
        listed = ", ".join(f"{column!r} ({count})" for column, count in missing.items())
        raise ValueError(f"Input {name} contains NaN: missing values in {listed}; impute them")


def _engine_dtypes(frame: DataFrame) -> Any:
    """Return the frame with NumPy numbers, and text as objects, which both engines accept."""
    pandas = import_pandas()
    columns = {}
    for column in frame.columns:
        values = frame[column]
        is_numpy_number = isinstance(values.dtype, np.dtype) and values.dtype.kind in "biuf"
        if is_numpy_number or isinstance(values.dtype, pandas.CategoricalDtype):
            columns[column] = values
        elif pandas.api.types.is_numeric_dtype(values.dtype):  # nullable, or of Arrow
            kind = values.dtype.kind if not values.isna().any() else "f"
            columns[column] = values.astype(
                {"b": bool, "i": np.int64, "u": np.uint64}.get(kind, float)
            )
        else:
            columns[column] = values.astype(object)
    return pandas.DataFrame(columns, index=frame.index)


def used_columns(X: TableLike, uses: Sequence[str], owner: str) -> DataFrame:
    """Return the columns of X that a formula uses, at least one; raise a ValueError if one is missing."""
    frame = _engine_dtypes(as_frame(X, owner))
    absent = [column for column in uses if column not in frame.columns]
    if absent:
        raise ValueError(
            f"X has no column {absent[0]!r}, which the formula of this {owner} uses; add it"
        )
    if not uses:
        return frame.iloc[:, :1]
    check_no_missing(frame[list(uses)], "X")
    return frame[list(uses)]


def check_finite(matrix: np.ndarray, columns: Sequence[str]) -> None:
    wrong = ~np.isfinite(matrix)
    if wrong.any():
        row, index = (int(indices[0]) for indices in np.nonzero(wrong))
        kind = "NaN" if np.isnan(matrix[row, index]) else "infinity"
        raise ValueError(
            f"Input X contains {kind}: {columns[index]!r} is {matrix[row, index]} in row {row}; check"
            " functions such as the logarithm, which require positive values"
        )


def _check_levels(column: str, training: Any, new: Any) -> None:
    """Raise a ValueError for a level of text or categories that was not in the training rows."""
    if training.dtype.kind not in "OU" and training.dtype.name != "category":
        return
    levels = training.unique().tolist()
    known_levels = set(levels)
    for value in new.unique().tolist():
        if value not in known_levels:
            raise unknown_level_error(column, value, levels)


def unknown_level_error(column: str, value: object, levels: Sequence[Any]) -> ValueError:
    listed = ", ".join(map(repr, sorted(map(str, levels))[:8]))
    return ValueError(
        f"column {column!r} contains the level {value!r}, which no training row has; the levels of the fit"
        f" are {listed}"
    )
