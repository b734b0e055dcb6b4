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
    classes, rarest, counts = 1, 1.0, False
    if task == "regression":
        numbers = np.asarray(target, dtype=float)
        counts = bool((numbers >= 0).all() and (numbers == np.floor(numbers)).all())
    else:
        sizes = np.unique(target, return_counts=True)[1]
        classes, rarest = len(sizes), float(sizes.min() / sizes.sum())
    categories = [n_levels for n_levels in encoder.n_levels if n_levels > 0]
    n_numbers = encoder.n_features - len(categories)
    return TableShape(
        task=task,
        n_rows=count_rows(columns),
        n_numbers=n_numbers,
        n_categories=len(categories),
        n_indicators=n_numbers + sum(categories),
        n_classes=classes,
        rarest=rarest,
        counts=counts,
    )
