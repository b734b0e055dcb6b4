"""How tables and learners reach the core: threads, shape; checks of learners and their predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from bosquet._masks import without_mask
from bosquet._sparse import check_sparse

if TYPE_CHECKING:
    from bosquet._types import TableLike


# Tables with fewer values are processed by one thread: a step is shorter than waking a second thread.
MIN_VALUES_FOR_THREADS = 100_000
# Largest number of leaves of a tree on bins: the core stores the leaf of a row in two bytes.
MAX_LEAVES = 65_535


def threads_for(n_rows: int, columns: int, threads: int) -> int:
    """Return 1 for a small table, otherwise `threads`."""
    return 1 if n_rows * columns < MIN_VALUES_FOR_THREADS else threads


def as_indexable(X: TableLike) -> Any:
    """Return X, as an array if it has no shape; a sparse matrix in a format whose rows can be selected."""
    if issparse(X):
        return check_sparse(X)
    return without_mask(X) if hasattr(X, "shape") else np.asarray(X)


def predicted_numbers(learner: Any, X: Any) -> np.ndarray:
    """Return one finite number per row of X; a ValueError for any other prediction."""
    return check_finite(check_one_per_row(np.asarray(learner.predict(X), dtype=float), X))


def check_one_per_row(predicted: np.ndarray, X: Any) -> np.ndarray:
    """Return predictions of shape (rows,); a ValueError if there is not one per row of X."""
    if predicted.ndim == 2 and predicted.shape[1] == 1:
        predicted = predicted[:, 0]
    if predicted.shape != (X.shape[0],):
        raise ValueError(
            f"predict returned shape {predicted.shape} for {X.shape[0]} rows; it must return one value"
            " per row"
        )
    return predicted


def check_finite(predicted: np.ndarray, method: str = "predict") -> np.ndarray:
    """Return the predictions; a ValueError if one is NaN or infinite."""
    if not np.isfinite(predicted).all():
        by_row = predicted.reshape(predicted.shape[0], -1)
        row = int(np.flatnonzero(~np.isfinite(by_row).all(axis=1))[0])
        raise ValueError(
            f"{method} returned {predicted[row]} for row {row}; predictions must be finite"
        )
    return predicted


def error_naming_round(error: Exception, learner: Any, round_: int) -> Exception:
    """Return an error of the same type, if that is a common one, that names the learner and its round."""
    text = f"{type(learner).__name__} failed at round {round_ + 1}: {error}"
    for kind in (ValueError, TypeError, MemoryError):
        if isinstance(error, kind):
            return kind(text)
    return RuntimeError(f"{type(learner).__name__} failed at round {round_ + 1}: {error!r}")
