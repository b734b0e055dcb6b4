"""Which method to take: by accuracy, robustness and readability, with the reasons said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.study.compare.verdict import (
    MOST_NAMED,
    best_of,
    is_level,
    is_worse,
    unfinished,
    verdict_on,
    without_score,
)
from bosquet.study.methods.method import BASELINE, BAYES_RULE, INCUMBENT
from bosquet.study.metrics.formatting import figure
from bosquet.study.metrics.scoring import Metric
from bosquet.study.record import MethodRecord, Verdict

# Of what the best gains over the constant, so much may be given up for a model that can be read, or that can
# be read in part where the best cannot at all: two steps of readability, or one.
GIVEN_UP_FOR_READING, GIVEN_UP_FOR_A_STEP = 0.02, 0.005
# The same for a model that is named as the one to take if it has to be read; and what a model taken for being
# readable may give up by any other metric: one that ranks well may still decide badly, or be too sure.
GIVEN_UP_BY_RUNNER_UP = 0.1
_GRADES = {"yes": 2, "partly": 1, "no": 0}
PROPER = "log_loss"  # the metric that tells what probabilities are worth


@dataclass(frozen=True)
class Choice:
    """The chosen method, why, and what to take instead."""

    name: str
    why: str
    runner_up: str | None
    verdict: Verdict


def readability(method: MethodRecord) -> int:
    """2 for a model that can be read, 1 in part, 0 not at all."""
    return _GRADES.get(str(method["card"]["readable"][0]).lower(), 0)


def choose(
    methods: list[MethodRecord], metric: Metric, others: Sequence[Metric] = ()
) -> Choice | None:
    """The choice among methods that were scored and compared, the best first; None if there are none.

    The most accurate one is taken, unless a more readable one does not differ significantly from it and
    gives up no more than a fiftieth of what the best gains over the constant (a two-hundredth, if it is
    only in part more readable), nor more than a tenth by any of the other metrics. One whose probabilities
    are worse than the constant's is passed over for another that gives up no more than that fiftieth. The
    runner-up is a more readable one that does not differ significantly from the best and gives up no more
    than a tenth, or else the second best. A method that was not compared with the best is never taken for
    its readability.
    """
    able = [m for m in methods if m["mean"] is not None and m["name"] != BAYES_RULE]
    best = best_of(able)
    if best is None:
        return None
    if able[0] is not best:
        return _on_fewer_rows(able, best, verdict_on(methods), metric)
    alike = [m for m in able if m is best or is_level(m)]
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
    verdict = verdict_on(methods)
    why = _why(chosen, best, runner_up, alike, able, metric)
    why += _below_incumbent(chosen, best, able, metric) + _not_compared(able, best, verdict)
    why = _without_gain(chosen, able, verdict, metric) or why
    return Choice(chosen["name"], why, None if runner_up is None else runner_up["name"], verdict)


def _on_fewer_rows(
    able: list[MethodRecord], best: MethodRecord, verdict: Verdict, metric: Metric
) -> Choice:
    """The choice where a method leads that was trained on fewer rows than others: no test can be made."""
    lead = able[0]
    why = (
        f"{lead['title']} has the best score ({metric.title} {figure(_mean(lead))}), though it was trained on"
        f" {lead['rows_used']:,} rows alone. Of the methods trained on all {best['rows_used']:,} rows the"
        f" best is {best['title']} ({figure(_mean(best))}). Methods with different training rows are not"
        f" tested against each other.{_not_compared(able, best, verdict)}"
    )
    return Choice(
        lead["name"], _without_gain(lead, able, verdict, metric) or why, best["name"], verdict
    )


def _may_give_up(method: MethodRecord, top: MethodRecord) -> float:
    """What a method may give up for being more readable than the one that would be taken else."""
    if method is top:
        return 1.0
    steps = readability(method) - readability(top)
    return GIVEN_UP_FOR_READING if steps >= 2 else GIVEN_UP_FOR_A_STEP if steps == 1 else 0.0


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
            f" {best['title']} ({figure(_mean(best))}), does not differ significantly from it and gives up"
            f" {given_up(chosen, best, able, metric):.1%} of its gain over the constant."
        )
    if runner_up is not None and chosen is best and any(m is runner_up for m in alike):
        more = readability(runner_up) > readability(chosen)
        also = f"{runner_up['title']} ({figure(_mean(runner_up))}) does not differ significantly from it"
        return f"{text} {also}{' and is easier to read' if more else ''}."
    tested = [m for m in able if m is not best and not m["subsampled"]]
    if tested and all(is_worse(m) for m in tested):
        one = len(tested) == 1
        others = "The other method" if one else f"All {len(tested)} other methods"
        on = " and the same training rows" if len(tested) < len(able) - 1 else ""
        text += f" {others} with a score{on} {'is' if one else 'are'} significantly worse."
    return text


def _without_gain(
    chosen: MethodRecord, able: list[MethodRecord], verdict: Verdict, metric: Metric
) -> str:
    """The sentence where no method is significantly better than the constant; "" where one is."""
    score = f"{metric.title} {figure(_mean(chosen))}"
    others = [m for m in able if m["name"] != BASELINE]
    if verdict["kind"] == "model":
        return ""
    if verdict["kind"] == "inconclusive":
        return (
            f"No conclusion: {unfinished(verdict)}. Of the {len(others)} other methods that have a score none"
            f" is significantly better than the constant; the best of all is {chosen['title']} ({score})."
            " Give more time (budget) or name fewer methods."
        )
    if chosen["name"] == BASELINE:
        return (
            f"No method is better than the constant ({score}), and all {len(others)} methods that suit the"
            " table were tried: the columns do not help to predict the target."
        )
    return (
        f"{chosen['title']} has the best score ({score}), but it is not significantly better than the"
        " constant: use it with care."
    )


def _below_incumbent(
    chosen: MethodRecord, best: MethodRecord, able: list[MethodRecord], metric: Metric
) -> str:
    """What the choice gives up against gradient boosting with default settings, if it does.

    Where that is the best method, the reasons name it already.
    """
    incumbent = next((m for m in able if m["name"] == INCUMBENT and m is not best), None)
    if incumbent is None or not metric.better(_mean(incumbent), _mean(chosen)):
        return ""
    share = given_up(chosen, incumbent, able, metric)
    return (
        f" It is worse than {incumbent['title']} ({figure(_mean(incumbent))}) by {share:.1%} of that"
        " method's gain over the constant."
    )


def _not_compared(able: list[MethodRecord], best: MethodRecord, verdict: Verdict) -> str:
    """The methods that a sentence on all others does not cover."""
    parts = [unfinished({**verdict, "cut_short": []})] if without_score(verdict) else []
    lacking = [m["title"] for m in able if m is not best and m["difference"] is None]
    fewer = [m["title"] for m in able if m is not best and m["subsampled"]]
    if fewer:
        parts.append(f"{len(fewer)} trained on fewer rows ({', '.join(fewer[:MOST_NAMED])})")
    if lacking:
        parts.append(f"{len(lacking)} with too few splits ({', '.join(lacking)})")
    text = f" Not compared: {'; '.join(parts)}." if parts else ""
    if verdict["cut_short"]:
        text += f" Cut short by the time limit: {', '.join(verdict['cut_short'])}."
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
