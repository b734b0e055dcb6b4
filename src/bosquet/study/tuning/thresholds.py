"""From probabilities to decisions: the threshold that suits the costs, or a rare class.

It is chosen on training rows by models that have not seen them, never on test rows.

>>> import numpy as np
>>> from bosquet.study.tuning.thresholds import best_threshold
>>> p, event = np.array([0.1, 0.2, 0.4, 0.7]), np.array([False, False, True, True])
>>> round(best_threshold(p, event, alarm=1.0, miss=1.0), 3)
0.3
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logit

from bosquet._targets import class_numbers
from bosquet.study.methods.candidates import Unseen
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.metrics.scoring import Metric, answer_of, decided
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import design_folds
from bosquet.study.table.frames import take
from bosquet.study.tuning.validation import placed

FOLDS = 3
DRAWS = 50  # of the rows, to average thresholds over
TINY, EPSILON = np.finfo(float).tiny, np.finfo(float).eps
ENOUGH_EVENTS = 50  # validation rows of the rarer class that a threshold is found on
MOST_ROWS = 0.9  # rows that some bag must leave out for their votes to be taken


@dataclass(frozen=True)
class Decision:
    """How probabilities become decisions.

    `threshold` is the probability of the positive class from which on it is decided for; without one the
    likeliest class, or the one of least expected cost.
    """

    classes: np.ndarray
    positive: int = 1
    threshold: float | None = None
    costs: np.ndarray | None = None

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        """Labels."""
        if self.threshold is None:
            return self.classes[decided(probabilities, self.costs)]
        said = probabilities[:, self.positive] >= self.threshold
        return self.classes[np.where(said, self.positive, 1 - self.positive)]

    def as_costs(self) -> np.ndarray | None:
        """Costs under which the class of least expected cost is the decision; None for the likeliest."""
        if self.threshold is None:
            return self.costs
        costs = np.zeros((2, 2))
        costs[1 - self.positive, self.positive] = self.threshold
        costs[self.positive, 1 - self.positive] = 1 - self.threshold
        return costs


def best_threshold(
    p: np.ndarray,
    event: np.ndarray,
    *,
    alarm: float,
    miss: float,
    times: np.ndarray | None = None,
) -> float:
    """The threshold on p of least cost, with the cost of a false alarm and of a missed event.

    It lies halfway between two scores; of several equally good ones in the middle of them. A row counts as
    many `times` as is said, by default once.
    """
    times = np.ones(len(p)) if times is None else times
    order = np.argsort(p, kind="stable")
    order = order[times[order] > 0]
    p, event, times = p[order], event[order], times[order]
    # cost[k]: the k lowest scores are below the threshold.
    missed = np.concatenate([[0], np.cumsum(times * event)]) * miss
    alarms = np.concatenate([np.cumsum((times * ~event)[::-1])[::-1], [0]]) * alarm
    cost = missed + alarms
    possible = np.concatenate([[True], p[1:] > p[:-1], [True]])  # equal scores stay together
    best = np.flatnonzero(possible & (cost <= cost[possible].min() * (1 + 1e-12)))
    place = int(best[len(best) // 2])
    low = p[place - 1] if place > 0 else 0.0
    high = p[place] if place < len(p) else 1.0
    return float((low + high) / 2)


def steady_threshold(
    p: np.ndarray,
    event: np.ndarray,
    *,
    alarm: float,
    miss: float,
    seed: int = 0,
    weight: np.ndarray | None = None,
) -> float:
    """The best thresholds of some bootstrap draws of the rows, averaged; a row counts by its weight.

    Few events make the best threshold of the rows themselves jump; bagging steadies it as it does trees. It
    is the one nearest to the mean of the middle half, as log-odds: a mean itself may lie where no draw
    wanted it, and scores of 0 and 1 have no log-odds to average.
    """
    random = np.random.default_rng(seed)
    order = np.argsort(p, kind="stable")
    p, event = p[order], event[order]
    weight = np.ones(len(p)) if weight is None else weight[order]
    found = []
    for _ in range(DRAWS):
        times = np.bincount(random.integers(len(p), size=len(p)), minlength=len(p)) * weight
        if times[event].any() and times[~event].any():
            found.append(best_threshold(p, event, alarm=alarm, miss=miss, times=times))
    if not found:
        return best_threshold(p, event, alarm=alarm, miss=miss, times=weight)
    odds = logit(np.clip(found, TINY, 1 - EPSILON))
    quarter = len(odds) // 4
    middle = np.sort(odds)[quarter : len(odds) - quarter].mean()
    return found[int(np.abs(odds - middle).argmin())]


def unseen_answers(
    fitted: Any,
    candidate: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    seed: int,
    held: Unseen | None = None,
    design: Design | None = None,
) -> Unseen:
    """Probabilities of training rows by models that have not seen them.

    `held` are those of validation rows, which will do if the rarer class has enough of them: no further fit.
    """
    found = answers_at_hand(fitted, y, metric, design)
    if found is None and held is not None:
        events = int((class_numbers(held.y, metric.classes) == metric.positive).sum())
        found = held if min(events, len(held.y) - events) >= ENOUGH_EVENTS else None
    return found or out_of_fold(candidate, X, y, metric, seed, design=design)


def answers_at_hand(
    fitted: Any, y: np.ndarray, metric: Metric, design: Design | None = None
) -> Unseen | None:
    """What a fit has said of rows that were not learned from; None if it has not.

    Of a bagged model these are the votes of the trees whose bags a row is not in, of a super learner what
    its learners said in the folds: a handful of weights has seen these answers, no learner the rows.
    """
    from bosquet.experts import SuperLearnerClassifier

    # Bags part groups and times.
    bags = design is None or not design.parts_rows
    votes = getattr(fitted, "oob_decision_function_", None) if bags else None
    if isinstance(fitted, SuperLearnerClassifier):
        votes = np.tensordot(fitted.cv_predictions_, fitted.weights_, axes=(1, 0))
    if votes is None or len(votes) != len(y):
        return None
    known = np.isfinite(votes).all(axis=1)
    if known.mean() <= MOST_ROWS:
        return None
    return Unseen(placed(votes[known], fitted, metric), y[known], _weight_of(design, known))


def _weight_of(design: Design | None, known: np.ndarray) -> np.ndarray | None:
    return None if design is None or design.weight is None else design.weight[known]


def out_of_fold(
    candidate: Any,
    X: Any,
    y: np.ndarray,
    metric: Metric,
    seed: int,
    folds: int = FOLDS,
    design: Design | None = None,
) -> Unseen:
    """Probabilities of rows by models fitted on the other folds, or on those before."""
    from sklearn.model_selection import StratifiedKFold

    design = design or Design()
    rarest = int(np.unique(y, return_counts=True)[1].min())
    folds = max(2, min(folds, rarest))
    parts = design_folds(design, folds, seed)
    if parts is None:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed % 2**31)
        parts = list(splitter.split(np.zeros(len(y)), y))
    answer = np.full((len(y), len(metric.classes)), np.nan)
    for train, test in parts:
        some = design.take(train)
        model = fit_by_design(candidate.make(seed), take(X, train), y[train], some, seed)
        answer[test] = placed(answer_of(model, take(X, test), metric), model, metric)
    known = ~np.isnan(answer).any(axis=1)
    return Unseen(answer[known], y[known], _weight_of(design, known))


def needs_threshold(metric: Metric, rare: bool) -> bool:
    """Whether to decide otherwise than for the likeliest: two classes, with costs or one of them rare."""
    return len(metric.classes) == 2 and (metric.costs is not None or rare)


def choose_decision(
    answer: np.ndarray, y: np.ndarray, metric: Metric, weight: np.ndarray | None = None
) -> Decision:
    """The decision of least cost on answers out of fold; without costs, of the best balanced accuracy."""
    event = class_numbers(y, metric.classes) == metric.positive
    if metric.costs is None:
        counted = np.ones(len(event)) if weight is None else weight
        others, events = counted[~event].sum(), counted[event].sum()
        alarm, miss = 1 / others if others > 0 else 1.0, 1 / events if events > 0 else 1.0
    else:
        other = 1 - metric.positive
        alarm = metric.costs[other, metric.positive] - metric.costs[other, other]
        miss = metric.costs[metric.positive, other] - metric.costs[metric.positive, metric.positive]
    p = answer[:, metric.positive]
    threshold = steady_threshold(p, event, alarm=alarm, miss=miss, weight=weight)
    return Decision(metric.classes, metric.positive, threshold, metric.costs)


def plain_decision(metric: Metric) -> Decision:
    """For the likeliest class, or the one of least expected cost."""
    return Decision(metric.classes, metric.positive, None, metric.costs)
