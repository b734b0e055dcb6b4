"""What the answers on test rows look like: curves, tables and scatters of a few hundred points at most."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.deciding import Decision
from bosquet.study.record import HeldOut, Histogram
from bosquet.study.scoring import Metric

MOST_POINTS = 200
MOST_DOTS = 800
MOST_CURVES = 12  # classes whose curves are kept, the commonest
BINS = 30


def held_out(y: np.ndarray, answer: np.ndarray, metric: Metric, decision: Decision) -> HeldOut:
    """What there is to draw of the answers to the test rows y."""
    if metric.needs == "number":
        return _of_numbers(np.asarray(y, dtype=float), answer)
    truth = class_numbers(y, metric.classes)
    found = HeldOut(n_rows=len(y), roc={}, pr={})
    for k in _drawn_classes(truth, metric):
        event = truth == k
        if 0 < event.sum() < len(event):
            label = str(metric.classes[k])
            found["roc"][label], found["pr"][label] = _curves(event, answer[:, k])
    said = class_numbers(decision(answer), metric.classes)
    n = len(metric.classes)
    table = np.bincount(truth * n + said, minlength=n * n).reshape(n, n)
    found["confusion"] = table.tolist()
    calibration = _calibration(y, answer, metric)
    if calibration:
        found["calibration"] = calibration
    if n == 2:
        found["thresholds"] = _by_threshold(truth == metric.positive, answer[:, metric.positive])
        found["threshold"] = 0.5 if decision.threshold is None else decision.threshold
        if decision.threshold is None and decision.costs is not None:
            found["threshold"] = _threshold_of_costs(decision)
    return found


def _threshold_of_costs(decision: Decision) -> float:
    from bosquet.trust import cost_threshold

    costs = decision.costs if decision.positive == 1 else decision.costs[::-1, ::-1]  # type: ignore[index]
    return cost_threshold(costs)


def _drawn_classes(truth: np.ndarray, metric: Metric) -> list[int]:
    """The positive one of two; the commonest of several, in their order."""
    if len(metric.classes) == 2:
        return [metric.positive]
    counts = np.bincount(truth, minlength=len(metric.classes))
    return sorted(np.argsort(-counts, kind="stable")[:MOST_CURVES].tolist())


def _curves(event: np.ndarray, score: np.ndarray) -> tuple[list[list[float]], list[list[float]]]:
    """ROC: false against true positive rate; PR: recall against precision. Both from the highest score on."""
    order = np.argsort(-score, kind="stable")
    hits = np.cumsum(event[order])
    ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))  # equal scores together
    true, taken = hits[ends].astype(float), ends + 1.0
    recall, false = true / hits[-1], (taken - true) / (len(event) - hits[-1])
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


def _calibration(y: np.ndarray, answer: np.ndarray, metric: Metric) -> list[dict[str, float]]:
    """Forecast against observed share; of the positive of two classes, or of the likeliest of several."""
    from bosquet.trust import reliability_curve

    answer = answer / np.maximum(answer.sum(axis=1, keepdims=True), 1e-300)
    if len(metric.classes) == 2:
        event = class_numbers(y, metric.classes) == metric.positive
        curve = reliability_curve(event.astype(int), answer[:, metric.positive], classes=[0, 1])
    else:
        curve = reliability_curve(y, answer, classes=metric.classes)
    filled = np.flatnonzero(curve.count > 0)
    return [
        {
            "forecast": float(curve.score[b]),
            "observed": float(curve.observed[b]),
            "low": float(curve.low[b]),
            "high": float(curve.high[b]),
            "n": float(curve.count[b]),
        }
        for b in filled
    ]


def _by_threshold(event: np.ndarray, score: np.ndarray) -> list[dict[str, float]]:
    """The confusion matrix at thresholds from 0 to 1: those of the scores' quantiles among them."""
    grid = np.union1d(np.linspace(0, 1, 101), np.quantile(score, np.linspace(0, 1, 100)))
    grid = np.unique(np.round(grid, 6))
    yes, no = np.sort(score[event]), np.sort(score[~event])
    missed, right = np.searchsorted(yes, grid), np.searchsorted(no, grid)
    return [
        {
            "threshold": float(at),
            "tn": int(tn),
            "fp": int(len(no) - tn),
            "fn": int(fn),
            "tp": int(len(yes) - fn),
        }
        for at, tn, fn in zip(grid, right, missed, strict=True)
    ]


def _of_numbers(y: np.ndarray, said: np.ndarray) -> HeldOut:
    some = np.unique(np.linspace(0, len(y) - 1, min(len(y), MOST_DOTS)).astype(int))
    dots = np.column_stack([y[some], said[some]])
    return HeldOut(
        n_rows=len(y),
        scatter=[[float(f"{value:.6g}") for value in dot] for dot in dots],
        residuals=histogram(y - said),
    )


def histogram(values: Any, bins: int = BINS) -> Histogram:
    """Counts of numbers, all in one group."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    counts, edges = np.histogram(values, bins=min(bins, max(1, len(values))))
    return {"edges": edges.tolist(), "levels": None, "counts": {"all": counts.tolist()}}
