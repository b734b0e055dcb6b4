"""Calibration, coverage, margins and certificate of the chosen model."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._targets import class_numbers
from bosquet.study.metrics.metric import Metric, predictions_for
from bosquet.study.record import Histogram
from bosquet.study.run.evaluation_curves import histogram
from bosquet.study.table.frames import take
from bosquet.trust import CalibratedModel, ConformalModel, calibration_error, covered

NOMINAL = 0.9
# Least number of rows in one half of the test rows, to fit a calibration map or a quantile of errors.
MIN_TO_CALIBRATE, MIN_TO_COVER = 40, 20
MAX_ROWS = 10_000
MAX_ROUNDS = 400


def random_halves(n: int, seed: int, fewest: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return two random halves of the test rows, or None if they have fewer than `fewest` rows."""
    order = np.random.default_rng(seed).permutation(n)[:MAX_ROWS]
    half = len(order) // 2
    return None if half < fewest else (np.sort(order[:half]), np.sort(order[half:]))


def few_rows_note(n_rows: int, is_classification: bool) -> str:
    """Return a note on what cannot be measured on so few test rows, or ""."""
    needed = {"the coverage of intervals": 2 * MIN_TO_COVER}
    if is_classification:
        needed = {"the coverage of prediction sets": 2 * MIN_TO_COVER}
        needed["calibration"] = 2 * MIN_TO_CALIBRATE
    missing = [
        f"{what} (at least {min_rows} rows)"
        for what, min_rows in needed.items()
        if n_rows < min_rows
    ]
    if not missing:
        return ""
    return f"The first split has {n_rows} test rows, too few to measure {' and '.join(missing)}."


def coverage_on(
    model: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    seed: int,
    weight: np.ndarray | None = None,
) -> dict[str, float] | None:
    """Return the observed coverage and the mean size of conformal intervals, or of prediction sets.

    The intervals of each half of the test rows are calibrated on the other half. Weights are used in the
    observed coverage, but not in the calibration.
    """
    two_halves = random_halves(len(y), seed, MIN_TO_COVER)
    if two_halves is None:
        return None
    covered_in_both_halves = [
        _covered_and_size(model, X, y, metric, *order, seed)
        for order in (two_halves, two_halves[::-1])
    ]
    # The mean of each half, and the mean of both weighted by their total weights.
    weights = [None if weight is None else weight[half] for half in two_halves[::-1]]
    means = [
        [np.average(values, weights=of_half) for values in covered]
        for covered, of_half in zip(covered_in_both_halves, weights, strict=True)
    ]
    totals = None if weight is None else [float(weight[half].sum()) for half in two_halves[::-1]]
    inside, size = np.average(means, axis=0, weights=totals).tolist()
    name = "mean_width" if metric.needs == "number" else "mean_size"
    return {"nominal": NOMINAL, "observed": inside, name: size}


def _covered_and_size(
    model: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    first: np.ndarray,
    second: np.ndarray,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return which targets of the second half are covered, and the size of each interval or set."""
    wrapped = ConformalModel(model, prefit=True, random_state=seed).fit(take(X, first), y[first])
    if metric.needs == "number":
        intervals = wrapped.predict_interval(take(X, second), coverage=NOMINAL)
        inside = covered(y[second], intervals)
        return inside, intervals[:, 1] - intervals[:, 0]
    sets = wrapped.predict_set(take(X, second), coverage=NOMINAL)
    inside = covered(y[second], sets, classes=wrapped.classes_)
    return inside, np.asarray(sets).sum(axis=1)


def calibration_on(
    model: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    seed: int,
    weight: np.ndarray | None = None,
) -> dict[str, float] | None:
    """Return Brier score and calibration error, without and with calibration on the other half."""
    fewest = MIN_TO_CALIBRATE
    two_halves = random_halves(len(y), seed, fewest) if metric.needs != "number" else None
    if two_halves is None or not hasattr(model, "predict_proba"):
        return None
    uncalibrated = predictions_for(model, X, metric)
    calibrated = np.empty_like(uncalibrated)
    for train, test in (two_halves, two_halves[::-1]):
        if len(np.unique(y[train])) < len(metric.classes):
            return _brier_and_ece(y, uncalibrated, metric, calibration_error, weight)
        method = "isotonic" if len(train) >= 1000 else "platt"
        wrapped = CalibratedModel(model, method=method, cv="prefit")
        wrapped.fit(take(X, train), y[train], None if weight is None else weight[train])
        calibrated[test] = predictions_for(wrapped, take(X, test), metric)
    rows = np.sort(np.concatenate(two_halves))
    weight = None if weight is None else weight[rows]
    measures = _brier_and_ece(y[rows], uncalibrated[rows], metric, calibration_error, weight)
    measures_after = _brier_and_ece(y[rows], calibrated[rows], metric, calibration_error, weight)
    return measures | {f"{name}_after": value for name, value in measures_after.items()}


def _brier_and_ece(
    y: np.ndarray, p: np.ndarray, metric: Metric, error: Any, weight: np.ndarray | None
) -> dict[str, float]:
    numbers = class_numbers(y, metric.classes)
    p = p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300)
    if len(metric.classes) == 2:
        event = (numbers == metric.positive).astype(int)
        score = p[:, metric.positive]
        brier = float(np.average((score - event) ** 2, weights=weight))
        gap = error(event, score, classes=[0, 1], n_bootstrap=50, sample_weight=weight)
    else:
        truth = np.eye(len(metric.classes))[numbers]
        brier = float(np.average(((p - truth) ** 2).sum(axis=1), weights=weight))
        all_classes = np.arange(len(metric.classes))
        gap = error(numbers, p, classes=all_classes, n_bootstrap=50, sample_weight=weight)
    return {"brier": brier, "ece": float(gap.corrected)}


def certificate_of(model: Any) -> dict[str, Any] | None:
    """Return the certificate of a boosted model for the report: edges, errors and bounds per round."""
    certificate = getattr(model, "certificate_", None)
    if certificate is None:
        return None
    step = max(1, -(-certificate.n_rounds // MAX_ROUNDS))
    rounds = np.unique(
        np.append(np.arange(0, certificate.n_rounds, step), certificate.n_rounds - 1)
    )

    def column(values: Any) -> list[float] | None:
        return None if values is None else [float(v) for v in np.asarray(values)[rounds]]

    return {
        "text": str(certificate),
        "rounds": (rounds + 1).tolist(),
        "error": column(certificate.training_errors),
        "bound": column(certificate.training_error_bound),
        "edges": column(certificate.edges),
        "holds": bool(certificate.holds()),
    }


def margins_of(
    model: Any, X: Any, y: np.ndarray, metric: Metric, weight: np.ndarray | None = None
) -> Histogram | None:
    """Return a histogram of the margins of a boosted classifier, or None for other models.

    If the certificate has margins, these are used: margins of the vote on the training rows. Otherwise a
    margin is the probability of the true class minus the largest other probability, on the given rows.
    """
    if metric.needs == "number" or not _is_boosted(model):
        return None
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and certificate.margins is not None:
        return histogram(np.clip(certificate.margins, -1, 1))
    p = predictions_for(model, X, metric)
    rows, truth = np.arange(len(y)), class_numbers(y, metric.classes)
    true_probability = p[rows, truth]
    p[rows, truth] = -np.inf
    return histogram(true_probability - p.max(axis=1), weight=weight)


def _is_boosted(model: Any) -> bool:
    return type(model).__module__.startswith("bosquet.boosting")
