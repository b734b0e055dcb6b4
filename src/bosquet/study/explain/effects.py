"""Which columns the winner goes by, and how its answer depends on them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet.study.metrics.scoring import Metric, answer_of
from bosquet.study.record import Dependence
from bosquet.study.table.frames import take

# Columns that are permuted one by one; of more, those that the predictions follow most.
MOST_PERMUTED = 64
ROWS, REPEATS, FEWEST_ROWS, FEWEST_CALLS = 2000, 3, 100, 12
# Values of a table that the model is asked about at once.
MOST_VALUES = 10_000_000
SHOWN = 6  # columns whose dependence is drawn
CURVE_ROWS, GRID, MOST_LEVELS = 200, 25, 30


def importances(
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
    """What the score loses when a column is permuted, as a share of the largest loss in percent.

    Largest first, with the standard error over permutations. With `seconds`, of as many rows as there is
    time for at so many microseconds a row, and of as many columns. With weights, rows count by them in the
    score, and their values come as often among those that are put in. A column `left_out` is no feature.
    """
    rows = min(ROWS, len(y), max(MOST_VALUES // X.shape[1], FEWEST_ROWS))
    if seconds is not None:
        afford = int(seconds * 1e6 / (max(microseconds, 1.0) * min(X.shape[1] + 1, MOST_PERMUTED)))
        rows = int(np.clip(afford, min(FEWEST_ROWS, rows), rows))
    random = np.random.default_rng(seed)
    chosen = np.sort(random.permutation(len(y))[:rows])
    some, truth = take(X, chosen).copy(), y[chosen]
    counted = None if weight is None else weight[chosen]
    put_in = rows_by_weight(rows, counted)
    # How long the model takes to answer has a part that no number of rows takes away.
    began = time.perf_counter()
    whole = metric.score(truth, answer_of(model, some, metric), counted)
    calls = MOST_PERMUTED * REPEATS
    if seconds is not None:
        one_answer = max(time.perf_counter() - began, 1e-6)
        calls = int(np.clip(seconds / one_answer, FEWEST_CALLS, calls))
    columns = _followed(model, some, metric, min(calls, MOST_PERMUTED), left_out)
    repeats = int(np.clip(calls // len(columns), 1, REPEATS))
    losses = np.empty((repeats, len(columns)))
    for place, name in enumerate(columns):
        own = some[name]
        for repeat in range(repeats):
            some[name] = take(own, random.permutation(put_in)).set_axis(some.index)
            score = metric.score(truth, answer_of(model, some, metric), counted)
            losses[repeat, place] = metric.sign * (whole - score)
        some[name] = own
    return _largest_first(columns, losses)


def rows_by_weight(rows: int, weight: np.ndarray | None) -> np.ndarray:
    """As many numbers of rows as there are rows, each as often as its weight has it; without weights once.

    Systematic sampling: the same for equal weights, and no more random than the weights make it.
    """
    if weight is None:
        return np.arange(rows)
    reached = np.cumsum(weight) / weight.sum()
    return np.searchsorted(reached, (np.arange(rows) + 0.5) / rows).clip(0, rows - 1)


def _largest_first(columns: list[str], losses: np.ndarray) -> list[dict[str, Any]]:
    mean, n = losses.mean(axis=0), len(losses)
    spread = losses.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(len(columns))
    factor = 100 / mean.max() if mean.max() > 0 else 0.0
    return [
        {
            "feature": columns[place],
            "value": float(factor * mean[place]),
            "spread": float(factor * spread[place]),
        }
        for place in np.argsort(-mean, kind="stable")
    ]


def _followed(model: Any, X: Any, metric: Metric, most: int, left_out: str | None) -> list[str]:
    """All columns, or of more than `most` those whose values go most with the predictions."""
    names = [name for name in X.columns if name != left_out]
    if len(names) <= most:
        return names
    some = X[:500]
    said = answer_of(model, some, metric)
    said = said if said.ndim == 1 else said[:, metric.positive if said.shape[1] == 2 else 0]
    shares = _explained(some[names], said)
    best = np.sort(np.argsort(-shares, kind="stable")[:most])
    return [names[place] for place in best]


def _explained(X: Any, said: np.ndarray) -> np.ndarray:
    """The share of the predictions' variance that each column explains alone, roughly.

    A number by a line, or by its distance from the median; a category by its levels.
    """
    from pandas.api.types import is_numeric_dtype

    shares = np.zeros(X.shape[1])
    number = np.array([is_numeric_dtype(dtype) for dtype in X.dtypes])
    if number.any():
        values = X.loc[:, number].to_numpy(dtype=float, na_value=np.nan)
        values = np.where(np.isfinite(values), values, np.nan)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of columns without any value
            middle = np.nanmedian(values, axis=0)
        values = np.where(np.isnan(values), middle, values) - middle
        shares[number] = np.fmax(_squared_correlation(values, said), 0.0)
        shares[number] = np.fmax(shares[number], _squared_correlation(np.abs(values), said))
    for place in np.flatnonzero(~number):
        group = X.iloc[:, place].astype("category").cat.codes.to_numpy() + 1
        counts = np.bincount(group)
        means = np.bincount(group, said)[counts > 0] / counts[counts > 0]
        total = said.var() * len(said)
        between = float((counts[counts > 0] * (means - said.mean()) ** 2).sum())
        shares[place] = between / total if total > 0 else 0.0
    return shares


def _squared_correlation(values: np.ndarray, said: np.ndarray) -> np.ndarray:
    centred, other = values - values.mean(axis=0), said - said.mean()
    with np.errstate(all="ignore"):
        return (other @ centred) ** 2 / ((centred**2).sum(axis=0) * (other @ other))


def dependences(
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
) -> list[Dependence]:
    """The mean answer along the most important columns, with the middle 80 % of single rows' curves."""
    most = max(MOST_VALUES // (X.shape[1] * GRID), 20)
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[: min(CURVE_ROWS, most)])
    some = take(X, rows)
    counted = None if weight is None else weight[rows]
    shown_class = _shown_class(y, metric, weight)
    found: list[Dependence] = []
    for feature in features[:SHOWN]:
        if not enough_time():
            break
        one = _curves(model, some, X, feature)
        if one is None:
            continue
        grid, curves = one
        curves = _of_class(curves, model, shown_class)
        low, high = _quantiles(curves, [0.1, 0.9], counted)
        found.append(
            {
                "feature": feature,
                "grid": grid,
                "mean": np.average(curves, axis=0, weights=counted).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "unit": target if shown_class is None else f"probability of {shown_class}",
            }
        )
    return found


def _quantiles(curves: np.ndarray, shares: list[float], weight: np.ndarray | None) -> np.ndarray:
    """Quantiles over rows at each point of the curves; with weights the value that reaches the share."""
    if weight is None:
        return np.quantile(curves, shares, axis=0)
    order = np.argsort(curves, axis=0, kind="stable")
    reached = np.cumsum(weight[order], axis=0)
    values = np.take_along_axis(curves, order, axis=0)
    wanted = [(reached >= share * reached[-1] * (1 - 1e-12)).argmax(axis=0) for share in shares]
    return np.take_along_axis(values, np.array(wanted), axis=0)


def _curves(model: Any, some: Any, X: Any, feature: str) -> tuple[list[Any], np.ndarray] | None:
    """The points of a column, and the curves of rows along them: (rows, points[, outputs])."""
    from bosquet.explain import individual_conditional_expectation
    from bosquet.explain._models import tree_model

    points = _points(X[feature])
    if len(points) == 0:
        return None
    grid = [float(value) if is_number(value) else str(value) for value in points]
    if tree_model(model) is not None and is_number(points[0]):
        found = individual_conditional_expectation(model, some, feature, grid=points)
        assert found.individual is not None
        return grid, found.individual
    return grid, _asked_at_once(model, some, X, feature, points)


def _points(column: Any) -> Any:
    """Values to look at: the commonest levels (of an ordered category in their order), or numbers of the
    middle 96 % of rows.

    Numbers are spread evenly over the distinct ones, both ends included: a word that most letters do
    not have is 0 in most rows, and what happens at 0 is what one wants to see.
    """
    from pandas.api.types import is_numeric_dtype

    if not is_numeric_dtype(column.dtype):
        counts = column.value_counts()
        levels = counts[counts > 0].index[:MOST_LEVELS].tolist()
        if getattr(column.dtype, "ordered", False):
            levels.sort(key=column.cat.categories.tolist().index)
        return levels
    known = column.to_numpy(dtype=float, na_value=np.nan)
    known = known[np.isfinite(known)]
    if len(np.unique(known)) <= GRID:
        return np.unique(known)
    low, high = np.quantile(known, [0.02, 0.98])
    middle = np.unique(known[(known >= low) & (known <= high)])
    return np.unique(np.quantile(middle, np.linspace(0, 1, min(GRID, len(middle)))))


def _asked_at_once(model: Any, some: Any, X: Any, feature: str, points: Any) -> np.ndarray:
    """All rows at all points in one table; a value is taken from a row that has it, so that types stay."""
    n, k = len(some), len(points)
    table = take(some, np.repeat(np.arange(n), k)).reset_index(drop=True)
    if is_number(points[0]):
        table[feature] = np.tile(np.asarray(points, dtype=float), n)
    else:
        values = X[feature].to_numpy()
        rows = [int(np.flatnonzero(values == point)[0]) for point in points]
        table[feature] = X[feature].take(np.tile(rows, n)).reset_index(drop=True)
    if hasattr(model, "predict_proba"):
        said = np.asarray(model.predict_proba(table), dtype=float)
        return said.reshape(n, k, -1)
    said = np.asarray(model.predict(table))
    if hasattr(model, "classes_"):
        return (said[:, None] == np.asarray(model.classes_)).astype(float).reshape(n, k, -1)
    return said.astype(float).reshape(n, k)


def is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool | np.bool_)


def _shown_class(y: np.ndarray, metric: Metric, weight: np.ndarray | None) -> Any:
    """The positive class of two, the commonest of several, None for numbers."""
    if metric.needs == "number":
        return None
    if len(metric.classes) == 2:
        return metric.classes[metric.positive]
    labels, places = np.unique(y, return_inverse=True)
    return labels[np.argmax(np.bincount(places, weight))]


def _of_class(curves: np.ndarray, model: Any, shown: Any) -> np.ndarray:
    if shown is None:
        return curves
    place = int(np.flatnonzero(np.asarray(model.classes_) == shown)[0])
    if curves.ndim == 3:
        return curves[:, :, place]
    return curves if place == 1 else 1 - curves  # one output is the second class
