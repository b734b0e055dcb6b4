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
import struct
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from distributed import Security
    from distributed.comm import Comm

# A part that is silent for this long is lost. The driver notices workers that do not answer earlier.
TIMEOUT_SECONDS = 600.0
CONNECT_SECONDS = 60.0
# Shorter messages take about the same time, whatever their length. Longer arrays are summed in pieces.
LONG_BYTES = 1 << 16

# Number of the message, and how many numbers of eight bytes it has.
_HEADER = struct.Struct("<QQ")

Combine: TypeAlias = Callable[..., Any]  # np.add or np.maximum


class LostPartError(ConnectionError):
    """Another part of the fit does not answer."""


class Exchange:
    """The connections of one part of a fit to other parts.

    They belong to an event loop of their own, which runs in the thread that boosts while it exchanges
    numbers: a message does not wait for other work of the worker, nor for another thread.

    Parameters
    ----------
    address : address of the Dask worker of this part
    security : its security settings
    rank : number of this part
    n_parts : number of parts
    """

    def __init__(self, address: str, security: Security, rank: int, n_parts: int):
        self.rank = rank
        self.seconds = 0.0  # spent in messages, and in waiting for other parts
        self._address, self._security = address, security
        self._loop = asyncio.new_event_loop()
        self._partners, self._extra = partners_of(rank, n_parts)
        self._comms: dict[int, Comm] = {}
        self._listener: Any = None
        self._all_connected = asyncio.Event()
        self._closed = False
        self._received = np.empty(0, dtype=np.int64)
        self._number = 0  # of the message: all parts send the same ones in the same order

    # ---------------------------------------------------------------- in the thread that boosts
    def listen(self) -> str:
        """Accept connections of parts with a higher number; return the address for them."""
        return self._loop.run_until_complete(self._listen())

    def connect(self, addresses: list[str]) -> None:
        """Connect to the other parts; `addresses` are those of all parts."""
        self._run(self._connect(addresses))

    def add(self, numbers: np.ndarray) -> None:
        """Replace the integers by their sums over all parts."""
        self._run(self._combine(numbers, np.add))

    def maximise(self, numbers: np.ndarray) -> None:
        """Replace the integers by the largest ones of all parts."""
        self._run(self._combine(numbers, np.maximum))

    def close(self) -> None:
        """Close the connections: parts that wait for this one get an error."""
        if not self._loop.is_closed():
            self._loop.run_until_complete(self._abort())
            self._loop.close()

    def _run(self, messages: Coroutine[Any, Any, None]) -> None:
        start = time.perf_counter()
        try:
            self._loop.run_until_complete(messages)
        except (OSError, TimeoutError) as error:  # a closed connection is an OSError
            if self._closed:
                raise LostPartError(f"part {self.rank} was closed") from error
            raise LostPartError(
                f"part {self.rank} lost another part of the fit: {error}"
            ) from error
        self.seconds += time.perf_counter() - start

    # ---------------------------------------------------------------- in any thread
    def interrupt(self) -> None:
        """End the messages of the thread that boosts with an error, now or when it sends the next one."""
        self._closed = True
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._abort_connections)

    # ---------------------------------------------------------------- in the event loop
    async def _listen(self) -> str:
        from distributed.comm import get_address_host, listen

        scheme = self._address.partition("://")[0]
        host = "" if scheme == "inproc" else f"{get_address_host(self._address)}:0"
        arguments = self._security.get_listen_args("worker")
        self._listener = await listen(f"{scheme}://{host}", self._accept, **arguments)
        return str(self._listener.contact_address)

    async def _connect(self, addresses: list[str]) -> None:
        from distributed.comm import connect

        arguments = self._security.get_connection_args("worker")
        for rank in self._others():
            if rank < self.rank:
                comm = await connect(addresses[rank], timeout=CONNECT_SECONDS, **arguments)
                self._comms[rank] = comm
                await comm.write(self.rank)
        self._note_connections()
        await asyncio.wait_for(self._all_connected.wait(), CONNECT_SECONDS)

    async def _accept(self, comm: Comm) -> None:
        self._comms[await comm.read()] = comm
        self._note_connections()

    def _note_connections(self) -> None:
        if len(self._comms) == len(self._others()):
            self._all_connected.set()

    def _others(self) -> list[int]:
        return [*self._partners, *([] if self._extra is None else [self._extra])]

    async def _abort(self) -> None:
        self._closed = True
        if self._listener is not None:
            self._listener.stop()
        self._abort_connections()

    def _abort_connections(self) -> None:
        for comm in self._comms.values():
            comm.abort()

    async def _combine(self, numbers: np.ndarray, combine: Combine) -> None:
        """Replace the numbers of all parts by their combination."""
        if self._closed:
            raise ConnectionError("closed")
        self._number += 1
        async with asyncio.timeout(TIMEOUT_SECONDS):
            if not self._partners:  # an extra part, or the only one
                if self._extra is not None:
                    numbers[:] = await self._swap(self._extra, numbers, len(numbers))
                return
            if self._extra is not None:
                combine(
                    numbers,
                    await self._receive(self._extra, numbers.dtype, len(numbers)),
                    out=numbers,
                )
            if numbers.nbytes < LONG_BYTES or len(self._partners) < 2:
                for rank in self._partners:
                    combine(numbers, await self._swap(rank, numbers, len(numbers)), out=numbers)
            else:
                await self._combine_in_pieces(numbers, combine)
            if self._extra is not None:
                await self._send(self._extra, numbers)
                await self._flush(self._extra)

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
        received = await self._receive(rank, numbers.dtype, size)
        await self._flush(rank)
        return received

    async def _send(self, rank: int, numbers: np.ndarray) -> None:
        comm, content = self._comms[rank], numbers.data.cast("B")
        header = _HEADER.pack(self._number, len(numbers))
        if (stream := _stream_of(comm)) is None:
            await comm.write((header, bytes(content)))
        elif len(content) < LONG_BYTES:
            stream.write(header + content)
        else:
            stream.write(header)
            stream.write(content)

    async def _flush(self, rank: int) -> None:
        """Wait until all is sent: the numbers change afterwards, and the event loop stops."""
        stream = _stream_of(self._comms[rank])
        if stream is not None and stream.writing():
            await stream.write(b"")

    async def _receive(self, rank: int, kind: np.dtype, size: int) -> np.ndarray:
        """Return the numbers of the next message; the next call overwrites them."""
        comm = self._comms[rank]
        if (stream := _stream_of(comm)) is None:
            header, content = await comm.read()
            self._check(header, size)
            return np.frombuffer(content, kind)
        header = bytearray(_HEADER.size)
        await stream.read_into(header)
        self._check(header, size)
        if size > len(self._received):
            self._received = np.empty(size, dtype=np.int64)
        received = self._received[:size]
        await stream.read_into(received.data.cast("B"))
        return received.view(kind)

    def _check(self, header: bytes | bytearray, size: int) -> None:
        number, received = _HEADER.unpack(header)
        if (number, received) != (self._number, size):
            raise RuntimeError(
                f"part {self.rank} received message {number} of {received} numbers instead of message"
                f" {self._number} of {size}; the parts do not run the same fit"
            )


def _stream_of(comm: Comm) -> Any:
    """Return the stream of a connection over TCP or TLS, None for others.

    Numbers that are written to it, and read from it, need no copies in memory that is new for each message.
    A message of the connection takes two to three times as long.
    """
    return getattr(comm, "stream", None)


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
