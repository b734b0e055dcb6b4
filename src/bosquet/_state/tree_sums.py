"""TreeSum: the predictions of a fitted model as a function of its trees."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bosquet._core import Ensemble


def _identity(raw: np.ndarray) -> np.ndarray:
    return raw


@dataclass(frozen=True, kw_only=True)
class TreeSum:
    """A sum or a mean of trees of the core over encoded columns, and the predictions that follow from it.

    Attributes
    ----------
    ensemble : Ensemble
        The trees. With their sum or mean as the raw prediction, the model predicts
        ``response(raw prediction)``.
    is_mean : bool, default=False
        Whether the raw prediction is the mean of the trees instead of their sum.
    response : function, default: the identity
        Maps raw predictions (rows, outputs) to those of `predict_proba` or `predict`, (rows, columns).
    linear : bool, default=True
        Whether the mean of responses is the response of the mean.
    has_surrogates : bool, default=False
        Whether missing values follow surrogate splits, which the core ignores.
    """

    ensemble: Ensemble
    is_mean: bool = False
    response: Callable[[np.ndarray], np.ndarray] = _identity
    linear: bool = True
    has_surrogates: bool = False

    @property
    def scale(self) -> float:
        """The factor of the sum of the trees in the raw prediction."""
        return 1 / self.ensemble.n_trees if self.is_mean else 1.0
