"""Backward elimination of terms. A main effect is not removed before its interactions."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, TypeVar

from bosquet.glm._inference import upper_tail, wald_statistic
from bosquet.glm._statsmodels import import_pandas
from bosquet.glm._terms import Term, removable_terms

if TYPE_CHECKING:
    from bosquet.glm._estimates import Estimate
    from bosquet.glm._model import FormulaModel
    from bosquet.glm._reading import Design

FittedModel = TypeVar("FittedModel", bound="FormulaModel")

CRITERIA = ("aic", "bic", "lr", "wald")


def select_backward(model: FittedModel, criterion: str, level: float) -> FittedModel:
    """Return the selected model, with the path of the selection in `selection_`."""
    design, fitted = model._design, model._fitted
    path = [_path_row("", None, float("nan"), float("nan"), fitted, model.n_rows_)]
    while True:
        best = None
        for term in removable_terms(design.terms):
            smaller = design.without({term.name})
            estimate = model._estimate(smaller.matrix, model._response)
            df = fitted.coefficients.size - estimate.coefficients.size
            test = _removal_test(model, fitted, estimate, design, term, df, criterion)
            # The term with the smallest rank is removed first.
            rank = {"aic": estimate.aic, "bic": estimate.bic(model.n_rows_)}.get(
                criterion, -test[1]
            )
            if best is None or rank < best[0]:
                best = rank, term, smaller, estimate, df, test
        if best is None or not _should_remove(best, fitted, model.n_rows_, criterion, level):
            break
        _, term, design, fitted, df, (statistic, p_value) = best
        path.append(_path_row(term.name, df, statistic, p_value, fitted, model.n_rows_))
    chosen = copy.copy(model)
    chosen.formula = design.spec if model._target is None else f"{model._target} ~ {design.spec}"
    chosen._fit_design(design, model._response)
    chosen.selection_ = import_pandas().DataFrame(path).rename_axis("step")
    return chosen


def _should_remove(
    best: tuple[Any, ...], fitted: Estimate, n_rows: float, criterion: str, level: float
) -> bool:
    rank = best[0]
    if criterion == "aic":
        return rank < fitted.aic
    if criterion == "bic":
        return rank < fitted.bic(n_rows)
    return -rank > level


def _removal_test(
    model: FormulaModel,
    fitted: Estimate,
    smaller: Estimate,
    design: Design,
    term: Term,
    df: int,
    criterion: str,
) -> tuple[float, float]:
    """Return statistic and p-value of a term: Wald test for criterion="wald", else likelihood ratio."""
    if criterion == "wald":
        statistic = wald_statistic(
            fitted, model._coefficient_indices(term.columns, len(design.columns))
        )
    else:
        statistic = max(smaller.deviance - fitted.deviance, 0.0)
    statistic, df_residual = model._scale_statistic(
        statistic, df, fitted, "wald" if criterion == "wald" else "lr"
    )
    return statistic, upper_tail(statistic, df, df_residual)


def _path_row(
    removed: str, df: int | None, statistic: float, p_value: float, fitted: Estimate, n_rows: float
) -> dict[str, Any]:
    return {
        "removed": removed,
        "df": 0 if df is None else df,
        "statistic": statistic,
        "p_value": p_value,
        "deviance": fitted.deviance,
        "aic": fitted.aic,
        "bic": fitted.bic(n_rows),
    }
