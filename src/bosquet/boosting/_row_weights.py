"""The weights that the rows had in a round of a fitted vote, from what the vote says of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.boosting._boosted_vote import BoostedVote
from bosquet.boosting._brownian import row_weights
from bosquet.boosting._descent import START_ROUNDS, Descent
from bosquet.boosting._variants import Discrete
from bosquet.boosting.brownboost import BrownBoostClassifier


def weights_in_round(
    model: Any, t: int, target: np.ndarray, vote: np.ndarray, share: np.ndarray
) -> np.ndarray | None:
    """The distribution that the learner of round t (from 0) was fitted under; None if it is not known.

    Parameters
    ----------
    target : signs of two classes, else class numbers
    vote : what the vote before that round says of the rows: (rows,), or (rows, classes)
    share : the weights that the rows began with, of sum 1

    Returns
    -------
    array of shape (rows,); for AdaBoost.MH, which weighs pairs of a row and a class, (rows, classes)
    """
    if isinstance(model, BrownBoostClassifier):
        left = float(model.c_ - model.times_[:t].sum())
        return row_weights(target * vote, left, model.c_, share)
    if not isinstance(model, BoostedVote):
        return None
    with np.errstate(divide="ignore"):  # a row of weight 0 has none at any time
        if model.n_classes_ > 2:
            return _of_several(model, target, vote, share)
        variant = model._variant(target, share, target.size)
        if isinstance(variant, Descent) and variant.loss.starts_from_adaboost and t < START_ROUNDS:
            variant = Discrete(target, share)
        found = variant.weights(vote)
    return None if found is None else found.distribution


def _of_several(
    model: BoostedVote, target: np.ndarray, vote: np.ndarray, share: np.ndarray
) -> np.ndarray | None:
    scheme = model._scheme()
    if scheme not in ("samme", "mh"):
        return None  # each column of a code has weights of its own
    found = model._variant_of_many(scheme, target, share).weights(np.ascontiguousarray(vote.T))
    return found.distribution.T
