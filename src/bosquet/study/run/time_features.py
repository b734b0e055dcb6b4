"""Whether elapsed time is a feature: decided by blocks of time, before any method is tuned.

Parts of a date that recur (hour, weekday, season) have values in later rows that training rows have had.
Elapsed time has not: a linear method continues its line, a tree predicts the level of the latest rows. That
is right where the level of the target wanders, and wrong where it follows the season or a few recent days.
Both are tried as the study tests its methods, each block predicted from the rows before it.
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
from bosquet.study.metrics.formatting import figure
from bosquet.study.metrics.scoring import Metric, answer_of
from bosquet.study.run.trial import scores_of
from bosquet.study.table.design_splits import Splits
from bosquet.study.table.frames import take
from bosquet.study.table.reading import StudyTable
from bosquet.study.table.splits import seed_of
from bosquet.study.tuning.thresholds import plain_decision
from bosquet.tables.dates import ELAPSED

# The trial takes seconds: few rounds, and of large tables rows at equal distances in time.
ROUNDS = 100
MOST_VALUES, FEWEST_ROWS = 400_000, 2_000


def choose_time_features(
    table: StudyTable, metric: Metric, random_state: int
) -> tuple[StudyTable, str]:
    """The table, without elapsed time if blocks of time are predicted better so, and a note.

    Nothing here depends on the clock, so that a study that is resumed has the same table.
    """
    times = elapsed_columns(table)
    others = [name for name in table.X.columns if name not in times]
    if not times or not others:
        return table, ""
    rows = _some_rows(table)
    splits = Splits(
        table.design.take(rows), table.target.y[rows], random_state, table.target.is_classes
    )
    X, seed = take(table.X, rows), seed_of(random_state, "time")
    with_time, without = [], []
    for number in range(splits.most or 0):
        with suppress(Exception):  # a block that cannot be scored, such as one of a single class
            scores = [
                _score(X[names], splits, number, metric, seed) for names in (X.columns, others)
            ]
            if np.isfinite(scores).all():
                with_time.append(scores[0])
                without.append(scores[1])
    if not without or not metric.better(float(np.mean(without)), float(np.mean(with_time))):
        return table, ""
    note = (
        f"{', '.join(times)}: left out, because blocks of time are predicted better without"
        f" ({metric.title} {figure(float(np.mean(without)))}, with it {figure(float(np.mean(with_time)))})"
    )
    return _without(table, times), note


def elapsed_columns(table: StudyTable) -> list[str]:
    """Features that only grow with time: elapsed time of dates, and numbers that are given as the time.

    A date of which nothing would be left is not among them.
    """
    given = table.design.columns.get("time", "")
    found = []
    for plan in table.tidier.plans:
        if plan.kind == "date" and len(plan.parts) > 1 and ELAPSED in plan.parts:
            found.append(plan.outputs[plan.parts.index(ELAPSED)])
        elif plan.kind == "number" and given and plan.name == given:
            found += plan.outputs
    return found


def _some_rows(table: StudyTable) -> np.ndarray:
    """All rows, or of a large table some at equal distances in time."""
    time = table.design.time
    assert time is not None
    outputs = len(table.target.classes) if table.target.is_classes else 1
    most = max(FEWEST_ROWS, MOST_VALUES // (table.X.shape[1] * max(outputs - 1, 1)))
    if len(time) <= most:
        return np.arange(len(time))
    order = np.argsort(time, kind="stable")
    return np.sort(order[np.linspace(0, len(time) - 1, most).astype(np.intp)])


def _score(X: Any, splits: Splits, number: int, metric: Metric, seed: int) -> float:
    """The score of gradient boosting on a block of time."""
    split, y, design = splits.split(number), splits.y, splits.design
    kind: Any = GradientBoostingClassifier if splits.stratify else GradientBoostingRegressor
    model = kind(n_estimators=ROUNDS, early_stopping=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit_by_design(model, take(X, split.train), y[split.train], design.take(split.train), seed)
    answer = answer_of(model, take(X, split.test), metric)
    weight = None if design.weight is None else design.weight[split.test]
    found = scores_of([metric], y[split.test], answer, plain_decision(metric), weight)
    return found[metric.name]


def _without(table: StudyTable, names: Sequence[str]) -> StudyTable:
    """The same table without some features; its tidier leaves them out of later tables too."""
    for place, plan in enumerate(table.tidier.plans):
        if plan.kind == "date":
            table.tidier.plans[place] = plan.without_elapsed()
        elif set(plan.outputs) & set(names):
            table.tidier.plans[place] = replace(plan, kind="left out", outputs=())
    return replace(table, X=table.X.drop(columns=list(names)))
