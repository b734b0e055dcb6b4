"""Scores of the chosen candidate on blocks of time that the splits of a study did not reach."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate, Method
from bosquet.study.run.clock import StudyClock
from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.scoring import predict_in_blocks, scores_of
from bosquet.study.run.training_rows import training_rows
from bosquet.study.table.design_splits import MIN_BLOCKS
from bosquet.study.table.splits import seed_of
from bosquet.study.tuning.thresholds import Decision

# Share of the budget after which no block is added, once there are enough blocks for an interval.
END_OF_BLOCKS = 0.85


def block_scores(
    context: StudyContext,
    method: Method,
    candidate: Candidate,
    outcomes: Sequence[Outcome],
    clock: StudyClock,
) -> list[float]:
    """Return the scores of a method on the blocks of its outcomes, and on further blocks if time allows.

    The method is not tuned again on further blocks. An interval for the next block needs a few blocks, and on
    large tables there is no time to run all methods on them.
    """
    scores = [float(outcome.score) for outcome in outcomes if outcome.score is not None]
    longest = outcomes[0].one_fit_seconds
    for number in range(len(outcomes), context.splits.max_splits or 0):
        end = 1.0 if len(scores) < MIN_BLOCKS else END_OF_BLOCKS
        if clock.timed and clock.seconds_left(end) < longest:
            break
        scores.append(_score(context, method, candidate, outcomes[0], number))
    return scores


def _score(
    context: StudyContext, method: Method, candidate: Candidate, first: Outcome, number: int
) -> float:
    split = context.splits.split(number)
    train, _ = training_rows(context, method, split.train, None, first)
    seed = seed_of(context.random_state, "fit", method.name, number)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fit_by_design(candidate.make(seed), context.rows(train), seed)
    test, metric = context.rows(split.test), context.metric
    predictions = predict_in_blocks(model, test.X, metric)
    decision = Decision(metric.classes, metric.positive, first.threshold, metric.costs)
    return scores_of([metric], test.y, predictions, decision, test.weight)[metric.name]
