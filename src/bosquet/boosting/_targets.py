"""The targets of boosting, and the rows set aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet.boosting._native import Part
from bosquet.data.targets import check_same_length, check_sample_weight, finite_targets

LARGEST_TARGET = 1e30


def check_finite_target(y: Any, name: str = "y") -> np.ndarray:
    """Numbers as float64 of shape (targets, rows), none too large for a gradient."""
    array = finite_targets(y, name)
    wrong = np.flatnonzero((np.abs(array) > LARGEST_TARGET).any(axis=0))
    if wrong.size:
        raise ValueError(
            f"{name}[{wrong[0]}] is {array[:, wrong[0]].max():g}: targets beyond {LARGEST_TARGET:g} in size"
            " are too large for gradients in single precision; rescale them"
        )
    return array


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
