"""What a vote gains over its voters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from bosquet.bagging import Ambiguity, ambiguity
from bosquet.theory._tables import result_text, table

__all__ = ["Ambiguity", "VoteAmbiguity", "ambiguity", "predictions_of", "vote_ambiguity"]


@dataclass(frozen=True, repr=False)
class VoteAmbiguity:
    """The error of a vote, taken apart: error = mean error - good diversity + bad diversity.

    Attributes
    ----------
    error_of_vote : float
        Share of rows whose largest vote is wrong.
    mean_error : float
        (Weighted) mean of the learners' own errors.
    gain : float
        mean_error - error_of_vote; negative where voting harms.
    good_diversity : float
        Dissent where the vote is right: the mistakes it repairs.
    bad_diversity : float
        Right votes where the vote is wrong: the hits it wastes.
    correlation : float
        Mean correlation between the errors of two learners; NaN where there is none.
    disagreement : float
        The chance that two different learners say different things of a row.
    independent_error : float
        What the vote of as many learners with the mean error would err if the errors were
        independent and all wrong voters said the same.
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
            ("disagreement of two", self.disagreement),
            ("vote if independent", self.independent_error),
        ]
        return result_text("What the vote gains", self.formula, table(rows))


def vote_ambiguity(votes: Any, y: Any, weights: Any = None) -> VoteAmbiguity:
    """What a majority vote gains over its learners, and what their agreement costs it.

    On a row where the vote is right, every wrong learner is a mistake repaired; on a row where it is
    wrong, every right one is a hit wasted. Summed over the rows, with shares of the votes,

    error of the vote = mean error - good diversity + bad diversity,

    which is to 0-1 loss what `ambiguity` is to squared error, but that a vote may be worse than
    its learners. T independent learners that err with probability p < ½ would err together with
    probability P(Binomial(T, p) > T/2), which vanishes as T grows; correlation is what is in the
    way.

    Parameters
    ----------
    votes : array of shape (n_samples, n_learners)
        The class that each learner names; see `predictions_of`.
    y : array of shape (n_samples,)
        The truth.
    weights : array of shape (n_learners,), optional
        Weights of the learners, not negative. Equal if not given.

    Returns
    -------
    VoteAmbiguity

    Examples
    --------
    Three learners that err on a third of the rows, never two on the same:

    >>> from bosquet.theory import vote_ambiguity
    >>> vote_ambiguity([["b", "a", "a"], ["a", "b", "a"], ["a", "a", "b"]], ["a", "a", "a"])
    What the vote gains
      error of the vote = mean error - good diversity + bad diversity
      error of the vote           0
      mean error             0.3333
      good diversity         0.3333
      bad diversity               0
      gain                   0.3333
      correlation of errors    -0.5
      disagreement of two    0.6667
      vote if independent    0.2593

    References
    ----------
    Brown and Kuncheva, "'Good' and 'bad' diversity in majority vote ensembles", MCS 2010.
    """
    said, truth = np.asarray(votes), np.asarray(y)
    if said.ndim != 2 or said.size == 0:
        raise ValueError(
            f"votes must have shape (n_samples, n_learners), got {said.shape}: one column a learner"
        )
    if truth.shape != (said.shape[0],):
        raise ValueError(f"y has shape {truth.shape}, but votes have {said.shape[0]} rows")
    # NumPy would compare 1 with "1" as unequal without a word.
    if (said.dtype.kind in "US") != (truth.dtype.kind in "US"):
        raise ValueError(f"votes are of type {said.dtype} but y is of type {truth.dtype}")
    wrong = said != truth[:, None]
    share = _shares(weights, said.shape[1])
    classes, codes = np.unique(said, return_inverse=True)
    codes = codes.reshape(said.shape)
    tally = np.stack([(codes == k) @ share for k in range(classes.size)], axis=1)
    vote_wrong = classes[tally.argmax(axis=1)] != truth
    wrong_share = np.clip(wrong @ share, 0.0, 1.0)  # shares add up to 1 but for rounding
    correlation, disagreement = _pairs(wrong.astype(float), codes, classes.size)
    mean_error = min(float(wrong_share.mean()), 1.0)
    return VoteAmbiguity(
        error_of_vote=float(vote_wrong.mean()),
        mean_error=mean_error,
        gain=mean_error - float(vote_wrong.mean()),
        good_diversity=float(np.where(vote_wrong, 0, wrong_share).mean()),
        bad_diversity=float(np.where(vote_wrong, 1 - wrong_share, 0).mean()),
        correlation=correlation,
        disagreement=disagreement,
        independent_error=_independent(said.shape[1], mean_error),
    )


def predictions_of(model: Any, X: Any) -> np.ndarray:
    """What each learner of a fitted ensemble says of each row, of shape (n_samples, n_learners).

    Works on Bosquet's bags and votes, and on scikit-learn's bagging, forests, voting and AdaBoost:
    on whatever has ``votes(X)``, or fitted learners in ``estimators_``. Classes are given by label.

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
        raise TypeError(f"{model!r} is no vote: it has neither votes(X) nor a list of estimators_")
    features = getattr(model, "estimators_features_", None)
    if hasattr(X, "columns"):
        # Learners inside scikit-learn's ensembles were fitted without names of columns.
        X = np.asarray(X)
    said = [
        np.asarray(learner.predict(X if features is None else X[:, features[number]]))
        for number, learner in enumerate(learners)
    ]
    return _labels(model, learners, np.column_stack(said))


def _labels(model: Any, learners: np.ndarray, said: np.ndarray) -> np.ndarray:
    """Labels of the ensemble: learners inside scikit-learn's forests and votes speak in numbers."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        return said
    # All learners together, for a single bag may lack a class.
    known = np.unique(np.concatenate([learner.classes_ for learner in learners]))
    return said if np.isin(known, classes).all() else classes[said.astype(int)]


def _shares(weights: Any, n_learners: int) -> np.ndarray:
    share = np.ones(n_learners) if weights is None else np.asarray(weights, dtype=float)
    if share.shape != (n_learners,):
        raise ValueError(f"weights has shape {share.shape}, but there are {n_learners} learners")
    if not (np.isfinite(share).all() and (share >= 0).all() and share.any()):
        raise ValueError("weights must be finite, not negative, and not all zero")
    return share / share.sum()


def _pairs(wrong: np.ndarray, codes: np.ndarray, n_classes: int) -> tuple[float, float]:
    """Mean correlation of the errors of two learners, and their mean disagreement."""
    rows, learners = wrong.shape
    if learners < 2:
        return float("nan"), 0.0
    pairs = learners * (learners - 1)
    agreeing = sum(
        int((count * (count - 1)).sum())
        for count in ((codes == k).sum(axis=1) for k in range(n_classes))
    )
    centred = wrong - wrong.mean(axis=0)
    size = np.sqrt((centred**2).sum(axis=0))
    varies = size > 0
    n = int(varies.sum())
    if n < 2:
        return float("nan"), 1 - agreeing / (rows * pairs)
    unit = centred[:, varies] / size[varies]
    correlation = ((unit.sum(axis=1) ** 2).sum() - n) / (n * (n - 1))
    return float(np.clip(correlation, -1.0, 1.0)), 1 - agreeing / (rows * pairs)


def _independent(learners: int, error: float) -> float:
    """P(Binomial(T, p) > T/2), ties counted as half."""
    above = binom.sf(learners // 2, learners, error)
    tie = binom.pmf(learners // 2, learners, error) / 2 if learners % 2 == 0 else 0.0
    return float(above + tie)
