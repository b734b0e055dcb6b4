"""Predicted seconds of a further round, by the scope of its tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bosquet.study.methods.candidates import adjacent_candidates
from bosquet.study.methods.method import Method, TableShape
from bosquet.study.run.final_model import TIME_MARGIN
from bosquet.study.run.outcome_table import OutcomeTable
from bosquet.study.run.outcomes import Outcome, TuningScope


def round_seconds(
    active: Sequence[tuple[Method, Outcome]],
    scope: TuningScope,
    outcomes: OutcomeTable,
    shape: TableShape,
) -> float:
    """Return the predicted seconds of a round of methods, given with their outcomes on the first split."""
    total = 0.0
    for method, first in active:
        latest = outcomes.latest_seconds(method, scope)
        total += method_seconds(method, first, scope, shape) if latest is None else latest
    return total


def chain_seconds(
    active: Sequence[tuple[Method, Outcome]],
    scope: TuningScope,
    outcomes: OutcomeTable,
    shape: TableShape,
) -> float:
    """Return the predicted seconds of a round with a worker per method.

    That is the longest trial and then the methods that combine others, which wait for it.
    """
    combining = [pair for pair in active if pair[0].combine is not None]
    others = [pair for pair in active if pair[0].combine is None]
    longest = max((round_seconds([pair], scope, outcomes, shape) for pair in others), default=0.0)
    return longest + round_seconds(combining, scope, outcomes, shape)


def method_seconds(method: Method, first: Outcome, scope: TuningScope, shape: TableShape) -> float:
    """Return the predicted seconds of a method that was not yet tuned like this."""
    scoring = first.decision_seconds + first.scoring_seconds
    if scope == "all":
        return first.fit_seconds + scoring
    # The margin is for a busy machine, and because `one_fit_seconds` may be a mean over candidates.
    one_fit = min(first.fit_seconds, TIME_MARGIN * first.one_fit_seconds)
    if scope == "same":  # the threshold of the first split is used too
        return first.scoring_seconds + one_fit
    if method.combine:
        return scoring + first.fit_seconds
    candidates = list(method.candidates(replace(shape, n_rows=first.rows_used)))
    n_adjacent = len(adjacent_candidates(candidates, first.setting))
    return scoring + max(one_fit, first.fit_seconds * n_adjacent / len(candidates))
