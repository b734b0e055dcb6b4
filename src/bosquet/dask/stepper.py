"""ClusterStepper: adds the trees of a round, grown by all workers together."""

from __future__ import annotations

import logging
import time
import uuid
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bosquet import _core
from bosquet._warnings import warn_user
from bosquet.boosting.gradient.distributed import EncodedRows, TreeTerms
from bosquet.dask import worker_fits
from bosquet.dask.cluster import MAX_LOSSES, ClusterWorker, LostWorkersError
from bosquet.dask.shares import FitPartition, divide, fit_partitions
from bosquet.dask.worker_fits import BoostedRound, FitSetup, RowsOfPartitions
from bosquet.losses import NativeLoss
from bosquet.trees.binning import learn_bins
from bosquet.trees.copying import add_copy

if TYPE_CHECKING:
    from bosquet.dask.columns import PartitionedColumns

logger = logging.getLogger(__name__)

# Workers run rounds for about this long before they report: a call takes some milliseconds, and Ctrl-C, a
# callback or early stopping wait for its end.
SECONDS_PER_CALL = 0.5
# The first call is short, and each one twice as long as the one before: the last call may run rounds that the
# fit does not need.
SECONDS_OF_FIRST_CALL = 0.02
# The workers are counted this often: new ones take part from the next round on.
_SECONDS_BETWEEN_COUNTS = 5.0


class ClusterStepper:
    """The counterpart of `TreeStepper` for columns in the partitions of a collection.

    Workers hold the bins of their partitions. If one is lost, the others start again from the trees so far:
    its partitions are read by other workers, and the round is repeated. All sums are sums of integers, so the
    trees do not depend on the division of the rows among workers.
    """

    def __init__(
        self,
        columns: PartitionedColumns,
        train: EncodedRows,
        validation: EncodedRows | None,
        loss: NativeLoss,
        terms: TreeTerms | None,
        *,
        categories: list[int],
        options: dict[str, Any],
        max_bins: int,
        vector_leaves: bool,
    ):
        start = time.perf_counter()
        self._cluster = columns.cluster
        self.bins = learn_bins(
            columns, categories, train.weight, max_bins=max_bins, seed=options["seed"], threads=1
        )
        if terms is None:
            base = loss.best_constants(train.target, train.weight, train.offset)
            ensemble = _core.Ensemble(
                len(categories), loss.outputs, [float(b) for b in base], categories, vector_leaves
            )
            terms = TreeTerms(ensemble)
        self.terms = terms
        self._train, self._validation = train, validation
        self._partitions = fit_partitions(columns, validation)
        self._setup = FitSetup(
            loss, self.bins, options, categories, vector_leaves,
            (train.n_rows, 0 if validation is None else validation.n_rows), columns.memory_limit,
            np.asarray(terms.ensemble.base, dtype=float), None,
        )  # fmt: skip
        self._workers: list[ClusterWorker] = []  # the worker of each part
        self._seconds = SECONDS_OF_FIRST_CALL
        self._name = ""
        self._counted = 0.0  # when the workers were counted last
        self._ahead: deque[BoostedRound] = deque()  # rounds that workers have finished
        self._last: BoostedRound | None = None
        self._timings: dict[str, float] = {}
        self._retrying(self._load)
        self._loading_seconds = time.perf_counter() - start

    # ------------------------------------------------------------------ as TreeStepper
    def step(self) -> None:
        if not self._ahead:
            self._ahead.extend(self._retrying(self._boost))
        self._last = self._ahead.popleft()
        trees = self._last.trees
        assert trees is not None
        for tree in range(trees.n_trees):
            add_copy(self.terms.ensemble, trees, tree)

    def train_loss(self) -> float:
        assert self._last is not None
        return self._last.train_loss

    def validation_loss(self) -> float | None:
        assert self._last is not None
        return self._last.validation_loss

    def timings(self) -> dict[str, float]:
        """Seconds by phase; those of growing are of one worker, summed over its threads."""
        if self._workers:
            first = self._workers[0].address
            with suppress(LostWorkersError):
                self._timings = self._cluster.call(worker_fits.timings, {first: (self._name,)})[
                    first
                ]
        return {"bin": self._loading_seconds, **self._timings}

    def release(self) -> None:
        """Free the bins on the workers; only the terms and the timings remain."""
        self.timings()
        self._close()
        self._partitions = []
        del self._train, self._validation, self._setup

    def __del__(self) -> None:
        # A fit that ends with an error or Ctrl-C does not call `release`.
        if getattr(self, "_workers", None):
            self._close()

    # ------------------------------------------------------------------ workers
    def _retrying(self, work: Any) -> Any:
        """Do the work; if workers are lost, load the partitions elsewhere and do it again."""
        for _ in range(MAX_LOSSES):
            try:
                if not self._workers and work != self._load:
                    self._load()
                return work()
            except LostWorkersError as error:
                logger.warning("%s; continuing on the other workers", error)
                last = error
                self._close()
            except BaseException:
                self._close()
                raise
        raise RuntimeError(
            f"the fit lost workers {MAX_LOSSES} times without finishing a round: {last}"
        ) from last

    def _boost(self) -> list[BoostedRound]:
        """Run rounds on all workers; return those that they have finished."""
        if time.monotonic() - self._counted > _SECONDS_BETWEEN_COUNTS:
            self._welcome_new_workers()
        seconds = min(self._seconds, SECONDS_PER_CALL)
        self._seconds = 2 * seconds
        call = {w.address: (self._name, seconds) for w in self._workers}
        return self._cluster.call(worker_fits.boost, call)[self._workers[0].address]

    def _welcome_new_workers(self) -> None:
        """Divide the partitions again if there are workers without any."""
        self._counted = time.monotonic()
        present = self._cluster.workers()
        can_have = min(len(present), sum(p.n_training_rows > 0 for p in self._partitions))
        if can_have > len(self._workers):
            logger.info("dividing the partitions among %d workers", can_have)
            self._close()
            self._load()

    def _load(self) -> None:
        """Let every worker read and bin its partitions, and connect the workers."""
        workers = self._cluster.ready_workers()
        self._counted = time.monotonic()
        shares = divide(self._partitions, workers)
        if not self.terms.n_rounds and len(shares) < len(workers):
            warn_user(
                f"{len(workers) - len(shares)} of {len(workers)} workers have nothing to do, because the"
                f" collection has {len(self._partitions)} partitions with training rows; divide it into more"
                " partitions (repartition, rechunk)"
            )
        self._workers = [worker for worker, _ in shares]
        self._name = uuid.uuid4().hex
        terms = self.terms.copy() if self.terms.n_rounds else None
        setup = replace(self._setup, terms=terms, options=self._options())
        self._cluster.call(
            worker_fits.begin,
            {
                worker.address: (self._name, setup, self._rows(share), worker.threads, worker.memory_limit)
                for worker, share in shares
            },
        )  # fmt: skip
        self._bin(shares)
        addresses = self._cluster.call(
            worker_fits.listen,
            {w.address: (self._name, rank, len(shares)) for rank, w in enumerate(self._workers)},
        )
        in_order = [addresses[worker.address] for worker in self._workers]
        self._cluster.call(
            worker_fits.start, {w.address: (self._name, in_order) for w in self._workers}
        )

    def _bin(self, shares: Sequence[tuple[ClusterWorker, list[FitPartition]]]) -> None:
        from dask import delayed

        tasks = []
        for worker, share in shares:
            done: Any = None
            for p in share:
                done = delayed(worker_fits.append, pure=False)(
                    self._name, worker.address, p.delayed, p.partition, p.reader, done
                )
            tasks.append(done)
        addresses = [worker.address for worker, _ in shares]
        self._cluster.compute_on(
            tasks, [[address] for address in addresses], lambda k: f"worker {addresses[k]}"
        )

    def _options(self) -> dict[str, Any]:
        """The core's options, whose random draws continue after the rounds so far."""
        return {**self._setup.options, "first_round": self.terms.n_rounds}

    def _rows(self, share: Sequence[FitPartition]) -> RowsOfPartitions:
        """The rows of the sets in the partitions of a worker."""
        sets = [self._train] if self._validation is None else [self._train, self._validation]
        return {p.partition.number: p.rows(sets) for p in share}

    def _close(self) -> None:
        """Free the parts on the workers that answer."""
        workers, self._workers = self._workers, []
        self._cluster.notify(worker_fits.close, {w.address: (self._name,) for w in workers})
