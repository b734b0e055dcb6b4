"""Weights of the best fixed combination of columns, for each loss."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.optimize import linprog, minimize, nnls

MAX_NEWTON_STEPS = 200  # about 12 steps are usual


def simplex_least_squares(
    X: np.ndarray, y: np.ndarray, row_weight: np.ndarray | None = None
) -> np.ndarray:
    r"""Return the w ≥ 0 with sum 1 that minimises ‖y - X w‖, optionally with row weights; exact.

    On the simplex y - X w = E w with E = y 1ᵀ - X, so E w is the point nearest to the origin in the
    convex hull of the columns of E. Over u ≥ 0, ‖E u‖² + c² (1 - Σu)² is minimised by a multiple of
    this w for any c > 0. Non-negative least squares solves this problem.
    """
    residuals = y[:, None] - X
    if row_weight is not None:
        residuals *= np.sqrt(row_weight)[:, None]
    n = X.shape[1]
    if len(residuals) > n:
        residuals = np.linalg.qr(residuals, mode="r")
    scale = float(np.abs(residuals).max(initial=0.0))
    if scale == 0:
        return np.full(n, 1 / n)
    system = np.vstack([residuals / scale, np.ones(n)])
    target = np.zeros(len(system))
    target[-1] = 1
    weights = nnls(system, target, maxiter=max(100, 30 * n))[0]
    return weights / weights.sum()


def simplex_log_loss(P: np.ndarray, row_weight: np.ndarray | None = None) -> np.ndarray:
    r"""Return the w ≥ 0 with sum 1 that minimises -Σ ln(P w), by Newton's method on the simplex.

    With A = P / (P w) the quadratic model at w is ½ ‖A w' - 2‖² up to a constant, so each step is a
    least squares problem on the simplex. A backtracking line search makes every step an improvement.
    """
    n = P.shape[1]
    largest = P.max(axis=1, keepdims=True)
    positive = largest[:, 0] > 0  # a row of zeros costs the same for all weights
    P = P[positive] / largest[positive]
    share = np.ones(len(P)) if row_weight is None else row_weight[positive]
    w = np.full(n, 1 / n)
    if len(P) == 0:
        return w
    value = -(share @ np.log(P @ w))
    for _ in range(MAX_NEWTON_STEPS):
        A = P / (P @ w)[:, None]
        direction = simplex_least_squares(A, np.full(len(A), 2.0), share) - w
        slope = -float(share @ (A @ direction))
        if -slope <= 1e-12 * share.sum():
            break
        length = 1.0
        while length > 1e-12:
            mixed = P @ (w + length * direction)
            if (mixed > 0).all() and -(share @ np.log(mixed)) <= value + 1e-4 * length * slope:
                break
            length /= 2
        else:
            break
        w = w + length * direction
        value = -(share @ np.log(P @ w))
    w = np.maximum(w, 0)
    return w / w.sum()


def pinball_minimum(
    X: np.ndarray, y: np.ndarray, quantile: float, row_weight: np.ndarray | None, *, simplex: bool
) -> np.ndarray:
    """Return the w that minimises the (row-weighted) pinball loss of X w, by linear programming."""
    n_rows, n = X.shape
    row_weight = np.ones(n_rows) if row_weight is None else row_weight
    # y = X w + u - v with u, v >= 0: u is the part of y above the prediction, v the part below.
    cost = np.concatenate([np.zeros(n), quantile * row_weight, (1 - quantile) * row_weight])
    equal = sparse.hstack(
        [sparse.csr_array(X), sparse.eye_array(n_rows), -sparse.eye_array(n_rows)]
    )
    right = y
    if simplex:
        ones = sparse.csr_array(np.concatenate([np.ones(n), np.zeros(2 * n_rows)])[None, :])
        equal, right = sparse.vstack([equal, ones]), np.append(y, 1.0)
    bounds = [(0, None) if simplex else (None, None)] * n + [(0, None)] * (2 * n_rows)
    result = linprog(cost, A_eq=equal.tocsr(), b_eq=right, bounds=bounds, method="highs")
    if result.x is None:
        raise RuntimeError(f"the linear program for the best combination failed: {result.message}")
    w = result.x[:n]
    return np.maximum(w, 0) / np.maximum(w, 0).sum() if simplex else w


def simplex_minimum(value: Callable[[np.ndarray], float], n: int) -> np.ndarray:
    """Return weights that approximately minimise a convex function, by a general-purpose method (SLSQP)."""
    starts = [np.full(n, 1 / n), *np.eye(n)]
    best = min(starts, key=value)
    start = 0.5 * best + 0.5 / n
    result = minimize(
        value,
        start,
        method="SLSQP",
        bounds=[(0, 1)] * n,
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1, "jac": lambda w: np.ones(n)},
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    w = np.maximum(result.x, 0)
    w /= w.sum()
    return w if value(w) < value(best) else best
