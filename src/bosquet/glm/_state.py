"""Conversion of regression models to states of model files and back, without code.

A file contains the design (how the columns of a table are converted to columns of the design matrix), the
coefficients with their covariance, and the statistics of the fit. It contains neither training rows nor
objects of statsmodels. A formula is stored as expressions of columns. Its text, which is executed as code
when the model is fitted again, is stored only if it calls nothing but known functions of columns
(`bosquet.glm._expressions`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._core import Ensemble, ModelFileError
from bosquet._parameters import check_parameters
from bosquet._state.columns import feature_names_state, set_feature_names
from bosquet._state.fields import (
    LARGEST_NUMBER,
    check_no_lone_surrogates,
    has_value,
    read_bool,
    read_choice,
    read_field,
    read_integer,
    read_integers,
    read_list,
    read_matrix,
    read_number,
    read_numbers,
    read_object,
    read_text,
    read_texts,
    to_json_numbers,
)
from bosquet._state.kinds import ModelKind, check_no_trees, no_trees
from bosquet._state.labels import labels_state, read_classes, read_labels
from bosquet.glm._design_state import design_from, design_state
from bosquet.glm._estimates import Estimate, is_symmetric
from bosquet.glm._expressions import is_safe_formula
from bosquet.glm._reading import check_formula
from bosquet.glm._statsmodels import import_pandas
from bosquet.glm.separation import Separation

if TYPE_CHECKING:
    from bosquet._types import State


# Further statistics of each model: numbers, which may be NaN or infinite.
_STATISTICS = {
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
    check_parameters(model, model._CHECKS)
    check_formula(model.formula)
    if isinstance(model.formula, str) and not is_safe_formula(model.formula):
        raise ValueError(
            f"formula={model.formula!r} contains code that a model file cannot store; it may combine"
            " columns and call C, I, Q and functions such as np.log; use pickle or joblib"
        )


# ----------------------------------------------------------------------------------------- writing
def _to_state(model: Any) -> tuple[Ensemble, State]:
    fitted, name = model._fitted, type(model).__name__
    statistics = [float(getattr(model, one)) for one in _STATISTICS[name]]
    estimate = [float(getattr(fitted, one)) for one in _ESTIMATE]
    finite = [value for value in statistics if np.isfinite(value)]
    if not (np.abs([*fitted.coefficients, *finite]) <= LARGEST_NUMBER).all():
        raise ValueError(
            f"a coefficient of this model is NaN or larger than {LARGEST_NUMBER:g}, which a model file"
            " cannot store; rescale the columns and the target"
        )
    separation = getattr(model, "separation_", None)
    state: dict[str, Any] = {
        "n_features": int(model.n_features_in_),
        "feature_names": feature_names_state(model),
        "target": model._target,
        "dropped": int(model.n_dropped_),
        "rows": float(model.n_rows_),
        "design": design_state(model._design),
        "coefficients": fitted.coefficients.tolist(),
        "covariance": to_json_numbers(fitted.covariance),
        "estimate": dict(zip(_ESTIMATE, to_json_numbers(estimate), strict=True)),
        "iterations": int(fitted.iterations),
        "converged": bool(fitted.converged),
        "statistics": dict(zip(_STATISTICS[name], to_json_numbers(statistics), strict=True)),
        "classes": labels_state(getattr(model, "classes_", None)),
        "separation": None if separation is None else _separation_state(separation),
        "selection": _path_state(getattr(model, "selection_", None)),
    }
    if name == "BinomialRegression":
        state["grouped"] = bool(model._grouped)
    elif name == "MultinomialRegression":
        state["class_counts"] = [int(count) for count in model._class_counts]
    elif name == "LogLinearModel":
        state["cells"] = _cells_state(model)
    return no_trees(), state


def _separation_state(separation: Any) -> State:
    return {
        "kind": separation.kind,
        "coefficients": list(separation.coefficients),
        "terms": list(separation.terms),
        "rows": int(separation.n_rows),
    }


def _path_state(path: Any) -> dict[str, Any] | None:
    if path is None:
        return None
    return {
        "removed": [str(name) for name in path["removed"]],
        "df": [int(df) for df in path["df"]],
        **{name: to_json_numbers(path[name]) for name in _PATH},
    }


def _cells_state(model: Any) -> State:
    cells = model.table_
    return {
        "factors": list(model.factors_),
        "levels": [labels_state(np.asarray(cells[name], dtype=object)) for name in model.factors_],
        "count": labels_state(np.asarray(cells["count"])),
        **{name: to_json_numbers(cells[name]) for name in _CELLS},
    }


# ----------------------------------------------------------------------------------------- reading
def _from_state(model: Any, trees: Ensemble, state: State) -> Any:
    check_no_trees(trees)
    check_no_lone_surrogates(state)
    name = type(model).__name__
    set_feature_names(model, state, "feature_names", read_integer(state, "n_features", 0))
    model._target = read_text(state, "target") if has_value(state, "target") else None
    model.n_dropped_ = read_integer(state, "dropped", 0)
    model.n_rows_ = read_number(state, "rows", _SMALLEST)
    blocks = 1
    if name in ("BinomialRegression", "MultinomialRegression"):
        model.classes_ = read_classes(read_field(state, "classes"))
        blocks = model.classes_.size - 1
        if blocks < 1 or (name == "BinomialRegression" and blocks > 1):
            raise ModelFileError(
                f"invalid model file: 'classes' has {blocks + 1} entries, which is not valid for a {name}"
            )
    model._design = design_from(read_object(state, "design"), model)
    model._response = None
    model._fitted = _estimate_from(state, blocks * len(model._design.columns))
    statistics = read_object(state, "statistics")
    for attribute in _STATISTICS[name]:
        setattr(model, attribute, _read_any_number(statistics, attribute, LARGEST_NUMBER))
    if name != "LinearModel":
        model.separation_ = _separation_from(state)
    if name == "BinomialRegression":
        model._grouped = read_bool(state, "grouped")
    elif name == "MultinomialRegression":
        model._class_counts = read_integers(state, "class_counts", 0, length=blocks + 1)
    model._set_fitted_attributes()
    if name == "LogLinearModel":
        _set_cells(model, read_object(state, "cells"))
    if has_value(state, "selection"):
        model.selection_ = _path_from(read_object(state, "selection"))
    return model


def _read_any_number(state: State, name: str, largest: float = _ANY) -> float:
    """Read a number, NaN or an infinity."""
    one = {name: [read_field(state, name)]}
    return float(read_numbers(one, name, 1, low=-largest, high=largest, allow_non_finite=True)[0])


def _estimate_from(state: State, size: int) -> Any:
    coefficients = read_numbers(state, "coefficients", size)
    covariance = read_matrix(
        state, "covariance", (size, size), low=-_ANY, high=_ANY, allow_non_finite=True
    )
    if not is_symmetric(covariance):
        raise ModelFileError("invalid model file: 'covariance' must be a symmetric matrix")
    estimate = read_object(state, "estimate")
    return Estimate(
        result=None,
        coefficients=coefficients,
        covariance=covariance,
        iterations=read_integer(state, "iterations", 0),
        converged=read_bool(state, "converged"),
        **{name: _read_any_number(estimate, name) for name in _ESTIMATE},
    )


def _separation_from(state: State) -> Any:
    if not has_value(state, "separation"):
        return None
    separation = read_object(state, "separation")
    return Separation(
        read_choice(separation, "kind", ("complete", "quasi-complete")),
        tuple(read_texts(separation, "coefficients")),
        tuple(read_texts(separation, "terms")),
        read_integer(separation, "rows", 0),
    )


def _path_from(state: State) -> Any:
    removed = read_list(state, "removed")
    if not set(map(type, removed)) <= {str}:
        raise ModelFileError("invalid model file: 'removed' must be a list of strings")
    path: dict[str, Any] = {"removed": removed}
    path["df"] = read_integers(state, "df", 0, length=len(removed))
    for name in _PATH:
        path[name] = read_numbers(
            state, name, len(removed), low=-_ANY, high=_ANY, allow_non_finite=True
        )
    return import_pandas().DataFrame(path).rename_axis("step")


def _set_cells(model: Any, state: State) -> None:
    factors = read_texts(state, "factors")
    counts = read_labels(read_field(state, "count"))
    if counts.dtype.kind not in "iuf" or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ModelFileError("invalid model file: 'count' must contain finite numbers >= 0")
    columns: dict[str, Any] = {}
    for name, levels in zip(factors, read_list(state, "levels", len(factors)), strict=True):
        columns[name] = read_labels(levels)
        if columns[name].size != counts.size:
            raise ModelFileError(
                f"invalid model file: the factor {name!r} has {columns[name].size} levels for {counts.size}"
                " cells"
            )
    if set(factors) & {"count", *_CELLS}:
        raise ModelFileError(
            f"invalid model file: a factor must not be named {', '.join(('count', *_CELLS))}"
        )
    columns["count"] = counts
    for name in _CELLS:
        columns[name] = read_numbers(
            state, name, counts.size, low=-_ANY, high=_ANY, allow_non_finite=True
        )
    model.factors_, model.table_ = factors, import_pandas().DataFrame(columns)


KINDS = {
    name: ModelKind(
        "bosquet.glm",
        _to_state,
        _from_state,
        _check,
        encoder=lambda model: getattr(model._design, "encoder", None),
    )
    for name in _STATISTICS
}
