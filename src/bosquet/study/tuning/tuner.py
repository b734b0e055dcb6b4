"""Hyper-parameter tuning of one method on the training rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_limits

from bosquet._weights import check_sample_weight
from bosquet.study.methods.candidates import SelfTuned
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.metrics.metric import Metric
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.candidate_search import CandidateSearch, TuningResult
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.time_limits import NO_LIMITS, FitTimer, TimeLimits
from bosquet.study.tuning.validation import SCHEMES, scheme_for

DEFAULTS = TuningOptions()


def tune(
    method: Method,
    rows: TableRows,
    shape: TableShape,
    metric: Metric,
    *,
    options: TuningOptions = DEFAULTS,
    limits: TimeLimits = NO_LIMITS,
    candidates: Sequence[Candidate] | None = None,
) -> TuningResult:
    """Tune the hyper-parameters of a method and fit it to all rows.

    Parameters
    ----------
    method : Method
    rows : TableRows
        The training rows: features, target and, in their design, weights, time and groups.
    shape : TableShape
        Task and size of these rows.
    metric : Metric
        A metric of `bosquet.study.metrics.metric`.
    options : TuningOptions, default=TuningOptions()
        How candidates are compared.
    limits : TimeLimits, default=NO_LIMITS
        After the soft limit no further candidate is started. At the hard limit a running fit is stopped and
        the best candidate so far is kept; OutOfTime is raised if there is none.
    candidates : sequence of Candidate, optional
        Candidates to choose from, default: all candidates of the method.

    Returns
    -------
    TuningResult

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet.study.methods import METHODS
    >>> from bosquet.study.methods.shapes import table_shape
    >>> from bosquet.study.metrics.metric import metric_named
    >>> from bosquet.study.tuning import TableRows, tune
    >>> X, y = load_iris(return_X_y=True)
    >>> metric = metric_named("log_loss", "multiclass", [0, 1, 2])
    >>> tuned = tune(METHODS["lda"], TableRows(X, y), table_shape(X, y, "multiclass"), metric)
    >>> [round(point["score"], 2) for point in tuned.curve["points"]]
    [0.32, 0.13, 0.08, 0.06, 0.06, 0.07]
    >>> tuned.setting
    {'shrinkage': 0.05}
    """
    timer = FitTimer.start(limits)
    candidates = list(method.candidates(shape) if candidates is None else candidates)
    rows, seed = _check_rows(rows), options.seed()
    scheme = scheme_for(method, options.scheme, len(rows), rows.design)
    search = CandidateSearch(method, candidates, rows, metric, options, seed, timer)
    # One BLAS thread: faster for small products, and results do not depend on the number of threads.
    with threadpool_limits(1, user_api="blas"):
        if len(candidates) == 1 and not isinstance(candidates[0], SelfTuned):
            return search.fit_only(candidates[0])
        if all(
            isinstance(candidate, SelfTuned) and scheme in candidate.ways
            for candidate in candidates
        ):
            return search.choose_self_tuned(scheme)
        return search.choose_by_scheme(SCHEMES[scheme](rows, metric, options.folds, seed))


def _check_rows(rows: TableRows) -> TableRows:
    """Return rows with checked weights, without weights if all are 1."""
    weight = check_sample_weight(rows.weight, len(rows))
    design = replace(rows.design, weight=weight if weight.size else None)
    return TableRows(rows.X, np.asarray(rows.y), design)
