"""Clusters of worker processes, and a table for them."""

from __future__ import annotations

import hashlib
import logging
import signal
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

distributed = pytest.importorskip("distributed")
pytest.importorskip("dask.dataframe")

N_ROWS = 3_000
SECONDS_PER_TEST = 120


@pytest.hookimpl(tryfirst=True)  # before xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the tests of this folder in one process, so that there is one cluster at a time."""
    for item in items:
        if "tests/dask" in str(item.path):
            item.add_marker(pytest.mark.xdist_group("dask"))


@pytest.fixture(scope="package")
def client() -> Iterator[Any]:
    """A client of three workers, each a process with one thread."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as opened,
    ):
        yield opened


@pytest.fixture(autouse=True)
def time_limit() -> Iterator[None]:
    """Let a test that waits forever fail."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"the test has taken {SECONDS_PER_TEST} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS_PER_TEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def fits_on_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small tables are fitted on the workers too."""
    monkeypatch.setattr("bosquet.dask.tables.VALUES_ON_DRIVER", 0)


@pytest.fixture(scope="session")
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "a": rng.normal(size=N_ROWS),
        "b": rng.normal(size=N_ROWS).astype(np.float32),
        "c": rng.integers(0, 50, N_ROWS),
        "d": rng.choice(list("abcdefgh"), N_ROWS),
        "e": pd.Categorical(rng.choice(["low", "mid", "high"], N_ROWS), ["low", "mid", "high"], True),
    })  # fmt: skip
    frame.loc[rng.random(N_ROWS) < 0.1, ["a", "d"]] = np.nan
    signal = frame["a"].fillna(0) * frame["b"] + (frame["d"] > "c") + frame["e"].cat.codes / 2
    frame["number"] = signal + rng.normal(size=N_ROWS) / 3
    frame["label"] = np.array(["lo", "mid", "hi"])[np.digitize(frame["number"], [0, 1])]
    frame["weight"] = rng.integers(0, 3, N_ROWS) / 2
    frame["exposure"] = rng.uniform(0.5, 2, N_ROWS)
    frame["count"] = rng.poisson(np.exp(signal / 3) * frame["exposure"])
    return frame


@pytest.fixture
def fingerprint(tmp_path: Any) -> Callable[[Any], str]:
    """A function that returns the hash of the saved file of a model."""

    def of_file(model: Any) -> str:
        path = tmp_path / "model.bosquet"
        model.save(path)
        return hashlib.sha256(path.read_bytes()).hexdigest()

    return of_file
