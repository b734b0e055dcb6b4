"""Quantile regression forests: weighted quantiles of the training rows that share leaves with a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bosquet.forests.proximity import leaf_indicators

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet.forests._base import BaseForest


def leaf_quantiles(forest: BaseForest, leaves: np.ndarray, quantiles: ArrayLike) -> np.ndarray:
    """Return weighted quantiles of the training targets for rows that fall into these leaves."""
    levels = np.atleast_1d(np.asarray(quantiles, dtype=float))
    if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            f"quantiles={quantiles!r} is not valid: quantiles must be a level in [0, 1] or a list of levels"
        )
    if forest._row_targets.shape[0] != 1:
        raise ValueError(
            "predict_quantiles needs a forest with one target, but this one has"
            f" {forest._row_targets.shape[0]} targets; fit one forest per target"
        )
    trained = forest._row_leaves
    sizes = np.maximum(trained.max(axis=0), leaves.max(axis=0)).astype(np.int64) + 1
    members = leaf_indicators(trained, sizes)
    if forest._row_weights.size:
        members = sparse.diags(forest._row_weights) @ members
    # The training rows in a leaf share a weight of 1.
    mass = np.asarray(members.sum(axis=0)).ravel()
    mass[mass == 0] = 1
    members = (members @ sparse.diags(1 / mass)).T.tocsr()
    target = forest._row_targets[0]
    order = np.argsort(target, kind="stable")
    members, target = members[:, order], target[order]
    indicators = leaf_indicators(leaves, sizes)
    result = np.empty((leaves.shape[0], levels.size))
    for begin in range(0, leaves.shape[0], 256):
        weights = (indicators[begin : begin + 256] @ members).tocsr()
        weights.sort_indices()
        for i in range(weights.shape[0]):
            span = slice(weights.indptr[i], weights.indptr[i + 1])
            cumulated = np.cumsum(weights.data[span])
            position = np.searchsorted(cumulated, levels * cumulated[-1] * (1 - 1e-12))
            position = np.minimum(position, cumulated.size - 1)
            result[begin + i] = target[weights.indices[span][position]]
    return result
