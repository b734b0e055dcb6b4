"""Sums over several parts, each in a thread of this process."""

from __future__ import annotations

import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

distributed = pytest.importorskip("distributed")
from bosquet.dask import exchange  # noqa: E402
from bosquet.dask.exchange import Exchange, LostPartError, partners_of  # noqa: E402


def in_threads(functions: list[Callable[[], Any]]) -> list[Any]:
    """Call all functions at the same time; return their results or exceptions."""

    def call(function: Callable[[], Any]) -> Any:
        try:
            return function()
        except Exception as error:
            return error

    with ThreadPoolExecutor(len(functions)) as threads:
        return list(threads.map(call, functions))


@contextmanager
def connected_parts(
    n_parts: int, address: str = "tcp://127.0.0.1:1", security: Any = None
) -> Iterator[list[Exchange]]:
    security = security or distributed.Security()
    parts = [Exchange(address, security, rank, n_parts) for rank in range(n_parts)]
    addresses = [part.listen() for part in parts]
    assert (
        in_threads([lambda part=part: part.connect(addresses) for part in parts])
        == [None] * n_parts
    )
    yield parts
    for part in parts:
        part.close()


def ones(size: int = 5) -> np.ndarray:
    return np.ones(size, dtype=np.int64)


@pytest.mark.parametrize("n_parts", [1, 2, 3, 4, 5, 7, 8])
@pytest.mark.parametrize("size", [1, 3, 1_000, 20_001])
def test_all_parts_receive_the_sums_and_the_largest_numbers(n_parts, size):
    numbers = np.random.default_rng(0).integers(-(2**40), 2**40, (n_parts, size))
    magnitudes = np.abs(numbers).astype(np.uint64)
    sums, largest = numbers.sum(axis=0), magnitudes.max(axis=0)
    with connected_parts(n_parts) as parts:
        for given, name, expected in ((numbers, "add", sums), (magnitudes, "maximise", largest)):
            arrays = [row.copy() for row in given]
            results = in_threads(
                [
                    lambda part=part, array=array, name=name: getattr(part, name)(array)
                    for part, array in zip(parts, arrays, strict=True)
                ]
            )
            assert results == [None] * n_parts
            for array in arrays:
                np.testing.assert_array_equal(array, expected)


def test_sums_of_several_megabytes_are_sent_wholly_before_the_numbers_change():
    numbers = np.random.default_rng(0).integers(-(2**40), 2**40, (3, 2_000_000))
    expected = 3**3 * numbers.sum(axis=0)

    def add_repeatedly(part: Exchange, array: np.ndarray) -> np.ndarray:
        for _ in range(4):
            part.add(array)
        return array

    with connected_parts(3) as parts:
        calls = [
            lambda part=part: add_repeatedly(part, numbers[part.rank].copy()) for part in parts
        ]
        for array in in_threads(calls):
            np.testing.assert_array_equal(array, expected)


def assert_that_sums_arrive(parts: list[Exchange]) -> None:
    for size in (1, 100_000):
        arrays = [np.arange(size) + part.rank for part in parts]
        in_threads(
            [
                lambda part=part, array=array: part.add(array)
                for part, array in zip(parts, arrays, strict=True)
            ]
        )
        expected = len(parts) * np.arange(size) + sum(range(len(parts)))
        for array in arrays:
            np.testing.assert_array_equal(array, expected)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the openssl command")
def test_sums_are_encrypted_if_the_workers_are(tmp_path):
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "certificate.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=worker"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    security = distributed.Security(
        tls_ca_file=certificate, tls_worker_cert=certificate, tls_worker_key=key,
        require_encryption=True,
    )  # fmt: skip
    with connected_parts(3, "tls://127.0.0.1:1", security) as parts:
        assert_that_sums_arrive(parts)
        streams = [comm.stream for part in parts for comm in part._comms.values()]
        assert all(stream.socket.cipher() for stream in streams)


def test_parts_of_one_process_exchange_numbers_without_sockets():
    with connected_parts(3, "inproc://") as parts:
        assert_that_sums_arrive(parts)


@pytest.mark.parametrize("n_parts", range(1, 20))
def test_partners_are_mutual(n_parts):
    for rank in range(n_parts):
        partners, extra = partners_of(rank, n_parts)
        for other in partners:
            assert rank in partners_of(other, n_parts)[0]
        if extra is not None:
            assert partners_of(extra, n_parts)[1] == rank


def test_a_part_that_closes_is_an_error_for_the_others():
    with connected_parts(2) as parts:
        closing = threading.Timer(0.1, parts[1].close)
        closing.start()
        with pytest.raises(LostPartError, match="part 0 lost another part of the fit"):
            parts[0].add(ones())
        closing.join()


def test_a_part_that_waits_can_be_interrupted():
    with connected_parts(2) as parts:
        threading.Timer(0.1, parts[0].interrupt).start()
        with pytest.raises(LostPartError, match="part 0 was closed"):
            parts[0].add(ones())
        with pytest.raises(LostPartError, match="part 0 was closed"):
            parts[0].add(ones())


def test_a_part_that_is_silent_is_an_error(monkeypatch):
    monkeypatch.setattr(exchange, "TIMEOUT_SECONDS", 0.2)
    with (
        connected_parts(2) as parts,
        pytest.raises(LostPartError, match="part 0 lost another part of the fit"),
    ):
        parts[0].add(ones())


def test_parts_that_run_different_fits_are_an_error():
    with connected_parts(2) as parts:
        calls = [
            lambda part=part, size=size: part.add(ones(size))
            for part, size in zip(parts, (5, 6), strict=True)
        ]
        assert all("the parts do not run the same fit" in str(error) for error in in_threads(calls))
