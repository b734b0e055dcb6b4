"""The learning curve of the chosen method: its score against the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate
from bosquet.study.metrics.formatting import format_score
from bosquet.study.metrics.metric import predictions_for
from bosquet.study.run.context import StudyContext
from bosquet.study.run.scoring import scores_of
from bosquet.study.table.splits import StudySplit, seed_of, subsample
from bosquet.study.tuning.thresholds import Decision

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
DRAWS = 3
SMALLEST_TRAINING_SET = 30


def learning_curve(
    context: StudyContext,
    candidate: Candidate,
    split: StudySplit,
    decision: Decision,
    *,
    rows: np.ndarray,
    score_on_all_rows: float,
    one_fit_seconds: float,
    seconds_left: Callable[[], float],
) -> list[dict[str, Any]]:
    """Return the score on the test rows for several numbers of training rows.

    The standard deviation is over random draws of the training rows. `rows` are the training rows,
    `score_on_all_rows` is the score of a fit to all of them, which takes `one_fit_seconds`, and
    `seconds_left` returns the seconds that are left.
    """
    points: list[dict[str, Any]] = []
    y, test = context.y, context.rows(split.test)
    for share in SHARES:
        size = round(share * len(rows))
        if size < max(SMALLEST_TRAINING_SET, 5 * len(context.metric.classes)):
            continue
        scores: list[float] = []
        for draw in range(DRAWS):
            if seconds_left() < 2 * share * one_fit_seconds:
                break
            seed = seed_of(context.random_state, "learning", size, draw)
            subset = rows[subsample(y[rows], size, seed, stratify=context.target.is_classes)]
            model = fit_by_design(candidate.make(seed), context.rows(subset), seed)
            predictions = predictions_for(model, test.X, context.metric)
            by_metric = scores_of([context.metric], test.y, predictions, decision, test.weight)
            scores.append(by_metric[context.metric.name])
        if scores:
            spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else None
            points.append({"rows": float(size), "score": float(np.mean(scores)), "spread": spread})
    points.append({"rows": float(len(rows)), "score": score_on_all_rows, "spread": None})
    return points


def forecast(points: Sequence[dict[str, Any]], higher_is_better: bool) -> str:
    """Return a sentence on whether more rows would probably improve the score.

    The last point is a single fit. Its standard deviation is assumed to be at most that of the point before.
    Without three points, or without this standard deviation, no forecast is made.
    """
    if len(points) < 3:
        return "There are fewer than three points, too few to show a trend."
    previous, last = points[-2:]
    sizes = f"From {previous['rows']:,.0f} to {last['rows']:,.0f} rows"
    if previous["spread"] is None:
        return f"{sizes} there is only one fit each, too few to show a trend."
    gain = (1 if higher_is_better else -1) * (last["score"] - previous["score"])
    noise = 2 * previous["spread"]
    if gain > noise:
        return (
            f"{sizes} the score improved by {format_score(gain, 2)}. More rows would probably help."
        )
    return (
        f"{sizes} the score changed by no more than two standard deviations ({format_score(noise, 2)})."
        " More rows of the same kind would probably not help much."
    )
