"""Hyper-parameter tuning of one method on the training rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from threadpoolctl import threadpool_limits

from bosquet._sklearn import seed_from
from bosquet._targets import check_sample_weight
from bosquet.study.methods.candidates import SelfTuned
from bosquet.study.methods.method import Candidate, Method, TableShape
from bosquet.study.table.design import Design
from bosquet.study.tuning.affordable_rows import affordable_rows
from bosquet.study.tuning.candidate_search import CandidateSearch, Tuned
from bosquet.study.tuning.fit_attempts import FitTimer
from bosquet.study.tuning.validation import SCHEMES, TrainingRows, scheme_for

__all__ = ["Tuned", "affordable_rows", "tune"]


def tune(
    method: Method,
    X: Any,
    y: Any,
    shape: TableShape,
    *,
    metric: Any,
    by: str | None = None,
    folds: int = 5,
    rule: str = "best",
    seconds: float | None = None,
    at_most: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    sample_weight: Any = None,
    design: Design | None = None,
    candidates: Sequence[Candidate] | None = None,
) -> Tuned:
    """Tune the hyper-parameters of a method and fit it to all rows.

    Parameters
    ----------
    method : Method
    X : table of shape (n_samples, n_features)
    y : array of shape (n_samples,)
    shape : TableShape
        Task and size of these rows.
    metric : Metric
        A metric of `bosquet.study.metrics.metric`.
    by : {"cv", "validation", "oob", "bootstrap", "aic", "bic"} or None, default=None
        How candidates are compared. None uses the method's default; from 5,000 rows on a validation set
        replaces cross-validation.
    folds : int, default=5
        Number of folds of "cv". "bootstrap" draws this many samples, but at least ten.
    rule : {"best", "1se"}, default="best"
        Choose the candidate with the best score, or the least complex one within one standard error of it.
    seconds : float or None, default=None
        Soft time limit: no further candidate is started after it. None tries all candidates.
    at_most : float or None, default=None
        Hard time limit: a running fit is stopped and the best candidate so far is kept. OutOfTime is raised
        if there is none.
    random_state : int, RandomState or None, default=0
    n_jobs : int or None, default=None
        Number of parallel fits, in threads. The result does not depend on it.
    sample_weight : array of shape (n_samples,), optional
    design : Design, optional
        Time and groups, which folds and validation set respect.
    candidates : sequence of Candidate, optional
        Candidates to choose from, default: all candidates of the method.

    Returns
    -------
    Tuned

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from bosquet.study.methods import METHODS
    >>> from bosquet.study.metrics.metric import metric_named
    >>> from bosquet.study.methods.shapes import table_shape
    >>> from bosquet.study.tuning import tune
    >>> X, y = load_iris(return_X_y=True)
    >>> metric = metric_named("log_loss", "multiclass", [0, 1, 2])
    >>> tuned = tune(METHODS["lda"], X, y, table_shape(X, y, "multiclass"), metric=metric)
    >>> [round(point["score"], 2) for point in tuned.curve["points"]]
    [0.32, 0.13, 0.08, 0.06, 0.06, 0.07]
    >>> tuned.setting
    {'shrinkage': 0.05}
    """
    timer = FitTimer.start(seconds, at_most)
    if rule not in ("best", "1se"):
        raise ValueError(f"rule={rule!r} is unknown; rule must be 'best' or '1se'.")
    candidates = list(method.candidates(shape) if candidates is None else candidates)
    target = np.asarray(y)
    weight = check_sample_weight(sample_weight, len(target))
    rows = TrainingRows(X, target, weight if weight.size else None, design or Design())
    seed = random_state if isinstance(random_state, int) else seed_from(random_state)
    by = scheme_for(method, by, len(target), design)
    piped = isinstance(candidates[0].make(0), Pipeline)
    search = CandidateSearch(
        method, rows, metric, folds, rule == "1se", seed, _n_workers(n_jobs), timer, piped
    )
    # One BLAS thread: faster for small products, and results do not depend on the number of threads.
    with threadpool_limits(1, user_api="blas"):
        if len(candidates) == 1 and not isinstance(candidates[0], SelfTuned):
            return search.fit_only(candidates[0])
        if _tune_themselves(candidates, by):
            return search.choose_self_tuned(candidates, by)
        return search.choose_by_scheme(candidates, SCHEMES[by](rows, metric, folds, seed))


def _tune_themselves(candidates: Sequence[Candidate], by: str) -> bool:
    return all(isinstance(one, SelfTuned) and by in one.ways for one in candidates)


def _n_workers(n_jobs: int | None) -> int:
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
