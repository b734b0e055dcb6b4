"""Which columns the winner goes by, and how its answer depends on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet.study._frames import take
from bosquet.study.record import Dependence
from bosquet.study.scoring import Metric, answer_of

# Columns that are permuted one by one; of more, those that the predictions follow most.
MOST_PERMUTED = 64
ROWS, REPEATS, FEWEST_ROWS = 2000, 3, 100
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
) -> list[dict[str, Any]]:
    """What the score loses when a column is permuted, the largest 100, largest first.

    With `seconds`, as many rows as there is time for at so many microseconds a row.
    """
    from bosquet.explain import importance

    columns = _followed(model, X, metric, seed)
    rows, repeats = min(ROWS, len(y)), REPEATS
    if seconds is not None:
        afford = int(seconds * 1e6 / (max(microseconds, 1.0) * (len(columns) + 1)))
        repeats = int(np.clip(afford // max(rows, 1), 1, REPEATS))
        rows = int(np.clip(afford // repeats, min(FEWEST_ROWS, rows), rows))
    chosen = np.sort(np.random.default_rng(seed).permutation(len(y))[:rows])
    some, truth = take(X, chosen), y[chosen]
    narrow = _with_the_rest_fixed(model, some, columns)

    def scoring(estimator: Any, table: Any, target: Any) -> float:
        return metric.sign * metric.score(target, answer_of(narrow(table), table, metric))

    found = importance(
        model,
        some[columns],
        truth,
        kind="permutation",
        scoring=scoring,
        n_repeats=repeats,
        random_state=seed,
    )
    order = np.argsort(-found.mean, kind="stable")
    spread = np.nan_to_num(found.scaled_std)
    return [
        {
            "feature": found.names[place],
            "value": float(found.scaled[place]),
            "spread": float(spread[place]),
        }
        for place in order
    ]


def _with_the_rest_fixed(model: Any, X: Any, columns: list[str]) -> Callable[[Any], Any]:
    """The model as one of some columns alone; the others have their own values in the same rows."""
    if len(columns) == X.shape[1]:
        return lambda table: model

    class Narrow:
        classes_ = getattr(model, "classes_", None)

        def __init__(self, table: Any):
            self.whole = X.assign(**{name: table[name].to_numpy() for name in columns})
            for name in columns:  # to_numpy loses types such as categories
                self.whole[name] = table[name].set_axis(X.index)

        def predict(self, table: Any) -> Any:
            return model.predict(self.whole)

        def __getattr__(self, name: str) -> Any:
            if name in ("predict_proba", "decision_function") and hasattr(model, name):
                return lambda table: getattr(model, name)(self.whole)
            raise AttributeError(name)

    return Narrow


def _followed(model: Any, X: Any, metric: Metric, seed: int) -> list[str]:
    """All columns, or of very many those whose values go most with the predictions."""
    names = list(X.columns)
    if len(names) <= MOST_PERMUTED:
        return names
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:500])
    some = take(X, rows)
    said = answer_of(model, some, metric)
    said = said if said.ndim == 1 else said[:, metric.positive if said.shape[1] == 2 else 0]
    shares = np.array([_explained_by(some.iloc[:, k], said) for k in range(len(names))])
    best = np.sort(np.argsort(-shares, kind="stable")[:MOST_PERMUTED])
    return [names[place] for place in best]


def _explained_by(column: Any, said: np.ndarray) -> float:
    """The share of the predictions' variance between ten parts of the column, or between its levels."""
    from pandas.api.types import is_numeric_dtype

    if is_numeric_dtype(column.dtype):
        values = column.to_numpy(dtype=float, na_value=np.nan)
        known = values[np.isfinite(values)]
        if known.size == 0:
            return 0.0
        group = np.searchsorted(np.unique(np.quantile(known, np.linspace(0.1, 0.9, 9))), values)
    else:
        group = column.astype("category").cat.codes.to_numpy() + 1
    counts = np.bincount(group)
    means = np.bincount(group, said)[counts > 0] / counts[counts > 0]
    total = said.var() * len(said)
    between = float((counts[counts > 0] * (means - said.mean()) ** 2).sum())
    return between / total if total > 0 else 0.0


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
) -> list[Dependence]:
    """The mean answer along the most important columns, with the middle 80 % of single rows' curves."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(X))[:CURVE_ROWS])
    some = take(X, rows)
    shown_class = _shown_class(y, metric)
    found: list[Dependence] = []
    for feature in features[:SHOWN]:
        if not enough_time():
            break
        one = _curves(model, some, X, feature)
        if one is None:
            continue
        grid, curves = one
        curves = _of_class(curves, model, shown_class)
        low, high = np.quantile(curves, [0.1, 0.9], axis=0)
        found.append(
            {
                "feature": feature,
                "grid": grid,
                "mean": curves.mean(axis=0).tolist(),
                "low": low.tolist(),
                "high": high.tolist(),
                "unit": target if shown_class is None else f"probability of {shown_class}",
            }
        )
    return found


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
    """Values to look at: the commonest levels, or numbers of the middle 96 % of rows.

    Numbers are spread evenly over the distinct ones, both ends included: a word that most letters do
    not have is 0 in most rows, and what happens at 0 is what one wants to see.
    """
    from pandas.api.types import is_numeric_dtype

    if not is_numeric_dtype(column.dtype):
        counts = column.value_counts()
        return counts[counts > 0].index[:MOST_LEVELS].tolist()
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


def _shown_class(y: np.ndarray, metric: Metric) -> Any:
    """The positive class of two, the commonest of several, None for numbers."""
    if metric.needs == "number":
        return None
    if len(metric.classes) == 2:
        return metric.classes[metric.positive]
    labels, counts = np.unique(y, return_counts=True)
    return labels[np.argmax(counts)]


def _of_class(curves: np.ndarray, model: Any, shown: Any) -> np.ndarray:
    if shown is None:
        return curves
    place = int(np.flatnonzero(np.asarray(model.classes_) == shown)[0])
    if curves.ndim == 3:
        return curves[:, :, place]
    return curves if place == 1 else 1 - curves  # one output is the second class
