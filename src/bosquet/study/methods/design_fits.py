"""Fits that follow the design of the rows: sample weights, and internal cross-validation of estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.design_splits import PreparedFolds
from bosquet.study.table.rows import TableRows


def fit_by_design(estimator: Any, rows: TableRows, seed: int = 0) -> Any:
    """Fit with sample weights, and with folds of whole groups or time blocks in internal cross-validation.

    The folds replace an integer parameter `cv`, as self-pruning trees, calibrated models and super learners
    have it. The parameter is restored afterwards.
    """
    inner = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    cv = getattr(inner, "cv", None)
    counted = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    folds = PreparedFolds.of(rows.design, int(cv), seed) if counted and cv is not None else None
    if folds is None:
        return fit_weighted(estimator, rows.X, rows.y, rows.weight)
    inner.set_params(cv=folds)
    try:
        return fit_weighted(estimator, rows.X, rows.y, rows.weight)
    finally:
        inner.set_params(cv=cv)
