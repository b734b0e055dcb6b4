"""A fit on a cluster continues after the driver or the scheduler has ended."""

from __future__ import annotations

from typing import Any

import pytest

import bosquet
from bosquet import dask as on_cluster

distributed = pytest.importorskip("distributed")
dd = pytest.importorskip("dask.dataframe")

FEATURES = ["a", "b", "c", "d", "e"]
PARAMETERS: dict[str, Any] = {
    "quality": "fast", "early_stopping": True, "n_iter_no_change": 3, "n_estimators": 12, "random_state": 0,
}  # fmt: skip


class DeathError(Exception):
    """Stands for the end of the driver."""


def test_a_fit_continues_on_another_cluster(client, frame, fingerprint, tmp_path, monkeypatch):
    monkeypatch.setattr("bosquet.boosting.gradient._checkpoint.SECONDS_BETWEEN_WRITES", 0.0)
    local = bosquet.GradientBoostingRegressor(**PARAMETERS)
    local.fit(frame[FEATURES], frame["number"])
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=4)

    def die(info: Any) -> None:
        if info.iteration == 5:
            raise DeathError

    model = on_cluster.GradientBoostingRegressor(**PARAMETERS, callbacks=[die])
    with pytest.raises(DeathError):
        model.fit(collection, target="number", client=client, checkpoint=tmp_path)
    rounds: list[int] = []
    model.set_params(callbacks=[lambda info: rounds.append(info.iteration)])
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as other,
    ):
        model.fit(collection, target="number", client=other, checkpoint=tmp_path)
    assert rounds[0] == 5  # the callback that raised came before the checkpoint of its round
    assert fingerprint(model.set_params(callbacks=None)) == fingerprint(local)


def test_a_fit_in_memory_continues_that_of_a_cluster(client, frame, fingerprint, tmp_path):
    local = bosquet.GradientBoostingRegressor(**PARAMETERS)
    expected = fingerprint(local.fit(frame[FEATURES], frame["number"]))
    collection = dd.from_pandas(frame[[*FEATURES, "number"]], npartitions=4)
    on_cluster.GradientBoostingRegressor(**PARAMETERS).fit(
        collection, target="number", client=client, checkpoint=tmp_path
    )
    local.fit(frame[FEATURES], frame["number"], checkpoint=tmp_path)
    assert local.timings_ == {}  # nothing was left to do
    assert fingerprint(local) == expected
