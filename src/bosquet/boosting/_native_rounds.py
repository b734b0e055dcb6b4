"""The loop on native stumps, two classes: the core runs a round, here is what it came to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Generator

import numpy as np

from bosquet import _core
from bosquet.boosting._endings import Ending, without_edge, without_mistake
from bosquet.boosting._stagewise import Round, no_edge
from bosquet.boosting._variants import CHANCE, Step, TwoClasses, adaboost_step
from bosquet.boosting._votes import TreeVote
from bosquet.boosting._weak_native import StumpLearner

HAS_ALPHA, HAS_ERROR = ("discrete", "mada"), ("discrete", "mada", "real")


def stump_rounds(
    learner: StumpLearner, name: str, variant: TwoClasses, vote: TreeVote
) -> Generator[Round, None, Ending]:
    """What `_stagewise.boost` yields with the same learner and variant, sooner."""
    boost = _core.StumpBoost(
        learner.search, variant.y, variant.share, name, float(variant.learning_rate)
    )
    size = 0.0
    for t in itertools.count():
        told = boost.round(vote.ensemble)
        if not told["taken"]:
            if told["error"] == 0:
                yield _perfect(told["stump"], boost, variant, vote, size)
                return without_mistake(t + 1)
            if t == 0:
                raise no_edge(told["error"], variant.chance)
            return without_edge(t + 1, told["error"], variant.chance)
        largest = float(np.abs(told["stump"].values).max())
        no_gain = told["error"] >= 0.5 - CHANCE if name in HAS_ALPHA else largest <= CHANCE
        # Of votes of 0 the sign is wrong in one class; of their values ε is ½.
        error = told["error"] if name in HAS_ALPHA else 0.5
        if no_gain:
            if t == 0:
                raise no_edge(error, variant.chance)
            if vote.trees_a_round == 1:
                vote.truncate(vote.n_rounds - 1)
                return without_edge(t + 1, error, variant.chance)
        scale = told["alpha"]
        size += scale * largest
        step = Step(
            scale,
            scale * largest,
            told["error"] if name in HAS_ERROR else None,
            scale if name in HAS_ALPHA else None,
        )
        yield Round(step, told["z"], told["training_error"], _scores(boost, variant.y))
        if no_gain:
            return without_edge(t + 1, error, variant.chance)
    raise AssertionError("rounds have no last number")


def _perfect(
    stump: _core.Stump, boost: _core.StumpBoost, variant: TwoClasses, vote: TreeVote, size: float
) -> Round:
    """The round of a stump without errors, which the core leaves to us."""
    step = adaboost_step(0.0, size, variant.learning_rate)
    assert step is not None
    stump.add_to(vote.ensemble, step.scale)
    scores = _scores(boost, variant.y, step.scale)
    return Round(step, math.exp(-step.scale), variant.training_error(scores()), scores)


def _scores(boost: _core.StumpBoost, y: np.ndarray, more: float = 0.0) -> Callable[[], np.ndarray]:
    return lambda: y * (boost.margins() + more)
