"""Rows worth looking at: the worst errors, the rows unlike all others, and a few as they usually are."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from bosquet.study.explain.row_explanations import OTHERS, reasons_for
from bosquet.study.metrics.scoring import Metric, metric_named
from bosquet.study.record import ExplainedRow, Reason
from bosquet.study.table.frames import take

WORST, OUTLIERS, TYPICAL = 10, 6, 4
MOST_REASONS = 8
MOST_VALUES = 40
Kind = Literal["worst", "outlier", "typical"]


def explored_rows(
    model: Any,
    X: Any,
    y: np.ndarray,
    answer: np.ndarray,
    labels: Any,
    metric: Metric,
    *,
    background: Any,
    order: list[str],
    seed: int,
) -> list[ExplainedRow]:
    """The rows of the test part that tell most of the model, with reasons.

    `answer` is what the model said of the rows, `labels` are their names in the table, `order` the columns
    by importance; `background` holds training rows.
    """
    losses = row_losses(y, answer, metric)
    strange = strangeness(X)
    picked = _picked(losses, strange)
    rows = np.array([row for row, _ in picked], dtype=int)
    outputs = None if metric.needs == "number" else answer[rows].argmax(axis=1)
    found = reasons_for(model, take(X, rows), outputs, background, order, seed)
    shown = [name for name in order if name in X.columns][:MOST_VALUES]
    shown = shown or [str(name) for name in X.columns[:MOST_VALUES]]
    result: list[ExplainedRow] = []
    for place, (row, kind) in enumerate(picked):
        values = {str(name): _text(X[name].iloc[row]) for name in shown}
        reasons = _told(found.names, found.effects[place], X, row)
        result.append(
            {
                "row": _label(labels[row]),
                "kind": kind,
                "truth": _text(y[row]),
                "prediction": _said(answer[row], metric),
                "score": float(strange[row] if kind == "outlier" else losses[row]),
                "values": values,
                "reasons": reasons,
                "base": float(found.base[place]),
            }
        )
    return result


def _told(names: list[str], effects: np.ndarray, X: Any, row: int) -> list[Reason]:
    """The largest effects one by one, and what is left in one: with the base they make the prediction."""
    own = [column for column, name in enumerate(names) if name != OTHERS and effects[column] != 0]
    own.sort(key=lambda column: -abs(effects[column]))
    reasons: list[Reason] = [
        {"feature": names[c], "value": _value_of(X, names[c], row), "effect": float(effects[c])}
        for c in own[:MOST_REASONS]
    ]
    told = sum(reason["effect"] for reason in reasons)
    rest = float(effects.sum()) - told
    if len(own) > MOST_REASONS or any(name == OTHERS for name in names):
        reasons.append({"feature": OTHERS, "value": "", "effect": rest})
    return reasons


def row_losses(y: np.ndarray, answer: np.ndarray, metric: Metric) -> np.ndarray:
    """The loss of each row: of numbers the error, of classes by the metric if it has one, or the log loss."""
    if metric.needs == "number":  # in the unit of the target, which a reader knows
        return np.abs(np.asarray(y, float) - answer)
    if metric.needs == "probability":
        losses = metric.losses(y, answer)
        if losses is not None:
            return losses
    usual = metric_named(
        "log_loss",
        "binary" if len(metric.classes) == 2 else "multiclass",
        metric.classes,
        positive=metric.positive,
    )
    found = usual.losses(y, answer)
    assert found is not None
    return found


def strangeness(X: Any) -> np.ndarray:
    """How far a row lies outside, in its most unusual column.

    A number counts its distance from the median in interquartile ranges, a category the surprise of its
    level: minus the logarithm of its share, on about the same scale.
    """
    from pandas.api.types import is_numeric_dtype

    most = np.zeros(len(X))
    for place in range(min(X.shape[1], 2000)):
        column = X.iloc[:, place]
        if is_numeric_dtype(column.dtype):
            values = column.to_numpy(dtype=float, na_value=np.nan)
            known = values[np.isfinite(values)]
            if known.size == 0:
                continue
            low, middle, high = np.quantile(known, [0.25, 0.5, 0.75])
            # A column that is mostly one value has no quartiles to go by.
            width = (high - low) or float(known.std()) or 1.0
            score = np.abs(values - middle) / width
        else:
            share = column.map(column.value_counts(normalize=True)).to_numpy(dtype=float)
            score = -np.log(np.where(np.isfinite(share), share, 1.0))
        most = np.fmax(most, np.where(np.isfinite(score), score, 0.0))
    return most


def _picked(losses: np.ndarray, strange: np.ndarray) -> list[tuple[int, Kind]]:
    taken: dict[int, Kind] = {}
    for row in np.argsort(-losses, kind="stable")[:WORST].tolist():
        taken[row] = "worst"
    far = [row for row in np.argsort(-strange, kind="stable").tolist() if row not in taken]
    for row in far[:OUTLIERS]:
        taken[row] = "outlier"
    middle = np.argsort(np.abs(losses - np.median(losses)), kind="stable").tolist()
    for row in [row for row in middle if row not in taken][:TYPICAL]:
        taken[row] = "typical"
    return list(taken.items())


def _said(answer: Any, metric: Metric) -> str:
    if metric.needs == "number":
        return f"{float(answer):.6g}"
    place = int(np.argmax(answer))
    return f"{metric.classes[place]} ({float(answer[place]):.0%})"


def _value_of(X: Any, name: str, row: int) -> str:
    return _text(X[name].iloc[row]) if name in X.columns else ""


def _text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    return str(value)


def _label(label: Any) -> int | str:
    if isinstance(label, int | np.integer) and not isinstance(label, bool):
        return int(label)
    return str(label)
