"""The choice of a method by accuracy, probabilities and interpretability, with the reasons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bosquet.study.compare.verdict import (
    MAX_NAMED,
    best_on_all_rows,
    is_tied,
    is_worse,
    reach_verdict,
    unfinished_methods_text,
    without_score,
)
from bosquet.study.methods.method import BASELINE, BAYES_RULE, INCUMBENT
from bosquet.study.metrics.formatting import format_score, in_sentence
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import MethodRecord, Verdict

# Share of the best method's gain over the constant that may be lost for a more readable model: two grades
# more readable (from "no" to "yes"), or one.
MAX_LOSS_TWO_GRADES, MAX_LOSS_ONE_GRADE = 0.02, 0.005
# The same for the alternative that is named besides the choice, and for the loss of the choice by any other
# metric: a model with a good ranking metric may still have poor decisions or probabilities.
MAX_LOSS_OF_ALTERNATIVE = 0.1
# Share of its gain that a method trained on fewer rows must be ahead of the best method trained on all rows.
MAX_LOSS_TO_FEWER_ROWS = 0.02
_GRADES = {"yes": 2, "partly": 1, "no": 0}
PROBABILITY_METRIC = "log_loss"  # the metric of the quality of probabilities


@dataclass(frozen=True)
class Choice:
    """The chosen method, the reasons, and the alternative."""

    name: str
    why: str
    runner_up: str | None
    verdict: Verdict


def readability(method: MethodRecord) -> int:
    """Return 2 for a readable model, 1 for a partly readable one, 0 for others."""
    return _GRADES.get(str(method["properties"]["readable"][0]).lower(), 0)


def choose(
    methods: list[MethodRecord], metric: Metric, others: Sequence[Metric] = ()
) -> Choice | None:
    """Return the choice among methods that are sorted by score; None if no method has a score.

    The most accurate method is chosen, with one exception. A more readable method is preferred if it does not
    differ significantly from the best, loses at most 2 % of the best method's gain over the constant (0.5 %
    if it is only one grade more readable), and at most 10 % by any of the other metrics. A method whose log
    loss is worse than that of the constant is skipped for another one within the same 2 %. A method that was
    not compared with the best is never chosen for its readability. A method that was trained on fewer rows is
    chosen only if the best method trained on all rows loses more than 2 % of its gain over the constant.

    The alternative (`runner_up`) is a more readable method that does not differ significantly from the best
    and loses at most 10 %, or else the second best method.
    """
    scored = [
        method for method in methods if method["mean"] is not None and method["name"] != BAYES_RULE
    ]
    best = best_on_all_rows(scored)
    if best is None:
        return None
    if gain_lost(best, scored[0], scored, metric) > MAX_LOSS_TO_FEWER_ROWS:
        return _choose_method_on_fewer_rows(scored, best, reach_verdict(methods), metric)
    tied = [method for method in scored if method is best or is_tied(method)]
    close = [
        method for method in tied if gain_lost(method, best, scored, metric) <= MAX_LOSS_TWO_GRADES
    ]
    close = [
        method for method in close if not _has_poor_probabilities(method, scored, others)
    ] or close
    top = close[0]
    eligible = [
        method
        for method in close
        if gain_lost(method, best, scored, metric) <= _max_loss(method, top)
    ]
    chosen = _most_readable(
        [
            method
            for method in eligible
            if _gain_lost_by_other_metrics(method, top, scored, others) <= MAX_LOSS_OF_ALTERNATIVE
        ]
    )
    not_chosen = [method for method in scored if method is not chosen]
    close = [
        method
        for method in tied
        if gain_lost(method, best, scored, metric) <= MAX_LOSS_OF_ALTERNATIVE
    ]
    easier = [method for method in close if readability(method) > readability(chosen)]
    runner_up = _most_readable(easier) if easier else not_chosen[0] if not_chosen else None
    verdict = reach_verdict(methods)
    why = _reason_text(chosen, best, runner_up, tied, scored, metric)
    why += _incumbent_text(chosen, best, scored, metric) + _not_compared_text(scored, best, verdict)
    why = _no_gain_text(chosen, scored, verdict, metric) or why
    return Choice(chosen["name"], why, None if runner_up is None else runner_up["name"], verdict)


def _choose_method_on_fewer_rows(
    scored: list[MethodRecord], best: MethodRecord, verdict: Verdict, metric: Metric
) -> Choice:
    """Return the choice if the best score is that of a method with fewer training rows: it is not tested."""
    leader = scored[0]
    why = (
        f"{leader['title']} has the best score ({_score_text(leader, metric)}), although it was"
        f" trained on only {leader['rows_used']:,} rows. Of the methods trained on all {best['rows_used']:,}"
        f" rows, the best is {best['title']} ({format_score(_mean_score(best))}). Methods with"
        " different training rows are not tested against each"
        f" other.{_not_compared_text(scored, best, verdict)}"
    )
    return Choice(
        leader["name"], _no_gain_text(leader, scored, verdict, metric) or why, best["name"], verdict
    )


def _max_loss(method: MethodRecord, top: MethodRecord) -> float:
    """Return the loss that is allowed for being more readable than the method `top`."""
    if method is top:
        return 1.0
    grades = readability(method) - readability(top)
    return MAX_LOSS_TWO_GRADES if grades >= 2 else MAX_LOSS_ONE_GRADE if grades == 1 else 0.0


def gain_lost(
    method: MethodRecord, best: MethodRecord, scored: list[MethodRecord], metric: Metric
) -> float:
    """Return the share of the best method's gain over the constant that a method loses."""
    constant = _find_constant(scored)
    if method is best:
        return 0.0
    if constant is None or method is constant:
        return 1.0
    share = _share_lost(_mean_score(method), _mean_score(best), _mean_score(constant), metric)
    return 1.0 if share is None else share


def _gain_lost_by_other_metrics(
    method: MethodRecord, best: MethodRecord, scored: list[MethodRecord], metrics: Sequence[Metric]
) -> float:
    """Return the largest share of the best method's gain that a method loses by any of these metrics."""
    constant = _find_constant(scored)
    if method is best or constant is None:
        return 0.0
    shares = [0.0]
    for metric in metrics:
        score, top, base = (other["metrics"].get(metric.name) for other in (method, best, constant))
        if score is not None and top is not None and base is not None:
            shares.append(_share_lost(score, top, base, metric) or 0.0)
    return max(shares)


def _share_lost(score: float, top: float, base: float, metric: Metric) -> float | None:
    """Return the share of the gain from `base` to `top` that `score` loses; None if there is no gain."""
    gain = metric.sign * (top - base)
    return metric.sign * (top - score) / gain if gain > 0 else None


def _has_poor_probabilities(
    method: MethodRecord, scored: list[MethodRecord], metrics: Sequence[Metric]
) -> bool:
    """Return whether the log loss of a method is worse than that of the constant."""
    constant = _find_constant(scored)
    if constant is None or not any(metric.name == PROBABILITY_METRIC for metric in metrics):
        return False
    loss, constant_loss = (other["metrics"].get(PROBABILITY_METRIC) for other in (method, constant))
    return loss is not None and constant_loss is not None and loss > constant_loss


def _find_constant(scored: list[MethodRecord]) -> MethodRecord | None:
    return next((method for method in scored if method["name"] == BASELINE), None)


def _most_readable(methods: list[MethodRecord]) -> MethodRecord:
    """Return the most readable method; of equally readable ones the best."""
    return max(methods, key=lambda method: (readability(method), -methods.index(method)))


def _mean_score(method: MethodRecord) -> float:
    assert method["mean"] is not None
    return method["mean"]


def score_deviation(method: MethodRecord) -> float | None:
    """Return the standard deviation of the scores over the splits, or None."""
    return float(np.std(method["scores"], ddof=1)) if len(method["scores"]) > 1 else None


def _score_text(method: MethodRecord, metric: Metric) -> str:
    """Return the metric and the mean score, for use inside a sentence."""
    return f"{in_sentence(metric.title)} {format_score(_mean_score(method))}"


def _reason_text(
    chosen: MethodRecord,
    best: MethodRecord,
    runner_up: MethodRecord | None,
    tied: list[MethodRecord],
    scored: list[MethodRecord],
    metric: Metric,
) -> str:
    score = _score_text(chosen, metric)
    splits = len(chosen["scores"])
    over_splits = f" over {splits} splits" if splits > 1 else " on the test rows"
    if chosen is best:
        mean = "" if splits == 1 or metric.title.startswith("Mean ") else "mean "
        text = f"{chosen['title']} has the best {mean}{score}{over_splits}"
        stability = _stability_text(chosen, scored)
        text += f"{stability}."
        leader = scored[0]
        if leader is not best:
            text = (
                f"{chosen['title']} has the best {mean}{score}{over_splits} of the methods trained on all"
                f" {best['rows_used']:,} rows. {leader['title']}, trained on {leader['rows_used']:,} rows, is"
                f" hardly better ({format_score(_mean_score(leader))})."
            )
    else:
        easier = readability(chosen) > readability(best)
        advantage = "is easier to interpret than" if easier else "has better probabilities than"
        text = (
            f"{chosen['title']} ({score}{over_splits}) {advantage} the most accurate method,"
            f" {best['title']} ({format_score(_mean_score(best))}). The difference is not significant;"
            f" {gain_lost(chosen, best, scored, metric):.1%} of the best method's gain over the constant is"
            " lost."
        )
    if runner_up is not None and chosen is best and any(method is runner_up for method in tied):
        is_more_readable = readability(runner_up) > readability(chosen)
        other = f"{runner_up['title']} ({format_score(_mean_score(runner_up))})"
        easier_too = " and is easier to interpret" if is_more_readable else ""
        return f"{text} {other} does not differ significantly from it{easier_too}."
    tested = [method for method in scored if method is not best and not method["subsampled"]]
    if tested and all(is_worse(method) for method in tested):
        is_single = len(tested) == 1
        others = "The other method" if is_single else f"All {len(tested)} other methods"
        on_same_rows = " and the same training rows" if len(tested) < len(scored) - 1 else ""
        text += f" {others} with a score{on_same_rows} {'is' if is_single else 'are'} significantly worse."
    return text


def _no_gain_text(
    chosen: MethodRecord, scored: list[MethodRecord], verdict: Verdict, metric: Metric
) -> str:
    """Return the reasons if no method is significantly better than the constant; "" otherwise."""
    score = _score_text(chosen, metric)
    others = [method for method in scored if method["name"] != BASELINE]
    if verdict["kind"] == "model":
        return ""
    if verdict["kind"] == "inconclusive":
        none_is_better = "The only other method with a score is not"
        if len(others) != 1:
            none_is_better = f"Of the {len(others)} other methods with a score, none is"
        return (
            f"No conclusion: {unfinished_methods_text(verdict)}. {none_is_better} significantly"
            f" better than the constant; the best is {chosen['title']} ({score}). Increase the budget or run"
            " fewer methods."
        )
    if chosen["name"] == BASELINE:
        all_run = "the only other method that suits the table was run"
        if len(others) != 1:
            all_run = f"all {len(others)} other methods that suit the table were run"
        return (
            f"No method is better than the constant ({score}), and {all_run}: the columns do not help to"
            " predict the target."
        )
    return (
        f"{chosen['title']} has the best score ({score}), but it is not significantly better than the"
        " constant: use it with care."
    )


def _incumbent_text(
    chosen: MethodRecord, best: MethodRecord, scored: list[MethodRecord], metric: Metric
) -> str:
    """Return a sentence on what the choice loses to gradient boosting with default hyper-parameters, or "".

    If that is the best method, the reasons already mention it.
    """
    incumbent = next(
        (method for method in scored if method["name"] == INCUMBENT and method is not best), None
    )
    if incumbent is None or not metric.is_better(_mean_score(incumbent), _mean_score(chosen)):
        return ""
    share = gain_lost(chosen, incumbent, scored, metric)
    return (
        f" It is worse than {incumbent['title']} ({format_score(_mean_score(incumbent))}) by"
        f" {share:.1%} of that method's gain over the constant."
    )


def _not_compared_text(scored: list[MethodRecord], best: MethodRecord, verdict: Verdict) -> str:
    """Return a sentence on the methods that were not compared with the best, or ""."""
    reasons = (
        [unfinished_methods_text({**verdict, "cut_short": []})] if without_score(verdict) else []
    )
    without_difference = [
        method["title"] for method in scored if method is not best and method["difference"] is None
    ]
    fewer = [method["title"] for method in scored if method is not best and method["subsampled"]]
    if fewer:
        reasons.append(f"{len(fewer)} trained on fewer rows ({', '.join(fewer[:MAX_NAMED])})")
    if without_difference:
        reasons.append(
            f"{len(without_difference)} with too few splits ({', '.join(without_difference)})"
        )
    text = f" Not compared: {'; '.join(reasons)}." if reasons else ""
    if verdict["cut_short"]:
        text += f" Cut short by the time limit: {', '.join(verdict['cut_short'])}."
    return text


def _stability_text(chosen: MethodRecord, scored: list[MethodRecord]) -> str:
    deviation_of_chosen = score_deviation(chosen)
    rivals = [method for method in scored if method is not chosen and method["name"] != BASELINE]
    others = [s for method in rivals if (s := score_deviation(method)) is not None]
    if deviation_of_chosen is None or not others:
        return ""
    steadier = sum(other < deviation_of_chosen for other in others)
    if steadier == 0:
        return " and the smallest standard deviation over splits"
    if steadier > len(others) / 2:
        return " but a larger standard deviation over splits than most"
    return ""
