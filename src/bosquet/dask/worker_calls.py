"""Calls of functions on the workers of a cluster, one at a time per worker.

Unlike the tasks of `Cluster.compute`, the calls start one by one, whenever a worker is idle, and each result
is returned as soon as it is available. Dask repeats a call on another worker if its worker ends.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any

from bosquet.dask.cluster import Cluster

if TYPE_CHECKING:
    from distributed import Future

logger = logging.getLogger(__name__)

# While calls run, it is checked this often whether workers have joined or ended.
_CHECK_SECONDS = 1.0
# A result whose worker ends while it is fetched is computed again.
_FETCH_SECONDS = 30.0
# A call is started again as often as Dask does by default.
MAX_LOSSES = 3
_ENDED = (
    "its workers ended during it ({} in total, the last one {}); they may have too little memory"
)


class EndedWorkersError(RuntimeError):
    """A call has ended several workers one after the other, so Dask has given it up."""


@dataclass
class _Call:
    """A call that has been started; `tag` identifies it for the caller."""

    tag: Any
    name: str
    function: Callable[..., Any]
    shared: Sequence[Any]
    arguments: dict[str, Any]
    address: str = ""  # of the worker that should run it
    sent: list[Future[Any]] = field(default_factory=list)  # the shared values on the workers
    losses: int = 0


class WorkerCalls:
    """Calls on the workers of a cluster that have not ended yet.

    Values that several calls share, such as a table, are sent to one worker; each other worker copies them
    when it first needs them. (A broadcast of Dask waits forever for a worker that ends meanwhile.)
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._addresses = {worker.address for worker in cluster.ready_workers()}
        self._checked = time.monotonic()  # when the workers were counted
        self._calls: dict[Future[Any], _Call] = {}
        self._ended: SimpleQueue[Future[Any]] = SimpleQueue()
        # The shared values by identity, with their futures.
        self._sent: dict[int, tuple[Any, Future[Any]]] = {}

    @property
    def n_workers(self) -> int:
        return len(self._addresses)

    @property
    def n_running(self) -> int:
        return len(self._calls)

    def start(
        self,
        tag: Any,
        name: str,
        function: Callable[..., Any],
        shared: Sequence[Any],
        **arguments: Any,
    ) -> None:
        """Start a call on an idle worker, with `shared` as the first arguments; `name` is for messages."""
        self._submit(_Call(tag, name, function, shared, arguments))

    def wait(self) -> list[tuple[Any, Any]]:
        """Return the tags and results of calls that have ended; wait for one, or for a new worker.

        The result of a call that has ended several workers is an EndedWorkersError. Any other error of a call
        is raised.
        """
        n_workers, start = self.n_workers, time.monotonic()
        while True:
            if time.monotonic() - self._checked > _CHECK_SECONDS:
                self._cluster.check_connection()
                self._update_workers()
                if self.n_workers:
                    start = time.monotonic()
                self._cluster.check_patience(start)
                if self.n_workers > n_workers:
                    return []
            with suppress(Empty):
                ended = [self._ended.get(timeout=_CHECK_SECONDS)]
                while not self._ended.empty():
                    ended.append(self._ended.get())
                if results := [
                    result for future in ended if (result := self._result(future)) is not None
                ]:
                    return results

    def cancel(self) -> None:
        """Cancel the calls. Dask does not interrupt functions that run already."""
        with suppress(Exception):  # the scheduler may have ended
            self._cluster.client.cancel(list(self._calls))
        self._calls.clear()
        self._sent.clear()

    # ------------------------------------------------------------------- workers
    def _update_workers(self) -> None:
        """Notice workers that have joined or ended; new ones must have the same version of Bosquet."""
        present = {worker.address for worker in self._cluster.workers()}
        if present - self._addresses:
            present = {worker.address for worker in self._cluster.ready_workers()}
        self._addresses, self._checked = present, time.monotonic()

    # --------------------------------------------------------------------- calls
    def _submit(self, call: _Call) -> None:
        busy = {other.address for other in self._calls.values()}
        idle = sorted(self._addresses - busy) or sorted(self._addresses)
        call.address = idle[0] if idle else ""
        client = self._cluster.client
        try:
            call.sent = [self._send(value) for value in call.shared]
            future = client.submit(
                call.function,
                *call.sent,
                **call.arguments,
                workers=[call.address] if idle else None,
                allow_other_workers=bool(idle),  # if this one ends
                pure=False,
            )
        except OSError as error:  # the worker that received a shared value has ended
            self._cluster.check_connection()
            call.losses += 1
            if call.losses > MAX_LOSSES:
                raise ConnectionError(
                    f"{call.name} cannot be sent to the workers: {error}"
                ) from error
            self._addresses = {worker.address for worker in self._cluster.wait_for_workers()}
            self._submit(call)
            return
        except Exception as error:  # Dask raises errors of several types
            self._cluster.check_connection()
            raise ValueError(
                f"{call.name} cannot be sent to the workers: {error.__cause__ or error}; its functions and"
                " objects must be picklable, and their modules must be installed on the workers"
            ) from error
        self._calls[future] = call
        future.add_done_callback(self._ended.put)

    def _send(self, value: Any) -> Future[Any]:
        """Return the future of a shared value; at the first call, send it to the cluster."""
        if id(value) not in self._sent:
            (future,) = self._cluster.client.scatter([value], hash=False)
            self._sent[id(value)] = value, future
        return self._sent[id(value)][1]

    def _result(self, future: Future[Any]) -> tuple[Any, Any] | None:
        """Return the tag and the result of a call; None if the call has been started again."""
        call = self._calls.pop(future, None)
        if call is None:  # cancelled
            return None
        if future.status == "finished":
            with suppress(TimeoutError, CancelledError):
                return call.tag, future.result(timeout=_FETCH_SECONDS)
        elif future.status == "error":
            return call.tag, self._ended_workers(future, call)
        # The result was lost, or the shared values with all workers that had them.
        self._cluster.check_connection()
        call.losses += 1
        if call.losses > MAX_LOSSES:
            return call.tag, EndedWorkersError(_ENDED.format(call.losses, call.address))
        logger.warning("%s was lost with worker %s; starting it again", call.name, call.address)
        # Other calls may have sent the values again meanwhile.
        self._sent = {key: sent for key, sent in self._sent.items() if sent[1] not in call.sent}
        self._addresses = {worker.address for worker in self._cluster.wait_for_workers()}
        self._submit(call)
        return None

    def _ended_workers(self, future: Future[Any], call: _Call) -> EndedWorkersError:
        """Return the error of a call that has ended several workers; raise any other error."""
        from distributed import KilledWorker

        error = future.exception()
        assert error is not None
        if not isinstance(error, KilledWorker):
            error.add_note(f"This happened in {call.name}, on a worker of the cluster.")
            raise error
        return EndedWorkersError(
            _ENDED.format(error.allowed_failures + 1, error.last_worker.address)
        )
