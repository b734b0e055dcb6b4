"""Sums over the workers of a fit, on connections of Dask's communication layer.

With 2^k parts, part r swaps numbers with the parts r ^ 1, r ^ 2, r ^ 4, ..., and adds what it receives: after
k messages each part has the sum of all. The time grows with the logarithm of the number of parts. Long arrays
are summed in halves of halves: with each swap a part keeps the sum of a smaller piece, and the other pieces
come back afterwards. This takes 2k messages, but sends every number about twice instead of k times. Parts
beyond the largest power of two give their numbers to another part at first and receive the result at the end.

Connections have the security settings of the workers.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from distributed import Worker
    from distributed.comm import Comm

# A part that is silent for this long is lost. The driver notices workers that do not answer earlier.
TIMEOUT_SECONDS = 600.0
CONNECT_SECONDS = 60.0
# Longer arrays are summed in pieces: for shorter ones the time of a message does not depend on its length.
LONG_BYTES = 1 << 16

Combine: TypeAlias = Callable[..., Any]  # np.add or np.maximum


class LostPartError(ConnectionError):
    """Another part of the fit does not answer."""


class Exchange:
    """The connections of one part of a fit to other parts.

    The methods `add` and `maximise` are called by the thread that boosts; the connections belong to the event
    loop of the worker.

    Parameters
    ----------
    worker : the Dask worker of this part
    rank : number of this part
    n_parts : number of parts
    """

    def __init__(self, worker: Worker, rank: int, n_parts: int):
        self.rank = rank
        self.seconds = 0.0  # spent in messages, and in waiting for other parts
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._partners, self._extra = partners_of(rank, n_parts)
        self._comms: dict[int, Comm] = {}
        self._listener: Any = None
        self._all_connected = asyncio.Event()
        self._closed = False
        self._number = 0  # of the message: all parts send the same ones in the same order

    # ---------------------------------------------------------------- in the event loop
    async def listen(self) -> str:
        """Accept connections of parts with a higher number; return the address for them."""
        from distributed.comm import get_address_host, listen

        scheme = self._worker.address.partition("://")[0]
        host = "" if scheme == "inproc" else f"{get_address_host(self._worker.address)}:0"
        arguments = self._worker.security.get_listen_args("worker")
        self._listener = await listen(f"{scheme}://{host}", self._accept, **arguments)
        return str(self._listener.contact_address)

    async def connect(self, addresses: list[str]) -> None:
        """Connect to the other parts; `addresses` are those of all parts."""
        from distributed.comm import connect

        try:
            arguments = self._worker.security.get_connection_args("worker")
            for rank in self._others():
                if rank < self.rank:
                    comm = await connect(addresses[rank], timeout=CONNECT_SECONDS, **arguments)
                    self._comms[rank] = comm
                    await comm.write(self.rank)
            self._note_connections()
            await asyncio.wait_for(self._all_connected.wait(), CONNECT_SECONDS)
        except (OSError, TimeoutError) as error:
            raise LostPartError(f"part {self.rank} found no connection: {error}") from error

    async def close(self) -> None:
        """Close the connections: parts that wait for this one get an error."""
        self._closed = True
        if self._listener is not None:
            self._listener.stop()
        for comm in self._comms.values():
            comm.abort()

    def _others(self) -> list[int]:
        return [*self._partners, *([] if self._extra is None else [self._extra])]

    async def _accept(self, comm: Comm) -> None:
        self._comms[await comm.read()] = comm
        self._note_connections()

    def _note_connections(self) -> None:
        if len(self._comms) == len(self._others()):
            self._all_connected.set()

    async def _combine(self, numbers: np.ndarray, combine: Combine) -> None:
        """Replace the numbers of all parts by their combination."""
        self._number += 1
        if not self._partners:  # an extra part
            if self._extra is not None:
                numbers[:] = await self._swap(self._extra, numbers, len(numbers))
            return
        if self._extra is not None:
            combine(numbers, await self._receive(self._extra, len(numbers)), out=numbers)
        if numbers.nbytes < LONG_BYTES or len(self._partners) < 2:
            for rank in self._partners:
                combine(numbers, await self._swap(rank, numbers, len(numbers)), out=numbers)
        else:
            await self._combine_in_pieces(numbers, combine)
        if self._extra is not None:
            await self._send(self._extra, numbers)

    async def _combine_in_pieces(self, numbers: np.ndarray, combine: Combine) -> None:
        first, last = 0, len(numbers)
        swaps = []
        for rank in self._partners:
            middle = (first + last) // 2
            halves = slice(first, middle), slice(middle, last)
            kept, given = halves if self.rank < rank else halves[::-1]
            n_kept = kept.stop - kept.start
            combine(
                numbers[kept], await self._swap(rank, numbers[given], n_kept), out=numbers[kept]
            )
            swaps.append((rank, kept, given))
            first, last = kept.start, kept.stop
        for rank, kept, given in reversed(swaps):
            numbers[given] = await self._swap(rank, numbers[kept], given.stop - given.start)

    async def _swap(self, rank: int, numbers: np.ndarray, size: int) -> np.ndarray:
        """Send numbers to another part, and return the `size` numbers that it sends."""
        await self._send(rank, numbers)
        return await self._receive(rank, size)

    async def _send(self, rank: int, numbers: np.ndarray) -> None:
        await self._comms[rank].write((self._number, numbers.dtype.char, numbers.tobytes()))

    async def _receive(self, rank: int, size: int) -> np.ndarray:
        message = self._comms[rank].read()
        number, kind, content = await asyncio.wait_for(message, TIMEOUT_SECONDS)
        received = np.frombuffer(content, kind)
        if number != self._number or len(received) != size:
            raise RuntimeError(
                f"part {self.rank} received message {number} of {len(received)} numbers instead of message"
                f" {self._number} of {size}; the parts do not run the same fit"
            )
        return received

    # ---------------------------------------------------------------- in the thread that boosts
    def add(self, numbers: np.ndarray) -> None:
        """Replace the integers by their sums over all parts."""
        self._run(numbers, np.add)

    def maximise(self, numbers: np.ndarray) -> None:
        """Replace the integers by the largest ones of all parts."""
        self._run(numbers, np.maximum)

    def _run(self, numbers: np.ndarray, combine: Combine) -> None:
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


def partners_of(rank: int, n_parts: int) -> tuple[list[int], int | None]:
    """Return the parts that a part swaps numbers with, and the other part of the pair with an extra part.

    >>> partners_of(1, 5), partners_of(0, 5), partners_of(4, 5)
    (([0, 3], None), ([1, 2], 4), ([], 0))
    """
    size = 1 << (n_parts.bit_length() - 1)  # the largest power of two
    if rank >= size:
        return [], rank - size
    partners = [rank ^ (1 << bit) for bit in range(size.bit_length() - 1)]
    return partners, rank + size if rank + size < n_parts else None
