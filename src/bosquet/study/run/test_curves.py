"""What the answers on test rows look like: curves, tables and scatters of a few hundred points at most."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.metrics.scoring import Metric
from bosquet.study.record import HeldOut, Histogram
from bosquet.study.tuning.thresholds import Decision

MOST_POINTS = 200
MOST_DOTS = 800
MOST_CURVES = 12  # classes whose curves are kept, the commonest
BINS = 30


def held_out(
    y: np.ndarray,
    answer: np.ndarray,
    metric: Metric,
    decision: Decision,
    weight: np.ndarray | None = None,
) -> HeldOut:
    """What there is to draw of the answers to the test rows y; with weights, rows count by them."""
    if metric.needs == "number":
        return _of_numbers(np.asarray(y, dtype=float), answer, weight)
    truth = class_numbers(y, metric.classes)
    found = HeldOut(n_rows=len(y), roc={}, pr={})
    for k in _drawn_classes(truth, metric, weight):
        event = truth == k
        if _counted(weight, event) > 0 and _counted(weight, ~event) > 0:
            label = str(metric.classes[k])
            found["roc"][label], found["pr"][label] = _curves(event, answer[:, k], weight)
    said = class_numbers(decision(answer), metric.classes)
    n = len(metric.classes)
    table = np.bincount(truth * n + said, weight, minlength=n * n).reshape(n, n)
    found["confusion"] = _plain_counts(table)
    calibration = _calibration(y, answer, metric, weight)
    if calibration:
        found["calibration"] = calibration
    if n == 2:
        event, score = truth == metric.positive, answer[:, metric.positive]
        found["thresholds"] = _by_threshold(event, score, weight)
        found["threshold"] = 0.5 if decision.threshold is None else decision.threshold
        if decision.threshold is None and decision.costs is not None:
            found["threshold"] = _threshold_of_costs(decision)
    return found


def _threshold_of_costs(decision: Decision) -> float:
    from bosquet.trust import cost_threshold

    costs = decision.costs if decision.positive == 1 else decision.costs[::-1, ::-1]  # type: ignore[index]
    return cost_threshold(costs)


def _counted(weight: np.ndarray | None, rows: np.ndarray) -> float:
    """How much some rows count."""
    return float(rows.sum() if weight is None else weight[rows].sum())


def _plain_counts(counts: np.ndarray) -> Any:
    """Counts as they are; sums of weights without the digits that nobody reads."""
    return (np.round(counts, 6) if counts.dtype.kind == "f" else counts).tolist()


def _drawn_classes(truth: np.ndarray, metric: Metric, weight: np.ndarray | None) -> list[int]:
    """The positive one of two; the commonest of several, in their order."""
    if len(metric.classes) == 2:
        return [metric.positive]
    counts = np.bincount(truth, weight, minlength=len(metric.classes))
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CURVES].tolist())


def _curves(
    event: np.ndarray, score: np.ndarray, weight: np.ndarray | None
) -> tuple[list[list[float]], list[list[float]]]:
    """ROC: false against true positive rate; PR: recall against precision. Both from the highest score on."""
    if weight is not None:
        event, score, weight = event[weight > 0], score[weight > 0], weight[weight > 0]
    order = np.argsort(-score, kind="stable")
    counted = np.ones(len(event)) if weight is None else weight[order]
    hits, misses = np.cumsum(counted * event[order]), np.cumsum(counted * ~event[order])
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))  # equal scores together
    true, taken = hits[ends], hits[ends] + misses[ends]
    recall, false = true / hits[-1], misses[ends] / misses[-1]
    roc = np.vstack([[0.0, 0.0], np.column_stack([false, recall])])
    pr = np.column_stack([recall, true / taken])
    pr = np.vstack([[0.0, pr[0, 1]], pr])
    return _thinned(roc, 0, 1), _thinned(pr, 0, 1)


def _thinned(points: np.ndarray, x: int, y: int) -> list[list[float]]:
    """At most a couple of hundred points, evenly along the curve."""
    if len(points) > MOST_POINTS:
        steps = np.abs(np.diff(points[:, x])) + np.abs(np.diff(points[:, y]))
        along = np.concatenate([[0.0], np.cumsum(steps)])
        wanted = np.linspace(0, along[-1], MOST_POINTS)
        keep = np.unique(np.searchsorted(along, wanted).clip(0, len(points) - 1))
        points = points[np.union1d(keep, [0, len(points) - 1])]
    return np.round(points, 5).tolist()


def _calibration(
    y: np.ndarray, answer: np.ndarray, metric: Metric, weight: np.ndarray | None
) -> list[dict[str, float]]:
    """Forecast against observed share; of the positive of two classes, or of the likeliest of several."""
    from bosquet.trust import reliability_curve

    answer = answer / np.maximum(answer.sum(axis=1, keepdims=True), 1e-300)
    if len(metric.classes) == 2:
        event = class_numbers(y, metric.classes) == metric.positive
        p = answer[:, metric.positive]
        curve = reliability_curve(event.astype(int), p, classes=[0, 1], sample_weight=weight)
    else:
        curve = reliability_curve(y, answer, classes=metric.classes, sample_weight=weight)
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


def _by_threshold(
    event: np.ndarray, score: np.ndarray, weight: np.ndarray | None
) -> list[dict[str, float]]:
    """The confusion matrix at thresholds from 0 to 1: those of the scores' quantiles among them."""
    grid = np.union1d(np.linspace(0, 1, 101), np.quantile(score, np.linspace(0, 1, 100)))
    grid = np.unique(np.round(grid, 6))
    missed, found = _below_and_above(score, event, grid, weight)
    right, alarms = _below_and_above(score, ~event, grid, weight)
    return [
        {"threshold": at, "tn": tn, "fp": fp, "fn": fn, "tp": tp}
        for at, tn, fp, fn, tp in zip(grid.tolist(), right, alarms, missed, found, strict=True)
    ]


def _below_and_above(
    score: np.ndarray, rows: np.ndarray, grid: np.ndarray, weight: np.ndarray | None
) -> tuple[list[float], list[float]]:
    """How much some rows count whose score is below each point of a grid, and how much the others of them."""
    order = np.argsort(score[rows], kind="stable")
    counted = np.ones(len(order), dtype=int) if weight is None else weight[rows][order]
    sums = np.concatenate([[0], np.cumsum(counted)])
    below = sums[np.searchsorted(score[rows][order], grid)]
    return _plain_counts(below), _plain_counts(sums[-1] - below)


def _of_numbers(y: np.ndarray, said: np.ndarray, weight: np.ndarray | None) -> HeldOut:
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_DOTS)).astype(int))
    dots = np.column_stack([y[some], said[some]])
    return HeldOut(
        n_rows=len(y),
        scatter=[[float(f"{value:.6g}") for value in dot] for dot in dots],
        residuals=histogram(y - said, weight=weight),
    )


def histogram(values: Any, bins: int = BINS, weight: np.ndarray | None = None) -> Histogram:
    """Counts of numbers, or sums of their weights, all in one group."""
    values = np.asarray(values, dtype=float)
    known = np.isfinite(values)
    if weight is not None:
        known &= weight > 0
        weight = weight[known]
    values = values[known]
    counts, edges = np.histogram(values, bins=min(bins, max(1, len(values))), weights=weight)
    return {"edges": edges.tolist(), "levels": None, "counts": {"all": _plain_counts(counts)}}
