"""Why a model says what it says of a row: Shapley values, exact for trees, by drawing for anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.study._frames import take

# Orders of the columns that are drawn for a row, in pairs of one and its reverse.
DRAWS = 16
# Beyond this many columns the least important ones are filled in together.
MOST_COLUMNS = 24
OTHERS = "(all others)"


@dataclass
class Reasons:
    """What each column adds to a prediction: base + Σ effects is the prediction on the raw scale."""

    names: list[str]
    base: np.ndarray  # (rows,)
    effects: np.ndarray  # (rows, columns)


def reasons_for(
    model: Any, X: Any, outputs: np.ndarray | None, background: Any, order: list[str], seed: int
) -> Reasons:
    """The reasons for the rows of X.

    `outputs` are places of the classes that are explained, one a row, None for numbers; `background` holds
    rows to fill in from, and `order` the columns, the most important first. Of classes the raw scale is
    log-odds, of numbers their own.
    """
    exact = _of_trees(model, X, outputs)
    return exact if exact is not None else _drawn(model, X, outputs, background, order, seed)


def _of_trees(model: Any, X: Any, outputs: np.ndarray | None) -> Reasons | None:
    from bosquet.explain import explain

    try:
        found = explain(model, X)
    except (TypeError, ValueError, AttributeError):
        return None
    values, names = found.main_values, found.feature_names
    if values.ndim == 2:
        base = np.full(len(values), float(np.ravel(found.base)[0]))
        if outputs is not None:  # of two classes trees explain the second
            sign = np.where(outputs == 1, 1.0, -1.0)
            base, values = base * sign, values * sign[:, None]
        return Reasons(names, base, values)
    if outputs is None or values.shape[2] <= int(outputs.max()):
        return None
    rows = np.arange(len(values))
    return Reasons(names, np.asarray(found.base)[outputs], values[rows, :, outputs])


def _drawn(
    model: Any, X: Any, outputs: np.ndarray | None, background: Any, order: list[str], seed: int
) -> Reasons:
    """Shapley values from columns that are filled in one after the other, in random orders.

    Starting from a background row, the columns of the row at hand are put in one by one; what each changes
    is its part. The mean over orders and background rows is unbiased.
    """
    random = np.random.default_rng(seed)
    groups = _groups([str(name) for name in X.columns], order)
    raw = _raw_scale(model, outputs is not None)
    base, effects = np.empty(len(X)), np.empty((len(X), len(groups)))
    for row in range(len(X)):
        orders = [random.permutation(len(groups)) for _ in range(DRAWS // 2)]
        orders += [one[::-1] for one in orders]
        behind = random.integers(len(background), size=DRAWS // 2)
        table = _walks(take(X, np.array([row])), background, orders, [*behind, *behind], groups)
        said = raw(table)
        said = said if outputs is None else said[:, outputs[row]]
        steps = said.reshape(len(orders), len(groups) + 1)
        base[row] = steps[:, 0].mean()
        parts = np.empty((len(orders), len(groups)))
        for walk, one in enumerate(orders):
            parts[walk, one] = np.diff(steps[walk])
        effects[row] = parts.mean(axis=0)
    return Reasons([name for name, _ in groups], base, effects)


def _groups(columns: list[str], order: list[str]) -> list[tuple[str, list[int]]]:
    if len(columns) <= MOST_COLUMNS:
        return [(name, [place]) for place, name in enumerate(columns)]
    top = [name for name in order if name in columns][: MOST_COLUMNS - 1]
    rest = [place for place, name in enumerate(columns) if name not in set(top)]
    return [*((name, [columns.index(name)]) for name in top), (OTHERS, rest)]


def _walks(row: Any, background: Any, orders: Any, behind: Any, groups: Any) -> Any:
    """For each order the background row, then with one group after the other of the row's values."""
    size = len(groups) + 1
    from_row = np.zeros((len(orders) * size, row.shape[1]), dtype=bool)
    for walk, order in enumerate(orders):
        for step, group in enumerate(order):
            start, end = walk * size + step + 1, (walk + 1) * size
            from_row[start:end, groups[group][1]] = True
    table = take(background, np.repeat(behind, size)).reset_index(drop=True)
    for place, name in enumerate(table.columns):
        own = from_row[:, place]
        if own.any():
            repeated = take(row[name], np.zeros(len(table), dtype=int)).reset_index(drop=True)
            table[name] = table[name].where(~own, repeated).astype(row[name].dtype)
    return table


def _raw_scale(model: Any, classes: bool) -> Callable[[Any], np.ndarray]:
    if not classes:
        return lambda X: np.asarray(model.predict(X), dtype=float).ravel()

    def log_odds(X: Any) -> np.ndarray:
        if not hasattr(model, "predict_proba"):
            said = np.asarray(model.predict(X))
            return (said[:, None] == np.asarray(model.classes_)).astype(float)
        p = np.clip(np.asarray(model.predict_proba(X), dtype=float), 1e-6, 1 - 1e-6)
        return np.log(p / (1 - p))

    return log_odds
