"""Sums of squared and fourth powers of the deviations from the value of each node."""

from __future__ import annotations

import numpy as np

from bosquet.trees.arrays import TreeArrays


def power_sums(
    tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray, highest: int
) -> list[np.ndarray]:
    """Return Σ w (y - value)² over the rows of each node and, if `highest` is 4, Σ w (y - value)⁴.

    Central moments of each node are computed in the leaves and merged upwards. Raw sums of powers of y
    would be faster to merge, but suffer from cancellation if the values of a leaf are close together and
    far from 0.
    """
    moments = _leaf_moments(tree, leaf, y, weight, highest)
    for level in reversed(tree.levels()):
        inner = level[~tree.is_leaf[level]]
        if len(inner):
            moments[inner] = _merge_moments(moments[tree.left[inner]], moments[tree.right[inner]])
    shift = np.where(moments[:, 0] > 0, moments[:, 1] - tree.value[:, 0], 0)
    n, m2 = moments[:, 0], moments[:, 2]
    sums = [m2 + n * shift**2]
    if highest == 4:
        m3, m4 = moments[:, 3], moments[:, 4]
        sums.append(m4 + 4 * shift * m3 + 6 * shift**2 * m2 + n * shift**4)
    return sums


def _leaf_moments(
    tree: TreeArrays, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray, highest: int
) -> np.ndarray:
    """Return weight, mean and Σ w (y - mean)^k for k = 2 to `highest`, shape (nodes, highest + 1)."""
    moments = np.zeros((tree.n_nodes, highest + 1))
    n = moments[:, 0] = np.bincount(leaf, weight, tree.n_nodes)
    moments[:, 1] = np.bincount(leaf, weight * y, tree.n_nodes) / np.where(n > 0, n, 1)
    deviation = y - moments[leaf, 1]
    power = weight * deviation
    for k in range(2, highest + 1):
        power = power * deviation
        moments[:, k] = np.bincount(leaf, power, tree.n_nodes)
    return moments


def _merge_moments(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the moments of the union of two sets of rows, about the common mean."""
    n = a[:, 0] + b[:, 0]
    share = b[:, 0] / np.where(n > 0, n, 1)
    mean = a[:, 1] + share * (b[:, 1] - a[:, 1])
    merged = np.zeros_like(a)
    merged[:, 0] = n
    merged[:, 1] = np.where(a[:, 0] > 0, mean, b[:, 1])
    for moments in (a, b):
        d = np.where(moments[:, 0] > 0, moments[:, 1] - merged[:, 1], 0)
        merged[:, 2] += moments[:, 2] + moments[:, 0] * d**2
        if a.shape[1] == 5:
            merged[:, 3] += moments[:, 3] + 3 * d * moments[:, 2] + moments[:, 0] * d**3
            merged[:, 4] += (
                moments[:, 4]
                + 4 * d * moments[:, 3]
                + 6 * d**2 * moments[:, 2]
                + moments[:, 0] * d**4
            )
    return merged
