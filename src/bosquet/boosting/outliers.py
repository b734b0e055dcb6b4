"""Outliers by boosting: the rows that no vote could place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bosquet._parameters import choice
from bosquet._sklearn import check_is_fitted, is_classifier
from bosquet._targets import check_labels, check_same_length, class_numbers
from bosquet.boosting._boosted_vote import BoostedVote
from bosquet.boosting._brownian import potential_of_rows
from bosquet.boosting._decisions import OfTwo, best_and_rest
from bosquet.boosting.brownboost import BrownBoostClassifier
from bosquet.boosting.lpboost import LPBoostClassifier


def outlier_scores(model: Any, X: Any, y: Any, *, by: str = "loss") -> np.ndarray:
    r"""How hard each row was for a boosted classifier; 1 is as any other.

    Boosting piles weight on the rows that its votes get wrong. A row that stays there, round after
    round, is one that the others speak against: its label may be wrong, or it is like no other.
    The score of row i is the share of the loss that it held, over the rounds and as a multiple of an
    even share:

    .. math:: \frac{1}{T} \sum_t \frac{m\, C(y_i f_t(x_i))}{\sum_k C(y_k f_t(x_k))}

    For AdaBoost :math:`C(m) = e^{-m}`, and that is the mean of its weights. It is the loss and not the
    weight that is counted since robust methods take the weight off a row when they give it up: for
    BrownBoost C is the potential, for AnyBoost and gradient boosting the loss that they descend, for
    LPBoost one minus the margin of the vote.

    Parameters
    ----------
    model : fitted boosted classifier
        One of Bosquet's, or another with ``staged_predict_proba``, as those of scikit-learn.
    X, y : rows with their labels
        Most telling for the rows that the model was fitted on.
    by : {"loss", "margin"}, default="loss"
        "margin" looks at the last vote alone: one minus the margin of the row, again as a multiple
        of its mean.

    Returns
    -------
    array of shape (n_samples,)
        At least 0, and 1 on average. The larger, the more of an outlier.

    Examples
    --------
    Ten labels of 400 are turned over, and of the ten rows that stand out most seven are theirs:

    >>> import numpy as np
    >>> from bosquet import AdaBoostClassifier
    >>> from bosquet.boosting import outlier_scores
    >>> random = np.random.default_rng(0)
    >>> X = random.normal(size=(400, 4))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> turned = random.choice(400, 10, replace=False)
    >>> y[turned] = ~y[turned]
    >>> scores = outlier_scores(AdaBoostClassifier(n_estimators=100).fit(X, y), X, y)
    >>> int(np.isin(np.argsort(-scores)[:10], turned).sum())
    7

    References
    ----------
    Freund and Schapire, "Experiments with a new boosting algorithm", ICML 1996, section 4.
    """
    ok, wanted = choice("loss", "margin")
    if not ok(by):
        raise ValueError(f"by={by!r} is out of range: by must be {wanted}")
    if not is_classifier(model):
        raise TypeError(
            f"{type(model).__name__} is not a classifier; outlier scores are for labels"
        )
    check_is_fitted(model)
    numbers = class_numbers(check_labels(y), model.classes_)
    if by == "margin":
        return _shares(1 - _margins(model, X, numbers))
    total, rounds = np.zeros(numbers.size), 0
    for losses in _losses_by_round(model, X, numbers):
        check_same_length(numbers.size, losses.size)
        total += _shares(losses)
        rounds += 1
    return total / rounds


def _shares(losses: np.ndarray) -> np.ndarray:
    """As multiples of their mean; where there is nothing to lose, all hold the same."""
    mean = losses.mean()
    return losses / mean if mean > 0 else np.ones_like(losses)


def _losses_by_round(model: Any, X: Any, numbers: np.ndarray) -> Iterator[np.ndarray]:
    """The loss of each row after each round, in the terms of the model."""
    if isinstance(model, BrownBoostClassifier):
        left = model.c_ - np.cumsum(model.times_)
        for f, time_left in zip(model.staged_decision_function(X), left, strict=True):
            yield potential_of_rows((2 * numbers - 1) * f, max(0.0, time_left), model.c_)
    elif isinstance(model, LPBoostClassifier):
        yield 1 - _margins(model, X, numbers)
    elif isinstance(model, BoostedVote):
        for decision in model.staged_decision_function(X):
            yield _losses_of_vote(model, decision, numbers)
    elif hasattr(model, "staged_predict_proba"):
        rows = np.arange(numbers.size)
        for shares in model.staged_predict_proba(X):
            check_same_length(numbers.size, shares.shape[0])
            yield -np.log(np.maximum(shares[rows, numbers], np.finfo(float).tiny))
    else:
        raise TypeError(
            f"{type(model).__name__} has no staged_predict_proba: there are no rounds to look back on"
        )


def _losses_of_vote(model: BoostedVote, decision: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    check_same_length(numbers.size, decision.shape[0])
    if isinstance(model._decision, OfTwo):
        return model._decision.loss.value((2 * numbers - 1) * decision)
    # Several classes: the margin is that to the best of the others.
    behind = -best_and_rest(decision, numbers)
    return np.exp(behind - behind.max())


def _margins(model: Any, X: Any, numbers: np.ndarray) -> np.ndarray:
    """Margins in [-1, 1]: of the vote where the model is one, else of its probabilities."""
    if isinstance(model, BrownBoostClassifier | LPBoostClassifier):
        size = np.abs(model.estimator_weights_).sum()
        f = model.decision_function(X)
        check_same_length(numbers.size, f.size)
        return np.clip((2 * numbers - 1) * f / size, -1, 1)
    shares = model.predict_proba(X)
    check_same_length(numbers.size, shares.shape[0])
    return best_and_rest(shares, numbers)
