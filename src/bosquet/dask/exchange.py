"""Sums over the workers of a fit, on connections of Dask's communication layer.

The parts of a fit form a binary tree: part r sends its numbers to part (r - 1) // 2, which adds those of its
children and sends the sum to its own parent; the total goes back the same way. The time grows with the
logarithm of the number of parts. Connections have the security settings of the workers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from distributed import Worker
    from distributed.comm import Comm

# A part that is silent for this long is lost. The driver notices workers that do not answer earlier.
TIMEOUT_SECONDS = 600.0
CONNECT_SECONDS = 60.0


class LostPartError(ConnectionError):
    """Another part of the fit does not answer."""


class Exchange:
    """The connections of one part of a fit to its parent and its children.

    The methods `add` and `maximise` are called by the thread that boosts; the connections belong to the event
    loop of the worker.

    Parameters
    ----------
    worker : the Dask worker of this part
    rank : number of this part; part 0 is the root
    n_parts : number of parts
    """

    def __init__(self, worker: Worker, rank: int, n_parts: int):
        self.rank = rank
        self.seconds = 0.0  # spent in messages, and in waiting for other parts
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._child_ranks = [r for r in (2 * rank + 1, 2 * rank + 2) if r < n_parts]
        self._children: dict[int, Comm] = {}
        self._parent: Comm | None = None
        self._listener: Any = None
        self._all_connected = asyncio.Event()
        self._closed = False
        self._number = 0  # of the message: all parts send the same ones in the same order

    # ---------------------------------------------------------------- in the event loop
    async def listen(self) -> str:
        """Accept connections of children; return the address for them."""
        from distributed.comm import get_address_host, listen

        scheme = self._worker.address.partition("://")[0]
        host = "" if scheme == "inproc" else f"{get_address_host(self._worker.address)}:0"
        arguments = self._worker.security.get_listen_args("worker")
        self._listener = await listen(f"{scheme}://{host}", self._accept, **arguments)
        return str(self._listener.contact_address)

    async def connect(self, addresses: list[str]) -> None:
        """Connect to the parent, and wait for the children; `addresses` are those of all parts."""
        from distributed.comm import connect

        try:
            if self.rank > 0:
                arguments = self._worker.security.get_connection_args("worker")
                parent = addresses[(self.rank - 1) // 2]
                self._parent = await connect(parent, timeout=CONNECT_SECONDS, **arguments)
                await self._parent.write(self.rank)
            if self._child_ranks:
                await asyncio.wait_for(self._all_connected.wait(), CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise LostPartError(f"part {self.rank} found no connection: {error}") from error

    async def close(self) -> None:
        """Close the connections: parts that wait for this one get an error."""
        self._closed = True
        if self._listener is not None:
            self._listener.stop()
        for comm in [self._parent, *self._children.values()]:
            if comm is not None:
                comm.abort()

    async def _accept(self, comm: Comm) -> None:
        self._children[await comm.read()] = comm
        if len(self._children) == len(self._child_ranks):
            self._all_connected.set()

    async def _combine(self, numbers: np.ndarray, combine: Callable[..., Any]) -> None:
        """Replace the numbers of all parts by their combination."""
        self._number += 1
        for rank in self._child_ranks:
            combine(numbers, await self._receive(self._children[rank], numbers), out=numbers)
        if self._parent is not None:
            await self._parent.write((self._number, numbers.tobytes()))
            numbers[:] = await self._receive(self._parent, numbers)
        if self._child_ranks:
            message = (self._number, numbers.tobytes())
            await asyncio.gather(*(self._children[r].write(message) for r in self._child_ranks))

    async def _receive(self, comm: Comm, like: np.ndarray) -> np.ndarray:
        number, content = await asyncio.wait_for(comm.read(), TIMEOUT_SECONDS)
        if number != self._number or len(content) != like.nbytes:
            raise RuntimeError(
                f"part {self.rank} received message {number} of {len(content)} bytes instead of message"
                f" {self._number} of {like.nbytes}; the parts do not run the same fit"
            )
        return np.frombuffer(content, like.dtype)

    # ---------------------------------------------------------------- in the thread that boosts
    def add(self, numbers: np.ndarray) -> None:
        """Replace the integers by their sums over all parts."""
        self._run(numbers, np.add)

    def maximise(self, numbers: np.ndarray) -> None:
        """Replace the integers by the largest ones of all parts."""
        self._run(numbers, np.maximum)

    def _run(self, numbers: np.ndarray, combine: Callable[..., Any]) -> None:
        start = time.perf_counter()
        if self._closed:
            raise LostPartError(f"part {self.rank} was closed")
        future = asyncio.run_coroutine_threadsafe(self._combine(numbers, combine), self._loop)
        try:
            future.result()
        except (OSError, TimeoutError) as error:  # a closed connection is an OSError
            raise LostPartError(
                f"part {self.rank} lost another part of the fit: {error}"
            ) from error
        self.seconds += time.perf_counter() - start
