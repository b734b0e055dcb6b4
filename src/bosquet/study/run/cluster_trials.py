"""Trials on the workers of a Dask cluster, one at a time per worker.

Every worker has the table and what else all trials share. A trial travels as its method, its limits in
seconds and the outcome of the first split; back come the outcome, the chosen candidate and, if it may become
the best model, the fitted estimator.
"""

from __future__ import annotations

import pickle
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle
from threadpoolctl import threadpool_limits

from bosquet.dask.cluster import Cluster
from bosquet.dask.worker_calls import EndedWorkersError, WorkerCalls
from bosquet.study.methods.method import Candidate
from bosquet.study.run.context import StudyContext
from bosquet.study.run.machine import limited_resources, n_parallel_fits
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.trial import TrialPlan, run_trial
from bosquet.study.run.trial_runner import Done
from bosquet.study.table.splits import StudySplit
from bosquet.study.tuning.stopping import stop_on

# Trials of one process would mix up their warnings, which Python collects per process.
_one_at_a_time = threading.Lock()
# The event that stops the running trial of this worker, by the identifier of its study.
_stop_events: dict[str, threading.Event] = {}


@dataclass(frozen=True, eq=False)
class _Started:
    """A trial that runs on a worker."""

    context: StudyContext
    split: int
    plan: TrialPlan
    done: Done
    started: float

    def seconds_to_limit(self) -> float:
        """Return the seconds until the soft limit; 0 after it or without one."""
        return max((self.plan.limits.soft or 0.0) - (time.monotonic() - self.started), 0.0)


class ClusterTrials:
    """Trials on the workers of a cluster; `n_jobs` is the number of parallel fits on each of them."""

    def __init__(self, cluster: Cluster, n_jobs: int | None):
        self.calls, self.n_jobs = WorkerCalls(cluster), n_jobs
        self._cluster, self._study = cluster, uuid.uuid4().hex
        self._running: list[_Started] = []

    @property
    def n_slots(self) -> int:
        return max(self.calls.n_workers, 1)

    def seconds_reserved(self) -> float:
        return sum(trial.seconds_to_limit() for trial in self._running)

    def wait_for_slot(self) -> None:
        while self.calls.n_running >= self.n_slots:
            self.wait_for_one()

    def wait_for_all(self) -> None:
        while self.calls.n_running:
            self.wait_for_one()

    def wait_for_one(self) -> None:
        for trial, result in self.calls.wait():
            self._running.remove(trial)
            if isinstance(result, EndedWorkersError):
                message = str(result)
                name, scope = trial.plan.method.name, trial.plan.scope
                outcome = Outcome(name, trial.split, "failed", message, scope=scope)
                trial.done(outcome, None)
                continue
            outcome, models = result
            candidate, estimator = _unpack(models)
            if trial.split == 0 and candidate is not None:
                trial.context.candidates[trial.plan.method.name] = candidate
            trial.done(outcome, estimator)

    def start(
        self,
        context: StudyContext,
        split: StudySplit,
        plan: TrialPlan,
        done: Done,
        *,
        best: float | None = None,
    ) -> None:
        method, first = plan.method, plan.first
        trial = _Started(context, split.number, plan, done, time.monotonic())
        if first is not None:  # its predictions are only needed for the report
            plan = replace(plan, first=replace(first, predictions=None, evaluation=None))
        self.calls.start(
            trial,
            f"the trial of {method.title}",
            _run_on_worker,
            [context, split],
            plan=plan,
            study=self._study,
            candidate=context.candidates.get(method.name) if plan.scope == "same" else None,
            n_jobs=self.n_jobs,
            best=best,
        )
        self._running.append(trial)

    def cancel(self) -> None:
        self.calls.cancel()
        if self._running:
            with suppress(OSError, ValueError):  # the scheduler has ended
                addresses = [worker.address for worker in self._cluster.workers()]
                self._cluster.notify(_stop_trial, dict.fromkeys(addresses, (self._study,)))
        self._running.clear()


# ------------------------------------------------------------------ on a worker
def _run_on_worker(
    context: StudyContext,
    split: StudySplit,
    *,
    plan: TrialPlan,
    study: str,
    candidate: Candidate | None,
    n_jobs: int | None,
    best: float | None,
) -> tuple[Outcome, bytes]:
    """Run a trial with the threads of this worker; return its outcome, and its models as a pickle."""
    from distributed import get_worker

    arrived = time.monotonic()
    threads = get_worker().state.nthreads
    with _one_at_a_time, threadpool_limits(threads, user_api="openmp"):
        fits = n_parallel_fits(n_jobs)
        # A copy of its own: all trials of this worker have the same context.
        chosen = {} if candidate is None else {plan.method.name: candidate}
        context = replace(context, n_jobs=fits, candidates=chosen)
        plan = replace(plan, limits=plan.limits.after(time.monotonic() - arrived))
        with (
            limited_resources(len(context.X) * context.shape.n_indicators, fits),
            _stoppable(study),
        ):
            outcome, estimator = run_trial(context, split, plan)
    if split.number:
        return outcome, b""
    if outcome.score is None or (
        best is not None and not context.metric.is_better(outcome.score, best)
    ):
        estimator = None
    return outcome, _pack(context.candidates.get(plan.method.name), estimator)


@contextmanager
def _stoppable(study: str) -> Iterator[None]:
    """Let `_stop_trial` stop the block; nobody waits for its result then."""
    event = _stop_events[study] = threading.Event()
    try:
        with stop_on(event):
            yield
    finally:
        del _stop_events[study]


def _stop_trial(study: str) -> None:
    """Stop the running trial of a study on this worker."""
    event = _stop_events.get(study)
    if event is not None:
        event.set()


def _pack(candidate: Candidate | None, estimator: Any) -> bytes:
    """Return a pickle of the candidate and its estimator, without what cannot be pickled."""
    for models in ((candidate, estimator), (candidate, None)):
        with suppress(Exception):
            return cloudpickle.dumps(models)
    return b""


def _unpack(models: bytes) -> tuple[Candidate | None, Any]:
    return pickle.loads(models) if models else (None, None)
