"""Successive halving: compare candidates on a subsample first, and only the best of them on all rows.

On a large table there is time to fit one or two candidates to all rows. Scores on a subsample select them
better than their order in the list does. The fit to the subsample is kept, in case the time limit stops all
fits to all rows.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet.study.methods.candidates import SelfTuned, groups_of
from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.table.design import Design
from bosquet.study.table.frames import take
from bosquet.study.table.splits import subsample
from bosquet.study.tuning.time_limit import OutOfTime
from bosquet.study.tuning.tuner import tune
from bosquet.study.tuning.validation import CandidateEvaluation

if TYPE_CHECKING:
    from bosquet.study.tuning.tuner import Tuned

# The subsample has an eighth of the rows, at least 10,000. Halving saves no time if the table has less than
# twice as many rows, or if the method has fewer than three candidates that do not share a fit.
SHARE_OF_ROWS, FEWEST_ROWS, FEWEST_CANDIDATES = 1 / 8, 10_000, 3
SHARE_OF_TIME = 0.4
KEPT_SHARE = 1 / 3  # of the candidates, at least two
# A method with fewer candidates is fitted to a subsample first if the hard limit is less than this multiple
# of one fit by the cost model, because the machine may be busy and the cost model wrong.
SAFETY_FACTOR = 8.0
LEAST_SECONDS = 0.01


@dataclass
class HalvingResult:
    """The remaining candidates, best first, the seconds used, and a note for the report.

    `tuned` is the method tuned on a subsample of `rows` rows. There are no candidates if even this subsample
    took too long and a smaller one was used.
    """

    candidates: list[Candidate]
    seconds: float
    note: str
    tuned: Tuned
    rows: int


def successive_halving(
    method: Method,
    candidates: list[Candidate],
    X: Any,
    y: np.ndarray,
    shape: TableShape,
    *,
    stratify: bool,
    at_most: float,
    random_state: int,
    rows_seed: int,
    fewest: int,
    design: Design,
    **given: Any,
) -> HalvingResult | None:
    """Tune a method on a subsample and return its best candidates; None if a subsample would not help.

    A subsample that only serves as a fallback for stopped fits has at least `fewest` rows. `given` are
    further parameters of `tune`.
    """
    groups = groups_of(candidates)
    share = math.ceil(SHARE_OF_ROWS * len(y))
    halves = len(groups) >= FEWEST_CANDIDATES and len(y) >= 2 * max(FEWEST_ROWS, share)
    if not halves and not _may_be_stopped(method, candidates, shape, at_most):
        return None
    size = max(FEWEST_ROWS if halves else fewest, share)
    if len(y) < 2 * size:
        return None
    began = time.monotonic()

    if given.get("by") is None and method.by == "cv":
        given["by"] = "validation"  # one fit per candidate, and the fit of the best one can be kept

    def tuned_on(size: int, limit: float) -> Tuned:
        rows = subsample(y, size, rows_seed, stratify=stratify)
        part = design.take(rows)
        return tune(
            method,
            take(X, rows),
            y[rows],
            replace(shape, n_rows=len(rows)),
            seconds=limit,
            at_most=limit,
            random_state=random_state,
            design=part,
            sample_weight=part.weight,
            candidates=candidates,
            **given,
        )

    tuned: Tuned | None = None
    with suppress(ValueError, MemoryError):
        try:
            tuned = tuned_on(size, SHARE_OF_TIME * at_most)
        except OutOfTime:  # all rows would take even longer: use the remaining time for fewer rows
            if fewest < size:
                with suppress(OutOfTime):
                    left = max(at_most - (time.monotonic() - began), LEAST_SECONDS)
                    return HalvingResult([], at_most, "", tuned_on(fewest, left), fewest)
    if tuned is None or (halves and not tuned.order):
        return None
    note = ""
    if halves:
        kept = _best_groups(groups, tuned.order)
        best = f"the best {len(kept)} of {len(groups)}"
        note = f"candidates were compared on {size:,} rows, and {best} on all rows"
        candidates = [one for group in kept for one in group]
    return HalvingResult(candidates, time.monotonic() - began, note, tuned, size)


def _may_be_stopped(
    method: Method, candidates: Sequence[Candidate], shape: TableShape, at_most: float
) -> bool:
    """Return whether a fit to all rows may exceed the limit without leaving a usable model."""
    keeps_rounds = all(isinstance(one, SelfTuned) and one.keeps_rounds for one in candidates)
    if keeps_rounds or method.combines or method.rows_affordable is all_rows:
        return False
    return SAFETY_FACTOR * modelled_seconds(method.rows_affordable, shape, shape.n_rows) > at_most


def _best_groups(
    groups: list[list[Candidate]], order: Sequence[tuple[Candidate, CandidateEvaluation]]
) -> list[list[Candidate]]:
    """Return the groups of the best candidates.

    Candidates within one standard error of the best come first, the most complex one before the others: on
    more rows complex candidates improve most.
    """
    best = order[0][1]
    close = [entry for entry in order if abs(entry[1].score - best.score) <= (best.spread or 0.0)]
    close = sorted(close, key=lambda entry: -entry[0].complexity)
    ranks = {id(entry[0]): rank for rank, entry in enumerate([*close, *order[len(close) :]])}
    known = [group for group in groups if any(id(one) in ranks for one in group)]
    known.sort(key=lambda group: min(ranks.get(id(one), len(order)) for one in group))
    return known[: max(2, math.ceil(KEPT_SHARE * len(groups)))]
