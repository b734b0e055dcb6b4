"""Permutation importances and partial dependence of the chosen model."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet.explain import individual_conditional_expectation
from bosquet.explain.tree_models import tree_model
from bosquet.study.metrics.metric import Metric, predictions_for
from bosquet.study.record import DependenceRecord
from bosquet.study.table.frames import take

# Largest number of columns to permute; if there are more, those most related to the predictions.
MAX_PERMUTED = 64
# Largest number of rows for permutation importances, and of permutations per column.
ROWS = 2000
REPEATS = 3
# However short the time, there are at least this many rows and predictions of the permuted table.
MIN_ROWS_PERMUTED = 100
MIN_CALLS = 12
# Largest number of values in a table that the model predicts at once.
MAX_VALUES = 10_000_000
SHOWN = 6  # columns with a dependence plot
# Rows over which a dependence plot averages, points of a number, and most levels of a category.
CURVE_ROWS = 200
GRID = 25
MAX_LEVELS = 30


def permutation_importances(
    model: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    *,
    seconds: float | None,
    microseconds: float,
    seed: int,
    weight: np.ndarray | None = None,
    left_out: str | None = None,
) -> list[dict[str, Any]]:
    """Return permutation importances in percent of the largest, with standard errors, largest first.

    With a limit of `seconds`, rows and columns are reduced to what the prediction time of `microseconds` per
    row allows. With weights the score is weighted, and rows are drawn for the permuted column in proportion
    to their weights. The column `left_out` is not a feature.
    """
    rows = min(ROWS, len(y), max(MAX_VALUES // X.shape[1], MIN_ROWS_PERMUTED))
    if seconds is not None:
        affordable_columns = int(
            seconds * 1e6 / (max(microseconds, 1.0) * min(X.shape[1] + 1, MAX_PERMUTED))
        )
        rows = int(np.clip(affordable_columns, min(MIN_ROWS_PERMUTED, rows), rows))
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(len(y))[:rows])
    sample, truth = take(X, chosen).copy(), y[chosen]
    chosen_weight = None if weight is None else weight[chosen]
    drawn_rows = rows_by_weight(rows, chosen_weight)
    # A call has a fixed cost besides the cost per row, so one call is timed.
    start_time = time.perf_counter()
    unpermuted = metric.score(truth, predictions_for(model, sample, metric), chosen_weight)
    calls = MAX_PERMUTED * REPEATS
    if seconds is not None:
        one_call = max(time.perf_counter() - start_time, 1e-6)
        calls = int(np.clip(seconds / one_call, MIN_CALLS, calls))
    columns = _most_related(model, sample, metric, min(calls, MAX_PERMUTED), left_out)
    repeats = int(np.clip(calls // len(columns), 1, REPEATS))
    losses = np.empty((repeats, len(columns)))
    for k, name in enumerate(columns):
        unpermuted_column = sample[name]
        for repeat in range(repeats):
            sample[name] = take(unpermuted_column, rng.permutation(drawn_rows)).set_axis(
                sample.index
            )
            score = metric.score(truth, predictions_for(model, sample, metric), chosen_weight)
            losses[repeat, k] = metric.sign * (unpermuted - score)
        sample[name] = unpermuted_column
    return _largest_first(columns, losses)


def rows_by_weight(n_rows: int, weight: np.ndarray | None) -> np.ndarray:
    """Return `n_rows` row indices, each as often as its weight implies; without weights each once.

    Systematic sampling is used, which is deterministic: with equal weights each row is drawn once.
    """
    if weight is None:
        return np.arange(n_rows)
    cumulative = np.cumsum(weight) / weight.sum()
    return np.searchsorted(cumulative, (np.arange(n_rows) + 0.5) / n_rows).clip(0, n_rows - 1)


def _largest_first(columns: list[str], losses: np.ndarray) -> list[dict[str, Any]]:
    mean, n = losses.mean(axis=0), len(losses)
    spread = losses.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(columns))
    factor = 100 / mean.max() if mean.max() > 0 else 0.0
    return [
        {
            "feature": columns[k],
            "value": float(factor * mean[k]),
            "spread": float(factor * spread[k]),
        }
        for k in np.argsort(-mean, kind="stable")
    ]


def _most_related(
    model: Any, X: Any, metric: Metric, max_columns: int, left_out: str | None
) -> list[str]:
    """Return all columns or, if there are more than `max_columns`, those most related to the predictions."""
    names = [name for name in X.columns if name != left_out]
    if len(names) <= max_columns:
        return names
    sample = X[:500]
    predicted = predictions_for(model, sample, metric)
    if predicted.ndim == 2:
        predicted = predicted[:, metric.positive if predicted.shape[1] == 2 else 0]
    shares = _explained_variance(sample[names], predicted)
    best = np.sort(np.argsort(-shares, kind="stable")[:max_columns])
    return [names[k] for k in best]


def _explained_variance(X: Any, predicted: np.ndarray) -> np.ndarray:
    """Return the approximate share of the variance of predictions that each column explains alone.

    A number explains it by a line in the number or in its distance from the median, a category by its levels.
    """
    from pandas.api.types import is_numeric_dtype

    shares = np.zeros(X.shape[1])
    number = np.array([is_numeric_dtype(dtype) for dtype in X.dtypes])
    if number.any():
        values = X.loc[:, number].to_numpy(dtype=float, na_value=np.nan)
        values = np.where(np.isfinite(values), values, np.nan)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nanmedian warns of columns without values
            middle = np.nanmedian(values, axis=0)
        values = np.where(np.isnan(values), middle, values) - middle
        shares[number] = np.fmax(_squared_correlation(values, predicted), 0.0)
        shares[number] = np.fmax(shares[number], _squared_correlation(np.abs(values), predicted))
    for column in np.flatnonzero(~number):
        group = X.iloc[:, column].astype("category").cat.codes.to_numpy() + 1
        counts = np.bincount(group)
        means = np.bincount(group, predicted)[counts > 0] / counts[counts > 0]
        total = predicted.var() * len(predicted)
        between = float((counts[counts > 0] * (means - predicted.mean()) ** 2).sum())
        shares[column] = between / total if total > 0 else 0.0
    return shares


def _squared_correlation(values: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    centred, other = values - values.mean(axis=0), predicted - predicted.mean()
    with np.errstate(all="ignore"):
        return (other @ centred) ** 2 / ((centred**2).sum(axis=0) * (other @ other))


def dependence_records(
    model: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    target: str,
    features: list[str],
    *,
    enough_time: Callable[[], bool],
    seed: int,
    weight: np.ndarray | None = None,
) -> list[DependenceRecord]:
    """Return the partial dependence on the most important columns.

    Each curve is the mean prediction, with the 10 % and 90 % quantiles of the curves of single rows.
    """
    max_rows = max(MAX_VALUES // (X.shape[1] * GRID), 20)
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[: min(CURVE_ROWS, max_rows)])
    sample = take(X, rows)
    some_weight = None if weight is None else weight[rows]
    shown_class = _shown_class(y, metric, weight)
    records: list[DependenceRecord] = []
    for feature in features[:SHOWN]:
        if not enough_time():
            break
        grid_and_curves = _dependence_curves(model, sample, X, feature)
        if grid_and_curves is None:
            continue
        grid, curves = grid_and_curves
        curves = _curves_of_class(curves, model, shown_class)
        low, high = _weighted_quantiles(curves, [0.1, 0.9], some_weight)
        records.append(
            {
                "feature": feature,
                "grid": grid,
                "mean": np.average(curves, axis=0, weights=some_weight).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "unit": target if shown_class is None else f"probability of {shown_class}",
            }
        )
    return records


def _weighted_quantiles(
    curves: np.ndarray, shares: list[float], weight: np.ndarray | None
) -> np.ndarray:
    """Return (weighted) quantiles over rows at each point of the curves."""
    if weight is None:
        return np.quantile(curves, shares, axis=0)
    order = np.argsort(curves, axis=0, kind="stable")
    cumulative = np.cumsum(weight[order], axis=0)
    values = np.take_along_axis(curves, order, axis=0)
    ranks = [
        (cumulative >= share * cumulative[-1] * (1 - 1e-12)).argmax(axis=0) for share in shares
    ]
    return np.take_along_axis(values, np.array(ranks), axis=0)


def _dependence_curves(
    model: Any, sample: Any, X: Any, feature: str
) -> tuple[list[Any], np.ndarray] | None:
    """Return the grid of a column, and the curves of rows on it: (rows, points[, outputs])."""
    points = _grid_of_column(X[feature])
    if len(points) == 0:
        return None
    grid = [float(value) if is_number(value) else str(value) for value in points]
    if tree_model(model) is not None and is_number(points[0]):
        dependence = individual_conditional_expectation(model, sample, feature, grid=points)
        assert dependence.individual is not None
        return grid, dependence.individual
    return grid, _predict_on_grid(model, sample, X, feature, points)


def _grid_of_column(column: Any) -> Any:
    """Return the grid of a column: its most frequent levels, or numbers of the middle 96 % of its values.

    The grid consists of quantiles of the distinct values, with both ends. With quantiles of all values, a
    column that is 0 in most rows would have a grid of zeros. Levels of an ordered category keep their order.
    """
    from pandas.api.types import is_numeric_dtype

    if not is_numeric_dtype(column.dtype):
        counts = column.value_counts()
        levels = counts[counts > 0].index[:MAX_LEVELS].tolist()
        if getattr(column.dtype, "ordered", False):
            levels.sort(key=column.cat.categories.tolist().index)
        return levels
    finite = column.to_numpy(dtype=float, na_value=np.nan)
    finite = finite[np.isfinite(finite)]
    if len(np.unique(finite)) <= GRID:
        return np.unique(finite)
    low, high = np.quantile(finite, [0.02, 0.98])
    middle = np.unique(finite[(finite >= low) & (finite <= high)])
    return np.unique(np.quantile(middle, np.linspace(0, 1, min(GRID, len(middle)))))


def _predict_on_grid(model: Any, sample: Any, X: Any, feature: str, points: Any) -> np.ndarray:
    """Return the predictions for all rows at all points of the grid, in one call."""
    n, k = len(sample), len(points)
    table = take(sample, np.repeat(np.arange(n), k)).reset_index(drop=True)
    if is_number(points[0]):
        table[feature] = np.tile(np.asarray(points, dtype=float), n)
    else:
        # Levels are taken from rows that have them, which keeps the type.
        values = X[feature].to_numpy()
        rows = [int(np.flatnonzero(values == point)[0]) for point in points]
        table[feature] = X[feature].take(np.tile(rows, n)).reset_index(drop=True)
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(table), dtype=float).reshape(n, k, -1)
    predicted = np.asarray(model.predict(table))
    if hasattr(model, "classes_"):
        return (predicted[:, None] == np.asarray(model.classes_)).astype(float).reshape(n, k, -1)
    return predicted.astype(float).reshape(n, k)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _shown_class(y: np.ndarray, metric: Metric, weight: np.ndarray | None) -> Any:
    """Return the positive class of two, the most frequent of several, None for regression."""
    if metric.needs == "number":
        return None
    if len(metric.classes) == 2:
        return metric.classes[metric.positive]
    labels, codes = np.unique(y, return_inverse=True)
    return labels[np.argmax(np.bincount(codes, weight))]


def _curves_of_class(curves: np.ndarray, model: Any, shown_class: Any) -> np.ndarray:
    if shown_class is None:
        return curves
    index = int(np.flatnonzero(np.asarray(model.classes_) == shown_class)[0])
    if curves.ndim == 3:
        return curves[:, :, index]
    return curves if index == 1 else 1 - curves  # a single output is that of the second class
