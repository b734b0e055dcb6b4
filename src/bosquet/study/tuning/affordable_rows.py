"""Estimate of the number of rows on which a method can be tuned in a given time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bosquet.study.methods.candidates import groups_of, trial_estimator
from bosquet.study.methods.costs import MIN_AFFORDABLE_ROWS, modelled_seconds
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.rows import TableRows
from bosquet.study.tuning.fit_attempts import try_all
from bosquet.study.tuning.options import TuningOptions
from bosquet.study.tuning.validation import LARGE, scheme_for

# Rows of the trial fit that measures the speed of this machine.
TRIAL_ROWS = 500
# A trial fit is short and may run on a busy machine, so the measured ratio is clipped to these bounds.
SPEED_BOUNDS = (0.3, 6.0)
DEFAULTS = TuningOptions()


def affordable_rows(
    method: Method,
    rows: TableRows,
    shape: TableShape,
    seconds: float,
    options: TuningOptions = DEFAULTS,
) -> int:
    """Return the number of rows on which tuning a method takes about `seconds` on this machine.

    A fit of the middle candidate to 500 rows measures the speed of this machine relative to the one on which
    the cost model of the method was measured. The cost model extrapolates to other numbers of rows.

    Parameters
    ----------
    method : Method
    rows : TableRows
        The training rows.
    shape : TableShape
        Of these rows.
    seconds : float
    options : TuningOptions, default=TuningOptions()

    Returns
    -------
    int
        At most `shape.n_rows`.
    """
    if method.rows_affordable is all_rows:
        return shape.n_rows
    candidates = list(method.candidates(shape))
    speed = _measure_speed(method, candidates, rows, shape, options.seed())
    scheme = scheme_for(method, options.scheme, shape.n_rows)

    def rows_for(scheme: str) -> int:
        seconds_per_fit = seconds / _n_fits(candidates, scheme, options.folds)
        return method.rows_affordable(shape, seconds_per_fit / speed)

    affordable = rows_for(scheme)
    if affordable < LARGE <= shape.n_rows and options.scheme is None and method.scheme == "cv":
        # On so few rows the method is tuned by cross-validation, which needs more fits.
        affordable = max(rows_for("cv"), min(MIN_AFFORDABLE_ROWS, affordable))
    return int(min(affordable, shape.n_rows))


def _measure_speed(
    method: Method,
    candidates: Sequence[Candidate],
    rows: TableRows,
    shape: TableShape,
    seed: int,
) -> float:
    """Return the ratio of the measured seconds of a small fit to those of the cost model."""
    chosen = np.random.RandomState(seed).permutation(len(rows))[:TRIAL_ROWS]
    if shape.task != "regression":  # at least one row per class
        firsts = np.unique(rows.y, return_index=True)[1]
        chosen = np.union1d(chosen, firsts)
    trial = rows.take(chosen)
    group = groups_of(candidates)[len(groups_of(candidates)) // 2]
    candidate = group[-1]
    # Two fits, because the first one also loads modules.
    fits = try_all(
        lambda: fit_weighted(trial_estimator(candidate, seed), trial.X, trial.y), [(), ()]
    )
    if any(fit.error is not None for fit in fits):
        return 1.0
    seconds = min(fit.seconds for fit in fits)
    ratio = seconds / modelled_seconds(method.rows_affordable, shape, len(trial))
    return float(np.clip(ratio, *SPEED_BOUNDS))


def _n_fits(candidates: Sequence[Candidate], scheme: str, folds: int) -> float:
    """Return the cost of tuning in fits to all rows."""
    groups = len(groups_of(candidates))
    if len(candidates) == 1:  # no tuning, or tuning within the fit
        return 1.0
    if scheme in ("oob", "aic", "bic"):
        return float(groups)
    # A fit without a fold of five, or without the validation set, is to 0.8 of the rows.
    fits_per_group = {"cv": 0.8 * folds, "validation": 0.8, "bootstrap": 1.0 + max(10, folds)}[
        scheme
    ]
    return groups * fits_per_group + 1
