"""Shapley values from their definition, as sums over all coalitions of features.

A tree is a dictionary of arrays with one entry per node: `feature`, `threshold`, `left`, `right`,
`missing_left`, `left_categories`, `value` and `cover` (the number of training rows); the children of a leaf
are -1. A game is a function v(S): the prediction of the tree if only the features in the coalition S are
known. There are 2^n coalitions of n features, so that the computation is only feasible for few features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import factorial
from typing import TypeAlias

import numpy as np

Tree: TypeAlias = dict[str, np.ndarray]
Coalition: TypeAlias = frozenset[int]
Game: TypeAlias = Callable[[Coalition], np.ndarray]


def goes_left(tree: Tree, node: int, x: float) -> bool:
    """Return whether the value x goes left at a node."""
    if np.isnan(x):
        return tree["missing_left"][node]
    if tree["left_categories"][node] is not None:
        return int(x) in tree["left_categories"][node]
    return x <= tree["threshold"][node]


def path_dependent_game(tree: Tree, row: np.ndarray) -> Game:
    """Return the game v(S) in which splits on unknown features follow both branches.

    The values of the branches are averaged with their shares of the training rows.
    """

    def expectation(node: int, known: Coalition) -> np.ndarray:
        left, right = tree["left"][node], tree["right"][node]
        if left < 0:
            return tree["value"][node]
        feature = tree["feature"][node]
        if feature in known:
            return expectation(left if goes_left(tree, node, row[feature]) else right, known)
        weight = tree["cover"][[left, right]].astype(float)
        share = weight[0] / weight.sum()
        return share * expectation(left, known) + (1 - share) * expectation(right, known)

    return lambda known: expectation(0, known)


def interventional_game(tree: Tree, row: np.ndarray, background: np.ndarray) -> Game:
    """Return the game v(S): the mean prediction over the background rows.

    The features in S are taken from `row`, the others from each background row.
    """

    def prediction(x: np.ndarray, node: int = 0) -> np.ndarray:
        while tree["left"][node] >= 0:
            feature = tree["feature"][node]
            node = tree["left" if goes_left(tree, node, x[feature]) else "right"][node]
        return tree["value"][node]

    def mean(known: Coalition) -> np.ndarray:
        mask = np.isin(np.arange(row.size), list(known))
        return np.mean([prediction(np.where(mask, row, other)) for other in background], axis=0)

    return mean


def coalitions(players: Sequence[int]) -> list[Coalition]:
    """Return all subsets of the players."""
    return [frozenset(some) for s in range(len(players) + 1) for some in combinations(players, s)]


def shapley_values(game: Game, n: int) -> np.ndarray:
    """Return φ_i = Σ_S |S|! (n - 1 - |S|)! / n! · (v(S ∪ {i}) - v(S)), over the coalitions S without i."""
    v = {s: game(s) for s in coalitions(range(n))}
    values = []
    for i in range(n):
        others = coalitions([j for j in range(n) if j != i])
        weights = [factorial(len(s)) * factorial(n - 1 - len(s)) / factorial(n) for s in others]
        pairs = zip(weights, others, strict=True)
        values.append(sum(w * (v[s | {i}] - v[s]) for w, s in pairs))
    return np.array(values)


def shapley_interactions(game: Game, n: int) -> np.ndarray:
    """Return the matrix Φ of Shapley interaction values.

    Φ_ij = Σ_S |S|! (n - 2 - |S|)! / (2 (n - 1)!) · (v(S ∪ {i, j}) - v(S ∪ {i}) - v(S ∪ {j}) + v(S)) for i ≠
    j. The diagonal is chosen so that Σ_j Φ_ij = φ_i.
    """
    v = {s: game(s) for s in coalitions(range(n))}
    values = shapley_values(game, n)
    matrix = np.zeros((n, n, *values.shape[1:]))
    for i, j in combinations(range(n), 2):
        for s in coalitions([k for k in range(n) if k not in (i, j)]):
            weight = factorial(len(s)) * factorial(n - 2 - len(s)) / (2 * factorial(n - 1))
            interaction = v[s | {i, j}] - v[s | {i}] - v[s | {j}] + v[s]
            matrix[i, j] += weight * interaction
        matrix[j, i] = matrix[i, j]
    for i in range(n):
        matrix[i, i] = values[i] - matrix[i].sum(axis=0)
    return matrix
