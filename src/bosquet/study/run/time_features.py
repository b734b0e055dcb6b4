"""Whether elapsed time is used as a feature: decided on blocks of time, before any method is tuned.

Recurring parts of a date (hour, weekday, season) have the same values in later rows as in training rows.
Elapsed time does not: a linear method extrapolates its line, a tree predicts the level of the latest rows.
This is right if the level of the target drifts, and wrong if it follows the season or a few recent days. Both
variants are scored like the methods of a study: each block is predicted from the rows before it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet.boosting import GradientBoostingClassifier, GradientBoostingRegressor
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.metrics.formatting import format_score, in_sentence
from bosquet.study.metrics.metric import Metric, predictions_for
from bosquet.study.run.scoring import scores_of
from bosquet.study.table.design_splits import Splits
from bosquet.study.table.frames import take
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import seed_of
from bosquet.study.tuning.thresholds import default_decision
from bosquet.tables.dates import ELAPSED

# The comparison takes a few seconds: few rounds and, on large tables, a sample of rows evenly spaced in time.
ROUNDS = 100
# The sample has at most this many values, but no fewer than this many rows.
MAX_VALUES = 400_000
MIN_ROWS_COMPARED = 2_000


def choose_time_features(
    table: StudyTable, metric: Metric, random_state: int
) -> tuple[StudyTable, str]:
    """Return the table, without elapsed time if later blocks are predicted better without it, and a note.

    The result does not depend on measured time, so that a resumed study has the same table.
    """
    times = elapsed_columns(table)
    others = [name for name in table.X.columns if name not in times]
    if not times or not others:
        return table, ""
    rows = _sample_rows(table)
    splits = Splits(
        table.design.take(rows), table.target.y[rows], random_state, table.target.is_classes
    )
    X, seed = take(table.X, rows), seed_of(random_state, "time")
    with_time, without = [], []
    for number in range(splits.max_splits or 0):
        with suppress(Exception):  # a block that cannot be scored, for example with a single class
            pair = [
                _score_with_columns(X[names], splits, number, metric, seed)
                for names in (X.columns, others)
            ]
            if np.isfinite(pair).all():
                with_time.append(pair[0])
                without.append(pair[1])
    if not without or not metric.is_better(float(np.mean(without)), float(np.mean(with_time))):
        return table, ""
    scores = [format_score(float(np.mean(part))) for part in (without, with_time)]
    note = (
        f"{', '.join(times)}: not used as a feature, because later blocks of time are predicted better"
        f" without it ({in_sentence(metric.title)} {scores[0]} without, {scores[1]} with)"
    )
    return _drop_columns(table, times), note


def elapsed_columns(table: StudyTable) -> list[str]:
    """Return the features that only grow with time: elapsed time of dates, and a numeric time column.

    Elapsed time is not included if it is the only feature of its date.
    """
    time_column = table.design.columns.get("time", "")
    columns = []
    for plan in table.tidier.plans:
        if plan.kind == "date" and len(plan.parts) > 1 and ELAPSED in plan.parts:
            columns.append(plan.outputs[plan.parts.index(ELAPSED)])
        elif plan.kind == "number" and time_column and plan.name == time_column:
            columns += plan.outputs
    return columns


def _sample_rows(table: StudyTable) -> np.ndarray:
    """Return the indices of all rows or, for a large table, of rows evenly spaced in time."""
    time = table.design.time
    assert time is not None
    outputs = len(table.target.classes) if table.target.is_classes else 1
    max_rows = max(MIN_ROWS_COMPARED, MAX_VALUES // (table.X.shape[1] * max(outputs - 1, 1)))
    if len(time) <= max_rows:
        return np.arange(len(time))
    order = np.argsort(time, kind="stable")
    return np.sort(order[np.linspace(0, len(time) - 1, max_rows).astype(np.intp)])


def _score_with_columns(X: Any, splits: Splits, number: int, metric: Metric, seed: int) -> float:
    """Return the score of gradient boosting on a block of time."""
    split = splits.split(number)
    rows = TableRows(X, splits.y, splits.design)
    test = rows.take(split.test)
    kind: Any = GradientBoostingClassifier if splits.stratify else GradientBoostingRegressor
    model = kind(n_estimators=ROUNDS, early_stopping=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_by_design(model, rows.take(split.train), seed)
    predictions = predictions_for(model, test.X, metric)
    scores = scores_of([metric], test.y, predictions, default_decision(metric), test.weight)
    return scores[metric.name]


def _drop_columns(table: StudyTable, names: Sequence[str]) -> StudyTable:
    """Return the table without some features; its tidier drops them from new tables too."""
    for k, plan in enumerate(table.tidier.plans):
        if plan.kind == "date":
            table.tidier.plans[k] = plan.without_elapsed()
        elif set(plan.outputs) & set(names):
            table.tidier.plans[k] = replace(plan, kind="left out", outputs=())
    return replace(table, X=table.X.drop(columns=list(names)))
