"""Proximities: the fraction of trees in which two rows fall into the same leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def leaf_indicators(leaves: np.ndarray, sizes: np.ndarray) -> sparse.csr_matrix:
    """Return a matrix with one column per node of each tree, with 1 if the row is in that leaf.

    `sizes` are the numbers of nodes of the trees.
    """
    n_rows, trees = leaves.shape
    starts = np.concatenate([[0], np.cumsum(sizes[:-1])])
    columns = (leaves + starts[None, :]).ravel()
    pointers = np.arange(0, n_rows * trees + 1, trees)
    return sparse.csr_matrix(
        (np.ones(n_rows * trees), columns, pointers), shape=(n_rows, int(sizes.sum()))
    )


def _both_indicators(first: np.ndarray, second: np.ndarray) -> tuple[Any, Any]:
    sizes = np.maximum(first.max(axis=0), second.max(axis=0)).astype(np.int64) + 1
    return leaf_indicators(first, sizes), leaf_indicators(second, sizes)


def proximities(first: np.ndarray, second: np.ndarray) -> sparse.csr_matrix:
    """Return the sparse matrix of proximities of two sets of rows, from their leaves (rows, trees)."""
    a, b = _both_indicators(first, second)
    return (a @ b.T) / first.shape[1]


def outlier_scores(leaves: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Return Breiman's outlier measure of each row within its class; `codes` are class numbers."""
    scores = np.zeros(len(codes))
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        class_leaves = leaves[rows]
        indicators, _ = _both_indicators(class_leaves, class_leaves)
        raw = np.empty(rows.size)
        # Blocks of rows limit the memory for pairs of rows that share a leaf.
        for begin in range(0, rows.size, 1024):
            block = (indicators[begin : begin + 1024] @ indicators.T) / leaves.shape[1]
            block.data **= 2
            raw[begin : begin + 1024] = rows.size / np.asarray(block.sum(axis=1)).ravel()
        median = np.median(raw)
        deviation = np.mean(np.abs(raw - median))
        scores[rows] = (raw - median) / deviation if deviation > 0 else 0.0
    return scores
