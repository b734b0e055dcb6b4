"""From outcomes to rows of the table: means, intervals, differences to the best, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet.study._outcomes import Outcome
from bosquet.study._schedule import Schedule
from bosquet.study._splits import seed_of
from bosquet.study.choosing import TRUTH
from bosquet.study.comparing import (
    FEWEST_SPLITS,
    TestRows,
    difference_over_rows,
    difference_over_splits,
    interval_of,
)
from bosquet.study.deciding import Decision
from bosquet.study.method import Method
from bosquet.study.record import Card, Difference, MethodRecord
from bosquet.study.scoring import Metric


def ranked(schedule: Schedule, methods: Sequence[Method]) -> list[MethodRecord]:
    """A record for each method, best first, those without a score last."""
    rows = [_row(method, schedule.outcomes(method)) for method in methods]
    metric = schedule.study.metric
    done = [row for row in rows if row["mean"] is not None]
    done.sort(key=lambda row: -metric.sign * _mean(row))
    waiting = [row for row in rows if row["mean"] is None]
    if done:
        _compare(schedule, {method.name: method for method in methods}, done)
    return [*done, *waiting]


def _mean(row: MethodRecord) -> float:
    assert row["mean"] is not None
    return row["mean"]


def _row(method: Method, outcomes: list[Outcome]) -> MethodRecord:
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    first = outcomes[0] if outcomes else Outcome(method.name, 0, "skipped", "it was not tried")
    scores = [float(outcome.score) for outcome in done if outcome.score is not None]
    row: MethodRecord = {
        "name": method.name,
        "title": method.title,
        "status": first.status,
        "message": first.message,
        "rows_used": first.rows_used,
        "subsampled": first.subsampled,
        "setting": first.setting,
        "curve": first.curve,
        "scores": scores,
        "mean": float(np.mean(scores)) if scores else None,
        "interval": None,
        "difference": None,
        "metrics": _means(done),
        "fit_seconds": first.fit_seconds,
        "predict_microseconds": first.predict_microseconds,
        "card": method.card,
        "details": first.details,
    }
    if first.held_out is not None:
        row["test"] = first.held_out
    return row


def _means(done: list[Outcome]) -> dict[str, float]:
    names = done[0].metrics if done else {}
    return {name: float(np.mean([one.metrics[name] for one in done])) for name in names}


def _compare(schedule: Schedule, methods: dict[str, Method], done: list[MethodRecord]) -> None:
    """Put intervals and differences to the best into the rows."""
    train, test = len(schedule.splits[0].train), len(schedule.splits[0].test)
    drawn: dict[str, np.ndarray] = {}
    if len(schedule.splits) < FEWEST_SPLITS:
        drawn = _draws(schedule, methods, done)
    best = next((row for row in done if row["name"] != TRUTH), done[0])
    by_split = {row["name"]: _scores(schedule.outcomes(methods[row["name"]])) for row in done}
    for row in done:
        row["interval"] = interval_of(
            row["scores"],
            drawn.get(row["name"]),
            n_train=train,
            n_test=test,
            within=schedule.study.metric.range,
        )
        if row is best:
            continue
        shared = sorted(by_split[row["name"]].keys() & by_split[best["name"]].keys())
        own = [by_split[row["name"]][split] for split in shared]
        other = [by_split[best["name"]][split] for split in shared]
        row["difference"] = _difference(row, best, own, other, drawn, train, test)


def _difference(
    row: MethodRecord,
    best: MethodRecord,
    own: list[float],
    other: list[float],
    drawn: dict[str, np.ndarray],
    train: int,
    test: int,
) -> Difference | None:
    if len(own) >= FEWEST_SPLITS:
        return difference_over_splits(own, other, n_train=train, n_test=test)
    if row["name"] in drawn and own:
        return difference_over_rows(own, other, drawn[row["name"]], drawn[best["name"]])
    return None


def _scores(outcomes: list[Outcome]) -> dict[int, float]:
    return {one.split: float(one.score) for one in outcomes if one.score is not None}


def _draws(
    schedule: Schedule, methods: dict[str, Method], done: list[MethodRecord]
) -> dict[str, np.ndarray]:
    """Scores of each method on draws of the first split's test rows."""
    study = schedule.study
    y = study.y[schedule.splits[0].test]
    seed = seed_of(study.random_state, "draws")
    rows = TestRows.drawn(y, study.metric, seed)
    found = {}
    for row in done:
        first = schedule.outcomes(methods[row["name"]])[0]
        if first.answer is not None:
            found[row["name"]] = rows.scores(stated(first, study.metric))
    return found


def stated(outcome: Outcome, metric: Metric) -> np.ndarray:
    """The answers of an outcome in the form that the metric scores: decisions where it wants them."""
    assert outcome.answer is not None
    answer = outcome.answer.astype(float)
    if metric.needs != "class":
        return answer
    return Decision(metric.classes, metric.positive, outcome.threshold, metric.costs)(answer)


TRUTHS_CARD: Card = {
    "readable": ("yes", "it is the law the data were drawn from"),
    "score_or_interval": ("yes", "true probabilities or means"),
    "consistent": ("yes", "nothing is estimated"),
    "minimax": ("yes", "no rule has less risk"),
    "non_asymptotic": ("yes", "its risk is known"),
    "parameter_free": ("yes", "nothing to choose"),
    "online": ("yes", "nothing to learn"),
}


def truths_method(rule: Any, tasks: frozenset[Any]) -> Method:
    """The best rule there is as a method of the table, to see how near the others come."""
    from bosquet.study.method import Candidate

    return Method(
        name=TRUTH,
        title="Bayes rule (the truth)",
        tasks=tasks,
        parameter="",
        log=False,
        candidates=lambda shape: [Candidate(0.0, "", {}, lambda seed: rule)],
        card=TRUTHS_CARD,
    )
