"""Random train/test splits and subsamples, stratified by class."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

# A fifth of the rows is a usual test set; above the limit, more test rows hardly improve the estimate.
TEST_SHARE = 0.2
MAX_TEST_ROWS = 100_000
ROWS_OF_A_CLASS = 10  # minimum in a subsample, if the class has as many


@dataclass(frozen=True)
class StudySplit:
    """Row numbers of one train/test split, both sets in the order of the table."""

    number: int
    train: np.ndarray
    test: np.ndarray


def seed_of(random_state: int, *purpose: int | str) -> int:
    """Return a seed derived from the study's seed and a purpose, independent of what was drawn before."""
    words = [zlib.crc32(str(word).encode()) for word in purpose]
    state = np.random.SeedSequence([random_state, *words]).generate_state(1)
    return int(state[0] & 0x7FFFFFFF)


def test_size(n_rows: int) -> int:
    """Return the number of test rows for a table."""
    return int(min(max(round(TEST_SHARE * n_rows), 2), MAX_TEST_ROWS))


test_size.__test__ = False  # type: ignore[attr-defined]  # pytest must not collect it


def split_rows(y: np.ndarray, number: int, random_state: int, *, stratify: bool) -> StudySplit:
    """Return a random train/test split; with `stratify`, both sets have the class proportions of the table.

    Every class with at least two rows then occurs in both sets.
    """
    rng = np.random.default_rng(seed_of(random_state, "split", number))
    n = len(y)
    size = test_size(n)
    if not stratify:
        test = np.sort(rng.permutation(n)[:size])
    else:
        test = np.sort(sample_by_class(y, size, rng))
    train = np.setdiff1d(np.arange(n), test, assume_unique=True)
    return StudySplit(number, train, test)


def sample_by_class(y: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw about `size` rows in the class proportions of y.

    At least one row of each class is drawn and, if the class has more than one, at least one is not.
    """
    _, numbers, counts = np.unique(y, return_inverse=True, return_counts=True)
    exact = counts * size / len(y)
    n_drawn = np.floor(exact).astype(int)
    # Rows lost by rounding down go to the classes with the largest remainders.
    short = size - int(n_drawn.sum())
    n_drawn[np.argsort(-(exact - n_drawn), kind="stable")[:short]] += 1
    n_drawn = np.clip(n_drawn, 1, np.maximum(counts - 1, 1))
    order = rng.permutation(len(y))
    by_class = order[np.argsort(numbers[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return np.concatenate(
        [by_class[start : start + take] for start, take in zip(starts, n_drawn, strict=True)]
    )


def subsample(y: np.ndarray, size: int, seed: int, *, stratify: bool) -> np.ndarray:
    """Return the sorted numbers of about `size` random rows.

    With `stratify`, they have the class proportions of y and at least ten rows per class, if it has as many.
    """
    rng = np.random.default_rng(seed)
    if not stratify:
        return np.sort(rng.permutation(len(y))[:size])
    drawn = sample_by_class(y, size, rng)
    return np.sort(np.concatenate([drawn, _further_rows_of_small_classes(y, drawn)]))


def _further_rows_of_small_classes(y: np.ndarray, drawn: np.ndarray) -> np.ndarray:
    """Return further rows of classes with fewer than ten drawn rows, so that all folds contain the class."""
    labels, counts = np.unique(y[drawn], return_counts=True)
    small_classes = labels[counts < ROWS_OF_A_CLASS]
    undrawn = np.setdiff1d(np.arange(len(y)), drawn)
    added = [np.zeros(0, dtype=np.intp)]
    for label in small_classes:
        n_drawn = int((y[drawn] == label).sum())
        added.append(undrawn[y[undrawn] == label][: ROWS_OF_A_CLASS - n_drawn])
    return np.concatenate(added)
