"""The final model: the chosen candidate, fitted to all rows or to as many as time and memory allow."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import Any

from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.record import FinalFit
from bosquet.study.run.clock import StudyClock, format_seconds
from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcomes import Outcome
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import seed_of, subsample

# Predicted durations are multiplied by this safety factor.
TIME_MARGIN = 1.2
# The final fit may exceed the budget by this share, so that it can use all rows.
OVERTIME = 0.5
# Without a budget the final fit may take about this many seconds by the cost model of the method.
SECONDS_COUNTED = 600.0


def seconds_for_rows(method: Method, outcome: Outcome, shape: TableShape, n_rows: int) -> float:
    """Return the predicted seconds of a fit to `n_rows` rows: the measured time, scaled by the cost model."""
    used = max(outcome.rows_used, 1)
    growth = n_rows / used
    if method.rows_affordable is not all_rows and n_rows != used:
        seconds = [modelled_seconds(method.rows_affordable, shape, n) for n in (used, n_rows)]
        growth = seconds[1] / seconds[0]
    return TIME_MARGIN * outcome.one_fit_seconds * growth


def rows_for_final(
    context: StudyContext, method: Method, outcome: Outcome, clock: StudyClock
) -> tuple[int, str]:
    """Return the number of rows of the final fit, and the reason if it is not all of them."""
    n = len(context.y)
    max_rows = int(method.rows_affordable(context.shape, math.inf))
    rows, seconds = _rows_in_time(context, method, outcome, clock)
    if max_rows < min(rows, n):
        return max_rows, "a fit to all rows would take too much memory"
    return (
        rows,
        "" if rows >= n else f"a fit to all rows would take about {format_seconds(seconds)}",
    )


def _rows_in_time(
    context: StudyContext, method: Method, outcome: Outcome, clock: StudyClock
) -> tuple[int, float]:
    n = len(context.y)
    if clock.budget is None:
        affordable = int(method.rows_affordable(context.shape, SECONDS_COUNTED))
        return min(affordable, n), modelled_seconds(method.rows_affordable, context.shape, n)
    seconds = seconds_for_rows(method, outcome, context.shape, n)
    seconds_allowed = max(clock.seconds_left(), OVERTIME * clock.budget)
    if seconds <= seconds_allowed:
        return n, seconds
    rows_used = max(outcome.rows_used, 1)
    one_fit = seconds_for_rows(method, outcome, context.shape, rows_used)
    power = math.log(seconds / one_fit) / math.log(n / rows_used) if n > rows_used else 1.0
    rows = n * (seconds_allowed / seconds) ** (1 / max(power, 0.5))
    return int(min(max(rows, rows_used), n)), seconds


def fit_final(
    context: StudyContext, method: Method, candidate: Candidate, outcome: Outcome, clock: StudyClock
) -> tuple[Any, TableRows, FinalFit]:
    """Return the final model, its training rows, and its entry in the record."""
    n = len(context.y)
    size, why = rows_for_final(context, method, outcome, clock)
    seed = seed_of(context.random_state, "fit", method.name, "all")
    rows = context.rows()
    if size < n:
        stratify = context.target.is_classes
        rows = context.rows(subsample(context.y, size, seed, stratify=stratify))
    if outcome.subsampled:
        candidate = _candidate_for_rows(method, candidate, replace(context.shape, n_rows=len(rows)))
    began = time.perf_counter()
    model = fit_candidate(candidate, rows, seed)
    final: FinalFit = {
        "rows": len(rows),
        "of": n,
        "seconds": time.perf_counter() - began,
        "why": why,
    }
    return model, rows, final


def _candidate_for_rows(method: Method, candidate: Candidate, shape: TableShape) -> Candidate:
    """Return the same candidate for another number of rows: a penalty may depend on it."""
    same = [other for other in method.candidates(shape) if other.label == candidate.label]
    return same[0] if same else candidate


def fit_candidate(candidate: Candidate, rows: TableRows, seed: int) -> Any:
    """Fit a candidate again, without its warnings: the leaderboard already has them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fit_by_design(candidate.make(seed), rows, seed)
