"""Accumulated local effects (ALE), which need no predictions for unrealistic rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.explain._curves import Dependence
from bosquet.explain._tables import (
    column_names,
    column_number,
    column_values,
    row_count,
    select_rows,
    with_numbers,
    with_rows,
)
from bosquet.explain.dependence import GridEvaluator
from bosquet.explain.tree_models import tree_model


def accumulated_local_effects(
    model: Any, X: Any, features: Any, *, bins: int = 40, response: str = "response"
) -> Dependence:
    r"""Compute accumulated local effects (ALE) of a feature or a pair.

    The feature of each row is set to both edges of the bin that contains the row. The mean difference of
    the predictions is the local effect of the bin. The local effects are accumulated from the left and
    centred, so that their mean over the rows is 0. If features are correlated, partial dependence uses
    predictions for unrealistic rows; ALE avoids them.

    For a pair, the differences are of second order and the main effects are subtracted, which leaves the
    interaction of the two features. Levels are ordered by their similarity in the other features.

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : index, name, or tuple of two numeric features
    bins : int, default=40
    response : {"response", "raw"}, default="response"

    Returns
    -------
    Dependence
        `grid` holds the bin edges, or the levels in their order; `average` holds the effects there.

    References
    ----------
    Apley and Zhu, "Visualizing the effects of predictor variables in black box supervised learning models",
    Journal of the Royal Statistical Society B 2020.
    """
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"bins={bins!r} is not valid: bins must be an integer of at least 1")
    evaluator = make_evaluator(model, X, response)
    names = column_names(X)
    if isinstance(features, tuple):
        columns = [column_number(X, feature) for feature in features]
        if len(set(columns)) != 2:
            raise ValueError(
                f"features={features!r} is not valid: features must be a pair of two different features"
            )
        grid, effects = _pair_effects(evaluator, X, columns, bins)
    else:
        columns = [column_number(X, features)]
        values = column_values(X, columns[0])
        effects_of = _level_effects if values.dtype == object else _numeric_effects
        grid, effects = effects_of(evaluator, X, columns[0], values, bins)
    average = effects[..., 0] if effects.shape[-1] == 1 else effects
    feature_names = [names[f] for f in columns]
    return Dependence(feature_names, grid, average, None, evaluator.kind, evaluator.output_names)


def make_evaluator(model: Any, X: Any, response: str) -> GridEvaluator:
    """Return an evaluator of the model on changed rows of X, with equal weights."""
    if response not in ("response", "raw"):
        raise ValueError(
            f"response={response!r} is not valid: response must be 'response' or 'raw'"
        )
    rows = row_count(X)
    return GridEvaluator(model, tree_model(model), X, response, np.full(rows, 1 / rows), False)


def _quantile_edges(values: np.ndarray, bins: int, name: str) -> np.ndarray:
    if values.dtype == object:
        raise ValueError(
            f"feature {name!r} is categorical; the effects of a pair need two numeric features"
        )
    finite = values[np.isfinite(values)]
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, bins + 1))) if finite.size else finite
    if edges.size < 2:
        raise ValueError(
            f"feature {name!r} has fewer than two distinct values in X; its effect needs at least two"
        )
    return edges


def _bin_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(edges, values, side="left") - 1, 0, edges.size - 2)


def _numeric_effects(
    evaluator: GridEvaluator, X: Any, column: int, values: np.ndarray, bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    edges = _quantile_edges(values, bins, evaluator.names[column])
    finite = np.flatnonzero(np.isfinite(values))
    rows, row_bin = select_rows(X, finite), _bin_of(values[finite], edges)
    high = evaluator.predictions(with_numbers(rows, column, edges[row_bin + 1]))
    difference = high - evaluator.predictions(with_numbers(rows, column, edges[row_bin]))
    counts = np.bincount(row_bin, minlength=edges.size - 1)
    local = _bin_means(difference, row_bin, counts)
    effects = np.concatenate([np.zeros((1, local.shape[1])), np.cumsum(local, axis=0)])
    mean = counts @ ((effects[1:] + effects[:-1]) / 2) / counts.sum()
    return [edges], effects - mean


def _bin_means(values: np.ndarray, row_bin: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the mean of values (rows, outputs) in each bin; 0 for a bin without rows."""
    columns = [np.bincount(row_bin, column, minlength=counts.size) for column in values.T]
    return np.column_stack(columns) / np.maximum(counts, 1)[:, None]


def _level_effects(
    evaluator: GridEvaluator, X: Any, column: int, values: np.ndarray, bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    is_known = np.array([value is not None and value == value for value in values])
    levels = sorted(set(values[is_known]), key=str)
    if len(levels) < 2:
        raise ValueError(
            f"feature {evaluator.names[column]!r} has fewer than two levels in X; its effect needs at least"
            " two"
        )
    order = _order_of_levels(X, column, values, levels)
    levels = [levels[i] for i in order]
    first = {level: int(np.flatnonzero(values == level)[0]) for level in levels}
    number = np.array([levels.index(v) if k else -1 for v, k in zip(values, is_known, strict=True)])
    total, counts = 0.0, np.bincount(number[is_known], minlength=len(levels))
    effects = []
    for k, level in enumerate(levels):
        if k:
            rows = np.flatnonzero((number == k) | (number == k - 1))
            previous = np.full(row_count(X), first[levels[k - 1]])
            current = np.full(row_count(X), first[level])
            after = evaluator.predictions(select_rows(with_rows(X, [column], current), rows))
            before = evaluator.predictions(select_rows(with_rows(X, [column], previous), rows))
            total = total + (after - before).mean(axis=0)
        effects.append(np.atleast_1d(total))
    stacked = np.array(np.broadcast_arrays(*effects))
    return [np.array(levels, dtype=object)], stacked - counts @ stacked / counts.sum()


def _order_of_levels(X: Any, column: int, values: np.ndarray, levels: list[Any]) -> np.ndarray:
    """Order of the levels by one-dimensional scaling of their distances in the other features."""
    distances = np.zeros((len(levels), len(levels)))
    for other in range(len(column_names(X))):
        if other == column:
            continue
        other_values = column_values(X, other)
        if other_values.dtype == object:  # total variation distance
            kinds = sorted({str(value) for value in other_values})
            text = np.array([str(value) for value in other_values])
            shares = [[(text[values == v] == p).mean() for p in kinds] for v in levels]
            distance = np.abs(np.array(shares)[:, None] - np.array(shares)[None]).sum(axis=2) / 2
        else:  # Kolmogorov-Smirnov distance
            points = np.unique(np.nanquantile(other_values, np.linspace(0, 1, 51)))
            below = [[(other_values[values == v] <= p).mean() for p in points] for v in levels]
            distance = np.abs(np.array(below)[:, None] - np.array(below)[None]).max(axis=2)
        distances += distance
    centred = distances**2
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    direction = np.linalg.eigh(-centred / 2)[1][:, -1]
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    return np.argsort(direction, kind="stable")


def _pair_effects(
    evaluator: GridEvaluator, X: Any, columns: list[int], bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    all_values = [column_values(X, f) for f in columns]
    edges = [
        _quantile_edges(v, bins, evaluator.names[f])
        for v, f in zip(all_values, columns, strict=True)
    ]
    finite = np.flatnonzero(np.isfinite(all_values[0]) & np.isfinite(all_values[1]))
    rows = select_rows(X, finite)
    row_bins = [_bin_of(v[finite], e) for v, e in zip(all_values, edges, strict=True)]

    def at_corner(i: int, j: int) -> np.ndarray:
        changed = with_numbers(rows, columns[0], edges[0][row_bins[0] + i])
        changed = with_numbers(changed, columns[1], edges[1][row_bins[1] + j])
        return evaluator.predictions(changed)

    second = at_corner(1, 1) - at_corner(1, 0) - at_corner(0, 1) + at_corner(0, 0)
    shape = (edges[0].size - 1, edges[1].size - 1)
    cell = row_bins[0] * shape[1] + row_bins[1]
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    local = _bin_means(second, cell, counts).reshape(*shape, -1)
    effects = np.zeros((shape[0] + 1, shape[1] + 1, local.shape[2]))
    effects[1:, 1:] = local.cumsum(axis=0).cumsum(axis=1)
    return edges, _without_main_effects(effects, counts.reshape(shape))


def _without_main_effects(effects: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Subtract the main effect of each feature and the mean, weighted by the rows in each cell."""
    for axis in (0, 1):
        by_bin = counts.sum(axis=1 - axis)
        steps = np.diff(effects, axis=axis)
        # Differences along the axis are at the bin edges of the other feature; take the mean of both edges.
        other = 1 - axis
        middle = (np.take(steps, range(1, steps.shape[other]), other)
                  + np.take(steps, range(steps.shape[other] - 1), other)) / 2  # fmt: skip
        mean = (middle * counts[..., None]).sum(axis=other) / np.maximum(by_bin, 1)[:, None]
        main = np.concatenate([np.zeros((1, mean.shape[1])), np.cumsum(mean, axis=0)])
        effects = effects - np.expand_dims(main, other)
    corners = effects[1:, 1:] + effects[1:, :-1] + effects[:-1, 1:] + effects[:-1, :-1]
    return effects - (corners / 4 * counts[..., None]).sum(axis=(0, 1)) / max(counts.sum(), 1)
