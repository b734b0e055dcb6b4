"""Curves, confusion matrix and scatter plot of predictions for test rows, with a few hundred points each."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import EvaluationRecord, Histogram
from bosquet.study.tuning.thresholds import Decision
from bosquet.trust import cost_threshold, reliability_curve

MAX_POINTS = 200
MAX_DOTS = 800
MAX_CURVES = 12  # most frequent classes whose curves are kept
BINS = 30


def evaluation_record(
    y: np.ndarray,
    predictions: np.ndarray,
    metric: Metric,
    decision: Decision,
    weight: np.ndarray | None = None,
) -> EvaluationRecord:
    """Return the curves and tables that the report draws of the predictions for test rows."""
    if metric.needs == "number":
        return _regression_record(np.asarray(y, dtype=float), predictions, weight)
    truth = class_numbers(y, metric.classes)
    record = EvaluationRecord(n_rows=len(y), roc={}, pr={})
    for k in _drawn_classes(truth, metric, weight):
        event = truth == k
        if _total_weight(weight, event) > 0 and _total_weight(weight, ~event) > 0:
            label = str(metric.classes[k])
            record["roc"][label], record["pr"][label] = _roc_and_precision_recall(
                event, predictions[:, k], weight
            )
    predicted = class_numbers(decision(predictions), metric.classes)
    n = len(metric.classes)
    table = np.bincount(truth * n + predicted, weight, minlength=n * n).reshape(n, n)
    record["confusion"] = _rounded_counts(table)
    calibration = _calibration_curves(y, predictions, metric, weight)
    if calibration:
        record["calibration"] = calibration
    if n == 2:
        event, score = truth == metric.positive, predictions[:, metric.positive]
        record["thresholds"] = _counts_by_threshold(event, score, weight)
        record["threshold"] = 0.5 if decision.threshold is None else decision.threshold
        if decision.threshold is None and decision.costs is not None:
            record["threshold"] = _threshold_of_costs(decision)
    return record


def _threshold_of_costs(decision: Decision) -> float:
    costs = decision.costs
    assert costs is not None
    return cost_threshold(costs if decision.positive == 1 else costs[::-1, ::-1])


def _total_weight(weight: np.ndarray | None, rows: np.ndarray) -> float:
    """Return the number of some rows, or the sum of their weights."""
    return float(rows.sum() if weight is None else weight[rows].sum())


def _rounded_counts(counts: np.ndarray) -> Any:
    """Return counts as a list; sums of weights are rounded to six decimals."""
    return (np.round(counts, 6) if counts.dtype.kind == "f" else counts).tolist()


def _drawn_classes(truth: np.ndarray, metric: Metric, weight: np.ndarray | None) -> list[int]:
    """Return the positive class of two, or the most frequent of several, in sorted order."""
    if len(metric.classes) == 2:
        return [metric.positive]
    counts = np.bincount(truth, weight, minlength=len(metric.classes))
    return sorted(np.argsort(-counts, kind="stable")[:MAX_CURVES].tolist())


def _roc_and_precision_recall(
    event: np.ndarray, score: np.ndarray, weight: np.ndarray | None
) -> tuple[list[list[float]], list[list[float]]]:
    """Return the points (FPR, TPR) of the ROC curve and (recall, precision) of the precision-recall curve."""
    if weight is not None:
        event, score, weight = event[weight > 0], score[weight > 0], weight[weight > 0]
    order = np.argsort(-score, kind="stable")
    weights = np.ones(len(event)) if weight is None else weight[order]
    hits, alarms = np.cumsum(weights * event[order]), np.cumsum(weights * ~event[order])
    # One point per distinct score.
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
    recall, false_positive_rate = hits[ends] / hits[-1], alarms[ends] / alarms[-1]
    roc = np.vstack([[0.0, 0.0], np.column_stack([false_positive_rate, recall])])
    pr = np.column_stack([recall, hits[ends] / (hits[ends] + alarms[ends])])
    pr = np.vstack([[0.0, pr[0, 1]], pr])
    return _thin_curve(roc, 0, 1), _thin_curve(pr, 0, 1)


def _thin_curve(points: np.ndarray, x: int, y: int) -> list[list[float]]:
    """Return at most `MAX_POINTS` points, evenly spaced along the curve."""
    if len(points) > MAX_POINTS:
        steps = np.abs(np.diff(points[:, x])) + np.abs(np.diff(points[:, y]))
        along = np.concatenate([[0.0], np.cumsum(steps)])
        equally_spaced = np.linspace(0, along[-1], MAX_POINTS)
        keep = np.unique(np.searchsorted(along, equally_spaced).clip(0, len(points) - 1))
        points = points[np.union1d(keep, [0, len(points) - 1])]
    return np.round(points, 5).tolist()


def _calibration_curves(
    y: np.ndarray, predictions: np.ndarray, metric: Metric, weight: np.ndarray | None
) -> list[dict[str, float]]:
    """Return the reliability curve of the positive class of two, or of the predicted class of several."""
    probabilities = predictions / np.maximum(predictions.sum(axis=1, keepdims=True), 1e-300)
    if len(metric.classes) == 2:
        event = class_numbers(y, metric.classes) == metric.positive
        p = probabilities[:, metric.positive]
        curve = reliability_curve(event.astype(int), p, classes=[0, 1], sample_weight=weight)
    else:
        curve = reliability_curve(y, probabilities, classes=metric.classes, sample_weight=weight)
    filled = np.flatnonzero(curve.weight > 0)
    count = curve.count if weight is None else np.round(curve.weight, 6)
    return [
        {
            "forecast": float(curve.score[b]),
            "observed": float(curve.observed[b]),
            "low": float(curve.low[b]),
            "high": float(curve.high[b]),
            "n": float(count[b]),
        }
        for b in filled
    ]


def _counts_by_threshold(
    event: np.ndarray, score: np.ndarray, weight: np.ndarray | None
) -> list[dict[str, float]]:
    """Return the confusion matrix at 101 equidistant thresholds and at quantiles of the scores."""
    grid = np.union1d(np.linspace(0, 1, 101), np.quantile(score, np.linspace(0, 1, 100)))
    grid = np.unique(np.round(grid, 6))
    missed, detected = _below_and_above(score, event, grid, weight)
    right, alarms = _below_and_above(score, ~event, grid, weight)
    return [
        {"threshold": at, "tn": tn, "fp": fp, "fn": fn, "tp": tp}
        for at, tn, fp, fn, tp in zip(grid.tolist(), right, alarms, missed, detected, strict=True)
    ]


def _below_and_above(
    score: np.ndarray, rows: np.ndarray, grid: np.ndarray, weight: np.ndarray | None
) -> tuple[list[float], list[float]]:
    """Return the weight of the `rows` with a score below each point of a grid, and of the others."""
    order = np.argsort(score[rows], kind="stable")
    weights = np.ones(len(order), dtype=int) if weight is None else weight[rows][order]
    sums = np.concatenate([[0], np.cumsum(weights)])
    below = sums[np.searchsorted(score[rows][order], grid)]
    return _rounded_counts(below), _rounded_counts(sums[-1] - below)


def _regression_record(
    y: np.ndarray, predictions: np.ndarray, weight: np.ndarray | None
) -> EvaluationRecord:
    shown_rows = np.unique(np.linspace(0, len(y) - 1, min(len(y), MAX_DOTS)).astype(int))
    dots = np.column_stack([y[shown_rows], predictions[shown_rows]])
    return EvaluationRecord(
        n_rows=len(y),
        scatter=[[float(f"{value:.6g}") for value in dot] for dot in dots],
        residuals=histogram(y - predictions, weight=weight),
    )


def histogram(values: Any, bins: int = BINS, weight: np.ndarray | None = None) -> Histogram:
    """Return a histogram of numbers, of counts or of sums of weights, with one group."""
    values = np.asarray(values, dtype=float)
    counted = np.isfinite(values)
    if weight is not None:
        counted &= weight > 0
        weight = weight[counted]
    values = values[counted]
    counts, edges = np.histogram(values, bins=min(bins, max(1, len(values))), weights=weight)
    return {"edges": edges.tolist(), "levels": None, "counts": {"all": _rounded_counts(counts)}}
