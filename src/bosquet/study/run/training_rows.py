"""The training rows of a method on a split: all of them, or a subsample if these are too expensive."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bosquet.study.methods.method import INCUMBENT, Method, TableShape
from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcomes import Outcome
from bosquet.study.table.design import FOLDS
from bosquet.study.table.splits import seed_of, subsample
from bosquet.study.tuning.affordable_rows import affordable_rows
from bosquet.study.tuning.options import TuningOptions

# Without a budget a single fit may take about this long; a slower method gets fewer rows.
SECONDS_OF_A_COUNTED_FIT = 20.0
# A subsample has at least this many values: the score of a method on fewer rows is a poor estimate for the
# method.
MIN_VALUES_OF_SUBSAMPLE = 1_000_000
# Whatever its number of values, a subsample needs at least this many rows ...
MIN_ROWS_OF_SUBSAMPLE = 200
# ... and no more than this many.
ENOUGH_ROWS_OF_SUBSAMPLE = 2000
# More rows are worth more than more candidates: a method gets a subsample only if, on all rows, it could try
# at most one in this many of its candidates.
FEWER_CANDIDATES = 4


def training_rows(
    context: StudyContext,
    method: Method,
    train: np.ndarray,
    seconds: float | None,
    first: Outcome | None,
    size: int | None = None,
) -> tuple[np.ndarray, TableShape]:
    """Return the rows that a method can afford, and their shape: all of them, or a stratified subsample."""
    shape = replace(context.shape, n_rows=len(train))
    fewest = fewest_rows(shape)
    if len(train) <= fewest or method.name == INCUMBENT:
        return train, shape
    if first is not None:  # the same number of rows on all splits
        affordable = first.rows_used
    elif size is not None:
        affordable = size
    elif seconds is None:
        affordable = int(method.rows_affordable(shape, SECONDS_OF_A_COUNTED_FIT))
    else:
        affordable = _affordable_rows(context, method, train, shape, seconds)
    affordable = max(affordable, fewest)
    if affordable >= len(train):
        return train, shape
    seed = seed_of(context.random_state, "rows", method.name)
    chosen = subsample(context.y[train], affordable, seed, stratify=context.target.is_classes)
    return train[chosen], replace(shape, n_rows=len(chosen))


def fewest_rows(shape: TableShape) -> int:
    """Return the smallest allowed subsample of a table."""
    values = MIN_VALUES_OF_SUBSAMPLE // max(shape.n_indicators, 1)
    return min(max(MIN_ROWS_OF_SUBSAMPLE, values), ENOUGH_ROWS_OF_SUBSAMPLE, shape.n_rows)


def _affordable_rows(
    context: StudyContext, method: Method, train: np.ndarray, shape: TableShape, seconds: float
) -> int:
    options = TuningOptions(
        scheme=context.scheme(method, shape),
        folds=FOLDS,
        random_state=seed_of(context.random_state, "rows", method.name),
    )
    return affordable_rows(method, context.rows(train), shape, seconds * FEWER_CANDIDATES, options)
