"""How much a forest's prediction would change with another sample of training rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import effective_threads
from bosquet.data import n_rows
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
    out costs nothing: V = (n - 1)/n Σ_i (mean without i - mean)². With B trees chance alone adds about
    (e - 1) n / B² Σ_b (answer of b - mean)², which is taken off.
    """
    answers = tree_answers(forest, columns)
    trees, rows, outputs = answers.shape
    flat = answers.reshape(trees, rows * outputs)
    mean = flat.mean(axis=0)
    centred = flat - mean
    n = forest.n_samples_fit_
    total = np.zeros(rows * outputs)
    left_out = np.stack([forest._bag_counts(t) == 0 for t in range(trees)])
    for begin in range(0, n, 2048):
        without = left_out[:, begin : begin + 2048].astype(float)
        counts = without.sum(axis=0)
        known = counts > 0
        shifts = (without[:, known].T @ centred) / counts[known, None]
        total += (shifts**2).sum(axis=0)
    variance = (n - 1) / n * total
    variance -= (np.e - 1) * n / trees**2 * (centred**2).sum(axis=0)
    errors = np.sqrt(np.maximum(variance, 0)).reshape(n_rows(columns), outputs)
    return errors[:, 0] if outputs == 1 else errors
