"""How the prediction depends on one feature or two: partial dependence and the curves of single rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet import _core
from bosquet.data import n_rows, take_rows
from bosquet.explain._curves import Dependence
from bosquet.explain._models import TreeModel, tree_model, two_dimensional
from bosquet.explain._tables import (
    column_names,
    column_number,
    column_values,
    ordered_levels,
    row_count,
    take,
    with_numbers,
    with_rows,
)

# Curves of rows that are held at once, in numbers.
CURVES_AT_A_TIME = 4_000_000


def partial_dependence(
    model: Any,
    X: Any,
    features: Any = None,
    *,
    grid: Any = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    method: str = "auto",
    response: str = "auto",
    sample_weight: Any = None,
) -> Any:
    r"""The mean prediction when a feature is set to a value and the other features stay as they are.

    .. math:: \bar f_S(x_S) = \frac{1}{\sum w_i} \sum_i w_i\, f(x_S, x_{i, -S})

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : a feature, a pair of features, or a list of these; by default each feature
        By number or name. A feature of text or category type takes its levels as grid.
    grid : int or array, default=50
        Number of points, quantiles of the column, or the points themselves. Fewer distinct values are all
        taken.
    percentiles : what part of the column the grid spans
    method : "auto", "trees", "predict" or "recursion"
        Three ways to the same mean: "trees" reads it off Bosquet's trees, all features in one walk of each
        row; "predict" asks the model about changed rows, for models of any kind. "recursion" does without
        rows: the other features are averaged by the shares of training rows below each split, on the raw
        scale.
    response : "auto", "response" or "raw"
        Probabilities (of the second class, if there are two) and predicted numbers, or what is before the
        link; "auto" is "response", with method="recursion" it is "raw".
    sample_weight : array of shape (n_samples,), optional

    Returns
    -------
    Dependence, or a list of them

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import GradientBoostingRegressor
    >>> from bosquet.explain import partial_dependence
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> found = partial_dependence(model, X, "bmi", grid=[-0.05, 0.0, 0.1])
    >>> found.average.round().tolist()
    [131.0, 143.0, 207.0]

    References
    ----------
    Friedman, "Greedy function approximation: a gradient boosting machine", Annals of Statistics 2001.
    """
    return _dependences(
        model, X, features, grid, percentiles, method, response, sample_weight, keep=False
    )


def individual_conditional_expectation(
    model: Any,
    X: Any,
    feature: Any,
    *,
    grid: Any = 50,
    percentiles: tuple[float, float] = (0.05, 0.95),
    method: str = "auto",
    response: str = "auto",
    centre: bool = False,
) -> Dependence:
    """The prediction of each row along the values of a feature (ICE).

    Parameters are those of `partial_dependence`. With `centre` each curve starts from 0 at the first point,
    which shows where rows part.

    References
    ----------
    Goldstein and others, "Peeking inside the black box", Journal of Computational and Graphical
    Statistics 2015.
    """
    if method == "recursion":
        raise ValueError("method='recursion' has no rows, and so no curves of rows")
    found = _dependences(
        model, X, feature, grid, percentiles, method, response, None, keep=True, alone=True
    )
    if centre:
        found.individual = found.individual - found.individual[:, :1]
        found.average = found.average - found.average[:1]
    return found


def _dependences(
    model: Any,
    X: Any,
    features: Any,
    grid: Any,
    percentiles: tuple[float, float],
    method: str,
    response: str,
    sample_weight: Any,
    *,
    keep: bool,
    alone: bool = False,
) -> Any:
    if method not in ("auto", "trees", "predict", "recursion"):
        raise ValueError(f"method={method!r} must be 'auto', 'trees', 'predict' or 'recursion'")
    if response not in ("auto", "response", "raw"):
        raise ValueError(f"response={response!r} must be 'auto', 'response' or 'raw'")
    asked, single = _asked(X, features)
    if alone and len(asked[0]) != 1:
        raise ValueError("curves of rows are drawn along one feature")
    trees = tree_model(model)
    if trees is None and method in ("trees", "recursion"):
        raise TypeError(f"method={method!r} needs Bosquet's trees; use method='predict'")
    weight = _weights(sample_weight, row_count(X))
    grids = {f: make_grid(X, f, grid, percentiles) for some in asked for f in some}
    if method == "recursion":
        assert trees is not None
        found = [_recursion(trees, X, some, grids, response) for some in asked]
    else:
        kind = "raw" if response == "raw" else "response"
        work = Evaluation(model, trees if method != "predict" else None, X, kind, weight, keep)
        found = work.all(asked, grids)
    return found[0] if single else found


def _asked(X: Any, features: Any) -> tuple[list[tuple[int, ...]], bool]:
    """Tuples of one or two columns, and whether only one was asked for."""
    if features is None:
        return [(f,) for f in range(len(column_names(X)))], False
    if isinstance(features, str | int | np.integer):
        return [(column_number(X, features),)], True
    if isinstance(features, tuple):
        if len(features) != 2:
            raise ValueError(f"features={features!r}: dependence is on one feature or on a pair")
        pair = (column_number(X, features[0]), column_number(X, features[1]))
        if pair[0] == pair[1]:
            raise ValueError(f"features={features!r}: a pair needs two different features")
        return [pair], True
    return [_asked(X, one)[0][0] for one in features], False


def _weights(given: Any, rows: int) -> np.ndarray:
    if given is None:
        return np.full(rows, 1 / rows)
    weight = np.asarray(given, dtype=float)
    if weight.shape != (rows,) or (weight < 0).any() or not weight.sum() > 0:
        raise ValueError(f"sample_weight must hold {rows} numbers, none below 0 and not all 0")
    return weight / weight.sum()


def make_grid(
    X: Any, column: int, grid: Any, percentiles: tuple[float, float] = (0, 1)
) -> np.ndarray:
    """Points for a column: quantiles or all its values, or for levels the levels."""
    values = column_values(X, column)
    if values.dtype == object:
        present = {value for value in values if value is not None and value == value}
        known = ordered_levels(X, column) or sorted(present, key=str)
        levels = [level for level in known if level in present]
        if not isinstance(grid, int | np.integer):
            levels = [level for level in grid if level in levels]
        return np.array(levels, dtype=object)
    if not isinstance(grid, int | np.integer):
        return np.unique(np.asarray(grid, dtype=float))
    if grid < 2:
        raise ValueError(f"grid={grid} must be at least 2 points, or an array of them")
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ValueError(f"percentiles={percentiles!r} must be two shares, the first the smaller")
    values = values[np.isfinite(values)]
    if values.size == 0:
        raise ValueError(f"feature {column_names(X)[column]!r} has no values to make a grid of")
    distinct = np.unique(values)
    if distinct.size <= grid:
        return distinct
    return np.unique(np.quantile(values, np.linspace(low, high, int(grid))))


class Evaluation:
    """Predictions of rows with one or two columns set to the points of a grid."""

    def __init__(
        self,
        model: Any,
        trees: TreeModel | None,
        X: Any,
        kind: str,
        weight: np.ndarray,
        keep: bool,
    ):
        self.model, self.trees, self.X = model, trees, X
        self.kind, self.weight, self.keep = kind, weight, keep
        self.names = column_names(X)
        self.output_names = trees.output_names if trees else None

    def all(self, asked: Sequence[tuple[int, ...]], grids: dict[int, np.ndarray]) -> list[Any]:
        """A Dependence for each tuple of columns; quantitative single ones of trees in one go."""
        walked = [
            some[0]
            for some in asked
            if self.trees and len(some) == 1 and self._quantitative(some[0])
        ]
        curves = self._walk(walked, grids) if walked else {}
        found = []
        for some in asked:
            if len(some) == 1 and some[0] in curves:
                average, individual = curves[some[0]]
            else:
                average, individual = self._ask(some, grids)
            found.append(
                Dependence(
                    [self.names[f] for f in some],
                    [grids[f] for f in some],
                    _squeezed(average),
                    None if individual is None else _squeezed(individual),
                    self.kind,
                    self.output_names,
                )
            )
        return found

    def _quantitative(self, column: int) -> bool:
        assert self.trees is not None
        return self.trees.encoder.levels[column] is None

    def _respond(self, raw: np.ndarray) -> np.ndarray:
        """Raw predictions (rows, outputs) on the scale asked for; of two classes the second."""
        assert self.trees is not None
        if self.kind == "raw":
            return raw
        answer = self.trees.response(raw)
        return answer[:, 1:] if answer.shape[1] == 2 and raw.shape[1] == 1 else answer

    def _walk(self, columns: list[int], grids: dict[int, np.ndarray]) -> dict[int, Any]:
        assert self.trees is not None
        trees = self.trees
        columns = list(dict.fromkeys(columns))
        data = trees.columns(self.X, type(self.model).__name__)
        points = sum(grids[f].size for f in columns)
        rows = n_rows(data)
        ends = np.cumsum([grids[f].size for f in columns])[:-1]
        points_of = [grids[f].tolist() for f in columns]
        if not self.keep and (self.kind == "raw" or trees.linear):
            raw = trees.scale * _core.mean_predictions(
                trees.ensemble, data, columns, points_of, self.weight, trees.threads
            )
            averages = np.split(self._respond(raw), ends, axis=0)
            return {f: (mean, None) for f, mean in zip(columns, averages, strict=True)}
        step = max(1, CURVES_AT_A_TIME // (points * trees.ensemble.n_outputs))
        total, kept = None, []
        for begin in range(0, rows, step):
            some = np.arange(begin, min(begin + step, rows))
            part = data if some.size == rows else take_rows(data, some)
            raw = _core.conditional_predictions(
                trees.ensemble, part, columns, points_of, trees.threads
            )
            if trees.scale != 1:
                raw *= trees.scale
            answer = self._respond(raw.reshape(-1, raw.shape[2])).reshape(some.size, points, -1)
            added = np.tensordot(self.weight[some], answer, axes=1)
            total = added if total is None else total + added
            if self.keep:
                kept.append(answer)
        assert total is not None
        averages = np.split(total, ends, axis=0)
        curves = (
            np.split(np.concatenate(kept), ends, axis=1) if self.keep else [None] * len(columns)
        )
        return {f: pair for f, *pair in zip(columns, averages, curves, strict=True)}

    def _ask(self, some: tuple[int, ...], grids: dict[int, np.ndarray]) -> tuple[Any, Any]:
        """By predictions of changed tables."""
        shape = tuple(grids[f].size for f in some)
        answers = []
        for point in np.ndindex(*shape):
            changed = self.X
            for column, place in zip(some, point, strict=True):
                changed = set_column(changed, self.X, column, grids[column][place])
            answers.append(self.predictions(changed))
        stacked = np.stack(answers, axis=1)  # (rows, points, outputs)
        average = np.tensordot(self.weight, stacked, axes=1).reshape(*shape, -1)
        individual = stacked.reshape(len(stacked), *shape, -1) if self.keep else None
        return average, individual

    def predictions(self, X: Any) -> np.ndarray:
        """(rows, outputs)."""
        if self.trees is not None:
            return self._respond(self.trees.raw(self.trees.columns(X, type(self.model).__name__)))
        return plain_predictions(self.model, X, self.kind)


def plain_predictions(model: Any, X: Any, kind: str = "response") -> np.ndarray:
    """What any model with scikit-learn's methods says: (rows, outputs); of two classes the second."""
    if kind == "raw" and hasattr(model, "decision_function"):
        return two_dimensional(np.asarray(model.decision_function(X)))
    if hasattr(model, "predict_proba"):
        answer = np.asarray(model.predict_proba(X))
        return answer[:, 1:] if answer.shape[1] == 2 else answer
    return two_dimensional(np.asarray(model.predict(X), dtype=float))


def set_column(changed: Any, source: Any, column: int, value: Any) -> Any:
    """A table with one value in a column: a number, or a level that `source` has somewhere."""
    values = column_values(source, column)
    if values.dtype != object:
        return with_numbers(changed, column, value)
    row = int(np.flatnonzero(values == value)[0])
    return with_rows(changed, [column], np.full(row_count(source), row))


def _squeezed(values: np.ndarray) -> np.ndarray:
    return values[..., 0] if values.shape[-1] == 1 else values


def _recursion(
    trees: TreeModel, X: Any, some: tuple[int, ...], grids: dict[int, np.ndarray], response: str
) -> Dependence:
    if response == "response":
        raise ValueError(
            "method='recursion' averages raw predictions: use response='raw', or another method"
        )
    codes = [_codes(trees, X, f, grids[f]) for f in some]
    points = np.stack(np.meshgrid(*codes, indexing="ij"), axis=-1).reshape(-1, len(some))
    raw = trees.scale * _core.expected_predictions(
        trees.ensemble, list(some), np.ascontiguousarray(points, dtype=float)
    )
    average = raw.reshape(*(grids[f].size for f in some), -1)
    names = column_names(X)
    return Dependence(
        [names[f] for f in some],
        [grids[f] for f in some],
        _squeezed(average),
        None,
        "raw",
        trees.output_names,
    )


def _codes(trees: TreeModel, X: Any, column: int, grid: np.ndarray) -> np.ndarray:
    """Points of a grid as the core knows them."""
    if trees.encoder.levels[column] is None:
        return grid.astype(float)
    values = column_values(X, column)
    rows = [int(np.flatnonzero(values == level)[0]) for level in grid]
    return np.asarray(trees.columns(take(X, rows), "partial_dependence")[column], dtype=float)
