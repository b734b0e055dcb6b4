"""Partial dependence and individual conditional expectation of one feature or a pair."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet import _core
from bosquet._weights import check_sample_weight
from bosquet.data import count_rows, take_rows
from bosquet.explain._curves import Dependence
from bosquet.explain._tables import (
    column_names,
    column_number,
    column_values,
    ordered_levels,
    row_count,
    select_rows,
    with_numbers,
    with_rows,
)
from bosquet.explain.tree_models import TreeModel, tree_model, two_dimensional

# Limits the memory for curves of rows, as a number of predictions.
MAX_PREDICTIONS_IN_MEMORY = 4_000_000


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
    r"""Compute partial dependence: the mean prediction if a feature is set to a value in all rows.

    .. math:: \bar f_S(x_S) = \frac{1}{\sum w_i} \sum_i w_i\, f(x_S, x_{i, -S})

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : index, name, tuple of two, or list of these, default=None
        A feature, a pair of features as a tuple, or a list of them (default: each feature). The grid of a
        feature of text or category type is the list of its levels.
    grid : int or array, default=50
        Number of grid points, which are quantiles of the column, or the points themselves. If the column
        has no more distinct values than that, all of them are used.
    percentiles : tuple of float, default=(0.05, 0.95)
        Quantiles between which the grid lies.
    method : {"auto", "trees", "predict", "recursion"}, default="auto"
        "trees" and "predict" compute the same mean. "trees" needs Bosquet's trees and is faster: one pass
        over the rows serves all features. "predict" calls the model on changed rows, and works for any
        model. "recursion" needs no rows: it averages over the other features with the fractions of
        training rows below each split, as raw predictions. "auto" uses "trees" if possible.
    response : {"auto", "response", "raw"}, default="auto"
        "response": probabilities (of the second class, if there are two) or predicted numbers. "raw":
        values before the inverse link. "auto" is "raw" for method="recursion", else "response".
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
        model, X, features, grid, percentiles, method, response, sample_weight, keep_rows=False
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
    """Compute individual conditional expectation (ICE): each row's prediction along the values of a feature.

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
        One curve is computed for each of these rows.
    feature : index or name
    grid, percentiles, response
        As in `partial_dependence`.
    method : {"auto", "trees", "predict"}, default="auto"
        As in `partial_dependence`.
    centre : bool, default=False
        Whether each curve starts from 0 at the first grid point, which shows where the curves of the rows
        diverge.

    Returns
    -------
    Dependence
        `individual` has one row per row of X, `average` is the partial dependence.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from bosquet import GradientBoostingRegressor
    >>> from bosquet.explain import individual_conditional_expectation
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = GradientBoostingRegressor(n_estimators=50, random_state=0).fit(X, y)
    >>> curves = individual_conditional_expectation(model, X, "bmi", grid=20)
    >>> curves.individual.shape, curves.average.shape
    ((442, 20), (20,))

    References
    ----------
    Goldstein and others, "Peeking inside the black box", Journal of Computational and Graphical
    Statistics 2015.
    """
    if method == "recursion":
        raise ValueError(
            "method='recursion' gives no curves of single rows; use method='auto', 'trees' or 'predict'"
        )
    dependence = _dependences(
        model,
        X,
        feature,
        grid,
        percentiles,
        method,
        response,
        None,
        keep_rows=True,
        one_feature=True,
    )
    if centre:
        dependence.individual = dependence.individual - dependence.individual[:, :1]
        dependence.average = dependence.average - dependence.average[:1]
    return dependence


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
    keep_rows: bool,
    one_feature: bool = False,
) -> Any:
    if method not in ("auto", "trees", "predict", "recursion"):
        raise ValueError(
            f"method={method!r} is not valid: method must be 'auto', 'trees', 'predict' or 'recursion'"
        )
    if response not in ("auto", "response", "raw"):
        raise ValueError(
            f"response={response!r} is not valid: response must be 'auto', 'response' or 'raw'"
        )
    column_sets, single = _column_sets(X, features)
    if one_feature and len(column_sets[0]) != 1:
        raise ValueError(
            f"feature={features!r} is not valid: feature must be one feature; ICE curves need exactly one"
        )
    trees = tree_model(model)
    if trees is None and method in ("trees", "recursion"):
        raise TypeError(
            f"method={method!r} needs a Bosquet model made of trees, but the model is a"
            f" {type(model).__name__}; use method='predict'"
        )
    weight = _weights(sample_weight, row_count(X))
    grids = {f: make_grid(X, f, grid, percentiles) for columns in column_sets for f in columns}
    if method == "recursion":
        assert trees is not None
        results = [_recursion(trees, X, columns, grids, response) for columns in column_sets]
    else:
        kind = "raw" if response == "raw" else "response"
        evaluator = GridEvaluator(
            model, trees if method != "predict" else None, X, kind, weight, keep_rows
        )
        results = evaluator.dependences(column_sets, grids)
    return results[0] if single else results


def _column_sets(X: Any, features: Any) -> tuple[list[tuple[int, ...]], bool]:
    """Return tuples of one or two columns, and whether `features` is a single feature or pair."""
    if features is None:
        return [(f,) for f in range(len(column_names(X)))], False
    if isinstance(features, str | int | np.integer):
        return [(column_number(X, features),)], True
    if isinstance(features, tuple):
        if len(features) != 2:
            raise ValueError(
                f"features={features!r} has {len(features)} entries; a tuple must be a pair of features"
            )
        pair = (column_number(X, features[0]), column_number(X, features[1]))
        if pair[0] == pair[1]:
            raise ValueError(
                f"features={features!r} is not valid: features must be a pair of two different features"
            )
        return [pair], True
    return [_column_sets(X, feature)[0][0] for feature in features], False


def _weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return weights of sum 1 (default: equal)."""
    weight = check_sample_weight(sample_weight, n_rows)
    if not weight.size:
        return np.full(n_rows, 1 / n_rows)
    return weight / weight.sum()


def make_grid(
    X: Any, column: int, grid: Any, percentiles: tuple[float, float] = (0, 1)
) -> np.ndarray:
    """Return grid points of a column: quantiles or all distinct values of numbers, or all levels."""
    values = column_values(X, column)
    if values.dtype == object:
        present = {value for value in values if value is not None and value == value}
        all_levels = ordered_levels(X, column) or sorted(present, key=str)
        levels = [level for level in all_levels if level in present]
        if not isinstance(grid, int | np.integer):
            levels = [level for level in grid if level in levels]
        return np.array(levels, dtype=object)
    if not isinstance(grid, int | np.integer):
        return np.unique(np.asarray(grid, dtype=float))
    if grid < 2:
        raise ValueError(
            f"grid={grid} is not valid: grid must be a number of points >= 2, or an array of points"
        )
    low, high = percentiles
    if not 0 <= low < high <= 1:
        raise ValueError(
            f"percentiles={percentiles!r} is not valid: percentiles must be two numbers in [0, 1], the"
            " first smaller than the second"
        )
    values = values[np.isfinite(values)]
    if values.size == 0:
        raise ValueError(
            f"feature {column_names(X)[column]!r} has no finite values; pass the grid points as an array"
        )
    distinct = np.unique(values)
    if distinct.size <= grid:
        return distinct
    return np.unique(np.quantile(values, np.linspace(low, high, int(grid))))


class GridEvaluator:
    """Predictions for the rows of X with one or two columns set to the points of a grid."""

    def __init__(
        self,
        model: Any,
        trees: TreeModel | None,
        X: Any,
        kind: str,
        weight: np.ndarray,
        keep_rows: bool,
    ):
        self.model, self.trees, self.X = model, trees, X
        self.kind, self.weight, self.keep_rows = kind, weight, keep_rows
        self.names = column_names(X)
        self.output_names = trees.output_names if trees else None

    def dependences(
        self, column_sets: Sequence[tuple[int, ...]], grids: dict[int, np.ndarray]
    ) -> list[Any]:
        """Return a Dependence for each tuple of columns; single numeric features of trees need one pass."""
        numeric = [
            columns[0]
            for columns in column_sets
            if self.trees and len(columns) == 1 and self._is_numeric(columns[0])
        ]
        curves = self._curves_from_trees(numeric, grids) if numeric else {}
        results = []
        for columns in column_sets:
            if len(columns) == 1 and columns[0] in curves:
                average, individual = curves[columns[0]]
            else:
                average, individual = self._curves_from_predictions(columns, grids)
            results.append(
                Dependence(
                    [self.names[f] for f in columns],
                    [grids[f] for f in columns],
                    _drop_single_output(average),
                    None if individual is None else _drop_single_output(individual),
                    self.kind,
                    self.output_names,
                )
            )
        return results

    def _is_numeric(self, column: int) -> bool:
        assert self.trees is not None
        return self.trees.encoder.levels[column] is None

    def _to_scale(self, raw: np.ndarray) -> np.ndarray:
        """Convert raw predictions (rows, outputs) to the scale `kind`; with two classes, the second."""
        assert self.trees is not None
        if self.kind == "raw":
            return raw
        response = self.trees.response(raw)
        return response[:, 1:] if response.shape[1] == 2 and raw.shape[1] == 1 else response

    def _curves_from_trees(
        self, columns: list[int], grids: dict[int, np.ndarray]
    ) -> dict[int, Any]:
        """Average and individual curves of several columns, read from the trees in one pass."""
        assert self.trees is not None
        trees = self.trees
        columns = list(dict.fromkeys(columns))
        data = trees.tree_columns(trees.columns(self.X, type(self.model).__name__))
        features = [trees.tree_feature(f, "method='trees'") for f in columns]
        points = sum(grids[f].size for f in columns)
        n_rows = count_rows(data)
        ends = np.cumsum([grids[f].size for f in columns])[:-1]
        grid_points = [grids[f].tolist() for f in columns]
        if not self.keep_rows and (self.kind == "raw" or trees.linear):
            raw = trees.scale * _core.mean_predictions(
                trees.ensemble, data, features, grid_points, self.weight, trees.threads
            )
            averages = np.split(self._to_scale(raw), ends, axis=0)
            return {f: (mean, None) for f, mean in zip(columns, averages, strict=True)}
        step = max(1, MAX_PREDICTIONS_IN_MEMORY // (points * trees.ensemble.n_outputs))
        total, chunks = None, []
        for begin in range(0, n_rows, step):
            chunk = np.arange(begin, min(begin + step, n_rows))
            chunk_data = data if chunk.size == n_rows else take_rows(data, chunk)
            raw = _core.conditional_predictions(
                trees.ensemble, chunk_data, features, grid_points, trees.threads
            )
            if trees.scale != 1:
                raw *= trees.scale
            scaled = self._to_scale(raw.reshape(-1, raw.shape[2])).reshape(chunk.size, points, -1)
            weighted = np.tensordot(self.weight[chunk], scaled, axes=1)
            total = weighted if total is None else total + weighted
            if self.keep_rows:
                chunks.append(scaled)
        assert total is not None
        averages = np.split(total, ends, axis=0)
        curves = (
            np.split(np.concatenate(chunks), ends, axis=1)
            if self.keep_rows
            else [None] * len(columns)
        )
        return {f: pair for f, *pair in zip(columns, averages, curves, strict=True)}

    def _curves_from_predictions(
        self, columns: tuple[int, ...], grids: dict[int, np.ndarray]
    ) -> tuple[Any, Any]:
        """Average and individual curves from predictions of changed tables."""
        shape = tuple(grids[f].size for f in columns)
        predictions = []
        for point in np.ndindex(*shape):
            changed = self.X
            for column, i in zip(columns, point, strict=True):
                changed = set_column(changed, self.X, column, grids[column][i])
            predictions.append(self.predictions(changed))
        stacked = np.stack(predictions, axis=1)  # (rows, points, outputs)
        average = np.tensordot(self.weight, stacked, axes=1).reshape(*shape, -1)
        individual = stacked.reshape(len(stacked), *shape, -1) if self.keep_rows else None
        return average, individual

    def predictions(self, X: Any) -> np.ndarray:
        """Return predictions for the rows of X on the scale `kind`, (rows, outputs)."""
        if self.trees is not None:
            return self._to_scale(
                self.trees.predict_raw(self.trees.columns(X, type(self.model).__name__))
            )
        return model_predictions(self.model, X, self.kind)


def model_predictions(model: Any, X: Any, kind: str = "response") -> np.ndarray:
    """Return predictions of any model with scikit-learn's methods, (rows, outputs).

    With two classes, the output is the second.
    """
    if kind == "raw" and hasattr(model, "decision_function"):
        return two_dimensional(np.asarray(model.decision_function(X)))
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(X))
        return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities
    return two_dimensional(np.asarray(model.predict(X), dtype=float))


def set_column(changed: Any, source: Any, column: int, value: Any) -> Any:
    """Return a copy of a table with one value in a column: a number, or a level that occurs in `source`."""
    values = column_values(source, column)
    if values.dtype != object:
        return with_numbers(changed, column, value)
    row = int(np.flatnonzero(values == value)[0])
    return with_rows(changed, [column], np.full(row_count(source), row))


def _drop_single_output(values: np.ndarray) -> np.ndarray:
    return values[..., 0] if values.shape[-1] == 1 else values


def _recursion(
    trees: TreeModel, X: Any, columns: tuple[int, ...], grids: dict[int, np.ndarray], response: str
) -> Dependence:
    """Compute dependence averaged over the training rows below each split, without rows of X."""
    if response == "response":
        raise ValueError(
            "method='recursion' supports raw predictions only; use response='raw', or another method"
        )
    codes = [_encoded_grid(trees, X, f, grids[f]) for f in columns]
    points = np.stack(np.meshgrid(*codes, indexing="ij"), axis=-1).reshape(-1, len(columns))
    features = [trees.tree_feature(f, "method='recursion'") for f in columns]
    raw = trees.scale * _core.expected_predictions(
        trees.ensemble, features, np.ascontiguousarray(points, dtype=float)
    )
    average = raw.reshape(*(grids[f].size for f in columns), -1)
    names = column_names(X)
    return Dependence(
        [names[f] for f in columns],
        [grids[f] for f in columns],
        _drop_single_output(average),
        None,
        "raw",
        trees.output_names,
    )


def _encoded_grid(trees: TreeModel, X: Any, column: int, grid: np.ndarray) -> np.ndarray:
    """Return grid points as encoded values."""
    if trees.encoder.levels[column] is None:
        return grid.astype(float)
    values = column_values(X, column)
    rows = [int(np.flatnonzero(values == level)[0]) for level in grid]
    return np.asarray(
        trees.columns(select_rows(X, rows), "partial_dependence")[column], dtype=float
    )
