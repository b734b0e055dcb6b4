"""Successive halving: compare candidates on a subsample first, and only the best of them on all rows.

On a large table there is time to fit one or two candidates to all rows. Scores on a subsample select them
better than their order in the list does. The fit to the subsample is kept, in case the time limit stops all
fits to all rows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from bosquet.study.methods.candidates import SelfTuned, groups_of
from bosquet.study.methods.costs import modelled_seconds
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.metrics.metric import Metric
from bosquet.study.table.rows import TableRows
from bosquet.study.table.splits import subsample
from bosquet.study.tuning.candidate_search import TuningResult
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.stopping import OutOfTime
from bosquet.study.tuning.time_limits import MIN_SECONDS, FitTimer, TimeLimits
from bosquet.study.tuning.tuner import tune
from bosquet.study.tuning.validation import CandidateEvaluation, is_classification

# The subsample has this share of the rows, but at least this many. Halving saves no time if the table has
# less than twice as many rows.
SHARE_OF_ROWS = 1 / 8
MIN_ROWS_OF_HALVING = 10_000
# Nor does it if the method has fewer candidates that do not share a fit.
MIN_CANDIDATES = 3
SHARE_OF_TIME = 0.4  # of the hard limit; the rest is for the fits to all rows
KEPT_SHARE = 1 / 3  # of the candidates, at least two
# A method with fewer candidates is fitted to a subsample first if the hard limit is less than this multiple
# of one fit by the cost model, because the machine may be busy and the cost model wrong.
SAFETY_FACTOR = 8.0
STOPPED_ON = "stopped by the time limit: fitted to {:,} rows"  # a note


@dataclass(frozen=True)
class SubsampleResult:
    """The remaining candidates, best first, the seconds used, and a note for the report.

    `tuned` is the method tuned on a subsample of `n_rows` rows. There are no candidates if even this
    subsample took too long and a smaller one was used.
    """

    candidates: list[Candidate]
    seconds: float
    note: str
    tuned: TuningResult
    n_rows: int


@dataclass(frozen=True)
class Halving:
    """Tuning of a method, on a subsample first if it has a hard limit.

    `rows_seed` is the seed of the rows of the subsample. A subsample that only serves as a fallback for
    stopped fits has at least `fewest` rows.
    """

    method: Method
    rows: TableRows
    shape: TableShape
    metric: Metric
    options: TuningOptions
    rows_seed: int
    fewest: int

    def tune(
        self, candidates: list[Candidate], limits: TimeLimits
    ) -> tuple[TuningResult, str, int]:
        """Tune the method; return the result, a note for the report and the number of rows used.

        If all fits to all rows are stopped, the result is that of the subsample.
        """
        first = None
        if limits.soft is not None and limits.hard is not None:
            first = self.tune_on_subsample(candidates, limits.hard)
        if first is None:
            return self._tune_on_all_rows(candidates, limits), "", len(self.rows)
        stopped = first.tuned, STOPPED_ON.format(first.n_rows), first.n_rows
        if not first.candidates:
            return stopped
        try:
            tuned = self._tune_on_all_rows(first.candidates, limits.after(first.seconds))
        except OutOfTime:
            return stopped
        return tuned, first.note, len(self.rows)

    def tune_on_subsample(
        self, candidates: list[Candidate], hard_limit: float
    ) -> SubsampleResult | None:
        """Tune on a subsample and return the best candidates; None if a subsample would not help."""
        groups = groups_of(candidates)
        share = math.ceil(SHARE_OF_ROWS * len(self.rows))
        enough_rows = len(self.rows) >= 2 * max(MIN_ROWS_OF_HALVING, share)
        halves = len(groups) >= MIN_CANDIDATES and enough_rows
        if not halves and not self._may_be_stopped(candidates, hard_limit):
            return None
        size = max(MIN_ROWS_OF_HALVING if halves else self.fewest, share)
        if len(self.rows) < 2 * size:
            return None
        timer = FitTimer.start(TimeLimits(hard=hard_limit))
        tuned: TuningResult | None = None
        with suppress(ValueError, MemoryError):
            try:
                tuned = self._tune_on_rows(size, candidates, SHARE_OF_TIME * hard_limit)
            except OutOfTime:  # all rows would take even longer: use the time left for fewer rows
                if self.fewest < size:
                    with suppress(OutOfTime):
                        left = max(timer.seconds_left() or 0.0, MIN_SECONDS)
                        tuned = self._tune_on_rows(self.fewest, candidates, left)
                        return SubsampleResult([], hard_limit, "", tuned, self.fewest)
        if tuned is None or (halves and not tuned.ranking):
            return None
        note = ""
        if halves:
            best_groups = _best_groups(groups, tuned.ranking)
            best = f"the best {len(best_groups)} of {len(groups)}"
            note = f"candidates were compared on {size:,} rows, and {best} on all rows"
            candidates = [candidate for group in best_groups for candidate in group]
        return SubsampleResult(candidates, timer.elapsed, note, tuned, size)

    def _tune_on_all_rows(self, candidates: list[Candidate], limits: TimeLimits) -> TuningResult:
        return tune(
            self.method,
            self.rows,
            self.shape,
            self.metric,
            options=self.options,
            limits=limits,
            candidates=candidates,
        )

    def _tune_on_rows(self, size: int, candidates: list[Candidate], limit: float) -> TuningResult:
        """Tune the method on a subsample of `size` rows."""
        stratify = is_classification(self.metric)
        chosen = subsample(self.rows.y, size, self.rows_seed, stratify=stratify)
        options = self.options
        if options.scheme is None and self.method.scheme == "cv":
            # One fit per candidate, and the fit of the best one can be kept.
            options = replace(options, scheme="validation")
        return tune(
            self.method,
            self.rows.take(chosen),
            replace(self.shape, n_rows=len(chosen)),
            self.metric,
            options=options,
            limits=TimeLimits(limit, limit),
            candidates=candidates,
        )

    def _may_be_stopped(self, candidates: Sequence[Candidate], hard_limit: float) -> bool:
        """Return whether a fit to all rows may exceed the limit without leaving a usable model."""
        cost = self.method.rows_affordable
        keeps_rounds = all(
            isinstance(candidate, SelfTuned) and candidate.keeps_rounds for candidate in candidates
        )
        if keeps_rounds or self.method.combine or cost is all_rows:
            return False
        return SAFETY_FACTOR * modelled_seconds(cost, self.shape, self.shape.n_rows) > hard_limit


def _best_groups(
    groups: list[list[Candidate]], ranking: Sequence[tuple[Candidate, CandidateEvaluation]]
) -> list[list[Candidate]]:
    """Return the groups of the best candidates.

    Candidates within one standard error of the best come first, the most complex one before the others: on
    more rows complex candidates improve most.
    """
    best = ranking[0][1]
    close_groups = [
        entry
        for entry in ranking
        if abs(entry[1].score - best.score) <= (best.standard_error or 0.0)
    ]
    close_groups = sorted(close_groups, key=lambda entry: -entry[0].complexity)
    ranks = {
        id(entry[0]): rank
        for rank, entry in enumerate([*close_groups, *ranking[len(close_groups) :]])
    }
    ranked_groups = [
        group for group in groups if any(id(candidate) in ranks for candidate in group)
    ]
    ranked_groups.sort(
        key=lambda group: min(ranks.get(id(candidate), len(ranking)) for candidate in group)
    )
    return ranked_groups[: max(2, math.ceil(KEPT_SHARE * len(groups)))]
