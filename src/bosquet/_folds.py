"""Random cross-validation folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._sklearn import check_random_state

if TYPE_CHECKING:
    from bosquet._types import RandomState


def fold_numbers(
    n_rows: int, n_folds: int, random_state: RandomState, classes: np.ndarray | None = None
) -> np.ndarray:
    """Return the fold of each row: folds of nearly equal size, stratified if `classes` is given.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet._folds import fold_numbers
    >>> classes = np.array([0, 0, 0, 0, 1, 1])
    >>> folds = fold_numbers(6, 2, random_state=0, classes=classes)
    >>> [classes[folds == fold].tolist() for fold in range(2)]
    [[0, 0, 1], [0, 0, 1]]
    """
    order = check_random_state(random_state).permutation(n_rows)
    if classes is not None:
        order = order[np.argsort(classes[order], kind="stable")]
    numbers = np.empty(n_rows, dtype=np.intp)
    numbers[order] = np.arange(n_rows) % n_folds
    return numbers
