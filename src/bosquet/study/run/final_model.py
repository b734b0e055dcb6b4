"""The model that is kept: the chosen candidate fitted to all rows, or to as many as time allows."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.record import FinalFit
from bosquet.study.run.clock import Clock, in_words
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.trial import Setting
from bosquet.study.table.design import Design
from bosquet.study.table.splits import seed_of, subsample

# What a fit takes at most, beside what one is thought to take.
DEARER = 1.2
# Share of the budget by which the last fit may exceed it, so that it has all rows.
OVERTIME = 0.5
# Without a budget the last fit has about so many seconds, by the method's cost model.
SECONDS_COUNTED = 600.0


def seconds_for_rows(method: Method, outcome: Outcome, shape: TableShape, rows: int) -> float:
    """About how long a fit to so many rows takes: as measured, scaled by the method's cost model."""
    used = max(outcome.rows_used, 1)
    growth = rows / used
    if method.rows_affordable is not all_rows and rows != used:
        seconds = [modelled_seconds(method.rows_affordable, shape, n) for n in (used, rows)]
        growth = seconds[1] / seconds[0]
    return DEARER * outcome.one_fit_seconds * growth


def rows_for_final(
    study: Setting, method: Method, outcome: Outcome, clock: Clock
) -> tuple[int, str]:
    """How many rows the last fit has, and why it is not all of them."""
    n = len(study.y)
    most = int(method.rows_affordable(study.shape, math.inf))
    rows, seconds = _rows_in_time(study, method, outcome, clock)
    if most < min(rows, n):
        return most, "a fit to all rows would take too much memory"
    return rows, "" if rows >= n else f"a fit to all rows would take about {in_words(seconds)}"


def _rows_in_time(
    study: Setting, method: Method, outcome: Outcome, clock: Clock
) -> tuple[int, float]:
    n = len(study.y)
    if clock.budget is None:
        affordable = int(method.rows_affordable(study.shape, SECONDS_COUNTED))
        return min(affordable, n), modelled_seconds(method.rows_affordable, study.shape, n)
    seconds = seconds_for_rows(method, outcome, study.shape, n)
    allowed = max(clock.left(), OVERTIME * clock.budget)
    if seconds <= allowed:
        return n, seconds
    used = max(outcome.rows_used, 1)
    one_fit = seconds_for_rows(method, outcome, study.shape, used)
    power = math.log(seconds / one_fit) / math.log(n / used) if n > used else 1.0
    rows = n * (allowed / seconds) ** (1 / max(power, 0.5))
    return int(min(max(rows, used), n)), seconds


def fit_final(
    study: Setting, method: Method, candidate: Candidate, outcome: Outcome, clock: Clock
) -> tuple[Any, np.ndarray, FinalFit]:
    """The model, the numbers of the rows that it was fitted to, and what the report states of it."""
    n = len(study.y)
    size, why = rows_for_final(study, method, outcome, clock)
    seed = seed_of(study.random_state, "fit", method.name, "all")
    rows, X = np.arange(n), study.X
    if size < n:
        rows = subsample(study.y, size, seed, stratify=study.target.is_classes)
        X = study.X.iloc[rows]
    if outcome.subsampled:
        candidate = _for_rows(method, candidate, replace(study.shape, n_rows=len(rows)))
    began = time.perf_counter()
    model = fitted(candidate, seed, X, study.y[rows], study.design.take(rows))
    final: FinalFit = {
        "rows": len(rows),
        "of": n,
        "seconds": time.perf_counter() - began,
        "why": why,
    }
    return model, rows, final


def _for_rows(method: Method, candidate: Candidate, shape: TableShape) -> Candidate:
    """The same candidate for a table of another size: a penalty may grow with the rows."""
    same = [one for one in method.candidates(shape) if one.label == candidate.label]
    return same[0] if same else candidate


def fitted(candidate: Candidate, seed: int, X: Any, y: np.ndarray, design: Design) -> Any:
    """A further fit of a candidate; what fits of it warn of is in the table already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_by_design(candidate.make(seed), X, y, design, seed)
