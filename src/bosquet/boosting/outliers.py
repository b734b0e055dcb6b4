"""How hard each row was for a boosted model: its weights in the rounds, and outlier scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet._parameters import check_value, choice
from bosquet._sklearn import check_is_fitted, is_classifier
from bosquet._targets import check_labels, check_same_length, class_numbers
from bosquet.boosting.adaboost._brownian import potential_of_rows, row_weights
from bosquet.boosting.adaboost.anyboost import START_ROUNDS, Descent
from bosquet.boosting.adaboost.brownboost import BrownBoostClassifier
from bosquet.boosting.adaboost.classifier import StagewiseClassifier
from bosquet.boosting.adaboost.lpboost import LPBoostClassifier
from bosquet.boosting.adaboost.stagewise import DiscreteAdaBoost
from bosquet.boosting.adaboost.votes import TwoClassDecoder, lead_of_own_class

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike
    from bosquet.boosting.adaboost._base import VoteClassifier
    from bosquet.boosting.gradient._base import BaseGradientBoosting


def outlier_scores(
    model: VoteClassifier | BaseGradientBoosting, X: TableLike, y: ArrayLike, *, by: str = "loss"
) -> np.ndarray:
    r"""Return outlier scores of the rows from a boosted classifier; their mean is 1.

    Boosting gives large weights to the rows that it misclassifies. A row whose weight stays large round after
    round disagrees with the other rows: its label may be wrong, or it is unusual. The score of row i is
    its share of the loss, as a multiple of an equal share, averaged over the rounds:

    .. math:: \frac{1}{T} \sum_t \frac{m\, C(y_i f_t(x_i))}{\sum_k C(y_k f_t(x_k))}

    For AdaBoost :math:`C(m) = e^{-m}`, and the score is the mean of the row's weights. The score is based on
    the loss and not on the weight, because robust methods reduce the weight of a row that they give up. For
    BrownBoost C is the potential, for AnyBoost and gradient boosting the loss that they minimise, for
    LPBoost one minus the margin of the vote.

    Parameters
    ----------
    model : fitted boosted classifier
        One of Bosquet, or another with ``staged_predict_proba``, such as those of scikit-learn.
    X, y : rows with their labels
        Preferably the training rows.
    by : {"loss", "margin"}, default="loss"
        "margin" uses the final vote only: one minus the margin of the row, as a multiple of its mean.

    Returns
    -------
    array of shape (n_samples,)
        At least 0, and 1 on average; large for outliers.

    Examples
    --------
    Ten labels of 400 are flipped, and seven of them are among the ten largest scores:

    >>> import numpy as np
    >>> from bosquet import AdaBoostClassifier
    >>> from bosquet.boosting import outlier_scores
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 4))
    >>> y = X[:, 0] + X[:, 1] > 0
    >>> flipped = rng.choice(400, 10, replace=False)
    >>> y[flipped] = ~y[flipped]
    >>> scores = outlier_scores(AdaBoostClassifier(n_estimators=100).fit(X, y), X, y)
    >>> int(np.isin(np.argsort(-scores)[:10], flipped).sum())
    7

    References
    ----------
    Freund and Schapire, "Experiments with a new boosting algorithm", ICML 1996, section 4.
    """
    check_value("by", by, choice("loss", "margin"))
    if not is_classifier(model):
        raise TypeError(
            f"{type(model).__name__} is not a classifier; outlier_scores needs a boosted classifier"
        )
    check_is_fitted(model)
    numbers = class_numbers(check_labels(y), model.classes_)
    if by == "margin":
        return _multiples_of_mean(1 - _margins(model, X, numbers))
    total, rounds = np.zeros(numbers.size), 0
    for losses in _losses_by_round(model, X, numbers):
        check_same_length(numbers.size, losses.size)
        total += _multiples_of_mean(losses)
        rounds += 1
    return total / rounds


def _multiples_of_mean(losses: np.ndarray) -> np.ndarray:
    """Return losses as multiples of their mean; all 1 if the losses are 0."""
    mean = losses.mean()
    return losses / mean if mean > 0 else np.ones_like(losses)


def _losses_by_round(model: Any, X: TableLike, numbers: np.ndarray) -> Iterator[np.ndarray]:
    """Return the loss of each row after each round, for the loss of the model."""
    if isinstance(model, BrownBoostClassifier):
        times_left = model.c_ - np.cumsum(model.times_)
        for f, time_left in zip(model.staged_decision_function(X), times_left, strict=True):
            yield potential_of_rows((2 * numbers - 1) * f, max(0.0, time_left), model.c_)
    elif isinstance(model, LPBoostClassifier):
        yield 1 - _margins(model, X, numbers)
    elif isinstance(model, StagewiseClassifier):
        for decision in model.staged_decision_function(X):
            yield _losses_of_vote(model, decision, numbers)
    elif hasattr(model, "staged_predict_proba"):
        rows = np.arange(numbers.size)
        for probabilities in model.staged_predict_proba(X):
            check_same_length(numbers.size, probabilities.shape[0])
            yield -np.log(np.maximum(probabilities[rows, numbers], np.finfo(float).tiny))
    else:
        raise TypeError(
            f"{type(model).__name__} has no staged_predict_proba, which outlier_scores needs; use by='margin'"
        )


def _losses_of_vote(
    model: StagewiseClassifier, decision: np.ndarray, numbers: np.ndarray
) -> np.ndarray:
    check_same_length(numbers.size, decision.shape[0])
    if isinstance(model._decoder, TwoClassDecoder):
        return model._decoder.loss.value((2 * numbers - 1) * decision)
    # Several classes: the margin is the lead over the best other class.
    behind = -lead_of_own_class(decision, numbers)
    return np.exp(behind - behind.max())


def _margins(model: Any, X: TableLike, numbers: np.ndarray) -> np.ndarray:
    """Return margins in [-1, 1], from the vote or, for other models, from probabilities."""
    if isinstance(model, BrownBoostClassifier | LPBoostClassifier):
        size = np.abs(model.estimator_weights_).sum()
        f = model.decision_function(X)
        check_same_length(numbers.size, f.size)
        return np.clip((2 * numbers - 1) * f / size, -1, 1)
    probabilities = model.predict_proba(X)
    check_same_length(numbers.size, probabilities.shape[0])
    return lead_of_own_class(probabilities, numbers)


def weights_in_round(
    model: Any, t: int, target: np.ndarray, vote: np.ndarray, distribution: np.ndarray
) -> np.ndarray | None:
    """Return the weights with which the learner of round t (from 0) was fitted; None if they are not known.

    Parameters
    ----------
    target : signs for two classes, else class numbers
    vote : the vote on the rows before that round: (rows,), or (rows, classes)
    distribution : the weights of the rows before the first round, which sum to 1

    Returns
    -------
    array of shape (rows,); for AdaBoost.MH, with weights of pairs of row and class, (rows, classes)
    """
    if isinstance(model, BrownBoostClassifier):
        time_left = float(model.c_ - model.times_[:t].sum())
        return row_weights(target * vote, time_left, model.c_, distribution)
    if not isinstance(model, StagewiseClassifier):
        return None
    algorithm = model._algorithm()
    with np.errstate(divide="ignore"):  # the logarithm of a weight of 0
        if algorithm.scheme in ("samme", "mh"):
            assert algorithm.several_classes is not None
            weights = algorithm.several_classes(target, distribution).weights(
                np.ascontiguousarray(vote.T)
            )
            assert weights is not None
            return weights.distribution.T
        if algorithm.scheme != "two":
            return None  # each column of a code has its own weights
        variant = algorithm.two_classes(target, distribution, target.size)
        if isinstance(variant, Descent) and variant.loss.starts_from_adaboost and t < START_ROUNDS:
            variant = DiscreteAdaBoost(target, distribution)
        round_weights = variant.weights(vote)
    return None if round_weights is None else round_weights.distribution
