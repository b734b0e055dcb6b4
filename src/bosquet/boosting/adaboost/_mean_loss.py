r"""The rounds of AdaBoost.R2, and how its learners are combined.

p   = equal weights (or the sample weights)
for t = 1, 2, ...:
    draw rows with probabilities p;  h = a learner fitted to them
    l_i = Q(y_i - h(x_i)) on every row,  L = max l,  e = Σ p l
    if e ≥ L/2:  stop, or start again with the initial p
    β   = e / (L - e)
    p_i = p_i β^(1 - l_i/L), normalised to sum to 1
predict the median or mean of the h, weighted with ln(1/β)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet.boosting.adaboost._weak_learners import WeakLearner
from bosquet.boosting.adaboost.endings import Ending, all_rounds

# Lower bound of the mean loss in units of the largest: the weight of a learner stays finite.
MIN_RELATIVE_LOSS = 1e-300
# R2 usually ends by a mean loss that is too large. There is a warning only if fewer than one in this many of
# the requested rounds were run.
FEW_ROUNDS = 10


@dataclass(frozen=True)
class ErrorLoss:
    """Q, by name: |e|, e² or 1 - exp(-|e| / unit)."""

    name: str
    unit: float = 1.0

    def __call__(self, errors: np.ndarray) -> np.ndarray:
        if self.name == "linear":
            return np.abs(errors)
        if self.name == "square":
            return errors * errors
        return -np.expm1(-np.abs(errors) / self.unit)


@dataclass
class MeanLossRounds:
    """The result of the rounds: learners, their weights, and their mean losses in units of the largest."""

    hypotheses: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    relative_losses: list[float] = field(default_factory=list)
    restarts: list[int] = field(default_factory=list)  # rounds whose learner was discarded
    n_rounds: int = 0
    first_relative_loss: float = 0.0
    ending: Ending = field(default_factory=lambda: Ending(""))


def boost_mean_loss(
    learner: WeakLearner,
    y: np.ndarray,
    weight: np.ndarray,
    loss: Callable[[np.ndarray], np.ndarray],
    *,
    n_rounds: int,
    learning_rate: float,
    restart: bool,
) -> MeanLossRounds:
    """Run AdaBoost.R2. If the mean loss of the first learner is too large, it is the only one."""
    start = np.log(weight / weight.sum())
    log_p, p = start, np.exp(start)
    result = MeanLossRounds(ending=all_rounds(n_rounds))
    first_learner = None
    for t in range(n_rounds):
        result.n_rounds = t + 1
        h = learner.fit(y, p, t)
        losses = loss(y - learner.predict_training_rows(h))
        largest = float(losses.max())
        if largest == 0:  # the weight of a perfect learner would be infinite: it is the only one
            result.hypotheses, result.weights, result.relative_losses = [h], [1.0], [0.0]
            result.ending = Ending(
                f"the learner of round {t + 1} makes no mistake: it alone is the model",
                "use a weaker learner, for example a shallower tree",
            )
            return result
        relative_loss = float((p * losses).sum()) / largest
        if t == 0:
            first_learner, result.first_relative_loss = h, relative_loss
        if relative_loss >= 0.5:
            if not restart:
                result.ending = _large_loss_ending(t + 1, relative_loss, n_rounds)
                break
            result.restarts.append(t + 1)
            log_p, p = start, np.exp(start)
            continue
        relative_loss = max(relative_loss, MIN_RELATIVE_LOSS)
        log_beta = math.log(relative_loss) - math.log1p(-relative_loss)
        result.hypotheses.append(h)
        result.weights.append(-learning_rate * log_beta)
        result.relative_losses.append(relative_loss)
        # In logarithms, so that the weight of a well predicted row does not underflow to 0.
        log_p = log_p + learning_rate * log_beta * (1 - losses / largest)
        log_p -= log_p.max()
        p = np.exp(log_p)
        p /= p.sum()
    if not result.hypotheses:
        result.hypotheses, result.weights = [first_learner], [1.0]
        result.relative_losses = [result.first_relative_loss]
    return result


def _large_loss_ending(round_: int, relative_loss: float, n_rounds: int) -> Ending:
    return Ending(
        f"the mean loss of the learner of round {round_} is {relative_loss:.3g} of its largest, not below"
        " 0.5",
        "use a stronger learner, for example a deeper tree, or on_large_error='restart', which starts again"
        " from the initial weights"
        if round_ * FEW_ROUNDS < n_rounds
        else "",
    )


def weighted_mean(predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted mean of `predictions` (rows, learners) for each row."""
    return (predictions * (weights / weights.sum())).sum(axis=1)


def weighted_median(predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return for each row the smallest prediction at which the cumulated weight reaches one half."""
    order = np.argsort(predictions, axis=1, kind="stable")
    return _median_in_order(predictions, order, weights[order])


def staged_medians(predictions: np.ndarray, weights: np.ndarray) -> Any:
    """Return the weighted medians of the first 1, 2, ... learners; the predictions are sorted once."""
    order = np.argsort(predictions, axis=1, kind="stable")
    in_order = weights[order]
    for n in range(1, weights.size + 1):
        yield _median_in_order(predictions, order, np.where(order < n, in_order, 0.0))


def _median_in_order(predictions: np.ndarray, order: np.ndarray, weights: np.ndarray) -> np.ndarray:
    cumulative_weight = np.cumsum(weights, axis=1)
    rank = (cumulative_weight >= 0.5 * cumulative_weight[:, -1:]).argmax(axis=1)
    rows = np.arange(predictions.shape[0])
    return predictions[rows, order[rows, rank]]
