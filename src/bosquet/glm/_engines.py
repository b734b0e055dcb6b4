"""The two formula engines of statsmodels, patsy and formulaic, with a common interface.

An engine turns the right-hand side of a formula and a data frame into a matrix and its terms, and later
other data frames into matrices of the same columns. Both report an error as a `FormulaError` of one line.
"""

from __future__ import annotations

import itertools
import keyword
import re
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.glm._terms import INTERCEPT, Term

if TYPE_CHECKING:
    from pandas import DataFrame


# Names that a formula may use besides columns and the functions of the engine (C, I, Q, center, bs, ...).
FUNCTIONS = {"np": np, "log": np.log, "log10": np.log10, "exp": np.exp, "sqrt": np.sqrt}


class FormulaError(ValueError):
    """Error for a formula that cannot be parsed, or that does not match the data."""


@dataclass
class BuiltDesign:
    """The matrix of a formula, and what is needed to build it for other rows."""

    matrix: np.ndarray
    columns: tuple[str, ...]
    terms: tuple[Term, ...]
    categorical: frozenset[str]  # names of the categorical factors
    state: Any  # state of the engine

    def has_intercept(self) -> bool:
        return any(not term.factors for term in self.terms)


@dataclass(frozen=True)
class Recipe:
    """How the columns of a matrix are computed from factors, without an engine.

    `levels` are those of the categorical factors, by the name of the factor. A column of the matrix is the
    product of its factors in this order. The coding of a factor is None for a number, and for a category an
    array with one value per level.
    """

    levels: dict[str, list[Any]]
    columns: list[list[tuple[str, np.ndarray | None]]]


class Patsy:
    """The engine patsy, which all versions of statsmodels support."""

    def build(self, rhs: str, frame: DataFrame) -> BuiltDesign:
        import patsy

        environment = patsy.EvalEnvironment([FUNCTIONS])
        try:
            matrix = patsy.dmatrix(rhs, frame, eval_env=environment, NA_action=_keep_all_rows())
        except patsy.PatsyError as error:
            raise FormulaError(_one_line(rhs, error)) from None
        info = matrix.design_info
        # patsy puts categorical factors first; here terms keep the order of the formula, interactions last.
        written = patsy.ModelDesc.from_formula(rhs).rhs_termlist
        ordered = sorted(written, key=lambda term: len(term.factors))
        order: list[int] = []
        terms = []
        for term in ordered:
            indices = range(*info.term_slices[term].indices(matrix.shape[1]))
            columns = tuple(range(len(order), len(order) + len(indices)))
            terms.append(Term(term.name(), frozenset(f.name() for f in term.factors), columns))
            order.extend(indices)
        categorical = frozenset(
            factor.name()
            for factor, factor_info in info.factor_infos.items()
            if factor_info.type == "categorical"
        )
        names = tuple(info.column_names[index] for index in order)
        return BuiltDesign(
            np.asarray(matrix)[:, order], names, tuple(terms), categorical, (info, order)
        )

    def rows(self, rhs: str, built: BuiltDesign, frame: DataFrame) -> np.ndarray:
        import patsy

        info, order = built.state
        try:
            matrices = patsy.build_design_matrices([info], frame, NA_action=_keep_all_rows())
        except patsy.PatsyError as error:
            raise FormulaError(_one_line(rhs, error)) from None
        return np.asarray(matrices[0])[:, order]

    def recipe(self, built: BuiltDesign) -> Recipe:
        """Return how the matrix is computed from factors."""
        info, order = built.state
        factor_infos = info.factor_infos
        levels = {
            f.name(): list(i.categories) for f, i in factor_infos.items() if i.type == "categorical"
        }
        columns: list[list[tuple[str, np.ndarray | None]]] = []
        for subterm in (subterm for subterms in info.term_codings.values() for subterm in subterms):
            codings: list[list[tuple[str, np.ndarray | None]]] = []
            for factor in subterm.factors:
                if factor in subterm.contrast_matrices:
                    matrix = np.asarray(subterm.contrast_matrices[factor].matrix, dtype=float)
                    codings.append([(factor.name(), column) for column in matrix.T])
                else:
                    codings.append([(factor.name(), None)] * factor_infos[factor].num_columns)
            columns += _first_fastest(codings)
        return Recipe(levels, [columns[index] for index in order])

    def quoted(self, column: str) -> str:
        return column if _is_plain_name(column) else f'Q("{column}")'

    def sum_coded(self, factor: str) -> str:
        return f"C({factor}, Sum)"


def _keep_all_rows() -> Any:
    from patsy import NAAction

    # Rows with missing values were dropped before, and `check_finite` checks the result of functions.
    return NAAction(on_NA="drop", NA_types=[])


class Formulaic:
    """The engine formulaic, which statsmodels supports from version 0.15 on."""

    def build(self, rhs: str, frame: DataFrame) -> BuiltDesign:
        matrix = self._model_matrix(rhs, rhs, frame)
        spec = matrix.model_spec
        terms = tuple(
            Term(
                INTERCEPT if str(term) == "1" else str(term),
                frozenset() if str(term) == "1" else frozenset(map(str, term.factors)),
                tuple(spec.term_indices[term]),
            )
            for term in spec.terms
        )
        categorical = frozenset(map(str, spec.factor_contrasts))
        values = np.asarray(matrix, dtype=float)
        return BuiltDesign(values, tuple(spec.column_names), terms, categorical, spec)

    def rows(self, rhs: str, built: BuiltDesign, frame: DataFrame) -> np.ndarray:
        return np.asarray(self._model_matrix(rhs, built.state, frame), dtype=float)

    def _model_matrix(self, rhs: str, spec: Any, frame: DataFrame) -> Any:
        import formulaic
        from formulaic.errors import DataMismatchWarning, FormulaicError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DataMismatchWarning)
                return formulaic.model_matrix(
                    spec, frame, context=FUNCTIONS, output="numpy", na_action="ignore"
                )
        except (FormulaicError, DataMismatchWarning, SyntaxError) as error:
            raise FormulaError(_one_line(rhs, error)) from None

    def recipe(self, built: BuiltDesign) -> Recipe:
        """Return how the matrix is computed from factors."""
        spec = built.state
        contrasts = {str(factor): state for factor, state in spec.factor_contrasts.items()}
        columns: list[list[tuple[str, np.ndarray | None]]] = []
        for scoped_term in (
            scoped_term for encoded in spec.structure for scoped_term in encoded.scoped_terms
        ):
            codings: list[list[tuple[str, np.ndarray | None]]] = []
            for scoped in scoped_term.factors:
                name = str(scoped.factor.expr)
                if name in contrasts:
                    coding = contrasts[name].get_coding_matrix(reduced_rank=scoped.reduced)
                    codings.append([(name, column) for column in np.asarray(coding, float).T])
                else:
                    codings.append([(name, None)])
            columns += _first_fastest(codings)
        return Recipe({name: list(state.levels) for name, state in contrasts.items()}, columns)

    def quoted(self, column: str) -> str:
        return column if _is_plain_name(column) else f"`{column}`"

    def sum_coded(self, factor: str) -> str:
        return f"C({factor}, contr.sum)"


def _first_fastest(codings: list[list[Any]]) -> list[list[Any]]:
    """Return all combinations of the columns of some factors; the first factor varies fastest."""
    return [list(reversed(combination)) for combination in itertools.product(*reversed(codings))]


def _is_plain_name(column: str) -> bool:
    """Whether the name of a column can be used in a formula without quotes."""
    reserved = keyword.iskeyword(column) or column in FUNCTIONS or column in ("C", "I", "Q")
    return column.isidentifier() and not reserved


def get_engine(name: str) -> Patsy | Formulaic:
    return Formulaic() if name == "formulaic" else Patsy()


def _one_line(rhs: str, error: BaseException) -> str:
    """Return the message of an engine as one line, without its marker of the place in the formula."""
    message = str(error)
    unknown = re.search(
        r"(?:name '|variable named `|`)(\w+)(?:' is not defined|` is not|`[^`]*not)", message
    )
    if unknown:
        return f"the formula {rhs!r} uses {unknown[1]!r}, which is neither a column of X nor a known function"
    first = next(
        (line.strip() for line in message.splitlines() if line.strip()), type(error).__name__
    )
    return f"the formula {rhs!r} is invalid: {first}"
