"""Shapley values of single predictions: exact for trees, by sampling for other models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.explain import explain

# Number of sampled column orders per row, in pairs of an order and its reverse.
DRAWS = 16
# Largest number of values in a table that is predicted at once; wide tables use fewer orders.
MAX_VALUES = 10_000_000
# If there are more columns, the least important ones are treated as one.
MAX_COLUMNS = 24
OTHERS = "(all others)"  # the script of the report uses the same name


@dataclass
class RowExplanations:
    """Shapley values of rows: base + Σ effects is the prediction on the raw scale."""

    names: list[str]
    base: np.ndarray  # (rows,)
    effects: np.ndarray  # (rows, columns)


def explain_rows(
    model: Any,
    X: Any,
    outputs: np.ndarray | None,
    background: Any,
    order: list[str],
    seed: int,
    most_columns: int | None = None,
) -> RowExplanations:
    """Return the Shapley values of the rows of X.

    The raw scale of tree models is their own: log-odds, votes or probabilities. For other classifiers it is
    log-odds.

    Parameters
    ----------
    model : fitted estimator
    X : table
        The rows to explain.
    outputs : array of int or None
        Index of the explained class of each row; None for regression.
    background : table
        Rows whose values replace absent columns.
    order : list of str
        The columns, most important first.
    seed : int
    most_columns : int or None, default=None
        Number of columns with a value of their own if values are sampled; None is `MAX_COLUMNS`.
    """
    exact = _explain_trees(model, X, outputs)
    if exact is not None:
        return exact
    return _explain_by_sampling(
        model, X, outputs, background, order, seed, most_columns or MAX_COLUMNS
    )


def _explain_trees(model: Any, X: Any, outputs: np.ndarray | None) -> RowExplanations | None:
    try:
        explanation = explain(model, X)
    except (TypeError, ValueError, AttributeError):
        return None
    values, names = explanation.main_values, explanation.feature_names
    if values.ndim == 2:
        base = np.full(len(values), float(np.ravel(explanation.base)[0]))
        if outputs is not None:  # with two classes the values are for the second one
            sign = np.where(outputs == 1, 1.0, -1.0)
            # The probabilities of both classes add up to 1; their log-odds or votes add up to 0.
            total = 1.0 if _is_probability(model, X, base + values.sum(axis=1)) else 0.0
            base, values = np.where(outputs == 1, base, total - base), values * sign[:, None]
        return RowExplanations(names, base, values)
    if outputs is None or values.shape[2] <= int(outputs.max()):
        return None
    rows = np.arange(len(values))
    return RowExplanations(names, np.asarray(explanation.base)[outputs], values[rows, :, outputs])


def _is_probability(model: Any, X: Any, raw: np.ndarray) -> bool:
    """Return whether the raw predictions are the probabilities of the second class."""
    probability = np.asarray(model.predict_proba(X), dtype=float)[:, 1]
    return bool(np.allclose(raw, probability, atol=1e-6))


def _explain_by_sampling(
    model: Any,
    X: Any,
    outputs: np.ndarray | None,
    background: Any,
    order: list[str],
    seed: int,
    most_columns: int,
) -> RowExplanations:
    """Estimate Shapley values by random orders of the columns.

    Starting from a background row, the values of the explained row are filled in one column after the other.
    The change of the prediction is the contribution of the column. Its mean over orders and background rows
    is an unbiased estimate of the Shapley value.
    """
    rng = np.random.default_rng(seed)
    groups = _group_columns([str(name) for name in X.columns], order, most_columns)
    n, steps = len(X), len(groups) + 1
    half = int(np.clip(MAX_VALUES // (2 * n * steps * X.shape[1]), 1, DRAWS // 2))
    draws = 2 * half
    orders = np.array([[rng.permutation(len(groups)) for _ in range(half)] for _ in range(n)])
    orders = np.concatenate([orders, orders[:, :, ::-1]], axis=1)  # (rows, draws, groups)
    background_rows = np.tile(rng.integers(len(background), size=(n, half)), 2)
    predict_raw = _raw_scale(model, outputs is not None)
    raw = predict_raw(_mixed_rows(X, background, orders, background_rows, groups))
    if outputs is not None:
        raw = raw[np.arange(len(raw)), np.repeat(outputs, draws * steps)]
    raw = raw.reshape(n, draws, steps)
    effects = np.empty(orders.shape)
    np.put_along_axis(effects, orders, np.diff(raw, axis=2), axis=2)
    names = [name for name, _ in groups]
    return RowExplanations(names, raw[:, :, 0].mean(axis=1), effects.mean(axis=1))


def _group_columns(
    columns: list[str], order: list[str], max_groups: int
) -> list[tuple[str, list[int]]]:
    if len(columns) <= max_groups:
        return [(name, [k]) for k, name in enumerate(columns)]
    top = [name for name in order if name in columns][: max_groups - 1]
    other_columns = [k for k, name in enumerate(columns) if name not in set(top)]
    return [*((name, [columns.index(name)]) for name in top), (OTHERS, other_columns)]


def _mixed_rows(
    X: Any, background: Any, orders: np.ndarray, background_rows: np.ndarray, groups: Any
) -> Any:
    """Return for each row and order the background row, with more and more groups taken from the row."""
    import pandas

    n, draws, size = orders.shape
    step = np.argsort(orders, axis=2)  # the step at which each group is filled in
    own_row = np.broadcast_to(np.arange(n)[:, None, None], (n, draws, size + 1)).ravel()
    background_row = np.repeat(len(X) + background_rows, size + 1, axis=1).ravel()
    stacked = pandas.concat([X, background], ignore_index=True)
    columns = {}
    for group, (_, members) in enumerate(groups):
        filled_in = (np.arange(size + 1)[None, None, :] > step[:, :, group, None]).ravel()
        rows = np.where(filled_in, own_row, background_row)
        for column in members:
            name = X.columns[column]
            columns[name] = stacked[name].take(rows).reset_index(drop=True)
    return pandas.DataFrame(columns)[list(X.columns)]


def _raw_scale(model: Any, is_classification: bool) -> Callable[[Any], np.ndarray]:
    if not is_classification:
        return lambda X: np.asarray(model.predict(X), dtype=float).ravel()

    def log_odds(X: Any) -> np.ndarray:
        if not hasattr(model, "predict_proba"):
            predicted = np.asarray(model.predict(X))
            return (predicted[:, None] == np.asarray(model.classes_)).astype(float)
        p = np.clip(np.asarray(model.predict_proba(X), dtype=float), 1e-6, 1 - 1e-6)
        return np.log(p / (1 - p))

    return log_odds
