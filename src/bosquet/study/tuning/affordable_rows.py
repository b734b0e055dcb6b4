"""How many rows a method can be tuned on in a given time, by its cost model and a trial fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet.study.methods.candidates import groups_of, tried
from bosquet.study.methods.costs import FEWEST_ROWS, modelled_seconds
from bosquet.study.methods.method import Candidate, Method, TableShape, all_rows
from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.tuning.timed_fits import try_all
from bosquet.study.tuning.validation import LARGE, Rows, way_for

# Rows of the fit that tells how fast this machine is.
TRIAL_ROWS = 500
# A trial fit is short, and may meet a busy moment: what it says is taken within these bounds.
SPEEDS = (0.3, 6.0)


def affordable_rows(
    method: Method,
    X: Any,
    y: Any,
    shape: TableShape,
    seconds: float,
    *,
    by: str | None = None,
    folds: int = 5,
    random_state: int = 0,
) -> int:
    """The rows on which tuning a method takes about so many seconds on this machine.

    A fit of the middle candidate to 500 rows tells how fast the machine is beside the one that the
    method's cost model was measured on; the model's exponents do the rest.

    Parameters
    ----------
    method : Method
    X, y : the training rows
    shape : TableShape
        Of these rows.
    seconds : float
    by, folds : as in `tune`.
    random_state : int, default=0

    Returns
    -------
    int
        At most the rows there are.
    """
    if method.rows_affordable is all_rows:
        return shape.n_rows
    candidates = list(method.candidates(shape))
    speed = _speed(method, candidates, Rows(X, np.asarray(y)), shape, random_state)
    way = way_for(method, by, shape.n_rows)

    def rows_for(way: str) -> int:
        each = seconds / _fits(candidates, way, folds)
        return method.rows_affordable(shape, each / speed)

    rows = rows_for(way)
    if rows < LARGE <= shape.n_rows and by is None and method.by == "cv":
        # So few rows are judged by folds, which are more fits.
        rows = max(rows_for("cv"), min(FEWEST_ROWS, rows))
    return int(min(rows, shape.n_rows))


def _speed(
    method: Method, candidates: Sequence[Candidate], rows: Rows, shape: TableShape, seed: int
) -> float:
    """Seconds that a small fit takes here, for each second of the cost model."""
    number = np.random.RandomState(seed).permutation(len(rows))[:TRIAL_ROWS]
    if shape.task != "regression":  # one row of each class at least
        firsts = np.unique(rows.y, return_index=True)[1]
        number = np.union1d(number, firsts)
    trial = rows.take(number)
    group = groups_of(candidates)[len(groups_of(candidates)) // 2]
    candidate = group[-1]
    # The first fit also pays for what is loaded when first used.
    fits = try_all(lambda: fit_weighted(tried(candidate, seed), trial.X, trial.y), [(), ()])
    if any(fit.error is not None for fit in fits):
        return 1.0
    seconds = min(fit.seconds for fit in fits)
    ratio = seconds / modelled_seconds(method.rows_affordable, shape, len(trial))
    return float(np.clip(ratio, *SPEEDS))


def _fits(candidates: Sequence[Candidate], way: str, folds: int) -> float:
    """How many fits of all rows tuning comes to."""
    groups = len(groups_of(candidates))
    if len(candidates) == 1:  # one that tunes itself does so within its fit
        return 1.0
    if way in ("oob", "aic", "bic"):
        return float(groups)
    judged = {"cv": 0.8 * folds, "validation": 0.8, "bootstrap": 1.0 + max(10, folds)}[way]
    return groups * judged + 1
