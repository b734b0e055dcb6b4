"""Which rows are for learning and which for testing, in each repeat."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

# A quarter or a fifth is usual for a test set; beyond some rows more of them add little.
TEST_SHARE = 0.2
MOST_TEST_ROWS = 100_000
ROWS_OF_A_CLASS = 10  # in a subsample


@dataclass(frozen=True)
class Split:
    """Row numbers of one repeat, each part in order of the table."""

    number: int
    train: np.ndarray
    test: np.ndarray


def seed_of(random_state: int, *what: int | str) -> int:
    """A seed that follows from the study's and from what it is for, whatever was drawn before."""
    words = [zlib.crc32(str(one).encode()) for one in what]
    state = np.random.SeedSequence([random_state, *words]).generate_state(1)
    return int(state[0] & 0x7FFFFFFF)


def test_size(n_rows: int) -> int:
    """The number of test rows."""
    return int(min(max(round(TEST_SHARE * n_rows), 2), MOST_TEST_ROWS))


test_size.__test__ = False  # type: ignore[attr-defined]  # not for pytest to collect


def split_rows(y: np.ndarray, number: int, random_state: int, *, stratify: bool) -> Split:
    """The split of one repeat: at random, and by class in the same shares in both parts.

    Every class of two rows or more has rows on both sides.
    """
    random = np.random.default_rng(seed_of(random_state, "split", number))
    n = len(y)
    size = test_size(n)
    if not stratify:
        test = np.sort(random.permutation(n)[:size])
    else:
        test = np.sort(sample_by_class(y, size, random))
    train = np.setdiff1d(np.arange(n), test, assume_unique=True)
    return Split(number, train, test)


def sample_by_class(y: np.ndarray, size: int, random: np.random.Generator) -> np.ndarray:
    """About `size` rows, each class by its share; one at least of each, and one at least left."""
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    exact = counts * size / len(y)
    wanted = np.floor(exact).astype(int)
    # The largest remainders get the rows that rounding down has left over.
    short = size - int(wanted.sum())
    wanted[np.argsort(-(exact - wanted), kind="stable")[:short]] += 1
    wanted = np.clip(wanted, 1, np.maximum(counts - 1, 1))
    order = random.permutation(len(y))
    by_class = order[np.argsort(numbers[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.concatenate(
        [by_class[start : start + take] for start, take in zip(starts, wanted, strict=True)]
    )


def subsample(y: np.ndarray, size: int, seed: int, *, stratify: bool) -> np.ndarray:
    """Numbers of about `size` rows in order, each class by its share, and ten rows of it if it has them."""
    random = np.random.default_rng(seed)
    if not stratify:
        return np.sort(random.permutation(len(y))[:size])
    drawn = sample_by_class(y, size, random)
    return np.sort(np.concatenate([drawn, _missing_of_small_classes(y, drawn)]))


def _missing_of_small_classes(y: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Further rows of classes that a draw has fewer than ten of: folds within it need some of each."""
    labels, counts = np.unique(y[drawn], return_counts=True)
    few = labels[counts < ROWS_OF_A_CLASS]
    rest = np.setdiff1d(np.arange(len(y)), drawn)
    found = [np.zeros(0, dtype=np.intp)]
    for label in few:
        there = int((y[drawn] == label).sum())
        found.append(rest[y[rest] == label][: ROWS_OF_A_CLASS - there])
    return np.concatenate(found)
