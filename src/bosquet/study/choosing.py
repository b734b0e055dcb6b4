"""Which method to take: by accuracy, robustness and readability, with the reasons said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.study._figures import figure
from bosquet.study.record import MethodRecord
from bosquet.study.scoring import Metric

# Of what the best gains over the constant, so much may be given up for a model that can be read, or that can
# be read in part where the best cannot at all: two steps of readability, or one.
GIVEN_UP_FOR_READING, GIVEN_UP_FOR_A_STEP = 0.02, 0.005
# The same for a model that is named as the one to take if it has to be read; and what a model taken for being
# readable may give up by any other metric: one that ranks well may still decide badly, or be too sure.
GIVEN_UP_BY_RUNNER_UP = 0.1
_GRADES = {"yes": 2, "partly": 1, "no": 0}
BASELINE, TRUTH = "constant", "bayes"
PROPER = "log_loss"  # the metric that tells what probabilities are worth


@dataclass(frozen=True)
class Choice:
    """The chosen method, why, and what to take instead."""

    name: str
    why: str
    runner_up: str | None


def readability(method: MethodRecord) -> int:
    """2 for a model that can be read, 1 in part, 0 not at all."""
    return _GRADES.get(str(method["card"]["readable"][0]).lower(), 0)


def choose(
    methods: list[MethodRecord], metric: Metric, others: Sequence[Metric] = ()
) -> Choice | None:
    """The choice among methods that were scored and compared, the best first; None if there are none.

    The most accurate one is taken, unless a more readable one cannot be told from it and gives up no more
    than a fiftieth of what the best gains over the constant (a two-hundredth, if it is only in part more
    readable), nor more than a tenth by any of the other metrics. One whose probabilities are worse than
    the constant's is passed over for another that gives up no more than that fiftieth. The runner-up is a
    more readable one that cannot be told from the best and gives up no more than a tenth, or else the
    second best.
    """
    able = [m for m in methods if m["mean"] is not None and m["name"] != TRUTH]
    if not able:
        return None
    best = able[0]
    alike = [m for m in able if m is best or not _apart(m)]
    near = [m for m in alike if given_up(m, best, able, metric) <= GIVEN_UP_FOR_READING]
    near = [m for m in near if not _misleads(m, able, others)] or near
    top = near[0]
    worth_it = [m for m in near if given_up(m, best, able, metric) <= _may_give_up(m, top)]
    chosen = _most_readable(
        [m for m in worth_it if _given_up_elsewhere(m, top, able, others) <= GIVEN_UP_BY_RUNNER_UP]
    )
    rest = [m for m in able if m is not chosen]
    near = [m for m in alike if given_up(m, best, able, metric) <= GIVEN_UP_BY_RUNNER_UP]
    easier = [m for m in near if readability(m) > readability(chosen)]
    runner_up = _most_readable(easier) if easier else rest[0] if rest else None
    why = _why(chosen, best, runner_up, alike, able, metric)
    return Choice(chosen["name"], why, None if runner_up is None else runner_up["name"])


def _may_give_up(method: MethodRecord, top: MethodRecord) -> float:
    """What a method may give up for being more readable than the one that would be taken else."""
    if method is top:
        return 1.0
    steps = readability(method) - readability(top)
    return GIVEN_UP_FOR_READING if steps >= 2 else GIVEN_UP_FOR_A_STEP if steps == 1 else 0.0


def _apart(method: MethodRecord) -> bool:
    difference = method["difference"]
    return difference is not None and difference["distinguishable"]


def given_up(
    method: MethodRecord, best: MethodRecord, able: list[MethodRecord], metric: Metric
) -> float:
    """What a method gives up of the best's gain over the constant, as a share of it."""
    constant = _constant(able)
    if method is best:
        return 0.0
    if constant is None or method is constant:
        return 1.0
    share = _share_lost(_mean(method), _mean(best), _mean(constant), metric)
    return 1.0 if share is None else share


def _given_up_elsewhere(
    method: MethodRecord, best: MethodRecord, able: list[MethodRecord], metrics: Sequence[Metric]
) -> float:
    """The most that a method gives up of the best's gain over the constant by any of these metrics."""
    constant = _constant(able)
    if method is best or constant is None:
        return 0.0
    shares = [0.0]
    for metric in metrics:
        own, top, none = (m["metrics"].get(metric.name) for m in (method, best, constant))
        if own is not None and top is not None and none is not None:
            shares.append(_share_lost(own, top, none, metric) or 0.0)
    return max(shares)


def _share_lost(own: float, top: float, none: float, metric: Metric) -> float | None:
    """Of the way from the constant's score to the top one, what is missing; None where there is no way."""
    gain = metric.sign * (top - none)
    return metric.sign * (top - own) / gain if gain > 0 else None


def _misleads(method: MethodRecord, able: list[MethodRecord], metrics: Sequence[Metric]) -> bool:
    """Whether a method ranks rows but its probabilities are worse than those of the constant."""
    constant = _constant(able)
    if constant is None or not any(metric.name == PROPER for metric in metrics):
        return False
    own, none = (m["metrics"].get(PROPER) for m in (method, constant))
    return own is not None and none is not None and own > none


def _constant(able: list[MethodRecord]) -> MethodRecord | None:
    return next((m for m in able if m["name"] == BASELINE), None)


def _most_readable(methods: list[MethodRecord]) -> MethodRecord:
    """The most readable one, and of equals the best."""
    return max(methods, key=lambda m: (readability(m), -methods.index(m)))


def _mean(method: MethodRecord) -> float:
    assert method["mean"] is not None
    return method["mean"]


def spread(method: MethodRecord) -> float | None:
    """The standard deviation of the scores over the splits."""
    return float(np.std(method["scores"], ddof=1)) if len(method["scores"]) > 1 else None


def _why(
    chosen: MethodRecord,
    best: MethodRecord,
    runner_up: MethodRecord | None,
    alike: list[MethodRecord],
    able: list[MethodRecord],
    metric: Metric,
) -> str:
    score = f"{metric.title} {figure(_mean(chosen))}"
    if chosen["name"] == BASELINE:
        return f"No method is better than the constant ({score}): the columns tell nothing of the target."
    splits = len(chosen["scores"])
    over = f" over {splits} splits" if splits > 1 else " on the test rows"
    if chosen is best:
        mean = "" if splits == 1 or metric.title.startswith("Mean ") else "mean "
        text = f"{chosen['title']} has the best {mean}{score}{over}"
        steady = _steadiness(chosen, able)
        text += f"{steady}."
    else:
        easier = readability(chosen) > readability(best)
        merit = "is easier to read than" if easier else "has better probabilities than"
        text = (
            f"{chosen['title']} ({score}{over}) {merit} the most accurate,"
            f" {best['title']} ({figure(_mean(best))}), cannot be told from it and gives up"
            f" {given_up(chosen, best, able, metric):.1%} of its gain over the constant."
        )
    constant = _constant(able)
    if constant is not None and any(m is constant for m in alike):
        return text + " It cannot be told from the constant: take it with care."
    if runner_up is not None and chosen is best and any(m is runner_up for m in alike):
        more = readability(runner_up) > readability(chosen)
        also = f"{runner_up['title']} ({figure(_mean(runner_up))}) cannot be told from it"
        return f"{text} {also}{' and is easier to read' if more else ''}."
    if len([m for m in alike if m["name"] != BASELINE]) == 1 and len(able) > 1:
        text += " All others are worse beyond chance."
    return text


def _steadiness(chosen: MethodRecord, able: list[MethodRecord]) -> str:
    own = spread(chosen)
    rivals = [m for m in able if m is not chosen and m["name"] != BASELINE]
    others = [s for m in rivals if (s := spread(m)) is not None]
    if own is None or not others:
        return ""
    place = sum(other < own for other in others)
    if place == 0:
        return " and varies least from split to split"
    return " but varies more from split to split than most" if place > len(others) / 2 else ""
