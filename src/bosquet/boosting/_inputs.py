"""How tables and learners reach the core: threads, shape, the checks of a learner."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from bosquet._sparse import checked_sparse

# Tables with fewer values are processed by one thread: a step is shorter than waking a second thread.
SMALL_TABLE = 100_000


def threads_for(rows: int, columns: int, threads: int) -> int:
    """1 for a small table, else `threads`."""
    return 1 if rows * columns < SMALL_TABLE else threads


def shaped(X: Any) -> Any:
    """X itself if it has a shape, else an array; a sparse matrix in a format whose rows can be selected."""
    if issparse(X):
        return checked_sparse(X)
    return X if hasattr(X, "shape") else np.asarray(X)


def check_learner(estimator: Any) -> None:
    """Raise a TypeError unless `estimator` is None or an object with fit, predict and get_params."""
    if estimator is None:
        return
    if isinstance(estimator, type) or not all(
        hasattr(estimator, method) for method in ("fit", "predict", "get_params")
    ):
        raise TypeError(
            f"estimator={estimator!r} must be an estimator with fit and predict: an object, not its class"
        )
