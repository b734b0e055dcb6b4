"""Decision thresholds on probabilities, for given costs or for a rare class.

A threshold is chosen on out-of-sample predictions for training rows, never on test rows.

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

from bosquet._sklearn import rows_of
from bosquet._targets import class_numbers
from bosquet.experts import SuperLearnerClassifier
from bosquet.study.methods.candidates import ValidationPredictions
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.metrics.metric import Metric, class_decisions, predictions_for
from bosquet.study.table.design_splits import design_folds
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.validation import with_all_classes

THRESHOLD_FOLDS = 3
DRAWS = 50  # bootstrap samples over which the threshold is averaged
TINY, EPSILON = np.finfo(float).tiny, np.finfo(float).eps
ENOUGH_EVENTS = 50  # rows of the rarer class in a validation set that suffice to choose a threshold
KNOWN_SHARE = 0.9  # out-of-bag predictions are used if they exist for a larger share of the rows


@dataclass(frozen=True)
class Decision:
    """Decision rule: turns probabilities into labels.

    With a `threshold` a row is labelled positive if the probability of the positive class is at least the
    threshold. Without one the label is the most probable class or, with `costs`, the class of the smallest
    expected cost.
    """

    classes: np.ndarray
    positive: int = 1
    threshold: float | None = None
    costs: np.ndarray | None = None

    def __call__(self, probabilities: np.ndarray) -> np.ndarray:
        """Return the predicted labels."""
        if self.threshold is None:
            return self.classes[class_decisions(probabilities, self.costs)]
        is_positive = probabilities[:, self.positive] >= self.threshold
        return self.classes[np.where(is_positive, self.positive, 1 - self.positive)]

    def as_costs(self) -> np.ndarray | None:
        """Return costs that lead to the same decisions; None if the most probable class is chosen."""
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
    counts: np.ndarray | None = None,
) -> float:
    """Return the threshold on p with the smallest cost of false alarms and missed events.

    The threshold is the midpoint between two scores. If several are equally good, the middle one of them is
    returned. `counts` weights the rows, default: 1 each.
    """
    counts = np.ones(len(p)) if counts is None else counts
    order = np.argsort(p, kind="stable")
    order = order[counts[order] > 0]
    p, event, counts = p[order], event[order], counts[order]
    # cost[k]: cost if exactly the k smallest scores are below the threshold.
    missed = np.concatenate([[0], np.cumsum(counts * event)]) * miss
    alarms = np.concatenate([np.cumsum((counts * ~event)[::-1])[::-1], [0]]) * alarm
    cost = missed + alarms
    # A threshold cannot separate equal scores.
    possible = np.concatenate([[True], p[1:] > p[:-1], [True]])
    best = np.flatnonzero(possible & (cost <= cost[possible].min() * (1 + 1e-12)))
    k = int(best[len(best) // 2])
    low = p[k - 1] if k > 0 else 0.0
    high = p[k] if k < len(p) else 1.0
    return float((low + high) / 2)


def bagged_threshold(
    p: np.ndarray,
    event: np.ndarray,
    *,
    alarm: float,
    miss: float,
    seed: int = 0,
    weight: np.ndarray | None = None,
) -> float:
    """Return an average of the best thresholds of bootstrap samples; rows are weighted by `weight`.

    With few events the best threshold of the rows varies strongly; bagging reduces its variance. The result
    is the bootstrap threshold whose log-odds are nearest to their interquartile mean. The mean itself is not
    returned, because it may lie where no bootstrap sample has its best threshold.
    """
    rng = np.random.default_rng(seed)
    order = np.argsort(p, kind="stable")
    p, event = p[order], event[order]
    weight = np.ones(len(p)) if weight is None else weight[order]
    thresholds = []
    for _ in range(DRAWS):
        counts = np.bincount(rng.integers(len(p), size=len(p)), minlength=len(p)) * weight
        if counts[event].any() and counts[~event].any():
            thresholds.append(best_threshold(p, event, alarm=alarm, miss=miss, counts=counts))
    if not thresholds:
        return best_threshold(p, event, alarm=alarm, miss=miss, counts=weight)
    odds = logit(np.clip(thresholds, TINY, 1 - EPSILON))
    quarter = len(odds) // 4
    middle = np.sort(odds)[quarter : len(odds) - quarter].mean()
    return thresholds[int(np.abs(odds - middle).argmin())]


def out_of_sample_predictions(
    fitted: Any,
    candidate: Any,
    rows: TableRows,
    metric: Metric,
    seed: int,
    validation: ValidationPredictions | None = None,
) -> ValidationPredictions:
    """Return probabilities of training rows from models that were not fitted to these rows.

    `validation` are the predictions for the validation set. They are used if it has enough rows of the
    rarer class, which saves further fits.
    """
    out_of_sample = stored_predictions(fitted, rows, metric)
    if out_of_sample is None and validation is not None:
        events = int((class_numbers(validation.y, metric.classes) == metric.positive).sum())
        out_of_sample = (
            validation if min(events, len(validation.y) - events) >= ENOUGH_EVENTS else None
        )
    return out_of_sample or out_of_fold_predictions(candidate, rows, metric, seed)


def stored_predictions(
    fitted: Any, rows: TableRows, metric: Metric
) -> ValidationPredictions | None:
    """Return the out-of-sample predictions that a fitted model stores, or None if it has none.

    A bagged model stores out-of-bag predictions. A super learner stores the cross-validated predictions of
    its learners; only its few weights were fitted to them.
    """
    # Bootstrap samples divide groups and mix times: out-of-bag rows are then not independent of the bag.
    dependent = rows.design.has_dependent_rows
    votes = None if dependent else getattr(fitted, "oob_decision_function_", None)
    if isinstance(fitted, SuperLearnerClassifier):
        votes = np.tensordot(fitted.cv_predictions_, fitted.weights_, axes=(1, 0))
    if votes is None or len(votes) != len(rows):
        return None
    has_prediction = np.isfinite(votes).all(axis=1)
    if has_prediction.mean() <= KNOWN_SHARE:
        return None
    return ValidationPredictions(
        with_all_classes(votes[has_prediction], fitted, metric),
        rows.y[has_prediction],
        _weight_of_rows(rows, has_prediction),
    )


def _weight_of_rows(rows: TableRows, mask: np.ndarray) -> np.ndarray | None:
    return None if rows.weight is None else rows.weight[mask]


def out_of_fold_predictions(
    candidate: Any, rows: TableRows, metric: Metric, seed: int, folds: int = THRESHOLD_FOLDS
) -> ValidationPredictions:
    """Return cross-validated probabilities; with a time column, folds are predicted from earlier rows."""
    from sklearn.model_selection import StratifiedKFold

    y = rows.y
    rarest = int(np.unique(y, return_counts=True)[1].min())
    folds = max(2, min(folds, rarest))
    splits = design_folds(rows.design, folds, seed)
    if splits is None:
        splitter = StratifiedKFold(folds, shuffle=True, random_state=seed % 2**31)
        splits = list(splitter.split(np.zeros(len(y)), y))
    predictions = np.full((len(y), len(metric.classes)), np.nan)
    for train, test in splits:
        model = fit_by_design(candidate.make(seed), rows.take(train), seed)
        predicted = predictions_for(model, rows_of(rows.X, test), metric)
        predictions[test] = with_all_classes(predicted, model, metric)
    has_prediction = ~np.isnan(predictions).any(axis=1)
    return ValidationPredictions(
        predictions[has_prediction], y[has_prediction], _weight_of_rows(rows, has_prediction)
    )


def needs_threshold(metric: Metric, rare: bool) -> bool:
    """Return whether a threshold has to be chosen: two classes, with costs or with a rare class."""
    return len(metric.classes) == 2 and (metric.costs is not None or rare)


def choose_decision(
    probabilities: np.ndarray, y: np.ndarray, metric: Metric, weight: np.ndarray | None = None
) -> Decision:
    """Return the decision rule of the smallest cost; without costs, of the best balanced accuracy.

    `probabilities` are out-of-sample predictions for rows with the targets `y`.
    """
    event = class_numbers(y, metric.classes) == metric.positive
    if metric.costs is None:
        weights = np.ones(len(event)) if weight is None else weight
        others, events = weights[~event].sum(), weights[event].sum()
        alarm, miss = 1 / others if others > 0 else 1.0, 1 / events if events > 0 else 1.0
    else:
        other = 1 - metric.positive
        alarm = metric.costs[other, metric.positive] - metric.costs[other, other]
        miss = metric.costs[metric.positive, other] - metric.costs[metric.positive, metric.positive]
    p = probabilities[:, metric.positive]
    threshold = bagged_threshold(p, event, alarm=alarm, miss=miss, weight=weight)
    return Decision(metric.classes, metric.positive, threshold, metric.costs)


def default_decision(metric: Metric) -> Decision:
    """Return the rule without a threshold: the most probable class, or the smallest expected cost."""
    return Decision(metric.classes, metric.positive, None, metric.costs)
