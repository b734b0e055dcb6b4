"""A round on the native trees: the core computes gradients, grows, and updates."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bosquet import _core
from bosquet.boosting._additive import TreeTerms
from bosquet.losses import CustomLoss, NativeLoss

# How many rows the bin edges are taken from; beyond that quantiles hardly move.
EDGE_ROWS = 200_000
# Values below which a second thread costs more than it brings: its steps are shorter than waking it.
SMALL_TABLE = 100_000


@dataclass
class Part:
    """Encoded columns with targets (targets, rows) and weights (empty: all 1).

    `unit` is what a weight of 1 has become: weights may have been scaled to suit single precision.
    """

    columns: Any
    target: np.ndarray
    weight: np.ndarray
    unit: float = 1.0

    @property
    def rows(self) -> int:
        return self.target.shape[1]


def instruction_set() -> str:
    """What the kernels run on: BOSQUET_ISA, for tests and for finding faults, or the best there is."""
    return os.environ.get("BOSQUET_ISA", "auto")


class TreeStepper:
    """Adds one native tree for each output a round."""

    def __init__(
        self,
        train: Part,
        validation: Part | None,
        loss: Any,
        terms: TreeTerms | None,
        *,
        categories: list[int],
        options: dict[str, Any],
        max_bins: int,
        threads: int,
    ):
        started = time.perf_counter()
        if train.rows * len(categories) < SMALL_TABLE:
            threads = 1
        seed, isa = options["seed"], instruction_set()
        bins = _core.learn_bins(
            train.columns, categories, train.weight, max_bins, EDGE_ROWS, seed, threads
        )
        matrix = _core.bin_table(train.columns, bins, isa, threads)
        self.loss = loss
        self.core_loss = core_loss(loss)
        self.fit = _core.Fit(
            matrix, bins, train.target, train.weight, self.core_loss, options, isa, threads
        )
        del matrix
        self.validation = validation
        if validation is not None:
            held = _core.bin_table(validation.columns, bins, isa, threads)
            self.fit.set_holdout(held, validation.target, validation.weight)
        self.train = train
        self.newton = options["newton"]
        self.binning_seconds = time.perf_counter() - started
        self._start(terms, threads, categories)

    def _start(self, terms: TreeTerms | None, threads: int, categories: list[int]) -> None:
        if terms is None:
            base = self.loss.best_constants(self.train.target, self.train.weight)
            ensemble = _core.Ensemble(
                len(categories), self.loss.outputs, [float(b) for b in base], categories
            )
            terms = TreeTerms(ensemble)
        self.terms = terms
        if terms.n_rounds == 0:
            self.fit.start_from(terms.ensemble.base)
        else:

            def raw(part: Part) -> np.ndarray:
                return np.ascontiguousarray(terms.raw(part.columns, threads).T)

            self.fit.start(raw(self.train), raw(self.validation) if self.validation else None)
        if isinstance(self.loss, CustomLoss):
            self.loss.compare_derivatives(self.train.target, self.fit.raw())

    def step(self) -> None:
        if isinstance(self.loss, NativeLoss):
            self.fit.round(self.terms.ensemble)
            return
        raw = self.fit.raw()
        gradient, hessian = self.loss.gradient_hessian(self.train.target, raw)
        pairs = np.stack([gradient, hessian], axis=2).astype(np.float32)
        if self.train.weight.size:
            pairs *= self.train.weight[None, :, None].astype(np.float32)
        if self.newton:
            self.fit.round(self.terms.ensemble, pairs)
            return

        def minimisers(leaf: np.ndarray, n_leaves: int, output: int) -> np.ndarray:
            return self.loss.leaf_minimisers(
                self.train.target, self.fit.raw(), self.train.weight, leaf, n_leaves, output
            )

        self.fit.round(self.terms.ensemble, pairs, minimisers)

    def train_loss(self) -> float:
        if isinstance(self.loss, NativeLoss):
            return self.fit.train_loss()
        return self.loss.mean(self.train.target, self.fit.raw(), self.train.weight)

    def validation_loss(self) -> float | None:
        if self.validation is None:
            return None
        if isinstance(self.loss, NativeLoss):
            return self.fit.holdout_loss()
        part = self.validation
        return self.loss.mean(part.target, self.fit.raw(holdout=True), part.weight)

    def timings(self) -> dict[str, float]:
        """Seconds by phase; those inside growing are added up over threads."""
        return {"bin": self.binning_seconds, **self.fit.timings()}


def core_loss(loss: NativeLoss | CustomLoss) -> _core.Loss:
    """The core's loss; for a user's own only the number of outputs matters there."""
    if isinstance(loss, NativeLoss):
        return loss.core
    return _core.Loss("squared_error", loss.outputs, loss.targets, [])
