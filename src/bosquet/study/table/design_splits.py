"""Splits and folds that follow the design of a table.

Rows are ordered by time, so that no model is trained on rows later than those it is tested on; groups stay
together; a fixed split is taken as it is. Without any of these rows are split at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from bosquet.study.table.design import Design
from bosquet.study.table.splits import MOST_TEST_ROWS, TEST_SHARE, Split, seed_of, split_rows

BLOCK = 0.1  # share of the rows in a test block of time
MOST_BLOCKS = 5
FEWEST_BLOCKS = 3  # for an interval of the score on the next block
FEWEST_TRAINING = 0.5  # share of the rows before the earliest test block
BEFORE_FOLDS = 0.25  # ... and before the earliest fold of tuning
DRAWS = 20  # of groups for a test part, of which the one most like the table is taken

Part = tuple[np.ndarray, np.ndarray]  # rows to train on, rows to predict


@dataclass(frozen=True)
class Splits:
    """The splits of a study by its design, `most` in number; None where there is no limit."""

    design: Design
    y: np.ndarray
    random_state: int
    stratify: bool

    @property
    def kind(self) -> Literal["time", "fixed", "group", "random"]:
        """How rows are split: by time, as given ("fixed"), by group or at random."""
        if self.design.parts is not None:
            return "fixed"
        if self.design.time is not None:
            return "time"
        if self.design.split is not None:
            return "fixed"
        return "random" if self.design.group is None else "group"

    @property
    def most(self) -> int | None:
        if self.design.parts is not None:
            return len(self.design.parts)
        if self.design.time is not None:
            return len(time_blocks(self.design.time))
        if self.design.split is not None:
            return int(self.design.split.max()) + 1
        return None

    def split(self, number: int) -> Split:
        """The split of one repeat; the first is the one with the latest test rows."""
        design = self.design
        if self.most is not None and number >= self.most:
            raise ValueError(f"the design has {self.most} splits, and there is no split {number}")
        if design.parts is not None:
            return Split(number, *design.parts[number])
        if design.time is not None:
            train, test = time_split(design.time, number, design.group)
            return Split(number, train, test)
        if design.split is not None:
            held = design.split == number
            return Split(number, np.flatnonzero(~held), np.flatnonzero(held))
        if design.group is not None:
            seed = seed_of(self.random_state, "split", number)
            train, test = group_split(design.group, self.y, seed, stratify=self.stratify)
            return Split(number, train, test)
        return split_rows(self.y, number, self.random_state, stratify=self.stratify)


# ------------------------------------------------------------------------------------------- time
def time_blocks(
    time: np.ndarray, share: float = BLOCK, most: int = MOST_BLOCKS, least: float = FEWEST_TRAINING
) -> list[tuple[float, float]]:
    """First and last time of the test blocks, the latest first; equal times are never parted.

    Each block has about a `share` of the rows, and at least a share `least` of them is before the earliest.

    Examples
    --------
    >>> import numpy as np
    >>> from bosquet.study.table.design_splits import time_blocks
    >>> time_blocks(np.arange(100.0), most=2)
    [(90.0, 99.0), (80.0, 89.0)]
    """
    times, counts = np.unique(time, return_counts=True)
    ends = np.cumsum(counts)  # rows up to and with each time
    rows = len(time)
    size = min(max(round(share * rows), 1), MOST_TEST_ROWS)
    blocks: list[tuple[float, float]] = []
    last = len(times) - 1
    while last > 0 and len(blocks) < most:
        wanted = ends[last] - size
        # The first time of the block: the nearest to the size wanted, of those that leave something before.
        first = int(np.abs(ends[:last] - wanted).argmin()) + 1
        if blocks and ends[first - 1] < least * rows:
            break
        blocks.append((float(times[first]), float(times[last])))
        last = first - 1
    return blocks


def time_split(time: np.ndarray, number: int, group: np.ndarray | None = None) -> Part:
    """Training rows before a test block, and the block; groups of the block are not trained on."""
    first, last = time_blocks(time)[number]
    train, test = _before_and_within(time, group, first, last)
    if not len(train):
        raise ValueError(
            f"all groups of the rows before time {first:g} are in the test rows as well: pass time or group"
            " alone"
        )
    return train, test


def _before_and_within(
    time: np.ndarray, group: np.ndarray | None, first: float, last: float
) -> Part:
    """Rows before a block of time without the groups that are in it, and the rows of the block."""
    before, held = time < first, (time >= first) & (time <= last)
    if group is not None:
        before &= ~np.isin(group, group[held])
    return np.flatnonzero(before), np.flatnonzero(held)


def _forward_parts(design: Design, blocks: list[tuple[float, float]]) -> list[Part]:
    """Blocks of time, each predicted from the rows before it; groups are parted if nothing is left else."""
    assert design.time is not None
    for group in (design.group, None):
        parts = [_before_and_within(design.time, group, *block) for block in reversed(blocks)]
        parts = [part for part in parts if len(part[0])]
        if parts:
            return parts
    return []


# ------------------------------------------------------------------------------------------ group
def group_split(group: np.ndarray, y: np.ndarray, seed: int, *, stratify: bool) -> Part:
    """Whole groups for a fifth of the rows, of some draws the one in which y is most like the table's."""
    random = np.random.default_rng(seed)
    codes, sizes = _coded(group)
    wanted = min(TEST_SHARE * len(group), MOST_TEST_ROWS)
    truth = (y[:, None] == np.unique(y)) if stratify else y[:, None].astype(float)
    scale = np.maximum(truth.std(axis=0), 1e-300)
    best: tuple[float, np.ndarray] | None = None
    for _ in range(DRAWS):
        order = random.permutation(sizes.size)
        taken = np.zeros(sizes.size, dtype=bool)
        filled = np.cumsum(sizes[order])
        count = int(np.abs(filled[:-1] - wanted).argmin()) + 1  # one group at least is left
        taken[order[:count]] = True
        held = taken[codes]
        off = abs(held.sum() - wanted) / len(group)
        off += float((np.abs(truth[held].mean(axis=0) - truth.mean(axis=0)) / scale).max())
        if best is None or off < best[0]:
            best = off, held
    assert best is not None
    return np.flatnonzero(~best[1]), np.flatnonzero(best[1])


def group_fold_numbers(group: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """A fold for each row, the same for rows of one group; folds of nearly equal sizes."""
    codes, sizes = _coded(group)
    folds = min(folds, sizes.size)
    random = np.random.default_rng(seed)
    order = random.permutation(sizes.size)
    order = order[np.argsort(-sizes[order], kind="stable")]  # the largest groups first
    filled = np.zeros(folds)
    number = np.empty(sizes.size, dtype=np.intp)
    for one in order:
        number[one] = int(filled.argmin())
        filled[number[one]] += sizes[one]
    return number[codes]


def _coded(group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes from 0 on without gaps, and the rows of each."""
    _, codes, sizes = np.unique(group, return_inverse=True, return_counts=True)
    return codes, sizes


# ------------------------------------------------------------------------------------------ folds
def design_folds(design: Design, folds: int, seed: int) -> list[Part] | None:
    """Folds of training rows that follow their design; None where they may be drawn at random.

    With a time the later folds are predicted from the rows before them, so that not every row is predicted.
    """
    if design.time is not None:
        blocks = time_blocks(design.time, 1 / (folds + 1), folds, BEFORE_FOLDS)
        return _forward_parts(design, blocks) or None
    if design.group is None:
        return None
    return _parts_of(group_fold_numbers(design.group, folds, seed))


def design_validation(design: Design, share: float, seed: int) -> Part | None:
    """Training rows and validation rows that follow the design; None where they may be drawn at random."""
    if design.time is not None:
        parts = _forward_parts(design, time_blocks(design.time, share, 1))
        return parts[0] if parts else None
    if design.group is None:
        return None
    return _parts_of(group_fold_numbers(design.group, max(2, round(1 / share)), seed))[0]


def _parts_of(number: np.ndarray) -> list[Part]:
    return [(np.flatnonzero(number != k), np.flatnonzero(number == k)) for k in np.unique(number)]


class PreparedFolds:
    """Folds of rows for what takes a splitter of scikit-learn: each row is predicted once.

    With a time these are blocks of it in order. Every block is predicted from all others, so that they serve
    to combine or to calibrate models that are themselves compared on later rows.
    """

    def __init__(self, parts: Sequence[Part]):
        self.parts = list(parts)

    @classmethod
    def of(cls, design: Design, folds: int, seed: int) -> PreparedFolds | None:
        """The folds of a design; None where they may be drawn at random."""
        if design.time is not None:
            rank = np.unique(design.time, return_inverse=True)[1]
            ends = np.cumsum(np.bincount(rank))
            number = np.minimum((ends - 1) * folds // len(rank), folds - 1)[rank]
        elif design.group is not None:
            number = group_fold_numbers(design.group, folds, seed)
        else:
            return None
        return cls(_parts_of(number))

    def split(self, X: object = None, y: object = None, groups: object = None) -> list[Part]:
        """Pairs of training rows and rows to predict."""
        return self.parts

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        return len(self.parts)
