"""Forests grown in batches of trees, so that a time limit keeps the trees grown so far.

If a forest were fitted in one call, a limit reached during the call would leave no model. The trees are
independent of each other: a forest with fewer trees is valid, only slightly less accurate.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

from bosquet.forests import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.stopping import OutOfTime

FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor)
FIRST_BATCH = 5  # trees; each further batch doubles the number of trees
SMALLEST_BATCH = 2  # trees

IsOver = Callable[[float], bool]  # whether a fit of this many more seconds would be stopped


def fit_in_time(
    estimator: Any, rows: TableRows, seed: int, is_over: IsOver | None
) -> tuple[Any, bool]:
    """Fit an estimator, and return it with False if it is a forest that the time limit left incomplete.

    The trees are the same as those of a single fit. Without a limit (`is_over` is None) there are no batches.
    """
    if is_over is None or not isinstance(estimator, FORESTS) or estimator.n_estimators == "auto":
        return fit_by_design(estimator, rows, seed), True
    n_trees, warm = estimator.n_estimators, estimator.warm_start
    trees, size = 0, min(FIRST_BATCH, n_trees)
    # Only the warnings of the last batch are reported: more trees may have removed the reason of the others.
    raised: list[warnings.WarningMessage] = []
    estimator.set_params(warm_start=True)
    try:
        while trees < n_trees and size:
            began = time.monotonic()
            with warnings.catch_warnings(record=True) as of_batch:
                warnings.simplefilter("always")
                fit_by_design(estimator.set_params(n_estimators=trees + size), rows, seed)
            seconds_per_tree = (time.monotonic() - began) / size
            trees, raised = trees + size, of_batch
            size = _next_batch(min(trees, n_trees - trees), seconds_per_tree, is_over)
    except OutOfTime:
        if not trees:
            raise
    finally:
        estimator.set_params(warm_start=warm, n_estimators=trees or n_trees)
    for warning in raised:
        warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return estimator, trees == n_trees


def _next_batch(size: int, seconds_per_tree: float, is_over: IsOver) -> int:
    """Return the size of the next batch: halved until there is time for it, 0 if there is none."""
    while size >= SMALLEST_BATCH and is_over(size * seconds_per_tree):
        size //= 2
    return size if size >= SMALLEST_BATCH or not is_over(seconds_per_tree) else 0
