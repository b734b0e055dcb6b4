"""Fits that follow the design of the rows: sample weights, and internal cross-validation of estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from bosquet.study.methods.pipelines import fit_weighted
from bosquet.study.table.design import Design
from bosquet.study.table.design_splits import PreparedFolds


def fit_by_design(estimator: Any, X: Any, y: Any, design: Design, seed: int = 0) -> Any:
    """Fit with sample weights, and with folds of whole groups or time blocks in internal cross-validation.

    The folds replace an integer parameter `cv`, as self-pruning trees, calibrated models and super learners
    have it. The parameter is restored afterwards.
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
