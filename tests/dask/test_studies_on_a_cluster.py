"""Studies whose trials run on a cluster end as on one machine, also if workers end."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from bosquet import RandomForestRegressor, Study
from bosquet.cli import main
from bosquet.study.methods import METHODS
from bosquet.study.methods.method import Candidate, Method

distributed = pytest.importorskip("distributed")

WITHOUT_CLOCK = ["fit_seconds", "predict_microseconds"]


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A client of one worker, later two."""
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as opened,
    ):
        yield opened


@pytest.fixture(scope="module")
def two_workers(client: Any) -> Any:
    """The client, from now on with two workers."""
    client.cluster.scale(2)
    client.wait_for_workers(2)
    return client


@pytest.fixture(params=["client", "two_workers"], ids=["one worker", "two workers"], scope="module")
def workers(request: pytest.FixtureRequest) -> Any:
    """One worker, then two; module-scoped parameters are in this order."""
    return request.getfixturevalue(request.param)


def table(n: int = 240) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    frame["c"] = rng.choice(list("xyz"), n)
    frame["y"] = frame["a"] * frame["b"] + (frame["c"] == "x") + rng.normal(size=n) / 2
    return frame


def method(name: str, make: Callable[[Any, int], Any], values: Any = (1,)) -> Method:
    """A method with one candidate per value; `make(value, seed)` returns its estimator."""

    def candidates(shape: Any) -> list[Candidate]:
        return [
            Candidate(
                k, f"value {value}", {"value": value}, lambda seed, value=value: make(value, seed)
            )
            for k, value in enumerate(values)
        ]

    return replace(
        METHODS["linear"],
        name=name,
        title=name.capitalize(),
        candidates=candidates,
        details=lambda fitted: {},
    )


class Mean(RegressorMixin, BaseEstimator):
    """Predict the mean, after what a subclass does during the fit."""

    def __init__(self, value: Any = None):
        self.value = value

    def fit(self, X: Any, y: Any) -> Mean:
        self.work()
        self.mean_ = float(np.mean(y))
        return self

    def work(self) -> None:
        pass

    def predict(self, X: Any) -> np.ndarray:
        return np.full(len(X), self.mean_)


class Slow(Mean):
    def work(self) -> None:
        for _ in range(int(100 * self.value)):
            time.sleep(0.01)


class Killing(Mean):
    """Kill the process that fits it, as long as there are files in a folder; remove one each time."""

    def work(self) -> None:
        for path in Path(self.value).glob("*"):
            path.unlink()
            os.kill(os.getpid(), signal.SIGKILL)


class Meeting(Mean):
    """Write a file, and wait for that of the other method."""

    def work(self) -> None:
        folder, own, other = self.value
        Path(folder, own).touch()
        deadline = time.monotonic() + 30
        while not Path(folder, other).exists():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{other} does not run at the same time")
            time.sleep(0.01)


class Inexact(Mean):
    def work(self) -> None:
        warnings.warn("the fit is inexact", RuntimeWarning, stacklevel=2)


class Failing(Mean):
    def work(self) -> None:
        raise RuntimeError("it does not work")


def fast_study(**options: Any) -> Study:
    return Study(
        **{"methods": ["linear", "cart"], "budget": None, "repeats": 2, "verbose": 0, **options}
    )


def assert_same_results(study: Study, local: Study) -> None:
    pd.testing.assert_frame_equal(
        study.table_.drop(columns=WITHOUT_CLOCK), local.table_.drop(columns=WITHOUT_CLOCK)
    )
    own, other = study.record_["chosen"], local.record_["chosen"]
    assert own["name"] == other["name"]
    assert own["importances"] == other["importances"]
    assert np.array_equal(study.predict(table()), local.predict(table()))


@pytest.fixture(scope="module")
def local_study() -> Study:
    return fast_study().fit(table(), "y")


def test_a_pickled_study_has_no_client(client):
    study = fast_study(methods=["linear"], repeats=1, client=client).fit(table(), "y")
    copy = pickle.loads(pickle.dumps(study))
    assert copy.client is None
    assert np.array_equal(copy.predict(table()), study.predict(table()))


def test_a_study_on_a_cluster_ends_as_on_one_machine(workers):
    methods = [
        "linear",
        "cart",
        "super-learner",
        method(
            "forest", lambda trees, seed: RandomForestRegressor(trees, random_state=seed), [5, 9]
        ),
        method("inexact", lambda value, seed: Inexact()),
        method("failing", lambda value, seed: Failing()),
    ]
    study, local = (
        fast_study(methods=methods, client=where).fit(table(), "y") for where in (workers, None)
    )
    assert study.table_.loc["inexact", "message"] == "the fit is inexact"
    assert study.table_.loc["failing", "message"].endswith("it does not work")
    assert study.table_.loc["super-learner", "status"] == "done"
    assert_same_results(study, local)


def test_an_error_of_the_metric_ends_the_study(client):
    def broken_loss(y_true: Any, y_pred: Any) -> float:
        if len(y_true) < 100:  # not in the check on all rows
            raise ZeroDivisionError("no rows")
        return 0.0

    with pytest.raises(ValueError, match=r"broken_loss.*no rows"):
        fast_study(metric=broken_loss, client=client).fit(table(), "y")


@contextmanager
def cluster_of(n_workers: int, allowed_failures: int) -> Iterator[Any]:
    """A client of workers of its own, because Dask may not replace one that is killed twice."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": allowed_failures}),
        distributed.LocalCluster(
            n_workers=n_workers, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def with_killing(tmp_path: Path) -> list[Any]:
    """Methods of which one kills the process that fits it, once."""
    (tmp_path / "once").touch()
    return ["linear", method("killing", lambda value, seed: Killing(value), [str(tmp_path)])]


# The only worker takes the table with it.
@pytest.mark.parametrize("n_workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_trial_of_a_worker_that_is_killed_runs_again(n_workers, with_killing, tmp_path):
    with cluster_of(n_workers, allowed_failures=3) as client:
        study = fast_study(methods=with_killing, client=client).fit(table(), "y")
    assert not list(tmp_path.iterdir())
    assert study.table_.loc["killing", "status"] == "done"
    assert_same_results(study, fast_study(methods=with_killing).fit(table(), "y"))


@pytest.mark.slow
@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_method_that_ends_its_workers_has_failed(n_workers, with_killing, monkeypatch):
    monkeypatch.setattr("bosquet.dask.worker_calls.MAX_LOSSES", 0)  # if the table is lost too
    with cluster_of(n_workers, allowed_failures=0) as client:
        study = fast_study(methods=with_killing, client=client).fit(table(), "y")
    assert study.table_.loc["killing", "status"] == "failed"
    message = study.table_.loc["killing", "message"]
    assert message.startswith("its workers ended during it (1 in total, the last one tcp://")
    assert study.table_.loc["linear", "status"] == "done"


def test_workers_run_trials_at_the_same_time(two_workers, tmp_path):
    folder = str(tmp_path)
    methods = [
        method("a", lambda value, seed: Meeting(value), [(folder, "a", "b")]),
        method("b", lambda value, seed: Meeting(value), [(folder, "b", "a")]),
    ]
    study = fast_study(methods=methods, repeats=1, client=two_workers).fit(table(), "y")
    assert study.table_.loc[["a", "b"], "status"].tolist() == ["done", "done"]


def test_the_table_is_sent_once(client, monkeypatch):
    sent: list[str] = []
    scatter = distributed.Client.scatter

    def spy(self: Any, data: Any, **options: Any) -> Any:
        sent.extend(type(value).__name__ for value in data)
        return scatter(self, data, **options)

    monkeypatch.setattr(distributed.Client, "scatter", spy)
    fast_study(methods=["linear", "cart"], client=client).fit(table(), "y")
    assert sorted(sent) == ["StudyContext", "StudySplit", "StudySplit"]


def test_the_clock_stops_trials_on_the_workers(client):
    methods = [method(name, lambda value, seed: Slow(0.02), range(200)) for name in "abc"]
    began = time.monotonic()
    study = Study(methods=methods, budget=6, verbose=0, client=client).fit(table(), "y")
    assert time.monotonic() - began < 12
    # On a busy machine the time may be over before the last methods.
    assert set(study.table_["status"]) <= {"done", "not reached"}
    assert study.table_.loc["a", "message"].startswith("time for")


def test_progress_is_printed_by_split(client, capsys):
    fast_study(methods=["linear", "cart"], verbose=1, client=client).fit(table(), "y")
    lines = capsys.readouterr().err.splitlines()
    assert lines[1] == "split 1"
    assert {line.split()[0] for line in lines[2:5]} == {"Constant", "Linear", "CART,"}
    assert lines[4].find("  0 waiting") > 0
    assert lines[5].startswith("split 2: ")


def test_a_study_continues_from_a_checkpoint_on_and_off_the_cluster(client, tmp_path, local_study):
    path = tmp_path / "study.jsonl"
    fast_study(repeats=1, checkpoint=path).fit(table(), "y")
    fast_study(repeats=2, checkpoint=path, client=client).fit(table(), "y")
    before = path.read_bytes()
    resumed = fast_study(checkpoint=path).fit(table(), "y")
    assert path.read_bytes() == before
    assert_same_results(resumed, local_study)


def test_an_interrupt_cancels_the_trials_and_stops_those_that_run(client):
    methods = [method(name, lambda value, seed: Slow(60)) for name in "abcdef"]
    study = fast_study(methods=methods, client=client)
    timer = threading.Timer(4, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            study.fit(table(), "y")
    finally:
        timer.join()
    deadline = time.monotonic() + 10
    while any(client.call_stack().values()) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(client.call_stack().values())
    assert not any(client.processing().values())
    assert not hasattr(study, "record_")


# ---------------------------------------------------------------------- clusters
def test_a_cluster_is_named_by_the_address_of_its_scheduler(client, tmp_path, local_study, capsys):
    path = tmp_path / "table.csv"
    table().to_csv(path, index=False)
    words = ["study", str(path), "--target", "y", "--methods", "linear,cart", "--budget", "none"]
    words += ["--repeats", "2", "--no-report", "--quiet", "--json"]
    assert main(words) == 0
    local = capsys.readouterr().out
    assert main([*words, "--cluster", client.scheduler.address]) == 0
    scores = [
        [entry["scores"] for entry in json.loads(text)["methods"]]
        for text in (local, capsys.readouterr().out)
    ]
    assert scores[0] == scores[1]


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (
            "tcp://127.0.0.1:9",
            "no scheduler of Dask answers at 'tcp://127.0.0.1:9' within 0.5 seconds",
        ),
        ("nobody", "'nobody' is not the address of a scheduler of Dask (missing port number"),
        ("http://127.0.0.1:9", "'http://127.0.0.1:9' is not the address of a scheduler of Dask"),
    ],
)
def test_an_address_without_a_scheduler_is_an_error(
    address, expected, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("bosquet.dask.cluster.CONNECT_SECONDS", 0.5)
    path = tmp_path / "table.csv"
    table().to_csv(path, index=False)
    assert main(["study", str(path), "--target", "y", "--cluster", address]) == 2
    assert expected in capsys.readouterr().err


def test_a_cluster_without_workers_is_an_error(monkeypatch):
    monkeypatch.setattr("bosquet.dask.cluster.WORKER_SECONDS", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
        pytest.raises(ValueError, match=r"has had no workers for 0\.5 seconds; start workers"),
    ):
        fast_study(client=client).fit(table(), "y")


@pytest.mark.slow
def test_a_scheduler_that_ends_is_an_error():
    methods = [method("slow", lambda value, seed: Slow(10))]
    with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
        cluster = distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0"
        )
        with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
            timer = threading.Timer(3, cluster.close)
            timer.start()
            with pytest.raises(ConnectionError, match=r"scheduler tcp://\S+ is lost"):
                fast_study(methods=methods, client=client).fit(table(), "y")
            timer.join()


def test_workers_with_another_version_are_an_error(client, monkeypatch):
    monkeypatch.setattr("bosquet.dask.cluster.__version__", "9.9")
    with pytest.raises(
        ValueError, match=r"worker tcp://\S+ has Bosquet .*, but the driver has 9\.9"
    ):
        fast_study(client=client).fit(table(), "y")


def test_a_client_of_another_type_is_an_error():
    with pytest.raises(TypeError, match=r"client has the type int; pass a distributed\.Client"):
        fast_study(client=8786).fit(table(), "y")


def test_without_dask_an_error_names_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] in ("dask", "distributed")]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r"distributed is not installed.*'bosquet\[dask\]'"):
        fast_study(client="tcp://127.0.0.1:9").fit(table(), "y")


def test_a_metric_that_cannot_be_pickled_is_an_error(client):
    lock = threading.Lock()

    def locked_loss(y_true: Any, y_pred: Any) -> float:
        with lock:
            return float(np.abs(y_true - y_pred).mean())

    with pytest.raises(ValueError, match="cannot be sent to the workers"):
        fast_study(metric=locked_loss, client=client).fit(table(), "y")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["number", "label"])
def test_all_methods_end_as_on_one_machine(client, frame, target):
    columns = ["a", "b", "c", "d", "e", target]
    options = {"budget": None, "repeats": 2, "verbose": 0}
    study, local = (
        Study(client=where, **options).fit(frame[columns][:400], target) for where in (client, None)
    )
    pd.testing.assert_frame_equal(
        study.table_.drop(columns=WITHOUT_CLOCK), local.table_.drop(columns=WITHOUT_CLOCK)
    )
    assert study.record_["chosen"]["importances"] == local.record_["chosen"]["importances"]
    assert np.array_equal(study.predict(frame[columns]), local.predict(frame[columns]))
