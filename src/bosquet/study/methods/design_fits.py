"""Fits that follow the design of their rows: weights, and folds that an estimator makes by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import PreparedFolds


def fit_by_design(estimator: Any, X: Any, y: Any, design: Design, seed: int = 0) -> Any:
    """Fit with the weights of the rows, and with folds of whole groups or blocks of time.

    The latter are for estimators with a number of folds as `cv`: trees that prune themselves, calibrated
    models, super learners. The parameter is as before afterwards.
    """
    inner = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    cv = getattr(inner, "cv", None)
    counted = isinstance(cv, int | np.integer) and not isinstance(cv, bool)
    folds = PreparedFolds.of(design, int(cv), seed) if counted and cv is not None else None
    if folds is None:
        return fit_weighted(estimator, X, y, design.weight)
    inner.set_params(cv=folds)
    try:
        return fit_weighted(estimator, X, y, design.weight)
    finally:
        inner.set_params(cv=cv)
