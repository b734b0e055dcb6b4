r"""Decompositions of the error of a learner, Rademacher complexity, and the edge of a weak learner.

``predictions[r][i]`` is the prediction for row i of the rule h that was fitted to training set r.
Expectations over training sets are means over r. ``probability[i][k]`` is the probability that row i has
class k.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def squared_error_parts(
    predictions: Array, mean: Array, noise: Array
) -> tuple[float, float, float]:
    r"""Return bias², variance and noise: :math:`E(y-h)^2 = (Eh - f)^2 + E(h - Eh)^2 + \mathrm{Var}(y)`.

    `mean` is f, the expectation of y at each row, and `noise` is Var(y).

    >>> squared_error_parts(np.array([[1.0], [3.0]]), np.array([0.0]), np.array([0.5]))
    (4.0, 1.0, 0.5)
    """
    draws, rows = predictions.shape
    bias = variance = 0.0
    for i in range(rows):
        expected = sum(predictions[r, i] for r in range(draws)) / draws
        bias += (expected - mean[i]) ** 2 / rows
        variance += sum((predictions[r, i] - expected) ** 2 for r in range(draws)) / draws / rows
    return float(bias), float(variance), float(sum(noise) / rows)


def kohavi_wolpert_parts(predictions: Array, probability: Array) -> tuple[float, float, float]:
    """Return bias², variance and noise of the 0-1 loss; predictions are class numbers.

    With p_k the probability of class k and q_k the share of rules that predict it, they are ½ Σ (p_k - q_k)²,
    ½ (1 - Σ q_k²) and ½ (1 - Σ p_k²), averaged over the rows.
    """
    rows, classes = probability.shape
    bias = variance = noise = 0.0
    for i in range(rows):
        q = [float(np.mean(predictions[:, i] == k)) for k in range(classes)]
        bias += 0.5 * sum((probability[i, k] - q[k]) ** 2 for k in range(classes)) / rows
        variance += 0.5 * (1 - sum(share**2 for share in q)) / rows
        noise += 0.5 * (1 - sum(probability[i, k] ** 2 for k in range(classes))) / rows
    return float(bias), float(variance), float(noise)


def domingos_rates(predictions: Array, probability: Array) -> tuple[float, float, float, float]:
    """Return Domingos' bias, variance on unbiased rows, variance on biased rows, and noise.

    The main prediction of a row is the most frequent one. A row is biased if it differs from the most
    probable class. Variance is the share of rules that deviate from the main prediction.
    """
    rows, classes = probability.shape
    bias = variance_unbiased = variance_biased = noise = 0.0
    for i in range(rows):
        q = [float(np.mean(predictions[:, i] == k)) for k in range(classes)]
        main, best = int(np.argmax(q)), int(np.argmax(probability[i]))
        bias += (main != best) / rows
        if main == best:
            variance_unbiased += (1 - q[main]) / rows
        else:
            variance_biased += (1 - q[main]) / rows
        noise += (1 - probability[i, best]) / rows
    return float(bias), float(variance_unbiased), float(variance_biased), float(noise)


def zero_one_error(predictions: Array, probability: Array) -> float:
    """Return the probability of an error, P(y ≠ h(x)), averaged over rules and rows."""
    draws, rows = predictions.shape
    total = sum(
        1 - probability[i, int(predictions[r, i])] for r in range(draws) for i in range(rows)
    )
    return float(total / draws / rows)


def vote_parts(votes: Sequence[Sequence[object]], y: Sequence[object]) -> tuple[float, ...]:
    """Return the error of the majority vote, the mean error, the good and the bad diversity.

    `votes[i]` holds the predictions of the learners for row i. Good diversity is the share of wrong learners
    on rows where the vote is right; bad diversity is the share of right learners where the vote is wrong.
    """
    error = mean_error = good = bad = 0.0
    for row, truth in zip(votes, y, strict=True):
        labels = sorted(set(row), key=str)
        winner = max(labels, key=lambda label: sum(vote == label for vote in row))
        wrong = sum(vote != truth for vote in row) / len(row)
        mean_error += wrong / len(y)
        if winner == truth:
            good += wrong / len(y)
        else:
            error += 1 / len(y)
            bad += (1 - wrong) / len(y)
    return error, mean_error, good, bad


def all_stumps(X: Array) -> Array:
    """Return the predictions (-1 or +1) of every stump for every row of X: shape (stumps, rows).

    The first two stumps are constant; then each threshold of each feature follows with both signs.
    """
    rules = [np.ones(len(X)), -np.ones(len(X))]
    for column in X.T:
        for threshold in np.unique(column)[:-1]:
            above = np.where(column > threshold, 1.0, -1.0)
            rules += [above, -above]
    return np.array(rules)


def rademacher(rules: Array) -> float:
    r"""Return the Rademacher complexity :math:`E_\sigma \sup_h \frac1m \sum_i \sigma_i h(x_i)`.

    The expectation is over all :math:`2^m` sign vectors :math:`\sigma`; ``rules[j]`` holds the predictions
    of rule j for the m rows.

    >>> rademacher(np.array([[1.0, 1.0], [-1.0, -1.0]]))
    0.5
    """
    m = rules.shape[1]
    signs = list(itertools.product([-1.0, 1.0], repeat=m))
    return float(np.mean([max(rule @ np.array(sign) for rule in rules) / m for sign in signs]))


def weak_edge(rules: Array, y: Array, rounds: int) -> tuple[float, float]:
    r"""Return a lower and an upper bound of :math:`\gamma^* = \frac12 \min_D \max_h \sum_i D_i y_i h(x_i)`.

    This is half the value of a zero-sum game between the weights D of the rows and the rules h. In each
    round the best rule for the current weights is chosen, and the weights of the rows on which it is right
    are multiplied by a factor below 1. The mean of the chosen rules is a vote whose smallest margin gives
    the lower bound. The mean of the weights gives the upper bound.
    """
    m = len(y)
    step = np.sqrt(8 * np.log(m) / rounds) / 2
    log_weights, mean_weights, mean_margin = np.zeros(m), np.zeros(m), np.zeros(m)
    for _ in range(rounds):
        weights = np.exp(log_weights - log_weights.max())
        weights /= weights.sum()
        best = rules[np.argmax(rules @ (weights * y))]
        mean_weights += weights / rounds
        mean_margin += y * best / rounds
        log_weights -= step * y * best
    return float(mean_margin.min() / 2), float((rules @ (mean_weights * y)).max() / 2)
