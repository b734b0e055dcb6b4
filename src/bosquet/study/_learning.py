"""The learning curve: what the winner would be worth with fewer rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bosquet.study._frames import take
from bosquet.study._splits import Split, seed_of, subsample
from bosquet.study._trial import Setting, scores_of
from bosquet.study.deciding import Decision
from bosquet.study.method import Candidate
from bosquet.study.scoring import answer_of

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
) -> list[dict[str, float]]:
    """Score on the test rows against the number of training rows, with the deviation over draws of these.

    `rows` are the training rows, `whole` the score of a fit to all of them; `one_fit` tells the seconds of
    such a fit, `left` those that may be used.
    """
    points = []
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
            model = candidate.make(seed).fit(take(study.X, some), y[some])
            answer = answer_of(model, test, study.metric)
            found = scores_of([study.metric], y[split.test], answer, decision)
            scores.append(found[study.metric.name])
        if scores:
            spread = float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0
            points.append({"rows": float(size), "score": float(np.mean(scores)), "spread": spread})
    points.append({"rows": float(len(rows)), "score": whole, "spread": 0.0})
    return points
