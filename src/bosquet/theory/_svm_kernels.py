"""Whether the kernel of a support vector machine is positive semi-definite on given rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

# Negative eigenvalues smaller than this, relative to the largest, are rounding errors.
_ROUNDING = 1e-9
# Eigenvalues of more rows take minutes. Those of a subset lie between the extreme ones of all rows.
MAX_ROWS = 1000


def least_eigenvalue(machine: Any, X: Any, support: np.ndarray) -> float:
    """Return the smallest eigenvalue of the kernel matrix; 0 if it is not negative beyond rounding.

    At most `MAX_ROWS` rows are used, the support vectors first. If the result is negative, the kernel is
    not a scalar product in any feature space.
    """
    if _is_known_positive(machine):
        return 0.0
    X = X.tocsr() if issparse(X) else np.asarray(X)
    other_rows = np.setdiff1d(np.arange(X.shape[0]), support)
    rows = np.concatenate([support, other_rows])[:MAX_ROWS]
    values = np.linalg.eigvalsh(_kernel_matrix(machine, X, rows))
    return 0.0 if values[0] >= -_ROUNDING * np.abs(values).max() else float(values[0])


def _is_known_positive(machine: Any) -> bool:
    """Return whether the kernel is positive semi-definite for any rows, by its name and parameters."""
    kernel = machine.kernel
    if isinstance(kernel, str) and kernel == "poly":
        return bool(machine.coef0 >= 0 and machine._gamma >= 0 and machine.degree >= 0)
    return isinstance(kernel, str) and kernel in ("linear", "rbf")


def _kernel_matrix(machine: Any, X: Any, rows: np.ndarray) -> np.ndarray:
    """Return the kernel matrix of some rows, made symmetric."""
    from sklearn.metrics.pairwise import pairwise_kernels

    if isinstance(machine.kernel, str) and machine.kernel == "precomputed":
        matrix = X[rows][:, rows]
    elif callable(machine.kernel):
        matrix = machine.kernel(X[rows], X[rows])
    else:
        options = {"gamma": machine._gamma, "degree": machine.degree, "coef0": machine.coef0}
        matrix = pairwise_kernels(X[rows], metric=machine.kernel, filter_params=True, **options)
    matrix = np.asarray(matrix.toarray() if issparse(matrix) else matrix, dtype=float)
    return (matrix + matrix.T) / 2
