"""Why a model says what it says of a row: Shapley values, exact for trees, by drawing for anything else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Orders of the columns that are drawn for a row, in pairs of one and its reverse.
DRAWS = 16
# Values of the table that is asked about at once; of wide tables fewer orders are drawn.
MOST_VALUES = 10_000_000
# Beyond this many columns the least important ones are filled in together.
MOST_COLUMNS = 24
OTHERS = "(all others)"  # the page knows them by this name


@dataclass
class Reasons:
    """What each column adds to a prediction: base + Σ effects is the prediction on the raw scale."""

    names: list[str]
    base: np.ndarray  # (rows,)
    effects: np.ndarray  # (rows, columns)


def reasons_for(
    model: Any,
    X: Any,
    outputs: np.ndarray | None,
    background: Any,
    order: list[str],
    seed: int,
    most_columns: int | None = None,
) -> Reasons:
    """The reasons for the rows of X.

    `outputs` are places of the classes that are explained, one a row, None for numbers; `background` holds
    rows to fill in from, and `order` the columns, the most important first, of which `most_columns` are told
    apart where values are drawn. The raw scale is the model's own
    if it is made of trees: log-odds, votes or shares. Of other classifiers it is log-odds.
    """
    exact = _of_trees(model, X, outputs)
    if exact is not None:
        return exact
    return _drawn(model, X, outputs, background, order, seed, most_columns or MOST_COLUMNS)


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
            # Shares of forests add up to 1, log-odds and votes to 0.
            whole = 1.0 if _tells_shares(model, X, base + values.sum(axis=1)) else 0.0
            base, values = np.where(outputs == 1, base, whole - base), values * sign[:, None]
        return Reasons(names, base, values)
    if outputs is None or values.shape[2] <= int(outputs.max()):
        return None
    rows = np.arange(len(values))
    return Reasons(names, np.asarray(found.base)[outputs], values[rows, :, outputs])


def _tells_shares(model: Any, X: Any, raw: np.ndarray) -> bool:
    """Whether the raw predictions are the probabilities of the second class themselves."""
    said = np.asarray(model.predict_proba(X), dtype=float)[:, 1]
    return bool(np.allclose(raw, said, atol=1e-6))


def _drawn(
    model: Any,
    X: Any,
    outputs: np.ndarray | None,
    background: Any,
    order: list[str],
    seed: int,
    most_columns: int,
) -> Reasons:
    """Shapley values from columns that are filled in one after the other, in random orders.

    Starting from a background row, the columns of the row at hand are put in one by one; what each changes
    is its part. The mean over orders and background rows is unbiased.
    """
    random = np.random.default_rng(seed)
    groups = _groups([str(name) for name in X.columns], order, most_columns)
    n, steps = len(X), len(groups) + 1
    half = int(np.clip(MOST_VALUES // (2 * n * steps * X.shape[1]), 1, DRAWS // 2))
    draws = 2 * half
    orders = np.array([[random.permutation(len(groups)) for _ in range(half)] for _ in range(n)])
    orders = np.concatenate([orders, orders[:, :, ::-1]], axis=1)  # (rows, draws, groups)
    behind = np.tile(random.integers(len(background), size=(n, half)), 2)
    said = _raw_scale(model, outputs is not None)(_walks(X, background, orders, behind, groups))
    if outputs is not None:
        said = said[np.arange(len(said)), np.repeat(outputs, draws * steps)]
    said = said.reshape(n, draws, steps)
    parts = np.empty(orders.shape)
    np.put_along_axis(parts, orders, np.diff(said, axis=2), axis=2)
    names = [name for name, _ in groups]
    return Reasons(names, said[:, :, 0].mean(axis=1), parts.mean(axis=1))


def _groups(columns: list[str], order: list[str], most: int) -> list[tuple[str, list[int]]]:
    if len(columns) <= most:
        return [(name, [place]) for place, name in enumerate(columns)]
    top = [name for name in order if name in columns][: most - 1]
    rest = [place for place, name in enumerate(columns) if name not in set(top)]
    return [*((name, [columns.index(name)]) for name in top), (OTHERS, rest)]


def _walks(X: Any, background: Any, orders: np.ndarray, behind: np.ndarray, groups: Any) -> Any:
    """For each row and order the background row, then with one group after the other of the row's values."""
    import pandas

    n, draws, size = orders.shape
    place = np.argsort(orders, axis=2)  # when each group is put in
    own = np.broadcast_to(np.arange(n)[:, None, None], (n, draws, size + 1)).ravel()
    other = np.repeat(len(X) + behind, size + 1, axis=1).ravel()
    both = pandas.concat([X, background], ignore_index=True)
    columns = {}
    for group, (_, members) in enumerate(groups):
        put_in = (np.arange(size + 1)[None, None, :] > place[:, :, group, None]).ravel()
        rows = np.where(put_in, own, other)
        for column in members:
            name = X.columns[column]
            columns[name] = both[name].take(rows).reset_index(drop=True)
    return pandas.DataFrame(columns)[list(X.columns)]


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
