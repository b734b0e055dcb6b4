"""Strength and correlation of a random forest (Breiman 2001)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bosquet._sklearn import effective_threads
from bosquet._targets import check_labels, class_numbers
from bosquet.data import take_rows
from bosquet.trees.growing import class_shares

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from bosquet._types import TableLike
    from bosquet.forests._base import BaseForest


def strength_and_correlation(forest: BaseForest, X: TableLike, y: ArrayLike) -> tuple[float, float]:
    """Return the mean margin of the out-of-bag votes and the mean correlation of the raw margins."""
    columns = forest._encoder.transform(X, owner=type(forest).__name__)
    truth = class_numbers(check_labels(y), forest.classes_)
    columns, truth, _ = forest._training_rows(columns, truth)
    threads = effective_threads(forest.n_jobs)
    votes = np.zeros((truth.size, forest.n_classes_))
    oob_rows, oob_choices = [], []
    for t in range(forest.n_estimators_):
        rows = np.flatnonzero(forest._bag_counts(t) == 0)
        raw = forest._ensemble.predict_raw(take_rows(columns, rows), t, t + 1, threads)
        choice = class_shares(raw).argmax(axis=1)
        votes[rows, choice] += 1
        oob_rows.append(rows)
        oob_choices.append(choice)
    counts = votes.sum(axis=1)
    has_votes = counts > 0
    shares = votes / np.maximum(counts, 1)[:, None]
    all_rows = np.arange(truth.size)
    other_shares = shares.copy()
    other_shares[all_rows, truth] = -1
    rival = other_shares.argmax(axis=1)
    margin = shares[all_rows, truth] - other_shares[all_rows, rival]
    strength = float(margin[has_votes].mean())
    # The raw margin of a tree is 1 if it votes for the true class, -1 if it votes for the rival (the
    # other class with the most votes), and 0 otherwise.
    deviations = []
    for rows, choice in zip(oob_rows, oob_choices, strict=True):
        right, wrong = np.mean(choice == truth[rows]), np.mean(choice == rival[rows])
        deviations.append(np.sqrt(max(right + wrong - (right - wrong) ** 2, 0)))
    variance = float(np.mean(margin[has_votes] ** 2) - strength**2)
    mean_deviation = float(np.mean(deviations))
    return strength, variance / mean_deviation**2 if mean_deviation > 0 else 0.0
