"""The number of rounds by cross-validation: the models of all folds are boosted side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from bosquet._types import Splitter

RowPair = tuple[np.ndarray, np.ndarray]  # training rows, validation rows

# Rounds that a fold runs before it waits for the others: enough to hide the cost of starting a task.
BLOCK_ROUNDS = 16


def fold_rows(rows: int, folds: int, seed: int, strata: np.ndarray | None) -> list[RowPair]:
    """Training and validation rows of each fold, ascending; stratified if every class has enough rows."""
    from sklearn.model_selection import KFold, StratifiedKFold

    if rows < 2:
        raise ValueError(
            f"early_stopping='cv' needs at least 2 rows, but there is {rows}; set early_stopping=False"
        )
    folds = min(folds, rows)
    if strata is not None and np.bincount(strata).min() < folds:
        strata = None
    kind = KFold if strata is None else StratifiedKFold
    splitter = kind(folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(rows), strata))


def given_folds(
    splitter: Splitter | list[RowPair], y: np.ndarray, rows: int, counting: np.ndarray | None
) -> list[RowPair]:
    """Training and validation rows of each split of a table, by a splitter or a list of splits.

    Only the `counting` rows of the table are used (None: all); `y` and the result refer to them.
    """
    counting = np.arange(rows) if counting is None else counting
    number = np.full(rows, -1)
    number[counting] = np.arange(counting.size)
    table_y = np.zeros(rows, y.dtype)
    table_y[counting] = y
    folds: list[RowPair] = []
    if isinstance(splitter, list):
        splits: Iterable[RowPair] = splitter
    else:
        splits = splitter.split(np.empty((rows, 0)), table_y)
    for split in splits:
        train, held = (number[part][number[part] >= 0] for part in split)
        if not train.size or not held.size:
            raise ValueError(
                f"split {len(folds)} of cv has {train.size} training rows and {held.size} validation rows"
                " with a positive weight; both must have at least one"
            )
        folds.append((np.sort(train), np.sort(held)))
    return folds


@dataclass
class RoundCounter:
    """The number of rounds of all folds, as `run_rounds` reads it."""

    n_rounds: int = 0


class FoldsStepper:
    """Adds a round to the model of every fold; its losses are the means over the folds.

    The folds run ahead of `step` in blocks of rounds, each fold in one thread. The losses of a round do not
    depend on the size of the blocks or the number of threads.
    """

    def __init__(self, steppers: Sequence[Any], weights: Sequence[float], threads: int):
        self.steppers = list(steppers)
        self.weights = np.array(weights) / np.sum(weights)
        self.threads = min(threads, len(self.steppers))
        self.terms = RoundCounter()
        self._losses: list[tuple[float, float]] = []  # of training and validation, after each round

    def step(self) -> None:
        if self.terms.n_rounds == len(self._losses):
            self._run_block()
        self.terms.n_rounds += 1

    def _run_block(self) -> None:
        if self.threads > 1:
            with ThreadPoolExecutor(self.threads) as pool:
                by_fold = list(pool.map(_boost_block, self.steppers))
        else:
            by_fold = [_boost_block(stepper) for stepper in self.steppers]
        means = np.einsum("f,frl->rl", self.weights, np.array(by_fold))
        self._losses += [(float(train), float(validation)) for train, validation in means]

    def train_loss(self) -> float:
        return self._losses[self.terms.n_rounds - 1][0]

    def validation_loss(self) -> float:
        return self._losses[self.terms.n_rounds - 1][1]


def _boost_block(stepper: Any) -> list[tuple[float, float]]:
    losses = []
    for _ in range(BLOCK_ROUNDS):
        stepper.step()
        losses.append((stepper.train_loss(), stepper.validation_loss()))
    return losses
