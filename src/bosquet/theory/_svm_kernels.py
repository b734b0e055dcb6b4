"""Whether the kernel of a support vector machine is a scalar product on its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

# An eigenvalue above minus this share of the largest is 0 but for rounding.
_ROUNDING = 1e-9
# Rows looked at: eigenvalues of more take minutes. Those of a part are within those of the whole.
MOST_ROWS = 1000


def least_eigenvalue(machine: Any, X: Any, support: np.ndarray) -> float:
    """The least eigenvalue of the kernel on rows of the machine, support vectors first; 0 if it is rounding.

    Below 0 the kernel is a scalar product in no space.
    """
    if _is_positive(machine):
        return 0.0
    X = X.tocsr() if issparse(X) else np.asarray(X)
    others = np.setdiff1d(np.arange(X.shape[0]), support)
    rows = np.concatenate([support, others])[:MOST_ROWS]
    values = np.linalg.eigvalsh(_kernel(machine, X, rows))
    return 0.0 if values[0] >= -_ROUNDING * np.abs(values).max() else float(values[0])


def _is_positive(machine: Any) -> bool:
    """Whether it is known to be positive semi-definite on any rows."""
    kernel = machine.kernel
    if isinstance(kernel, str) and kernel == "poly":
        return bool(machine.coef0 >= 0 and machine._gamma >= 0 and machine.degree >= 0)
    return isinstance(kernel, str) and kernel in ("linear", "rbf")


def _kernel(machine: Any, X: Any, rows: np.ndarray) -> np.ndarray:
    from sklearn.metrics.pairwise import pairwise_kernels

    if isinstance(machine.kernel, str) and machine.kernel == "precomputed":
        square = X[rows][:, rows]
    elif callable(machine.kernel):
        square = machine.kernel(X[rows], X[rows])
    else:
        given = {"gamma": machine._gamma, "degree": machine.degree, "coef0": machine.coef0}
        square = pairwise_kernels(X[rows], metric=machine.kernel, filter_params=True, **given)
    square = np.asarray(square.toarray() if issparse(square) else square, dtype=float)
    return (square + square.T) / 2
