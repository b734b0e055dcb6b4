"""The properties of a training table on which the candidates of methods depend."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet.data import TableEncoder, count_rows
from bosquet.study.methods.method import TableShape
from bosquet.study.record import Task


def table_shape(X: Any, y: Any, task: Task) -> TableShape:
    """Return the properties of the training rows on which candidates depend."""
    encoder, columns = TableEncoder.fit_encode(X, owner="table_shape")
    target = np.asarray(y)
    n_classes, rarest_share, target_is_count = 1, 1.0, False
    if task == "regression":
        numbers = np.asarray(target, dtype=float)
        target_is_count = bool((numbers >= 0).all() and (numbers == np.floor(numbers)).all())
    else:
        class_sizes = np.unique(target, return_counts=True)[1]
        n_classes, rarest_share = len(class_sizes), float(class_sizes.min() / class_sizes.sum())
    level_counts = [n_levels for n_levels in encoder.n_levels if n_levels > 0]
    n_numbers = encoder.n_features - len(level_counts)
    return TableShape(
        task=task,
        n_rows=count_rows(columns),
        n_numbers=n_numbers,
        n_categories=len(level_counts),
        n_indicators=n_numbers + sum(level_counts),
        n_classes=n_classes,
        rarest_share=rarest_share,
        target_is_count=target_is_count,
    )
