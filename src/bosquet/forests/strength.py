"""Strength and correlation of a forest (Breiman 2001)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bosquet._sklearn import effective_threads
from bosquet._targets import check_labels, class_numbers
from bosquet.data import take_rows
from bosquet.trees._growing import class_shares


def strength_and_correlation(forest: Any, X: Any, y: Any) -> tuple[float, float]:
    """Mean margin of the out-of-bag votes, and the mean correlation of the trees' raw margins."""
    columns = forest._encoder.transform(X, owner=type(forest).__name__)
    truth = class_numbers(check_labels(y), forest.classes_)
    columns, truth, _ = forest._training_rows(columns, truth)
    threads = effective_threads(forest.n_jobs)
    votes = np.zeros((truth.size, forest.n_classes_))
    seen, said = [], []
    for t in range(forest.n_estimators_):
        rows = np.flatnonzero(forest._bag_counts(t) == 0)
        raw = forest._ensemble.predict_raw(take_rows(columns, rows), t, t + 1, threads)
        choice = class_shares(raw).argmax(axis=1)
        votes[rows, choice] += 1
        seen.append(rows)
        said.append(choice)
    counts = votes.sum(axis=1)
    known = counts > 0
    shares = votes / np.maximum(counts, 1)[:, None]
    every = np.arange(truth.size)
    others = shares.copy()
    others[every, truth] = -1
    rival = others.argmax(axis=1)
    margin = shares[every, truth] - others[every, rival]
    strength = float(margin[known].mean())
    # The raw margin of a tree is 1 where it is right, -1 where it votes for the rival, else 0.
    spreads = []
    for rows, choice in zip(seen, said, strict=True):
        right, wrong = np.mean(choice == truth[rows]), np.mean(choice == rival[rows])
        spreads.append(np.sqrt(max(right + wrong - (right - wrong) ** 2, 0)))
    variance = float(np.mean(margin[known] ** 2) - strength**2)
    mean_spread = float(np.mean(spreads))
    return strength, variance / mean_spread**2 if mean_spread > 0 else 0.0
