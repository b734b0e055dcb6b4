"""Several models boosted side by side: the folds of a cross-validation, and the runs of a mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bosquet.boosting.rounds import Stepper

if TYPE_CHECKING:
    from bosquet._types import Splitter

Result = TypeVar("Result")

RowPair = tuple[np.ndarray, np.ndarray]  # training rows, validation rows

# Rounds that a model runs before it waits for the others: enough to hide the cost of starting a task, and few
# enough that Ctrl-C stops a fit soon.
BLOCK_ROUNDS = 16

# The models of folds have fewer training rows than the final model, which overfits later: it has more rounds
# in proportion to its rows. With TimeSeriesSplit the first folds are very small, hence the limit.
_MAX_FACTOR_OF_ROUNDS = 1.25


def fold_rows(n_rows: int, folds: int, seed: int, strata: np.ndarray | None) -> list[RowPair]:
    """Return training and validation rows of each fold, ascending, stratified if every class has enough."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if n_rows < 2:
        raise ValueError(
            f"early_stopping='cv' needs at least 2 rows, but there is {n_rows}; set early_stopping=False"
        )
    folds = min(folds, n_rows)
    if strata is not None and np.bincount(strata).min() < folds:
        strata = None
    kind = KFold if strata is None else StratifiedKFold
    splitter = kind(folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(n_rows), strata))


def given_folds(
    cv: Splitter | Sequence[RowPair], y: np.ndarray, n_rows: int, weighted_rows: np.ndarray | None
) -> list[RowPair]:
    """Return training and validation rows of each split of a table, by a splitter or a list of splits.

    Only the `weighted_rows` of the table are used (None: all); `y` and the result refer to them.
    """
    weighted_rows = np.arange(n_rows) if weighted_rows is None else weighted_rows
    number = np.full(n_rows, -1)
    number[weighted_rows] = np.arange(weighted_rows.size)
    table_y = np.zeros(n_rows, y.dtype)
    table_y[weighted_rows] = y
    folds: list[RowPair] = []
    splits = cv.split(np.empty((n_rows, 0)), table_y) if hasattr(cv, "split") else cv
    for split in splits:
        train, validation = (_to_row_numbers(part, number, len(folds)) for part in split)
        if not train.size or not validation.size:
            raise ValueError(
                f"split {len(folds)} of cv has {train.size} training rows and {validation.size} validation"
                " rows with a positive weight; both must have at least one"
            )
        folds.append((train, validation))
    if not folds:
        raise ValueError("cv has no splits; pass at least one")
    return folds


def rounds_on_all_rows(best_round: int, folds: Sequence[RowPair], n_rows: int) -> int:
    """Return the number of rounds on all rows, from the best number of rounds of the folds."""
    factor = n_rows / float(np.mean([train.size for train, _ in folds]))
    return round(best_round * min(factor, _MAX_FACTOR_OF_ROUNDS))


def _to_row_numbers(rows: Any, number: np.ndarray, split: int) -> np.ndarray:
    """Return the numbers of the given rows of the table, ascending, without those that are -1."""
    indices = np.asarray(rows)
    if indices.dtype.kind not in "iu" or (
        indices.size and not 0 <= indices.min() <= indices.max() < number.size
    ):
        raise ValueError(
            f"split {split} of cv contains rows that are not in X; pass row numbers from 0 to"
            f" {number.size - 1}"
        )
    found = number[indices]
    return np.sort(found[found >= 0])


@dataclass
class RoundCounter:
    """The number of rounds of all folds, as `run_rounds` reads it."""

    n_rounds: int = 0


class FoldsStepper:
    """Adds a round to the model of every fold; its losses are the means over the folds.

    The folds run ahead of `step` in blocks of rounds, each fold in one thread. The losses of a round do not
    depend on the size of the blocks or the number of threads.
    """

    def __init__(self, steppers: Sequence[Stepper], weights: Sequence[float], threads: int):
        self.steppers = list(steppers)
        self.weights = np.array(weights) / np.sum(weights)
        self.threads = threads
        self.terms = RoundCounter()
        self._losses: list[tuple[float, float]] = []  # of training and validation, after each round

    def step(self) -> None:
        if self.terms.n_rounds == len(self._losses):
            self._run_block()
        self.terms.n_rounds += 1

    def _run_block(self) -> None:
        by_fold = _run_side_by_side(_boost_block, self.steppers, self.threads)
        means = np.einsum("f,frl->rl", self.weights, np.array(by_fold))
        self._losses += [(float(train), float(validation)) for train, validation in means]

    def train_loss(self) -> float:
        return self._losses[self.terms.n_rounds - 1][0]

    def validation_loss(self) -> float:
        return self._losses[self.terms.n_rounds - 1][1]


def _boost_block(stepper: Stepper) -> list[tuple[float, float | None]]:
    losses = []
    for _ in range(BLOCK_ROUNDS):
        stepper.step()
        losses.append((stepper.train_loss(), stepper.validation_loss()))
    return losses


def boost_side_by_side(steppers: Sequence[Stepper], n_rounds: int, threads: int) -> None:
    """Add rounds to several models until each has `n_rounds`; each model runs in one thread at a time."""
    for end in range(BLOCK_ROUNDS, n_rounds + BLOCK_ROUNDS, BLOCK_ROUNDS):
        boost_block = partial(_boost_until, min(end, n_rounds))
        _run_side_by_side(boost_block, steppers, threads)


def _boost_until(n_rounds: int, stepper: Stepper) -> None:
    while stepper.terms.n_rounds < n_rounds:
        stepper.step()


def _run_side_by_side(
    task: Callable[[Stepper], Result], steppers: Sequence[Stepper], threads: int
) -> list[Result]:
    """Return the results of a task for each stepper, in order."""
    threads = min(threads, len(steppers))
    if threads == 1:
        return [task(stepper) for stepper in steppers]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(task, steppers))
