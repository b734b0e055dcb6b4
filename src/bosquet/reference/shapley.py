"""Shapley values by their definition: all coalitions of features, one after the other.

A tree is a dictionary of arrays with an entry a node (`feature`, `threshold`, `left`, `right`,
`missing_left`, `left_categories`, `value`, `cover`; a leaf's children are -1). Its game says what the tree
predicts when only the features of a coalition are known. There are 2^features coalitions, so this is for few
features.
"""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np


def goes_left(tree, node, x):
    """Whether a value goes left at a split."""
    if np.isnan(x):
        return tree["missing_left"][node]
    if tree["left_categories"][node] is not None:
        return int(x) in tree["left_categories"][node]
    return x <= tree["threshold"][node]


def path_dependent_game(tree, row):
    """v(S): at a split on an unknown feature go both ways, each by its share of the training rows."""

    def expectation(node, known):
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


def interventional_game(tree, row, background):
    """v(S): the mean prediction when what is unknown is taken from each row of the background."""

    def prediction(x, node=0):
        while tree["left"][node] >= 0:
            feature = tree["feature"][node]
            node = tree["left" if goes_left(tree, node, x[feature]) else "right"][node]
        return tree["value"][node]

    def mean(known):
        mask = np.isin(np.arange(row.size), list(known))
        return np.mean([prediction(np.where(mask, row, other)) for other in background], axis=0)

    return mean


def coalitions(players):
    """All subsets."""
    return [frozenset(some) for s in range(len(players) + 1) for some in combinations(players, s)]


def shapley_values(game, n):
    """φ_i = Σ_S |S|! (n - 1 - |S|)! / n! · (v(S + i) - v(S)) over the coalitions S without i."""
    worth = {s: game(s) for s in coalitions(range(n))}
    values = []
    for i in range(n):
        others = coalitions([j for j in range(n) if j != i])
        weights = [factorial(len(s)) * factorial(n - 1 - len(s)) / factorial(n) for s in others]
        pairs = zip(weights, others, strict=True)
        values.append(sum(w * (worth[s | {i}] - worth[s]) for w, s in pairs))
    return np.array(values)


def shapley_interactions(game, n):
    """Φ_ij: half of what i and j do together beyond each alone; the diagonal keeps Σ_j Φ_ij = φ_i."""
    worth = {s: game(s) for s in coalitions(range(n))}
    values = shapley_values(game, n)
    matrix = np.zeros((n, n, *values.shape[1:]))
    for i, j in combinations(range(n), 2):
        for s in coalitions([k for k in range(n) if k not in (i, j)]):
            weight = factorial(len(s)) * factorial(n - 2 - len(s)) / (2 * factorial(n - 1))
            together = worth[s | {i, j}] - worth[s | {i}] - worth[s | {j}] + worth[s]
            matrix[i, j] += weight * together
        matrix[j, i] = matrix[i, j]
    for i in range(n):
        matrix[i, i] = values[i] - matrix[i].sum(axis=0)
    return matrix
