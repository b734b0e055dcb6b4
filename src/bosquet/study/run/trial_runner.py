"""Where the trials of a study run: in this process, one after the other, or on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from bosquet.study.run.context import StudyContext
from bosquet.study.run.outcomes import Outcome
from bosquet.study.run.trial import TrialPlan, run_trial
from bosquet.study.table.splits import StudySplit

# Called in the main thread when a trial has ended, with its outcome and its fitted estimator or None.
Done = Callable[[Outcome, Any], None]


class TrialRunner(Protocol):
    """Runs trials, up to `n_slots` at the same time."""

    @property
    def n_slots(self) -> int:
        """Number of trials that can run at the same time."""
        ...

    def seconds_reserved(self) -> float:
        """Return the sum of the seconds until the soft limits of the running trials."""
        ...

    def wait_for_slot(self) -> None:
        """Wait until a further trial can start."""
        ...

    def wait_for_one(self) -> None:
        """Wait until one of the running trials has ended, or a worker has joined."""
        ...

    def wait_for_all(self) -> None:
        """Wait until all running trials have ended."""
        ...

    def start(
        self,
        context: StudyContext,
        split: StudySplit,
        plan: TrialPlan,
        done: Done,
        *,
        best: float | None = None,
    ) -> None:
        """Start a trial.

        An estimator that does not improve the score `best` need not be returned.
        """
        ...

    def cancel(self) -> None:
        """Discard the running trials."""
        ...


class LocalTrials:
    """Trials in this process: `start` returns when the trial has ended."""

    n_slots = 1

    def seconds_reserved(self) -> float:
        return 0.0

    def wait_for_slot(self) -> None:
        pass

    wait_for_one = wait_for_all = cancel = wait_for_slot

    def start(
        self,
        context: StudyContext,
        split: StudySplit,
        plan: TrialPlan,
        done: Done,
        *,
        best: float | None = None,
    ) -> None:
        done(*run_trial(context, split, plan))


LOCAL_TRIALS = LocalTrials()


@contextmanager
def open_trial_runner(client: Any, n_jobs: int | None) -> Iterator[TrialRunner]:
    """Yield the runner of trials on the cluster of a client or of an address; None: in this process."""
    if client is None:
        yield LOCAL_TRIALS
        return
    from bosquet.dask.cluster import Cluster, open_client
    from bosquet.study.run.cluster_trials import ClusterTrials

    with open_client(client) as opened:
        yield ClusterTrials(Cluster(opened), n_jobs)
