"""Several classes by codes: a line of -1, 0 and +1 for each class, a problem of two classes a column.

One against all, all pairs and error-correcting codes differ in the matrix alone. Column l is learned
on the rows whose class has an entry there, with that entry as the sign to tell.
"""

from __future__ import annotations

import math

import numpy as np

# Up to so many classes every column there is makes a code of a size that random ones have too.
MOST_FOR_ALL_COLUMNS = 5
# Random codes to choose the best of.
CODES_TRIED = 1000


def code_matrix(kind: str, n_classes: int, seed: int = 0) -> np.ndarray:
    """The matrix (classes, columns) that a name stands for.

    >>> code_matrix("one-vs-all", 3)
    array([[ 1, -1, -1],
           [-1,  1, -1],
           [-1, -1,  1]], dtype=int8)
    >>> code_matrix("all-vs-all", 3)
    array([[-1, -1,  0],
           [ 1,  0, -1],
           [ 0,  1,  1]], dtype=int8)
    """
    if kind == "one-vs-all":
        return (2 * np.eye(n_classes) - 1).astype(np.int8)
    if kind == "all-vs-all":
        return _all_pairs(n_classes)
    if n_classes <= MOST_FOR_ALL_COLUMNS:
        return _every_column(n_classes)
    return _random_code(n_classes, seed)


def _all_pairs(n_classes: int) -> np.ndarray:
    first, second = np.triu_indices(n_classes, 1)
    matrix = np.zeros((n_classes, first.size), dtype=np.int8)
    columns = np.arange(first.size)
    matrix[first, columns], matrix[second, columns] = -1, 1
    return matrix


def _every_column(n_classes: int) -> np.ndarray:
    """All 2^(K-1) - 1 ways to part the classes in two, the first class always on the side of -1."""
    numbers = np.arange(1, 2 ** (n_classes - 1))
    bits = numbers >> np.arange(n_classes - 1)[:, None] & 1
    rest = np.where(bits == 1, 1, -1)
    return np.vstack([np.full(numbers.size, -1), rest]).astype(np.int8)


def _random_code(n_classes: int, seed: int) -> np.ndarray:
    """Of random codes of 10 log2(K) columns, the one whose closest classes lie farthest apart."""
    random = np.random.RandomState(seed)
    columns = math.ceil(10 * math.log2(n_classes))
    best, distance = None, -1
    for _ in range(CODES_TRIED):
        matrix = (2 * random.randint(0, 2, (n_classes, columns)) - 1).astype(np.int8)
        if (np.abs(matrix.sum(axis=0, dtype=int)) == n_classes).any():
            continue  # a column that parts nothing
        least = _least_distance(matrix)
        if least > distance:
            best, distance = matrix, least
    assert best is not None
    return best


def _least_distance(matrix: np.ndarray) -> int:
    """In how many columns the two most similar classes differ."""
    agreement = matrix.astype(int) @ matrix.T.astype(int)
    np.fill_diagonal(agreement, -matrix.shape[1])
    return int(matrix.shape[1] - agreement.max()) // 2
