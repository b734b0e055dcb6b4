"""Proximities: the share of trees in which two rows fall into the same leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def leaf_indicators(leaves: np.ndarray, sizes: np.ndarray) -> sparse.csr_matrix:
    """One column a leaf of each tree, a 1 where the row is in it; `sizes` has the trees' node counts."""
    rows, trees = leaves.shape
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])])
    columns = (leaves + starts[None, :]).ravel()
    pointers = np.arange(0, rows * trees + 1, trees)
    return sparse.csr_matrix(
        (np.ones(rows * trees), columns, pointers), shape=(rows, int(sizes.sum()))
    )


def _both_indicators(first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    sizes = np.maximum(first.max(axis=0), second.max(axis=0)).astype(np.int64) + 1
    return leaf_indicators(first, sizes), leaf_indicators(second, sizes)


def proximities(first: np.ndarray, second: np.ndarray) -> sparse.csr_matrix:
    """From the leaves (rows, trees) of two sets of rows, the sparse matrix of their proximities."""
    a, b = _both_indicators(first, second)
    return (a @ b.T) / first.shape[1]


def outlier_scores(leaves: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Breiman's outlier measure of each row within its class."""
    scores = np.zeros(len(numbers))
    for which in np.unique(numbers):
        rows = np.flatnonzero(numbers == which)
        own = leaves[rows]
        indicators, _ = _both_indicators(own, own)
        raw = np.empty(rows.size)
        # A few rows at a time: only those pairs are held that meet in some leaf.
        for begin in range(0, rows.size, 1024):
            block = (indicators[begin : begin + 1024] @ indicators.T) / leaves.shape[1]
            block.data **= 2
            raw[begin : begin + 1024] = rows.size / np.asarray(block.sum(axis=1)).ravel()
        middle = np.median(raw)
        spread = np.mean(np.abs(raw - middle))
        scores[rows] = (raw - middle) / spread if spread > 0 else 0.0
    return scores
