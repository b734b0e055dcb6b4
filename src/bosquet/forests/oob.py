"""The out-of-bag record: what each row is told by the trees that did not see it.

Two errors go by this name (both are kept):

- the error of the vote over the trees that did not see a row, the usual one, after each number of trees;
- the mean over trees of a tree's error on the rows that it did not see.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from bosquet.data import take_rows
from bosquet.trees._growing import Target, class_shares

# The out-of-bag error has settled when its mean over the last so many trees lies within this share of a
# standard error of its mean over as many trees before.
WINDOW, CLOSE = 40, 0.1


class OutOfBag:
    """Adds trees one by one; rows are judged by those that they were out of the bag of.

    Parameters
    ----------
    kind : "soft", "hard" (classes) or "mean" (numbers)
    target : the training target
    rows : how many rows there are
    """

    def __init__(self, kind: str, target: Target, rows: int):
        self.kind = kind
        self.target = target
        self.sums = np.zeros((rows, target.outputs))
        self.counts = np.zeros(rows, dtype=np.int64)
        self.losses = np.zeros(rows)
        self.curve: list[float] = []
        self.tree_errors: list[float] = []

    def add(
        self, ensemble: Any, tree: int, columns: Any, out_of_bag: np.ndarray, threads: int
    ) -> None:
        rows = np.flatnonzero(out_of_bag)
        if rows.size:
            said = self._answers(
                ensemble.predict_raw(take_rows(columns, rows), tree, tree + 1, threads)
            )
            self.tree_errors.append(float(self._losses(said, rows).mean()))
            self.sums[rows] += said
            self.counts[rows] += 1
            mean = self.sums[rows] / self.counts[rows, None]
            self.losses[rows] = self._losses(mean, rows)
        seen = int((self.counts > 0).sum())
        self.curve.append(float(self.losses.sum() / seen) if seen else np.nan)

    def _answers(self, raw: np.ndarray) -> np.ndarray:
        if self.kind == "mean":
            return raw
        shares = class_shares(raw)
        if self.kind == "soft":
            return shares
        votes = np.zeros_like(shares)
        votes[np.arange(len(votes)), shares.argmax(axis=1)] = 1
        return votes

    def _losses(self, said: np.ndarray, rows: np.ndarray) -> np.ndarray:
        if self.kind == "mean":
            return ((said - self.target.values[:, rows].T) ** 2).mean(axis=1)
        return (said.argmax(axis=1) != self.target.values[rows]).astype(float)

    def means(self) -> np.ndarray:
        """What each row was told on average; NaN where no tree left it out."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return self.sums / self.counts[:, None]

    def report(self, forest: Any) -> None:
        """Set the out-of-bag attributes of a forest."""
        never = np.flatnonzero(self.counts == 0)
        if never.size:
            warnings.warn(
                f"{never.size} row{'s were' if never.size > 1 else ' was'} in every bag"
                f" (the first is row {never[0]}), so nothing out-of-bag is known of"
                f" {'them' if never.size > 1 else 'it'}; grow more trees",
                UserWarning,
                stacklevel=5,
            )
        forest.oob_curve_ = np.asarray(self.curve)
        forest.oob_error_ = self.curve[-1]
        forest.oob_tree_error_ = float(np.mean(self.tree_errors))
        forest._set_oob(self)


def has_settled(curve: list[float], rows: int) -> bool:
    """Whether more trees would hardly change the out-of-bag error."""
    if len(curve) < 2 * WINDOW:
        return False
    last, before = float(np.mean(curve[-WINDOW:])), float(np.mean(curve[-2 * WINDOW : -WINDOW]))
    # For a share of errors this is its standard error; for squared errors, of about the same size.
    spread = np.sqrt(max(last * (1 - last), 0) / rows) if last < 1 else last / np.sqrt(rows)
    return bool(before - last <= CLOSE * max(spread, last / np.sqrt(rows)))
