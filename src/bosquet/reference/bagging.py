r"""Bags, votes and the rows out of the bag.

A bag says how often each row was drawn: ``counts[t][i]`` for learner t and row i. A learner's vote
is a vector a row: one number a class (a probability, or 1 for the class it names), or its
prediction. The ensemble's vote is the mean, :math:`H_T = \frac1T \sum_t h_t`.

A row can be judged by the learners that did not draw it, as if it were new. That gives two errors:
the mean of each learner's error on the rows it did not draw, and the error of the vote over the
learners that did not draw a row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]  # (learners, rows)
Loss = Callable[[Array, float | int], float]  # of one vote, given the truth


def misclassified(vote: Array, truth: int | float) -> float:
    """1 unless the largest vote is for the class of that number; of equal ones the first counts.

    >>> misclassified(np.array([0.2, 0.4, 0.4]), 1), misclassified(np.array([0.2, 0.4, 0.4]), 2)
    (0.0, 1.0)
    """
    largest = 0
    for k in range(len(vote)):
        if vote[k] > vote[largest]:
            largest = k
    return float(largest != truth)


def squared_error(vote: Array, truth: int | float) -> float:
    return float((vote[0] - truth) ** 2)


def mean_vote(votes: Sequence[Array], weights: Sequence[float] | None = None) -> Array:
    """The weighted mean of some learners' votes on one row."""
    weights = [1.0] * len(votes) if weights is None else weights
    total = np.zeros(len(votes[0]))
    for weight, vote in zip(weights, votes, strict=True):
        total += weight * vote
    return total / sum(weights)


def out_of_bag_votes(counts: Counts, votes: Array) -> Array:
    """Mean vote on each row over the learners that did not draw it; NaN where there is none.

    `votes` has shape (learners, rows, columns).

    >>> counts = np.array([[2, 0, 1], [0, 2, 1]])
    >>> votes = np.array([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    >>> out_of_bag_votes(counts, votes)[:, 0]
    array([ 4.,  2., nan])
    """
    learners, rows, columns = votes.shape
    result = np.full((rows, columns), np.nan)
    for i in range(rows):
        strangers = [votes[t, i] for t in range(learners) if counts[t, i] == 0]
        if strangers:
            result[i] = mean_vote(strangers)
    return result


def out_of_bag_error(counts: Counts, votes: Array, y: Array, loss: Loss) -> float:
    """Mean loss of the out-of-bag votes, over the rows that have one."""
    means = out_of_bag_votes(counts, votes)
    losses = [loss(means[i], y[i]) for i in range(len(y)) if not np.isnan(means[i]).any()]
    return float(np.mean(losses)) if losses else math.nan


def out_of_bag_curve(counts: Counts, votes: Array, y: Array, loss: Loss) -> list[float]:
    """The error after 1, 2, ... learners."""
    return [out_of_bag_error(counts[:t], votes[:t], y, loss) for t in range(1, len(votes) + 1)]


def mean_learner_error(counts: Counts, votes: Array, y: Array, loss: Loss) -> float:
    """Mean over the learners of each one's mean loss on the rows it did not draw."""
    errors = []
    for t in range(len(votes)):
        losses = [loss(votes[t, i], y[i]) for i in range(len(y)) if counts[t, i] == 0]
        if losses:
            errors.append(np.mean(losses))
    return float(np.mean(errors))


def jackknife_variance(counts: Counts, votes: Array) -> float:
    r"""Jackknife after bootstrap of the mean of `votes` (one number a learner), bootstrap bags.

    .. math:: \frac{n-1}{n} \sum_i \left[ (\bar t_{(-i)} - \bar t)^2
              - \left(\frac1{B_i} - \frac1B\right) s^2 \right]

    with :math:`\bar t_{(-i)}` the mean over the :math:`B_i` of B learners that did not draw row i, and
    :math:`s^2` the variance of the votes. The second term is the variance of a mean of :math:`B_i`
    votes taken at random: what is seen where rows do not matter. With :math:`B_i \approx B/e` it
    adds up to :math:`(e - 1)\, n s^2 / B`.
    """
    learners, n = counts.shape
    mean = votes.mean()
    spread = sum((vote - mean) ** 2 for vote in votes) / (learners - 1)
    total = 0.0
    for i in range(n):
        without = [votes[t] for t in range(learners) if counts[t, i] == 0]
        luck = (1 / len(without) - 1 / learners) * spread
        total += (np.mean(without) - mean) ** 2 - luck
    return max(0.0, float((n - 1) / n * total))


def ambiguity(predictions: Array, y: Array, weights: Sequence[float]) -> tuple[float, float, float]:
    """Error of the mean, mean error and mean disagreement; `predictions` are (rows, learners)."""
    rows, learners = predictions.shape
    share = [weight / sum(weights) for weight in weights]
    error_of_mean = mean_error = disagreement = 0.0
    for i in range(rows):
        mean = sum(share[t] * predictions[i, t] for t in range(learners))
        error_of_mean += (mean - y[i]) ** 2 / rows
        for t in range(learners):
            mean_error += share[t] * (predictions[i, t] - y[i]) ** 2 / rows
            disagreement += share[t] * (predictions[i, t] - mean) ** 2 / rows
    return float(error_of_mean), float(mean_error), float(disagreement)
