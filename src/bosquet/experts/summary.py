"""The summary of a mixture, in the layout of the R package opera."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bosquet._text_table import text_table

if TYPE_CHECKING:
    from bosquet.experts.mixture import Mixture


def expert_names(mixture: Mixture) -> list[str]:
    """Return the names of the models or columns; without names X1, X2, ... as in R."""
    names = getattr(mixture, "_model_names", getattr(mixture, "feature_names_in_", None))
    if names is not None:
        return [str(name) for name in names]
    return [f"X{k + 1}" for k in range(mixture.n_features_in_)]


def format_value(value: float) -> str:
    """Format a number with three significant digits, as opera does."""
    return f"{value:.3g}" if not math.isfinite(value) or abs(value) < 1000 else f"{value:.0f}"


def summary_text(mixture: Mixture) -> str:
    """Return the summary: rule, loss, weights, sizes, and the errors next to those of the uniform mean."""
    totals, rule = mixture._fitted_core.totals, mixture._rule
    loss = mixture._loss if isinstance(mixture._loss, str) else "custom"
    weights = mixture.final_weights_
    lines = [
        f"Aggregation rule: {rule.name}",
        f"Loss function: {loss} loss",
        f"Gradient trick: {bool(mixture._linearised)}",
        "Coefficients:",
        *text_table(
            [["", *expert_names(mixture)], ["", *(format_value(weight) for weight in weights)]],
            gap=" ",
        ),
        *_never_awake_lines(mixture, totals),
        "",
        f"Number of experts: {mixture.n_features_in_}",
        f"Number of observations: {totals['rows']}",
        f"Dimension of the data: {max(mixture._n_classes, 1)}",
    ]
    if totals["rows"] > totals["bandit_rows"]:
        lines += ["", *text_table(_error_table(mixture, rule.name, totals), gap=" ")]
    return "\n".join(lines)


def _never_awake_lines(mixture: Mixture, totals: dict[str, Any]) -> list[str]:
    names = expert_names(mixture)
    asleep = [name for name, awake in zip(names, totals["awake_rows"], strict=True) if awake == 0]
    return [f"Never awake: {', '.join(asleep)}"] if asleep and totals["rows"] else []


def _error_table(mixture: Mixture, rule: str, totals: dict[str, Any]) -> list[list[str]]:
    n = totals["rows"]
    table = [["", "loss"], [rule, format_value(totals["loss"] / n)]]
    table.append(["uniform", format_value(totals["uniform_loss"] / n)])
    numbers = mixture._n_classes == 0 and mixture._loss in (
        "square",
        "absolute",
        "percentage",
        "pinball",
    )
    if numbers:
        table[0] += ["rmse", "mape"]
        for row, prefix in ((table[1], ""), (table[2], "uniform_")):
            row.append(format_value(math.sqrt(totals[prefix + "squared_error"] / n)))
            row.append(format_value(totals[prefix + "relative_error"] / n))
    return table
