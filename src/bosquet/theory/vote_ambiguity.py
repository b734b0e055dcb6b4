"""The error of a majority vote, compared with the errors of its learners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from bosquet.bagging import Ambiguity, ambiguity
from bosquet.theory._tables import result_text, table

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


__all__ = ["Ambiguity", "VoteAmbiguity", "ambiguity", "predictions_of", "vote_ambiguity"]


@dataclass(frozen=True, repr=False)
class VoteAmbiguity:
    """Decomposition of the error of a vote: error = mean error - good diversity + bad diversity.

    Attributes
    ----------
    error_of_vote : float
        Share of rows on which the vote is wrong.
    mean_error : float
        (Weighted) mean of the errors of the learners.
    gain : float
        mean_error - error_of_vote; negative if the vote is worse than the mean of its learners.
    good_diversity : float
        Share of wrong learners on rows where the vote is right, averaged over all rows: errors that the
        vote corrects.
    bad_diversity : float
        Share of right learners on rows where the vote is wrong, averaged over all rows: they are outvoted.
    correlation : float
        Mean correlation between the errors of two learners; NaN if fewer than two learners have varying
        errors.
    disagreement : float
        Probability that two different learners predict different classes for a row.
    independent_error : float
        Error of a vote of as many learners with the mean error, if errors were independent and all wrong
        learners predicted the same class.
    """

    error_of_vote: float
    mean_error: float
    gain: float
    good_diversity: float
    bad_diversity: float
    correlation: float
    disagreement: float
    independent_error: float

    formula = "error of the vote = mean error - good diversity + bad diversity"

    def __repr__(self) -> str:
        rows = [
            ("error of the vote", self.error_of_vote),
            ("mean error", self.mean_error),
            ("good diversity", self.good_diversity),
            ("bad diversity", self.bad_diversity),
            ("gain", self.gain),
            ("correlation of errors", self.correlation),
            ("disagreement of two learners", self.disagreement),
            ("error if independent", self.independent_error),
        ]
        return result_text("Error of the vote", self.formula, table(rows))


def vote_ambiguity(
    votes: ArrayLike, y: ArrayLike, weights: ArrayLike | None = None
) -> VoteAmbiguity:
    """Decompose the error of a majority vote into the mean error of its learners and their diversity.

    On a row where the vote is right, the vote corrects every wrong learner (good diversity). On a row where
    it is wrong, it outvotes every right learner (bad diversity). With shares of the votes, averaged over
    the rows,

    error of the vote = mean error - good diversity + bad diversity.

    This corresponds to `ambiguity` for squared error, but a vote can be worse than its learners. T
    independent learners with error p < ½ give a vote with error P(Binomial(T, p) > T/2), which tends to 0
    as T grows. The correlation of the errors explains the difference.

    Parameters
    ----------
    votes : array of shape (n_samples, n_learners)
        The class that each learner predicts; see `predictions_of`.
    y : array of shape (n_samples,)
        True classes.
    weights : array of shape (n_learners,), optional
        Weights of the learners, >= 0. Default: equal weights.

    Returns
    -------
    VoteAmbiguity

    Examples
    --------
    Three learners with errors on different rows:

    >>> from bosquet.theory import vote_ambiguity
    >>> vote_ambiguity([["b", "a", "a"], ["a", "b", "a"], ["a", "a", "b"]], ["a", "a", "a"])
    Error of the vote
      error of the vote = mean error - good diversity + bad diversity
      error of the vote                  0
      mean error                    0.3333
      good diversity                0.3333
      bad diversity                      0
      gain                          0.3333
      correlation of errors           -0.5
      disagreement of two learners  0.6667
      error if independent          0.2593

    References
    ----------
    Brown and Kuncheva, "'Good' and 'bad' diversity in majority vote ensembles", MCS 2010.
    """
    predicted, truth = np.asarray(votes), np.asarray(y)
    if predicted.ndim != 2 or predicted.size == 0:
        raise ValueError(
            f"votes has shape {predicted.shape}; pass shape (n_samples, n_learners), one column per learner"
        )
    if truth.shape != (predicted.shape[0],):
        raise ValueError(
            f"y has shape {truth.shape}, but votes has {predicted.shape[0]} rows; pass one label per row"
        )
    # NumPy would treat 1 and "1" as different without a warning.
    if (predicted.dtype.kind in "US") != (truth.dtype.kind in "US"):
        raise ValueError(
            f"votes has the type {predicted.dtype}, but y has the type {truth.dtype}; pass the same labels"
        )
    wrong = predicted != truth[:, None]
    share = _normalised_weights(weights, predicted.shape[1])
    classes, codes = np.unique(predicted, return_inverse=True)
    codes = codes.reshape(predicted.shape)
    tally = np.stack([(codes == k) @ share for k in range(classes.size)], axis=1)
    vote_wrong = classes[tally.argmax(axis=1)] != truth
    wrong_share = np.clip(wrong @ share, 0.0, 1.0)  # rounding may make the sum exceed 1
    correlation, disagreement = _pairwise_correlation_and_disagreement(
        wrong.astype(float), codes, classes.size
    )
    mean_error = min(float(wrong_share.mean()), 1.0)
    return VoteAmbiguity(
        error_of_vote=float(vote_wrong.mean()),
        mean_error=mean_error,
        gain=mean_error - float(vote_wrong.mean()),
        good_diversity=float(np.where(vote_wrong, 0, wrong_share).mean()),
        bad_diversity=float(np.where(vote_wrong, 1 - wrong_share, 0).mean()),
        correlation=correlation,
        disagreement=disagreement,
        independent_error=_error_of_independent_vote(predicted.shape[1], mean_error),
    )


def predictions_of(model: Any, X: Any) -> np.ndarray:
    """Return the predictions of each learner of a fitted ensemble, of shape (n_samples, n_learners).

    It works for Bosquet's bagging and voting, and for scikit-learn's bagging, forests, voting and AdaBoost:
    for all models with ``votes(X)``, or with fitted learners in ``estimators_``. Classes are returned as
    labels.

    Parameters
    ----------
    model : fitted ensemble
    X : table of shape (n_samples, n_features)

    Returns
    -------
    array of shape (n_samples, n_learners)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from bosquet.theory import predictions_of, vote_ambiguity
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(25, max_depth=1, random_state=0).fit(X[::2], y[::2])
    >>> parts = vote_ambiguity(predictions_of(forest, X[1::2]), y[1::2])
    >>> print(f"a stump errs {parts.mean_error:.2f}, the vote {parts.error_of_vote:.2f}")
    a stump errs 0.35, the vote 0.05
    """
    if hasattr(model, "votes"):
        votes = np.asarray(model.votes(X))
        if votes.ndim == 3 and hasattr(model, "classes_"):
            return model.classes_[votes.argmax(axis=2)]
        return votes
    learners = np.asarray(getattr(model, "estimators_", ()), dtype=object)
    if learners.ndim != 1 or learners.size == 0:
        raise TypeError(
            f"model={model!r} is not a fitted ensemble; pass a model with votes(X) or a list estimators_"
        )
    features = getattr(model, "estimators_features_", None)
    if hasattr(X, "columns"):
        # The learners of scikit-learn's ensembles were fitted without feature names.
        X = np.asarray(X)
    predictions = [
        np.asarray(learner.predict(X if features is None else X[:, features[number]]))
        for number, learner in enumerate(learners)
    ]
    return _predicted_labels(model, learners, np.column_stack(predictions))


def _predicted_labels(model: Any, learners: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """Return predictions as labels; learners in scikit-learn's forests and votes predict class numbers."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return predictions
    # The classes of all learners together, because a single bag may lack a class.
    learner_classes = np.unique(np.concatenate([learner.classes_ for learner in learners]))
    return (
        predictions if np.isin(learner_classes, classes).all() else classes[predictions.astype(int)]
    )


def _normalised_weights(weights: ArrayLike | None, n_learners: int) -> np.ndarray:
    """Return the weights of the learners, normalised to sum 1."""
    share = np.ones(n_learners) if weights is None else np.asarray(weights, dtype=float)
    if share.shape != (n_learners,):
        raise ValueError(
            f"weights has shape {share.shape}, but there are {n_learners} learners; pass one weight per"
            " learner"
        )
    if not (np.isfinite(share).all() and (share >= 0).all() and share.any()):
        raise ValueError(
            f"weights={weights!r} is not valid: weights must be finite numbers >= 0, not all of them 0"
        )
    return share / share.sum()


def _pairwise_correlation_and_disagreement(
    wrong: np.ndarray, codes: np.ndarray, n_classes: int
) -> tuple[float, float]:
    """Return the mean correlation of the errors of two learners, and their mean disagreement."""
    rows, learners = wrong.shape
    if learners < 2:
        return float("nan"), 0.0
    pairs = learners * (learners - 1)
    agreeing = sum(
        int((count * (count - 1)).sum())
        for count in ((codes == k).sum(axis=1) for k in range(n_classes))
    )
    centred = wrong - wrong.mean(axis=0)
    norm = np.sqrt((centred**2).sum(axis=0))
    varies = norm > 0
    n = int(varies.sum())
    if n < 2:
        return float("nan"), 1 - agreeing / (rows * pairs)
    unit = centred[:, varies] / norm[varies]
    correlation = ((unit.sum(axis=1) ** 2).sum() - n) / (n * (n - 1))
    return float(np.clip(correlation, -1.0, 1.0)), 1 - agreeing / (rows * pairs)


def _error_of_independent_vote(learners: int, error: float) -> float:
    """Return P(Binomial(T, p) > T/2), with ties counted as half."""
    above = binom.sf(learners // 2, learners, error)
    tie = binom.pmf(learners // 2, learners, error) / 2 if learners % 2 == 0 else 0.0
    return float(above + tie)
