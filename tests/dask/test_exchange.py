"""Sums over several parts in one process, on Dask's connections within a process."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
from bosquet.dask import exchange  # noqa: E402
from bosquet.dask.exchange import Exchange, LostPartError, partners_of  # noqa: E402


def fake_worker() -> Any:
    security = distributed.Security()
    return SimpleNamespace(address="tcp://127.0.0.1:1", security=security)


async def connected(n_parts: int) -> list[Exchange]:
    # All parts wait for each other, so each needs a thread.
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(n_parts))
    parts = [Exchange(fake_worker(), rank, n_parts) for rank in range(n_parts)]
    addresses = [await part.listen() for part in parts]
    await asyncio.gather(*(part.connect(addresses) for part in parts))
    return parts


async def closed(parts: list[Exchange]) -> None:
    for part in parts:
        await part.close()


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("size", [1, 3, 1_000, 20_001])
def test_all_parts_receive_the_sums_and_the_largest_numbers(n_parts, size):
    async def run() -> None:
        parts = await connected(n_parts)
        numbers = np.random.default_rng(0).integers(-(2**40), 2**40, (n_parts, size))
        magnitudes = np.abs(numbers).astype(np.uint64)
        sums, largest = numbers.sum(axis=0), magnitudes.max(axis=0)
        for given, name, expected in ((numbers, "add", sums), (magnitudes, "maximise", largest)):
            arrays = [row.copy() for row in given]
            await asyncio.gather(
                *(
                    asyncio.to_thread(getattr(part, name), array)
                    for part, array in zip(parts, arrays, strict=True)
                )
            )
            for array in arrays:
                np.testing.assert_array_equal(array, expected)
        await closed(parts)

    asyncio.run(run())


@pytest.mark.parametrize("n_parts", range(1, 20))
def test_partners_are_mutual(n_parts):
    for rank in range(n_parts):
        partners, extra = partners_of(rank, n_parts)
        for other in partners:
            assert rank in partners_of(other, n_parts)[0]
        if extra is not None:
            assert partners_of(extra, n_parts)[1] == rank


def test_a_part_that_closes_is_an_error_for_the_others():
    async def run() -> None:
        parts = await connected(2)
        waiting = asyncio.to_thread(parts[0].add, np.ones(5, dtype=np.int64))
        task = asyncio.ensure_future(waiting)
        await asyncio.sleep(0.1)
        await parts[1].close()
        with pytest.raises(LostPartError, match="part 0 lost another part of the fit"):
            await task
        with pytest.raises(LostPartError, match="part 1 was closed"):
            await asyncio.to_thread(parts[1].add, np.ones(5, dtype=np.int64))
        await closed(parts)

    asyncio.run(run())


def test_a_part_that_is_silent_is_an_error(monkeypatch):
    monkeypatch.setattr(exchange, "TIMEOUT_SECONDS", 0.2)

    async def run() -> None:
        parts = await connected(2)
        with pytest.raises(LostPartError, match="part 0 lost another part of the fit"):
            await asyncio.to_thread(parts[0].add, np.ones(5, dtype=np.int64))
        await closed(parts)

    asyncio.run(run())


def test_parts_that_run_different_fits_are_an_error():
    async def run() -> None:
        parts = await connected(2)
        calls = [
            asyncio.to_thread(part.add, np.ones(size, dtype=np.int64))
            for part, size in zip(parts, (5, 6), strict=True)
        ]
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert all("the parts do not run the same fit" in str(error) for error in results)
        await closed(parts)

    asyncio.run(run())
