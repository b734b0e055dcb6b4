r"""The rounds of AdaBoost.R2, and how its learners are combined.

p   = equal weights (or the rows' own)
for t = 1, 2, ...:
    draw rows by p;  h = a learner fitted to them
    l_i = Q(y_i - h(x_i)) on every row,  L = max l,  e = Σ p l
    if e ≥ L/2:  stop, or begin again with p as at first
    β   = e / (L - e)
    p_i = p_i β^(1 - l_i/L), made to sum to 1
predict by the median or mean of the h, weighted with ln(1/β)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bosquet.boosting._endings import Ending, all_rounds
from bosquet.boosting._weak import WeakLearner

# A share of the largest loss below this is taken for this: the weight of a learner stays finite.
LEAST_SHARE = 1e-300
# A loss that is too large is how R2 mostly ends. It is told of where less than one in so many of the rounds
# asked for were made: then hardly anything was boosted.
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
class Account:
    """What the rounds left: learners with their weights, and their mean losses over the largest."""

    hypotheses: list[Any] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    restarts: list[int] = field(default_factory=list)  # rounds whose learner was put aside
    n_rounds: int = 0
    first_share: float = 0.0
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
) -> Account:
    """AdaBoost.R2. If the first learner is too bad already, it is all there is, with the weight 1."""
    start = np.log(weight / weight.sum())
    log_p, p = start, np.exp(start)
    account = Account(ending=all_rounds(n_rounds))
    spare = None
    for t in range(n_rounds):
        account.n_rounds = t + 1
        h = learner.fit(y, p, t)
        given = loss(y - learner.on_training_rows(h))
        largest = float(given.max())
        if largest == 0:  # without a mistake: its weight is infinite, and others have no say
            account.hypotheses, account.weights, account.shares = [h], [1.0], [0.0]
            account.ending = Ending(
                f"the learner of round {t + 1} makes no mistake: it is the model by itself",
                "only a weaker learner, for example a shallower tree, leaves something to boost",
            )
            return account
        share = float((p * given).sum()) / largest
        if t == 0:
            spare, account.first_share = h, share
        if share >= 0.5:
            if not restart:
                account.ending = _too_large(t + 1, share, n_rounds)
                break
            account.restarts.append(t + 1)
            log_p, p = start, np.exp(start)
            continue
        share = max(share, LEAST_SHARE)
        log_beta = math.log(share) - math.log1p(-share)
        account.hypotheses.append(h)
        account.weights.append(-learning_rate * log_beta)
        account.shares.append(share)
        # In logarithms, so that a row that was well predicted for long can still come back.
        log_p = log_p + learning_rate * log_beta * (1 - given / largest)
        log_p -= log_p.max()
        p = np.exp(log_p)
        p /= p.sum()
    if not account.hypotheses:
        account.hypotheses, account.weights = [spare], [1.0]
        account.shares = [account.first_share]
    return account


def _too_large(round_: int, share: float, n_rounds: int) -> Ending:
    return Ending(
        f"the mean loss of the learner of round {round_} is {share:.3g} of its largest, not below 0.5",
        "a stronger learner, for example a deeper tree, can be boosted for longer, and"
        " on_large_error='restart' begins again from even weights"
        if round_ * FEW_ROUNDS < n_rounds
        else "",
    )


def weighted_mean(predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of `predictions` (rows, learners)."""
    return (predictions * (weights / weights.sum())).sum(axis=1)


def weighted_median(predictions: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Of each row the least prediction that, with those below it, holds half of the weight."""
    order = np.argsort(predictions, axis=1, kind="stable")
    return _median_in_order(predictions, order, weights[order])


def staged_medians(predictions: np.ndarray, weights: np.ndarray) -> Any:
    """The weighted medians of the first 1, 2, ... learners; sorted once for all of them."""
    order = np.argsort(predictions, axis=1, kind="stable")
    in_order = weights[order]
    for n in range(1, weights.size + 1):
        yield _median_in_order(predictions, order, np.where(order < n, in_order, 0.0))


def _median_in_order(predictions: np.ndarray, order: np.ndarray, weights: np.ndarray) -> np.ndarray:
    held = np.cumsum(weights, axis=1)
    place = (held >= 0.5 * held[:, -1:]).argmax(axis=1)
    rows = np.arange(predictions.shape[0])
    return predictions[rows, order[rows, place]]
