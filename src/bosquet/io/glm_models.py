"""Regression models to the description of a model file, and back: numbers and expressions, no code.

A file holds the design (which column of a table becomes which column of the matrix), the coefficients with
their covariance, and what the tables of a fit tell. It holds neither training rows nor anything of
statsmodels. A formula is held as expressions of columns; its text, which is code to whoever fits again, is
held only if it calls nothing but functions of columns (`bosquet.glm._expressions`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet.io.columns import names_state, put_names
from bosquet.io.fields import (
    LARGEST_NUMBER,
    choice,
    field,
    flag,
    gapless,
    inner,
    listed,
    number,
    numbers,
    optional,
    refuse_lone_surrogates,
    table,
    text,
    texts,
    whole,
    wholes,
)
from bosquet.io.glm_designs import design_from, design_state
from bosquet.io.kinds import Kind
from bosquet.io.labels import classes_from, labels_from, labels_state
from bosquet.io.mixture_models import check_no_trees, no_trees

# What a model keeps besides its estimate: numbers, which may be missing or infinite.
_FACTS = {
    "BinomialRegression": ("null_deviance_", "_pearson"),
    "PoissonRegression": ("null_deviance_", "_pearson"),
    "LogLinearModel": ("null_deviance_", "_pearson"),
    "MultinomialRegression": (),
    "LinearModel": ("sigma_", "r2_", "adjusted_r2_"),
}
_ANY = float(np.finfo(float).max)
_SMALLEST = 1e-300
_ESTIMATE = ("deviance", "log_likelihood", "df_residual")
_CELLS = ("expected", "residual", "adjusted")
_PATH = ("statistic", "p_value", "deviance", "aic", "bic")


def _check(model: Any) -> None:
    from bosquet.glm._expressions import is_plain
    from bosquet.glm._reading import check_formula

    check_parameters(model, model._CHECKS)
    check_formula(model.formula)
    if isinstance(model.formula, str) and not is_plain(model.formula):
        raise ValueError(
            f"formula={model.formula!r} is code that a model file does not carry: it may name and combine"
            " columns, and call C, I, Q and functions such as np.log; use pickle or joblib"
        )


# ----------------------------------------------------------------------------------------- writing
def _describe(model: Any) -> tuple[Ensemble, dict[str, Any]]:
    fitted, name = model._fitted, type(model).__name__
    facts = [float(getattr(model, one)) for one in _FACTS[name]]
    heights = [float(getattr(fitted, one)) for one in _ESTIMATE]
    finite = [fact for fact in facts if np.isfinite(fact)]
    if not (np.abs([*fitted.coefficients, *finite]) <= LARGEST_NUMBER).all():
        raise ValueError(
            f"a model file takes coefficients up to {LARGEST_NUMBER:g}, and those of this model are larger or"
            " no numbers: bring the columns and the target to usual scales"
        )
    separation = getattr(model, "separation_", None)
    description: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "feature_names": names_state(model),
        "target": model._target,
        "dropped": int(model.n_dropped_),
        "rows": float(model.n_rows_),
        "design": design_state(model._design),
        "coefficients": fitted.coefficients.tolist(),
        "covariance": gapless(fitted.covariance),
        "estimate": dict(zip(_ESTIMATE, gapless(heights), strict=True)),
        "iterations": int(fitted.iterations),
        "converged": bool(fitted.converged),
        "facts": dict(zip(_FACTS[name], gapless(facts), strict=True)),
        "classes": labels_state(getattr(model, "classes_", None)),
        "separation": None if separation is None else _separation_state(separation),
        "selection": _path_state(getattr(model, "selection_", None)),
    }
    if name == "BinomialRegression":
        description["grouped"] = bool(model._grouped)
    elif name == "MultinomialRegression":
        description["class_counts"] = [int(count) for count in model._class_counts]
    elif name == "LogLinearModel":
        description["cells"] = _cells_state(model)
    return no_trees(), description


def _separation_state(separation: Any) -> dict[str, Any]:
    return {
        "kind": separation.kind,
        "coefficients": list(separation.coefficients),
        "terms": list(separation.terms),
        "rows": int(separation.rows),
    }


def _path_state(path: Any) -> dict[str, Any] | None:
    if path is None:
        return None
    return {
        "removed": [str(name) for name in path["removed"]],
        "df": [int(df) for df in path["df"]],
        **{name: gapless(path[name]) for name in _PATH},
    }


def _cells_state(model: Any) -> dict[str, Any]:
    cells = model.table_
    return {
        "factors": list(model.factors_),
        "levels": [labels_state(np.asarray(cells[name], dtype=object)) for name in model.factors_],
        "count": labels_state(np.asarray(cells["count"])),
        **{name: gapless(cells[name]) for name in _CELLS},
    }


# ----------------------------------------------------------------------------------------- reading
def _build(model: Any, trees: Ensemble, state: dict[str, Any]) -> Any:
    check_no_trees(trees)
    refuse_lone_surrogates(state)
    name = type(model).__name__
    put_names(model, state, "feature_names", whole(state, "n_features", 0))
    model._target = text(state, "target") if optional(state, "target") else None
    model.n_dropped_ = whole(state, "dropped", 0)
    model.n_rows_ = number(state, "rows", _SMALLEST)
    blocks = 1
    if name in ("BinomialRegression", "MultinomialRegression"):
        model.classes_ = classes_from(field(state, "classes"))
        blocks = model.classes_.size - 1
        if blocks < 1 or (name == "BinomialRegression" and blocks > 1):
            raise ModelFileError(f"a {name} is not of {blocks + 1} classes")
    model._design = design_from(inner(state, "design"), model)
    model._response = None
    model._fitted = _estimate_from(state, blocks * len(model._design.columns))
    facts = inner(state, "facts")
    for fact in _FACTS[name]:
        setattr(model, fact, _maybe(facts, fact, LARGEST_NUMBER))
    if name != "LinearModel":
        model.separation_ = _separation_from(state)
    if name == "BinomialRegression":
        model._grouped = flag(state, "grouped")
    elif name == "MultinomialRegression":
        model._class_counts = wholes(state, "class_counts", 0, length=blocks + 1)
    model._tell_fit()
    if name == "LogLinearModel":
        _put_cells(model, inner(state, "cells"))
    if optional(state, "selection"):
        model.selection_ = _path_from(inner(state, "selection"))
    return model


def _maybe(state: dict[str, Any], name: str, largest: float = _ANY) -> float:
    """A number, NaN or an infinity."""
    one = {name: [field(state, name)]}
    return float(numbers(one, name, 1, low=-largest, high=largest, gaps=True)[0])


def _estimate_from(state: dict[str, Any], size: int) -> Any:
    from bosquet.glm._estimates import Estimate, is_symmetric

    coefficients = numbers(state, "coefficients", size)
    covariance = table(state, "covariance", (size, size), low=-_ANY, high=_ANY, gaps=True)
    if not is_symmetric(covariance):
        raise ModelFileError("the covariance of the coefficients is none: it must be symmetric")
    estimate = inner(state, "estimate")
    return Estimate(
        result=None,
        coefficients=coefficients,
        covariance=covariance,
        iterations=whole(state, "iterations", 0),
        converged=flag(state, "converged"),
        **{name: _maybe(estimate, name) for name in _ESTIMATE},
    )


def _separation_from(state: dict[str, Any]) -> Any:
    from bosquet.glm.separation import Separation

    if not optional(state, "separation"):
        return None
    told = inner(state, "separation")
    return Separation(
        choice(told, "kind", ("complete", "quasi-complete")),
        tuple(texts(told, "coefficients")),
        tuple(texts(told, "terms")),
        whole(told, "rows", 0),
    )


def _path_from(state: dict[str, Any]) -> Any:
    from bosquet.glm._statsmodels import pandas_or_error

    removed = listed(state, "removed")
    if not set(map(type, removed)) <= {str}:
        raise ModelFileError("the terms that selection removed are not texts")
    path: dict[str, Any] = {"removed": removed}
    path["df"] = wholes(state, "df", 0, length=len(removed))
    for name in _PATH:
        path[name] = numbers(state, name, len(removed), low=-_ANY, high=_ANY, gaps=True)
    return pandas_or_error().DataFrame(path).rename_axis("step")


def _put_cells(model: Any, state: dict[str, Any]) -> None:
    from bosquet.glm._statsmodels import pandas_or_error

    factors = texts(state, "factors")
    counts = labels_from(field(state, "count"))
    if counts.dtype.kind not in "iuf" or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ModelFileError("the counts of the cells are not numbers of 0 or more")
    columns: dict[str, Any] = {}
    for name, levels in zip(factors, listed(state, "levels", len(factors)), strict=True):
        columns[name] = labels_from(levels)
        if columns[name].size != counts.size:
            raise ModelFileError(f"the cells of the factor {name!r} are not all there")
    if set(factors) & {"count", *_CELLS}:
        raise ModelFileError("a factor has the name of a column of the table of cells")
    columns["count"] = counts
    for name in _CELLS:
        columns[name] = numbers(state, name, counts.size, low=-_ANY, high=_ANY, gaps=True)
    model.factors_, model.table_ = factors, pandas_or_error().DataFrame(columns)


KINDS = {name: Kind("bosquet.glm", _describe, _build, _check) for name in _FACTS}
