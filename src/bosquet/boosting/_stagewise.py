"""The stagewise loop that AdaBoost, AnyBoost and BrownBoost are presets of.

    f = 0
    for t = 1, 2, ...:
        w   = weights that f leaves, which sum to 1
        h   = a hypothesis of the learner under w
        α   = how far to go along h                         (stop if h is no better than chance)
        f   = f + α h

What the weights are and how long a step is belongs to the variant (`_variants.py`, and the margin
losses of AnyBoost); what a hypothesis is belongs to the learner (`_weak.py`).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet.boosting._endings import NO_WEIGHT_LEFT, Ending, without_edge, without_mistake
from bosquet.boosting._variants import Step, Variant, Weights
from bosquet.boosting._votes import Vote
from bosquet.boosting._weak import WeakLearner

LARGEST_EXPONENT = 700.0


class WorseThanChance(ValueError):
    """The learner has no edge in the first round, so that there is no model at all.

    Attributes
    ----------
    error : float
        The weighted error of its first hypothesis: ε = ½(1 - Σ w y h) for values h in [-1, 1], into which
        larger ones are scaled.
    """

    __module__ = "bosquet.boosting"  # where it is to be imported from
    error: float = math.nan


@dataclass(frozen=True)
class Round:
    """What a round did: its step, Z (None where it bounds nothing), and what the vote now misses.

    `scores` gives f on the training rows, for as long as no further round was asked for.
    """

    step: Step
    normaliser: float | None
    training_error: float
    scores: Callable[[], np.ndarray]


def boost(
    learner: WeakLearner,
    variant: Variant,
    vote: Vote,
    *,
    f: np.ndarray | None = None,
    first: int = 0,
    size: float = 0.0,
) -> Generator[Round, None, Ending]:
    """Add hypotheses to `vote`, one each time the next round is asked for.

    It ends by itself when the learner is no better than chance, when it is perfect, or when no weight
    is left, and returns which of these it was. To go on with a vote, give its values `f` on the
    training rows, the number of its rounds and the sum of its steps.
    """
    f = variant.nobody() if f is None else f
    scores = functools.partial(np.asarray, f)
    w = variant.weights(f)
    for t in itertools.count(first):
        if w is None:
            return NO_WEIGHT_LEFT
        h, said, step = better_than_chance(learner, variant, f, w.distribution, t, size)
        if step is None:
            error = variant.shortfall(said, w.distribution, f)
            return without_edge(t + 1, error, variant.chance)
        vote.add(h, step.scale)
        f += step.scale * said
        size += step.size
        before, w = w, variant.weights(f)
        yield Round(step, normaliser(before, w), variant.training_error(f), scores)
        if step.is_last:
            return without_mistake(t + 1, step.error)
    raise AssertionError("rounds have no last number")


def better_than_chance(
    learner: WeakLearner, variant: Variant, f: np.ndarray, w: np.ndarray, t: int, size: float
) -> tuple[Any, np.ndarray, Step | None]:
    """A hypothesis, its vote on the training rows and its step, None if it has no edge.

    Where the learner is given samples, it has some more to be better on.
    """
    for attempt in range(learner.attempts):
        h = learner.fit(variant.target(f), w, t, attempt)
        said = variant.as_vote(learner.on_training_rows(h))
        step = variant.step(said, w, f, size)
        if step is not None:
            return h, said, step
    if t == 0:
        raise no_edge(variant.shortfall(said, w, f), variant.chance)
    return h, said, None


def no_edge(error: float, chance: float) -> WorseThanChance:
    found = WorseThanChance(
        f"the learner is no better than chance: at round 1 its weighted error is ε = {error:.6g}, and"
        f" guessing has {chance:.6g}; boosting needs a learner with an edge, for example a deeper tree"
    )
    found.error = error
    return found


def normaliser(before: Weights, after: Weights | None) -> float | None:
    """Z = Σ w exp(-α y h): what the weights would sum to if they were not made to sum to 1."""
    if before.log_mass is None or after is None or after.log_mass is None:
        return None
    # A step far beyond the best makes Z larger than any number; then it bounds nothing either way.
    return math.exp(min(after.log_mass - before.log_mass, LARGEST_EXPONENT))
