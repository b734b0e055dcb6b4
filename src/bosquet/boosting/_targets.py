"""Checking what comes with X: targets, weights, and the rows set aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet.boosting._native import Part
from bosquet.losses._native import NO_WEIGHT

LARGEST_TARGET = 1e30


def check_sample_weight(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Weights as float64, empty where there are none (or all are 1)."""
    if sample_weight is None:
        return NO_WEIGHT
    weight = np.asarray(sample_weight, dtype=float)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weight.ndim}D array")
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n_rows,)}!")
    if not np.isfinite(weight).all():
        row = int(np.flatnonzero(~np.isfinite(weight))[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]}; weights must be finite")
    if (weight < 0).any():
        row = int(np.flatnonzero(weight < 0)[0])
        raise ValueError(f"sample_weight[{row}] is {weight[row]:g}; weights must not be negative")
    if not weight.any():
        raise ValueError("every sample_weight is zero: there is nothing to learn from")
    return NO_WEIGHT if (weight == 1).all() else np.ascontiguousarray(weight)


def check_finite_target(y: Any, name: str = "y") -> np.ndarray:
    """Numbers as float64 of shape (targets, rows)."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        array = np.asarray(y)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported: y has complex numbers")
        array = np.asarray(array, dtype=float)
    except (TypeError, ValueError) as error:
        if "Complex" in str(error):
            raise
        raise ValueError(f"{name} must hold numbers for regression: {error}") from error
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise ValueError(f"{name} must have one or two dimensions, got {array.ndim}")
    if array.size == 0:
        raise ValueError(f"{name} is empty: found array with 0 sample(s)")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if wrong.size:
        bad = "NaN" if np.isnan(array[wrong[0]]).any() else "infinity"
        raise ValueError(
            f"Input {name} contains {bad}: {name}[{wrong[0]}] (and {wrong.size - 1} more rows);"
            " drop such rows or fill them in"
        )
    wrong = np.flatnonzero((np.abs(array) > LARGEST_TARGET).any(axis=1))
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {array[wrong[0]].max():g}: targets beyond {LARGEST_TARGET:g} in size"
            " are too large for gradients in single precision; rescale them"
        )
    return np.ascontiguousarray(array.T)


def check_same_length(n_target: int, n_rows: int) -> None:
    if n_target != n_rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows}, y has {n_target}"
        )


def split_rows(
    n_rows: int, fraction: float, seed: int, strata: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to judge by, each ascending; classes in proportion."""
    from sklearn.model_selection import train_test_split

    if strata is not None and np.bincount(strata).min() < 2:
        strata = None
    held = max(1, round(fraction * n_rows))
    if held >= n_rows:
        raise ValueError(
            f"early stopping sets aside {fraction:g} of {n_rows} rows, which leaves none to learn from;"
            " lower validation_fraction or set early_stopping=False"
        )
    if strata is not None and (held < strata.max() + 1 or n_rows - held < strata.max() + 1):
        strata = None
    kept_rows, held_rows = train_test_split(
        np.arange(n_rows), test_size=held, random_state=seed, stratify=strata
    )
    return np.sort(kept_rows), np.sort(held_rows)


def validation_part(
    eval_set: Any, encoder: Any, encode_target: Callable[[Any], np.ndarray], loss: Any
) -> Part:
    """The rows the caller gave to judge by."""
    if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set must be a tuple (X, y) or (X, y, sample_weight)")
    X, y = eval_set[0], eval_set[1]
    target = encode_target(y)
    loss.check_targets(target)
    columns = X if encoder is None else encoder.transform(X)
    from bosquet.data import n_rows

    if encoder is not None:
        check_same_length(target.shape[1], n_rows(columns))
    weight = check_sample_weight(eval_set[2] if len(eval_set) == 3 else None, target.shape[1])
    return Part(columns, target, weight)
