"""A forest that is grown on a cluster is the forest of the whole table in memory."""

from __future__ import annotations

import os
import signal
import tempfile
from typing import Any

import pytest

import bosquet
from bosquet import dask as on_cluster

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

FEATURES = ["a", "b", "c", "d", "e"]

CASES: dict[str, tuple[str, dict[str, Any], str, str | None]] = {
    "classes": ("RandomForestClassifier", {"class_weight": "balanced"}, "label", "weight"),
    "numbers": ("RandomForestRegressor", {"max_depth": 5, "criterion": "poisson"}, "count", None),
    "extra trees": ("ExtraTreesRegressor", {"split": "histogram"}, "number", "weight"),
    "votes": ("ExtraTreesClassifier", {"split": "histogram", "voting": "hard"}, "label", None),
}


@pytest.mark.parametrize("case", CASES)
def test_a_forest_of_the_cluster_is_the_forest_of_the_table(client, frame, fingerprint, case):
    name, parameters, target, weight = CASES[case]
    parameters = {"n_estimators": 7, "random_state": 0, **parameters}
    local = getattr(bosquet, name)(**parameters)
    local.fit(frame[FEATURES], frame[target], None if weight is None else frame[weight])
    clustered = getattr(on_cluster, name)(**parameters)
    columns = [*FEATURES, target, *([weight] if weight else [])]
    collection = dd.from_pandas(frame[columns], npartitions=5)
    clustered.fit(collection, target=target, sample_weight=weight, client=client)
    assert fingerprint(clustered) == fingerprint(local)


def test_codes_in_temporary_files_give_the_same_bits(client, frame, fingerprint):
    local = bosquet.RandomForestRegressor(4, random_state=0)
    local.fit(frame[FEATURES], frame["number"])
    clustered = on_cluster.RandomForestRegressor(4, random_state=0)
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    clustered.fit(collection, target="number", client=client, memory_limit=0)
    assert fingerprint(clustered) == fingerprint(local)
    client.run(set_temporary_folder, "/no/such/folder")
    try:
        with pytest.raises(ValueError, match="cannot be created in /no/such/folder"):
            clustered.fit(collection, target="number", client=client, memory_limit=0)
    finally:
        client.run(set_temporary_folder, None)


def set_temporary_folder(path: str | None) -> None:
    tempfile.tempdir = path


def test_a_warm_start_adds_trees(client, frame, fingerprint):
    local = bosquet.RandomForestRegressor(7, random_state=0)
    local.fit(frame[FEATURES], frame["number"])
    clustered = on_cluster.RandomForestRegressor(3, random_state=0, warm_start=True)
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=5)
    clustered.fit(collection, target="number", client=client)
    clustered.set_params(n_estimators=7).fit(collection, target="number", client=client)
    assert fingerprint(clustered.set_params(warm_start=False)) == fingerprint(local)


def test_nothing_remains_on_the_workers(client, frame):
    def tables() -> int:
        from bosquet.dask import forests

        return len(forests._forests)

    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=2)
    on_cluster.RandomForestRegressor(3).fit(collection, target="number", client=client)
    assert set(client.run(tables).values()) == {0}


def test_a_worker_that_is_killed_does_not_change_the_forest(frame, fingerprint, monkeypatch):
    from bosquet.dask.cluster import Cluster

    local = bosquet.RandomForestRegressor(12, random_state=0)
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=3)
    monkeypatch.setattr("bosquet.forests._base.BATCH", 2)
    calls = []
    call = Cluster.call

    def call_and_kill(self: Any, function: Any, arguments: Any) -> Any:
        calls.append(function.__name__)
        if calls.count("grow") == 2 and function.__name__ == "grow":
            os.kill(self.client.run(os.getpid)[next(iter(arguments))], signal.SIGKILL)
        return call(self, function, arguments)

    monkeypatch.setattr(Cluster, "call", call_and_kill)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        model = on_cluster.RandomForestRegressor(12, random_state=0)
        model.fit(collection, target="number", client=client)
    assert calls.count("grow") >= 3
    assert fingerprint(model) == fingerprint(local)


def test_out_of_bag_errors_on_a_cluster_are_an_error(client, frame):
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=2)
    with pytest.raises(ValueError, match="oob_score=True needs the whole table in memory"):
        on_cluster.RandomForestRegressor(3, oob_score=True).fit(
            collection, target="number", client=client
        )
