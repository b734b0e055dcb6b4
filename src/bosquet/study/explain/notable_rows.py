"""Notable test rows: the largest errors, outliers and a few typical rows, with Shapley values."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bosquet.study.explain.row_explanations import OTHERS, explain_rows
from bosquet.study.metrics.metric import Metric, metric_named
from bosquet.study.record import ExplainedRow, Reason
from bosquet.study.table.frames import take

WORST, OUTLIERS, TYPICAL = 10, 6, 4
MAX_REASONS = 8
MAX_VALUES = 40
Kind = Literal["worst", "outlier", "typical"]


def notable_rows(
    model: Any,
    X: Any,
    y: np.ndarray,
    predictions: np.ndarray,
    labels: Any,
    metric: Metric,
    *,
    background: Any,
    order: list[str],
    seed: int,
) -> list[ExplainedRow]:
    """Return test rows with large losses, outliers and typical rows, with their explanations.

    `predictions` are those of the model for the rows of X, `labels` are the names of the rows in the table,
    `order` has the columns by importance, and `background` has training rows for the Shapley values.
    """
    losses = row_losses(y, predictions, metric)
    outlyingness = outlier_scores(X)
    picked = _pick_rows(losses, outlyingness)
    rows = np.array([row for row, _ in picked], dtype=int)
    outputs = None if metric.needs == "number" else predictions[rows].argmax(axis=1)
    explanations = explain_rows(model, take(X, rows), outputs, background, order, seed)
    shown_columns = [name for name in order if name in X.columns][:MAX_VALUES]
    shown_columns = shown_columns or [str(name) for name in X.columns[:MAX_VALUES]]
    result: list[ExplainedRow] = []
    for k, (row, kind) in enumerate(picked):
        values = {str(name): _value_text(X[name].iloc[row]) for name in shown_columns}
        reasons = _largest_effects(explanations.names, explanations.effects[k], X, row)
        result.append(
            {
                "row": _json_label(labels[row]),
                "kind": kind,
                "truth": _value_text(y[row]),
                "prediction": _prediction_text(predictions[row], metric),
                "score": float(outlyingness[row] if kind == "outlier" else losses[row]),
                "values": values,
                "reasons": reasons,
                "base": float(explanations.base[k]),
            }
        )
    return result


def _largest_effects(names: list[str], effects: np.ndarray, X: Any, row: int) -> list[Reason]:
    """Return the largest effects and the sum of the others, which add up to the prediction minus the base."""
    columns = [
        column for column, name in enumerate(names) if name != OTHERS and effects[column] != 0
    ]
    columns.sort(key=lambda column: -abs(effects[column]))
    reasons: list[Reason] = [
        {"feature": names[c], "value": _value_of(X, names[c], row), "effect": float(effects[c])}
        for c in columns[:MAX_REASONS]
    ]
    effect_of_others = float(effects.sum()) - sum(reason["effect"] for reason in reasons)
    if len(columns) > MAX_REASONS or any(name == OTHERS for name in names):
        reasons.append({"feature": OTHERS, "value": "", "effect": effect_of_others})
    return reasons


def row_losses(y: np.ndarray, predictions: np.ndarray, metric: Metric) -> np.ndarray:
    """Return the loss of each row: absolute errors for regression, else by the metric or by the log loss."""
    if metric.needs == "number":  # in units of the target, which readers know
        return np.abs(np.asarray(y, float) - predictions)
    if metric.needs == "probability":
        losses = metric.losses(y, predictions)
        if losses is not None:
            return losses
    log_loss = metric_named(
        "log_loss",
        "binary" if len(metric.classes) == 2 else "multiclass",
        metric.classes,
        positive=metric.positive,
    )
    log_losses = log_loss.losses(y, predictions)
    assert log_losses is not None
    return log_losses


def outlier_scores(X: Any) -> np.ndarray:
    """Return how unusual each row is in its most unusual column.

    For a number it is the distance from the median in interquartile ranges. For a category it is minus the
    logarithm of the share of the level, which is on a similar scale.
    """
    from pandas.api.types import is_numeric_dtype

    scores = np.zeros(len(X))
    for k in range(min(X.shape[1], 2000)):
        column = X.iloc[:, k]
        if is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            finite = values[np.isfinite(values)]
            if finite.size == 0:
                continue
            low, middle, high = np.quantile(finite, [0.25, 0.5, 0.75])
            # If most values are equal, the interquartile range is 0.
            width = (high - low) or float(finite.std()) or 1.0
            score = np.abs(values - middle) / width
        else:
            share = column.map(column.value_counts(normalize=True)).to_numpy(dtype=float)
            score = -np.log(np.where(np.isfinite(share), share, 1.0))
        scores = np.fmax(scores, np.where(np.isfinite(score), score, 0.0))
    return scores


def _pick_rows(losses: np.ndarray, outlyingness: np.ndarray) -> list[tuple[int, Kind]]:
    kind_of_row: dict[int, Kind] = {}
    for row in np.argsort(-losses, kind="stable")[:WORST].tolist():
        kind_of_row[row] = "worst"
    by_outlyingness = [
        row for row in np.argsort(-outlyingness, kind="stable").tolist() if row not in kind_of_row
    ]
    for row in by_outlyingness[:OUTLIERS]:
        kind_of_row[row] = "outlier"
    by_typicality = np.argsort(np.abs(losses - np.median(losses)), kind="stable").tolist()
    for row in [row for row in by_typicality if row not in kind_of_row][:TYPICAL]:
        kind_of_row[row] = "typical"
    return list(kind_of_row.items())


def _prediction_text(prediction: Any, metric: Metric) -> str:
    if metric.needs == "number":
        return f"{float(prediction):.6g}"
    best = int(np.argmax(prediction))
    return f"{metric.classes[best]} ({float(prediction[best]):.0%})"


def _value_of(X: Any, name: str, row: int) -> str:
    return _value_text(X[name].iloc[row]) if name in X.columns else ""


def _value_text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return str(value)


def _json_label(label: Any) -> int | str:
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    return str(label)
