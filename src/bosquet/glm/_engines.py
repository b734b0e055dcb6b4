"""The two formula engines that statsmodels knows, patsy and formulaic, behind one face.

An engine turns the right-hand side of a formula and a frame into a matrix and its terms, and later the
same way other frames. What is said wrongly is a `FormulaError` of one line, whoever noticed it.
"""

from __future__ import annotations

import itertools
import keyword
import re
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.glm._terms import INTERCEPT, Term

# What a formula may use besides columns and the engine's own C, I, Q, center, bs, ...
FUNCTIONS = {"np": np, "log": np.log, "log10": np.log10, "exp": np.exp, "sqrt": np.sqrt}


class FormulaError(ValueError):
    """A formula that cannot be read, or not with the table given."""


@dataclass
class Built:
    """The matrix of a formula, and what is needed to build it for other rows."""

    matrix: np.ndarray
    columns: tuple[str, ...]
    terms: tuple[Term, ...]
    categorical: frozenset[str]  # factors, by their code
    state: Any  # the engine's own

    def has_intercept(self) -> bool:
        return any(not term.factors for term in self.terms)


@dataclass(frozen=True)
class Recipe:
    """How a matrix follows from its factors, which are known by their code.

    `levels` are those of the categorical factors. A column of the matrix is the product, in this order, of
    its factors: a number as it is (None), a category by what each of its levels counts.
    """

    levels: dict[str, list[Any]]
    columns: list[list[tuple[str, np.ndarray | None]]]


class Patsy:
    """The formulas of patsy, which all releases of statsmodels know."""

    def build(self, rhs: str, frame: Any) -> Built:
        import patsy

        environment = patsy.EvalEnvironment([FUNCTIONS])
        try:
            matrix = patsy.dmatrix(rhs, frame, eval_env=environment, NA_action=_no_gaps())
        except patsy.PatsyError as error:
            raise FormulaError(_reworded(rhs, error)) from None
        info = matrix.design_info
        # patsy puts factors first; a table of terms in order wants the formula's, interactions last.
        written = patsy.ModelDesc.from_formula(rhs).rhs_termlist
        ordered = sorted(written, key=lambda term: len(term.factors))
        order: list[int] = []
        terms = []
        for term in ordered:
            places = range(*info.term_slices[term].indices(matrix.shape[1]))
            columns = tuple(range(len(order), len(order) + len(places)))
            terms.append(Term(term.name(), frozenset(f.name() for f in term.factors), columns))
            order.extend(places)
        categorical = frozenset(
            factor.name()
            for factor, known in info.factor_infos.items()
            if known.type == "categorical"
        )
        names = tuple(info.column_names[place] for place in order)
        return Built(np.asarray(matrix)[:, order], names, tuple(terms), categorical, (info, order))

    def rows(self, rhs: str, built: Built, frame: Any) -> np.ndarray:
        import patsy

        info, order = built.state
        try:
            made = patsy.build_design_matrices([info], frame, NA_action=_no_gaps())
        except patsy.PatsyError as error:
            raise FormulaError(_reworded(rhs, error)) from None
        return np.asarray(made[0])[:, order]

    def recipe(self, built: Built) -> Recipe:
        """How the matrix is made."""
        info, order = built.state
        known = info.factor_infos
        levels = {f.name(): list(i.categories) for f, i in known.items() if i.type == "categorical"}
        columns: list[list[tuple[str, np.ndarray | None]]] = []
        for part in (part for parts in info.term_codings.values() for part in parts):
            codings: list[list[tuple[str, np.ndarray | None]]] = []
            for factor in part.factors:
                if factor in part.contrast_matrices:
                    matrix = np.asarray(part.contrast_matrices[factor].matrix, dtype=float)
                    codings.append([(factor.name(), column) for column in matrix.T])
                else:
                    codings.append([(factor.name(), None)] * known[factor].num_columns)
            columns += _first_fastest(codings)
        return Recipe(levels, [columns[place] for place in order])

    def quoted(self, column: str) -> str:
        return column if _plain(column) else f'Q("{column}")'

    def sum_coded(self, factor: str) -> str:
        return f"C({factor}, Sum)"


def _no_gaps() -> Any:
    from patsy import NAAction

    # Rows with gaps are gone by now; what a function makes of the others is looked at afterwards.
    return NAAction(on_NA="drop", NA_types=[])


class Formulaic:
    """The formulas of formulaic, which statsmodels 0.15 can be set to use."""

    def build(self, rhs: str, frame: Any) -> Built:
        matrix = self._made(rhs, rhs, frame)
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
        return Built(values, tuple(spec.column_names), terms, categorical, spec)

    def rows(self, rhs: str, built: Built, frame: Any) -> np.ndarray:
        return np.asarray(self._made(rhs, built.state, frame), dtype=float)

    def _made(self, rhs: str, spec: Any, frame: Any) -> Any:
        import formulaic
        from formulaic.errors import DataMismatchWarning, FormulaicError

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error", DataMismatchWarning)
                return formulaic.model_matrix(
                    spec, frame, context=FUNCTIONS, output="numpy", na_action="ignore"
                )
        except (FormulaicError, DataMismatchWarning, SyntaxError) as error:
            raise FormulaError(_reworded(rhs, error)) from None

    def recipe(self, built: Built) -> Recipe:
        """How the matrix is made."""
        spec = built.state
        contrasts = {str(factor): state for factor, state in spec.factor_contrasts.items()}
        columns: list[list[tuple[str, np.ndarray | None]]] = []
        for part in (part for encoded in spec.structure for part in encoded.scoped_terms):
            codings: list[list[tuple[str, np.ndarray | None]]] = []
            for scoped in part.factors:
                name = str(scoped.factor.expr)
                if name in contrasts:
                    coding = contrasts[name].get_coding_matrix(reduced_rank=scoped.reduced)
                    codings.append([(name, column) for column in np.asarray(coding, float).T])
                else:
                    codings.append([(name, None)])
            columns += _first_fastest(codings)
        return Recipe({name: list(state.levels) for name, state in contrasts.items()}, columns)

    def quoted(self, column: str) -> str:
        return column if _plain(column) else f"`{column}`"

    def sum_coded(self, factor: str) -> str:
        return f"C({factor}, contr.sum)"


def _first_fastest(codings: list[list[Any]]) -> list[list[Any]]:
    """All combinations of the columns of some factors, those of the first running fastest."""
    return [list(reversed(one)) for one in itertools.product(*reversed(codings))]


def _plain(column: str) -> bool:
    """Whether a column's name may stand in a formula as it is."""
    reserved = keyword.iskeyword(column) or column in FUNCTIONS or column in ("C", "I", "Q")
    return column.isidentifier() and not reserved


def engine_named(name: str) -> Patsy | Formulaic:
    return Formulaic() if name == "formulaic" else Patsy()


def _reworded(rhs: str, error: BaseException) -> str:
    """One line of an engine's message, without its drawing of where in the formula it stumbled."""
    told = str(error)
    unknown = re.search(
        r"(?:name '|variable named `|`)(\w+)(?:' is not defined|` is not|`[^`]*not)", told
    )
    if unknown:
        return f"the formula {rhs!r} uses {unknown[1]!r}, which is neither a column nor a function"
    first = next((line.strip() for line in told.splitlines() if line.strip()), type(error).__name__)
    return f"the formula {rhs!r} cannot be used: {first}"
