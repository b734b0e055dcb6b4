"""Which method to take: by accuracy, robustness and readability, with the reasons said."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bosquet.study.record import MethodRecord
from bosquet.study.scoring import Metric

# Of what the best gains over the constant, so much may be given up for a model that can be read.
GIVEN_UP_FOR_READING = 0.02
# The same for a model that is named as the one to take if it has to be read.
GIVEN_UP_BY_RUNNER_UP = 0.1
_GRADES = {"yes": 2, "partly": 1, "no": 0}
BASELINE, TRUTH = "constant", "bayes"


@dataclass(frozen=True)
class Choice:
    """The chosen method, why, and what to take instead."""

    name: str
    why: str
    runner_up: str | None


def readability(method: MethodRecord) -> int:
    """2 for a model that can be read, 1 in part, 0 not at all."""
    return _GRADES.get(str(method["card"]["readable"][0]).lower(), 0)


def choose(methods: list[MethodRecord], metric: Metric) -> Choice | None:
    """The choice among methods that were scored and compared, the best first; None if there are none.

    The most accurate one is taken, unless a more readable one cannot be told from it and gives up no more
    than a fiftieth of what the best gains over the constant. The runner-up is a more readable one that
    cannot be told from the best and gives up no more than a tenth, or else the second best.
    """
    able = [m for m in methods if m["mean"] is not None and m["name"] != TRUTH]
    if not able:
        return None
    best = able[0]
    alike = [m for m in able if m is best or not _apart(m)]
    near = [m for m in alike if given_up(m, best, able, metric) <= GIVEN_UP_FOR_READING]
    chosen = _most_readable(near)
    others = [m for m in able if m is not chosen]
    near = [m for m in alike if given_up(m, best, able, metric) <= GIVEN_UP_BY_RUNNER_UP]
    easier = [m for m in near if readability(m) > readability(chosen)]
    runner_up = _most_readable(easier) if easier else others[0] if others else None
    why = _why(chosen, best, runner_up, alike, able, metric)
    return Choice(chosen["name"], why, None if runner_up is None else runner_up["name"])


def _apart(method: MethodRecord) -> bool:
    difference = method["difference"]
    return difference is not None and difference["distinguishable"]


def given_up(
    method: MethodRecord, best: MethodRecord, able: list[MethodRecord], metric: Metric
) -> float:
    """What a method gives up of the best's gain over the constant, as a share of it."""
    constant = next((m for m in able if m["name"] == BASELINE), None)
    if method is best:
        return 0.0
    if constant is None or method is constant:
        return 1.0
    gain = metric.sign * (_mean(best) - _mean(constant))
    lost = metric.sign * (_mean(best) - _mean(method))
    return lost / gain if gain > 0 else 1.0


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
    score = f"{metric.title} {_mean(chosen):.4g}"
    if chosen["name"] == BASELINE:
        return f"No method is better than the constant ({score}): the columns tell nothing of the target."
    splits = len(chosen["scores"])
    over = f" over {splits} splits" if splits > 1 else " on the test rows"
    if chosen is best:
        text = f"{chosen['title']} has the best mean {score}{over}"
        steady = _steadiness(chosen, able)
        text += f"{steady}."
    else:
        text = (
            f"{chosen['title']} ({score}{over}) is easier to read than the most accurate,"
            f" {best['title']} ({_mean(best):.4g}), cannot be told from it and gives up next to nothing."
        )
    constant = next((m for m in able if m["name"] == BASELINE), None)
    if constant is not None and any(m is constant for m in alike):
        return text + " It cannot be told from the constant: take it with care."
    if runner_up is not None and chosen is best and any(m is runner_up for m in alike):
        more = readability(runner_up) > readability(chosen)
        also = f"{runner_up['title']} ({_mean(runner_up):.4g}) cannot be told from it"
        return f"{text} {also}{' and is easier to read' if more else ''}."
    if len([m for m in alike if m["name"] != BASELINE]) == 1 and len(able) > 1:
        text += " All others are worse beyond chance."
    return text


def _steadiness(chosen: MethodRecord, able: list[MethodRecord]) -> str:
    own = spread(chosen)
    others = [s for m in able if m is not chosen and (s := spread(m)) is not None]
    if own is None or not others:
        return ""
    place = sum(other < own for other in others)
    if place == 0:
        return " and varies least from split to split"
    return " but varies more from split to split than most" if place > len(others) / 2 else ""
