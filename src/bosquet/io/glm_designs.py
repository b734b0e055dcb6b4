"""Designs of regression models as JSON holds them, and back: of columns, and of formulas as expressions."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import ModelFileError
from bosquet.io.fields import field, flag, listed, numbers, optional, text, texts, wholes
from bosquet.io.labels import labels_from, labels_state


def design_state(design: Any) -> dict[str, Any]:
    """What new rows need of a design, without the training rows."""
    from bosquet.glm._columns import ColumnDesign
    from bosquet.glm._formulas import FormulaDesign
    from bosquet.glm._stored_formulas import stored

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
    formula = stored(design) if isinstance(design, FormulaDesign) else design
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
                else labels_state(_as_objects(factor.levels)),
            }
            for factor in formula.factors
        ],
        "parts": [
            [
                [place, coding.tolist() if isinstance(coding, np.ndarray) else coding]
                for place, coding in parts
            ]
            for parts in formula.parts
        ],
    }


def _as_objects(values: list[Any]) -> np.ndarray:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def design_from(state: dict[str, Any], model: Any) -> Any:
    """The design of a description, for a model that knows its columns."""
    design = _formula_from(state) if "formula" in state else _columns_from(state, model)
    if not design.columns:
        raise ModelFileError("the design has no columns")
    return design


# ----------------------------------------------------------------------------------------- columns
def _columns_from(state: dict[str, Any], model: Any) -> Any:
    from bosquet.data import TableEncoder
    from bosquet.glm._columns import ColumnDesign

    encoder = TableEncoder.from_state(field(state, "encoder"))
    names = getattr(model, "feature_names_in_", None)
    if encoder.n_features != model.n_features_in_ or encoder.feature_names != (
        None if names is None else list(names)
    ):
        raise ModelFileError("the columns of the design are not those of the model")
    chosen = wholes(state, "chosen", 0, encoder.n_features - 1)
    if len(set(chosen)) != len(chosen):
        raise ModelFileError("the design takes a column twice")
    levels = {}
    for feature, codes in zip(chosen, listed(state, "levels", len(chosen)), strict=True):
        categories = encoder.categories[feature]
        if (codes is not None) != bool(categories):
            raise ModelFileError("the levels of the design do not fit its columns")
        if codes is not None:
            found = wholes({"levels": codes}, "levels", 0, categories - 1)
            levels[feature] = np.array(found, dtype=np.int32)
            if not found or (np.diff(levels[feature]) <= 0).any():
                raise ModelFileError("the levels of a column of the design do not ascend")
    return ColumnDesign(encoder, chosen, flag(state, "intercept"), levels)


# ---------------------------------------------------------------------------------------- formulas
def _formula_from(state: dict[str, Any]) -> Any:
    from bosquet.glm._stored_formulas import StoredFormula
    from bosquet.glm._terms import Term

    columns = texts(state, "columns")
    factors = tuple(_factor_from(one) for one in listed(state, "factors"))
    _check_kinds(factors)
    terms = []
    for one in listed(state, "terms"):
        places = wholes(one, "columns", 0, len(columns) - 1)
        terms.append(Term(text(one, "name"), frozenset(texts(one, "factors")), tuple(places)))
    if sorted(place for term in terms for place in term.columns) != list(range(len(columns))):
        raise ModelFileError("the columns of the terms are not those of the design, each once")
    parts = tuple(
        tuple(_part_from(one, factors) for one in some)
        for some in listed(state, "parts", len(columns))
    )
    return StoredFormula(text(state, "formula"), tuple(columns), tuple(terms), factors, parts)


def _check_kinds(factors: tuple[Any, ...]) -> None:
    """A column of text is no number too."""
    kinds = {
        factor.columns[0]
        for factor in factors
        for level in factor.levels or ()
        if type(level) is str
    }
    computed = {name for factor in factors if factor.levels is None for name in factor.columns}
    if kinds & computed:
        raise ModelFileError("the design computes with a column whose levels are text")


def _factor_from(state: Any) -> Any:
    from bosquet.glm._expressions import check_expression, columns_in
    from bosquet.glm._stored_formulas import Factor

    expression = field(state, "expression")
    check_expression(expression, set(columns_in(expression)))
    if not optional(state, "levels"):
        return Factor(expression)
    levels = labels_from(state["levels"]).tolist()
    if not levels or len(set(levels)) != len(levels) or expression[0] != "column":
        raise ModelFileError("a category of the design has no levels, or the same twice")
    return Factor(expression, levels)


def _part_from(state: Any, factors: tuple[Any, ...]) -> Any:
    if not isinstance(state, list) or len(state) != 2:
        raise ModelFileError("a column of the design is no product of factors")
    (place,) = wholes({"factor": state[:1]}, "factor", 0, len(factors) - 1)
    coding, levels = state[1], factors[place].levels
    if (coding is None) != (levels is None):
        raise ModelFileError("the coding of a factor does not fit it")
    if isinstance(coding, list):
        return place, numbers({"coding": coding}, "coding", len(levels))
    if coding is not None:
        (coding,) = wholes({"coding": [coding]}, "coding", 0, len(levels) - 1)
    return place, coding
