"""Effects that do not ask about rows that cannot be: accumulated local effects."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.explain._curves import Dependence
from bosquet.explain._models import tree_model
from bosquet.explain._tables import (
    column_names,
    column_number,
    column_values,
    row_count,
    take,
    with_numbers,
    with_rows,
)
from bosquet.explain.dependence import Evaluation


def accumulated_local_effects(
    model: Any, X: Any, features: Any, *, bins: int = 40, response: str = "response"
) -> Dependence:
    r"""The effect of a feature, added up from small steps of rows that are there (ALE).

    A row is moved to the two ends of the bin that it lies in, and nowhere else. The mean difference is the
    bin's local effect; effects are added up from the left and centred, so that their mean over the rows is 0.
    Where features are correlated, partial dependence asks about rows that never occur, and this does not.

    For a pair the differences are of second order and the main effects are taken out: what is left is what
    the two do together. Levels are put in an order in which neighbours are alike in the other features.

    Parameters
    ----------
    model : a fitted model, Bosquet's or one with scikit-learn's methods
    X : table of shape (n_samples, n_features)
    features : a feature, or a pair of quantitative ones, by number or name
    bins : int, default=40
    response : "response" or "raw"

    Returns
    -------
    Dependence
        Its grid holds the bins' ends (levels, in their order), `average` the effects there.

    References
    ----------
    Apley and Zhu, "Visualizing the effects of predictor variables in black box supervised learning models",
    Journal of the Royal Statistical Society B 2020.
    """
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise ValueError(f"bins={bins!r} must be a number of at least 1")
    ask = evaluation(model, X, response)
    names = column_names(X)
    if isinstance(features, tuple):
        columns = [column_number(X, feature) for feature in features]
        if len(set(columns)) != 2:
            raise ValueError(f"features={features!r}: a pair needs two different features")
        grid, effects = _pair_effects(ask, X, columns, bins)
    else:
        columns = [column_number(X, features)]
        values = column_values(X, columns[0])
        effects_of = _level_effects if values.dtype == object else _number_effects
        grid, effects = effects_of(ask, X, columns[0], values, bins)
    average = effects[..., 0] if effects.shape[-1] == 1 else effects
    return Dependence([names[f] for f in columns], grid, average, None, ask.kind, ask.output_names)


def evaluation(model: Any, X: Any, response: str) -> Evaluation:
    """What asks the model about changed rows, each counting alike."""
    if response not in ("response", "raw"):
        raise ValueError(f"response={response!r} must be 'response' or 'raw'")
    rows = row_count(X)
    return Evaluation(model, tree_model(model), X, response, np.full(rows, 1 / rows), False)


def _edges(values: np.ndarray, bins: int, name: str) -> np.ndarray:
    if values.dtype == object:
        raise ValueError(f"feature {name!r} has levels: a pair of effects takes numbers")
    finite = values[np.isfinite(values)]
    edges = np.unique(np.quantile(finite, np.linspace(0, 1, bins + 1))) if finite.size else finite
    if edges.size < 2:
        raise ValueError(f"feature {name!r} has less than two values: it has no effect to add up")
    return edges


def _bin_of(values: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.clip(np.searchsorted(edges, values, side="left") - 1, 0, edges.size - 2)


def _number_effects(
    ask: Evaluation, X: Any, column: int, values: np.ndarray, bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    edges = _edges(values, bins, ask.names[column])
    there = np.flatnonzero(np.isfinite(values))
    rows, place = take(X, there), _bin_of(values[there], edges)
    high = ask.predictions(with_numbers(rows, column, edges[place + 1]))
    difference = high - ask.predictions(with_numbers(rows, column, edges[place]))
    counts = np.bincount(place, minlength=edges.size - 1)
    local = _means(difference, place, counts)
    effects = np.concatenate([np.zeros((1, local.shape[1])), np.cumsum(local, axis=0)])
    mean = counts @ ((effects[1:] + effects[:-1]) / 2) / counts.sum()
    return [edges], effects - mean


def _means(values: np.ndarray, place: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Mean of values (rows, outputs) in each bin; 0 where there is no row."""
    columns = [np.bincount(place, column, minlength=counts.size) for column in values.T]
    return np.column_stack(columns) / np.maximum(counts, 1)[:, None]


def _level_effects(
    ask: Evaluation, X: Any, column: int, values: np.ndarray, bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    known = np.array([value is not None and value == value for value in values])
    levels = sorted(set(values[known]), key=str)
    if len(levels) < 2:
        raise ValueError(f"feature {ask.names[column]!r} has less than two levels")
    order = _order_of_levels(X, column, values, levels)
    levels = [levels[i] for i in order]
    first = {level: int(np.flatnonzero(values == level)[0]) for level in levels}
    number = np.array([levels.index(v) if k else -1 for v, k in zip(values, known, strict=True)])
    total, counts = 0.0, np.bincount(number[known], minlength=len(levels))
    effects = []
    for k, level in enumerate(levels):
        if k:
            rows = np.flatnonzero((number == k) | (number == k - 1))
            before = np.full(row_count(X), first[levels[k - 1]])
            after = np.full(row_count(X), first[level])
            here = ask.predictions(take(with_rows(X, [column], after), rows))
            there = ask.predictions(take(with_rows(X, [column], before), rows))
            total = total + (here - there).mean(axis=0)
        effects.append(np.atleast_1d(total))
    stacked = np.array(np.broadcast_arrays(*effects))
    return [np.array(levels, dtype=object)], stacked - counts @ stacked / counts.sum()


def _order_of_levels(X: Any, column: int, values: np.ndarray, levels: list[Any]) -> np.ndarray:
    """Levels along the line that keeps their distances in the other features best."""
    distances = np.zeros((len(levels), len(levels)))
    for other in range(len(column_names(X))):
        if other == column:
            continue
        theirs = column_values(X, other)
        if theirs.dtype == object:
            kinds = sorted({str(value) for value in theirs})
            text = np.array([str(value) for value in theirs])
            shares = [[(text[values == v] == p).mean() for p in kinds] for v in levels]
            far = np.abs(np.array(shares)[:, None] - np.array(shares)[None]).sum(axis=2) / 2
        else:
            points = np.unique(np.nanquantile(theirs, np.linspace(0, 1, 51)))
            below = [[(theirs[values == v] <= p).mean() for p in points] for v in levels]
            far = np.abs(np.array(below)[:, None] - np.array(below)[None]).max(axis=2)
        distances += far
    centred = distances**2
    centred = centred - centred.mean(axis=0) - centred.mean(axis=1)[:, None] + centred.mean()
    direction = np.linalg.eigh(-centred / 2)[1][:, -1]
    direction *= np.sign(direction[np.argmax(np.abs(direction))])
    return np.argsort(direction, kind="stable")


def _pair_effects(
    ask: Evaluation, X: Any, columns: list[int], bins: int
) -> tuple[list[np.ndarray], np.ndarray]:
    all_values = [column_values(X, f) for f in columns]
    edges = [_edges(v, bins, ask.names[f]) for v, f in zip(all_values, columns, strict=True)]
    there = np.flatnonzero(np.isfinite(all_values[0]) & np.isfinite(all_values[1]))
    rows = take(X, there)
    places = [_bin_of(v[there], e) for v, e in zip(all_values, edges, strict=True)]

    def at(i: int, j: int) -> np.ndarray:
        changed = with_numbers(rows, columns[0], edges[0][places[0] + i])
        return ask.predictions(with_numbers(changed, columns[1], edges[1][places[1] + j]))

    second = at(1, 1) - at(1, 0) - at(0, 1) + at(0, 0)
    shape = (edges[0].size - 1, edges[1].size - 1)
    cell = places[0] * shape[1] + places[1]
    counts = np.bincount(cell, minlength=shape[0] * shape[1])
    local = _means(second, cell, counts).reshape(*shape, -1)
    effects = np.zeros((shape[0] + 1, shape[1] + 1, local.shape[2]))
    effects[1:, 1:] = local.cumsum(axis=0).cumsum(axis=1)
    return edges, _without_main_effects(effects, counts.reshape(shape))


def _without_main_effects(effects: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Takes out what each feature does alone, and the mean, over the rows' cells."""
    for axis in (0, 1):
        by_bin = counts.sum(axis=1 - axis)
        steps = np.diff(effects, axis=axis)
        # Differences along the axis lie at ends of the other feature's bins: their mean in a bin.
        other = 1 - axis
        middle = (np.take(steps, range(1, steps.shape[other]), other)
                  + np.take(steps, range(steps.shape[other] - 1), other)) / 2  # fmt: skip
        mean = (middle * counts[..., None]).sum(axis=other) / np.maximum(by_bin, 1)[:, None]
        main = np.concatenate([np.zeros((1, mean.shape[1])), np.cumsum(mean, axis=0)])
        effects = effects - np.expand_dims(main, other)
    corners = effects[1:, 1:] + effects[1:, :-1] + effects[:-1, 1:] + effects[:-1, :-1]
    return effects - (corners / 4 * counts[..., None]).sum(axis=(0, 1)) / max(counts.sum(), 1)
