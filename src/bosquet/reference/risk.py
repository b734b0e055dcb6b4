r"""The error of a learner taken apart, and the richness of a class, word for word.

``said[r][i]`` is what the rule learned from training set r says of row i. Expectations over
training sets are means over r.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def squared_error_parts(said: Array, mean: Array, noise: Array) -> tuple[float, float, float]:
    r"""Bias², variance and noise: :math:`E(y-h)^2 = (Eh - f)^2 + E(h - Eh)^2 + \mathrm{Var}(y)`.

    >>> squared_error_parts(np.array([[1.0], [3.0]]), np.array([0.0]), np.array([0.5]))
    (4.0, 1.0, 0.5)
    """
    draws, rows = said.shape
    bias = variance = 0.0
    for i in range(rows):
        centre = sum(said[r, i] for r in range(draws)) / draws
        bias += (centre - mean[i]) ** 2 / rows
        variance += sum((said[r, i] - centre) ** 2 for r in range(draws)) / draws / rows
    return float(bias), float(variance), float(sum(noise) / rows)


def kohavi_wolpert_parts(said: Array, probability: Array) -> tuple[float, float, float]:
    """Bias², variance and noise of 0-1 loss; classes are numbers, `probability` is (rows, classes)."""
    rows, classes = probability.shape
    bias = variance = noise = 0.0
    for i in range(rows):
        says = [float(np.mean(said[:, i] == k)) for k in range(classes)]
        bias += 0.5 * sum((probability[i, k] - says[k]) ** 2 for k in range(classes)) / rows
        variance += 0.5 * (1 - sum(share**2 for share in says)) / rows
        noise += 0.5 * (1 - sum(probability[i, k] ** 2 for k in range(classes))) / rows
    return float(bias), float(variance), float(noise)


def domingos_rates(said: Array, probability: Array) -> tuple[float, float, float, float]:
    """Bias, variance where the main prediction is right, where it is wrong, and noise."""
    rows, classes = probability.shape
    bias = hurting = helping = noise = 0.0
    for i in range(rows):
        says = [float(np.mean(said[:, i] == k)) for k in range(classes)]
        main, best = int(np.argmax(says)), int(np.argmax(probability[i]))
        bias += (main != best) / rows
        if main == best:
            hurting += (1 - says[main]) / rows
        else:
            helping += (1 - says[main]) / rows
        noise += (1 - probability[i, best]) / rows
    return float(bias), float(hurting), float(helping), float(noise)


def zero_one_error(said: Array, probability: Array) -> float:
    """P(y is not what a rule says), over rules, rows and y."""
    draws, rows = said.shape
    total = sum(1 - probability[i, int(said[r, i])] for r in range(draws) for i in range(rows))
    return float(total / draws / rows)


def vote_parts(votes: Sequence[Sequence[object]], y: Sequence[object]) -> tuple[float, ...]:
    """Error of the majority vote, mean error, mistakes repaired and hits wasted; (rows, learners)."""
    error = mean_error = repaired = wasted = 0.0
    for row, truth in zip(votes, y, strict=True):
        labels = sorted(set(row), key=str)
        winner = max(labels, key=lambda label: sum(vote == label for vote in row))
        wrong = sum(vote != truth for vote in row) / len(row)
        mean_error += wrong / len(y)
        if winner == truth:
            repaired += wrong / len(y)
        else:
            error += 1 / len(y)
            wasted += (1 - wrong) / len(y)
    return error, mean_error, repaired, wasted


def all_stumps(X: Array) -> Array:
    """What every stump says of every row, one row a rule: constants, then each cut both ways."""
    rules = [np.ones(len(X)), -np.ones(len(X))]
    for column in X.T:
        for cut in np.unique(column)[:-1]:
            above = np.where(column > cut, 1.0, -1.0)
            rules += [above, -above]
    return np.array(rules)


def rademacher(rules: Array) -> float:
    r""":math:`E_\sigma \sup_h \frac1m \sum_i \sigma_i h(x_i)` over all signs; one row a rule.

    >>> rademacher(np.array([[1.0, 1.0], [-1.0, -1.0]]))
    0.5
    """
    m = rules.shape[1]
    signs = list(itertools.product([-1.0, 1.0], repeat=m))
    return float(np.mean([max(rule @ np.array(sign) for rule in rules) / m for sign in signs]))


def weak_edge(rules: Array, y: Array, rounds: int) -> tuple[float, float]:
    r"""Bounds of :math:`\gamma^* = \frac12 \min_D \max_h \sum_i D_i y_i h(x_i)`, by boosting.

    Weights of rows that lose weight where a rule is right, by multiplicative steps, play against the
    best rule. The mean of the weights is nearly the hardest, the mean of the rules nearly the best
    vote, and the value of the game lies between what each of them is worth.
    """
    m = len(y)
    step = np.sqrt(8 * np.log(m) / rounds) / 2
    logarithm, mean_weights, mean_margin = np.zeros(m), np.zeros(m), np.zeros(m)
    for _ in range(rounds):
        weights = np.exp(logarithm - logarithm.max())
        weights /= weights.sum()
        best = rules[np.argmax(rules @ (weights * y))]
        mean_weights += weights / rounds
        mean_margin += y * best / rounds
        logarithm -= step * y * best
    return float(mean_margin.min() / 2), float((rules @ (mean_weights * y)).max() / 2)
