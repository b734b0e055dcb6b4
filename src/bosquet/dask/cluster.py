"""The workers of a client, and calls of functions on them that never wait for a lost worker."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bosquet import __version__
from bosquet.dask.exchange import LostPartError

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)

# A worker that has not answered a call for PING_AFTER seconds is asked for a sign of life, which must arrive
# within PING_SECONDS.
PING_AFTER = 15.0
PING_SECONDS = 60.0
NOTIFY_SECONDS = 5.0
# The scheduler of an address must answer within this time.
CONNECT_SECONDS = 15.0
# Without workers, a fit waits this long for one.
WORKER_SECONDS = 120.0
# After this many losses of workers without progress in between, an error ends the fit.
MAX_LOSSES = 10
_POLL_SECONDS = 0.1
# Tasks are checked this often for workers that ended.
_CHECK_SECONDS = 1.0


class LostWorkersError(ConnectionError):
    """Workers ended or do not answer; the work can be repeated on the others."""


@dataclass(frozen=True)
class ClusterWorker:
    """A worker: its address, its number of threads, and its memory limit in bytes (0: none)."""

    address: str
    threads: int
    memory_limit: int


@contextmanager
def open_client(client: Client | str | None) -> Iterator[Client]:
    """Yield a client: the given one, the current one (None), or one that ends with the context.

    The latter belongs to the scheduler at the given address or, without a current client, to a local cluster.
    """
    from bosquet._optional import import_optional

    distributed: Any = import_optional("distributed", "a fit on a cluster", "bosquet[dask]")
    if isinstance(client, str):
        with _connect(distributed, client) as connected:
            yield connected
        return
    if client is None:
        with suppress(ValueError):
            client = distributed.default_client()
    if client is None:
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0") as cluster,
            distributed.Client(cluster) as local,
        ):
            yield local
        return
    if not isinstance(client, distributed.Client):
        raise TypeError(
            f"client has the type {type(client).__name__}; pass a distributed.Client, the address of a"
            " scheduler, or None for the current client"
        )
    if client.asynchronous:
        raise ValueError(
            "client is asynchronous; pass a client created without asynchronous=True, in a thread"
        )
    yield client


def _connect(distributed: Any, address: str) -> Client:
    """Return a client of the scheduler at an address, which does not become the current client."""
    try:
        return distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        raise ValueError(
            f"no scheduler of Dask answers at {address!r} within {CONNECT_SECONDS:g} seconds; start it"
            " with: dask scheduler, and pass the address that it prints"
        ) from error
    except (ValueError, ImportError) as error:  # ImportError: a protocol that needs another package
        raise ValueError(
            f"{address!r} is not the address of a scheduler of Dask ({error}); pass one such as"
            " tcp://host:8786"
        ) from error


class Cluster:
    """The workers of a client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self._scheduler = getattr(client.scheduler, "address", "")
        self._silent: set[str] = set()  # addresses of workers that did not answer

    def workers(self) -> list[ClusterWorker]:
        """Return the workers that the scheduler knows, in the order of their addresses."""
        states = self.client.scheduler_info(n_workers=-1).get("workers")
        if states is None:  # the client is closed
            self.check_connection()
            states = {}
        return [
            ClusterWorker(address, int(state["nthreads"]), int(state.get("memory_limit") or 0))
            for address, state in sorted(states.items())
            if state.get("status", "running") == "running" and address not in self._silent
        ]

    def check_connection(self) -> None:
        """Raise a ConnectionError if the client has lost its scheduler."""
        if self.client.status != "running":
            raise ConnectionError(f"the connection to the scheduler {self._scheduler} is lost")

    def wait_for_workers(self) -> list[ClusterWorker]:
        """Return the workers; wait for one if there are none."""
        start = time.monotonic()
        while not (workers := self.workers()):
            self.check_patience(start)
            time.sleep(_POLL_SECONDS)
        return workers

    def check_patience(self, start: float) -> None:
        """Raise a ValueError if there have been no workers since `start` for too long."""
        if time.monotonic() - start > WORKER_SECONDS:
            raise ValueError(
                f"{self.client} has had no workers for {WORKER_SECONDS:g} seconds; start workers, or pass"
                " another client"
            )

    def ready_workers(self) -> list[ClusterWorker]:
        """Return the workers that answer; a ValueError names one with another version of Bosquet."""
        while True:
            workers = self.wait_for_workers()
            try:
                versions = self.call(_version, {worker.address: () for worker in workers})
                break
            except LostWorkersError as error:
                logger.warning("%s", error)
        for address, version in versions.items():
            if version != __version__:
                raise ValueError(
                    f"worker {address} has Bosquet {version or '(not installed)'}, but the driver has"
                    f" {__version__}; install the same version everywhere"
                )
        return workers

    def call(
        self, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]]
    ) -> dict[str, Any]:
        """Call a function on workers, with arguments by address; return the results by address.

        The first error ends the call without waiting for the other workers.

        Raises
        ------
        LostWorkersError
            If a worker ends or does not answer. The message names it.
        """
        return self.client.sync(self._call, function, dict(arguments))

    async def _call(
        self, function: Callable[..., Any], arguments: dict[str, tuple[Any, ...]]
    ) -> dict[str, Any]:
        address_of = {
            asyncio.ensure_future(self._run_on(address, function, *args)): address
            for address, args in arguments.items()
        }
        results: dict[str, Any] = {}
        pending = set(address_of)
        try:
            while pending:
                done, pending = await asyncio.wait(
                    pending, timeout=PING_AFTER, return_when=asyncio.FIRST_COMPLETED
                )
                for task in done:
                    results[address_of[task]] = task.result()
                if not done:
                    await self._ping_all(address_of[task] for task in pending)
        finally:
            for task in address_of:
                task.cancel()
            # Retrieves the errors of the other workers, which are not reported.
            await asyncio.gather(*address_of, return_exceptions=True)
        return {address: results[address] for address in arguments}

    def notify(
        self, function: Callable[..., Any], arguments: Mapping[str, tuple[Any, ...]]
    ) -> None:
        """Call a function on those of these workers that still answer, without waiting for the others."""
        present = {worker.address for worker in self.workers()}
        calls = {address: args for address, args in arguments.items() if address in present}
        self.client.sync(self._notify, function, calls)

    async def _notify(
        self, function: Callable[..., Any], arguments: dict[str, tuple[Any, ...]]
    ) -> None:
        calls = [self._run_on(address, function, *args) for address, args in arguments.items()]
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), NOTIFY_SECONDS)

    async def _run_on(self, address: str, function: Callable[..., Any], *args: Any) -> Any:
        try:
            result = await self.client._run(
                function, *args, workers=[address], on_error="return", wait=True
            )
        except (OSError, TimeoutError) as error:
            raise LostWorkersError(f"worker {address} is lost: {error}") from error
        outcome = result.get(address)
        if isinstance(outcome, (OSError, TimeoutError)):
            raise LostWorkersError(f"worker {address} is lost: {outcome}") from outcome
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def _ping_all(self, addresses: Iterable[str]) -> None:
        """Raise a LostWorkersError if one of these workers does not answer."""
        await asyncio.gather(*(self._ping(address) for address in addresses))

    async def _ping(self, address: str) -> None:
        try:
            await asyncio.wait_for(self._run_on(address, _pong), PING_SECONDS)
        except TimeoutError:
            self._silent.add(address)
            raise LostWorkersError(
                f"worker {address} has not answered for {PING_SECONDS:g} seconds"
            ) from None

    def compute(
        self, tasks: Sequence[Any], describe: Callable[[int], str] = "task {}".format
    ) -> list[Any]:
        """Compute delayed objects on any workers and return their results."""
        for _ in range(MAX_LOSSES):
            try:
                # The scheduler may still give work to a worker that does not answer.
                allowed = [w.address for w in self.wait_for_workers()] if self._silent else None
                return self.compute_on(tasks, [allowed] * len(tasks), describe)
            except LostWorkersError as error:
                logger.warning("%s; continuing on the other workers", error)
                last = error
        raise RuntimeError(f"workers were lost {MAX_LOSSES} times; the last time: {last}") from last

    def compute_on(
        self,
        tasks: Sequence[Any],
        addresses: Sequence[list[str] | None],
        describe: Callable[[int], str],
    ) -> list[Any]:
        """Compute each delayed object on one of the workers with the given addresses (None: any).

        Raises
        ------
        LostWorkersError
            If a worker ends or does not answer.
        """
        from distributed import wait

        futures = [
            self.client.compute(task, workers=where)
            for task, where in zip(tasks, addresses, strict=True)
        ]
        needed = {address for where in addresses if where and len(where) == 1 for address in where}
        last_seen = last_progress = time.monotonic()  # workers; a task that ended
        try:
            while pending := [future for future in futures if future.status == "pending"]:
                with suppress(TimeoutError):
                    wait(pending, timeout=_CHECK_SECONDS, return_when="FIRST_COMPLETED")
                    last_progress = time.monotonic()
                self._raise_failures(futures, describe)
                present = {worker.address for worker in self.workers()}
                if present:
                    last_seen = time.monotonic()
                else:
                    self.check_patience(last_seen)
                if lost := needed - present:
                    raise LostWorkersError(f"worker {min(lost)} is lost")
                if time.monotonic() - last_progress > PING_AFTER:
                    self.client.sync(self._ping_all, present)
                    last_progress = time.monotonic()
            self._raise_failures(futures, describe)
            return list(self.client.gather(futures))
        finally:
            self.client.cancel([future for future in futures if future.status == "pending"])

    def _raise_failures(self, futures: Sequence[Any], describe: Callable[[int], str]) -> None:
        for number, future in enumerate(futures):
            if future.status not in ("pending", "finished"):
                self._raise_failure(future, describe(number))

    def _raise_failure(self, future: Any, name: str) -> None:
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        if future.cancelled():
            raise LostWorkersError(f"{name} was cancelled, because its data were lost")
        error = future.exception()
        if isinstance(error, KilledWorker):
            raise RuntimeError(
                f"{name} has ended {error.allowed_failures + 1} workers, the last one"
                f" {error.last_worker.address}; if they had too little memory, divide the collection into"
                " smaller partitions"
            ) from error
        if isinstance(error, (LostPartError, CommClosedError, TimeoutError)):
            raise LostWorkersError(f"{name} failed: {error!r}") from error
        raise error


def _version() -> str:
    try:
        from bosquet import __version__ as installed
    except ImportError:
        return ""
    return installed


def _pong() -> None:
    pass
