"""Splits and folds that follow the design of a table.

With a time, models are tested on rows that are later than those they were trained on. Groups are never
divided. A fixed split is used as given. Without any of these, rows are split at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bosquet.study.table.design import Design
from bosquet.study.table.splits import MAX_TEST_ROWS, TEST_SHARE, StudySplit, seed_of, split_rows

BLOCK = 0.1  # share of the rows in a test block
MAX_BLOCKS = 5
MIN_BLOCKS = 3  # needed for a prediction interval of the score on the next block
MIN_TRAINING = 0.5  # minimum share of the rows before the earliest test block
BEFORE_FOLDS = 0.25  # minimum share of the rows before the earliest cross-validation fold
DRAWS = 20  # random test sets of groups, of which the most representative is used

RowPair = tuple[np.ndarray, np.ndarray]  # training rows, rows to predict


@dataclass(frozen=True)
class Splits:
    """The train/test splits of a study, which follow its design."""

    design: Design
    y: np.ndarray
    random_state: int
    stratify: bool

    @property
    def kind(self) -> Literal["time", "fixed", "group", "random"]:
        """How rows are split: by time, as given ("fixed"), by group or at random."""
        if self.design.splitter_splits is not None:
            return "fixed"
        if self.design.time is not None:
            return "time"
        if self.design.split is not None:
            return "fixed"
        return "random" if self.design.group is None else "group"

    @property
    def max_splits(self) -> int | None:
        """The number of splits that the design allows; None for no limit."""
        if self.design.splitter_splits is not None:
            return len(self.design.splitter_splits)
        if self.design.time is not None:
            return len(time_blocks(self.design.time))
        if self.design.split is not None:
            return int(self.design.split.max()) + 1
        return None

    def split(self, number: int) -> StudySplit:
        """Return a split by its number; with a time, number 0 has the latest test rows."""
        design = self.design
        if self.max_splits is not None and number >= self.max_splits:
            raise ValueError(
                f"split {number} does not exist; the design has {self.max_splits} splits, numbered from 0"
            )
        if design.splitter_splits is not None:
            return StudySplit(number, *design.splitter_splits[number])
        if design.time is not None:
            train, test = time_split(design.time, number, design.group)
            return StudySplit(number, train, test)
        if design.split is not None:
            is_test = design.split == number
            return StudySplit(number, np.flatnonzero(~is_test), np.flatnonzero(is_test))
        if design.group is not None:
            seed = seed_of(self.random_state, "split", number)
            train, test = group_split(design.group, self.y, seed, stratify=self.stratify)
            return StudySplit(number, train, test)
        return split_rows(self.y, number, self.random_state, stratify=self.stratify)


# ------------------------------------------------------------------------------------------- time
def time_blocks(
    time: np.ndarray,
    share: float = BLOCK,
    max_blocks: int = MAX_BLOCKS,
    min_training_share: float = MIN_TRAINING,
) -> list[tuple[float, float]]:
    """Return the first and last time of each test block, the latest block first.

    Each block has about a `share` of the rows, and at least a `min_training_share` of the rows precedes all
    blocks. Rows of equal time are in the same block.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.study.table.design_splits import time_blocks
    >>> time_blocks(np.arange(100.0), max_blocks=2)
    [(90.0, 99.0), (80.0, 89.0)]
    """
    times, counts = np.unique(time, return_counts=True)
    ends = np.cumsum(counts)  # number of rows up to and including each time
    n_rows = len(time)
    size = min(max(round(share * n_rows), 1), MAX_TEST_ROWS)
    blocks: list[tuple[float, float]] = []
    last = len(times) - 1
    while last > 0 and len(blocks) < max_blocks:
        rows_before = ends[last] - size
        # The first time of the block gives the size nearest to the wanted one and leaves earlier rows.
        first = int(np.abs(ends[:last] - rows_before).argmin()) + 1
        if blocks and ends[first - 1] < min_training_share * n_rows:
            break
        blocks.append((float(times[first]), float(times[last])))
        last = first - 1
    return blocks


def time_split(time: np.ndarray, number: int, group: np.ndarray | None = None) -> RowPair:
    """Return the rows of a test block and the earlier rows whose groups do not occur in the block."""
    first, last = time_blocks(time)[number]
    train, test = _before_and_within(time, group, first, last)
    if not len(train):
        raise ValueError(
            f"all groups before time {first:g} also occur in the test rows, so there are no training rows;"
            " pass only time or only group"
        )
    return train, test


def _before_and_within(
    time: np.ndarray, group: np.ndarray | None, first: float, last: float
) -> RowPair:
    """Return the rows before a block whose groups are not in it, and the rows of the block."""
    before, within = time < first, (time >= first) & (time <= last)
    if group is not None:
        before &= ~np.isin(group, group[within])
    return np.flatnonzero(before), np.flatnonzero(within)


def _forward_folds(design: Design, blocks: list[tuple[float, float]]) -> list[RowPair]:
    """Return folds in which each block is predicted from the rows before it.

    Groups are divided only if no training rows would be left otherwise.
    """
    assert design.time is not None
    for group in (design.group, None):
        folds = [_before_and_within(design.time, group, *block) for block in reversed(blocks)]
        folds = [fold for fold in folds if len(fold[0])]
        if folds:
            return folds
    return []


# ------------------------------------------------------------------------------------------ group
def group_split(group: np.ndarray, y: np.ndarray, seed: int, *, stratify: bool) -> RowPair:
    """Return a split into whole groups, about a fifth of the rows in the test set.

    Of several random draws it is the one whose test set is most similar to the table in size and in y.
    """
    rng = np.random.default_rng(seed)
    codes, sizes = _encode_groups(group)
    test_rows = min(TEST_SHARE * len(group), MAX_TEST_ROWS)
    truth = (y[:, None] == np.unique(y)) if stratify else y[:, None].astype(float)
    scale = np.maximum(truth.std(axis=0), 1e-300)
    best: tuple[float, np.ndarray] | None = None
    for _ in range(DRAWS):
        order = rng.permutation(sizes.size)
        is_test_group = np.zeros(sizes.size, dtype=bool)
        filled = np.cumsum(sizes[order])
        # At least one group remains for training.
        count = int(np.abs(filled[:-1] - test_rows).argmin()) + 1
        is_test_group[order[:count]] = True
        is_test = is_test_group[codes]
        deviation = abs(is_test.sum() - test_rows) / len(group)
        deviation += float((np.abs(truth[is_test].mean(axis=0) - truth.mean(axis=0)) / scale).max())
        if best is None or deviation < best[0]:
            best = deviation, is_test
    assert best is not None
    return np.flatnonzero(~best[1]), np.flatnonzero(best[1])


def group_fold_numbers(group: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """Return the fold number of each row; rows of a group share a fold, and folds have nearly equal sizes."""
    codes, sizes = _encode_groups(group)
    folds = min(folds, sizes.size)
    rng = np.random.default_rng(seed)
    order = rng.permutation(sizes.size)
    order = order[np.argsort(-sizes[order], kind="stable")]  # the largest groups first
    filled = np.zeros(folds)
    number = np.empty(sizes.size, dtype=np.intp)
    for code in order:
        number[code] = int(filled.argmin())
        filled[number[code]] += sizes[code]
    return number[codes]


def _encode_groups(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return consecutive group codes from 0, and the number of rows of each group."""
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return codes, sizes


# ------------------------------------------------------------------------------------------ folds
def design_folds(design: Design, folds: int, seed: int) -> list[RowPair] | None:
    """Return cross-validation folds that follow the design; None if random folds are allowed.

    With a time, each fold is predicted from the rows before it, so the earliest rows are never predicted.
    """
    if design.time is not None:
        blocks = time_blocks(design.time, 1 / (folds + 1), folds, BEFORE_FOLDS)
        return _forward_folds(design, blocks) or None
    if design.group is None:
        return None
    return _folds_of(group_fold_numbers(design.group, folds, seed))


def design_validation(design: Design, share: float, seed: int) -> RowPair | None:
    """Return training rows and a validation set that follow the design; None if random rows are allowed."""
    if design.time is not None:
        folds = _forward_folds(design, time_blocks(design.time, share, 1))
        return folds[0] if folds else None
    if design.group is None:
        return None
    return _folds_of(group_fold_numbers(design.group, max(2, round(1 / share)), seed))[0]


def _folds_of(number: np.ndarray) -> list[RowPair]:
    return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in np.unique(number)]


class PreparedFolds:
    """Fixed cross-validation folds with the interface of a scikit-learn splitter; each row is predicted once.

    With a time, the folds are consecutive blocks of time, and each block is predicted from all others. Such
    folds serve to stack or to calibrate models, which are then tested on later rows.
    """

    def __init__(self, folds: Sequence[RowPair]):
        self.folds = list(folds)

    @classmethod
    def of(cls, design: Design, folds: int, seed: int) -> PreparedFolds | None:
        """Return the folds of a design; None if random folds are allowed."""
        if design.time is not None:
            rank = np.unique(design.time, return_inverse=True)[1]
            ends = np.cumsum(np.bincount(rank))
            number = np.minimum((ends - 1) * folds // len(rank), folds - 1)[rank]
        elif design.group is not None:
            number = group_fold_numbers(design.group, folds, seed)
        else:
            return None
        return cls(_folds_of(number))

    def split(self, X: object = None, y: object = None, groups: object = None) -> list[RowPair]:
        """Return the pairs of training rows and rows to predict."""
        return self.folds

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        return len(self.folds)
