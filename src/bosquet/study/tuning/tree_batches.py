"""Forests grown in batches of trees, so that a limit ends a fit with the trees that it has by then.

A forest is grown in one call, and a limit that is reached inside it would leave nothing. Its trees do not
depend on each other: a forest of fewer trees is a forest, only a little less accurate.
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
from bosquet.study.table.design import Design
from bosquet.study.tuning.time_limit import OutOfTime

FORESTS = (ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor)
FIRST_BATCH = 5  # trees; each further batch doubles what there is
FEWEST = 2  # trees of a batch that is worth beginning

IsOver = Callable[[float], bool]  # whether a fit of so many more seconds would be stopped


def fit_in_time(
    estimator: Any, X: Any, y: Any, design: Design, seed: int, is_over: IsOver | None
) -> tuple[Any, bool]:
    """A fit by the design of the rows, and whether it is finished; forests may end with fewer trees.

    The trees are those of a fit at once. Without a limit (`is_over` is None) there are no batches.
    """
    if is_over is None or not isinstance(estimator, FORESTS) or estimator.n_estimators == "auto":
        return fit_by_design(estimator, X, y, design, seed), True
    wanted, warm = estimator.n_estimators, estimator.warm_start
    trees, size = 0, min(FIRST_BATCH, wanted)
    told: list[
        warnings.WarningMessage
    ] = []  # by the last batch: more trees may have mended the others
    estimator.set_params(warm_start=True)
    try:
        while trees < wanted and size:
            began = time.monotonic()
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                fit_by_design(estimator.set_params(n_estimators=trees + size), X, y, design, seed)
            an_each = (time.monotonic() - began) / size
            trees, told = trees + size, heard
            size = _next_batch(min(trees, wanted - trees), an_each, is_over)
    except OutOfTime:
        if not trees:
            raise
    finally:
        estimator.set_params(warm_start=warm, n_estimators=trees or wanted)
    for one in told:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return estimator, trees == wanted


def _next_batch(size: int, seconds: float, is_over: IsOver) -> int:
    """The trees of the next batch, half as many as long as there is no time for them; 0 for none."""
    while size >= FEWEST and is_over(size * seconds):
        size //= 2
    return size if size >= FEWEST or not is_over(seconds) else 0
