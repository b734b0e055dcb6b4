"""The learning curve: what the winner would be worth with fewer rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bosquet.study.methods.design_fits import fit_by_design
from bosquet.study.methods.method import Candidate
from bosquet.study.metrics.formatting import figure
from bosquet.study.metrics.scoring import answer_of
from bosquet.study.run.trial import Setting, scores_of
from bosquet.study.table.frames import take
from bosquet.study.table.splits import Split, seed_of, subsample
from bosquet.study.tuning.thresholds import Decision

SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2)
DRAWS = 3
FEWEST_ROWS = 30


def learning_curve(
    study: Setting,
    candidate: Candidate,
    split: Split,
    decision: Decision,
    *,
    rows: np.ndarray,
    whole: float,
    one_fit: float,
    left: Callable[[], float],
) -> list[dict[str, Any]]:
    """Score on the test rows against the number of training rows, with the deviation over draws of these.

    `rows` are the training rows, `whole` the score of a fit to all of them; `one_fit` tells the seconds of
    such a fit, `left` those that may be used.
    """
    points: list[dict[str, Any]] = []
    y, test = study.y, take(study.X, split.test)
    for share in SHARES:
        size = round(share * len(rows))
        if size < max(FEWEST_ROWS, 5 * len(study.metric.classes)):
            continue
        scores: list[float] = []
        for draw in range(DRAWS):
            if left() < 2 * share * one_fit:
                break
            seed = seed_of(study.random_state, "learning", size, draw)
            some = rows[subsample(y[rows], size, seed, stratify=study.target.is_classes)]
            design = study.design.take(some)
            model = fit_by_design(candidate.make(seed), take(study.X, some), y[some], design, seed)
            answer = answer_of(model, test, study.metric)
            weight = study.weight(split.test)
            found = scores_of([study.metric], y[split.test], answer, decision, weight)
            scores.append(found[study.metric.name])
        if scores:
            spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else None
            points.append({"rows": float(size), "score": float(np.mean(scores)), "spread": spread})
    points.append({"rows": float(len(rows)), "score": whole, "spread": None})
    return points


def forecast(points: Sequence[dict[str, Any]], higher_is_better: bool) -> str:
    """What a learning curve shows, and whether more rows would help.

    The last point is a single fit; its standard deviation over draws is at most that of the point before it.
    Without three points, or without that deviation, there is no trend to speak of.
    """
    if len(points) < 3:
        return "Fewer than three points do not show a trend."
    before, last = points[-2:]
    sizes = f"From {before['rows']:,.0f} to {last['rows']:,.0f} rows"
    if before["spread"] is None:
        return f"{sizes} there is a single fit each, which does not show a trend."
    gain = (1 if higher_is_better else -1) * (last["score"] - before["score"])
    noise = 2 * before["spread"]
    if gain > noise:
        return f"{sizes} the score improved by {figure(gain, 2)}. More rows would probably help."
    return (
        f"{sizes} the score changed by no more than two standard deviations ({figure(noise, 2)})."
        " More rows of the same kind would bring little."
    )
