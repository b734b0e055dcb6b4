"""Predictions for test rows, and their scores by all metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bosquet.study.methods.pipelines import row_blocks
from bosquet.study.metrics.metric import Metric, predictions_for
from bosquet.study.tuning.thresholds import Decision

# Kernel methods and nearest neighbours hold a matrix with one line per predicted row.
ROWS_AT_A_TIME = 1024


def predict_in_blocks(estimator: Any, X: Any, metric: Metric) -> np.ndarray:
    """Return the predictions for a metric, computed for some rows at a time to limit memory."""
    blocks = row_blocks(X, ROWS_AT_A_TIME)
    return np.concatenate([predictions_for(estimator, block, metric) for block in blocks])


def scores_of(
    metrics: Sequence[Metric],
    y: np.ndarray,
    predictions: np.ndarray,
    decision: Decision,
    weight: np.ndarray | None = None,
) -> dict[str, float]:
    """Return the score of predictions by each metric; predictions may be in single precision."""
    predictions = np.asarray(predictions, dtype=float)
    labels = decision(predictions) if metrics[0].needs != "number" else None
    return {
        metric.name: metric.score(y, labels if metric.needs == "class" else predictions, weight)
        for metric in metrics
    }
