"""The validation set of early stopping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from bosquet._row_labels import warn_of_other_order
from bosquet._targets import check_same_length, check_sample_weight
from bosquet.boosting._native import Part
from bosquet.data import n_rows


def split_rows(
    rows: int, fraction: float, seed: int, strata: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to judge by, each ascending; classes in proportion."""
    from sklearn.model_selection import train_test_split

    if strata is not None and np.bincount(strata).min() < 2:
        strata = None
    held = max(1, round(fraction * rows))
    if held >= rows:
        raise ValueError(
            f"early stopping sets aside {fraction:g} of {rows} rows, which leaves none to learn from;"
            " lower validation_fraction or set early_stopping=False"
        )
    if strata is not None and (held < strata.max() + 1 or rows - held < strata.max() + 1):
        strata = None
    kept_rows, held_rows = train_test_split(
        np.arange(rows), test_size=held, random_state=seed, stratify=strata
    )
    return np.sort(kept_rows), np.sort(held_rows)


def validation_part(
    eval_set: Any,
    encoder: Any,
    encode_target: Callable[[Any], np.ndarray],
    loss: Any,
    owner: str,
) -> Part:
    """The rows the caller gave to judge by."""
    if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
        eval_set = eval_set[0]
    if not isinstance(eval_set, tuple) or len(eval_set) not in (2, 3):
        raise ValueError("eval_set must be a tuple (X, y) or (X, y, sample_weight)")
    X, y = eval_set[0], eval_set[1]
    warn_of_other_order(("X of eval_set", "y of eval_set"), eval_set)
    target = encode_target(y)
    loss.check_targets(target)
    columns = X if encoder is None else encoder.transform(X, owner=owner)
    if encoder is not None:
        check_same_length(target.shape[1], n_rows(columns))
    weight = check_sample_weight(eval_set[2] if len(eval_set) == 3 else None, target.shape[1])
    return Part(columns, target, weight)
