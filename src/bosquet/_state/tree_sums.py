"""TreeSum: the predictions of a fitted model as a function of its trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bosquet._core import Ensemble

if TYPE_CHECKING:
    from bosquet.data import Columns


def _identity(raw: np.ndarray) -> np.ndarray:
    return raw


class DerivedColumns(Protocol):
    """Columns of the trees that are computed from the encoded columns of the table."""

    @property
    def sources(self) -> Sequence[tuple[int, ...]]:
        """For each column of the trees, the encoded columns from which it is computed."""

    def tree_columns(self, columns: Columns, threads: int = 1) -> Columns:
        """The columns of the trees."""


def share_among_sources(
    values: np.ndarray, sources: Sequence[tuple[int, ...]], n_features: int, axis: int = -1
) -> np.ndarray:
    """Values of the columns of trees as values of encoded columns: a column divides its value equally.

    >>> share_among_sources(np.array([1.0, 4.0]), [(0,), (0, 2)], 3)
    array([3., 0., 2.])
    """
    values = np.moveaxis(values, axis, 0)
    result = np.zeros((n_features, *values.shape[1:]))
    for value, columns in zip(values, sources, strict=True):
        for column in columns:
            result[column] += value / len(columns)
    return np.moveaxis(result, 0, axis)


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
    derived : DerivedColumns or None, default=None
        The columns of the trees, if they are not the encoded columns.
    """

    ensemble: Ensemble
    is_mean: bool = False
    response: Callable[[np.ndarray], np.ndarray] = _identity
    linear: bool = True
    has_surrogates: bool = False
    derived: DerivedColumns | None = None

    @property
    def scale(self) -> float:
        """The factor of the sum of the trees in the raw prediction."""
        return 1 / self.ensemble.n_trees if self.is_mean else 1.0
