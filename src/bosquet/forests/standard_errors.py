"""Standard errors of the predictions of a forest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._bags import Bags, jackknife_variance
from bosquet._sklearn import effective_threads
from bosquet.trees.growing import class_shares

if TYPE_CHECKING:
    from bosquet.data import Columns
    from bosquet.forests._inspection import ForestInspection


def tree_predictions(forest: ForestInspection, columns: Columns) -> np.ndarray:
    """Return the prediction of each tree for each row, shape (trees, rows, outputs)."""
    ensemble, threads = forest._ensemble, effective_threads(forest.n_jobs)
    raw = [ensemble.predict_raw(columns, t, t + 1, threads) for t in range(ensemble.n_trees)]
    return np.stack(
        [class_shares(values) if hasattr(forest, "classes_") else values for values in raw]
    )


def jackknife_standard_errors(forest: ForestInspection, columns: Columns) -> np.ndarray:
    """Return standard errors by the jackknife after the bootstrap, corrected for the number of trees.

    The trees that did not draw a training row are a forest that was fitted without that row, so no tree
    has to be grown again.
    """
    predictions = tree_predictions(forest, columns)
    trees, rows, outputs = predictions.shape
    n = forest.n_samples_fit_
    bags = Bags(forest._bag_counts, np.full(n, (n - 1) / n), forest._kept_rows)
    variance = jackknife_variance(bags, predictions.reshape(trees, rows * outputs))
    errors = np.sqrt(variance).reshape(rows, outputs)
    return errors[:, 0] if outputs == 1 else errors
