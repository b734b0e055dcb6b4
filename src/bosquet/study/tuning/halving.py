"""Successive halving: candidates are compared on few rows first, and the best of them on all.

On a large table there is time for one or two candidates on all rows. Which ones is better decided by a
validation set of a subsample than by their place in the list. The fit to the subsample is kept: it is what is
left of a method whose fits to all rows are stopped.
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
from bosquet.study.tuning.validation import Judged

if TYPE_CHECKING:
    from bosquet.study.tuning.tuner import Tuned

# Candidates are compared on an eighth of the rows, but on so many at least; with less than twice as many
# rows, or fewer than so many candidates that do not share a fit, there is nothing to save.
SHARE_OF_ROWS, FEWEST_ROWS, FEWEST_CANDIDATES = 1 / 8, 10_000, 3
SHARE_OF_TIME = 0.4
KEPT = 1 / 3  # of the candidates, two at least
# Of methods with fewer candidates a subsample is fitted first if the hard limit is less than so many times
# what one fit takes by the cost model: a machine may be busy, and a cost model wrong.
CAUTION = 8.0
LEAST_SECONDS = 0.01


@dataclass
class Halved:
    """The candidates that are left, best first, the seconds that it took, and a note for the reader.

    `tuned` is the method tuned on the subsample, which has so many `rows`. No candidate is left if even the
    subsample took too long, and one of fewer rows had to do.
    """

    candidates: list[Candidate]
    seconds: float
    note: str
    tuned: Tuned
    rows: int


def halved(
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
) -> Halved | None:
    """A method on a subsample, and its best candidates there; None where a subsample has no use.

    A subsample that is fitted only to be kept has `fewest` rows at least. `given` are further parameters of
    `tune`.
    """
    from bosquet.study.tuning.tuner import tune

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
        given["by"] = "validation"  # for few rows too: one fit per candidate, of which one is kept

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
        except OutOfTime:  # all rows would take longer still: the rest of the time is for few
            if fewest < size:
                with suppress(OutOfTime):
                    left = max(at_most - (time.monotonic() - began), LEAST_SECONDS)
                    return Halved([], at_most, "", tuned_on(fewest, left), fewest)
    if tuned is None or (halves and not tuned.order):
        return None
    note = ""
    if halves:
        kept = _best(groups, tuned.order)
        best = f"the best {len(kept)} of {len(groups)}"
        note = f"candidates were compared on {size:,} rows, and {best} on all"
        candidates = [one for group in kept for one in group]
    return Halved(candidates, time.monotonic() - began, note, tuned, size)


def _may_be_stopped(
    method: Method, candidates: Sequence[Candidate], shape: TableShape, at_most: float
) -> bool:
    """Whether a fit to all rows may exceed the limit, and would leave nothing."""
    keeps_rounds = all(isinstance(one, SelfTuned) and one.keeps_rounds for one in candidates)
    if keeps_rounds or method.combines or method.rows_affordable is all_rows:
        return False
    return CAUTION * modelled_seconds(method.rows_affordable, shape, shape.n_rows) > at_most


def _best(
    groups: list[list[Candidate]], order: Sequence[tuple[Candidate, Judged]]
) -> list[list[Candidate]]:
    """The groups with the best candidates, first those that may be the best, the most complex of them first.

    More rows favour complex candidates: of those within a standard error of the best the largest gains most.
    """
    best = order[0][1]
    near = [one for one in order if abs(one[1].score - best.score) <= (best.spread or 0.0)]
    near = sorted(near, key=lambda one: -one[0].complexity)
    places = {id(one[0]): place for place, one in enumerate([*near, *order[len(near) :]])}
    known = [group for group in groups if any(id(one) in places for one in group)]
    known.sort(key=lambda group: min(places.get(id(one), len(order)) for one in group))
    return known[: max(2, math.ceil(KEPT * len(groups)))]
