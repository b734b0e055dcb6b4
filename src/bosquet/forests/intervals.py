"""How much a forest's prediction would change with another sample of training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._bags import Bags, jackknife_variance
from bosquet._sklearn import effective_threads
from bosquet.trees._growing import class_shares


def tree_answers(forest: Any, columns: Any) -> np.ndarray:
    """What each tree says of each row: (trees, rows, outputs)."""
    ensemble, threads = forest._ensemble, effective_threads(forest.n_jobs)
    answers = [ensemble.predict_raw(columns, t, t + 1, threads) for t in range(ensemble.n_trees)]
    return np.stack(
        [class_shares(answer) if hasattr(forest, "classes_") else answer for answer in answers]
    )


def jackknife_standard_errors(forest: Any, columns: Any) -> np.ndarray:
    """The jackknife after bootstrap, corrected for the number of trees.

    For each training row the trees that did not see it are a forest without that row, so leaving rows
    out costs nothing.
    """
    answers = tree_answers(forest, columns)
    trees, rows, outputs = answers.shape
    n = forest.n_samples_fit_
    bags = Bags(forest._bag_counts, np.full(n, (n - 1) / n), forest._kept_rows)
    variance = jackknife_variance(bags, answers.reshape(trees, rows * outputs))
    errors = np.sqrt(variance).reshape(rows, outputs)
    return errors[:, 0] if outputs == 1 else errors
