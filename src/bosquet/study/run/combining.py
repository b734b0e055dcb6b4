"""Methods that combine others: their candidates are made of the tuned methods of the same split."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import partial

from bosquet.study.methods.candidates import candidate_with
from bosquet.study.methods.method import (
    BAYES_RULE,
    Candidate,
    ChosenCandidate,
    Method,
    TableShape,
    all_rows,
)
from bosquet.study.run.outcome_table import OutcomeTable
from bosquet.study.run.outcomes import Outcome
from bosquet.study.table.splits import StudySplit

# Fits of each learner that a combination needs on a large table: one per fold of two, and one to all rows.
COMBINING_FITS = 3


def with_combined_candidates(
    method: Method,
    split: StudySplit,
    outcomes: OutcomeTable,
    shape: TableShape,
    seconds: float | None,
    first: Outcome | None = None,
) -> Method:
    """Return a method that combines others with candidates made of the tuned methods.

    Other methods are returned unchanged. `shape` is that of the whole table. With a time limit of `seconds`
    the method combines the same learners as in its `first` outcome.
    """
    if method.combine is None:
        return method
    chosen = chosen_candidates(split, outcomes, shape)
    if first is not None and seconds is not None:
        seconds = None
        learners = first.setting.get("learners", chosen)
        chosen = {name: one for name, one in chosen.items() if name in learners}
    try:
        candidates = list(method.combine(replace(shape, n_rows=len(split.train)), chosen, seconds))
    except Exception as error:  # raised again in the trial, which reports it as a failure
        return replace(method, candidates=partial(_raise_error, error))
    if not candidates:
        return method
    return replace(method, candidates=lambda shape: candidates, rows_affordable=all_rows)


def combining_seconds(
    combined: Method, split: StudySplit, outcomes: OutcomeTable, shape: TableShape
) -> float:
    """Return the predicted seconds of a method with combined candidates."""
    chosen = chosen_candidates(split, outcomes, shape)
    setting = combined.candidates(replace(shape, n_rows=len(split.train)))[0].setting
    learners = [chosen[name] for name in setting.get("learners", ()) if name in chosen]
    return COMBINING_FITS * sum(learner.seconds for learner in learners)


def chosen_candidates(
    split: StudySplit, outcomes: OutcomeTable, shape: TableShape
) -> dict[str, ChosenCandidate]:
    """Return the chosen candidates on a split of the methods that were fitted to all training rows."""
    chosen = {}
    for other, outcome in outcomes.scored_outcomes(split.number):
        if other.combine or other.name == BAYES_RULE or outcome.subsampled:
            continue
        with suppress(Exception):  # a method whose candidate cannot be rebuilt is not combined
            shape_used = replace(shape, n_rows=outcome.rows_used)
            candidate = candidate_with(other, shape_used, outcome.setting)
            if candidate is not None:
                chosen[other.name] = ChosenCandidate(candidate, outcome.one_fit_seconds)
    return chosen


def _raise_error(error: Exception, shape: TableShape) -> list[Candidate]:
    raise error
