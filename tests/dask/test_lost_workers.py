"""Workers that end, do not answer, or join in the middle of a fit do not change the model."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import bosquet
from bosquet import dask as on_cluster

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

FEATURES = ["a", "b", "c", "d", "e"]
PARAMETERS: dict[str, Any] = {
    "quality": "fast", "early_stopping": True, "subsample": 0.7, "n_estimators": 15, "random_state": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def table(frame: Any) -> Any:
    return frame[[*FEATURES, "number", "weight"]]


@pytest.fixture(scope="module")
def collection(table: Any) -> Any:
    return dd.from_pandas(table, npartitions=7, sort=False)


@pytest.fixture(scope="module")
def local(table: Any) -> Any:
    model = bosquet.GradientBoostingRegressor(**PARAMETERS)
    return model.fit(table[FEATURES], table["number"], table["weight"])


@pytest.fixture
def cluster() -> Iterator[Any]:
    """A cluster whose workers may be killed: others take their places."""
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


def fit(client: Any, collection: Any, **parameters: Any) -> Any:
    model = on_cluster.GradientBoostingRegressor(**{**PARAMETERS, **parameters})
    return model.fit(collection, target="number", sample_weight="weight", client=client)


def processes(client: Any) -> list[int]:
    return list(client.run(os.getpid).values())


@contextmanager
def after(seconds: float, action: Callable[[], Any]) -> Iterator[None]:
    timer = threading.Timer(seconds, action)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()


def kill_in_round(number: int, client: Any, sign: signal.Signals = signal.SIGKILL) -> Any:
    """A callback that sends a signal to a worker after a round."""

    def callback(info: Any) -> None:
        if info.iteration == number:
            os.kill(processes(client)[number % 3], sign)

    return callback


@pytest.mark.parametrize("number", [1, 7])
def test_a_worker_that_is_killed_does_not_change_the_model(
    cluster, collection, local, fingerprint, number
):
    with distributed.Client(cluster) as client:
        model = fit(client, collection, callbacks=[kill_in_round(number, client)])
    assert fingerprint(model.set_params(callbacks=None)) == fingerprint(local)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_a_worker_that_is_killed_at_a_random_moment_does_not_change_the_model(
    cluster, collection, local, fingerprint, seed
):
    rng = random.Random(seed)
    with distributed.Client(cluster) as client:
        start = time.monotonic()
        assert fingerprint(fit(client, collection)) == fingerprint(local)
        duration = time.monotonic() - start
        victim = rng.choice(processes(client))
        with after(rng.uniform(0, duration), lambda: os.kill(victim, signal.SIGKILL)):
            model = fit(client, collection)
    assert fingerprint(model) == fingerprint(local)


@pytest.mark.slow  # its short limits are too short for a busy machine
def test_a_worker_that_does_not_answer_is_left_out(
    cluster, collection, local, fingerprint, monkeypatch
):
    with distributed.Client(cluster) as client:
        pids = processes(client)
        fit(client, collection, n_estimators=1)  # the workers import what they need
        monkeypatch.setattr("bosquet.dask.cluster.PING_AFTER", 0.5)
        monkeypatch.setattr("bosquet.dask.cluster.PING_SECONDS", 2.0)
        callback = kill_in_round(3, client, signal.SIGSTOP)
        try:
            model = fit(client, collection, callbacks=[callback])
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
    assert fingerprint(model.set_params(callbacks=None)) == fingerprint(local)


def test_a_worker_that_joins_takes_part_from_the_next_round(
    cluster, collection, local, fingerprint, monkeypatch
):
    monkeypatch.setattr("bosquet.dask.stepper._SECONDS_BETWEEN_COUNTS", 0.0)
    monkeypatch.setattr("bosquet.dask.stepper.SECONDS_PER_CALL", 0.0)
    cluster.scale(1)
    with distributed.Client(cluster) as client:
        while len(client.scheduler_info(n_workers=-1)["workers"]) != 1:
            time.sleep(0.05)
        workers_with_parts = []

        def parts_on(dask_worker: Any) -> bool:
            from bosquet.dask import worker_fits

            return any(address == dask_worker.address for _, address in worker_fits._fits)

        def scale(info: Any) -> None:
            workers_with_parts.append(sum(client.run(parts_on).values()))
            if info.iteration == 2:
                cluster.scale(3)
                client.wait_for_workers(3)

        model = fit(client, collection, callbacks=[scale])
    assert workers_with_parts[0] == 1
    assert max(workers_with_parts) == 3
    assert fingerprint(model.set_params(callbacks=None)) == fingerprint(local)


def test_workers_that_are_lost_again_and_again_are_an_error(cluster, collection, monkeypatch):
    from bosquet.dask.cluster import LostWorkersError

    def lose(*arguments: Any) -> None:
        raise LostWorkersError("worker tcp://lost:1 is lost")

    monkeypatch.setattr("bosquet.dask.stepper.ClusterStepper._boost", lose)
    with (
        distributed.Client(cluster) as client,
        pytest.raises(RuntimeError, match=r"lost workers 10 times .* worker tcp://lost:1 is lost"),
    ):
        fit(client, collection)


def test_an_interrupt_stops_the_workers_and_leaves_the_estimator_unchanged(cluster, collection):
    def parts_of_fits() -> int:
        from bosquet.dask import worker_fits

        return len(worker_fits._fits)

    model = on_cluster.GradientBoostingRegressor(n_estimators=100_000, early_stopping=False)
    with distributed.Client(cluster) as client:
        with (
            after(6, lambda: os.kill(os.getpid(), signal.SIGINT)),
            pytest.raises(KeyboardInterrupt),
        ):
            model.fit(collection, target="number", sample_weight="weight", client=client)
        assert set(client.run(parts_of_fits).values()) == {0}
        assert not hasattr(model, "parameters_")
        model.set_params(n_estimators=2).fit(collection, target="number", client=client)
    assert model.n_iter_ == 2
