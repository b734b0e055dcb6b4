"""Conversion of the designs of regression models to JSON values and back; formulas become expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet._state.fields import (
    has_value,
    read_bool,
    read_field,
    read_integers,
    read_list,
    read_numbers,
    read_text,
    read_texts,
)
from bosquet._state.labels import labels_state, read_labels
from bosquet.data import TableEncoder
from bosquet.glm._columns import ColumnDesign
from bosquet.glm._expressions import check_expression, columns_in
from bosquet.glm._formulas import FormulaDesign
from bosquet.glm._stored_formulas import Factor, StoredFormula, store_formula
from bosquet.glm._terms import Term

if TYPE_CHECKING:
    from bosquet._types import State


def design_state(design: Any) -> State:
    """Return what a design needs to encode new rows, without the training rows."""
    if isinstance(design, ColumnDesign):
        return {
            "encoder": design.encoder.to_state(),
            "chosen": list(design.chosen),
            "intercept": design.intercept,
            "levels": [
                None if feature not in design.levels else design.levels[feature].tolist()
                for feature in design.chosen
            ],
        }
    formula = store_formula(design) if isinstance(design, FormulaDesign) else design
    return {
        "formula": formula.rhs,
        "columns": list(formula.columns),
        "terms": [
            {"name": term.name, "factors": sorted(term.factors), "columns": list(term.columns)}
            for term in formula.terms
        ],
        "factors": [
            {
                "expression": factor.expression,
                "levels": None
                if factor.levels is None
                else labels_state(_object_array(factor.levels)),
            }
            for factor in formula.factors
        ],
        "parts": [
            [
                [factor, coding.tolist() if isinstance(coding, np.ndarray) else coding]
                for factor, coding in coded_factors
            ]
            for coded_factors in formula.column_factors
        ],
    }


def _object_array(values: list[Any]) -> np.ndarray:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def design_from(state: State, model: Any) -> Any:
    """Build the design from its state, for a model that has its feature attributes."""
    design = _formula_from_state(state) if "formula" in state else _columns_from_state(state, model)
    if not design.columns:
        raise ModelFileError("invalid model file: 'design' has no columns")
    return design


# ----------------------------------------------------------------------------------------- columns
def _columns_from_state(state: State, model: Any) -> Any:
    encoder = TableEncoder.from_state(read_field(state, "encoder"))
    names = getattr(model, "feature_names_in_", None)
    if encoder.n_features != model.n_features_in_ or encoder.feature_names != (
        None if names is None else list(names)
    ):
        raise ModelFileError(
            "invalid model file: 'encoder' of 'design' has other columns than 'feature_names' of the model"
        )
    chosen = read_integers(state, "chosen", 0, encoder.n_features - 1)
    if len(set(chosen)) != len(chosen):
        raise ModelFileError(
            f"invalid model file: 'chosen' is {chosen}; its entries must be distinct"
        )
    levels = {}
    for feature, codes in zip(chosen, read_list(state, "levels", len(chosen)), strict=True):
        categories = encoder.n_levels[feature]
        if (codes is not None) != bool(categories):
            raise ModelFileError(
                "invalid model file: 'levels' must be null for numeric columns and a list for categorical"
                " columns"
            )
        if codes is not None:
            used_codes = read_integers({"levels": codes}, "levels", 0, categories - 1)
            levels[feature] = np.array(used_codes, dtype=np.int32)
            if not used_codes or (np.diff(levels[feature]) <= 0).any():
                raise ModelFileError(
                    "invalid model file: the levels of a column must be in ascending order, and at least one"
                )
    return ColumnDesign(encoder, chosen, read_bool(state, "intercept"), levels)


# ---------------------------------------------------------------------------------------- formulas
def _formula_from_state(state: State) -> Any:
    columns = read_texts(state, "columns")
    factors = tuple(_factor_from_state(term_state) for term_state in read_list(state, "factors"))
    _check_kinds(factors)
    terms = []
    for term_state in read_list(state, "terms"):
        indices = read_integers(term_state, "columns", 0, len(columns) - 1)
        terms.append(
            Term(
                read_text(term_state, "name"),
                frozenset(read_texts(term_state, "factors")),
                tuple(indices),
            )
        )
    if sorted(index for term in terms for index in term.columns) != list(range(len(columns))):
        raise ModelFileError(
            "invalid model file: the columns of 'terms' must contain each column of the design exactly once"
        )
    column_factors = tuple(
        tuple(_coded_factor_from_state(term_state, factors) for term_state in column)
        for column in read_list(state, "parts", len(columns))
    )
    return StoredFormula(
        read_text(state, "formula"), tuple(columns), tuple(terms), factors, column_factors
    )


def _check_kinds(factors: tuple[Any, ...]) -> None:
    """Raise ModelFileError if the design uses the same column as text and as a number."""
    kinds = {
        factor.columns[0]
        for factor in factors
        for level in factor.levels or ()
        if type(level) is str
    }
    computed = {name for factor in factors if factor.levels is None for name in factor.columns}
    if kinds & computed:
        raise ModelFileError(
            f"invalid model file: an expression uses {sorted(kinds & computed)} as numbers, but their"
            " levels are text"
        )
    levels: dict[str, set[Any]] = {}
    for factor in factors:
        if factor.levels is None:
            continue
        if levels.setdefault(factor.columns[0], set(factor.levels)) != set(factor.levels):
            raise ModelFileError(
                f"invalid model file: the column {factor.columns[0]!r} has different levels in two factors"
            )


def _factor_from_state(state: State) -> Any:
    expression = read_field(state, "expression")
    check_expression(expression, set(columns_in(expression)))
    if not has_value(state, "levels"):
        return Factor(expression)
    levels = read_labels(state["levels"]).tolist()
    if not levels or len(set(levels)) != len(levels) or expression[0] != "column":
        raise ModelFileError(
            "invalid model file: the levels of a categorical column must be distinct, and at least one"
        )
    return Factor(expression, levels)


def _coded_factor_from_state(state: State, factors: tuple[Any, ...]) -> Any:
    if not isinstance(state, list) or len(state) != 2:
        raise ModelFileError(
            "invalid model file: an entry of 'parts' must be a list of [factor, coding] pairs"
        )
    (index,) = read_integers({"factor": state[:1]}, "factor", 0, len(factors) - 1)
    coding, levels = state[1], factors[index].levels
    if (coding is None) != (levels is None):
        raise ModelFileError(
            "invalid model file: a factor must have a coding if and only if it has levels"
        )
    if isinstance(coding, list):
        return index, read_numbers({"coding": coding}, "coding", len(levels))
    if coding is not None:
        (coding,) = read_integers({"coding": [coding]}, "coding", 0, len(levels) - 1)
    return index, coding
