"""The ranking of methods: mean scores, intervals and differences to the best, from the outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bosquet.study.compare.intervals import (
    CONFIDENCE,
    MIN_SPLITS,
    BootstrapDraws,
    difference_over_splits,
    differences_over_rows,
    next_block_interval,
    score_interval,
    untested_difference,
)
from bosquet.study.compare.verdict import best_on_all_rows
from bosquet.study.methods.method import Method
from bosquet.study.metrics.metric import Metric
from bosquet.study.record import Comparison, MethodRecord
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.schedule import Schedule
from bosquet.study.table.splits import seed_of
from bosquet.study.tuning.thresholds import Decision


def rank_methods(
    schedule: Schedule, methods: Sequence[Method]
) -> tuple[list[MethodRecord], Comparison]:
    """Return one record per method, best first and those without a score last, and the comparison."""
    outcomes = {method.name: schedule.outcomes(method) for method in methods}
    records = [_method_record(method, outcomes[method.name]) for method in methods]
    metric = schedule.context.metric
    scored = [record for record in records if record["mean"] is not None]
    _estimate_missing_splits(scored, outcomes, schedule.context.metrics, metric)
    scored.sort(key=lambda record: -metric.sign * _mean_score(record))
    unscored = [record for record in records if record["mean"] is None]
    comparison = _compare_with_best(schedule, {method.name: method for method in methods}, scored)
    return [*scored, *unscored], comparison


def _mean_score(method: MethodRecord) -> float:
    assert method["mean"] is not None
    return method["mean"]


def _method_record(method: Method, outcomes: list[Outcome]) -> MethodRecord:
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    first = outcomes[0] if outcomes else Outcome(method.name, 0, "not reached", "it was not run")
    scores = [float(outcome.score) for outcome in done if outcome.score is not None]
    record: MethodRecord = {
        "name": method.name,
        "title": method.title,
        "status": first.status,
        "message": first.message,
        "rows_used": first.rows_used,
        "subsampled": first.subsampled,
        "finished": first.finished,
        "setting": first.setting,
        "curve": first.curve,
        "scores": scores,
        "mean": float(np.mean(scores)) if scores else None,
        "interval": None,
        "difference": None,
        "metrics": _mean_metrics(done),
        "fit_seconds": first.fit_seconds,
        "predict_microseconds": first.predict_microseconds,
        "properties": method.properties,
        "details": first.details,
    }
    if first.evaluation is not None:
        record["test"] = first.evaluation
    return record


def _mean_metrics(done: list[Outcome]) -> dict[str, float]:
    names = done[0].metrics if done else {}
    return {name: float(np.mean([outcome.metrics[name] for outcome in done])) for name in names}


def _estimate_missing_splits(
    scored: list[MethodRecord],
    outcomes: dict[str, list[Outcome]],
    metrics: Sequence[Metric],
    metric: Metric,
) -> None:
    """Replace the means of methods that lack splits, so that all means are over the same splits.

    Splits differ in difficulty, blocks of time most of all. The mean over all splits is estimated by the mean
    of the best method with all splits, plus the mean difference to it on the splits that both have.
    """
    n_splits = max((len(method["scores"]) for method in scored), default=0)
    complete = [method for method in scored if len(method["scores"]) == n_splits]
    if len(complete) == len(scored):
        return
    reference = max(complete, key=lambda method: metric.sign * _mean_score(method))
    reference_outcomes = _done_by_split(outcomes[reference["name"]])
    for method in scored:
        own_outcomes = _done_by_split(outcomes[method["name"]])
        shared = [split for split in own_outcomes if split in reference_outcomes]
        if len(method["scores"]) == n_splits or not shared:
            continue
        for reported_metric in metrics:
            name = reported_metric.name
            if name in method["metrics"]:
                gaps = [
                    own_outcomes[split].metrics[name] - reference_outcomes[split].metrics[name]
                    for split in shared
                ]
                estimate = reference["metrics"][name] + float(np.mean(gaps))
                method["metrics"][name] = float(np.clip(estimate, *reported_metric.range))
        method["mean"] = method["metrics"][metric.name]


def _done_by_split(outcomes: list[Outcome]) -> dict[int, Outcome]:
    return {outcome.split: outcome for outcome in outcomes if outcome.status == "done"}


def _compare_with_best(
    schedule: Schedule, methods_by_name: dict[str, Method], scored: list[MethodRecord]
) -> Comparison:
    """Add intervals and differences to the best to the records, and return how they were computed.

    A method that was trained on fewer rows than the others has a difference but no test. A method with too
    few splits for an interval has neither.
    """
    train, test = len(schedule.splits[0].train), len(schedule.splits[0].test)
    over_splits = len(schedule.splits) >= MIN_SPLITS
    scores_on_draws = {} if over_splits else _bootstrap_scores(schedule, methods_by_name, scored)
    for method in scored:
        method["interval"] = score_interval(
            method["scores"],
            scores_on_draws.get(method["name"]),
            n_train=train,
            n_test=test,
            within=schedule.context.metric.range,
        )
        if schedule.context.design.time is not None:
            method["interval"] = interval_of_next_block(method["scores"], schedule.context.metric)
    best = best_on_all_rows(scored)
    rivals = [method for method in scored if method is not best and best is not None]
    for method in rivals:
        if method["subsampled"] and best is not None:
            method["difference"] = untested_difference(_mean_score(method) - _mean_score(best))
    rivals = [method for method in rivals if not method["subsampled"]]
    pairs = {
        method["name"]: _pair_scores(schedule, methods_by_name, method, best)
        for method in rivals
        if best
    }
    if over_splits:
        rivals = [method for method in rivals if len(pairs[method["name"]][0]) >= MIN_SPLITS]
        for method in rivals:
            method["difference"] = difference_over_splits(
                *pairs[method["name"]], n_train=train, n_test=test, comparisons=len(rivals)
            )
    elif best is not None and best["name"] in scores_on_draws:
        rivals = [
            method
            for method in rivals
            if method["name"] in scores_on_draws and pairs[method["name"]][0]
        ]
        _compare_draws(rivals, best, pairs, scores_on_draws)
    return {
        "best": None if best is None else best["name"],
        "interval": "splits" if over_splits else "draws",
        "splits": len(schedule.splits),
        "confidence": CONFIDENCE,
        "simultaneous": "Dunnett" if over_splits else "max-t",
        "comparisons": len(rivals),
    }


def interval_of_next_block(scores: list[float], metric: Metric) -> list[float] | None:
    """Return the prediction interval for the next block of time, clipped to the range of the metric."""
    interval = next_block_interval(scores, metric.range)
    if interval is None:
        return None
    return [float(bound) for bound in np.clip(interval, *metric.range)]


def _compare_draws(
    rivals: list[MethodRecord],
    best: MethodRecord,
    pairs: dict[str, tuple[list[float], list[float]]],
    drawn: dict[str, np.ndarray],
) -> None:
    if not rivals:
        return
    gaps = [np.subtract(*pairs[method["name"]]) for method in rivals]
    differences = differences_over_rows(
        [float(gap.mean()) for gap in gaps],
        [float(gap[0]) for gap in gaps],
        [drawn[method["name"]] - drawn[best["name"]] for method in rivals],
    )
    for method, difference in zip(rivals, differences, strict=True):
        method["difference"] = difference


def _pair_scores(
    schedule: Schedule, methods_by_name: dict[str, Method], method: MethodRecord, best: MethodRecord
) -> tuple[list[float], list[float]]:
    """Return the scores of a method and of the best on the splits that both have."""
    own_scores = _scores_by_split(schedule.outcomes(methods_by_name[method["name"]]))
    best_scores = _scores_by_split(schedule.outcomes(methods_by_name[best["name"]]))
    shared = sorted(own_scores.keys() & best_scores.keys())
    return [own_scores[split] for split in shared], [best_scores[split] for split in shared]


def _scores_by_split(outcomes: list[Outcome]) -> dict[int, float]:
    return {
        outcome.split: float(outcome.score) for outcome in outcomes if outcome.score is not None
    }


def _bootstrap_scores(
    schedule: Schedule, methods_by_name: dict[str, Method], scored: list[MethodRecord]
) -> dict[str, np.ndarray]:
    """Return the scores of each method on bootstrap draws of the test rows of the first split."""
    context = schedule.context
    y = context.y[schedule.splits[0].test]
    seed = seed_of(context.random_state, "draws")
    design = context.design.take(schedule.splits[0].test)
    draws = BootstrapDraws.draw(y, context.metric, seed, design.group, design.weight)
    scores = {}
    for method in scored:
        first = schedule.outcomes(methods_by_name[method["name"]])[0]
        if first.predictions is not None:
            scores[method["name"]] = draws.scores(metric_input(first, context.metric))
    return scores


def metric_input(outcome: Outcome, metric: Metric) -> np.ndarray:
    """Return the predictions of an outcome in the form that the metric takes: labels or predictions."""
    assert outcome.predictions is not None
    predictions = outcome.predictions.astype(float)
    if metric.needs != "class":
        return predictions
    return Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)(predictions)
