r"""Bagging: votes of learners fitted to bags, and out-of-bag errors.

A bag is a sample of the rows: ``counts[t][i]`` is how often learner t drew row i. The vote of a learner on
a row is a vector: for classification a number per class (a probability, or 1 for the predicted class), for
regression the predicted value. The vote of the ensemble is the mean, :math:`H_T = \frac1T \sum_t h_t`.

Learners that did not draw a row can be tested on it. There are two out-of-bag errors: the mean over the
learners of their own errors on the rows that they did not draw, and the error of the vote in which only
the learners take part that did not draw the row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Counts = NDArray[np.int64]  # (learners, rows)
Loss = Callable[[Array, float | int], float]  # vote, true target -> loss


def misclassified(vote: Array, truth: int | float) -> float:
    """Return 1 unless the class `truth` has the largest vote; the first class wins a tie.

    >>> misclassified(np.array([0.2, 0.4, 0.4]), 1), misclassified(np.array([0.2, 0.4, 0.4]), 2)
    (0.0, 1.0)
    """
    largest = 0
    for k in range(len(vote)):
        if vote[k] > vote[largest]:
            largest = k
    return float(largest != truth)


def squared_error(vote: Array, truth: int | float) -> float:
    """Return the squared error of a prediction."""
    return float((vote[0] - truth) ** 2)


def mean_vote(votes: Sequence[Array], weights: Sequence[float] | None = None) -> Array:
    """Return the weighted mean of the votes of several learners on one row."""
    weights = [1.0] * len(votes) if weights is None else weights
    total = np.zeros(len(votes[0]))
    for weight, vote in zip(weights, votes, strict=True):
        total += weight * vote
    return total / sum(weights)


def out_of_bag_votes(counts: Counts, votes: Array) -> Array:
    """Return the mean vote on each row over the learners that did not draw it; NaN if there is none.

    `votes` has shape (learners, rows, columns).

    >>> counts = np.array([[2, 0, 1], [0, 2, 1]])
    >>> votes = np.array([[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]])
    >>> out_of_bag_votes(counts, votes)[:, 0]
    array([ 4.,  2., nan])
    """
    learners, rows, columns = votes.shape
    result = np.full((rows, columns), np.nan)
    for i in range(rows):
        out_of_bag = [votes[t, i] for t in range(learners) if counts[t, i] == 0]
        if out_of_bag:
            result[i] = mean_vote(out_of_bag)
    return result


def out_of_bag_error(counts: Counts, votes: Array, y: Array, loss: Loss) -> float:
    """Return the mean loss of the out-of-bag votes, over the rows that have one."""
    means = out_of_bag_votes(counts, votes)
    losses = [loss(means[i], y[i]) for i in range(len(y)) if not np.isnan(means[i]).any()]
    return float(np.mean(losses)) if losses else math.nan


def out_of_bag_curve(counts: Counts, votes: Array, y: Array, loss: Loss) -> list[float]:
    """Return the out-of-bag error after 1, 2, ... learners."""
    return [out_of_bag_error(counts[:t], votes[:t], y, loss) for t in range(1, len(votes) + 1)]


def mean_learner_error(counts: Counts, votes: Array, y: Array, loss: Loss) -> float:
    """Return the mean over the learners of their mean loss on the rows that they did not draw."""
    errors = []
    for t in range(len(votes)):
        losses = [loss(votes[t, i], y[i]) for i in range(len(y)) if counts[t, i] == 0]
        if losses:
            errors.append(np.mean(losses))
    return float(np.mean(errors))


def jackknife_variance(counts: Counts, votes: Array) -> float:
    r"""Estimate the variance of the mean vote by the jackknife after bootstrap.

    `votes` are the predictions of the learners for one row, each fitted to a bootstrap sample.

    .. math:: \frac{n-1}{n} \sum_i \left[ (\bar t_{(-i)} - \bar t)^2
              - \left(\frac1{B_i} - \frac1B\right) s^2 \right]

    with :math:`\bar t` the mean of all B votes, :math:`\bar t_{(-i)}` the mean of the :math:`B_i` learners
    that did not draw row i, and :math:`s^2` the variance of the votes. The second term corrects for a finite
    B: it is the expected first term if the votes did not depend on the rows. With :math:`B_i \approx B/e`
    its sum is :math:`(e - 1)\, n s^2 / B`.
    """
    learners, n = counts.shape
    mean = votes.mean()
    variance = sum((vote - mean) ** 2 for vote in votes) / (learners - 1)
    total = 0.0
    for i in range(n):
        without_row = [votes[t] for t in range(learners) if counts[t, i] == 0]
        correction = (1 / len(without_row) - 1 / learners) * variance
        total += (np.mean(without_row) - mean) ** 2 - correction
    return max(0.0, float((n - 1) / n * total))


def ambiguity(predictions: Array, y: Array, weights: Sequence[float]) -> tuple[float, float, float]:
    """Return the error of the mean, the mean error and the ambiguity.

    The first is the second minus the third. Errors are squared errors, averaged over the rows. The ambiguity
    is the mean squared distance of the predictions from their mean. `predictions` has shape (rows, learners).
    """
    rows, learners = predictions.shape
    share = [weight / sum(weights) for weight in weights]
    error_of_mean = mean_error = mean_ambiguity = 0.0
    for i in range(rows):
        mean = sum(share[t] * predictions[i, t] for t in range(learners))
        error_of_mean += (mean - y[i]) ** 2 / rows
        for t in range(learners):
            mean_error += share[t] * (predictions[i, t] - y[i]) ** 2 / rows
            mean_ambiguity += share[t] * (predictions[i, t] - mean) ** 2 / rows
    return float(error_of_mean), float(mean_error), float(mean_ambiguity)
